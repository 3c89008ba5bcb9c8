"""What is to be built: namespaces, cables, addresses and tables, before anything is touched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

import numpy as np

from contend.emulate.extent import Walks
from contend.emulate.names import MANAGEMENT, labels
from contend.errors import UsageError
from contend.fabric import Fabric
from contend.routes import NO_PORT, ForwardingTables, make_resolver

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


@dataclass(frozen=True)
class Node:
    """A namespace of the fabric: a host or a switch.

    Attributes:
        label: its host name.
        name: what the fabric calls it.
        number: of the host or switch in the fabric.
        is_host: or a switch.
        address: its own.
        management: a host's address on the management network; "" for a switch.
    """

    label: str
    name: str
    number: int
    is_host: bool
    address: str
    management: str = ""


@dataclass(frozen=True)
class End:
    """One end of a cable: an interface, and the channel that begins there."""

    node: int
    interface: str
    index: int
    channel: int


@dataclass(frozen=True)
class Route:
    """An entry of a switch's table: what is meant for an address leaves by an interface."""

    address: str
    index: int


@dataclass(frozen=True)
class Plan:
    """A fabric as namespaces.

    Attributes:
        fabric: what it is made of.
        hosts: numbers of the fabric's hosts that take part, in order.
        nodes: hosts in that order, then switches.
        cables: both ends of every cable, those of hosts included.
        routes: of every switch, in the order of the nodes behind the hosts.
    """

    fabric: Fabric
    hosts: tuple[int, ...]
    nodes: tuple[Node, ...]
    cables: tuple[tuple[End, End], ...]
    routes: tuple[tuple[Route, ...], ...]

    @property
    def host_nodes(self) -> tuple[Node, ...]:
        """The hosts."""
        return self.nodes[: len(self.hosts)]

    @property
    def ends(self) -> tuple[End, ...]:
        """Every channel's beginning, in the order of the channels."""
        ends = (end for cable in self.cables for end in cable)
        return tuple(sorted(ends, key=lambda end: end.channel))


def make_plan(fabric: Fabric, hosts: Sequence[int] | None = None) -> Plan:
    """Plans the emulation of a fabric.

    Args:
        fabric: with routes.
        hosts: only these, and only what their routes use; None for the whole fabric.

    Raises:
        UsageError: no routes, hosts that cannot be reached, or too many of them.
    """
    chosen = tuple(range(fabric.hosts)) if hosts is None else tuple(hosts)
    if not 2 <= len(chosen) <= _MOST_HOSTS:
        raise UsageError(
            f"{len(chosen)} hosts: expected 2 to {_MOST_HOSTS} to emulate; choose some with --hosts"
        )
    # It names hosts that have no address or cannot be reached.
    make_resolver(fabric, np.array(chosen, dtype=np.uint32), messages=0)
    assert fabric.routes is not None
    switches = list(range(fabric.switches))
    cables = list(range(fabric.cables))
    if hosts is not None:
        cables = sorted(Walks(fabric, fabric.routes).used_cables(chosen))
        at_ends = (*fabric.cable_from[cables].tolist(), *fabric.cable_to[cables].tolist())
        switches = sorted({*at_ends, *fabric.host_switch[list(chosen)].tolist()})
    if len(switches) > _MOST_SWITCHES:
        raise UsageError(f"{len(switches)} switches are too many to emulate; choose some --hosts")
    place = {switch: len(chosen) + at for at, switch in enumerate(switches)}
    planned = (*_cables(fabric, cables, place), *_host_cables(fabric, chosen, place))
    interfaces = {(end.node, end.index) for cable in planned for end in cable}
    return Plan(
        fabric=fabric,
        hosts=chosen,
        nodes=tuple(_nodes(fabric, chosen, switches)),
        cables=planned,
        routes=tuple(
            tuple(
                route
                for route in _routes(fabric, fabric.routes, chosen, switch)
                # Tables may name ports without a cable, for hosts that do not pass here.
                if (place[switch], route.index) in interfaces
            )
            for switch in switches
        ),
    )


def _nodes(fabric: Fabric, hosts: Sequence[int], switches: Sequence[int]) -> Iterator[Node]:
    taken = {MANAGEMENT, "localhost"}
    named = labels((fabric.host_name[host] for host in hosts), "host", taken)
    for at, (host, label) in enumerate(zip(hosts, named, strict=True)):
        address, management = _host_address(at), str(MANAGEMENT_NETWORK[at + 1])
        yield Node(label, fabric.host_name[host], host, True, address, management)
    named = labels((fabric.switch_name[switch] for switch in switches), "switch", taken)
    for at, (switch, label) in enumerate(zip(switches, named, strict=True)):
        address = str(_SWITCH_NETWORK[at + 1])
        yield Node(label, fabric.switch_name[switch], switch, False, address)


def _cables(
    fabric: Fabric, cables: Sequence[int], place: dict[int, int]
) -> Iterator[tuple[End, End]]:
    for cable in cables:
        near, far = int(fabric.cable_from[cable]), int(fabric.cable_to[cable])
        out, into = int(fabric.cable_from_port[cable]), int(fabric.cable_to_port[cable])
        yield (
            End(place[near], f"port{out}", _FIRST_PORT_INDEX + out, 2 * cable),
            End(place[far], f"port{into}", _FIRST_PORT_INDEX + into, 2 * cable + 1),
        )


def _host_cables(
    fabric: Fabric, hosts: Sequence[int], place: dict[int, int]
) -> Iterator[tuple[End, End]]:
    for at, host in enumerate(hosts):
        switch, port = int(fabric.host_switch[host]), int(fabric.host_port[host])
        injection = 2 * fabric.cables + host
        yield (
            End(at, FABRIC_INTERFACE, FABRIC_INDEX, injection),
            End(place[switch], f"port{port}", _FIRST_PORT_INDEX + port, injection + fabric.hosts),
        )


def _routes(
    fabric: Fabric, tables: ForwardingTables, hosts: Sequence[int], switch: int
) -> Iterator[Route]:
    lids = fabric.host_lid[list(hosts)]
    for at, port in enumerate(tables.ports[switch, lids].tolist()):
        # Port 0 is the switch itself.
        if port not in (0, NO_PORT):
            yield Route(_host_address(at), _FIRST_PORT_INDEX + port)


def _host_address(at: int) -> str:
    return str(IPv4Address(int(FABRIC_NETWORK[0]) + at + 1))
