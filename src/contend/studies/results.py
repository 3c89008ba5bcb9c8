"""Results of measured studies: points of the grid, read off the runs that measured them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from contend.runs import (
    Cause,
    CellEnd,
    CellParts,
    CellRecord,
    CellSummary,
    PointError,
    Run,
)
from contend.session import UNSUITED
from contend.studies.grid import GridCell, GridPlace

PointName = tuple[str | None, int | None]
"""Algorithm and bytes of a point."""


@dataclass(frozen=True)
class Answer:
    """A cell of the grid and the run that answers it.

    Attributes:
        cell: under the conditions of the run.
        run: with all its launches.
        launches: numbers of those that have ended, from 0, at least one.
        library: the MPI library as it calls itself, or as it was asked for.
        seats: where its ranks were, for people.
        one_host: whether its hosts were groups of ranks on one host.
        host_bytes: what the data on a host needs at most, as it was predicted.
        memory: bytes of a host that it was compared with; None where they are not known.
        warnings: what a reader must know.
    """

    cell: GridCell
    run: Run = field(repr=False)
    launches: tuple[int, ...] = (0,)
    library: str = ""
    seats: str = ""
    one_host: bool = False
    host_bytes: int = 0
    memory: int | None = None
    warnings: tuple[str, ...] = ()

    @cached_property
    def results(self) -> tuple[Result, ...]:
        """All points of the cell."""
        return tuple(Result(self, self.cell.place(name)) for name in self.cell.points())

    def failures(self, index: int) -> dict[tuple[Cause, str], list[Result]]:
        """Cause and reason why points have no figures in a launch, by its index, with these."""
        failures: dict[tuple[Cause, str], list[Result]] = {}
        for result in self.results:
            if (failure := result.failures[index]) is not None:
                failures.setdefault((failure.cause, failure.reason), []).append(result)
        return failures

    @property
    def failed(self) -> int:
        """Launches in which a point has no figures that could have some."""
        return sum(
            any(cause != UNSUITED for cause, _ in self.failures(index))
            for index in range(len(self.launches))
        )

    def elapsed_s(self, launch: int) -> float:
        """Seconds that all starts of a launch took."""
        starts = [start for start in self.run.record.launches if start.whole == launch]
        return sum(start.elapsed_s or 0.0 for start in starts)

    @cached_property
    def summaries(self) -> dict[PointName, CellSummary]:
        """Figures over all launches."""
        return {self._name(cell.record): cell for cell in self.run.findings.cells}

    @cached_property
    def ends(self) -> dict[tuple[PointName, int], CellEnd]:
        """How points ended in each launch; the last start of a launch counts."""
        cells = self.run.record.cells
        return {
            (self._name(cells[end.cell]), launch.whole): end
            for launch in self.run.record.launches
            for end in launch.ends
        }

    @cached_property
    def late(self) -> dict[tuple[PointName, int], int]:
        """Late samples by point and launch."""
        table = self.run.results.filter(~pl.col("warmup")).group_by("cell", "launch")
        late: dict[tuple[PointName, int], int] = {}
        for cell, launch, count in table.agg(pl.col("late").sum()).iter_rows():
            key = (self._name(self.run.record.cells[cell]), self._whole.get(launch, launch))
            late[key] = late.get(key, 0) + int(count)
        return late

    def failure(self, name: PointName, launch: int) -> PointError | None:
        """Why a point has no figure in a launch; what concerns the point comes first."""
        errors = [e for e in self.run.findings.errors if self._concerns(e, name, launch)]
        error = min(errors, key=lambda error: error.whole, default=None)
        summary = self.summaries.get(name)
        if error is None and (summary is None or not len(summary.by_launch.get(launch, ()))):
            return PointError("launch", "the probe left this out")
        return error

    def _name(self, cell: CellRecord) -> PointName:
        """Algorithm and bytes of a cell, as `GridCell.points` names them."""
        return (None, None) if self.run.record.probe == "sort" else (cell.algorithm, cell.bytes)

    def _concerns(self, error: PointError, name: PointName, launch: int) -> bool:
        if error.launch is not None and self._whole.get(error.launch, error.launch) != launch:
            return False
        if error.whole and (name, launch) in self.ends:
            # The launch ended before its time, and this point had ended before.
            return not self.ends[name, launch].is_sampled
        if error.whole or self.run.record.probe == "sort":
            return True
        return error.algorithm in (None, name[0]) and error.bytes in (None, name[1])

    @cached_property
    def _whole(self) -> dict[int, int]:
        return {launch.number: launch.whole for launch in self.run.record.launches}


@dataclass(frozen=True)
class Result:
    """A point of the grid: its figures over all launches, and its failures.

    Attributes:
        answer: that it is a point of.
        place: where in the grid.
    """

    answer: Answer = field(repr=False)
    place: GridPlace

    @property
    def cell(self) -> GridCell:
        """The cell that it is a point of."""
        return self.answer.cell

    @property
    def name(self) -> PointName:
        """Algorithm and bytes."""
        return self.place.algorithm, self.place.bytes

    @property
    def series(self) -> str:
        """What tells its line in a figure from others, for people; the usual input does not."""
        kind = f"{self.cell.input} input" if self.cell.input not in (None, "built") else ""
        return ", ".join(filter(None, (self.answer.library, self.cell.conditions, kind)))

    @cached_property
    def failures(self) -> tuple[PointError | None, ...]:
        """Why it has no figures in a launch, for each that has ended; None where it has."""
        return tuple(self.answer.failure(self.name, launch) for launch in self.answer.launches)

    @property
    def failure(self) -> PointError | None:
        """Why there are no figures: those of the first launch that failed."""
        return next(filter(None, self.failures), None)

    @cached_property
    def summary(self) -> CellSummary | None:
        """Its figures; None where it has none."""
        return None if all(self.failures) else self.answer.summaries.get(self.name)

    @property
    def median_s(self) -> float | None:
        """Seconds, over the launches."""
        return None if self.summary is None else self.summary.median.value

    @property
    def interval_s(self) -> tuple[float, float] | None:
        """The median's 95 % interval; None where too few samples are there for one."""
        return None if self.summary is None else self.summary.median.interval

    @property
    def rate(self) -> float | None:
        """Bytes per second that a rank sends, at the median."""
        rate = None if self.summary is None else self.summary.rate
        return None if rate is None or self.place.bytes is None else rate.value

    @property
    def parts(self) -> CellParts | None:
        """Medians of what the probe timed within or beside its samples."""
        if self.summary is None:
            return None
        number, every = self.summary.record.cell, self.answer.run.findings.parts
        return next((parts for parts in every if parts.cell.record.cell == number), None)


def ended_launches(run: Run, asked: int) -> tuple[int, ...]:
    """Numbers of the launches that have ended; all that were asked for where none can begin."""
    if any(error.whole and error.launch is None for error in run.record.errors):
        return tuple(range(asked))
    return tuple(sorted({one.whole for one in run.record.launches if one.status != "skipped"}))
