"""Calls of a profiled program: what so many cost, which lost a time-out, for whom they wait."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from contend.explanation.evidence import (
    A_TIME_OUT_S,
    BEYOND_SCHEDULES,
    FASTEST,
    FEWEST_CALLS,
    MESSAGE_S,
    SMALL_BYTES,
    Stalled,
)
from contend.prediction import Calibration, SizeClass
from contend.profiling import WAITS, EventKind, ProgramProfile, rank_words, routines

_SENDS = routines.SENDS | routines.BEGUN_SENDS
_RECEIVES = routines.RECEIVES | routines.EXCHANGES | routines.WAITS
# Calls that poll, such as MPI_Test, take as long as the program asks: they cost no message.
_COUNTED = sorted(f"MPI_{name}" for name in _SENDS | _RECEIVES | routines.COLLECTIVES)
_KEYS, _PLACE = ("routine", "communicator"), ("site", "size_class")
# Ranks whose events are looked at: of more there are enough that nobody keeps waiting.
_MOST_RANKS = 64


def costs_by_calls(profile: ProgramProfile, wire: float | None, *, in_turns: bool) -> pl.DataFrame:
    """What a call of every cell costs by the small messages of the profile itself.

    Of a place all of whose calls are small, and of which it is told how long they waited for ranks
    that were late, what they take besides. Of others what the fastest tenth of a routine's small
    calls take, on the rank where that is least. Where ranks take turns on processors, what calls
    take in the mean: that others have their turn is what they cost.

    Args:
        profile: with events.
        wire: bytes per second of a port; None where it is not known.
        in_turns: whether all ranks share the processors of one host.

    Returns:
        `Findings.cells` with ``cost_s``; without the cells that nothing is known of.
    """
    ranks = profile.ranks.filter(pl.col("events") > 0)["rank"].to_list()
    step = -(-len(ranks) // _MOST_RANKS) or 1
    cells = profile.findings.cells
    found, alike = [], []
    for rank in ranks[::step]:
        events = profile.events(rank)
        sized = events.with_columns(_sizes(events)).filter(
            (pl.col("kind") == EventKind.CALL) & pl.col("routine").cast(pl.String).is_in(_COUNTED)
        )
        found.append(_small(sized, wire, in_turns))
        alike.append(_all_small(sized, cells.filter(pl.col("rank") == rank), wire))
    if not found:
        return cells.clear().with_columns(pl.lit(0.0).alias("cost_s"))
    cost = pl.col("cost_s")
    costs = pl.concat(found).group_by(_KEYS).agg(cost.mean() if in_turns else cost.min())
    costs = costs.filter(cost > 0, in_turns | (cost <= MESSAGE_S))
    if in_turns:
        return cells.join(costs, on=_KEYS, how="inner", maintain_order="left")
    besides = pl.concat(alike).group_by(*_KEYS, *_PLACE).agg(pl.col("small").all(), cost.mean())
    besides = besides.filter("small", cost.is_between(0, MESSAGE_S, closed="right"))
    return (
        cells.join(costs, on=_KEYS, how="left", maintain_order="left")
        .join(
            besides.drop("small").rename({"cost_s": "besides_s"}),
            on=(*_KEYS, *_PLACE),
            how="left",
            maintain_order="left",
        )
        .with_columns(pl.max_horizontal("cost_s", "besides_s").alias("cost_s"))
        .filter(cost.is_not_null())
        .drop("besides_s")
    )


def _all_small(calls: pl.DataFrame, cells: pl.DataFrame, wire: float | None) -> pl.DataFrame:
    """By cell of which waiting is told: whether all calls are small, and what one takes besides."""
    sizes = calls.group_by("cell").agg(
        (pl.col("size").max() <= SMALL_BYTES).alias("small"),
        pl.col("size").mean().alias("mean"),
        pl.len().alias("count"),
    )
    besides = (pl.col("seconds") - pl.col("waiting_s")) / pl.col("calls")
    if wire is not None:
        besides = besides - pl.col("mean") / wire
    return (
        cells.filter(pl.col("waiting_s").is_not_null())
        .join(sizes, on="cell", maintain_order="left")
        .filter(pl.col("count") >= FEWEST_CALLS)
        .select(*_KEYS, *_PLACE, "small", besides.alias("cost_s"))
    )


def _small(events: pl.DataFrame, wire: float | None, in_turns: bool) -> pl.DataFrame:
    """What small calls of a rank take, by routine and communicator."""
    calls = events.filter(pl.col("size") <= SMALL_BYTES)
    seconds = 1e-9 * (pl.col("end_ns") - pl.col("start_ns"))
    if wire is not None:
        seconds = seconds - pl.col("size") / wire
    return (
        calls.group_by(_KEYS)
        .agg(
            (seconds.mean() if in_turns else seconds.quantile(FASTEST)).alias("cost_s"),
            pl.len().alias("count"),
        )
        .filter(pl.col("count") >= FEWEST_CALLS)
        .drop("count")
    )


def _sizes(events: pl.DataFrame) -> pl.Series:
    """Bytes of every call: its own, those of its parts, and of the requests that it completes."""
    kind, size = events["kind"].to_numpy(), events["bytes"].to_numpy().astype(np.int64)
    began = (kind == EventKind.CALL) & (events["request"].to_numpy() > 0)
    begun = events.filter(pl.Series(began)).unique("request", keep="last")
    of_request = events.select("request").join(
        begun.select("request", pl.col("bytes").alias("begun")),
        on="request",
        how="left",
        maintain_order="left",
    )["begun"]
    completion = kind == EventKind.COMPLETION
    own = np.where(completion, np.maximum(size, of_request.fill_null(0).to_numpy()), size)
    call = np.maximum(np.cumsum(kind == EventKind.CALL) - 1, 0)
    whole: NDArray[np.int64] = np.zeros(int(call.max(initial=0)) + 1, np.int64)
    np.maximum.at(whole, call, np.where(completion, 0, own))
    np.add.at(whole, call[completion], own[completion])
    return pl.Series("size", whole[call])


def costs_by_calibration(
    profile: ProgramProfile, calibration: Calibration, hosts: Mapping[int, int]
) -> pl.DataFrame:
    """What a call of every cell costs by a calibration: overheads, and a latency where it waits.

    A send costs the overhead of its size; what waits for a message a latency and the overheads of
    both ends. A collective that nobody leaves before all have entered costs as much ceil(log2 p)
    times, as no algorithm spreads a word to p ranks in fewer rounds.

    Args:
        profile: of the program.
        calibration: of the same place and library.
        hosts: on how many hosts the members of every communicator are.

    Returns:
        `Findings.cells` with ``cost_s``; without cells that cost nothing by their number.
    """
    sizes = dict(profile.communicators.select("communicator", "size").iter_rows())
    cells = profile.findings.cells
    costs = [
        _cost(row, calibration, hosts.get(row["communicator"], 1), sizes[row["communicator"]])
        for row in cells.select("routine", "communicator", "calls", "bytes").iter_rows(named=True)
    ]
    return cells.with_columns(pl.Series("cost_s", costs, pl.Float64)).filter(pl.col("cost_s") > 0)


def _cost(row: Mapping[str, Any], calibration: Calibration, hosts: int, ranks: int) -> float:
    name = row["routine"].removeprefix("MPI_")
    classes = calibration.within if hosts < 2 else calibration.between
    if name in routines.SYNCHRONISING:
        return math.ceil(math.log2(max(ranks, 1))) * _message(classes[0])
    size = row["bytes"] / max(row["calls"], 1)
    costs = next(each for each in classes if each.up_to is None or size <= each.up_to)
    if name in _SENDS:
        return costs.overhead_s.value
    return _message(costs) if name in _RECEIVES else 0.0


def _message(costs: SizeClass) -> float:
    return costs.latency_s.value + 2 * costs.overhead_s.value


_MOST_LOOKED_AT = 1024
_CELL_KEYS = ("rank", "cell", "routine", "site")

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
    if not profile.size == len(ranks) <= _MOST_LOOKED_AT or not (ranks["events"] > 0).all():
        return None
    usual = FASTEST if known_wire else 0.5
    longer, outside = [], []
    for rank in ranks["rank"].to_list():
        calls = profile.events(rank).filter(pl.col("kind") == EventKind.CALL)
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
        .select(*_CELL_KEYS, "seconds", "lost_s", "start_ns", "end_ns")
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


def worst_stalls(
    profile: ProgramProfile, stalls: pl.DataFrame, cells: pl.DataFrame
) -> Stalled | None:
    """Stalled calls of some cells together, and where most was lost; None where there are none."""
    here = stalls.join(cells.select("rank", "cell"), on=("rank", "cell"), how="semi")
    if here.is_empty():
        return None
    [place] = (
        here.group_by("routine", "site")
        .agg(pl.col("lost_s").sum())
        .top_k(1, by="lost_s")
        .join(profile.sites.select("site", "place"), on="site")
        .iter_rows(named=True)
    )
    return Stalled(
        len(here),
        float(here["seconds"].max()),  # type: ignore[arg-type]
        float(here["lost_s"].sum()) / max(len(profile.ranks), 1),
        f"{place['routine']} called at {place['place']}",
    )


# Ranks that others wait for are named where so many of them make up half of the waiting.
_NAMED = 3
_HALF = 0.5


def waited_for(profile: ProgramProfile, cells: pl.DataFrame) -> str:
    """What most of the waiting is for."""
    here = profile.waits.join(cells, on=("rank", "cell"), how="semi")
    kinds = here.group_by("kind").agg(pl.col("seconds").sum())
    by_kind = {kind: seconds for kind, seconds in kinds.iter_rows() if seconds > 0}
    most = max(by_kind, key=by_kind.__getitem__, default=WAITS[0])
    words = {
        "a late rank": "until the last rank enters a collective",
        "a late sender": "for messages that were sent late",
        "a late receiver": "to send to ranks that were not ready to receive",
        "a late partner in a window": "for other ranks to post, complete or unlock a window",
    }[most]
    part = by_kind.get(most, 0.0) / max(sum(by_kind.values()), 1e-12)
    most_of_it = "" if not by_kind or part > 0.99 else f", {100 * part:.0f} % of it"
    return f"waiting{most_of_it} {words}"


def _passed_on(profile: ProgramProfile, ranks: list[int]) -> str:
    """Where the lateness of ranks began, if most of it is that they waited for another one."""
    findings = profile.findings
    direct = findings.pair_waits.filter(pl.col("awaited").is_in(ranks))["seconds"].sum()
    by_rank = findings.ranks.sort("caused_s", "rank", descending=[True, False])
    own = by_rank.filter(pl.col("rank").is_in(ranks))["caused_s"].sum()
    first = int(by_rank["rank"][0])
    if first in ranks or own >= _HALF * float(direct):
        return ""
    return f", {'which waited' if len(ranks) == 1 else 'most of whom waited'} for rank {first}"


def awaited(profile: ProgramProfile, cells: pl.DataFrame) -> str:
    """The ranks that most of the waiting is for, where a few are."""
    findings = profile.findings
    here = profile.waits.join(cells, on=("rank", "cell"), how="semi")
    if len(cells) == len(findings.cells):
        by_rank = findings.ranks.select("rank", pl.col("caused_s").alias("times"))
    elif not here.is_empty():
        by_rank = here.group_by(pl.col("awaited").alias("rank")).agg(
            pl.col("seconds").sum().alias("times")
        )
    else:
        of = profile.collectives.join(cells, on=("rank", "cell"), how="semi")
        by_rank = of.group_by("rank").agg(pl.col("last").sum().alias("times"))
    ordered = by_rank.sort("times", "rank", descending=[True, False])
    total, ranks, share = float(ordered["times"].sum()), [], 0.0
    for rank, times in ordered.head(_NAMED).iter_rows():
        ranks.append(rank)
        share += times / total if total else 0.0
        if share >= _HALF:
            return (
                f" ({rank_words(ranks)} in {100 * share:.0f} % of it{_passed_on(profile, ranks)})"
            )
    return ", a different one each time"
