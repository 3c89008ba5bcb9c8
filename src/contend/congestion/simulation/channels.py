"""Channels of a simulation: who loads them, and what counters say that they have carried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import UsageError
from contend.base.schema import PythonOnly, Share, told
from contend.base.units import counted, rate_of, rounded
from contend.congestion.drawing import Seating
from contend.congestion.rates import heat, hottest
from contend.fabric import Carried, Fabric, channels_named
from contend.routes import Ways, each_alone, make_resolver
from contend.routes.addresses import expect_memory
from contend.traffic.pattern import parse

if TYPE_CHECKING:
    from contend.congestion.simulation.simulation import Simulation


HOTTEST = "hottest"
"""The channels between switches that need most time: ``hottest`` the first, ``hottest:N`` N."""

# Every channel takes four numbers for each host; nobody reads the tables of more.
_MOST_CHANNELS = 64
# Routes that are drawn are counted in so many drawings.
_DRAWINGS = 8


@dataclass(frozen=True)
class ChannelUser:
    """A leaf or host that messages of a channel come from or go to."""

    name: str
    """Unique name."""
    messages_per_round: float
    """Its messages there, in the mean over rounds and samples."""
    share: Share
    """Its share of all messages there; 0 where there are none."""
    routes_share: Share
    """Share of the routes between hosts there that start or end at it."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ChannelUsers:
    """Who loads a channel: the hosts whose messages cross it, and the leaves that these are on."""

    fabric: PythonOnly[Fabric]
    """Whose channel."""
    channel: int
    """Number of the channel."""
    sources: PythonOnly[NDArray[np.float64]]
    """Messages a round across it by the host that sends them, in the mean over rounds and samples,
    shape [hosts]; of one that takes several ways the part that crosses it counts."""
    targets: PythonOnly[NDArray[np.float64]]
    """The same by the host that receives them, shape [hosts]."""
    source_routes: PythonOnly[NDArray[np.float64]]
    """Routes across it by the host that they start from, of those between any two of the hosts that
    take part, shape [hosts]; a mean over drawings where routes are drawn, and parts of routes where
    messages take several ways."""
    target_routes: PythonOnly[NDArray[np.float64]]
    """The same by the host that they lead to, shape [hosts]."""
    routes_in_all: int
    """Number of routes between the hosts that take part."""
    slowness: PythonOnly[float] = 1.0
    """How many times longer a message takes on it than at the fastest of these hosts' ports; 1
    where links are alike."""

    @told
    def name(self) -> str:
        """Both ends of the channel with their ports."""
        return self.fabric.channel_name(self.channel)

    @told
    def messages_per_round(self) -> float:
        """Messages across it, in the mean over rounds and samples."""
        return float(self.sources.sum())

    @told
    def heat(self) -> float:
        """How long its messages take, in messages at the fastest of the hosts' ports."""
        return self.messages_per_round * self.slowness

    @told
    def routes(self) -> float:
        """Number of routes between hosts that lead there; a mean where routes are drawn."""
        return float(self.source_routes.sum())

    @told
    def from_leaves(self) -> tuple[ChannelUser, ...]:
        """Leaves that the messages come from, those with the most messages first."""
        return self._on_leaves(self.sources, self.source_routes)

    @told
    def from_hosts(self) -> tuple[ChannelUser, ...]:
        """Hosts that the messages come from, those with the most messages first."""
        return self._users(self.fabric.host_label, self.sources, self.source_routes)

    @told
    def to_leaves(self) -> tuple[ChannelUser, ...]:
        """Leaves that the messages go to, those with the most messages first."""
        return self._on_leaves(self.targets, self.target_routes)

    @told
    def to_hosts(self) -> tuple[ChannelUser, ...]:
        """Hosts that the messages go to, those with the most messages first."""
        return self._users(self.fabric.host_label, self.targets, self.target_routes)

    def _on_leaves(self, *by_host: NDArray[np.float64]) -> tuple[ChannelUser, ...]:
        on_leaves = np.zeros((2, self.fabric.switches))
        for row, column in zip(on_leaves, by_host, strict=True):
            np.add.at(row, self.fabric.host_switch, column)
        return self._users(self.fabric.switch_label, *on_leaves)

    def _users(
        self, names: Sequence[str], messages: NDArray[np.float64], routes: NDArray[np.float64]
    ) -> tuple[ChannelUser, ...]:
        order = np.lexsort((-routes, -messages))
        load, across = self.messages_per_round or 1.0, self.routes or 1.0
        return tuple(
            ChannelUser(
                name=names[n],
                messages_per_round=float(messages[n]),
                share=float(messages[n]) / load,
                routes_share=float(routes[n]) / across,
            )
            for n in order.tolist()
            if messages[n] > 0 or routes[n] > 0
        )

    def __repr__(self) -> str:
        load = rounded(self.messages_per_round, 4)
        return f"<ChannelUsers of {self.name}: {load} messages per round>"


@dataclass(frozen=True)
class AskedChannels:
    """The channels whose users are to be seen."""

    numbers: tuple[int, ...] = ()
    """Numbers of those that were named, each once."""
    hottest: int = 0
    """Number of those that come on top because they need most time."""

    @classmethod
    def of(cls, fabric: Fabric, names: Sequence[str | int]) -> AskedChannels:
        """By their names or numbers.

        Args:
            fabric: whose channels.
            names: a port of a switch (``spine 3:12``) or a host, both directions of its cable; the
                number of one channel; ``hottest`` or ``hottest:N``.

        Raises:
            UsageError: there is no such channel, or there are more than anybody can look at.
        """
        numbers: list[int] = []
        on_top = 0
        for name in names:
            if not isinstance(name, str):
                fabric.channel_ends(name)
                numbers.append(int(name))
            elif name.partition(":")[0] == HOTTEST:
                on_top = max(on_top, _how_many(name))
            else:
                numbers += channels_named(fabric, name)
        asked = cls(tuple(dict.fromkeys(numbers)), on_top)
        if len(asked.numbers) + on_top > _MOST_CHANNELS:
            raise UsageError(
                f"expected up to {_MOST_CHANNELS} channels, got {len(asked.numbers) + on_top}"
            )
        return asked

    def __bool__(self) -> bool:
        return bool(self.numbers or self.hottest)

    def expect_room(
        self, fabric: Fabric, hosts: NDArray[np.uint32], memory: int | None = None
    ) -> None:
        """Refuses parts of split messages, by pair of leaves, that exceed this machine's memory.

        Args:
            fabric: whose channels.
            hosts: that take part.
            memory: bytes; None asks the machine.

        Raises:
            MissingError: with what they need, and what there is.
        """
        count = len(self.numbers) + self.hottest
        pairs = len(np.unique(fabric.host_switch[hosts])) ** 2
        each = 4 * count + 8
        who = f"users of {counted(count, 'channel')} of {fabric.name} need"
        expect_memory(pairs * each, who, memory, lambda: "take fewer hosts")

    def among(self, fabric: Fabric, heats: NDArray[np.float64]) -> list[int]:
        """Their numbers, once the heat of each channel is known."""
        on_top = hottest(heats[: 2 * fabric.cables], self.hottest)
        return list(dict.fromkeys((*self.numbers, *on_top)))


def _how_many(text: str) -> int:
    number = text.removeprefix(HOTTEST).removeprefix(":")
    if text == HOTTEST:
        return 1
    if not number.isdecimal() or not 1 <= int(number[:9]) <= _MOST_CHANNELS:
        raise UsageError(
            f"{text}: expected {HOTTEST}:N, N from 1 to {_MOST_CHANNELS}, got {number!r}"
        )
    return int(number)


@dataclass(frozen=True, eq=False)
class PlacedChannels:
    """Channels in the core's numbers, where hosts that take no part have none."""

    channels: list[int]
    """Channels of the fabric."""
    rows: NDArray[np.int64]
    """Positions in `channels` of those that the core knows, shape [rows]."""
    numbers: NDArray[np.uint32]
    """Their numbers there, shape [rows]."""
    hosts: NDArray[np.uint32]
    """Host of every place, shape [places]."""
    fabric: Fabric
    """Whose channels."""

    @classmethod
    def on(cls, fabric: Fabric, hosts: NDArray[np.uint32], channels: list[int]) -> PlacedChannels:
        """Channels of a fabric where some hosts take part."""
        between = 2 * fabric.cables
        place = {int(host): number for number, host in enumerate(hosts)}
        known: dict[int, int] = {}
        for row, channel in enumerate(channels):
            if channel < between:
                known[row] = channel
            elif (host := (channel - between) % fabric.hosts) in place:
                ejects = channel >= between + fabric.hosts
                known[row] = between + place[host] + (len(hosts) if ejects else 0)
        numbers = np.array(list(known.values()), dtype=np.uint32)
        return cls(channels, np.array(list(known), dtype=np.int64), numbers, hosts, fabric)

    def by_host(self, by_place: NDArray[np.uint64]) -> NDArray[np.float64]:
        """What the core counted, by channel and host, shape [channels, hosts]."""
        counted = np.zeros((len(self.channels), self.fabric.hosts))
        counted[self.rows[:, None], self.hosts] = by_place.reshape(-1, len(self.hosts))
        return counted


def routes_across(
    placed: PlacedChannels, resolver: _core.Resolver, seed: int, threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How many routes between any two places cross channels, by source and by target.

    Returns:
        Two arrays of shape [channels, hosts].
    """
    places = len(placed.hosts)
    if places < 2:
        nothing = np.zeros((len(placed.channels), placed.fabric.hosts))
        return nothing, nothing
    routes = placed.fabric.routes
    if routes is not None and routes.ways & Ways.TOGETHER:
        # Those between any two hosts are sent together by nobody.
        resolver = make_resolver(each_alone(placed.fabric), placed.hosts, follows=Ways.SPLIT)
    drawings = _DRAWINGS if placed.fabric.draws_routes else 1
    seating = Seating(placed.hosts, np.arange(places, dtype=np.uint32), 1, random=False)
    unit, sources, targets = _core.channel_users(
        resolver,
        parse("shifts", places).core,
        seating.core,
        _core.Samples(seed, 0, drawings, False),
        threads,
        placed.numbers,
        np.zeros(0),
    )
    counted = drawings * unit
    return placed.by_host(sources) / counted, placed.by_host(targets) / counted


@dataclass(frozen=True, kw_only=True)
class CountedChannel:
    """A channel between switches with counters."""

    channel: int
    """Number of the channel."""
    name: str
    """Both its ends with their ports."""
    bytes: float
    """Bytes that it carried."""
    heat: float
    """Bytes over its rate, in bytes at the fastest of the hosts' ports: how long they take; `bytes`
    where links are alike."""
    rate: str
    """Label of its cable's rate, such as ``4xHDR``; "" if it is not known."""
    busy: Share | None
    """Part of the time between two readings that the bytes took at that rate; null if time or rate
    is not known."""
    waited: float | None
    """Ticks in which its port had something to send and could not; null if they are not known."""
    share: float
    """Share of the bytes of all these channels; 0 where nothing was sent at all."""
    predicted: float
    """Share of the messages of all these channels that the pattern would send across it."""

    @property
    def ratio(self) -> float | None:
        """How many times the share that is predicted it has; None where nothing is."""
        return self.share / self.predicted if self.predicted > 0 else None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BesideCounters(Carried):
    """Port counters, compared with what the pattern predicts."""

    rank_correlation: float | None
    """Spearman's correlation of both shares; null if one of them is the same everywhere."""
    channels: tuple[CountedChannel, ...]
    """Channels between switches that have counters, in the order of their numbers."""

    @classmethod
    def of(cls, simulation: Simulation, carried: Carried) -> BesideCounters:
        """What channels have carried beside a simulation of the same fabric."""
        fabric, channels, seconds = carried.fabric, carried.known, carried.seconds
        share = _shares(carried.sent[channels])
        predicted = _shares(simulation.channel_load[channels])
        correlation = None
        if len(np.unique(share)) > 1 and len(np.unique(predicted)) > 1:
            import scipy.stats

            ranks = [scipy.stats.rankdata(values) for values in (share, predicted)]
            correlation = float(np.corrcoef(*ranks)[0, 1])
        heats = heat(carried.sent, simulation.relative_rates)

        def counted(row: int, channel: int) -> CountedChannel:
            label, sent = fabric.channel_rate(channel), float(carried.sent[channel])
            rate, waited = rate_of(label), float(carried.waited[channel])
            return CountedChannel(
                channel=channel,
                name=fabric.channel_name(channel),
                bytes=sent,
                heat=float(heats[channel]),
                rate=label,
                busy=None if seconds is None or not rate else sent / seconds / rate,
                waited=None if np.isnan(waited) else waited,
                share=float(share[row]),
                predicted=float(predicted[row]),
            )

        return cls(
            **{field.name: getattr(carried, field.name) for field in fields(Carried)},
            rank_correlation=correlation,
            channels=tuple(counted(*each) for each in enumerate(channels.tolist())),
        )


def _shares(values: NDArray[np.floating]) -> NDArray[np.float64]:
    total = float(values.sum())
    return np.asarray(values / total if total > 0 else np.zeros(len(values)), dtype=np.float64)
