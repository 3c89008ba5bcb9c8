"""All-to-alls packet by packet over queues that lose none: what waiting, barriers and skew cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from contend.base.errors import ArgumentError
from contend.base.progress import Progress, shown_progress, step
from contend.base.schema import Rate, Seconds, Share, Size
from contend.base.units import format_bytes, parse_sizes, parse_times
from contend.congestion import (
    CABLE_LATENCY_S,
    SWITCH_LATENCY_S,
    CarriedSchedule,
    PacketModel,
    Queues,
    carry_schedule,
    packet_bytes,
)
from contend.fabric import Fabric
from contend.lab.runs import port_limit
from contend.prediction.alltoalls import algorithm_names, conditions_for
from contend.prediction.calibration import Calibration
from contend.prediction.conditions import PredictedThere, PredictionConditions
from contend.prediction.predicting import PredictedExchange, schedule_of
from contend.traffic.schedule import Exchange

# How often an all-to-all is carried out where ranks begin at moments that are drawn.
_DRAWS = 3


@dataclass(frozen=True, kw_only=True)
class PacketPrediction(PredictedExchange):
    """An all-to-all by one algorithm, with one size, by one kind of queues, begun within a time."""

    skew_s: Seconds
    """Time within which ranks begin."""
    packet_bytes: Size
    """Bytes of a packet: blocks are cut into equal ones, so that none is larger than an MTU."""
    queues: Queues
    """How switches keep packets: ``fifo`` or ``voq``."""
    predicted_s: Seconds | None
    """Time of a call, the median over draws of when ranks begin; null if packets lock up."""
    interval_s: tuple[Seconds, Seconds] | None
    """Least and largest of them; null if packets lock up."""
    rate_Bps_per_rank: Rate | None
    """Bytes per second that a rank sends; null if packets lock up."""
    share: Share | None
    """`rate_Bps_per_rank` over what the ports of hosts allow; null on one host, or if packets lock
    up."""
    fullest_channel: str
    """Name of the channel that carries packets for most of the time."""
    fullest_share: Share
    """Part of the time in which it does; the rest of it is lost to waiting."""
    blocked_channel: str | None
    """Name of the channel between switches that stands still longest for want of room; null if none
    does."""
    blocked_share: Share
    """Part of the time in which it does."""
    circle: tuple[str, ...]
    """Channels whose packets wait for each other for ever, each for the next; empty if none do."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PacketPredictions(PredictedThere, told="lossless_document"):
    """All-to-alls packet by packet on a network that loses none."""

    buffer: Size
    """Bytes that the far end of every channel holds; 0 if there is no limit."""
    mtu: Size
    """Bytes of the largest packet."""
    overhead_s: Seconds
    """Time that a rank takes for each message that it sends."""
    eager: Size
    """Bytes of the largest message that goes off without asking its receiver."""
    cells: tuple[PacketPrediction, ...]
    """Predictions, one for every size, skew, algorithm and kind of queues."""


def predict_packets(
    fabric: Fabric,
    calibration: Calibration | str | Path | None = None,
    *,
    algorithms: str | Sequence[str] = "all",
    bytes: str | int | Sequence[int] = "4K:1M",  # noqa: A002
    ranks: int | None = None,
    ranks_per_host: int = 1,
    placement: str = "linear",
    rate: float | str | None = None,
    skew: float | str | Sequence[float] = 0.0,
    queues: Sequence[Queues | str] = tuple(Queues),
    buffer: int | str = "64KiB",
    mtu: int | str = "4KiB",
    switch_latency: float | str = SWITCH_LATENCY_S,
    cable_latency: float | str = CABLE_LATENCY_S,
    seed: int = 1,
    progress: bool | Progress | None = False,
) -> PacketPredictions:
    """Carries all-to-alls out packet by packet, each rank as its schedule says.

    Nothing keeps ranks together but the messages that they wait for, and barriers where a schedule
    has them; barriers, and what asks a receiver whether it is ready, are packets among the others.
    Packets have no headers. Within a rank it takes time to send a message and to copy blocks.

    Args:
        fabric: with routes of any kind.
        calibration: as of `contend.predict`; it tells which messages are eager, and how long a rank
            takes to send one.
        algorithms: as of `contend.predict`, and so are the following.
        bytes: that each rank sends to each other.
        ranks: how many.
        ranks_per_host: ranks that share a host.
        placement: which rank runs on which host.
        rate: bytes per second of every cable.
        skew: seconds within which ranks begin, each at a moment that is drawn; or words, and
            several, such as ``0,100us``.
        queues: as of `contend.simulate_packets`, and so are the following.
        buffer: bytes that the far end of every channel holds on each virtual lane.
        mtu: bytes of the largest packet.
        switch_latency: from a packet's first bit at a switch until it can leave it.
        cable_latency: seconds that bits take along a cable, but for the one to the receiver.
        seed: of all random choices.
        progress: True shows a bar; a function is told the bytes of blocks of the cells that are
            done, of how many: these take the time.

    Raises:
        MissingError: memory is short for the messages.
        UsageError: for what does not fit together.
    """
    where, placed = conditions_for(
        fabric, calibration, ranks, ranks_per_host, placement, rate, buffer
    )
    skews = parse_times(skew)
    if not skews or min(skews) < 0:
        raise ArgumentError("skew", f"expected no time below 0, got {skew}")
    model = PacketModel.of(queues, buffer, mtu, None, switch_latency, cable_latency)
    count = len(where.hosts)
    sizes = parse_sizes(bytes)
    asked = list(product(sizes, skews, algorithm_names(algorithms, count)))
    cells: list[PacketPrediction] = []
    done, work = 0, sum(size for size, _, _ in asked)
    with shown_progress(progress, fabric.name, "") as tell:
        for size, within, name in asked:
            tell(done, work)
            cells += _predicted(name, Exchange(count, size), within, where, model, seed)
            done += size
    return PacketPredictions(
        fabric=fabric.as_told(),
        engine="" if fabric.routes is None else fabric.routes.engine,
        placement=placed,
        rate_Bps=where.rate,
        buffer=model.buffer,
        mtu=model.mtu,
        overhead_s=_overhead(where),
        eager=int(min(where.calibration.eager_bytes, 2**62)),
        cells=tuple(cells),
    )


def _overhead(where: PredictionConditions) -> float:
    return where.calibration.between[-1].overhead_s.value


def _predicted(
    algorithm: str,
    exchange: Exchange,
    skew: float,
    where: PredictionConditions,
    model: PacketModel,
    seed: int,
) -> list[PacketPrediction]:
    name, exchange, schedule = schedule_of(algorithm, exchange, where)
    ranks = exchange.ranks
    starts = np.zeros((1, ranks))
    if skew:
        starts = np.random.default_rng(seed).uniform(0.0, skew, (_DRAWS, ranks))
    with step(f"{name}, {format_bytes(exchange.size)}"):
        carried = carry_schedule(
            where.fabric,
            schedule,
            where.hosts,
            model,
            where.rates,
            starts=starts,
            eager=where.calibration.eager_bytes,
            overhead=_overhead(where),
            seed=seed,
        )
    limit = port_limit(ranks, int(np.bincount(where.hosts).max()), where.rate)
    sent = (ranks - 1) * exchange.size

    def told(one: CarriedSchedule) -> PacketPrediction:
        median = None if one.circle else float(np.median(one.seconds))
        rate = None if median is None else sent / median
        fullest = int(np.argmax(one.busy))
        between = one.blocked[: 2 * where.fabric.cables]
        blocked = int(np.argmax(between)) if between.any() else None
        name_of = where.fabric.channel_name
        return PacketPrediction(
            algorithm=algorithm,
            carried_out=name,
            bytes=exchange.size,
            ranks=ranks,
            skew_s=skew,
            packet_bytes=round(packet_bytes(schedule, model.mtu)),
            queues=one.queues,
            predicted_s=median,
            interval_s=None if one.circle else (float(one.seconds.min()), float(one.seconds.max())),
            rate_Bps_per_rank=rate,
            share=None if rate is None or limit is None else rate / limit,
            fullest_channel=name_of(fullest),
            fullest_share=float(one.busy[fullest]),
            blocked_channel=None if blocked is None else name_of(blocked),
            blocked_share=0.0 if blocked is None else float(between[blocked]),
            circle=tuple(map(name_of, one.circle)),
        )

    return list(map(told, carried))
