"""What is to be built: namespaces, cables, addresses and tables, before anything is touched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import UsageError
from contend.fabric import Fabric, machine_names, relative_rates
from contend.routes import (
    NO_PORT,
    ForwardingTables,
    NextHops,
    make_resolver,
    tables_of,
)

FABRIC_NETWORK = IPv4Network("10.1.0.0/16")
MANAGEMENT_NETWORK = IPv4Network("10.2.0.0/16")
_SWITCH_NETWORK = IPv4Network("10.3.0.0/16")
MANAGEMENT_ADDRESS = str(MANAGEMENT_NETWORK[-2])
FABRIC_INTERFACE, FABRIC_INDEX = "fabric", 2
MANAGEMENT_INTERFACE, MANAGEMENT_INDEX = "mgmt", 3
# Numbers of interfaces are given out here, so that nobody has to ask for them.
_FIRST_PORT_INDEX = 10
# The kernel's bridge has 1023 ports, and every namespace costs memory.
_MOST_HOSTS = 1000
_MOST_SWITCHES = 2000
MANAGEMENT = "management"
"""The name of the side from which commands are started."""
# The kernel counts buckets in time, which makes them a little smaller than asked for.
_BUCKET = 0.99
PACKET = 1514
"""Bytes of the largest packet on the wire: an Ethernet frame without preamble and checksum."""


def packets_at_once(burst: float, buffer: float) -> int:
    """Packets of a stream that the kernel moves as one piece over cables of a burst and a buffer.

    A piece that does not fit the bucket would be cut into packets on every channel anew, which
    takes the machine several times as long; one that fills much of the buffer would make drops
    coarse.
    """
    return max(int(min(_BUCKET * burst, buffer / 12)) // PACKET, 1)


@dataclass(frozen=True)
class Node:
    """A namespace of the fabric: a host or a switch."""

    label: str
    """Host name."""
    name: str
    """Name in the fabric."""
    number: int
    """Number of the host or switch in the fabric."""
    is_host: bool
    """Whether it is a host; else a switch."""
    address: str
    """IP address."""
    management: str = ""
    """A host's address on the management network; "" for a switch."""


@dataclass(frozen=True)
class End:
    """One end of a cable: an interface, and the channel that begins there."""

    node: int
    interface: str
    index: int
    channel: int


@dataclass(frozen=True)
class RouteEntry:
    """An entry of a switch's table: what is meant for an address leaves by an interface."""

    address: str
    """Address of a host."""
    indices: tuple[int, ...]
    """Index of the interface; of several, the switch chooses one by itself."""


@dataclass(frozen=True)
class Way:
    """How messages get from a host to another."""

    channels: tuple[int, ...]
    """Channels that they may cross, those of both hosts included."""
    length: int
    """Number of them that each crosses: all, unless switches choose."""


@dataclass(frozen=True)
class Layout:
    """A fabric as namespaces."""

    fabric: Fabric
    """The fabric."""
    hosts: tuple[int, ...]
    """Numbers of the fabric's hosts that take part, in order."""
    nodes: tuple[Node, ...]
    """Hosts in that order, then switches."""
    cables: tuple[tuple[End, End], ...]
    """Both ends of every cable, those of hosts included."""
    routes: tuple[tuple[RouteEntry, ...], ...]
    """Table of every switch, in the order of the nodes behind the hosts."""
    resolver: Any = field(repr=False, compare=False)
    """Core that knows the routes between the hosts by tables, which are numbered as in `hosts`;
    None where switches choose."""
    parts: NDArray[np.float64] = field(repr=False, compare=False)
    """What every channel of the fabric carries of the fastest of all hosts' ports, shape
    [channels]."""
    next_hops: NextHops | None = field(default=None, repr=False, compare=False)
    """Hops among which switches choose by themselves; None where tables say it."""

    @property
    def host_nodes(self) -> tuple[Node, ...]:
        """The hosts."""
        return self.nodes[: len(self.hosts)]

    @property
    def ends(self) -> tuple[End, ...]:
        """Every channel's beginning, in the order of the channels."""
        ends = (end for cable in self.cables for end in cable)
        return tuple(sorted(ends, key=lambda end: end.channel))

    @property
    def slowest(self) -> float:
        """The least part of the rate that a cable has."""
        return float(min(self.parts[end.channel] for end in self.ends))

    @property
    def alike(self) -> bool:
        """Whether all cables have one rate."""
        return len({float(self.parts[end.channel]) for end in self.ends}) == 1

    def part(self, way: Way) -> float:
        """What a stream by itself gets of the rate, at least."""
        return float(self.parts[list(way.channels)].min())

    def way(self, source: int, target: int) -> Way:
        """From a host to another, by their indices in `hosts`."""
        injection = 2 * self.fabric.cables
        ejection = injection + self.fabric.hosts
        ends = (injection + self.hosts[source], ejection + self.hosts[target])
        if self.next_hops is None:
            between = _switch_channels(self.resolver, source, [target])
            length = len(between)
        else:
            start, end = (int(self.fabric.host_switch[self.hosts[at]]) for at in (source, target))
            between = self.next_hops.between(start, end)
            length = self.next_hops.length(start, end)
        return Way((*between, *ends), length + len(ends))

    @property
    def sprayed(self) -> bool:
        """Whether switches choose for every packet, and not for every connection."""
        return self.next_hops is not None and not self.fabric.draws_routes

    @property
    def each_hashes(self) -> bool:
        """Whether every switch chooses for each connection by a hash of its own."""
        routes = self.fabric.routes
        return routes is not None and routes.drawn and not routes.alike

    @property
    def flows(self) -> int:
        """Connections over which a message is spread, each with a way of its own."""
        routes = self.fabric.routes
        return 1 if routes is None else routes.flows


def lay_out(fabric: Fabric, hosts: Sequence[int] | None = None) -> Layout:
    """Lays out the emulation of a fabric.

    Args:
        fabric: with routes.
        hosts: only these, and only what their routes use; None for the whole fabric.

    Raises:
        UsageError: no routes, hosts that cannot be reached, or too many of them.
    """
    chosen = tuple(range(fabric.hosts)) if hosts is None else tuple(hosts)
    if not 2 <= len(chosen) <= _MOST_HOSTS:
        raise UsageError(
            f"expected 2 to {_MOST_HOSTS:,} hosts to emulate, got {len(chosen):,}; "
            "contend emulate --hosts chooses some"
        )
    # It names hosts that have no address or cannot be reached.
    numbers = np.array(chosen, dtype=np.uint32)
    next_hops = None if fabric.routes is None else fabric.routes.next_hops(fabric, numbers)
    resolver = None
    if next_hops is None:
        tables_of(fabric)
        resolver = make_resolver(fabric, numbers, messages=0)
    switches = list(range(fabric.switches))
    cables = list(range(fabric.cables))
    if hosts is not None:
        used = _used(resolver, len(chosen)) if next_hops is None else _may_be_used(next_hops)
        cables = sorted({channel // 2 for channel in used})
        at_ends = (*fabric.cable_from[cables].tolist(), *fabric.cable_to[cables].tolist())
        switches = sorted({*at_ends, *fabric.host_switch[list(chosen)].tolist()})
    if len(switches) > _MOST_SWITCHES:
        raise UsageError(
            f"expected at most {_MOST_SWITCHES:,} switches to emulate, got {len(switches):,}; "
            "contend emulate --hosts chooses fewer hosts"
        )
    node_of = {switch: len(chosen) + index for index, switch in enumerate(switches)}
    both_ends = (*_cables(fabric, cables, node_of), *_host_cables(fabric, chosen, node_of))
    interfaces = {(end.node, end.index) for cable in both_ends for end in cable}
    return Layout(
        fabric=fabric,
        hosts=chosen,
        nodes=tuple(_nodes(fabric, chosen, switches)),
        cables=both_ends,
        resolver=resolver,
        parts=relative_rates(fabric),
        next_hops=next_hops,
        routes=tuple(
            tuple(
                route
                for route in (
                    _routes(fabric, tables_of(fabric), chosen, switch)
                    if next_hops is None
                    else _chosen_routes(fabric, next_hops, chosen, switch)
                )
                # Tables may name ports without a cable, for hosts that do not pass here.
                if all((node_of[switch], index) in interfaces for index in route.indices)
            )
            for switch in switches
        ),
    )


def host_labels(fabric: Fabric) -> tuple[str, ...]:
    """What launchers call the hosts of a fabric when all of them are emulated, in their order."""
    return tuple(machine_names(fabric.host_name, "host", _taken()))


def _taken() -> set[str]:
    """Host names that no node of a fabric may have; grows as names are given out."""
    return {MANAGEMENT, "localhost"}


def _switch_channels(resolver: Any, source: int, targets: Sequence[int]) -> list[int]:
    """The channels between switches that routes from a host go over, in their order."""
    sources = np.full(len(targets), source, dtype=np.uint32)
    channels: NDArray[np.uint32] = resolver.routes(sources, np.array(targets, dtype=np.uint32), 0)
    # What is padding has a number from switch_channels on.
    between: list[int] = channels[channels < resolver.switch_channels].tolist()
    return between


def _used(resolver: Any, hosts: int) -> Iterator[int]:
    """The channels between switches that routes between all hosts go over."""
    for source in range(hosts):
        targets = [target for target in range(hosts) if target != source]
        yield from _switch_channels(resolver, source, targets)


def _may_be_used(next_hops: NextHops) -> Iterator[int]:
    """The channels between switches that routes between all hosts may go over."""
    leaves = list(next_hops.leaf_row)
    for start in leaves:
        for leaf in leaves:
            yield from next_hops.between(start, leaf)


def _nodes(fabric: Fabric, hosts: Sequence[int], switches: Sequence[int]) -> Iterator[Node]:
    taken = _taken()
    host_labels = machine_names((fabric.host_name[host] for host in hosts), "host", taken)
    for index, (host, label) in enumerate(zip(hosts, host_labels, strict=True)):
        address, management = _host_address(index), str(MANAGEMENT_NETWORK[index + 1])
        yield Node(label, fabric.host_name[host], host, True, address, management)
    switch_labels = machine_names(
        (fabric.switch_name[switch] for switch in switches), "switch", taken
    )
    for index, (switch, label) in enumerate(zip(switches, switch_labels, strict=True)):
        address = str(_SWITCH_NETWORK[index + 1])
        yield Node(label, fabric.switch_name[switch], switch, False, address)


def _cables(
    fabric: Fabric, cables: Sequence[int], node_of: dict[int, int]
) -> Iterator[tuple[End, End]]:
    for cable in cables:
        near, far = int(fabric.cable_from[cable]), int(fabric.cable_to[cable])
        out, into = int(fabric.cable_from_port[cable]), int(fabric.cable_to_port[cable])
        yield (
            End(node_of[near], f"port{out}", _FIRST_PORT_INDEX + out, 2 * cable),
            End(node_of[far], f"port{into}", _FIRST_PORT_INDEX + into, 2 * cable + 1),
        )


def _host_cables(
    fabric: Fabric, hosts: Sequence[int], node_of: dict[int, int]
) -> Iterator[tuple[End, End]]:
    for node, host in enumerate(hosts):
        switch, port = int(fabric.host_switch[host]), int(fabric.host_port[host])
        injection = 2 * fabric.cables + host
        yield (
            End(node, FABRIC_INTERFACE, FABRIC_INDEX, injection),
            End(node_of[switch], f"port{port}", _FIRST_PORT_INDEX + port, injection + fabric.hosts),
        )


def _routes(
    fabric: Fabric, tables: ForwardingTables, hosts: Sequence[int], switch: int
) -> Iterator[RouteEntry]:
    lids = fabric.host_lid[list(hosts)]
    for index, port in enumerate(tables.ports[switch, lids].tolist()):
        # Port 0 is the switch itself.
        if port not in (0, NO_PORT):
            yield RouteEntry(_host_address(index), (_FIRST_PORT_INDEX + port,))


def _chosen_routes(
    fabric: Fabric, next_hops: NextHops, hosts: Sequence[int], switch: int
) -> Iterator[RouteEntry]:
    for index, host in enumerate(hosts):
        leaf = int(fabric.host_switch[host])
        if leaf == switch:
            ports = [int(fabric.host_port[host])]
        else:
            ports = [_port(fabric, channel) for channel in next_hops.channels(switch, leaf)]
        if ports:
            yield RouteEntry(
                _host_address(index), tuple(_FIRST_PORT_INDEX + port for port in ports)
            )


def _port(fabric: Fabric, channel: int) -> int:
    """The port of a switch at which a channel begins."""
    cable, back = divmod(channel, 2)
    return int((fabric.cable_to_port if back else fabric.cable_from_port)[cable])


def _host_address(index: int) -> str:
    return str(IPv4Address(int(FABRIC_NETWORK[0]) + index + 1))
