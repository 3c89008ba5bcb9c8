"""One drawn pattern carried out packet by packet, beside what counting says of its messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import UsageError
from contend.base.schema import PythonOnly, Seconds, Share
from contend.base.units import parse_seconds, parse_size, valued
from contend.congestion.drawing import DrawnPattern
from contend.congestion.messages import PlacedMessages, place_messages
from contend.congestion.rates import cable_seconds, link_rates
from contend.congestion.split_messages import split_shares
from contend.fabric import Fabric
from contend.routes import Round, Routes, Ways, routes_of

VICTIM = 0.9
"""Part of its counted share below which a message is a victim."""
MOST_VICTIMS = 8
"""Number of victims that are told."""
SWITCH_LATENCY_S, CABLE_LATENCY_S = 130e-9, 20e-9
"""From a packet's first bit at a switch until it can leave it, as NVIDIA's data sheets have it of
InfiniBand switches; and along four metres of cable, at two thirds of the speed of light."""
# Steady is what has lasted so many round trips of the longest cable.
_TRIPS = 32
# Of links whose rate nobody knows; only their ratio to each other would count.
_ANY_RATE = 12.5e9
# Steady state is measured from the first to the second, in packets of the slowest port.
_FROM, _UNTIL = 256.0, 768.0
# Of pairs that exchange messages, in messages.
_EXCHANGED_FROM, _EXCHANGED_UNTIL = 2.0, 26.0
_MOST_PACKETS = 1 << 24
# Where a channel is blocked for less, the waiting begins.
_BLOCKED = 0.05
_FILLED_BY = 4
_FOLLOWED = Ways.DRAWN | Ways.SPLIT | Ways.TOGETHER | Ways.SOLVED


class Queues(StrEnum):
    """How switches keep the packets that come over one channel."""

    FIFO = "fifo"
    """One queue: the first packet holds up all behind it."""
    VOQ = "voq"
    """One queue for each channel out of the switch, in one buffer (virtual output queues)."""


@dataclass(frozen=True, kw_only=True)
class SampledMessage:
    """A message of a sample, and what it got."""

    sample: int
    """Number of the sample."""
    source: str
    """Name of the host that sends it."""
    target: str
    """Name of the host that receives it."""
    counted: Share
    """Share of a port's rate by counting."""
    received: Share
    """Share of a port's rate that its packets got."""
    hosts: PythonOnly[tuple[int, int]]
    """Numbers of both hosts."""

    def __str__(self) -> str:
        return f"{self.source} -> {self.target}"


@dataclass(frozen=True, kw_only=True)
class Victim(SampledMessage):
    """A message that is held up by others."""

    queues: Queues
    """How switches keep packets."""
    held_up: str
    """Channel of its route that its packets waited for longest."""
    waited: Share
    """Share of the time in which one of its packets was the next for that channel, and waited."""
    cause: str
    """Channel at which the waiting begins: it is busy all the time, and others wait for it."""
    filled_by: tuple[str, ...]
    """Messages across that channel, those that get most of it first: ``source -> target``."""
    channels: PythonOnly[tuple[int, int]]
    """Numbers of both channels."""


@dataclass(frozen=True, kw_only=True)
class HeldMessage(SampledMessage):
    """A message whose packets wait at a channel."""

    over: str
    """Channel that its packets came over."""
    waits_for: str
    """Channel that they wait for."""
    packets: float
    """Number of its packets that wait there at a time, in the mean: the next one for that channel,
    and those behind it."""
    wait_s: Seconds | None
    """Time that a packet waits there, in the mean; null if none leaves."""
    first: Share
    """Share of the time in which one of its packets was the next for that channel, and waited."""


@dataclass(frozen=True)
class ChannelSample:
    """What stood still at a channel in a round."""

    blocked: float
    held: tuple[HeldMessage, ...]
    cause: str
    filled_by: tuple[str, ...]


@dataclass(frozen=True)
class PacketModel:
    """How switches keep packets, and what hosts send."""

    queues: tuple[Queues, ...]
    buffer: int
    """Bytes that the far end of every channel holds; 0 for no limit."""
    mtu: int
    message_bytes: int | None
    """None for hosts that send all the time."""
    switch_latency_s: float
    cable_latency: float | str
    """Seconds, or in words; by kind of cable, too."""

    @classmethod
    def of(
        cls,
        queues: Sequence[Queues | str] = tuple(Queues),
        buffer: int | str = "64KiB",
        mtu: int | str = "4KiB",
        message_bytes: int | str | None = None,
        switch_latency: float | str = SWITCH_LATENCY_S,
        cable_latency: float | str = CABLE_LATENCY_S,
    ) -> PacketModel:
        """The model by sizes in bytes or in words.

        Raises:
            UsageError: no such queues, or a size that does not fit.
        """
        known = list(Queues)
        if not queues or any(one not in known for one in queues):
            raise UsageError(f"queues: expected {' or '.join(known)}, got {list(queues)}")
        room, packet, length = (
            parse_size(size) if isinstance(size, str) else size
            for size in (buffer, mtu, message_bytes)
        )
        assert room is not None
        assert packet is not None
        if packet < 1 or (length is not None and length < 1):
            raise UsageError("mtu and bytes: expected at least a byte")
        if 0 < room < packet:
            raise UsageError(f"buffer: expected room for a packet, {packet:,} bytes, got {room:,}")
        for name, size in (("buffer", room), ("bytes", length or 0)):
            if size // packet > _MOST_PACKETS:
                raise UsageError(
                    f"{name}: expected at most {_MOST_PACKETS:,} packets, got {size // packet:,}"
                )
        kinds = tuple(dict.fromkeys(map(Queues, queues)))
        return cls(
            kinds, room, packet, length, valued(switch_latency, parse_seconds) or 0.0, cable_latency
        )

    def round_trips(
        self, flight: NDArray[np.float64], rates: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Packets that go in the time from when one is sent until word comes of its room.

        Along the cable, through the switch, all of it out, and the word back; by channel.
        """
        return np.asarray((2 * flight + self.switch_latency_s) * rates / self.mtu + 1)

    def carry(
        self,
        routes: _core.PacketRoutes,
        rates: NDArray[np.float64],
        exchanges: bool,
        seed: int,
        watched: NDArray[np.uint32],
        flight: NDArray[np.float64],
    ) -> dict[Queues, dict[str, Any]]:
        """What becomes of messages with each kind of queues.

        Args:
            routes: where their packets may go.
            rates: bytes per second of every channel.
            exchanges: whether messages of a length are exchanged again and again by pairs.
            seed: of all random choices.
            watched: channels of which every wait is told.
            flight: seconds that bits take along the cable of every channel.
        """
        exchanges = exchanges and self.message_bytes is not None
        room, length = self.buffer // self.mtu, -(-(self.message_bytes or 0) // self.mtu)
        start, end = (_EXCHANGED_FROM, _EXCHANGED_UNTIL) if exchanges else (_FROM, _UNTIL)
        # What buffers hold comes in bursts, one a round trip, of which there must be whole ones.
        slowest = rates[len(rates) - 2 * routes.places :].min()
        trip = float((self.round_trips(flight, rates) / rates).max() * slowest)
        if not exchanges and _TRIPS * trip > start:
            start, end = _TRIPS * trip, (_TRIPS + np.ceil((end - start) / trip)) * trip
        span = (start, end)
        sizes = (room, self.mtu, self.switch_latency_s, length, exchanges, *span)
        return {
            queues: routes.carry(rates, queues == Queues.VOQ, *sizes, seed, watched, flight)
            for queues in self.queues
        }


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
    placed = place_messages(fabric, ends, spread=spread, follows=_FOLLOWED)
    links = link_rates(fabric, placed.hosts, rate=rate, equal=equal)
    channels = _channels(fabric, placed.hosts)
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
    watches = np.flatnonzero(np.isin(channels, watched)).astype(np.uint32)
    drawing = _core.routes_draw(drawn.seed, drawn.number)
    sample = PacketSample({queues: QueuedSample() for queues in model.queues}, links.port)
    if model.buffer:
        trip = 2 * flight + model.switch_latency_s + model.mtu / rates
        sample.covered = float((model.buffer // model.mtu * model.mtu / (trip * rates)).min())
    flight = cable_seconds(fabric, placed.hosts, model.cable_latency, CABLE_LATENCY_S)
    sample.cable_latency_s = float(flight.max(initial=0.0))
    if model.buffer:
        trips = model.round_trips(flight, rates)
        sample.covered = float((model.buffer // model.mtu / trips).min(initial=1.0))
    for both in placed.rounds:
        apart = both[0] != both[1]
        source, target = (end[apart] for end in both)
        pi, counted, fair = _counted(routes, placed, source, target, rates, drawing)
        if exchanges and model.message_bytes is not None:
            other = _partners(source, target)
            pi = np.maximum(pi, pi[other])
            counted, fair = (np.minimum(each, each[other]) for each in (counted, fair))
        sample.pi.append(pi)
        sample.counted.append(counted)
        sample.fair.append(fair)
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
            jam = _Jam(fabric, placed.hosts, (source, target), ways, found, counted)
            queued.victims += [jam.victim(m, queues, drawn.number) for m in worst.tolist()]
            for channel in watches.tolist():
                seen = jam.watched(channel, model.mtu, rates, drawn.number)
                queued.watched[int(channels[channel])].append(seen)
    for queued in sample.queued.values():
        queued.victims = worst_victims(queued.victims)
    return sample


def _counted(
    routes: Routes,
    placed: PlacedMessages,
    source: NDArray[np.uint32],
    target: NDArray[np.uint32],
    rates: NDArray[np.float64],
    drawing: int,
) -> tuple[NDArray[np.floating], NDArray[np.float64], NDArray[np.float64]]:
    """Congestion, share by counting and fair share of every message, shape [messages] each."""
    where = (placed.resolver, source, target)
    if Ways.SOLVED in routes.ways:
        share, *_ = _core.IdealRounds(placed.resolver, rates).solve(source, target, 0, False)
        return np.round(1 / share), share, share
    if Ways.TOGETHER in routes.ways:
        load, share = _core.split_congestion(*where, rates)
        return np.round(load), share, share
    if Ways.SPLIT in routes.ways:
        load, share, fair = split_shares(*where, rates, drawing)
        return np.round(load), share, fair
    pi, share, _ = _core.message_congestion(*where, rates, drawing)
    return pi.astype(np.float64), share, _core.fair_share(*where, rates, drawing)


def _partners(source: NDArray[np.uint32], target: NDArray[np.uint32]) -> NDArray[np.intp]:
    """The message that goes the other way, for every message of pairs that exchange."""
    order = np.lexsort((target, source))
    partners = np.empty(len(order), np.intp)
    partners[order] = np.lexsort((source, target))
    return partners


def worst_victims(victims: Sequence[Victim]) -> list[Victim]:
    """Those that lose most against counting."""
    return sorted(victims, key=lambda one: one.received / one.counted)[:MOST_VICTIMS]


def _channels(fabric: Fabric, hosts: NDArray[np.integer]) -> NDArray[np.int64]:
    """The fabric's number of every channel between switches, then in and out by place."""
    between = 2 * fabric.cables
    ports = between + hosts
    return np.concatenate([np.arange(between), ports, ports + fabric.hosts])


class _Jam:
    """Who holds whom up in a round that was carried out."""

    def __init__(
        self,
        fabric: Fabric,
        hosts: NDArray[np.integer],
        ends: tuple[NDArray[np.uint32], NDArray[np.uint32]],
        ways: _core.PacketRoutes,
        found: dict[str, Any],
        counted: NDArray[np.float64],
    ) -> None:
        self._counted = counted
        self._fabric, self._hosts, self._channels = fabric, hosts, _channels(fabric, hosts)
        self._ends, self._found = ends, found
        self._ways = ways

    def victim(self, message: int, queues: Queues, sample: int) -> Victim:
        """A message, what it waits for, and why."""
        held_up = int(self._found["held_up"][message])
        cause = self._cause(held_up)
        return Victim(
            queues=queues,
            held_up=self._name(held_up),
            waited=float(self._found["waited"][message]),
            cause=self._name(cause),
            filled_by=tuple(self._across(cause, message)),
            channels=(int(self._channels[held_up]), int(self._channels[cause])),
            **self._gets(message, sample),
        )

    def watched(
        self, channel: int, mtu: int, rates: NDArray[np.float64], sample: int
    ) -> ChannelSample:
        """Who waits for a channel and, having crossed it, at its far end; and where that begins."""
        cause = self._cause(channel)
        held = []
        for end in ("wait_on", "wait_over"):
            waits = np.flatnonzero(self._found[end] == channel)
            order = np.argsort(-self._found["wait_packets"][waits], kind="stable")[:MOST_VICTIMS]
            held += [self._held(row, mtu, rates, sample) for row in waits[order].tolist()]
        return ChannelSample(
            blocked=float(self._found["blocked"][channel]),
            held=tuple(held),
            cause=self._name(cause),
            filled_by=tuple(self._across(cause, None)),
        )

    def _held(self, row: int, mtu: int, rates: NDArray[np.float64], sample: int) -> HeldMessage:
        message, over, on, packets, first = (
            self._found[f"wait_{name}"][row].item()
            for name in ("message", "over", "on", "packets", "first")
        )
        ports = [self._ends[0][message], self._ends[1][message] + len(self._hosts)]
        # As many leave as come: by Little's law the mean number is the rate times the wait.
        rate = self._found["share"][message] * rates[2 * self._fabric.cables :][ports].min() / mtu
        return HeldMessage(
            over=self._name(over),
            waits_for=self._name(on),
            packets=packets,
            wait_s=float(packets / rate) if rate else None,
            first=first,
            **self._gets(message, sample),
        )

    def _gets(self, message: int, sample: int) -> dict[str, Any]:
        """What victims and held messages tell alike."""
        source, target = (int(self._hosts[end[message]]) for end in self._ends)
        return {
            "sample": sample,
            "hosts": (source, target),
            "source": self._fabric.host_name[source],
            "target": self._fabric.host_name[target],
            "counted": float(self._counted[message]),
            "received": float(self._found["share"][message]),
        }

    def _cause(self, channel: int) -> int:
        """From a channel that is blocked on to the one that its packets wait for, to the last."""
        seen = set()
        while self._found["blocked"][channel] > _BLOCKED and channel not in seen:
            seen.add(channel)
            then = int(self._found["then"][channel])
            if then == len(self._channels):
                break
            channel = then
        return channel

    @cached_property
    def _crossings(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Channels in ascending order, and the message that crosses each."""
        found = self._found["crossed"], self._found["crossed_by"]
        channel, message = found if len(found[0]) else self._ways.steps()
        order = np.argsort(channel, kind="stable")
        return channel[order], message[order]

    def _across(self, channel: int, other: int | None) -> list[str]:
        """Messages over a channel, those that get most first."""
        crossed, message = self._crossings
        begin, end = np.searchsorted(crossed, [channel, channel + 1])
        over = message[begin:end]
        order = np.argsort(-self._found["share"][over], kind="stable")
        names = [int(one) for one in over[order] if one != other][:_FILLED_BY]
        source, target = self._ends
        return [f"{self._host(int(source[m]))} -> {self._host(int(target[m]))}" for m in names]

    def _host(self, place: int) -> str:
        return self._fabric.host_name[int(self._hosts[place])]

    def _name(self, channel: int) -> str:
        return self._fabric.channel_name(int(self._channels[channel]))
