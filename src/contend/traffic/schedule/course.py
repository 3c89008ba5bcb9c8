"""Schedules carried out over time: LogGP with the congestion of fair shares, or TCP that drops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import UsageError
from contend.fabric import Fabric
from contend.routes import Ways, make_resolver
from contend.traffic.schedule.schedule import Schedule


@dataclass(frozen=True)
class MessageClass:
    """What messages of up to so many bytes cost (Alexandrov and others 1995; Hoefler 2008, 3.1)."""

    up_to: float
    """Bytes of the largest."""
    latency: float = 0.0
    """Seconds from the last byte's leaving to its being there, beside queues."""
    latency_per_hop: float = 0.0
    """Seconds more, for each channel between switches."""
    send_overhead: float = 0.0
    """Seconds of the sender's processor."""
    send_per_byte: float = 0.0
    """Seconds of the sender's processor for each byte."""
    receive_overhead: float = 0.0
    """Seconds of the receiver's processor."""
    receive_per_byte: float = 0.0
    """Seconds of the receiver's processor for each byte."""
    gap: float = 0.0
    """Seconds between the beginnings of two messages that leave one host."""
    extra: float = 0.0
    """Bytes on the wire beside the message's own."""
    stretch: float = 1.0
    """Bytes on the wire for each of the message's."""
    eager: bool = True
    """Whether it goes off at once, or waits until its receive has been posted."""
    buffered: float = 0.0
    """Bytes that its host takes over: a send has ended when so many are left."""


_COLUMNS = attrgetter(*(column.name for column in fields(MessageClass)))


@dataclass(frozen=True)
class Cables:
    """What channels are like."""

    rate: float | NDArray[np.float64]
    """Bytes per second of every channel, those of hosts included; or of each, shape [channels]."""
    burst: float = 0.0
    """Bytes that pass at once after a pause; 0 for none."""
    piece: float = 0.0
    """Bytes of the pieces in which messages cross channels, each as a whole and behind what came
    before it; 0 where they share channels."""
    peak: float = 1e9
    """Bytes per second of a burst, and of messages within a host."""


@dataclass(frozen=True)
class Costs:
    """What messages cost beside the network."""

    between: Sequence[MessageClass]
    """Costs between two hosts, by size."""
    within: Sequence[MessageClass] = field(default_factory=lambda: (MessageClass(float("inf")),))
    """Costs within one host, by size."""
    processors: int = 0
    """Processors that all ranks share; 0 gives every rank its own."""
    patience: float = 0.0
    """Seconds after which a rank that waits no longer sees at once what comes."""
    look_every: float = 0.0
    """Seconds between its looks from then on; 0 when it goes on seeing at once."""


@dataclass(frozen=True, eq=False)
class Course:
    """How a schedule went."""

    seconds: float
    """When the last operation ended."""
    rank_end: NDArray[np.float64]
    """When every rank ended, shape [ranks]."""
    operation_end: NDArray[np.float64]
    """When every operation ended, shape [operations]; of sends and receives, when what they began
    ended."""
    channel_bytes: NDArray[np.float64]
    """Bytes that crossed every channel of the fabric, shape [channels]."""
    channel_busy: NDArray[np.float64]
    """Seconds in which something was under way on it, shape [channels]."""
    channel_crowd: NDArray[np.float64]
    """Messages under way over it at once when these had most bytes, shape [channels]."""
    channel_crowd_bytes: NDArray[np.float64]
    """Those bytes, shape [channels]."""
    messages: int
    """Number of messages."""
    fills: int
    """Number of times that shares were found anew."""


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
    channels = _channels(fabric, used)
    crossed, places = len(channels), len(used)
    rate = np.full(crossed + places, cables.peak)
    burst = np.full(crossed + places, cables.burst)
    rate[:crossed] = np.broadcast_to(cables.rate, fabric.channels)[channels]
    # A host's memory has none.
    burst[crossed:] = 0
    shared = costs.processors > 0
    own = np.zeros(len(hosts)) if shared else np.arange(len(hosts))
    outcome = _core.carry_out(
        resolver,
        *schedule.columns,
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
        channel_bytes=_of_fabric(fabric, channels, outcome["channel_bytes"]),
        channel_busy=_of_fabric(fabric, channels, outcome["channel_busy"]),
        channel_crowd=_of_fabric(fabric, channels, outcome["channel_crowd"]),
        channel_crowd_bytes=_of_fabric(fabric, channels, outcome["channel_crowd_bytes"]),
        messages=outcome["messages"],
        fills=outcome["fills"],
    )


def _table(classes: Sequence[MessageClass]) -> NDArray[np.float64]:
    return np.array([_COLUMNS(message_class) for message_class in classes], dtype=np.float64)


def _channels(fabric: Fabric, hosts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The fabric's channels in the core's order: between switches, then to and from these hosts."""
    between = 2 * fabric.cables
    ports = between + hosts
    return np.concatenate([np.arange(between), ports, ports + fabric.hosts])


def _of_fabric(fabric: Fabric, channels: NDArray[np.int64], values: NDArray[Any]) -> NDArray[Any]:
    """Values by the core's channels over all of the fabric, those of other hosts being 0."""
    spread = np.zeros(fabric.channels, values.dtype)
    spread[channels] = values[: len(channels)]
    return spread


@dataclass(frozen=True)
class DroppingQueues:
    """What queues hold before they drop what comes last, and when TCP gives up waiting."""

    buffer: int = 0
    """Bytes in front of a switch's channel; 0 for any number."""
    shared: int = 0
    """Bytes of all queues of a switch together; 0 where each has its own."""
    host: int = 0
    """Bytes in front of a host's own port; 0 for the 1,000 pieces of a Linux host."""
    rto_min: float = 0.2
    """Least seconds of a time-out."""


@dataclass(frozen=True, eq=False)
class StreamedCalls:
    """How calls went, one after the other."""

    seconds: NDArray[np.float64]
    """Seconds from the first rank's beginning to the last one's end, shape [calls]."""
    timeouts: NDArray[np.uint64]
    """Time-outs after which lost data was sent again, shape [calls]."""
    first_channel: NDArray[np.int64]
    """Number of the channel that first dropped a packet; -1 without drops, shape [calls]."""
    first_at: NDArray[np.float64]
    """When it did, seconds after the call's beginning, shape [calls]."""
    drops: NDArray[np.uint64]
    """Packets that found a channel's queue full, in all calls, shape [channels]."""
    most: NDArray[np.float64]
    """Most bytes that waited for it, shape [channels]."""


def carry_streams(
    fabric: Fabric,
    schedule: Schedule,
    host_of_rank: Sequence[int] | NDArray[np.integer],
    rate: NDArray[np.float64],
    queues: DroppingQueues,
    *,
    starts: NDArray[np.float64],
    eager: float,
    until_timeout: bool = False,
) -> StreamedCalls:
    """Carries a schedule out over TCP, call after call; connections keep their windows.

    Args:
        fabric: with routes; where these are drawn, every connection has its own drawing.
        schedule: of ranks from 0.
        host_of_rank: number of each rank's host, shape [ranks].
        rate: bytes per second of every channel, shape [channels].
        queues: what they hold.
        starts: seconds at which every rank begins, after all ended the call before; shape [calls,
            ranks].
        eager: bytes of the largest message that goes off without asking its receiver.
        until_timeout: whether the first call with a time-out is the last one.

    Raises:
        UsageError: no route, queues that hold no packet, or a schedule that cannot end.
    """
    hosts = np.asarray(host_of_rank, dtype=np.int64)
    used = np.unique(hosts)
    resolver = make_resolver(
        fabric, used.astype(np.uint32), messages=len(schedule.action), follows=Ways.DRAWN
    )
    channels = _channels(fabric, used)
    cables = np.stack([fabric.cable_from, fabric.cable_to], axis=1).ravel()
    ports = fabric.host_switch[used]
    outcome = _core.carry_streams(
        resolver,
        *schedule.columns,
        np.searchsorted(used, hosts).astype(np.uint32),
        np.ascontiguousarray(rate[channels]),
        np.concatenate([cables, ports, ports]).astype(np.uint32),
        np.ascontiguousarray(starts).ravel(),
        eager,
        queues.rto_min,
        queues.buffer,
        queues.shared,
        queues.host,
        until_timeout,
    )

    return StreamedCalls(
        seconds=outcome["seconds"],
        timeouts=outcome["timeouts"],
        first_channel=np.append(channels, -1)[outcome["first_channel"]],
        first_at=outcome["first_at"],
        drops=_of_fabric(fabric, channels, outcome["drops"]),
        most=_of_fabric(fabric, channels, outcome["most"]),
    )
