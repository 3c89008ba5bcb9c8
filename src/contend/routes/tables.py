"""Forwarding tables: what a dump says, and how it becomes the routes of a fabric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.fabric import Fabric, made_of
from contend.routes.addresses import expect_addresses
from contend.routes.multipath.adaptive import AdaptiveTables, PortGroups
from contend.routes.routes import Round, Routes, tables_of

NO_PORT = 0xFFFF


MOST_LANES = 15
"""Data lanes that InfiniBand has; the sixteenth carries management."""
# A route table up to this size is looked up faster than the forwarding tables are walked, even when
# it has left the caches.
_LARGEST_TABLE = 256 << 20
# Bytes of a resolver that may stay in memory, for who asks for the same next.
_LARGEST_KEPT = 32 << 20


@dataclass(frozen=True, eq=False)
class _KeptResolver:
    """The last resolver that tables made, and what for."""

    core: _core.Fabric
    hosts: NDArray[np.uint32]
    spread: bool
    resolver: _core.Resolver

    def serves(self, fabric: Fabric, hosts: NDArray[np.uint32], spread: bool) -> bool:
        """Whether it is for these hosts of this very fabric."""
        same = self.core is fabric.core and self.spread == spread
        return same and np.array_equal(self.hosts, hosts)


@dataclass(frozen=True, eq=False)
class _KeptLanes:
    """The lanes that tables were given between all hosts of a fabric."""

    core: _core.Fabric
    spread: bool
    place: NDArray[np.int64]
    row: NDArray[np.uint32]
    lane: NDArray[np.uint8]
    count: int

    def of(self, source: NDArray[np.uint32], target: NDArray[np.uint32]) -> NDArray[np.uint8]:
        """That of every message between hosts; none where one lane is enough."""
        if self.count == 1:
            return np.zeros(0, dtype=np.uint8)
        return self.lane[self.row[self.place[source]], self.place[target]]


@dataclass(frozen=True, eq=False)
class ForwardingTables(Routes):
    """One forwarding table per switch, in the order of the fabric's switches."""

    ports: NDArray[np.uint16]
    """Ports, shape [switches, addresses], dtype uint16; entry [s, a] is the port by which switch s
    sends what is meant for address a. 0 is the switch itself, NO_PORT no entry. Addresses are the
    LIDs of the fabric (`Fabric.host_lid`, `Fabric.switch_lid`)."""
    lane: NDArray[np.uint8] | None = None
    """Virtual lane of all routes to an address, shape [addresses], dtype uint8; None where nothing
    is known of lanes or all are on the first."""
    lane_by_pair: bool = False
    """Whether what made them assigns lanes by source and target, which it does not tell: they are
    then those of LASH's rule, each route on the lowest lane on which it closes no circle."""
    _kept: list[_KeptResolver] = field(default_factory=list, init=False, repr=False)
    _lanes: list[_KeptLanes] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        ports = np.ascontiguousarray(self.ports, dtype=np.uint16)
        ports.flags.writeable = False
        object.__setattr__(self, "ports", ports)

    def __reduce__(self) -> tuple[Any, ...]:
        return made_of(self)

    @property
    def switches(self) -> int:
        """Number of switches."""
        return int(self.ports.shape[0])

    @property
    def addresses(self) -> int:
        """Size of the address space, address 0 included."""
        return int(self.ports.shape[1])

    def of_switches(self, switches: NDArray[np.int64]) -> ForwardingTables:
        """The tables of some switches, by their numbers."""
        return replace(self, ports=self.ports[switches])

    @property
    def lanes(self) -> int:
        """Number of virtual lanes that the routes are spread over."""
        return 1 if self.lane is None else int(self.lane.max(initial=0)) + 1

    @property
    def tables(self) -> ForwardingTables:
        """These."""
        return self

    def in_groups(self, fabric: Fabric) -> AdaptiveTables:
        """These, and no entry has a group."""
        none = np.zeros(self.ports.shape, dtype=np.uint16)
        empty = np.zeros(0, dtype=np.uint16), np.zeros(1, dtype=np.uint8)
        return AdaptiveTables(self.ports, PortGroups(none, np.zeros(2, np.uint32), *empty))

    def resolver(
        self, fabric: Fabric, hosts: NDArray[np.uint32], *, spread: bool, messages: float
    ) -> _core.Resolver:
        """Looks routes up in a table of all of them, factored if large; else walks."""
        leaves = len(np.unique(fabric.host_switch[hosts]))
        pays = leaves * len(hosts) <= 4 * messages
        kept = [kept.resolver for kept in self._kept if kept.serves(fabric, hosts, spread)]
        for resolver in kept:
            if resolver.tabled or not pays:
                return resolver
        addresses = (fabric.host_lid, fabric.host_lmc)
        expect_addresses(fabric, hosts)
        # All routes have been followed where a resolver was made before.
        hops = (
            kept[0].stride
            if kept
            else _core.longest_route(fabric.core, self.ports, *addresses, hosts, spread)
        )
        most_bytes = _LARGEST_TABLE if pays else 0
        resolver = _core.stored_resolver(
            *(fabric.core, self.ports, *addresses, hosts, spread, hops, most_bytes)
        )
        if resolver.bytes <= _LARGEST_KEPT:
            self._kept[:] = [_KeptResolver(fabric.core, hosts.copy(), spread, resolver)]
        return resolver

    def lanes_taken(
        self, fabric: Fabric, hosts: NDArray[np.uint32], messages: Round
    ) -> NDArray[np.uint8]:
        """By target's address, or by source and target."""
        source, target = (hosts[end] for end in (messages.source, messages.target))
        if self.lane_by_pair:
            return self._by_pair(fabric, messages.spread).of(source, target)
        if self.lane is None:
            return super().lanes_taken(fabric, hosts, messages)
        address = fabric.host_lid[target].astype(np.int64)
        if messages.spread:
            count = np.left_shift(1, fabric.host_lmc[target].astype(np.int64))
            address += (messages.source.astype(np.int64) + messages.target) % count
        return np.ascontiguousarray(self.lane[address])

    def _by_pair(self, fabric: Fabric, spread: bool) -> _KeptLanes:
        """The lanes between all hosts with addresses, whichever of them send."""
        for kept in self._lanes:
            if kept.core is fabric.core and kept.spread == spread:
                return kept
        hosts = np.flatnonzero(fabric.host_lid > 0).astype(np.uint32)
        resolver = self.resolver(fabric, hosts, spread=spread, messages=np.inf)
        row, lane, count = _core.pair_lanes(fabric.core, resolver, hosts, spread, MOST_LANES)
        place = np.zeros(fabric.hosts, dtype=np.int64)
        place[hosts] = np.arange(len(hosts))
        by_row = lane.reshape(-1, len(hosts))
        self._lanes[:] = [_KeptLanes(fabric.core, spread, place, row, by_row, count)]
        return self._lanes[0]


def by_cable(fabric: Fabric, ports: NDArray[np.uint16]) -> NDArray[np.bool_]:
    """Which entries lead over a cable to a switch, shape [switches, any number]."""
    cabled = np.zeros((fabric.switches, int(fabric.switch_ports.max()) + 2), dtype=bool)
    cabled[fabric.cable_from, fabric.cable_from_port] = True
    cabled[fabric.cable_to, fabric.cable_to_port] = True
    known = np.minimum(ports.astype(np.int64), cabled.shape[1] - 1)
    return np.take_along_axis(cabled, known, axis=1)


def changed_ports(
    old: Fabric,
    new: Fabric,
    switches: Sequence[tuple[int, int]],
    hosts: Sequence[tuple[int, int]],
) -> NDArray[np.int64]:
    """How many entries for hosts differ at every switch, shape [switches].

    Args:
        old: with its tables.
        new: with its own; LIDs may be others.
        switches: numbers before and after of switches that both have.
        hosts: the same of hosts; the entries for their first LIDs are compared.

    Raises:
        UsageError: one of them has no tables.
    """
    before, after = (
        _entries(fabric, [pair[end] for pair in switches], [pair[end] for pair in hosts])
        for end, fabric in enumerate((old, new))
    )
    counts: NDArray[np.int64] = np.count_nonzero(before != after, axis=1)
    return counts


def _entries(fabric: Fabric, switches: list[int], hosts: list[int]) -> NDArray[np.uint16]:
    """Ports by which switches forward to hosts, shape [switches, hosts]."""
    ports = tables_of(fabric).ports
    lids = fabric.host_lid[hosts].astype(np.int64)
    known = (lids > 0) & (lids < ports.shape[1])
    entries = np.full((len(switches), len(hosts)), NO_PORT, dtype=np.uint16)
    entries[:, known] = ports[np.ix_(switches, lids[known])]
    return entries
