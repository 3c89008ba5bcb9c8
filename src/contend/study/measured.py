"""Measured studies: a session whose cells are the places of a plan's grid."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec.structs import replace

from contend.errors import InputError, UsageError
from contend.measurement import (
    Conditions,
    Measured,
    MeasuredCell,
    OptionValue,
    Place,
    ask,
    make_workload,
)
from contend.mpi import Library
from contend.runs import Run
from contend.session import RECORD, Clock, Observer, Session
from contend.study.measured_cell import GridCell
from contend.study.measured_plan import MeasuredPlan
from contend.study.results import Answer, MeasuredRecord, RunPoints, Terms
from contend.units import counted, format_link_speed, parse_rate

_RUNS = "runs"
_ALONE = (
    "all ranks are on one host: no network is measured; times are those of memory and processors"
)


@dataclass(frozen=True)
class Site:
    """The hosts that those of a plan become.

    On one machine N hosts of a plan are N groups of ranks that share it: no message crosses a
    network, and all groups together must fit its processors and its memory.

    Attributes:
        place: where ranks run.
        on: what it is called on the command line; "" for this machine or the launcher's hosts.
    """

    place: Place
    on: str = ""

    @property
    def alone(self) -> bool:
        """Whether hosts are only groups of ranks on this machine, without a network."""
        return self.place.alone

    @property
    def described(self) -> str:
        """Where it is, with all that decides figures there."""
        return self.place.described or self.on

    def words(self) -> str:
        """Where it measures, for people."""
        if self.alone:
            return "on one host: N hosts are N groups of ranks there"
        if not self.described:
            return "on the hosts of the launcher"
        hosts = f", {counted(len(self.place.slots), 'host')}" if self.place.slots else ""
        return f"on {self.described}{hosts}"

    def seats(self, cell: GridCell) -> str:
        """Hosts and ranks of a cell for people."""
        each = counted(cell.ranks_per_node, "rank")
        if not self.alone:
            return f"{counted(cell.nodes, 'node')} of {each}"
        return f"{counted(cell.nodes, 'group')} of {each} on one host"


@dataclass(frozen=True)
class Ended:
    """A study that has ended.

    Attributes:
        answers: all cells of the plan that have ended, under all conditions, in the plan's order.
        left: launches that no time was left for.
    """

    answers: tuple[Answer, ...]
    left: tuple[GridCell, ...]

    @property
    def records(self) -> tuple[MeasuredRecord, ...]:
        """Every launch that has ended."""
        return tuple(record for answer in self.answers for record in answer.records)


def run_measurements(
    plan: MeasuredPlan,
    folder: Path,
    site: Site,
    *,
    retry: bool = False,
    observer: Observer | None = None,
    libraries: Mapping[str, Library] | None = None,
    clock: Clock = time.monotonic,
) -> Ended:
    """Measures every cell of a plan that is not kept yet.

    Args:
        plan: what to measure.
        folder: where results are kept.
        site: where.
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
    terms = Terms(site.described, plan.precision, plan.repetitions, plan.verify, plan.seed)
    cells = {cell: question(plan, cell, site.place) for cell in plan.cells() if cell.launch == 1}
    observer.named({key.key: cell.label for cell, key in reversed(cells.items())})
    method = Measured(
        site.place, plan.budget_s, strict=False, libraries=dict(libraries or {}), observer=observer
    )
    # Places of the grid that are the same question on one machine are measured once.
    asked = tuple({key.key: key for key in cells.values()}.values())
    left = []
    if asked:
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
        for step in session.run().left:
            left += [
                replace(cell, launch=step.number + 1)
                for cell, key in cells.items()
                if key == step.cell
            ]
    answers: list[Answer] = []
    kept = _runs_of(folder)
    for cell, key in cells.items():
        for asked_for, run in kept.get(replace(key, labels={}).key, []):
            labelled = replace(cell, conditions=_conditions(asked_for.labels))
            answers += _answer(plan, labelled, asked_for, run, folder, site, terms, method)
    return Ended(tuple(answers), tuple(left))


def question(plan: MeasuredPlan, cell: GridCell, place: Place) -> MeasuredCell:
    """What a place of the grid asks, whichever of its launches it is."""
    options: dict[str, OptionValue] = {
        "repetitions": f"{plan.repetitions[0]}:{plan.repetitions[1]}",
        "precision": plan.precision,
        "verify": plan.verify,
    }
    if cell.probe == "sort":
        options |= {"vectors": cell.numbers, "length": cell.vector, "input": cell.input}
    else:
        options |= {"algorithm": cell.algorithms, "bytes": cell.sizes}
    if cell.probe == "alltoall":
        # Studies stand beside each other and beside predictions, which are of that.
        options["start"] = "clock"
    if cell.probe == "alltoall" and place.alone:
        # Schedules that go by hosts are told of groups; elsewhere they look for themselves.
        options["ranks_per_node"] = cell.ranks_per_node
    conditions = Conditions(
        ranks=(cell.ranks,),
        ranks_per_host=() if place.alone else (cell.ranks_per_node,),
        seed=plan.seed,
        labels=plan.labels,
        wire=None if plan.wire is None else parse_rate(plan.wire),
    )
    return ask(make_workload(cell.probe, options), conditions, place, cell.library)


def with_known_wire(plan: MeasuredPlan, place: Place) -> MeasuredPlan:
    """The plan with what a host's port carries where the place knows, unless it says so itself."""
    if plan.wire is not None or place.wire is None:
        return plan
    return replace(plan, wire=format_link_speed(place.wire))


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
    folder: Path,
    site: Site,
    terms: Terms,
    method: Measured,
) -> Iterator[Answer]:
    """What a run says of a cell; nothing where none of its launches has ended."""
    points = RunPoints(run)
    needed, memory = _memory(asked, method)
    warnings = [_ALONE] if site.alone and cell.ranks > 1 else []
    warnings += [warning.text for warning in run.record.warnings]
    records = [
        MeasuredRecord(
            cell=replace(cell, launch=launch + 1),
            terms=terms,
            seats=site.seats(cell),
            points=tuple(points.point(name, launch) for name in cell.points()),
            one_host=site.alone,
            host_bytes=needed,
            memory=memory,
            library=run.record.library.title,
            warnings=tuple(dict.fromkeys(warnings)),
            runs=(str(run.folder.relative_to(folder)),),
            budget_s=plan.budget_s,
            elapsed_s=points.elapsed_s(launch),
        )
        for launch in points.launches(plan.launches)
    ]
    if records:
        yield Answer(tuple(records), run.findings)


def _memory(asked: MeasuredCell, method: Measured) -> tuple[int, int | None]:
    """Bytes that a host needs for the data of a cell at most, and those that it has."""
    try:
        (shape,) = method.shapes(asked)
    except UsageError:
        return 0, None
    compared = method.memory(asked.workload, shape)
    return (0, None) if compared is None else (compared.needed, compared.free)
