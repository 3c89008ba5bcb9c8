"""Addresses that no engine routes to: aggregation nodes', routers', unknown owners'."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import legible
from contend.fabric import NO_SWITCH, Fabric
from contend.routes.addresses import addresses_of, others_of, table_size
from contend.routes.tables import NO_PORT, ForwardingTables, by_cable

if TYPE_CHECKING:
    from contend.routes.dumps.columns import TableColumns


def with_entries_kept(before: Fabric, routed: Fabric) -> Fabric:
    """A fabric that an engine has routed, with entries for others.

    They stay as they were. Others without any go the way of their switch's own address, or of a
    host's there where it has none, and leave it by their port.

    Args:
        before: the same fabric, with the tables that it had, if any.
        routed: with tables for hosts and switches; addresses may be new.
    """
    others = others_of(routed)
    # Tables are not asked for in vain: they may have to be made.
    if len(others) == 0 or (tables := routed.tables) is None:
        return routed
    width = max(table_size(routed), tables.addresses)
    ports = np.full((routed.switches, width), NO_PORT, dtype=np.uint16)
    ports[:, : tables.addresses] = tables.ports
    lids = routed.other_lid[others].astype(np.int64)
    ports[:, lids] = NO_PORT
    if before.tables is not None:
        had = before.other_lid[others].astype(np.int64)
        known = np.isin(others, others_of(before)) & (had < before.tables.addresses)
        ports[:, lids[known]] = before.tables.ports[:, had[known]]
    at = routed.other_switch[others]
    guide = _addresses_at(routed)[np.minimum(at, routed.switches)]
    new = (ports[:, lids] == NO_PORT).all(axis=0) & (guide > 0)
    ports[:, lids[new]] = ports[:, guide[new]]
    ports[at[new], lids[new]] = routed.other_port[others[new]]
    lane = None
    if tables.lane is not None:
        lane = np.zeros(width, dtype=np.uint8)
        lane[: tables.addresses] = tables.lane
        lane[lids[new]] = lane[guide[new]]
    kept: ForwardingTables = replace(tables, ports=ports, lane=lane)
    return routed.replace(routes=kept)


def _addresses_at(fabric: Fabric) -> np.ndarray:
    """An address that leads to every switch; 0 where none does, and for one that nobody knows."""
    address = np.zeros(fabric.switches + 1, dtype=np.int64)
    address[fabric.host_switch] = fabric.host_lid
    own = fabric.switch_lid > 0
    address[:-1][own] = fabric.switch_lid[own]
    return address


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
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint16]]:
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


def _words(tables: TableColumns, owners: set[int]) -> dict[int, tuple[str, str]]:
    """What the dump calls the kinds of owners and their names; some LIDs have only the owner."""
    return {
        guid: (legible(kind), legible(name))
        for guid, kind, name in zip(
            tables.owner_guid.tolist(), tables.owner_kind, tables.owner_name, strict=False
        )
        if kind and guid in owners
    }
