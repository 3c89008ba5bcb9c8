"""Schedules carried out over TCP, on networks whose queues drop packets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.fabric import Fabric
from contend.routes import Ways, make_resolver
from contend.traffic.schedule.schedule import Schedule


@dataclass(frozen=True)
class DroppingQueues:
    """What queues hold before they drop what comes last, and when TCP gives up waiting.

    Attributes:
        buffer: bytes in front of a switch's channel; 0 for any number.
        shared: bytes of all queues of a switch together; 0 where each has its own.
        host: bytes in front of a host's own port; 0 for the 1,000 pieces of a Linux host.
        rto_min: least seconds of a time-out.
    """

    buffer: int = 0
    shared: int = 0
    host: int = 0
    rto_min: float = 0.2


@dataclass(frozen=True, eq=False)
class StreamedCalls:
    """How calls went, one after the other.

    Attributes:
        seconds: from the first rank's beginning to the last one's end, shape [calls].
        timeouts: after which lost data was sent again, shape [calls].
        first_channel: number of the channel that first dropped a packet; -1 without drops, shape
            [calls].
        first_at: when it did, seconds after the call's beginning, shape [calls].
        drops: packets that found a channel's queue full, in all calls, shape [channels].
        most: the most bytes that waited for it, shape [channels].
    """

    seconds: NDArray[np.float64]
    timeouts: NDArray[np.uint64]
    first_channel: NDArray[np.int64]
    first_at: NDArray[np.float64]
    drops: NDArray[np.uint64]
    most: NDArray[np.float64]


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
    between = 2 * fabric.cables
    channels = np.concatenate(
        [np.arange(between), between + used, between + fabric.hosts + used]
    ).astype(np.int64)
    cables = np.stack([fabric.cable_from, fabric.cable_to], axis=1).ravel()
    ports = fabric.host_switch[used]
    outcome = _core.carry_streams(
        resolver,
        schedule.rank_of_strand,
        schedule.begin,
        schedule.action,
        schedule.peer,
        schedule.tag,
        schedule.amount,
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

    def whole(values: NDArray[Any]) -> NDArray[Any]:
        spread = np.zeros(fabric.channels, values.dtype)
        spread[channels] = values
        return spread

    return StreamedCalls(
        seconds=outcome["seconds"],
        timeouts=outcome["timeouts"],
        first_channel=np.append(channels, -1)[outcome["first_channel"]],
        first_at=outcome["first_at"],
        drops=whole(outcome["drops"]),
        most=whole(outcome["most"]),
    )
