"""Measured studies: a session whose cells are the places of a plan's grid."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec.structs import replace

from contend.base.errors import InputError, UsageError
from contend.base.schema import PythonOnly, Seconds, Shown, told
from contend.base.units import counted
from contend.lab.measurement import (
    Measured,
    MeasuredCell,
    OptionValue,
    Place,
    ask,
)
from contend.lab.mpi import Library
from contend.lab.runs import Run
from contend.lab.session import RECORD, Clock, Observer, Session
from contend.lab.studies.grid import GridCell
from contend.lab.studies.measured_plan import MeasuredPlan
from contend.lab.studies.results import Answer, Point, Result, ended_launches

_RUNS = "runs"
_ALONE = (
    "all ranks are on one host: no network is measured; times are those of memory and processors"
)


@dataclass(frozen=True, eq=False)
class MeasuredStudy(Shown, told="measured_document"):
    """A study of measurements."""

    plan: PythonOnly[MeasuredPlan]
    """What was measured, with the rate of a port where the place knows it."""
    cells: tuple[Answer, ...]
    """The runs that the points are of: all cells of the plan that have ended, in its order."""
    left: tuple[str, ...] = ()
    """Cells that no time was left for."""
    on: str = ""
    """Where it was measured."""
    folder: PythonOnly[Path] = Path()
    """Where results are kept."""

    @property
    def results(self) -> list[Result]:
        """Every point over all its launches."""
        return [result for answer in self.cells for result in answer.results]

    @told
    def study(self) -> str:
        """Name of the plan."""
        return self.plan.name

    @told
    def run(self) -> str:
        """Folder of the study."""
        return str(self.folder)

    @told
    def precision(self) -> float:
        """Relative half-width of the median's interval at which a point is done."""
        return self.plan.precision

    @told
    def repetitions(self) -> tuple[int, int]:
        """Fewest and most samples of a point."""
        return self.plan.repetitions

    @told
    def verify(self) -> bool:
        """Whether every sample's data was checked."""
        return self.plan.verify

    @told
    def seed(self) -> int:
        """Seed of every random choice."""
        return self.plan.seed

    @told
    def budget_s(self) -> Seconds:
        """Seconds that the study had."""
        return self.plan.budget_s

    @told
    def notes(self) -> tuple[str, ...]:
        """What a reader must know, as the plan says it."""
        return self.plan.notes

    @told
    def points(self) -> list[Point]:
        """Results."""
        known = self.plan.known()
        return [
            result.told(number, known)
            for number, answer in enumerate(self.cells)
            for result in answer.results
        ]

    @told
    def warnings(self) -> list[str]:
        """All that a reader must know."""
        return list(dict.fromkeys(text for answer in self.cells for text in answer.warnings))


def run_measurements(
    plan: MeasuredPlan,
    folder: Path,
    place: Place,
    *,
    retry: bool = False,
    observer: Observer | None = None,
    libraries: Mapping[str, Library] | None = None,
    clock: Clock = time.monotonic,
) -> MeasuredStudy:
    """Measures every cell of a plan that is not kept yet.

    Args:
        plan: what to measure.
        folder: where results are kept.
        place: where; on one machine N hosts of a plan are N groups of ranks that share it: no
            message crosses a network, and all together must fit its processors and its memory.
        retry: measure cells again that failed before.
        observer: is told what goes on.
        libraries: MPI libraries that have been tried, by the names that the plan has for them.
        clock: seconds that the budget counts.

    Raises:
        UsageError: the folder cannot be made or written.
        InputError: the folder holds something else.
        MissingError: the machine lacks an MPI library of the plan, or room for samples.
    """
    observer = observer or Observer()
    cells = {cell: question(plan, cell, place) for cell in plan.cells()}
    observer.named({key.key: cell.label for cell, key in reversed(cells.items())})
    method = Measured(
        place, plan.budget_s, strict=False, libraries=dict(libraries or {}), observer=observer
    )
    # Places of the grid that are the same question on one machine are measured once.
    asked = tuple({key.key: key for key in cells.values()}.values())
    session = Session(
        kind=plan.name,
        cells=asked,
        method=method,
        folder=folder,
        launches=plan.launches,
        budget=plan.budget_s,
        seed=plan.seed,
        below=_RUNS,
        plan=msgspec.to_builtins(plan),
        retry=retry,
        observer=observer,
        clock=clock,
    )
    left = []
    for step in session.run().left:
        launch = f", launch {step.number + 1}" if step.number else ""
        left += [cell.label + launch for cell, key in cells.items() if key == step.cell]
    kept = _runs_of(folder)
    runs = [
        (cell, asked_for, run)
        for cell, key in cells.items()
        for asked_for, run in kept.get(replace(key, labels={}).key, [])
    ]
    # A cell that never ran does not know what its library calls itself; others do.
    titles = {cell.library: "" for cell, *_ in runs}
    titles |= {c.library: title for c, _, r in runs if (title := r.record.library.title)}
    every = (_answer(plan, *each, method, titles) for each in runs)
    ended = tuple(answer for answer in every if answer.launches)
    return MeasuredStudy(_with_known_wire(plan, place), ended, tuple(left), place.described, folder)


def question(plan: MeasuredPlan, cell: GridCell, place: Place) -> MeasuredCell:
    """What a place of the grid asks, whichever of its launches it is."""
    options: dict[str, OptionValue] = {
        "repetitions": f"{plan.repetitions[0]}:{plan.repetitions[1]}",
        "precision": plan.precision,
        "verify": plan.verify,
    }
    if cell.probe == "sort":
        options |= {"vectors": cell.vectors, "length": cell.vector, "input": cell.input}
    else:
        options |= {"algorithm": cell.algorithms, "bytes": cell.sizes}
    if cell.probe == "alltoall":
        # Studies stand beside each other and beside predictions, which are of that.
        options["start"] = "clock"
    if cell.probe == "alltoall" and place.alone:
        # Schedules that go by hosts are told of groups; elsewhere they look for themselves.
        options["ranks_per_node"] = cell.ranks_per_host
    return ask(
        cell.probe,
        options,
        place,
        cell.library,
        ranks=(cell.ranks,),
        ranks_per_host=() if place.alone else (cell.ranks_per_host,),
        seed=plan.seed,
        labels=plan.labels,
        wire=plan.wire,
    )


def _with_known_wire(plan: MeasuredPlan, place: Place) -> MeasuredPlan:
    """The plan with what a host's port carries where the place knows, unless it says so itself."""
    if plan.wire is not None or place.wire is None:
        return plan
    return replace(plan, wire=place.wire)


def _runs_of(folder: Path) -> dict[str, list[tuple[MeasuredCell, Run]]]:
    """The runs of a study by what they answer, whatever the labels; sorted by these."""
    runs: dict[str, list[tuple[MeasuredCell, Run]]] = {}
    for path in sorted((folder / _RUNS).glob(f"*/{RECORD}")):
        run = Run.load(path.parent)
        try:
            cell = msgspec.convert(run.record.question, MeasuredCell)
        except msgspec.ValidationError as error:
            raise InputError(str(path), 0, "what was asked of a run", str(error)) from None
        runs.setdefault(replace(cell, labels={}).key, []).append((cell, run))
    for alike in runs.values():
        alike.sort(key=lambda answer: _conditions(answer[0].labels))
    return runs


def _conditions(labels: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}".strip() for name, value in labels.items())


def _answer(
    plan: MeasuredPlan,
    cell: GridCell,
    asked: MeasuredCell,
    run: Run,
    method: Measured,
    titles: Mapping[str, str],
) -> Answer:
    """What a run says of a cell; without launches where none has ended."""
    alone = method.place.alone
    warnings = [_ALONE] if alone and cell.ranks > 1 else []
    warnings += [warning.text for warning in run.record.warnings]
    needed, memory = _memory(asked, method)
    return Answer(
        dataclasses.replace(cell, conditions=_conditions(asked.labels)),
        run,
        launches=ended_launches(run, plan.launches),
        library=titles[cell.library] or cell.library,
        seats=_seats(cell, method.place),
        one_host=alone,
        host_bytes=needed,
        memory=memory,
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _seats(cell: GridCell, place: Place) -> str:
    """Hosts and ranks of a cell for people."""
    each = counted(cell.ranks_per_host, "rank")
    if place.alone:
        return f"{counted(cell.hosts, 'group')} of {each} on one host"
    return f"{counted(cell.hosts, 'host')} of {each}"


def _memory(asked: MeasuredCell, method: Measured) -> tuple[int, int | None]:
    """Bytes that a host needs for the data of a cell at most, and those that it has."""
    try:
        (shape,) = method.shapes(asked)
    except UsageError:
        return 0, None
    compared = method.memory(asked, shape)
    return (0, None) if compared is None else (compared.needed, compared.free)
