"""Calls of a profiled program that lost a time-out, by the events of its ranks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from contend.explanation.limits import (
    A_TIME_OUT_S,
    BEYOND_SCHEDULES,
    FASTEST,
    FEWEST_CALLS,
)
from contend.profiling import CALL, ProgramProfile

_MOST_RANKS = 1024
_KEYS = ("rank", "cell", "routine", "site")

Instants = NDArray[np.int64]


def stalled_calls(profile: ProgramProfile, *, known_wire: bool) -> pl.DataFrame | None:
    """Calls that took a time-out longer than usual while no rank was outside of MPI.

    A call that takes less than `BEYOND_SCHEDULES` times as long as usual is not one of them. Time
    in which any rank computed may have been waiting for that rank, and does not count.

    Args:
        profile: with events.
        known_wire: whether time-outs are told from long transfers by what ports carry; then usual
            is the fastest tenth of the calls of a cell, else their median.

    Returns:
        ``rank``, ``cell``, ``routine``, ``site``, ``seconds`` and ``lost_s`` of every such call;
        None where some call took so long, but the events that would tell are missing.
    """
    cells = profile.findings.cells
    long = (pl.col("longest_s") >= A_TIME_OUT_S) & (pl.col("calls") >= FEWEST_CALLS)
    if cells.filter(long).is_empty():
        return cells.clear().with_columns(pl.lit(0.0).alias("lost_s"))
    ranks = profile.ranks
    if not profile.size == len(ranks) <= _MOST_RANKS or not (ranks["events"] > 0).all():
        return None
    usual = FASTEST if known_wire else 0.5
    longer, outside = [], []
    for rank in ranks["rank"].to_list():
        calls = profile.events(rank).filter(pl.col("kind") == CALL)
        outside.append(np.array(list(_outside(calls)), np.int64).reshape(-1, 2))
        longer.append(_longer(calls, rank, usual))
    # Only the parts of the last frames have the types of numbers that the others lack.
    found = pl.concat(longer)
    computed = _Covered(np.concatenate(outside))
    excused = 1e-9 * computed.within(found["start_ns"].to_numpy(), found["end_ns"].to_numpy())
    found = found.with_columns(pl.col("lost_s") - pl.Series(excused))
    return found.filter(pl.col("lost_s") >= A_TIME_OUT_S).drop("start_ns", "end_ns")


def _longer(calls: pl.DataFrame, rank: int, usual: float) -> pl.DataFrame:
    """A rank's calls that took a time-out longer than those of their cell usually take."""
    seconds = 1e-9 * (pl.col("end_ns") - pl.col("start_ns"))
    return (
        calls.filter(pl.col("routine").is_not_null())
        .with_columns(seconds.alias("seconds"), pl.lit(rank, pl.UInt32).alias("rank"))
        .filter(pl.len().over("cell") >= FEWEST_CALLS)
        .with_columns(pl.col("seconds").quantile(usual).over("cell").alias("usual_s"))
        .with_columns((pl.col("seconds") - pl.col("usual_s")).alias("lost_s"))
        .filter(
            (pl.col("lost_s") >= A_TIME_OUT_S)
            & (pl.col("seconds") >= BEYOND_SCHEDULES * pl.col("usual_s"))
        )
        .select(*_KEYS, "seconds", "lost_s", "start_ns", "end_ns")
    )


def _outside(calls: pl.DataFrame) -> Iterator[tuple[int, int]]:
    """From when to when a rank was in no call, from its first call on.

    Where its last event is not its MPI_Finalize, what it did afterwards is not known.
    """
    starts, ends = calls["start_ns"].to_numpy(), calls["end_ns"].to_numpy()
    order = np.argsort(starts, kind="stable")
    # Of threads that call at once the one that leaves last counts.
    left = np.maximum.accumulate(ends[order])
    begins = starts[order][1:]
    for at in np.flatnonzero(begins > left[:-1]):
        yield int(left[at]), int(begins[at])
    if "MPI_Finalize" not in calls["routine"].tail(1).to_list():
        yield int(left[-1]), np.iinfo(np.int64).max // 2


class _Covered:
    """How much of a time is covered by intervals that may overlap."""

    def __init__(self, intervals: Instants) -> None:
        ordered = intervals[np.argsort(intervals[:, 0], kind="stable")]
        ends = np.maximum.accumulate(ordered[:, 1])
        # What an earlier interval covers already is left out.
        starts = np.maximum(ordered[:, 0], np.concatenate(([0], ends[:-1])))
        lengths = np.maximum(ends - starts, 0)
        kept = lengths > 0
        self._starts, self._lengths = starts[kept], lengths[kept]
        self._before = np.concatenate(([0], np.cumsum(self._lengths)))

    def within(self, start: Instants, end: Instants) -> Instants:
        """Covered part of every time, of the same unit."""
        return self._until(end) - self._until(start)

    def _until(self, instant: Instants) -> Instants:
        at = np.searchsorted(self._starts, instant, side="right") - 1
        if not len(self._starts):
            return np.zeros(len(instant), np.int64)
        here = np.minimum(instant - self._starts[at], self._lengths[at])
        return np.where(at < 0, 0, self._before[at] + here)
