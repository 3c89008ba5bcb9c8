"""Following one route through the forwarding tables, and saying what goes wrong on the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import UsageError
from contend.fabric import Fabric
from contend.routes.multipath.adaptive import AdaptiveTables
from contend.routes.routes import tables_of


class TraceEnd(IntEnum):
    """How a walk through the forwarding tables ends; numbered as in the core."""

    DELIVERED = 0
    NO_ENTRY = 1
    DEAD_END = 2
    WRONG_HOST = 3
    LOOP = 4


@dataclass(frozen=True, eq=False)
class Route:
    """The route from one host to another."""

    fabric: Fabric
    """Fabric through which it leads."""
    source: int
    """Number of the host where it starts."""
    target: int
    """Number of the host where it ends."""
    channels: tuple[int, ...]
    """Numbers of its channels in order, those of both hosts included."""

    def __len__(self) -> int:
        return len(self.channels)

    def __iter__(self) -> Iterator[str]:
        """The channels by name."""
        return map(self.fabric.channel_name, self.channels)

    def __repr__(self) -> str:
        names = self.fabric.host_name
        head = f"route of {len(self)} channels from {names[self.source]} to {names[self.target]}"
        return "\n  ".join((head, *self))


def find_route(fabric: Fabric, source: int, target: int) -> Route:
    """The route from a host to another, by their numbers, to the target's first address.

    Raises:
        UsageError: the fabric has no routes, both hosts are one, or the route does not arrive.
    """
    ports = tables_of(fabric).ports
    if source == target:
        raise UsageError(f'expected two hosts, got "{fabric.host_name[source]}" twice')
    address = int(fabric.host_lid[target])
    if not address:
        raise UsageError(f'host "{fabric.host_name[target]}" has no address (LID) in the tables')
    start = int(fabric.host_switch[source])
    end, switch, between = _core.trace_route(fabric.core, ports, start, target, address)
    if end != TraceEnd.DELIVERED:
        raise UsageError(describe_fault(fabric, end, switch, start, target, address))
    injection = 2 * fabric.cables + source
    ejection = 2 * fabric.cables + fabric.hosts + target
    return Route(fabric, source, target, (injection, *between, ejection))


def describe_fault(
    fabric: Fabric, end: int, switch: int, start: int, target: int, address: int
) -> str:
    """What goes wrong on the way to a host, with names.

    Args:
        fabric: with routes.
        end: how the walk ends; see `TraceEnd`.
        switch: where it ends.
        start: where it starts.
        target: number of the host.
        address: of the host.
    """
    host = f'host "{fabric.host_name[target]}" (LID {address})'
    here = f'switch "{fabric.switch_label[switch]}"'
    met = "" if start == switch else f', on the way from switch "{fabric.switch_label[start]}"'
    if end == TraceEnd.LOOP and _grouped(fabric) is not None:
        return f"{host} is sent in a circle through {here}{met}"
    if end == TraceEnd.LOOP:
        circle = _circle(fabric, tables_of(fabric).ports, switch, address)
        return f"{host} is sent in a circle: {circle}{met}"
    if end == TraceEnd.NO_ENTRY:
        return f"{here} has no port for {host}{met}"
    ports = _ports_used(fabric, switch, address)
    if end == TraceEnd.WRONG_HOST:
        port = next(port for port in ports if _host_behind(fabric, switch, port) is not None)
        other = fabric.host_name[_host_behind(fabric, switch, port) or 0]
        return f'{here} sends {host} to port {port}, where host "{other}" is{met}'
    listed = f"port{'s' if len(ports) > 1 else ''} {', '.join(map(str, ports))}"
    where = "itself (port 0)" if ports == [0] else f"{listed}, where nothing is plugged in"
    return f"{here} sends {host} to {where}{met}"


def _circle(fabric: Fabric, ports: NDArray[np.uint16], start: int, address: int) -> str:
    """The switches of a loop from one of them back to it; of long ones both ends."""
    names, switch = [fabric.switch_label[start]], start
    while len(names) == 1 or switch != start:
        channel = fabric.core.out(switch, int(ports[switch, address]))
        cable, back = divmod(channel, 2)
        switch = int((fabric.cable_from if back else fabric.cable_to)[cable])
        names.append(fabric.switch_label[switch])
    if len(names) > 8:
        names[4:-3] = ["..."]
    return " -> ".join(name if name == "..." else f'switch "{name}"' for name in names)


def _grouped(fabric: Fabric) -> AdaptiveTables | None:
    return None if fabric.routes is None else fabric.routes.grouped


def _ports_used(fabric: Fabric, switch: int, address: int) -> list[int]:
    """The ports of a switch's entry, by any of which it may send."""
    if (grouped := _grouped(fabric)) is not None:
        return grouped.ports_used(switch, address)
    return [int(tables_of(fabric).ports[switch, address])]


def _host_behind(fabric: Fabric, switch: int, port: int) -> int | None:
    """The host that a port of a switch leads to."""
    there = np.flatnonzero((fabric.host_switch == switch) & (fabric.host_port == port))
    return int(there[0]) if len(there) else None
