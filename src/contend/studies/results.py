"""Results of measured studies: points of the grid, read off the runs that measured them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from contend.runs import (
    Cause,
    CellEnd,
    CellParts,
    CellRecord,
    CellSummary,
    Findings,
    PointError,
    Run,
)
from contend.session import UNSUITED
from contend.studies.grid import GridCell, GridPlace

PointName = tuple[str | None, int | None]
"""Algorithm and bytes of a point."""

_NO_SAMPLES = np.empty(0)


@dataclass(frozen=True)
class Result:
    """A point of the grid: its place, its figures over all launches, and its failures.

    Attributes:
        cell: that it is a point of.
        place: where in the grid.
        summary: its figures; None where it has none.
        failures: why it has none in a launch, for each that has ended; None where it has.
        library: the MPI library as it calls itself, or as it was asked for.
        seats: where its ranks were, for people.
        one_host: whether its hosts were groups of ranks on one host.
        findings: of the run that it is a point of; None where it has none.
    """

    cell: GridCell
    place: GridPlace
    summary: CellSummary | None = field(repr=False)
    failures: tuple[PointError | None, ...] = (None,)
    library: str = ""
    seats: str = ""
    one_host: bool = False
    findings: Findings | None = field(default=None, repr=False)

    @property
    def series(self) -> str:
        """What tells its line in a figure from others, for people; the usual input does not."""
        kind = f"{self.cell.input} input" if self.cell.input not in (None, "built") else ""
        return ", ".join(filter(None, (self.library, self.cell.conditions, kind)))

    @property
    def failure(self) -> PointError | None:
        """Why there are no figures: those of the first launch that failed."""
        return next(filter(None, self.failures), None)

    @property
    def median_s(self) -> float | None:
        """Seconds, over the launches."""
        return None if self.summary is None else self.summary.median.value

    @property
    def interval_s(self) -> tuple[float, float] | None:
        """The median's 95 % interval; None where too few samples are there for one."""
        if self.summary is None:
            return None
        low, high = self.summary.median.low, self.summary.median.high
        return None if low is None or high is None else (low, high)

    @property
    def counted(self) -> NDArray[np.float64]:
        """Seconds of every sample that counts."""
        return _NO_SAMPLES if self.summary is None else self.summary.used

    @property
    def left_out(self) -> NDArray[np.float64]:
        """Seconds of every sample that does not, as a rank was late."""
        return _NO_SAMPLES if self.summary is None else self.summary.left_out

    @property
    def rate(self) -> float | None:
        """Bytes per second that a rank sends, at the median."""
        rate = None if self.summary is None else self.summary.rate
        return None if rate is None or self.place.bytes is None else rate.value

    @property
    def parts(self) -> CellParts | None:
        """Medians of what the probe timed within or beside its samples."""
        if self.summary is None or self.findings is None:
            return None
        number = self.summary.record.cell
        return next((p for p in self.findings.parts if p.cell.record.cell == number), None)


@dataclass(frozen=True)
class Answer:
    """A cell of the grid, the run that answers it, and its results.

    Attributes:
        cell: under the conditions of the run.
        points: the run, launch by launch.
        launches: numbers of those that have ended, from 0, at least one.
        results: of all its points.
        host_bytes: what the data on a host needs at most, as it was predicted.
        memory: bytes of a host that it was compared with; None where they are not known.
        warnings: what a reader must know.
    """

    cell: GridCell
    points: RunPoints
    launches: tuple[int, ...]
    results: tuple[Result, ...]
    host_bytes: int = 0
    memory: int | None = None
    warnings: tuple[str, ...] = ()

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


@dataclass(frozen=True)
class RunPoints:
    """The points of a run that answers a cell, launch by launch."""

    run: Run

    def launches(self, asked: int) -> list[int]:
        """Numbers of the launches that have ended; all that were asked for where none can begin."""
        record = self.run.record
        if any(error.whole and error.launch is None for error in record.errors):
            return list(range(asked))
        return sorted({start.whole for start in record.launches if start.status != "skipped"})

    def elapsed_s(self, launch: int) -> float:
        """Seconds that all starts of a launch took."""
        starts = [start for start in self.run.record.launches if start.whole == launch]
        return sum(start.elapsed_s or 0.0 for start in starts)

    def failures(self, name: PointName, launches: Iterable[int]) -> tuple[PointError | None, ...]:
        """Why a point has no figure in some launches; what concerns the point comes first."""
        summary = self.summaries.get(name)
        found: list[PointError | None] = []
        for launch in launches:
            errors = [e for e in self.run.findings.errors if self._concerns(e, name, launch)]
            error = min(errors, key=lambda error: error.whole, default=None)
            if error is None and (summary is None or not len(summary.by_launch.get(launch, ()))):
                error = PointError("launch", "the probe left this out")
            found.append(error)
        return tuple(found)

    @cached_property
    def summaries(self) -> dict[PointName, CellSummary]:
        """Figures over all launches."""
        return {self.name(cell.record): cell for cell in self.run.findings.cells}

    def end(self, name: PointName, launch: int) -> CellEnd | None:
        """How a point ended in a launch; None where it did not begin."""
        return self._ends.get((name, launch))

    @cached_property
    def _ends(self) -> dict[tuple[PointName, int], CellEnd]:
        """How points ended in each launch; the last start of a launch counts."""
        cells = self.run.record.cells
        return {
            (self.name(cells[end.cell]), launch.whole): end
            for launch in self.run.record.launches
            for end in launch.ends
        }

    @cached_property
    def late(self) -> dict[tuple[PointName, int], int]:
        """Late samples by point and launch."""
        table = self.run.results.filter(~pl.col("warmup")).group_by("cell", "launch")
        late: dict[tuple[PointName, int], int] = {}
        for cell, launch, count in table.agg(pl.col("late").sum()).iter_rows():
            key = (self.name(self.run.record.cells[cell]), self._whole.get(launch, launch))
            late[key] = late.get(key, 0) + int(count)
        return late

    def name(self, cell: CellRecord) -> PointName:
        """Algorithm and bytes of a cell, as `GridCell.points` names them."""
        return (None, None) if self.run.record.probe == "sort" else (cell.algorithm, cell.bytes)

    def _concerns(self, error: PointError, name: PointName, launch: int) -> bool:
        if error.launch is not None and self._whole.get(error.launch, error.launch) != launch:
            return False
        if error.whole and (name, launch) in self._ends:
            # The launch ended before its time, and this point had ended before.
            return not self._ends[name, launch].is_sampled
        if error.whole or self.run.record.probe == "sort":
            return True
        return error.algorithm in (None, name[0]) and error.bytes in (None, name[1])

    @cached_property
    def _whole(self) -> dict[int, int]:
        return {launch.number: launch.whole for launch in self.run.record.launches}
