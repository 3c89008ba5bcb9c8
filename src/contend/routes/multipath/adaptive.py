"""Tables of adaptive routing: entries that leave the choice among several ports to the switch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import UnreachableError, UsageError
from contend.fabric import Fabric
from contend.routes.addresses import expect_addresses, targets_of
from contend.routes.routes import Round, Routes, RoutesLeft, Ways, unreachable

_MOST_GROUPS = 0xFFFF
_NO_PORT = 0xFFFF


@dataclass(frozen=True, eq=False)
class PortGroups:
    """Which entries of tables may use any port of a group instead of their own."""

    of_entry: NDArray[np.uint16]
    """Number of the group of every entry, shape [switches, addresses], dtype uint16; 0 where the
    entry's own port counts."""
    first: NDArray[np.uint32]
    """Where the ports of every group begin, and where those of the last end, shape [groups + 1].
    Group 0 is empty."""
    ports: NDArray[np.uint16]
    """Ports of all groups, those of each ascending."""
    hashed: NDArray[np.uint8]
    """Whether a switch chooses by a hash of the message (HBF, 1) or for every packet (Free, 0),
    shape [groups]."""

    def of_switches(self, switches: NDArray[np.int64]) -> PortGroups:
        """Those of some switches; of number -1, which stands for none, no entry has a group."""
        of_entry = self.of_entry[switches]
        of_entry[switches < 0] = 0
        return replace(self, of_entry=of_entry)

    def members(self, group: int) -> list[int]:
        """Ports of a group."""
        ports: list[int] = self.ports[self.first[group] : self.first[group + 1]].tolist()
        return ports

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of ports of every group, shape [groups]."""
        return self.first[1:].astype(np.int64) - self.first[:-1]

    @cached_property
    def used(self) -> NDArray[np.bool_]:
        """Which groups some entry has, shape [groups]."""
        used = np.bincount(self.of_entry.ravel(), minlength=len(self.hashed)) > 0
        used[0] = False
        return used


@dataclass(frozen=True, eq=False)
class AdaptiveTables(Routes):
    """Forwarding tables some of whose entries name a group of ports.

    A message splits evenly over the ports of a group where the switch chooses for every packet.
    Where all groups are hashed it takes one of the ports, drawn anew for every sample. In tables
    with both, hashed groups count as what many flows make of them, an even split.

    Ports of a group with nothing plugged in are left out, as switches see that they are down.
    """

    ports: NDArray[np.uint16]
    """Port of every entry, as in `ForwardingTables`."""
    groups: PortGroups
    """Entries that may use others."""
    engine: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ports", np.ascontiguousarray(self.ports, dtype=np.uint16))
        kind = "adaptive routing" if self._splits else "hashed routing"
        object.__setattr__(self, "engine", self.engine or kind)

    @cached_property
    def _splits(self) -> bool:
        return bool((self.groups.used & (self.groups.hashed == 0)).any())

    @property
    def ways(self) -> Ways:
        """Over all ports of the groups, or by a hash of what no two samples share."""
        return Ways.SPLIT if self._splits else Ways.DRAWN

    @property
    def grouped(self) -> AdaptiveTables:
        """These."""
        return self

    def resolver(
        self, fabric: Fabric, hosts: NDArray[np.uint32], *, spread: bool, messages: float
    ) -> _core.Resolver:
        """Counts messages in bulk that split alike, or chooses at every switch on the way."""
        if spread:
            raise UsageError(
                "tables of adaptive routing are followed to the first LID of every host alone"
            )
        expect_addresses(fabric, hosts)
        return self._followed(fabric, hosts, self._splits, asks_for_cut=False)[0]

    def _followed(
        self, fabric: Fabric, hosts: NDArray[np.uint32], splits: bool, *, asks_for_cut: bool
    ) -> tuple[_core.Resolver, NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint8]]:
        """As `RoutesLeft` has it; without `asks_for_cut` all must arrive."""
        addresses = (fabric.host_lid, fabric.host_lmc)
        return _core.grouped_resolver(
            fabric.core, *self._arrays, *addresses, hosts, not splits, asks_for_cut
        )

    def packet_routes(
        self, fabric: Fabric, hosts: NDArray[np.uint32], resolver: _core.Resolver, messages: Round
    ) -> _core.PacketRoutes:
        """Of a group the port where fewest packets wait, or what a hash of the message says."""
        addresses = (fabric.host_lid, fabric.host_lmc)
        ends = (hosts, messages.source, messages.target)
        return _core.packet_routes_by_groups(
            fabric.core, *self._arrays, self.groups.hashed, *addresses, *ends, messages.draw
        )

    def as_they_were(
        self, fabric: Fabric, hosts: NDArray[np.uint32], rest: _core.Remains
    ) -> RoutesLeft:
        """Switches take dead ports out of their groups."""
        died = np.flatnonzero(rest.channel_died()[::2])
        dead = [
            *zip(
                fabric.cable_from[died].tolist(), fabric.cable_from_port[died].tolist(), strict=True
            ),
            *zip(fabric.cable_to[died].tolist(), fabric.cable_to_port[died].tolist(), strict=True),
        ]
        left = self.without_ports(fabric, dead)
        return RoutesLeft(*left._followed(fabric, hosts, self._splits, asks_for_cut=True))

    def without_ports(self, fabric: Fabric, dead: Iterable[tuple[int, int]]) -> AdaptiveTables:
        """The same where ports have died, of which their switches learn by themselves.

        A group loses them. Where nothing is left of it that leads anywhere, an entry's own port
        counts, if that is alive.

        Args:
            fabric: with what these ports lead to, dead or alive.
            dead: switch and port of each.
        """
        of_switch: dict[int, set[int]] = {}
        for switch, port in dead:
            of_switch.setdefault(switch, set()).add(port)
        plugged = _ports_plugged(fabric, of_switch)
        ports, of_entry = self.ports.copy(), self.groups.of_entry.copy()
        members = [self.groups.members(group) for group in range(len(self.groups.hashed))]
        hashed = self.groups.hashed.tolist()
        known: dict[tuple[int, tuple[int, ...]], int] = {}
        for switch, gone in of_switch.items():
            ports[switch, np.isin(ports[switch], list(gone))] = _NO_PORT
            row = self.groups.of_entry[switch]
            for group in np.unique(row[row > 0]).tolist():
                if gone.isdisjoint(members[group]):
                    continue
                left = [port for port in members[group] if port not in gone]
                number = 0
                if not plugged[switch].isdisjoint(left):
                    key = (hashed[group], tuple(left))
                    number = known.setdefault(key, len(members))
                    if number == len(members):
                        members.append(left)
                        hashed.append(hashed[group])
                of_entry[switch, row == group] = number
        if len(members) > _MOST_GROUPS + 1:
            raise UsageError(f"more than {_MOST_GROUPS:,} different groups of ports are left")
        groups = PortGroups(
            of_entry=of_entry,
            first=np.cumsum([0, *map(len, members)]).astype(np.uint32),
            ports=np.array([port for each in members for port in each], dtype=np.uint16),
            hashed=np.array(hashed, dtype=np.uint8),
        )
        return replace(self, ports=ports, groups=groups)

    def follow(
        self, fabric: Fabric, examples: int
    ) -> tuple[_core.RouteCheck, int, list[int], NDArray[np.uint32]]:
        """Follows all ways of all routes.

        Returns:
            What `check_routes` of the core counts, the number of dependencies of channels, a circle
            of them, and for how many addresses a group has each channel between switches although
            it leads no nearer, shape [2 cables].
        """
        addresses = (fabric.host_lid, fabric.host_lmc)
        return _core.check_ways(fabric.core, *self._arrays, *addresses, examples)

    def ports_used(self, switch: int, address: int) -> list[int]:
        """The ports by which a switch may send what is meant for an address; none of no entry."""
        if address >= self.ports.shape[1]:
            return []
        group, port = int(self.groups.of_entry[switch, address]), int(self.ports[switch, address])
        if group:
            return self.groups.members(group)
        return [] if port == _NO_PORT else [port]

    @property
    def _arrays(
        self,
    ) -> tuple[NDArray[np.uint16], NDArray[np.uint16], NDArray[np.uint32], NDArray[np.uint16]]:
        groups = self.groups
        return self.ports, groups.of_entry, groups.first, groups.ports


def _ports_plugged(fabric: Fabric, switches: Iterable[int]) -> dict[int, set[int]]:
    """Ports of some switches that something is plugged into."""
    plugged: dict[int, set[int]] = {switch: set() for switch in switches}
    for ends, ports in (
        (fabric.cable_from, fabric.cable_from_port),
        (fabric.cable_to, fabric.cable_to_port),
        (fabric.host_switch, fabric.host_port),
    ):
        for switch in plugged:
            plugged[switch].update(ports[ends == switch].tolist())
    return plugged


def shortest_in_groups(fabric: Fabric, *, hashed: bool) -> AdaptiveTables:
    """Tables by which every switch may use all ports that begin a shortest way to a host's switch.

    An entry's own port is that of the engine ``minhop``; where only one begins a shortest way, it
    stands alone.

    Raises:
        UsageError: a host cannot be reached from another.
    """
    try:
        leaves, set_of, first, members = _core.next_hops(
            fabric.core, np.arange(fabric.hosts, dtype=np.uint32)
        )
    except UnreachableError as error:
        raise unreachable(fabric, error) from None
    ports = _core.minhop(fabric.core, targets_of(fabric))
    cable, back = members // 2, members % 2 == 1
    port_of = np.where(back, fabric.cable_to_port[cable], fabric.cable_from_port[cable])
    number = np.zeros(len(first) - 1, dtype=np.uint16)
    groups: dict[tuple[int, ...], int] = {}
    for each in range(1, len(first) - 1):
        some = port_of[first[each] : first[each + 1]]
        if len(some) > 1:
            group = groups.setdefault(tuple(np.sort(some).tolist()), len(groups) + 1)
            if group > _MOST_GROUPS:
                raise UsageError(
                    f"more than {_MOST_GROUPS:,} different groups of ports begin shortest paths"
                )
            number[each] = group
    row = np.zeros(fabric.switches, dtype=np.int64)
    row[leaves] = np.arange(len(leaves))
    of_entry = np.zeros_like(ports)
    for host in range(fabric.hosts):
        lid = int(fabric.host_lid[host])
        column = number[set_of[row[fabric.host_switch[host]]]]
        of_entry[:, lid : lid + (1 << int(fabric.host_lmc[host]))] = column[:, np.newaxis]
    sizes = [0, 0, *(len(some) for some in groups)]
    return AdaptiveTables(
        ports,
        PortGroups(
            of_entry=of_entry,
            first=np.cumsum(sizes).astype(np.uint32),
            ports=np.array([port for some in groups for port in some], dtype=np.uint16),
            hashed=np.array([0, *([int(hashed)] * len(groups))], dtype=np.uint8),
        ),
    )
