"""Forwarding tables: what a dump says, and how it becomes the routes of a fabric."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.errors import Argument, InputError, UsageError, legible
from contend.fabric import NO_SWITCH, Fabric, Finding
from contend.routes.addresses import addresses_of
from contend.routes.multipath.adaptive import AdaptiveTables, PortGroups
from contend.routes.routes import Routes
from contend.units import counted

NO_PORT = 0xFFFF


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
class ForwardingTables(Routes):
    """One forwarding table per switch, in the order of the fabric's switches.

    Attributes:
        ports: shape [switches, addresses], dtype uint16; entry [s, a] is the port by which switch
            s sends what is meant for address a. 0 is the switch itself, NO_PORT no entry.
            Addresses are the LIDs of the fabric (`Fabric.host_lid`, `Fabric.switch_lid`).
        lane: the virtual lane of all routes to an address, shape [addresses], dtype uint8; None
            where nothing is known of lanes or all are on the first.
    """

    ports: NDArray[np.uint16]
    lane: NDArray[np.uint8] | None = None
    _kept: list[_KeptResolver] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        ports = np.ascontiguousarray(self.ports, dtype=np.uint16)
        ports.flags.writeable = False
        object.__setattr__(self, "ports", ports)

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
        """Looks routes up in a table of all of them where that is small, else walks."""
        leaves = len(np.unique(fabric.host_switch[hosts]))
        pays = leaves * len(hosts) <= 4 * messages
        for kept in self._kept:
            if kept.serves(fabric, hosts, spread) and (kept.resolver.tabled or not pays):
                return kept.resolver
        addresses = (fabric.host_lid, fabric.host_lmc)
        without = hosts[fabric.host_lid[hosts] == 0]
        if len(without):
            name = fabric.host_name[int(without[0])]
            raise UsageError(
                f'host "{name}" has no address (LID) in the tables; leave it out with ',
                Argument("without"),
            )
        hops = _core.longest_route(fabric.core, self.ports, *addresses, hosts, spread)
        size = _core.tabled_bytes(fabric.core, *addresses, hosts, spread, hops)
        tabled = size <= _LARGEST_TABLE and pays
        resolver = _core.make_resolver(
            *(fabric.core, self.ports, *addresses, hosts, spread, hops, tabled)
        )
        if resolver.bytes <= _LARGEST_KEPT:
            self._kept[:] = [_KeptResolver(fabric.core, hosts.copy(), spread, resolver)]
        return resolver


@dataclass(frozen=True, eq=False)
class TableColumns:
    """Forwarding tables in the dump's order of switches.

    Attributes:
        switch_guid: node GUID of every switch, shape [switches].
        ports: shape [switches, addresses], dtype uint16; 0 is the switch itself, 0xFFFF stands
            where the dump has no entry. Addresses are LIDs, up to the highest that the dump names.
        owner_guid: the port GUID that the dump names as the owner of a LID, a switch's for its own
            LID; 0 where it names none. Shape [addresses].
        owner_kind: what it calls the kind of the owner, and
        owner_name: its name; "" where it tells none. Shape [addresses], or empty.
        notes: what the reader passed over and a person should know.
        groups: of ports, that entries may use instead of their own; None where none does.
    """

    switch_guid: NDArray[np.uint64]
    ports: NDArray[np.uint16]
    owner_guid: NDArray[np.uint64]
    owner_kind: tuple[str, ...] = ()
    owner_name: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    groups: PortGroups | None = None

    def without(self, switch_guid: NDArray[np.uint64]) -> TableColumns:
        """The tables of all other switches: those with these GUIDs are known to be elsewhere."""
        kept = ~np.isin(self.switch_guid, switch_guid)
        if kept.all():
            return self
        groups = None if self.groups is None else self.groups.of_switches(np.flatnonzero(kept))
        return replace(
            self, switch_guid=self.switch_guid[kept], ports=self.ports[kept], groups=groups
        )


_Indices = NDArray[np.int64]


@dataclass(frozen=True)
class _Addresses:
    """LIDs of hosts by the owners that a dump names."""

    lid: NDArray[np.uint32]
    lmc: NDArray[np.uint8]
    findings: tuple[Finding, ...]


def adopt(fabric: Fabric, tables: TableColumns, source: str) -> Fabric:
    """The fabric with these tables as its routes.

    Blocks belong to switches by GUID. Where the tables name the owner of an address, the owner
    counts, not the topology's LID, since the two may have been taken at different times: a host is
    known by its port GUID, or by node GUID plus adapter port, which ibsim makes of it. Where they
    name no owners, or strange ones, the topology's LIDs count. Whatever does not fit is a finding.

    Raises:
        InputError: none of the tables belongs to a switch of the fabric.
    """
    findings = [Finding("reader's note", note, wrong=False) for note in tables.notes]
    blocks = _blocks(fabric, tables, source, findings)
    ports, groups = _in_order(tables, blocks)
    addresses = _host_addresses(fabric, tables)
    changes = {
        "host_lid": addresses.lid,
        "host_lmc": addresses.lmc,
        "switch_lid": _switch_lids(fabric, tables),
        "findings": (*fabric.findings, *findings, *addresses.findings),
        "routes": ForwardingTables(ports),
    }
    routed = with_others_found(fabric.replace(**changes), tables)
    if groups is None:
        return routed
    adaptive = AdaptiveTables(ports, groups)
    return routed.replace(routes=adaptive, findings=(*routed.findings, *_mixed(adaptive)))


def _mixed(routes: AdaptiveTables) -> list[Finding]:
    """That hashed groups stand beside others, which are not drawn then."""
    hashed = routes.groups.hashed[routes.groups.of_entry] == 1
    if not routes.several or not hashed.any():
        return []
    text = (
        f"{counted(int(np.count_nonzero(hashed)), 'entry')} of the tables choose by a "
        "hash (HBF), others by the packet (Free): all split messages evenly here"
    )
    return [Finding("reader's note", text, wrong=False)]


def _blocks(fabric: Fabric, tables: TableColumns, source: str, findings: list[Finding]) -> _Indices:
    """Which table is that of every switch of the fabric; -1 where none is."""
    block_of = {
        guid: block for block, guid in reversed(list(enumerate(tables.switch_guid.tolist())))
    }
    blocks = np.array([block_of.get(guid, -1) for guid in fabric.switch_guid.tolist()])
    missing = np.flatnonzero(blocks < 0)
    if len(missing) == fabric.switches:
        expected = "tables of this fabric's switches"
        others = counted(len(block_of), "other switch") if block_of else "other parts"
        raise InputError(source, 0, expected, f"tables of {others}")
    if len(missing):
        some = _some([fabric.switch_label[switch] for switch in missing[:3].tolist()], len(missing))
        findings.append(
            Finding("no table", f"no table for {counted(len(missing), 'switch')}: {some}")
        )
    strange = sorted(set(block_of) - set(fabric.switch_guid.tolist()))
    if strange:
        some = _some([f"0x{guid:016x}" for guid in strange[:3]], len(strange))
        text = f"no switch of the fabric has the GUID of {counted(len(strange), 'table')}: {some}"
        findings.append(Finding("unknown switch", text))
    return blocks


def _in_order(
    tables: TableColumns, blocks: _Indices
) -> tuple[NDArray[np.uint16], PortGroups | None]:
    """Tables by these numbers; NO_PORT for a switch without any."""
    if len(blocks) == len(tables.ports) and np.array_equal(blocks, np.arange(len(blocks))):
        return tables.ports, tables.groups
    ports = tables.ports[blocks]
    ports[blocks < 0] = NO_PORT
    return ports, None if tables.groups is None else tables.groups.of_switches(blocks)


def _some(names: list[str], count: int) -> str:
    return ", ".join(f'"{name}"' for name in names) + (", ..." if count > len(names) else "")


def _host_addresses(fabric: Fabric, tables: TableColumns) -> _Addresses:
    owner = tables.owner_guid
    addresses = np.flatnonzero(owner)
    owners, first, count = np.unique(owner[addresses], return_index=True, return_counts=True)
    owned = _owned(fabric, owners)
    lid, lmc = fabric.host_lid.copy(), fabric.host_lmc.copy()
    known = np.flatnonzero(owned >= 0)
    # np.unique keeps the first of equal owners, which is the smallest address.
    base, number = addresses[first[owned[known]]], count[owned[known]]
    lid[known] = base
    lmc[known] = np.minimum(np.log2(number).astype(np.uint8), 7)
    odd = known[(number & (number - 1) != 0) | (number > 128) | ~_together(owner, base, number)]
    # An address that now is another's cannot be kept from the topology.
    claimed = np.concatenate([owners[owned[known]], fabric.switch_guid])
    inside = np.minimum(lid, max(len(owner) - 1, 0))
    taken = np.isin(owner[inside], claimed) if len(owner) else np.zeros(len(lid), dtype=bool)
    lost = np.flatnonzero((owned < 0) & (lid > 0) & (lid < len(owner)) & taken)
    lid[lost], lmc[lost] = 0, 0
    findings = []
    if len(odd):
        some = _some([fabric.host_name[host] for host in odd[:3].tolist()], len(odd))
        text = f"LIDs are no block of a power of two at {counted(len(odd), 'host')}: {some}"
        findings.append(Finding("odd addresses", text))
    if len(lost):
        some = _some([fabric.host_name[host] for host in lost[:3].tolist()], len(lost))
        text = f"in the tables others have the LIDs of {counted(len(lost), 'host')}: {some}"
        findings.append(Finding("no address", text))
    return _Addresses(lid, lmc, tuple(findings))


def _owned(fabric: Fabric, owners: NDArray[np.uint64]) -> _Indices:
    """Index into `owners` of every host, -1 where none is its.

    GUIDs of adapters often follow one another, so that node GUID + port of one is the port GUID of
    the next: the two ways must not be mixed, and that which finds more hosts is the dump's.
    """
    by_port = _positions(owners, fabric.host_port_guid)
    by_node = _positions(owners, fabric.host_guid + fabric.host_adapter_port.astype(np.uint64))
    first, second = by_port, by_node
    if np.count_nonzero(by_node >= 0) > np.count_nonzero(by_port >= 0):
        first, second = by_node, by_port
    owned = first.copy()
    free = np.setdiff1d(second[first < 0], first)
    more = (first < 0) & (second >= 0) & np.isin(second, free)
    owned[more] = second[more]
    return owned


def _positions(owners: NDArray[np.uint64], guids: NDArray[np.uint64]) -> _Indices:
    """Where each GUID is among the sorted owners; -1 for unknown GUIDs and those that share one."""
    if len(owners) == 0:
        return np.full(len(guids), -1, dtype=np.int64)
    position = np.minimum(np.searchsorted(owners, guids), len(owners) - 1).astype(np.int64)
    _, inverse, count = np.unique(guids, return_inverse=True, return_counts=True)
    known = (owners[position] == guids) & (guids != 0) & (count[inverse] == 1)
    return np.where(known, position, -1)


def with_others_found(fabric: Fabric, tables: TableColumns | None = None) -> Fabric:
    """The fabric with every address among the others that its tables lead to and nobody has.

    Such an address hangs where its entries leave the network, by a port without a cable to another
    switch. Where they do so in several places or in none, the topology may know its owner's.

    Args:
        fabric: with its tables, and the others that its topology tells.
        tables: the dump of these tables, which may name the owners.
    """
    assert fabric.tables is not None
    lids, switch, port = _unclaimed(fabric, fabric.tables.ports)
    owner = np.zeros(len(lids), dtype=np.uint64)
    told: dict[int, tuple[str, str]] = {}
    if tables is not None:
        owner = tables.owner_guid[lids]
        told = _words(tables, set(owner.tolist()) - {0})
    by_guid, by_lid = (
        {number: row for row, number in enumerate(column.tolist()) if number}
        for column in (fabric.other_guid, fabric.other_lid)
    )
    kinds, names = [], []
    for number, (lid, guid) in enumerate(zip(lids.tolist(), owner.tolist(), strict=True)):
        kind, name = told.get(guid, ("", ""))
        row = by_guid.get(guid) if guid else by_lid.get(lid)
        if row is not None:
            owner[number] = fabric.other_guid[row]
            kind, name = kind or fabric.other_kind[row], name or fabric.other_name[row]
            if switch[number] == NO_SWITCH:
                switch[number], port[number] = fabric.other_switch[row], fabric.other_port[row]
        kinds.append(kind)
        names.append(name)
    # What the tables say of an owner or a LID is all that there is of it.
    superseded = np.isin(fabric.other_lid, lids) | np.isin(fabric.other_guid, owner[owner > 0])
    kept = np.flatnonzero(~superseded)
    return fabric.replace(
        other_lid=np.append(lids, fabric.other_lid[kept]).astype(np.uint32),
        other_guid=np.append(owner, fabric.other_guid[kept]).astype(np.uint64),
        other_kind=(*kinds, *(fabric.other_kind[row] for row in kept.tolist())),
        other_name=(*names, *(fabric.other_name[row] for row in kept.tolist())),
        other_switch=np.append(switch, fabric.other_switch[kept]).astype(np.uint32),
        other_port=np.append(port, fabric.other_port[kept]).astype(np.uint16),
    )


def _unclaimed(
    fabric: Fabric, ports: NDArray[np.uint16]
) -> tuple[_Indices, NDArray[np.uint32], NDArray[np.uint16]]:
    """Addresses that have entries but are no host's and no switch's, and where each hangs."""
    free = np.ones(ports.shape[1], dtype=bool)
    free[0] = False
    judged = addresses_of(fabric)
    free[judged[judged < len(free)]] = False
    lids = np.flatnonzero(free)
    lids = lids[(ports[:, lids] != NO_PORT).any(axis=0)]
    columns = ports[:, lids]
    leaves = (columns != NO_PORT) & ~by_cable(fabric, columns)
    at = leaves.argmax(axis=0)
    once = np.count_nonzero(leaves, axis=0) == 1
    switch = np.where(once, at, NO_SWITCH).astype(np.uint32)
    return lids, switch, columns[at, np.arange(len(lids))]


def by_cable(fabric: Fabric, ports: NDArray[np.uint16]) -> NDArray[np.bool_]:
    """Which entries lead over a cable to a switch, shape [switches, any number]."""
    cabled = np.zeros((fabric.switches, int(fabric.switch_ports.max()) + 2), dtype=bool)
    cabled[fabric.cable_from, fabric.cable_from_port] = True
    cabled[fabric.cable_to, fabric.cable_to_port] = True
    known = np.minimum(ports, cabled.shape[1] - 1).astype(np.int64)
    return np.take_along_axis(cabled, known, axis=1)


def _words(tables: TableColumns, owners: set[int]) -> dict[int, tuple[str, str]]:
    """What the dump calls the kinds of owners and their names; some LIDs have only the owner."""
    return {
        guid: (legible(kind), legible(name))
        for guid, kind, name in zip(
            tables.owner_guid.tolist(), tables.owner_kind, tables.owner_name, strict=False
        )
        if kind and guid in owners
    }


def _together(owner: NDArray[np.uint64], base: _Indices, number: _Indices) -> NDArray[np.bool_]:
    """Whether the addresses of each owner follow one another."""
    last = np.minimum(base + number - 1, len(owner) - 1)
    changes = np.concatenate([[0], np.cumsum(owner[1:] != owner[:-1])])
    aligned = base % np.maximum(number, 1) == 0
    together: NDArray[np.bool_] = aligned & (changes[base] == changes[last])
    return together


def _switch_lids(fabric: Fabric, tables: TableColumns) -> NDArray[np.uint32]:
    addresses = np.flatnonzero(tables.owner_guid)
    owners, first = np.unique(tables.owner_guid[addresses], return_index=True)
    position = _positions(owners, fabric.switch_guid)
    lid = fabric.switch_lid.copy()
    lid[position >= 0] = addresses[first[position[position >= 0]]]
    return lid
