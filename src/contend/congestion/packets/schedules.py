"""Schedules carried out over time, packet by packet, on a network that loses none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.congestion.packets.held_up import channels_by_place
from contend.congestion.packets.model import CABLE_LATENCY_S, PacketModel, Queues
from contend.congestion.packets.rounds import FOLLOWED
from contend.congestion.rates import cable_seconds
from contend.fabric import Fabric
from contend.routes import Round, make_resolver, routes_of
from contend.routes.addresses import expect_memory
from contend.traffic.schedule import Action, Schedule

# Bytes that a stream takes for itself, and for every channel of its way.
_OF_A_STREAM, _OF_A_STEP = 120, 24
_STEPS = 6


@dataclass(frozen=True, eq=False)
class CarriedSchedule:
    """How calls of a schedule went, one after the other, with one kind of queues."""

    queues: Queues
    """How switches keep packets."""
    seconds: NDArray[np.float64]
    """From the first rank's beginning to the last one's end, shape [calls]; shorter if packets wait
    for each other for ever."""
    busy: NDArray[np.float64]
    """Share of the time that every channel carries packets, shape [channels]."""
    blocked: NDArray[np.float64]
    """Share of the time that it stands still for want of room, shape [channels]."""
    circle: tuple[int, ...]
    """Channels that wait for each other for ever."""
    hops: int
    """Number of channels that packets crossed, one by one."""


def packet_bytes(schedule: Schedule, mtu: int) -> float:
    """Bytes of a packet: those of the smallest message cut into as few equal ones as can be.

    Larger messages are whole numbers of them, or end with one that is not full.
    """
    sizes = schedule.amount[schedule.action == Action.SEND]
    least = float(sizes[sizes > _core.SHORT_MESSAGE].min(initial=np.inf))
    return least / np.ceil(least / mtu) if np.isfinite(least) else float(mtu)


def carry_schedule(
    fabric: Fabric,
    schedule: Schedule,
    host_of_rank: Sequence[int] | NDArray[np.integer],
    model: PacketModel,
    rate: NDArray[np.float64],
    *,
    starts: NDArray[np.float64],
    eager: float,
    overhead: float = 0.0,
    seed: int = 1,
) -> list[CarriedSchedule]:
    """Carries calls of a schedule out, one after the other, for each kind of queues.

    Messages of more than `eager` bytes leave when their receive has been posted; what asks and
    answers, and messages of up to 64 bytes, are short packets among the others.

    Args:
        fabric: with routes of any kind; where these are drawn, every pair of ranks draws its own.
        schedule: of ranks from 0.
        host_of_rank: number of each rank's host, shape [ranks].
        model: how switches keep packets; its packets are the largest.
        rate: bytes per second of every channel, shape [channels].
        starts: seconds at which every rank begins, after all ended the call before; shape [calls,
            ranks].
        eager: bytes of the largest message that goes off without asking its receiver.
        overhead: seconds of a rank for each message that it sends.
        seed: of all random choices.

    Raises:
        MissingError: memory is short for the routes of all pairs of ranks.
        UsageError: no route, or a schedule that cannot end.
    """
    hosts = np.asarray(host_of_rank, dtype=np.int64)
    used = np.unique(hosts).astype(np.uint32)
    messages = int((schedule.action == Action.SEND).sum())
    expect_memory(
        (_OF_A_STREAM + _OF_A_STEP * _STEPS) * messages,
        f"{messages:,} messages need",
        instead=lambda: "take fewer ranks",
    )
    place = np.searchsorted(used, hosts).astype(np.uint32)
    columns = (*schedule.columns, place)
    source, target, _ = _core.stream_ends(*columns, eager)
    resolver = make_resolver(fabric, used, messages=len(source), follows=FOLLOWED)
    together = Round(source, target, _core.routes_draw(seed, 0), False)
    routes = routes_of(fabric).packet_routes(fabric, used, resolver, together)
    channels = channels_by_place(fabric, used.astype(np.int64))
    packet = packet_bytes(schedule, model.mtu)
    latency = (
        model.switch_latency_s,
        cable_seconds(fabric, used, model.cable_latency, CABLE_LATENCY_S),
    )
    carried = []
    for queues in model.queues:
        found = _core.carry_lossless(
            routes,
            *columns,
            np.ascontiguousarray(rate[channels]),
            np.ascontiguousarray(starts).ravel(),
            eager,
            overhead,
            queues == Queues.VOQ,
            int(model.buffer // packet),
            packet,
            *latency,
            seed,
        )
        whole = {name: np.zeros(fabric.channels) for name in ("busy", "blocked")}
        for name, values in whole.items():
            values[channels] = found[name]
        circle = tuple(channels[found["circle"]].tolist())
        carried.append(
            CarriedSchedule(queues, found["seconds"], **whole, circle=circle, hops=found["hops"])
        )
    return carried
