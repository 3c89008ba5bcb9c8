"""Following routes: messages between hosts in, channels out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.errors import UnreachableError, UsageError
from contend.fabric import Fabric
from contend.routes.hashed import HashedRoutes
from contend.routes.tables import NO_PORT, tables_of

# A route table up to this size is looked up faster than the forwarding tables are walked, even when
# it has left the caches.
_LARGEST_TABLE = 256 << 20


def make_resolver(
    fabric: Fabric,
    hosts: NDArray[np.uint32],
    *,
    spread: bool = False,
    messages: float = np.inf,
    draws: bool = False,
) -> _core.Resolver:
    """Prepares the routes between hosts: a route table where it is small, else table walks.

    Args:
        fabric: with routes.
        hosts: the hosts that take part, shape [places], each once.
        spread: use all addresses of hosts with LMC > 0 in turn instead of the first.
        messages: how many are expected; a table that costs more than it saves is not built.
        draws: the caller says of every message which drawing it takes, where routes are drawn. For
            all others one drawing would stand for the fabric's routes, so these are refused.

    Raises:
        UsageError: when the fabric has no routes, or drawn ones that the caller does not draw, or a
            host cannot be reached.
    """
    if fabric.draws_routes and not draws:
        assert fabric.routes is not None
        raise UsageError(
            f"routes by {fabric.routes.engine} are drawn anew for every sample, and this needs "
            "routes that stay: give routes=FILE or another route=ENGINE"
        )
    if isinstance(fabric.routes, HashedRoutes):
        return _make_hashed_resolver(fabric, hosts, spread)
    ports = tables_of(fabric).ports
    addresses = (fabric.host_lid, fabric.host_lmc)
    without = hosts[fabric.host_lid[hosts] == 0]
    if len(without):
        name = fabric.host_name[int(without[0])]
        raise UsageError(
            f'host "{name}" has no address (LID) in the tables; leave it out with without='
        )
    try:
        hops = _core.longest_route(fabric.core, ports, *addresses, hosts, spread)
        size = _core.tabled_bytes(fabric.core, *addresses, hosts, spread, hops)
        leaves = len(np.unique(fabric.host_switch[hosts]))
        tabled = size <= _LARGEST_TABLE and leaves * len(hosts) <= 4 * messages
        return _core.make_resolver(fabric.core, ports, *addresses, hosts, spread, tabled)
    except UnreachableError as error:
        raise UsageError(_sentence(fabric, error)) from None


def _make_hashed_resolver(
    fabric: Fabric, hosts: NDArray[np.uint32], spread: bool
) -> _core.Resolver:
    if spread:
        raise UsageError(
            "ecmp draws routes between hosts: they have no further LIDs to spread over"
        )
    try:
        return _core.make_hashed_resolver(fabric.core, hosts)
    except UnreachableError as error:
        raise UsageError(_no_way(fabric, error)) from None


def _no_way(fabric: Fabric, error: UnreachableError) -> str:
    return (
        f'host "{fabric.host_name[error.host]}" cannot be reached from switch '
        f'"{fabric.switch_label[error.start]}", which {error.why}; {_way_out(fabric, error)}'
    )


@dataclass(frozen=True, eq=False)
class NextHops:
    """Where hashed routes may lead: the channels that begin a shortest way to switches with hosts.

    Attributes:
        fabric: where they lead through.
        leaf_row: row of every such switch.
        set_of: number of the set that leads to them, shape [leaves, switches]; that of an empty one
            at the leaf itself, and where no way leads there.
        first: where every set begins among the members, and where the last one ends.
        members: channels.
    """

    fabric: Fabric
    leaf_row: dict[int, int]
    set_of: NDArray[np.uint32]
    first: NDArray[np.uint32]
    members: NDArray[np.uint32]

    def channels(self, switch: int, leaf: int) -> list[int]:
        """The channels by which a switch sends what is meant for a host on another, each alike."""
        number = int(self.set_of[self.leaf_row[leaf], switch])
        members: list[int] = self.members[self.first[number] : self.first[number + 1]].tolist()
        return members

    def between(self, start: int, leaf: int) -> list[int]:
        """All channels that a route from a switch to another may cross, each once."""
        crossed, seen, waiting = [], {start}, [start]
        while waiting:
            for channel in self.channels(waiting.pop(), leaf):
                crossed.append(channel)
                cable, back = divmod(channel, 2)
                end = int((self.fabric.cable_from if back else self.fabric.cable_to)[cable])
                if end not in seen:
                    seen.add(end)
                    waiting.append(end)
        return crossed


def next_hops(fabric: Fabric, hosts: NDArray[np.uint32]) -> NextHops:
    """The channels that hashed routes between hosts may take.

    Raises:
        UsageError: when one of them cannot be reached from another.
    """
    try:
        leaves, set_of, first, members = _core.next_hops(fabric.core, hosts)
    except UnreachableError as error:
        raise UsageError(_no_way(fabric, error)) from None
    row = {leaf: number for number, leaf in enumerate(leaves.tolist())}
    return NextHops(fabric, row, set_of, first, members)


def _sentence(fabric: Fabric, error: UnreachableError) -> str:
    target = f'host "{fabric.host_name[error.host]}" (LID {error.address})'
    start = f'switch "{fabric.switch_label[error.start]}"'
    end = f'switch "{fabric.switch_label[error.end]}"'
    return f"{target} cannot be reached from {start}: {end} {error.why}; {_way_out(fabric, error)}"


def _way_out(fabric: Fabric, error: UnreachableError) -> str:
    """What to do where a host cannot be reached; loading a fabric offers all of it."""
    part = fabric.switch_part
    if part[error.start] != part[fabric.host_switch[error.host]]:
        return "no cables join them: choose one part of the fabric with part="
    return "see contend fabric check, or leave the host out with without="


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
