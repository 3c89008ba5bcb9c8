"""Simulated cells: answered by routing a fabric once and simulating on it, kept whole."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from msgspec.structs import replace

from contend.base.errors import ContendError
from contend.base.files import read_json, write_whole
from contend.base.units import counted
from contend.congestion import Simulation, simulate
from contend.fabric import Fabric
from contend.lab.runs import Failure
from contend.lab.session import RECORD, Attempt, Observer, Session, Step
from contend.lab.studies.simulated_plan import PlanCell, SimulatedPlan
from contend.lab.studies.simulated_study import (
    SimulatedCell,
    SimulatedOutcome,
    SimulatedStudy,
    read_record,
    record_of,
    write_cell,
)
from contend.routes import load, save

_FABRICS, _RUNS = "fabrics", "runs"
# What a routing may fail of without taking other fabrics with it.
_FAILURES = (ContendError, OSError, MemoryError)


def run_simulations(
    plan: SimulatedPlan,
    folder: Path,
    *,
    beside: Path,
    retry: bool = False,
    observer: Observer | None = None,
) -> SimulatedStudy:
    """Simulates every cell of a plan that is not kept yet.

    Args:
        plan: what to simulate.
        folder: where results are kept.
        beside: where files that the plan names are looked for first.
        retry: simulate cells again that failed before.
        observer: is told what goes on.

    Raises:
        UsageError: the folder cannot be made or written.
        InputError: the folder holds something else.
    """
    cells = {cell: simulated_cell(plan, cell, beside) for cell in plan.cells()}
    method = Simulated(
        folder, beside, {cells[cell].key: cell for cell in reversed(cells)}, plan.average
    )
    observer = observer or Observer()
    observer.named({key: cell.label for key, cell in method.names.items()})
    session = Session(
        kind=plan.name,
        # Two names of a plan may mean the same question, which is asked once.
        cells=tuple(dict.fromkeys(cells.values())),
        method=method,
        folder=folder,
        seed=plan.seed,
        below=_RUNS,
        plan=msgspec.to_builtins(plan),
        # Cells on the same routes come one after the other: they are computed once.
        shuffled=False,
        retry=retry,
        observer=observer,
    )
    session.run()
    outcomes = []
    for plan_cell, cell in cells.items():
        outcome = method.open(cell, folder / _RUNS / cell.folder_name).kept()
        assert outcome is not None
        names = replace(
            outcome.record, fabric=plan_cell.fabric.name, pattern=plan_cell.pattern.name
        )
        outcomes.append(SimulatedOutcome(names, outcome.path))
    return SimulatedStudy(plan, tuple(outcomes), folder)


def simulated_cell(plan: SimulatedPlan, cell: PlanCell, beside: Path) -> SimulatedCell:
    """What a cell of a plan asks."""
    pattern, fabric = cell.pattern, cell.fabric
    placement = plan.placement if pattern.placement is None else pattern.placement
    names = (
        beside_plan(beside, fabric.source),
        beside_plan(beside, fabric.routes or ""),
        _with_file(beside, pattern.pattern).removeprefix("file:"),
        _with_file(beside, placement).removeprefix("file:"),
    )
    return SimulatedCell(
        source=fabric.source,
        routes=fabric.routes,
        engine=cell.engine,
        pattern=pattern.pattern,
        placement=placement,
        samples=plan.samples if pattern.samples is None else pattern.samples,
        precision=plan.precision,
        seed=plan.seed,
        files=tuple(map(digest, names)),
    )


class Simulated:
    """How simulated cells are answered; see `lab.session.Method`.

    Routes are computed once for all cells on them, and kept in ``fabrics/`` of the study's folder
    with the rated bisection.

    Args:
        folder: of the study.
        beside: where files that the plan names are looked for first.
        names: what the plan calls the cells, by their keys.
        average: which average of a cell is told first.
    """

    def __init__(
        self, folder: Path, beside: Path, names: Mapping[str, PlanCell], average: str
    ) -> None:
        self.folder = folder
        self.beside = beside
        self.names = names
        self.average = average
        # The last fabric only: there may be many large ones. Failures are small.
        self._routed: tuple[str, Fabric] | None = None
        self._failed: dict[str, BaseException] = {}

    def open(self, cell: SimulatedCell, folder: Path) -> SimulatedWork:
        """A cell and what its run folder has of it."""
        return SimulatedWork(self, cell, folder)

    def title(self, cells: Sequence[SimulatedCell]) -> str:
        """What is simulated, for people."""
        return counted(len(cells), "simulation")

    def prepare(self, cells: Sequence[SimulatedCell], observer: Observer) -> None:
        """Nothing: a fabric that cannot be routed is a failure of its own cells."""

    def routed(self, cell: SimulatedCell, observer: Observer) -> Fabric:
        """The cell's fabric with its routes.

        Raises:
            ContendError, OSError, MemoryError: as of loading and routing; again for every cell on
                the same routes.
        """
        key = cell.routed
        if key in self._failed:
            raise self._failed[key]
        if self._routed is None or self._routed[0] != key:
            name = self.names[cell.key].fabric.name
            # What takes minutes says so even where no bar is drawn.
            observer.preparing(f"routing {name} {cell.engine}".rstrip())
            try:
                self._routed = (key, self._made(cell, name))
            except _FAILURES as error:
                self._failed[key] = error
                raise
        return self._routed[1]

    def _made(self, cell: SimulatedCell, name: str) -> Fabric:
        """The routed fabric, from the folder where it is kept there."""
        path = self.folder / _FABRICS / f"{cell.routed}.fabric"
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            fabric = load(str(path))
        else:
            routes = None if cell.routes is None else beside_plan(self.beside, cell.routes)
            fabric = load(
                beside_plan(self.beside, cell.source),
                routes=routes,
                route=cell.engine or None,
                need_routes=True,
            )
            save(fabric, path)
        return fabric.replace(name=name)

    def rated(self, cell: SimulatedCell, simulation: Simulation) -> float:
        """Rated bisection of the hosts that take part, as a part of full; kept in the folder."""
        hosts = np.unique(simulation.taking_part)
        who = hashlib.sha256(hosts.tobytes()).hexdigest()[:16]
        counted = "weighed" if simulation.weighed_by_rates else "alike"
        kept = self.folder / _FABRICS / f"{cell.topology}.{who}.{counted}.rated.json"
        if kept.exists():
            return read_json(kept, float, "a number")
        rated = simulation.rated_bisection
        write_whole(kept, msgspec.json.encode(rated))
        return rated


@dataclass(frozen=True)
class SimulatedWork:
    """A simulated cell and its run folder; see `lab.session.Work`."""

    method: Simulated
    cell: SimulatedCell
    folder: Path
    variants: int = 1

    def kept(self) -> SimulatedOutcome | None:
        """What was made before; None where nothing was.

        Raises:
            InputError: when it is damaged.
        """
        path = self.folder / RECORD
        return SimulatedOutcome(read_record(path), path) if path.exists() else None

    def left(self, launches: int, *, retry: bool) -> Sequence[int]:
        """The only launch, unless it was made; with `retry` also when it failed."""
        outcome = self.kept()
        return [0] if outcome is None or (retry and outcome.record.status == "failed") else []

    def begin(self) -> None:
        """Makes the run folder."""
        self.folder.mkdir(parents=True, exist_ok=True)

    def launch(self, step: Step, *, seconds: float, limit: float, observer: Observer) -> Attempt:
        """Simulates the cell and keeps what came out."""
        began = time.monotonic()
        fabric = self.method.routed(self.cell, observer)
        simulation = simulate(
            fabric,
            _with_file(self.method.beside, self.cell.pattern),
            placement=_with_file(self.method.beside, self.cell.placement),
            samples=self.cell.samples,
            precision=self.cell.precision,
            seed=self.cell.seed,
            progress=lambda done, expected: observer.progressed(step, done, expected),
        )
        rated = self.method.rated(self.cell, simulation)
        record = record_of(self._names, self.cell, simulation, rated)
        write_cell(self.folder / RECORD, record, simulation)
        share = 100 * record.averages[self.method.average].mean * record.scale
        return Attempt(summary=f"{share:.1f} %", elapsed_s=time.monotonic() - began)

    def fail(self, number: int, failure: Failure, point: str | None = None) -> None:
        """Keeps why there is no simulation."""
        record = record_of(self._names, self.cell, None, cause=failure.reason)
        write_cell(self.folder / RECORD, record, None)

    def finish(self) -> None:
        """Nothing is left to be brought together."""

    @property
    def _names(self) -> tuple[str, str, str]:
        """Fabric, engine and pattern as the plan calls them."""
        names = self.method.names[self.cell.key]
        return names.fabric.name, self.cell.engine, names.pattern.name


def beside_plan(folder: Path, name: str) -> str:
    """A file beside the plan, where there is one; anything else as it is."""
    return str(folder / name) if name and (folder / name).is_file() else name


def _with_file(folder: Path, specification: str) -> str:
    """A specification whose file, if it names one, is looked for beside the plan first."""
    if not specification.startswith("file:"):
        return specification
    return f"file:{beside_plan(folder, specification.removeprefix('file:'))}"


def digest(name: str) -> str:
    """SHA-256 of a file's content; "" for what is no file."""
    if not Path(name).is_file():
        return ""
    with Path(name).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
