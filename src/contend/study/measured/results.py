"""Points of a study over all their launches, with every sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from contend.samples.statistics import combine_launches
from contend.study.measured.record import Failure, Point, Record
from contend.study.measured.reference import Coordinates


@dataclass(frozen=True)
class Samples:
    """Results of a point's samples in seconds.

    Attributes:
        counted: those that count.
        left_out: those that do not, as a rank was late.
        late_counted: whether late ones had to count, since too few others were there.
    """

    counted: NDArray[np.float64]
    left_out: NDArray[np.float64]
    late_counted: bool = False


PointSamples = Mapping[tuple[str | None, int | None], Samples]
"""Samples of a run by algorithm and bytes."""

ReadSamples = Callable[[Path], PointSamples]
_NONE = Samples(np.empty(0), np.empty(0))


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
        samples: one for each launch; empty ones where it has no figures.
        median_s: over the samples of all launches, with its interval; None where there are none.
    """

    place: Coordinates
    series: Series
    seats: str
    points: tuple[Point, ...]
    samples: tuple[Samples, ...] = field(repr=False)
    median_s: float | None = None
    low_s: float | None = None
    high_s: float | None = None

    @property
    def failure(self) -> Failure | None:
        """Why there are no figures: those of the first launch that failed."""
        return next((p.failure for p in self.points if p.failure is not None), None)

    @property
    def rate(self) -> float | None:
        """Bytes per second and rank: (p - 1) messages in the median time."""
        size, ranks = self.place.bytes, self.place.ranks
        if self.median_s is None or not size or ranks is None:
            return None
        return (ranks - 1) * size / self.median_s


def gather(records: Sequence[Record], folder: Path, read: ReadSamples) -> list[Result]:
    """Joins the launches of every point, in the order of their first.

    A point that failed in a launch keeps the figures of the others, and its failure.

    Args:
        records: the cells of a study.
        folder: of the study.
        read: gives the samples of a run.
    """
    # A cell that never ran does not know what its library calls itself; others do.
    named = {record.cell.library: record.library for record in records if record.library}
    joined: dict[tuple[Coordinates, Series], list[tuple[Record, Point, Samples]]] = {}
    for record in records:
        found: dict[tuple[str | None, int | None], Samples] = {}
        for name in record.runs:
            if (folder / name).is_dir():
                found.update(read(folder / name))
        asked = record.cell.library
        series = Series(named.get(asked, asked), record.cell.conditions, record.cell.input)
        for point in record.points:
            samples = _NONE if point.failure else found.get((point.algorithm, point.bytes), _NONE)
            joined.setdefault((record.place(point), series), []).append((record, point, samples))
    return [_result(place, series, parts) for (place, series), parts in joined.items()]


def _result(
    place: Coordinates,
    series: Series,
    parts: Sequence[tuple[Record, Point, Samples]],
) -> Result:
    launches = [samples.counted for _, _, samples in parts if len(samples.counted)]
    median = combine_launches(launches) if launches else None
    return Result(
        place=place,
        series=series,
        seats=parts[0][0].seats,
        points=tuple(point for _, point, _ in parts),
        samples=tuple(samples for _, _, samples in parts),
        median_s=None if median is None else median.value,
        low_s=None if median is None else median.low,
        high_s=None if median is None else median.high,
    )
