"""Orders in which ranks can fill a fabric's hosts."""

from __future__ import annotations

import re
from collections import deque

import numpy as np
from numpy.typing import NDArray

from contend.fabric import Fabric

_DIGITS = re.compile(r"(\d+)")


def by_name(fabric: Fabric) -> NDArray[np.uint32]:
    """Hosts in natural order of their names (node9 before node10), then by GUID and port."""
    guid = fabric.host_guid.tolist()
    port = fabric.host_adapter_port.tolist()
    keys = [(_natural(name), guid[h], port[h], h) for h, name in enumerate(fabric.host_name)]
    return np.array([key[-1] for key in sorted(keys)], dtype=np.uint32)


def by_guid(fabric: Fabric) -> NDArray[np.uint32]:
    """Hosts by the GUID of their adapter, then by its port."""
    return np.lexsort((fabric.host_adapter_port, fabric.host_guid)).astype(np.uint32)


def breadth_first(fabric: Fabric) -> NDArray[np.uint32]:
    """Hosts as a breadth-first walk over the switches meets them.

    The walk starts at the leaf of the first host by name and takes cables by port number, so hosts
    that are few switches apart come near each other. What cannot be reached from there follows,
    from its own first host by name.
    """
    neighbours = _neighbours(fabric)
    visited = np.zeros(fabric.switches, dtype=bool)
    rank_of_switch = np.zeros(fabric.switches, dtype=np.int64)
    visits = 0
    for start in fabric.host_switch[by_name(fabric)].tolist():
        if visited[start]:
            continue
        visited[start] = True
        queue = deque([start])
        while queue:
            switch = queue.popleft()
            rank_of_switch[switch] = visits
            visits += 1
            for neighbour in neighbours[switch]:
                if not visited[neighbour]:
                    visited[neighbour] = True
                    queue.append(neighbour)
    order = np.lexsort((fabric.host_port, rank_of_switch[fabric.host_switch]))
    return order.astype(np.uint32)


def round_robin(fabric: Fabric) -> NDArray[np.uint32]:
    """Hosts leaf by leaf in turn: the first of every leaf, then the second of every leaf.

    Leaves come in the order of their first host by name, hosts on a leaf by name.
    """
    turn_of_leaf: dict[int, int] = {}
    taken: dict[int, int] = {}
    keys = []
    for host in by_name(fabric).tolist():
        leaf = int(fabric.host_switch[host])
        turn = turn_of_leaf.setdefault(leaf, len(turn_of_leaf))
        lap = taken.get(leaf, 0)
        taken[leaf] = lap + 1
        keys.append((lap, turn, host))
    return np.array([key[-1] for key in sorted(keys)], dtype=np.uint32)


ORDERS = {
    "linear": by_name,
    "guid": by_guid,
    "bfs": breadth_first,
    "round-robin": round_robin,
}
"""The orders by the name that a specification gives them."""


def _natural(name: str) -> tuple[tuple[str, int, str, str], ...]:
    """Sort key in which numbers count as numbers; equal numbers fall back to their spelling."""
    # Split alternates text and digits, text first. Numbers are compared as text of equal length,
    # so names of many digits cost nothing.
    parts = [*_DIGITS.split(name), ""]
    return tuple(
        (text, len(number := digits.lstrip("0")), number, digits)
        for text, digits in zip(parts[::2], parts[1::2], strict=True)
    )


def _neighbours(fabric: Fabric) -> list[list[int]]:
    """Neighbouring switches of every switch, by port."""
    ends = np.concatenate((fabric.cable_from, fabric.cable_to)).astype(np.int64)
    ports = np.concatenate((fabric.cable_from_port, fabric.cable_to_port))
    peers = np.concatenate((fabric.cable_to, fabric.cable_from))
    order = np.lexsort((ports, ends))
    bounds = np.searchsorted(ends[order], np.arange(fabric.switches + 1))
    peers = peers[order]
    return [peers[bounds[s] : bounds[s + 1]].tolist() for s in range(fabric.switches)]
