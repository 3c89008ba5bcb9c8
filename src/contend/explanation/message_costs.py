"""What a program's calls cost by their number: overhead and latency, whatever their bytes are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from contend.explanation.limits import (
    FASTEST,
    FEWEST_CALLS,
    MESSAGE_S,
    SMALL_BYTES,
)
from contend.prediction import Calibration, SizeClass
from contend.profiling import CALL, COMPLETION, ProgramProfile, routines

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
            (pl.col("kind") == CALL) & pl.col("routine").cast(pl.String).is_in(_COUNTED)
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
    began = (kind == CALL) & (events["request"].to_numpy() > 0)
    begun = events.filter(pl.Series(began)).unique("request", keep="last")
    of_request = events.select("request").join(
        begun.select("request", pl.col("bytes").alias("begun")),
        on="request",
        how="left",
        maintain_order="left",
    )["begun"]
    completion = kind == COMPLETION
    own = np.where(completion, np.maximum(size, of_request.fill_null(0).to_numpy()), size)
    call = np.maximum(np.cumsum(kind == CALL) - 1, 0)
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
    costs = _class_of(classes, row["bytes"] / max(row["calls"], 1))
    if name in _SENDS:
        return costs.overhead_s.value
    return _message(costs) if name in _RECEIVES else 0.0


def _class_of(classes: tuple[SizeClass, ...], size: float) -> SizeClass:
    return next(one for one in classes if one.up_to is None or size <= one.up_to)


def _message(costs: SizeClass) -> float:
    return costs.latency_s.value + 2 * costs.overhead_s.value
