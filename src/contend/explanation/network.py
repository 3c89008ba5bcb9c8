"""Least times of a network: bytes through the fullest port, and over the fullest channels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.congestion import channel_bytes, message_congestion
from contend.emulation import host_labels
from contend.errors import UsageError
from contend.explanation.evidence import Bound, Limit
from contend.fabric import Fabric, relative_rates
from contend.units import counted, format_bytes, format_link_speed, nearest

# Channels that are named; of more the number is told.
_NAMED = 4
_FULLEST = 0.999


@dataclass(frozen=True, eq=False)
class KnownNetwork:
    """The network between the ranks of a run, as far as it is known.

    Attributes:
        wire: bytes per second of a host's port each way; None where it is not known.
        hosts: name of every rank's host.
        fabric: with routes; None where it is not known.
        numbers: the host in the fabric of every rank, shape [ranks].
    """

    wire: float | None
    hosts: tuple[str, ...]
    fabric: Fabric | None = None
    numbers: NDArray[np.int64] | None = None

    def cable_rates(self, fabric: Fabric) -> NDArray[np.float64]:
        """Rate of every cable of a fabric as a multiple of a port's, shape [cables]."""
        return relative_rates(fabric)[: 2 * fabric.cables : 2]

    @property
    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Source and target ranks of all pairs of ranks."""
        ranks = np.arange(len(self.hosts), dtype=np.int64)
        source, target = np.repeat(ranks, len(ranks)), np.tile(ranks, len(ranks))
        return source[source != target], target[source != target]


def seat(hosts: Sequence[str], wire: float | None, fabric: Fabric | None) -> KnownNetwork:
    """The network between ranks whose hosts have names.

    Raises:
        UsageError: the fabric has no such host.
    """
    if fabric is None:
        return KnownNetwork(wire, tuple(hosts))
    number = _numbers(fabric)
    for host in hosts:
        if host not in number:
            hint = nearest(host, number)
            raise UsageError(f"{fabric.name} has no host {host!r} of the run{hint}")
    numbers = np.array([number[host] for host in hosts], dtype=np.int64)
    return KnownNetwork(wire, tuple(hosts), fabric, numbers)


def _numbers(fabric: Fabric) -> dict[str, int]:
    """Hosts by what they may be called: their names, the first word of these, and when emulated."""
    # An adapter's name begins with its server's, which tells where the server has one adapter.
    first = [(name.split() or [""])[0] for name in fabric.host_name]
    once = {name for name, count in Counter(first).items() if count == 1}
    number = {name: host for host, name in enumerate(first) if name in once}
    number |= {name: host for host, name in enumerate(host_labels(fabric))}
    return number | {name: host for host, name in enumerate(fabric.host_name)}


def least_times(
    network: KnownNetwork,
    source: NDArray[np.integer],
    target: NDArray[np.integer],
    size: int,
) -> tuple[Bound, ...]:
    """What messages that are sent at once take at least: at the ports, and between switches.

    Bytes through the fullest port over its rate; the load of the fullest channel times the bytes
    over its rate (Hoefler, Schneider and Lumsdaine 2008, 3.1). No order of messages is faster.

    Args:
        network: between all ranks.
        source: rank of every message, shape [messages].
        target: likewise.
        size: bytes of a message.
    """
    # Numbers instead of names: of thousands of ranks there are millions of pairs.
    names, number = np.unique(np.array(network.hosts), return_inverse=True)
    crossing = number[source] != number[target]
    source, target = source[crossing], target[crossing]
    if network.wire is None or len(source) == 0 or size < 1:
        return ()
    port = _port(network.wire, names, number[source], number[target], size)
    fabric = _channels(network, source, target, size)
    return (port,) if fabric is None else (port, fabric)


def _port(
    wire: float,
    names: NDArray[np.str_],
    source: NDArray[np.integer],
    target: NDArray[np.integer],
    size: int,
) -> Bound:
    sent, received = (np.bincount(end, minlength=len(names)) for end in (source, target))
    way, messages = ("out of", sent) if sent.max() >= received.max() else ("into", received)
    host = int(messages.argmax())
    how = f"{way} the port of {names[host]} at {format_link_speed(wire)}"
    return port_bound(int(messages[host]) * size, wire, how)


def port_bound(through: float, wire: float, how: str) -> Bound:
    """What a port takes for so many bytes; `how` says which port."""
    return Bound(Limit.PORT, through / wire, f"{format_bytes(through)} {how}")


def _channels(
    network: KnownNetwork, source: NDArray[np.integer], target: NDArray[np.integer], size: int
) -> Bound | None:
    fabric, numbers, wire = network.fabric, network.numbers, network.wire
    if fabric is None or numbers is None or wire is None or not fabric.cables:
        return None
    counted_messages = message_congestion(fabric, numbers[source], numbers[target]).channel_messages
    messages = counted_messages[: 2 * fabric.cables].astype(np.float64)
    if not messages.any():
        return None
    rates = wire * network.cable_rates(fabric)
    seconds = messages * size / np.repeat(rates, 2)
    fullest = np.flatnonzero(seconds >= _FULLEST * seconds.max())
    # The fullest by its number first, so that names do not depend on rounding.
    first = int(fullest[0])
    load = int(messages[first])
    each = format_link_speed(float(np.repeat(rates, 2)[first]))
    where = _where(fabric, fullest)
    return Bound(
        Limit.FABRIC,
        float(seconds.max()),
        f"{counted(load, 'message')} of {format_bytes(size)} over {where} at {each}",
        channels=tuple(fabric.channel_name(int(channel)) for channel in fullest[:_NAMED]),
        load=load,
    )


def _where(fabric: Fabric, fullest: NDArray[np.integer]) -> str:
    if len(fullest) == 1:
        return fabric.channel_name(int(fullest[0]))
    return f"each of {counted(len(fullest), 'channel')} between switches"


@dataclass(frozen=True, eq=False)
class ProgramTraffic:
    """What hosts have sent each other in a program's run.

    Attributes:
        names: of the hosts, shape [hosts].
        bytes: from host to host, shape [hosts, hosts], float64; nothing from a host to itself.
        host_of_rank: index of every rank's host, shape [ranks].
    """

    names: NDArray[np.str_]
    bytes: NDArray[np.float64]
    host_of_rank: NDArray[np.integer]

    @classmethod
    def between(
        cls,
        hosts: Sequence[str],
        source: NDArray[np.integer],
        target: NDArray[np.integer],
        size: NDArray[np.integer],
    ) -> ProgramTraffic:
        """Adds up what ranks have sent each other.

        Args:
            hosts: name of every rank's host.
            source: rank of every pair, shape [pairs].
            target: likewise.
            size: bytes from the one to the other, shape [pairs].
        """
        names, number = np.unique(np.array(hosts), return_inverse=True)
        total = np.zeros((len(names), len(names)))
        np.add.at(total, (number[source], number[target]), size.astype(np.float64))
        np.fill_diagonal(total, 0.0)
        return cls(names, total, number)

    @property
    def fullest(self) -> int:
        """Index of the host whose port passes most bytes one way."""
        return int(np.maximum(self.bytes.sum(axis=0), self.bytes.sum(axis=1)).argmax())


def port_of_traffic(traffic: ProgramTraffic, wire: float) -> Bound | None:
    """What the fullest port takes for the bytes of a whole run."""
    host = traffic.fullest
    out, into = float(traffic.bytes[host].sum()), float(traffic.bytes[:, host].sum())
    if not max(out, into):
        return None
    way = "out of" if out >= into else "into"
    how = f"{way} the port of {traffic.names[host]} at {format_link_speed(wire)}"
    return port_bound(max(out, into), wire, how)


def fabric_of_traffic(traffic: ProgramTraffic, network: KnownNetwork) -> Bound | None:
    """What the fullest channel between switches takes for the bytes of a whole run."""
    fabric, numbers, wire = network.fabric, network.numbers, network.wire
    if fabric is None or numbers is None or wire is None or not fabric.cables:
        return None
    number = np.zeros(len(traffic.names), np.int64)
    number[traffic.host_of_rank] = numbers
    source, target = np.nonzero(traffic.bytes)
    size = traffic.bytes[source, target].astype(np.uint64)
    through = channel_bytes(fabric, number[source], number[target], size)[: 2 * fabric.cables]
    if not through.any():
        return None
    rates = np.repeat(wire * network.cable_rates(fabric), 2)
    seconds = through / rates
    fullest = np.flatnonzero(seconds >= _FULLEST * seconds.max())
    first = int(fullest[0])
    pairs = message_congestion(fabric, number[source], number[target]).channel_messages
    return Bound(
        Limit.FABRIC,
        float(seconds.max()),
        f"{format_bytes(float(through[first]))} over {_where(fabric, fullest)} at "
        f"{format_link_speed(float(rates[first]))}",
        channels=tuple(fabric.channel_name(int(channel)) for channel in fullest[:_NAMED]),
        load=int(pairs[first]),
    )
