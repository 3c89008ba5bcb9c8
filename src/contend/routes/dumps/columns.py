"""What a dump of forwarding tables says, and how it becomes the routes of a fabric."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import InputError
from contend.base.units import counted
from contend.fabric import Fabric, Finding
from contend.routes.multipath.adaptive import AdaptiveTables, PortGroups
from contend.routes.others import with_others_found
from contend.routes.tables import NO_PORT, ForwardingTables


@dataclass(frozen=True, eq=False)
class TableColumns:
    """Forwarding tables in the dump's order of switches."""

    switch_guid: NDArray[np.uint64]
    """Node GUID of every switch, shape [switches]."""
    ports: NDArray[np.uint16]
    """Port of every entry, shape [switches, addresses], dtype uint16; 0 is the switch itself,
    0xFFFF stands where the dump has no entry. Addresses are LIDs, up to the highest that the dump
    names."""
    owner_guid: NDArray[np.uint64]
    """Port GUID that the dump names as the owner of a LID, a switch's for its own LID; 0 where it
    names none. Shape [addresses]."""
    owner_kind: tuple[str, ...] = ()
    """What the dump calls the kind of the owner; "" where it tells none. Shape [addresses], or
    empty."""
    owner_name: tuple[str, ...] = ()
    """Name of the owner; "" where the dump tells none. Shape [addresses], or empty."""
    notes: tuple[str, ...] = ()
    """What the reader passed over and a person should know."""
    groups: PortGroups | None = None
    """Groups of ports, that entries may use instead of their own; None where none does."""

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
    if routes.drawn or not hashed.any():
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
    for kind, text, hosts in (
        ("odd addresses", "LIDs are no block of a power of two at", odd),
        ("no address", "in the tables others have the LIDs of", lost),
    ):
        if len(hosts):
            some = _some([fabric.host_name[host] for host in hosts[:3].tolist()], len(hosts))
            findings.append(Finding(kind, f"{text} {counted(len(hosts), 'host')}: {some}"))
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
