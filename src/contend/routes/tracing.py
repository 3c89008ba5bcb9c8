"""Following one route through the forwarding tables, and saying what goes wrong on the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.errors import UsageError
from contend.fabric import Fabric
from contend.routes.routes import tables_of
from contend.routes.tables import NO_PORT


class TraceEnd(IntEnum):
    """How a walk through the forwarding tables ends; numbered as in the core."""

    DELIVERED = 0
    NO_ENTRY = 1
    DEAD_END = 2
    WRONG_HOST = 3
    LOOP = 4


@dataclass(frozen=True, eq=False)
class Route:
    """The route from one host to another.

    Attributes:
        fabric: where it leads through.
        source: number of the host where it starts.
        target: number of the host where it ends.
        channels: their numbers in order, those of both hosts included.
    """

    fabric: Fabric
    source: int
    target: int
    channels: tuple[int, ...]

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
    ports = tables_of(fabric).ports
    host = f'host "{fabric.host_name[target]}" (LID {address})'
    here = f'switch "{fabric.switch_label[switch]}"'
    met = "" if start == switch else f', on the way from switch "{fabric.switch_label[start]}"'
    if end == TraceEnd.LOOP:
        return f"{host} is sent in a circle: {_circle(fabric, ports, switch, address)}{met}"
    port = int(ports[switch, address]) if address < ports.shape[1] else NO_PORT
    if end == TraceEnd.NO_ENTRY:
        return f"{here} has no port for {host}{met}"
    if end == TraceEnd.WRONG_HOST:
        there = (fabric.host_switch == switch) & (fabric.host_port == port)
        other = fabric.host_name[int(np.flatnonzero(there)[0])]
        return f'{here} sends {host} to port {port}, where host "{other}" is{met}'
    where = "itself (port 0)" if port == 0 else f"port {port}, where nothing is plugged in"
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
