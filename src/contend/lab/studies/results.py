"""Results of measured studies: points of the grid, read off the runs that measured them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from contend.base.schema import PythonOnly, Rate, Seconds, Spread, told
from contend.lab.runs import (
    Cause,
    CellEnd,
    CellParts,
    CellRecord,
    CellSummary,
    PointError,
    Run,
    median_interval,
)
from contend.lab.session import UNSUITED
from contend.lab.studies.grid import GridCell, GridPlace, Known

PointName = tuple[str | None, int | None]
"""Algorithm and bytes of a point."""


@dataclass(frozen=True, kw_only=True)
class PublishedFigure:
    """What others published for the same point."""

    source: str
    """Name of who published it."""
    said: str
    """What the source calls the algorithm or the case."""
    conditions: str
    """Conditions under which it was measured."""
    status: str
    """Word ``done``, or ``failed`` if the source has an error."""
    seconds: Seconds | None
    """Time in seconds; null for a rate."""
    rate_Bps_per_rank: Rate | None
    """Bytes per second of a rank; null for a time without a size."""


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What samples come to, or why there are none."""

    status: str
    """Word ``done`` or ``failed``."""
    cause: Cause | None = None
    """Word that says why it failed."""
    said: str = ""
    """Sentence that says why it failed."""
    n: int = 0
    """Number of timed samples that count: neither warm-up nor late."""
    late: int = 0
    """Number of samples in which a rank started late."""
    median_s: Seconds | None = None
    """Median in seconds."""
    ci95_s: tuple[float, float] | None = None
    """Both ends of its 95 % interval; null if there are too few samples for one."""
    rate_Bps_per_rank: Rate | None = None
    """Bytes per second that a rank sends, at the median."""


@dataclass(frozen=True, kw_only=True)
class LaunchFigures(Figures):
    """A point in one launch; null is what is not known or does not apply."""

    launch: int
    """Its number, from 1."""
    p99_s: Seconds | None = None
    """Seconds within which 99 % of the samples are."""
    max_s: Seconds | None = None
    """Longest sample in seconds."""
    verified: bool | None = None
    """Whether the data were right."""
    ended: str = ""
    """Why sampling ended."""


@dataclass(frozen=True, kw_only=True)
class Point(Figures):
    """A point of the grid over all its launches; null is what does not apply to it."""

    cell: int
    """Its number in ``cells``, from 0."""
    place: Spread[GridPlace]
    """Where in the grid."""
    library: str
    """The MPI library as it calls itself."""
    conditions: str
    """What programs cannot see, as it was given."""
    input: str | None
    """Kind of input of a sort."""
    beyond_wire: bool
    """Whether ranks sent faster than ports and cables carry."""
    steps_s: dict[str, float]
    """Medians of the parts of a sample by name."""
    step_shares: dict[str, float]
    """Medians of these parts' shares of their samples."""
    published: list[PublishedFigure]
    """What others published for the same point."""
    launches: list[LaunchFigures]
    """The point in each launch that has ended."""


@dataclass(frozen=True)
class Answer:
    """A cell under its conditions: what one run answers."""

    cell: PythonOnly[GridCell]
    """The cell, under the conditions of the run."""
    measured: PythonOnly[Run] = field(repr=False)
    """The run, with all its launches."""
    launches: PythonOnly[tuple[int, ...]] = (0,)
    """Numbers of those that have ended, from 0, at least one."""
    library: PythonOnly[str] = ""
    """The MPI library as it calls itself, or as it was asked for."""
    seats: str = ""
    """Where its ranks were."""
    one_host: bool = False
    """Whether its hosts were groups of ranks on one host."""
    host_bytes: int = 0
    """Bytes that the data on a host need at most, as it was predicted."""
    memory: int | None = None
    """Bytes of a host that it was compared with; null if they are not known."""
    warnings: tuple[str, ...] = ()
    """All that a reader must know."""

    @told
    def name(self) -> str:
        """The cell for people."""
        return self.cell.label

    @told
    def probe(self) -> str:
        """Name of the probe."""
        return self.cell.probe

    @told
    def mpi(self) -> str:
        """The MPI library as it was asked for."""
        return self.cell.library

    @told
    def length_in_doubles(self) -> int | None:
        """Length of a vector on these hosts; null for what sorts nothing."""
        return self.cell.vector

    @told
    def run(self) -> str:
        """Folder of its run, below that of the study."""
        return "/".join(self.measured.folder.parts[-2:])

    @told
    def elapsed_s(self) -> list[float]:
        """Seconds that each launch took, with all its starts."""
        took = dict.fromkeys(self.launches, 0.0)
        for start in self.measured.record.launches:
            took[start.whole] = took.get(start.whole, 0.0) + (start.elapsed_s or 0.0)
        return [took[launch] for launch in self.launches]

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

    @cached_property
    def summaries(self) -> dict[PointName, CellSummary]:
        """Figures over all launches."""
        return {self._name(cell.record): cell for cell in self.measured.findings.cells}

    @cached_property
    def ends(self) -> dict[tuple[PointName, int], CellEnd]:
        """How points ended in each launch; the last start of a launch counts."""
        cells = self.measured.record.cells
        return {
            (self._name(cells[end.cell]), launch.whole): end
            for launch in self.measured.record.launches
            for end in launch.ends
        }

    @cached_property
    def late(self) -> dict[tuple[PointName, int], int]:
        """Late samples by point and launch."""
        table = self.measured.results.filter(~pl.col("warmup")).group_by("cell", "launch")
        late: dict[tuple[PointName, int], int] = {}
        for cell, launch, count in table.agg(pl.col("late").sum()).iter_rows():
            key = (self._name(self.measured.record.cells[cell]), self._whole.get(launch, launch))
            late[key] = late.get(key, 0) + int(count)
        return late

    def failure(self, name: PointName, launch: int) -> PointError | None:
        """Why a point has no figure in a launch; what concerns the point comes first."""
        errors = [e for e in self.measured.findings.errors if self._concerns(e, name, launch)]
        error = min(errors, key=lambda error: error.whole, default=None)
        summary = self.summaries.get(name)
        if error is None and (summary is None or not len(summary.by_launch.get(launch, ()))):
            return PointError("launch", "the probe left this out")
        return error

    def _name(self, cell: CellRecord) -> PointName:
        """Algorithm and bytes of a cell, as `GridCell.points` names them."""
        return (
            (None, None) if self.measured.record.probe == "sort" else (cell.algorithm, cell.bytes)
        )

    def _concerns(self, error: PointError, name: PointName, launch: int) -> bool:
        if error.launch is not None and self._whole.get(error.launch, error.launch) != launch:
            return False
        if error.whole and (name, launch) in self.ends:
            # The launch ended before its time, and this point had ended before.
            return not self.ends[name, launch].is_sampled
        if error.whole or self.measured.record.probe == "sort":
            return True
        return error.algorithm in (None, name[0]) and error.bytes in (None, name[1])

    @cached_property
    def _whole(self) -> dict[int, int]:
        return {launch.number: launch.whole for launch in self.measured.record.launches}


@dataclass(frozen=True)
class Result:
    """A point of the grid: its figures over all launches, and its failures."""

    answer: Answer = field(repr=False)
    """Cell that it is a point of."""
    place: GridPlace
    """Where in the grid it stands."""

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
    def ci95_s(self) -> tuple[float, float] | None:
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
        number, every = self.summary.record.cell, self.answer.measured.findings.parts
        return next((parts for parts in every if parts.cell.record.cell == number), None)

    def told(self, number: int, known: Sequence[Known]) -> Point:
        """All that programs get of it.

        Args:
            number: of its cell.
            known: what others published.
        """
        cell, summary, parts = self.cell, self.summary, self.parts
        return Point(
            cell=number,
            place=self.place,
            library=self.answer.library,
            conditions=cell.conditions,
            input=cell.input,
            status="failed" if summary is None else "done",
            **_why(self.failure),
            n=0 if summary is None else summary.n,
            late=0 if summary is None else summary.late,
            median_s=self.median_s,
            ci95_s=self.ci95_s,
            rate_Bps_per_rank=self.rate,
            beyond_wire=summary is not None and summary.beyond_wire,
            steps_s={} if parts is None else _spaced(parts.seconds),
            step_shares={} if parts is None else _spaced(parts.shares),
            published=[
                PublishedFigure(
                    source=one.source,
                    said=one.said,
                    conditions=one.conditions,
                    status="failed" if one.failed else "done",
                    seconds=one.seconds,
                    rate_Bps_per_rank=one.rate_of(self.place.ranks),
                )
                for one in known
                if one.placed and one.beside(self.place)
            ],
            launches=[self._in_launch(index) for index in range(len(self.answer.launches))],
        )

    def _in_launch(self, index: int) -> LaunchFigures:
        launch = self.answer.launches[index]
        failure, summary = self.failures[index], self.summary
        end = self.answer.ends.get((self.name, launch))
        figures = LaunchFigures(
            launch=launch + 1,
            status="done" if failure is None else "failed",
            **_why(failure),
            verified=None if end is None else end.verified,
            ended="" if end is None else end.reason,
        )
        if failure is not None or summary is None:
            return figures
        times = summary.by_launch[launch]
        median = median_interval(times)
        return replace(
            figures,
            n=len(times),
            late=self.answer.late.get((self.name, launch), 0),
            median_s=median.value,
            ci95_s=median.interval,
            rate_Bps_per_rank=summary.sent / median.value
            if summary.sent and median.value
            else None,
            p99_s=float(np.quantile(times, 0.99)),
            max_s=float(times.max()),
        )


def _why(failure: PointError | None) -> dict[str, Any]:
    return {} if failure is None else {"cause": failure.cause, "said": failure.reason}


def _spaced(values: Mapping[str, float]) -> dict[str, float]:
    return {name.replace("_", " "): value for name, value in values.items()}


def ended_launches(run: Run, asked: int) -> tuple[int, ...]:
    """Numbers of the launches that have ended; all that were asked for where none can begin."""
    if any(error.whole and error.launch is None for error in run.record.errors):
        return tuple(range(asked))
    return tuple(sorted({one.whole for one in run.record.launches if one.status != "skipped"}))
