"""Which hosts belong to one server: a server with several adapters or ports has several hosts."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from contend.fabric.fabric import Fabric

# What drivers and subnet managers append to a server's name: mlx5_0, HCA-2, hfi1_0, ib0, qib1.
_ADAPTER = re.compile(r"(?:[a-z]+\d*_\d+|HCA-?\d+|ib\d+|qib\d+)", re.IGNORECASE)


def servers_of(fabric: Fabric) -> NDArray[np.int64]:
    """Number of the server of every host, shape [hosts]; servers count from 0 in order of hosts.

    Hosts share a server when they share the adapter, when their adapters report the same system
    GUID, or when the adapters' descriptions differ only in a last word that names an adapter, such
    as ``luna-0164 mlx5_1``. A description that two adapters carry whole is generic (``localhost
    mlx5_0``) and says nothing.
    """
    same: dict[tuple[str, object], list[int]] = {}
    for host, (guid, system) in enumerate(
        zip(fabric.host_guid.tolist(), fabric.host_system_guid.tolist(), strict=True)
    ):
        for key in (("adapter", guid), ("system", system)):
            if key[1]:
                same.setdefault(key, []).append(host)
    for name, members in _by_name(fabric).items():
        same[("name", name)] = members
    groups = [members for members in same.values() if len(members) > 1]
    first = np.repeat([members[0] for members in groups], [len(members) for members in groups])
    other = np.array([host for members in groups for host in members], dtype=np.int64)
    joined = coo_array(
        (np.ones(len(other), dtype=np.int8), (first.astype(np.int64), other)),
        shape=(fabric.hosts, fabric.hosts),
    )
    labels = connected_components(joined.tocsr(), directed=False)[1]
    first_seen, inverse = np.unique(labels, return_index=True, return_inverse=True)[1:]
    order = np.argsort(np.argsort(first_seen))
    numbered: NDArray[np.int64] = order[inverse]
    return numbered


def _by_name(fabric: Fabric) -> dict[str, list[int]]:
    """Hosts by the server's name that their descriptions begin with, where one does."""
    adapters: dict[str, set[int]] = {}
    members: dict[str, list[int]] = {}
    for host, name in enumerate(fabric.host_name):
        words = name.split()
        if len(words) > 1 and _ADAPTER.fullmatch(words[-1]):
            adapters.setdefault(" ".join(words), set()).add(int(fabric.host_guid[host]))
            members.setdefault(" ".join(words[:-1]), []).append(host)
    shared = Counter(
        whole.rpartition(" ")[0] for whole, guids in adapters.items() if len(guids) > 1
    )
    return {server: hosts for server, hosts in members.items() if server not in shared}
