"""Results of measured studies: points of the grid, read off the runs that measured them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl
from msgspec import Struct
from numpy.typing import NDArray

from contend.runs import (
    Cause,
    CellEnd,
    CellRecord,
    CellSummary,
    Findings,
    PointError,
    Run,
    median_interval,
)
from contend.session import UNSUITED
from contend.study.measured_cell import GridCell
from contend.study.references import Coordinates

PointName = tuple[str | None, int | None]
"""Algorithm and bytes of a point."""

_NO_SAMPLES = np.empty(0)


class Failure(Struct, frozen=True):
    """Why there is no figure, and what was said."""

    cause: Cause
    said: str


class Point(Struct, frozen=True):
    """A point of a cell in one launch: its figures, or why there are none.

    Attributes:
        algorithm: the schedule; None where the probe has none.
        bytes: of a message; None where the probe has no sizes.
        failure: why it has no figures; None where it has.
        samples: how many count: neither warm-up nor late.
        late: samples that did not count because a rank started late.
        median_s: seconds, with its 95 % interval `low_s` to `high_s`.
        p99_s: seconds within which 99 % of the samples are.
        max_s: the longest.
        rate_Bps: bytes per second and rank; None where it has no meaning.
        verified: whether the data was right; None where it was not checked.
        ended: why sampling ended.
        steps_s: medians of the parts of a sample by name, where the probe times some.
        step_shares: medians of these parts' shares of their samples.
    """

    algorithm: str | None = None
    bytes: int | None = None
    failure: Failure | None = None
    samples: int = 0
    late: int = 0
    median_s: float | None = None
    low_s: float | None = None
    high_s: float | None = None
    p99_s: float | None = None
    max_s: float | None = None
    rate_Bps: float | None = None  # noqa: N815
    verified: bool | None = None
    ended: str = ""
    steps_s: dict[str, float] = {}
    step_shares: dict[str, float] = {}


class Terms(Struct, frozen=True, forbid_unknown_fields=True):
    """How all cells of a study are measured."""

    on: str
    precision: float
    repetitions: tuple[int, int]
    verify: bool
    seed: int


class MeasuredRecord(Struct, frozen=True):
    """A launch of a cell that has ended, as JSON shows it.

    Attributes:
        cell: what was asked for.
        terms: how.
        seats: where its ranks were, for people.
        points: what came out.
        one_host: whether its hosts were groups of ranks on one host.
        host_bytes: what the data on a host needs at most, as it was predicted.
        memory: bytes of a host that it was compared with; None where they are not known.
        library: MPI library as it calls itself.
        warnings: what a reader must know.
        runs: its run folder, below that of the study.
        budget_s: seconds that the study had.
        elapsed_s: seconds that the launch took.
    """

    cell: GridCell
    terms: Terms
    seats: str
    points: tuple[Point, ...]
    one_host: bool = False
    host_bytes: int = 0
    memory: int | None = None
    library: str = ""
    warnings: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    budget_s: float = 0.0
    elapsed_s: float = 0.0

    @property
    def failures(self) -> list[Failure]:
        """Why points have no figures, each reason once."""
        return list(dict.fromkeys(p.failure for p in self.points if p.failure is not None))

    @property
    def failed(self) -> bool:
        """Whether a point has no figures that could have some."""
        return any(failure.cause != UNSUITED for failure in self.failures)

    def place(self, point: Point) -> Coordinates:
        """Where a point stands in the plan's grid."""
        return replace(self.cell.place, algorithm=point.algorithm, bytes=point.bytes)


@dataclass(frozen=True)
class Series:
    """What points of one line in a figure share beside their place in the grid.

    Attributes:
        library: the MPI library as it calls itself, or as it was asked for.
        conditions: what programs cannot see.
        input: kind of input; None for probes that have none.
    """

    library: str
    conditions: str
    input: str | None = None

    @property
    def label(self) -> str:
        """For people; the usual input goes without saying."""
        kind = f"{self.input} input" if self.input not in (None, "built") else ""
        return ", ".join(filter(None, (self.library, self.conditions, kind)))


@dataclass(frozen=True)
class Result:
    """A point over all launches.

    Attributes:
        place: where in the grid.
        series: what else tells it from others.
        seats: where its ranks were, for people.
        points: one for each launch.
        summary: its figures; None where it has none.
        one_host: whether its hosts were groups of ranks on one host.
        findings: of the run that it is a point of; None where it has none.
    """

    place: Coordinates
    series: Series
    seats: str
    points: tuple[Point, ...]
    summary: CellSummary | None = field(repr=False)
    one_host: bool = False
    findings: Findings | None = field(default=None, repr=False)

    @property
    def failure(self) -> Failure | None:
        """Why there are no figures: those of the first launch that failed."""
        return next((p.failure for p in self.points if p.failure is not None), None)

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


@dataclass(frozen=True)
class Answer:
    """What is known of a cell: its launches, and its points over all of them.

    Attributes:
        records: a launch each, at least one.
        findings: of the run that answers it; None where it has none.
    """

    records: tuple[MeasuredRecord, ...]
    findings: Findings | None


def gather(answers: Sequence[Answer]) -> list[Result]:
    """Every point over all its launches.

    A point that failed in a launch keeps the figures of the others, and its failure.
    """
    records = [record for answer in answers for record in answer.records]
    # A cell that never ran does not know what its library calls itself; others do.
    named = {record.cell.library: record.library for record in records if record.library}
    return [result for answer in answers for result in _results(answer, named)]


def _results(answer: Answer, named: Mapping[str, str]) -> Iterator[Result]:
    first = answer.records[0]
    library = first.cell.library
    series = Series(named.get(library, library), first.cell.conditions, first.cell.input)
    summaries = {} if answer.findings is None else _by_point(first.cell.probe, answer.findings)
    points: dict[Coordinates, list[Point]] = {}
    for record in answer.records:
        for point in record.points:
            points.setdefault(record.place(point), []).append(point)
    for place, members in points.items():
        failed = all(point.failure is not None for point in members)
        yield Result(
            place=place,
            series=series,
            seats=first.seats,
            points=tuple(members),
            summary=None if failed else summaries.get((place.algorithm, place.bytes)),
            one_host=first.one_host,
            findings=answer.findings,
        )


def _by_point(probe: str, findings: Findings) -> dict[PointName, CellSummary]:
    """Figures over all launches."""
    return {point_name(probe, cell.record): cell for cell in findings.cells}


def point_name(probe: str, cell: CellRecord) -> PointName:
    """Algorithm and bytes, as `GridCell.points` names them."""
    return (None, None) if probe == "sort" else (cell.algorithm, cell.bytes)


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

    @cached_property
    def summaries(self) -> dict[PointName, CellSummary]:
        """Figures over all launches."""
        return _by_point(self.run.record.probe, self.run.findings)

    def name(self, cell: CellRecord) -> PointName:
        """Algorithm and bytes of a cell."""
        return point_name(self.run.record.probe, cell)

    def point(self, name: PointName, launch: int) -> Point:
        """A point in one launch."""
        summary, end = self.summaries.get(name), self._ends.get((name, launch))
        failure = self._failure(name, launch)
        times = _NO_SAMPLES
        if summary is not None and launch in summary.numbers:
            times = summary.launches[summary.numbers.index(launch)]
        if failure is None and len(times) == 0:
            failure = Failure("launch", "the probe left this out")
        ended, verified = ("", None) if end is None else (end.reason, end.verified)
        if failure is not None or summary is None:
            return Point(*name, failure=failure, ended=ended, verified=verified)
        median = median_interval(times)
        steps, shares = self._parts.get(name, ({}, {}))
        return Point(
            *name,
            samples=len(times),
            late=self._late.get((name, launch), 0),
            median_s=median.value,
            low_s=median.low,
            high_s=median.high,
            p99_s=float(np.quantile(times, 0.99)),
            max_s=float(times.max()),
            rate_Bps=summary.sent / median.value if summary.sent and median.value > 0 else None,
            verified=verified,
            ended=ended,
            steps_s=steps,
            step_shares=shares,
        )

    def _failure(self, name: PointName, launch: int) -> Failure | None:
        """Why a point has no figure in a launch; what concerns the point itself comes first."""
        errors = [e for e in self.run.findings.errors if self._concerns(e, name, launch)]
        error = next(iter(sorted(errors, key=lambda error: error.whole)), None)
        return None if error is None else Failure(error.cause, error.reason)

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
    def _parts(self) -> dict[PointName, tuple[dict[str, float], dict[str, float]]]:
        """Medians of what the probe timed within or beside samples, and of its shares, by point."""

        def spaced(values: dict[str, float]) -> dict[str, float]:
            return {name.replace("_", " "): value for name, value in values.items()}

        return {
            self.name(parts.cell.record): (spaced(parts.seconds), spaced(parts.shares))
            for parts in self.run.findings.parts
        }

    @cached_property
    def _late(self) -> dict[tuple[PointName, int], int]:
        """Late samples by point and launch."""
        table = self.run.results.filter(~pl.col("warmup")).group_by("cell", "launch")
        late: dict[tuple[PointName, int], int] = {}
        for cell, launch, count in table.agg(pl.col("late").sum()).iter_rows():
            key = (self.name(self.run.record.cells[cell]), self._whole.get(launch, launch))
            late[key] = late.get(key, 0) + int(count)
        return late
