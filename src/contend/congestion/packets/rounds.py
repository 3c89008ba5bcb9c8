"""One drawn pattern carried out packet by packet, beside what counting says of its messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.congestion.drawing import DrawnPattern
from contend.congestion.messages import place_messages
from contend.congestion.packets.held_up import (
    MOST_VICTIMS,
    VICTIM,
    ChannelSample,
    Jam,
    Victim,
    channels_by_place,
    worst_victims,
)
from contend.congestion.packets.model import CABLE_LATENCY_S, PacketModel, Queues
from contend.congestion.rates import cable_seconds, link_rates
from contend.congestion.split_messages import shares_by_ways
from contend.fabric import Fabric
from contend.routes import Round, Ways, routes_of

# Of links whose rate nobody knows; only their ratio to each other would count.
_ANY_RATE = 12.5e9
FOLLOWED: Ways = Ways.DRAWN | Ways.SPLIT | Ways.TOGETHER | Ways.SOLVED


@dataclass(eq=False)
class QueuedSample:
    """A sample's messages with one kind of queues."""

    received: list[NDArray[np.float64]] = field(default_factory=list)
    """Share of every message, shape [messages], by round."""
    busy: Any = 0.0
    """Share of the time that every channel carries packets, shape [channels]."""
    blocked: Any = 0.0
    """Share of the time that it is blocked, shape [channels]."""
    circle: tuple[int, ...] = ()
    """Channels that wait for each other for ever."""
    victims: list[Victim] = field(default_factory=list)
    watched: dict[int, list[ChannelSample]] = field(default_factory=lambda: defaultdict(list))
    """By channel, in order of rounds."""


@dataclass(eq=False)
class PacketSample:
    """One drawn pattern, all its rounds."""

    queued: dict[Queues, QueuedSample]
    port_Bps: float | None
    """Rate of the hosts' ports; None where it is not known, or they differ."""
    pi: list[NDArray[np.floating]] = field(default_factory=list)
    """Congestion of every message between hosts, shape [messages], by round; rounded where they
    split."""
    counted: list[NDArray[np.float64]] = field(default_factory=list)
    fair: list[NDArray[np.float64]] = field(default_factory=list)
    port: list[NDArray[np.float64]] = field(default_factory=list)
    """Rate of the slower of every message's two ports, shape [messages], by round."""
    lanes: int = 1
    cable_latency_s: float = 0.0
    covered: float = 1.0
    """Share of what a link carries in a round trip that a buffer holds, on the longest cable."""
    hops: int = 0


def carry_sample(
    fabric: Fabric,
    drawn: DrawnPattern,
    model: PacketModel,
    *,
    exchanges: bool,
    spread: bool,
    rate: float | None,
    equal: bool,
    watched: Sequence[int] = (),
) -> PacketSample:
    """Carries out all rounds of a drawn pattern, one after the other.

    Raises:
        UsageError: a host cannot be reached.
    """
    ends = [drawn.between_hosts(number) for number in range(len(drawn.rounds))]
    routes = routes_of(fabric)
    placed = place_messages(fabric, ends, spread=spread, follows=FOLLOWED)
    links = link_rates(fabric, placed.hosts, rate=rate, equal=equal)
    channels = channels_by_place(fabric, placed.hosts)
    rates = links.by_place
    if not len(rates):
        rates = np.full(len(channels), links.port or _ANY_RATE)
    watches = np.flatnonzero(np.isin(channels, watched)).astype(np.uint32)
    drawing = _core.routes_draw(drawn.seed, drawn.number)
    sample = PacketSample({queues: QueuedSample() for queues in model.queues}, links.port)
    flight = cable_seconds(fabric, placed.hosts, model.cable_latency, CABLE_LATENCY_S)
    sample.cable_latency_s = float(flight.max(initial=0.0))
    if model.buffer:
        trips = model.round_trips(flight, rates)
        sample.covered = float((model.buffer // model.mtu / trips).min(initial=1.0))
    for both in placed.rounds:
        apart = both[0] != both[1]
        source, target = (end[apart] for end in both)
        load, counted, fair = shares_by_ways(
            routes.ways, placed.resolver, source, target, rates, drawing
        )
        pi = np.round(load).astype(np.float64)
        if exchanges and model.message_bytes is not None:
            other = _partners(source, target)
            pi = np.maximum(pi, pi[other])
            counted, fair = (np.minimum(each, each[other]) for each in (counted, fair))
        sample.pi.append(pi)
        sample.counted.append(counted)
        sample.fair.append(fair)
        out, into = np.split(rates[len(rates) - 2 * len(placed.hosts) :], 2)
        sample.port.append(np.minimum(out[source], into[target]))
        hosts = placed.hosts.astype(np.uint32)
        ways = routes.packet_routes(
            fabric, hosts, placed.resolver, Round(source, target, drawing, spread)
        )
        sample.lanes = max(sample.lanes, ways.lanes)
        carried = model.carry(ways, rates, exchanges, drawn.seed + drawn.number, watches, flight)
        for queues, found in carried.items():
            queued = sample.queued[queues]
            queued.received.append(found["share"])
            for name in ("busy", "blocked"):
                whole = np.zeros(fabric.channels)
                whole[channels] = found[name] / len(ends)
                setattr(queued, name, getattr(queued, name) + whole)
            queued.circle = queued.circle or tuple(channels[found["circle"]].tolist())
            sample.hops += found["hops"]
            worst = np.argsort(found["share"] / counted, kind="stable")[:MOST_VICTIMS]
            worst = worst[found["share"][worst] < VICTIM * counted[worst]]
            # Of two that exchange one may only wait for the other.
            worst = worst[found["held_up"][worst] < len(channels)]
            jam = Jam(fabric, placed.hosts, (source, target), ways, found, counted)
            queued.victims += [jam.victim(m, queues, drawn.number) for m in worst.tolist()]
            for channel in watches.tolist():
                seen = jam.watched(channel, model.mtu, rates, drawn.number)
                queued.watched[int(channels[channel])].append(seen)
    for queued in sample.queued.values():
        queued.victims = worst_victims(queued.victims)
    return sample


def _partners(source: NDArray[np.uint32], target: NDArray[np.uint32]) -> NDArray[np.intp]:
    """The message that goes the other way, for every message of pairs that exchange."""
    order = np.lexsort((target, source))
    partners = np.empty(len(order), np.intp)
    partners[order] = np.lexsort((source, target))
    return partners
