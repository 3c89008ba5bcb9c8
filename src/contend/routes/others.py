"""Entries for addresses that no engine routes to: aggregation nodes', routers', unknown owners'."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from contend.fabric import Fabric
from contend.routes.addresses import others_of, table_size
from contend.routes.tables import NO_PORT, ForwardingTables


def with_entries_kept(before: Fabric, routed: Fabric) -> Fabric:
    """A fabric that an engine has routed, with entries for others.

    They stay as they were. Others without any go the way of their switch's own address, or of a
    host's there where it has none, and leave it by their port.

    Args:
        before: the same fabric, with the tables that it had, if any.
        routed: with tables for hosts and switches; addresses may be new.
    """
    tables = routed.tables
    others = others_of(routed)
    if tables is None or len(others) == 0:
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
