"""Schedules carried out over time on a fabric: LogGP with the congestion of fair shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import UsageError
from contend.fabric import Fabric
from contend.routes import make_resolver
from contend.traffic.schedule.schedule import Schedule


@dataclass(frozen=True)
class MessageClass:
    """What messages of up to so many bytes cost (Alexandrov and others 1995; Hoefler 2008, 3.1).

    Attributes:
        up_to: bytes of the largest.
        latency: seconds from the last byte's leaving to its being there, beside queues.
        latency_per_hop: more, for each channel between switches.
        send_overhead: seconds of the sender's processor.
        send_per_byte: the same, for each byte.
        receive_overhead: seconds of the receiver's processor.
        receive_per_byte: the same, for each byte.
        gap: seconds between the beginnings of two messages that leave one host.
        extra: bytes on the wire beside the message's own.
        stretch: bytes on the wire for each of the message's.
        eager: whether it goes off at once, or waits until its receive has been posted.
        buffered: bytes that its host takes over: a send has ended when so many are left.
    """

    up_to: float
    latency: float = 0.0
    latency_per_hop: float = 0.0
    send_overhead: float = 0.0
    send_per_byte: float = 0.0
    receive_overhead: float = 0.0
    receive_per_byte: float = 0.0
    gap: float = 0.0
    extra: float = 0.0
    stretch: float = 1.0
    eager: bool = True
    buffered: float = 0.0


_COLUMNS = attrgetter(*(column.name for column in fields(MessageClass)))


@dataclass(frozen=True)
class Cables:
    """What channels are like.

    Attributes:
        rate: bytes per second of every channel, those of hosts included; or of each, shape
            [channels].
        burst: bytes that pass at once after a pause; 0 for none.
        piece: bytes of the pieces in which messages cross channels, each as a whole and behind
            what came before it; 0 where they share channels.
        peak: bytes per second of a burst, and of messages within a host.
    """

    rate: float | NDArray[np.float64]
    burst: float = 0.0
    piece: float = 0.0
    peak: float = 1e9


@dataclass(frozen=True)
class Costs:
    """What messages cost beside the network.

    Attributes:
        between: two hosts, by size.
        within: one host, by size.
        processors: that all ranks share; 0 gives every rank its own.
        patience: seconds after which a rank that waits no longer sees at once what comes.
        look_every: seconds between its looks from then on; 0 when it goes on seeing at once.
    """

    between: Sequence[MessageClass]
    within: Sequence[MessageClass] = field(default_factory=lambda: (MessageClass(float("inf")),))
    processors: int = 0
    patience: float = 0.0
    look_every: float = 0.0


@dataclass(frozen=True, eq=False)
class Course:
    """How a schedule went.

    Attributes:
        seconds: the end of the last operation.
        rank_end: when every rank ended, shape [ranks].
        operation_end: when every operation ended, shape [operations]; of sends and receives, when
            what they began ended.
        channel_bytes: that crossed every channel of the fabric, shape [channels].
        channel_busy: seconds in which something was under way on it, shape [channels].
        channel_crowd: messages under way over it at once when these had most bytes, shape
            [channels].
        channel_crowd_bytes: those bytes, shape [channels].
        messages: how many.
        fills: how often shares were found anew.
    """

    seconds: float
    rank_end: NDArray[np.float64]
    operation_end: NDArray[np.float64]
    channel_bytes: NDArray[np.float64]
    channel_busy: NDArray[np.float64]
    channel_crowd: NDArray[np.float64]
    channel_crowd_bytes: NDArray[np.float64]
    messages: int
    fills: int


def carry_out(
    fabric: Fabric,
    schedule: Schedule,
    host_of_rank: Sequence[int] | NDArray[np.integer],
    cables: Cables,
    costs: Costs,
    *,
    start: Sequence[float] | NDArray[np.float64] = (),
) -> Course:
    """Carries a schedule out on a fabric.

    Args:
        fabric: with routes.
        schedule: of ranks from 0.
        host_of_rank: number of each rank's host, shape [ranks].
        cables: what the channels carry.
        costs: of messages.
        start: seconds at which every rank begins; empty when all begin at 0.

    Raises:
        UsageError: a host that does not exist, no route, or a schedule that makes no sense or
            cannot end, with its rank and operation.
    """
    hosts = np.asarray(host_of_rank, dtype=np.int64)
    if len(hosts) < schedule.ranks:
        raise UsageError(f"{schedule.ranks} ranks need as many places, got {len(hosts)}")
    used = np.unique(hosts)
    if not 0 <= used[0] <= used[-1] < fabric.hosts:
        raise UsageError(f"expected hosts 0 .. {fabric.hosts - 1}, got {used[0]} .. {used[-1]}")
    resolver = make_resolver(fabric, used.astype(np.uint32), messages=len(schedule.action))
    between, places = 2 * fabric.cables, len(used)
    rate = np.full(between + 3 * places, cables.peak)
    burst = np.full(between + 3 * places, cables.burst)
    rate[: between + 2 * places] = _of_places(fabric, used, cables.rate)
    # A host's memory has none.
    burst[between + 2 * places :] = 0
    shared = costs.processors > 0
    own = np.zeros(len(hosts)) if shared else np.arange(len(hosts))
    outcome = _core.carry_out(
        resolver,
        schedule.rank_of_strand,
        schedule.begin,
        schedule.action,
        schedule.peer,
        schedule.tag,
        schedule.amount,
        np.searchsorted(used, hosts).astype(np.uint32),
        rate,
        burst,
        cables.piece,
        cables.peak,
        _table(costs.between),
        _table(costs.within),
        own.astype(np.uint32),
        np.array([costs.processors] if shared else np.ones(len(hosts)), dtype=np.uint32),
        costs.patience,
        costs.look_every,
        np.asarray(start, dtype=np.float64),
    )
    return Course(
        seconds=outcome["end"],
        rank_end=outcome["rank_end"],
        operation_end=outcome["operation_end"],
        channel_bytes=_of_fabric(fabric, used, outcome["channel_bytes"]),
        channel_busy=_of_fabric(fabric, used, outcome["channel_busy"]),
        channel_crowd=_of_fabric(fabric, used, outcome["channel_crowd"]),
        channel_crowd_bytes=_of_fabric(fabric, used, outcome["channel_crowd_bytes"]),
        messages=outcome["messages"],
        fills=outcome["fills"],
    )


def _table(classes: Sequence[MessageClass]) -> NDArray[np.float64]:
    return np.array([_COLUMNS(message_class) for message_class in classes], dtype=np.float64)


def _of_places(
    fabric: Fabric, hosts: NDArray[np.int64], values: float | NDArray[np.float64]
) -> NDArray[np.float64]:
    """Values of the fabric's channels by place, those of other hosts left out."""
    between = 2 * fabric.cables
    channels = np.broadcast_to(np.asarray(values, dtype=np.float64), fabric.channels)
    return np.concatenate(
        [channels[:between], channels[between + hosts], channels[between + fabric.hosts + hosts]]
    )


def _of_fabric(
    fabric: Fabric, hosts: NDArray[np.int64], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Values by place over the fabric's channels, those of other hosts being 0."""
    between, places = 2 * fabric.cables, len(hosts)
    channels = np.zeros(fabric.channels)
    channels[:between] = values[:between]
    channels[between + hosts] = values[between : between + places]
    channels[between + fabric.hosts + hosts] = values[between + places : between + 2 * places]
    return channels
