"""Which entries of forwarding tables differ between two states of a network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from contend.fabric import Fabric
from contend.routes.routes import tables_of
from contend.routes.tables import NO_PORT


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
