"""Messages that get less than counting says: what they wait for, and whose traffic fills it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.schema import PythonOnly, Seconds, Share
from contend.congestion.packets.model import Queues
from contend.fabric import Fabric

VICTIM = 0.9
"""Part of its counted share below which a message is a victim."""
MOST_VICTIMS = 8
"""Number of victims that are told."""
# Where a channel is blocked for less, the waiting begins.
_BLOCKED = 0.05
_FILLED_BY = 4


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


def worst_victims(victims: Sequence[Victim]) -> list[Victim]:
    """Those that lose most against counting."""
    return sorted(victims, key=lambda one: one.received / one.counted)[:MOST_VICTIMS]


def channels_by_place(fabric: Fabric, hosts: NDArray[np.integer]) -> NDArray[np.int64]:
    """The fabric's number of every channel between switches, then in and out by place."""
    between = 2 * fabric.cables
    ports = between + hosts
    return np.concatenate([np.arange(between), ports, ports + fabric.hosts])


class Jam:
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
        self._fabric, self._hosts, self._channels = fabric, hosts, channels_by_place(fabric, hosts)
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
