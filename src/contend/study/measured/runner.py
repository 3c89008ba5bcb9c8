"""Runs a measured study cell by cell; what fails is recorded with its cause, the others go on."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from contend.study.measured.attempts import PointName, Points, measure_points
from contend.study.measured.budget import Budget, Clock
from contend.study.measured.cell import Cell
from contend.study.measured.folder import StudyFolder
from contend.study.measured.memory import nearness, refusal
from contend.study.measured.record import Failure, Point, Record, Terms
from contend.study.measured.services import Launch, OnProgress
from contend.study.measured.site import Site
from contend.study.measured.workloads import host_bytes
from contend.study.measured_plan import MeasuredPlan


@dataclass(frozen=True)
class Step:
    """What is going on.

    Attributes:
        cell: which cell.
        state: ``left`` is a cell that no time was left for.
        record: how it ended, for ``kept`` and ``ended``.
        budget_s: seconds that it has, for ``measuring``.
    """

    cell: Cell
    state: Literal["kept", "measuring", "ended", "left"]
    record: Record | None = None
    budget_s: float = 0.0


OnStep = Callable[[Step], None]


@dataclass(frozen=True)
class Ended:
    """A study that has ended.

    Attributes:
        records: all cells of the plan that have ended, under all conditions.
        left: cells that no time was left for.
    """

    records: tuple[Record, ...]
    left: tuple[Cell, ...]


def terms_of(plan: MeasuredPlan, site: Site) -> Terms:
    """What decides the figures of all cells of a plan."""
    return Terms(site.on, plan.precision, plan.repetitions, plan.verify, plan.seed)


def in_order(plan: MeasuredPlan) -> list[Cell]:
    """Cells as they run: launch after launch, shuffled within each.

    What drifts while a study runs then falls on all libraries and sizes alike.
    """
    cells = list(plan.cells())
    ordered = []
    for launch in range(1, plan.launches + 1):
        members = [cell for cell in cells if cell.launch == launch]
        random.Random(f"{plan.seed} {launch}").shuffle(members)
        ordered += members
    return ordered


def run(
    plan: MeasuredPlan,
    folder: StudyFolder,
    launch: Launch,
    site: Site,
    *,
    retry: bool = False,
    on_step: OnStep = lambda _: None,
    on_progress: OnProgress = lambda _: None,
    clock: Clock = time.monotonic,
) -> Ended:
    """Runs what has not ended before, and returns all that has ended.

    Args:
        plan: what to measure.
        folder: where results are kept.
        launch: measures one launch.
        site: where its nodes are.
        retry: run cells again that failed before.
        on_step: is told what goes on.
        on_progress: is told how far a launch is.
        clock: seconds that the budget counts.

    Raises:
        UsageError: when the folder holds a cell that was asked for otherwise.
        InputError: when the folder holds something else.
        MissingError: when the machine lacks an MPI library of the plan.
    """
    terms = terms_of(plan, site)
    cells = in_order(plan)
    waiting = []
    for cell in cells:
        record = folder.kept(cell, terms)
        if record is None or (retry and record.failed):
            waiting.append(cell)
        else:
            on_step(Step(cell, "kept", record))
    launch.prepare(waiting)
    budget = Budget(plan.budget_s * len(waiting) / max(1, len(cells)), len(waiting), clock)
    job = _Job(folder, launch, site, terms, on_progress, clock)
    left = []
    for cell in waiting:
        share = budget.share()
        budget.ended()
        if share <= 0:
            left.append(cell)
            on_step(Step(cell, "left"))
            continue
        on_step(Step(cell, "measuring", budget_s=share))
        record = job.measured(cell, share)
        folder.keep(record)
        on_step(Step(cell, "ended", record))
    return Ended(tuple(folder.records()), tuple(left))


@dataclass(frozen=True)
class _Job:
    folder: StudyFolder
    launch: Launch
    site: Site
    terms: Terms
    on_progress: OnProgress
    clock: Clock

    def measured(self, cell: Cell, budget_s: float) -> Record:
        """A cell's record; only an interruption comes out as an error."""
        began = self.clock()
        wanted, refused = self._judged(cell)
        points = Points()
        if wanted:
            points = measure_points(
                self.launch,
                self.folder,
                cell,
                wanted,
                self.terms,
                lambda: budget_s - (self.clock() - began),
                self.on_progress,
            )
        found = {(point.algorithm, point.bytes): point for point in (*points.points, *refused)}
        return Record(
            cell=cell,
            terms=self.terms,
            seats=self.site.seats(cell),
            one_host=self.site.alone,
            points=tuple(found[place] for place in cell.points()),
            host_bytes=max(self._needed(cell, point) for point in cell.points()),
            memory=self.site.memory,
            library=points.library,
            warnings=(*self._warnings(cell), *points.warnings),
            runs=points.runs,
            budget_s=budget_s,
            elapsed_s=self.clock() - began,
        )

    def _judged(self, cell: Cell) -> tuple[list[PointName], list[Point]]:
        """The points that hosts and memory allow, and the others with the reason."""
        if lacking := self.site.lacks(cell):
            failure = Failure("hosts", lacking)
            return [], [Point(*place, failure=failure) for place in cell.points()]
        wanted, refused = [], []
        for algorithm, size in cell.points():
            needed = self._needed(cell, (algorithm, size))
            memory = self.site.memory
            if memory is None or needed <= memory:
                wanted.append((algorithm, size))
                continue
            said = refusal(needed, memory, self.site.host())
            refused.append(Point(algorithm, size, failure=Failure("memory", said)))
        return wanted, refused

    def _warnings(self, cell: Cell) -> Sequence[str]:
        said = list(self.site.limits(cell))
        if self.site.memory is not None:
            needed = [self._needed(cell, point) for point in cell.points()]
            fitting = [each for each in needed if each <= self.site.memory]
            said.append(nearness(max(fitting, default=0), self.site.memory, self.site.host()))
        return [words for words in said if words]

    def _needed(self, cell: Cell, point: PointName) -> int:
        return host_bytes(cell, point, shared=self.site.shared)
