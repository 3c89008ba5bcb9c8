"""Least times of a network: bytes through the fullest port, and over the fullest channels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import UsageError
from contend.base.units import counted, format_bytes, format_link_speed, nearest
from contend.congestion import channel_bytes, message_congestion
from contend.explanation.evidence import Bound, Limit
from contend.fabric import Fabric, relative_rates
from contend.lab.emulation import host_labels

# Channels that are named; of more the number is told.
_NAMED = 4
_FULLEST = 0.999


@dataclass(frozen=True, eq=False)
class KnownNetwork:
    """The network between the ranks of a run, as far as it is known."""

    wire: float | None
    """Bytes per second of a host's port each way; None where it is not known."""
    hosts: tuple[str, ...]
    """Name of every rank's host."""
    fabric: Fabric | None = None
    """Fabric with routes; None where it is not known."""
    numbers: NDArray[np.int64] | None = None
    """Number in the fabric of every rank's host, shape [ranks]."""

    def channel_rates(self, fabric: Fabric) -> NDArray[np.float64]:
        """Bytes per second of every channel between switches, where the wire is known."""
        assert self.wire is not None
        return self.wire * relative_rates(fabric)[: 2 * fabric.cables]

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
    sent, received = (np.bincount(number[end], minlength=len(names)) for end in (source, target))
    host = int((sent if sent.max() >= received.max() else received).argmax())
    port = _through_port(
        names[host], int(sent[host]) * size, int(received[host]) * size, network.wire
    )
    if network.numbers is None:
        return (port,)
    fabric = _channels(network, network.numbers[source], network.numbers[target], size)
    return (port,) if fabric is None else (port, fabric)


def _through_port(host: str, out: float, into: float, wire: float) -> Bound:
    """What a host's port takes for the larger of what leaves it and what comes in."""
    way = "out of" if out >= into else "into"
    how = f"{way} the port of {host} at {format_link_speed(wire)}"
    return port_bound(max(out, into), wire, how)


def port_bound(through: float, wire: float, how: str) -> Bound:
    """What a port takes for so many bytes; `how` says which port."""
    return Bound(Limit.PORT, through / wire, f"{format_bytes(through)} {how}")


def _channels(
    network: KnownNetwork,
    source: NDArray[np.integer],
    target: NDArray[np.integer],
    size: int | NDArray[np.uint64],
) -> Bound | None:
    """What the fullest channel between switches takes for messages between hosts of the fabric.

    Their size is one for all, or each has its own, and then bytes are told instead of messages.
    """
    fabric = network.fabric
    if fabric is None or network.wire is None or not fabric.cables:
        return None
    between = slice(2 * fabric.cables)
    messages = message_congestion(fabric, source, target).channel_messages[between]
    if isinstance(size, int):
        through = messages.astype(np.float64) * size
    else:
        through = channel_bytes(fabric, source, target, size)[between].astype(np.float64)
    if not through.any():
        return None
    rates = network.channel_rates(fabric)
    seconds = through / rates
    fullest = np.flatnonzero(seconds >= _FULLEST * seconds.max())
    # The fullest by its number first, so that names do not depend on rounding.
    first = int(fullest[0])
    load = int(messages[first])
    carried = format_bytes(float(through[first]))
    if isinstance(size, int):
        carried = f"{counted(load, 'message')} of {format_bytes(size)}"
    names = tuple(fabric.channel_name(int(channel)) for channel in fullest[:_NAMED])
    several = f"each of {counted(len(fullest), 'channel')} between switches"
    where = names[0] if len(fullest) == 1 else several
    return Bound(
        Limit.FABRIC,
        float(seconds.max()),
        f"{carried} over {where} at {format_link_speed(float(rates[first]))}",
        channels=names,
        load=load,
    )


@dataclass(frozen=True, eq=False)
class ProgramTraffic:
    """What hosts have sent each other in a program's run."""

    names: NDArray[np.str_]
    """Names of the hosts, shape [hosts]."""
    bytes: NDArray[np.float64]
    """Bytes from host to host, shape [hosts, hosts], float64; nothing from a host to itself."""
    host_of_rank: NDArray[np.integer]
    """Index of every rank's host, shape [ranks]."""

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
    return _through_port(traffic.names[host], out, into, wire)


def fabric_of_traffic(traffic: ProgramTraffic, network: KnownNetwork) -> Bound | None:
    """What the fullest channel between switches takes for the bytes of a whole run."""
    if network.numbers is None:
        return None
    number = np.zeros(len(traffic.names), np.int64)
    number[traffic.host_of_rank] = network.numbers
    source, target = np.nonzero(traffic.bytes)
    size = traffic.bytes[source, target].astype(np.uint64)
    return _channels(network, number[source], number[target], size)
