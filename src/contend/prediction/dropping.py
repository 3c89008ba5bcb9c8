"""All-to-alls over TCP where queues drop packets: healthy, stalled by time-outs, or collapsed.

It is no clock: it says whether and where time-outs begin. How long a call takes that waits for one
depends on chance, so such times are a range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import Argument, ArgumentError, UsageError
from contend.base.progress import Progress, shown_progress, step
from contend.base.schema import Seconds, Share, Size, told
from contend.base.units import format_bytes, parse_seconds, parse_size, parse_sizes, valued
from contend.congestion import core_threads
from contend.fabric import Fabric
from contend.lab.emulation import Drops
from contend.prediction.alltoalls import algorithm_names, conditions_for
from contend.prediction.calibration import Calibration
from contend.prediction.conditions import PredictedThere, PredictionConditions
from contend.prediction.predicting import PredictedExchange, carried_out, schedule_of
from contend.routes.addresses import expect_memory
from contend.traffic.schedule import (
    ROUTED,
    DroppingQueues,
    Exchange,
    StreamedCalls,
    carry_streams,
)

CALLS = 8
"""How often an all-to-all is carried out, each time with other starts of its ranks."""
SPREAD_S = 300e-6
"""Ranks begin within so many seconds of each other, unless a calibration measured it."""
# Larger buffers that are tried, each twice the one before.
_DOUBLED = 6
# Bytes that a connection takes in memory.
_OF_A_STREAM = 1500


class TcpState(StrEnum):
    """What becomes of an all-to-all."""

    HEALTHY = "healthy"
    """No call waits for a time-out."""
    STALLS = "stalls"
    """Fewer than half of the calls do."""
    COLLAPSES = "collapses"
    """At least half of them do."""


@dataclass(frozen=True, kw_only=True)
class FirstDrop:
    """Where packets are dropped first."""

    channel: str
    """Name of the channel whose queue is full."""
    place: str
    """Whose queue it is: ``in_hosts``, ``between_switches`` or ``before_hosts``."""
    after_s: Seconds
    """Time since the call began."""


@dataclass(frozen=True, kw_only=True)
class TcpPrediction(PredictedExchange):
    """What becomes of an all-to-all by one algorithm with one size."""

    state: TcpState
    """Whether it is ``healthy``, ``stalls`` in fewer than half of its calls, or ``collapses``."""
    calls: int
    """Number of calls, one after the other, over the same connections."""
    timed_out: int
    """Number of calls in which a connection waits for a time-out."""
    interval_s: tuple[Seconds, Seconds]
    """Least and largest time of a call."""
    drops: Drops
    """Packets that found a queue full, in all calls."""
    first_drop: FirstDrop | None
    """Where the first packet is dropped; null if none is."""
    fullest_queue: Size
    """The most bytes that wait in front of one channel of a switch."""
    enough_buffer: Size | None
    """Least buffer with which no call waits for a time-out, found by doubling it; null if none does
    with the present one, or 64 times as much is too little."""

    @property
    def unavoidable(self) -> bool:
        """Whether time-outs remain with buffers of any size that was tried."""
        return self.timed_out > 0 and self.enough_buffer is None


@dataclass(frozen=True, eq=False, kw_only=True)
class TcpPredictions(PredictedThere, told="tcp_document"):
    """All-to-alls over TCP on a network whose queues drop packets."""

    buffer: Size | None
    """Bytes that each channel's queue in a switch holds; null if a switch's queues share them."""
    shared_buffer: Size | None
    """Bytes that all queues of a switch hold together; null if each has its own."""
    host_queue: Size | None
    """Bytes that a host's own queue holds; null for the 1,000 packets of a Linux host."""
    rto_min_s: Seconds
    """Shortest time-out of TCP."""
    cells: tuple[TcpPrediction, ...]
    """Predictions, one for every algorithm and size."""

    @told
    def healthy(self) -> Share:
        """Share of the cells in which no call waits for a time-out."""
        return sum(cell.state == TcpState.HEALTHY for cell in self.cells) / len(self.cells)


def predict_tcp(
    fabric: Fabric,
    calibration: Calibration | str | Path | None = None,
    *,
    algorithms: str | Sequence[str] = "all",
    bytes: str | Sequence[int] = "4K:1M",  # noqa: A002
    ranks: int | None = None,
    ranks_per_host: int = 1,
    placement: str = "linear",
    rate: float | str | None = None,
    buffer: int | str | None = None,
    shared_buffer: int | str | None = None,
    host_queue: int | str | None = None,
    rto_min: float | str = "200ms",
    progress: bool | Progress | None = False,
) -> TcpPredictions:
    """Says which all-to-alls over TCP stall or collapse where queues drop packets, and where.

    Every all-to-all is carried out eight times, packet by packet, over connections that keep their
    windows: Reno with slow start, selective acknowledgements, tail loss probes and time-outs.

    Args:
        fabric: with routes of one way at a time; hashed ones are drawn once for each connection.
        calibration: as of `predict`; it tells which messages are eager, and how far apart ranks
            begin.
        algorithms: as of `predict`, and so are the following.
        bytes: that each rank sends to each other.
        ranks: how many.
        ranks_per_host: ranks that share a host.
        placement: which rank runs on which host.
        rate: bytes per second of every cable.
        buffer: bytes that a switch can queue for one channel; None for the calibration's.
        shared_buffer: bytes that all ports of a switch share, in place of `buffer`.
        host_queue: bytes that can queue at a host's own port; None for Linux's 1,000 packets.
        rto_min: shortest time-out in seconds, or words such as ``200ms``.
        progress: True shows a bar; a function is told the bytes of blocks of the cells that are
            done, of how many: these take the time.

    Raises:
        MissingError: memory is short for the connections.
        UsageError: for what does not fit together.
    """
    where, placed = conditions_for(
        fabric, calibration, ranks, ranks_per_host, placement, rate, buffer
    )
    shared, host = valued(shared_buffer, parse_size), valued(host_queue, parse_size)
    if shared is not None and buffer is not None:
        raise UsageError("--buffer and --shared-buffer are two kinds of switches; give one")
    if shared is None and not where.buffer:
        raise UsageError(
            "what a switch queues decides whether packets are dropped: give ",
            Argument("buffer"),
            ", such as 128KiB, or ",
            Argument("shared_buffer"),
        )
    wait = valued(rto_min, parse_seconds)
    if not wait or wait < 0:
        raise ArgumentError("rto_min", "expected a time above 0")
    queues = DroppingQueues(
        buffer=0 if shared is not None else int(where.buffer or 0),
        shared=shared or 0,
        host=host or 0,
        rto_min=wait,
    )
    count = len(where.hosts)
    streams = count * (count - 1)
    expect_memory(_OF_A_STREAM * streams, f"{streams:,} connections need")
    names = algorithm_names(algorithms, count)
    if fabric.draws_routes and list(algorithms) in (["all"], list("all")):
        # Nobody knows beforehand which ways connections draw.
        names = [name for name in names if name not in ROUTED]
    sizes = sorted(parse_sizes(bytes))
    cells: dict[tuple[str, int], TcpPrediction] = {}
    work = len(names) * sum(sizes)
    with core_threads(None) as workers, shown_progress(progress, fabric.name, "") as tell:
        for size, smaller in zip(sizes, (0, *sizes), strict=False):
            # What the library chooses is carried out once where it is asked for, too.
            alike: dict[tuple[object, ...], list[str]] = {}
            for name in names:
                before = cells.get((name, smaller))
                needs = (before.enough_buffer, before.unavoidable) if before else ()
                carried = carried_out(name, Exchange(count, size), where)
                alike.setdefault((carried, *needs), []).append(name)

            def predict(same: list[str], size: int = size, smaller: int = smaller) -> TcpPrediction:
                before = cells.get((same[0], smaller))
                return _predicted(same[0], Exchange(count, size), where, queues, before)

            for same, cell in zip(
                alike.values(), workers.map(predict, alike.values()), strict=True
            ):
                cells.update({(name, size): replace(cell, algorithm=name) for name in same})
                tell(sum(size for _, size in cells), work)
    return TcpPredictions(
        fabric=fabric.as_told(),
        engine="" if fabric.routes is None else fabric.routes.engine,
        placement=placed,
        rate_Bps=where.rate,
        buffer=queues.buffer or None,
        shared_buffer=shared,
        host_queue=host,
        rto_min_s=queues.rto_min,
        cells=tuple(cells[one] for one in product(names, sizes)),
    )


def _predicted(
    algorithm: str,
    exchange: Exchange,
    where: PredictionConditions,
    queues: DroppingQueues,
    smaller: TcpPrediction | None,
) -> TcpPrediction:
    """One cell, and the buffer that would do where the present one does not.

    What `smaller` blocks need, these need at least.
    """
    name, exchange, schedule = schedule_of(algorithm, exchange, where)
    starts = _starts(where.calibration, exchange.ranks)

    def went(held: DroppingQueues, until_timeout: bool = False) -> StreamedCalls:
        with step(f"{name}, {format_bytes(exchange.size)}"):
            return carry_streams(
                where.fabric,
                schedule,
                where.hosts,
                where.rates,
                held,
                starts=starts,
                eager=where.calibration.eager_bytes,
                until_timeout=until_timeout,
            )

    found = went(queues)
    timed_out = int((found.timeouts > 0).sum())
    drops, first = _drops(where.fabric, found.drops), _first_drop(where.fabric, found)
    enough = None
    if timed_out and drops.in_hosts < drops.total and not (smaller and smaller.unavoidable):
        least = (smaller and smaller.enough_buffer) or 0
        for doubled in range(1, _DOUBLED + 1):
            more = replace(queues, buffer=queues.buffer << doubled, shared=queues.shared << doubled)
            size = more.buffer or more.shared
            if size >= least and not went(more, until_timeout=True).timeouts.any():
                enough = size
                break
    hosts = slice(2 * where.fabric.cables, 2 * where.fabric.cables + where.fabric.hosts)
    most = found.most.copy()
    most[hosts] = 0
    return TcpPrediction(
        algorithm=algorithm,
        carried_out=name,
        bytes=exchange.size,
        ranks=exchange.ranks,
        state=_state(timed_out),
        calls=CALLS,
        timed_out=timed_out,
        interval_s=(float(found.seconds.min()), float(found.seconds.max())),
        drops=drops,
        first_drop=first,
        fullest_queue=int(most.max()),
        enough_buffer=enough,
    )


def _state(timed_out: int) -> TcpState:
    if not timed_out:
        return TcpState.HEALTHY
    return TcpState.COLLAPSES if 2 * timed_out >= CALLS else TcpState.STALLS


def _starts(calibration: Calibration, ranks: int) -> NDArray[np.float64]:
    """When every rank begins every call, shape [calls, ranks]."""
    spread = SPREAD_S if calibration.assumed else calibration.scatter_per_rank_s.value * ranks
    return np.random.default_rng(0).uniform(0.0, spread, (CALLS, ranks))


def _places(fabric: Fabric, values: NDArray[np.uint64]) -> dict[str, NDArray[np.uint64]]:
    """Values of channels by whose queues they are of."""
    between, out, into = np.split(values, (2 * fabric.cables, 2 * fabric.cables + fabric.hosts))
    return {"between_switches": between, "in_hosts": out, "before_hosts": into}


def _drops(fabric: Fabric, drops: NDArray[np.uint64]) -> Drops:
    return Drops(**{place: int(part.sum()) for place, part in _places(fabric, drops).items()})


def _first_drop(fabric: Fabric, found: StreamedCalls) -> FirstDrop | None:
    """That of the first call with any."""
    calls = np.flatnonzero(found.first_channel >= 0)
    if not len(calls):
        return None
    channel = int(found.first_channel[calls[0]])
    there = _places(fabric, np.arange(fabric.channels, dtype=np.uint64))
    return FirstDrop(
        channel=fabric.channel_name(channel),
        place=next(place for place, part in there.items() if channel in part),
        after_s=float(found.first_at[calls[0]]),
    )
