"""Points of a study over all their launches, with every sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from contend.runs import CellSummary
from contend.study.measured.attempts import PointName
from contend.study.measured.record import Failure, Point, Record
from contend.study.references import Coordinates

Summaries = Mapping[PointName, CellSummary]
"""Figures by algorithm and bytes."""

ReadRuns = Callable[[Sequence[tuple[int, Path]]], Summaries]
"""Figures of runs, each with the number of its launch, all of one place and series."""

_NO_SAMPLES = np.empty(0)


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
        one_host: whether its nodes were groups of ranks on one host.
        points: one for each launch.
        summary: its figures; None where it has none.
    """

    place: Coordinates
    series: Series
    seats: str
    points: tuple[Point, ...]
    summary: CellSummary | None = field(repr=False)
    one_host: bool = False

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


def gather(records: Sequence[Record], folder: Path, read: ReadRuns) -> list[Result]:
    """Joins the launches of every point, in the order of their first.

    A point that failed in a launch keeps the figures of the others, and its failure.

    Args:
        records: the cells of a study.
        folder: of the study.
        read: gives the figures of runs.
    """
    # A cell that never ran does not know what its library calls itself; others do.
    named = {record.cell.library: record.library for record in records if record.library}
    joined: dict[tuple[Coordinates, Series], list[Record]] = {}
    for record in records:
        asked = record.cell.library
        series = Series(named.get(asked, asked), record.cell.conditions, record.cell.input)
        joined.setdefault((record.cell.place, series), []).append(record)
    return [
        result
        for (_, series), members in joined.items()
        for result in _results(series, members, folder, read)
    ]


def _results(
    series: Series, records: Sequence[Record], folder: Path, read: ReadRuns
) -> list[Result]:
    runs = [
        (record.cell.launch, folder / name)
        for record in records
        for name in record.runs
        if (folder / name).is_dir()
    ]
    figures = read(runs) if runs else {}
    points: dict[Coordinates, list[Point]] = {}
    for record in records:
        for point in record.points:
            points.setdefault(record.place(point), []).append(point)
    return [
        Result(
            place=place,
            series=series,
            seats=records[0].seats,
            one_host=records[0].one_host,
            points=tuple(members),
            summary=None
            if all(point.failure is not None for point in members)
            else figures.get((place.algorithm, place.bytes)),
        )
        for place, members in points.items()
    ]
