"""Runs a study cell by cell; a failing cell is recorded with its cause and the others go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Literal

from contend.errors import ContendError
from contend.fabric import Fabric
from contend.study.folder import RunFolder
from contend.study.plan import Cell
from contend.study.record import Outcome, Record, record_of
from contend.study.services import OnSamples, Services

# What a cell may fail of without taking the study with it.
_FAILURES = (ContendError, OSError, MemoryError)


@dataclass(frozen=True)
class Step:
    """What is going on.

    Attributes:
        cell: which cell.
        state: ``routing`` stands for this cell and those after it on the same routes.
        record: how it ended, for ``kept``, ``done`` and ``failed``.
    """

    cell: Cell
    state: Literal["kept", "routing", "simulating", "done", "failed"]
    record: Record | None = None


OnStep = Callable[[Step], None]


def run(
    cells: Iterator[Cell],
    folder: RunFolder,
    services: Services,
    *,
    plan_folder: Path,
    retry: bool = False,
    on_step: OnStep = lambda _: None,
    on_samples: OnSamples | None = None,
) -> list[Outcome]:
    """Runs what has not ended before, and returns all that has ended.

    Args:
        cells: of the plan, those of one fabric and routing one after the other.
        folder: where results are kept.
        services: the other rooms.
        plan_folder: where files that the plan names are looked for.
        retry: run cells again that failed before.
        on_step: is told what goes on.
        on_samples: is told how far a simulation is.

    Raises:
        UsageError: when the folder holds a cell that was asked for otherwise.
        InputError: when the folder holds something else.
    """
    job = _Job(folder, services, plan_folder, on_step, on_samples)
    for _, group in groupby(cells, key=lambda cell: (cell.fabric.name, cell.engine)):
        job.run_routed_alike([cell for cell in group if not job.is_kept(cell, retry)])
    return folder.outcomes()


@dataclass(frozen=True)
class _Job:
    folder: RunFolder
    services: Services
    plan_folder: Path
    on_step: OnStep
    on_samples: OnSamples | None

    def is_kept(self, cell: Cell, retry: bool) -> bool:
        record = self.folder.kept(cell)
        if record is None or (retry and record.status == "failed"):
            return False
        self.on_step(Step(cell, "kept", record))
        return True

    def run_routed_alike(self, cells: list[Cell]) -> None:
        """Runs cells of one fabric and routing, which is computed once."""
        if not cells:
            return
        self.on_step(Step(cells[0], "routing"))
        try:
            fabric = self._routed(cells[0])
            rated = self._rated(cells[0], fabric)
        except _FAILURES as error:
            for cell in cells:
                self._fail(cell, error)
            return
        for cell in cells:
            self.on_step(Step(cell, "simulating"))
            try:
                self._simulate(cell, fabric, rated)
            except _FAILURES as error:
                self._fail(cell, error)

    def _routed(self, cell: Cell) -> Fabric:
        """The routed fabric, from the run folder when it is there."""
        path = self.folder.fabric_path(cell)
        if path.exists():
            return self.services.load(path)
        source = _beside(self.plan_folder, cell.fabric.source)
        routes = cell.fabric.routes
        if routes is not None:
            routes = _beside(self.plan_folder, routes)
        fabric = self.services.route(source, routes, cell.engine or None)
        fabric = fabric.replace(name=cell.fabric.name)
        self.services.save(fabric, path)
        return fabric

    def _rated(self, cell: Cell, fabric: Fabric) -> float:
        rated = self.folder.rated(cell)
        if rated is None:
            rated = self.services.rate(fabric)
            self.folder.keep_rated(cell, rated)
        return rated

    def _simulate(self, cell: Cell, fabric: Fabric, rated: float) -> None:
        request = self.folder.request(cell)
        simulation = self.services.simulate(
            fabric,
            _with_file(self.plan_folder, request.pattern),
            placement=_with_file(self.plan_folder, request.placement),
            samples=request.samples,
            precision=request.precision,
            seed=request.seed,
            progress=self.on_samples,
        )
        names = (cell.fabric.name, cell.engine, cell.pattern.name)
        record = record_of(simulation, names, request, rated)
        self.folder.keep(cell, record, simulation)
        self.on_step(Step(cell, "done", record))

    def _fail(self, cell: Cell, error: BaseException) -> None:
        cause = "not enough memory" if isinstance(error, MemoryError) else str(error)
        record = Record(
            fabric=cell.fabric.name,
            engine=cell.engine,
            pattern=cell.pattern.name,
            status="failed",
            request=self.folder.request(cell),
            cause=cause or type(error).__name__,
        )
        self.folder.keep(cell, record)
        self.on_step(Step(cell, "failed", record))


def _beside(folder: Path, name: str) -> str:
    """A file beside the plan, where there is one; anything else as it is."""
    return str(folder / name) if (folder / name).is_file() else name


def _with_file(folder: Path, spec: str) -> str:
    """A specification whose file, if it names one, is looked for beside the plan first."""
    if not spec.startswith("file:"):
        return spec
    return f"file:{_beside(folder, spec.removeprefix('file:'))}"
