from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_flow, shortest_path

from contend.fabric import Fabric


@pytest.fixture(scope="session")
def adjacency() -> Callable[[Fabric], NDArray[np.int64]]:
    """Number of cables between each pair of switches."""

    def count(fabric: Fabric) -> NDArray[np.int64]:
        shape = (fabric.switches, fabric.switches)
        ones = np.ones(fabric.cables, dtype=np.int64)
        one_way = coo_array((ones, (fabric.cable_from, fabric.cable_to)), shape=shape)
        return (one_way + one_way.T).toarray()

    return count


@pytest.fixture(scope="session")
def distances(
    adjacency: Callable[[Fabric], NDArray[np.int64]],
) -> Callable[[Fabric], NDArray[np.float64]]:
    """Cables on a shortest path between each pair of switches; infinite where there is none."""

    def measure(fabric: Fabric) -> NDArray[np.float64]:
        return shortest_path(adjacency(fabric), unweighted=True)

    return measure


@pytest.fixture(scope="session")
def flow_between_halves() -> Callable[[Fabric], int]:
    """Largest flow, in cables, from the leaves of the first half to those of the second.

    Every host of the first half is a source of one unit, every other host takes what arrives.
    """

    def flow(fabric: Fabric) -> int:
        hosts = np.bincount(fabric.host_switch, minlength=fabric.switches)
        leaves = np.flatnonzero(hosts)
        first, second = leaves[: len(leaves) // 2], leaves[len(leaves) // 2 :]
        source, sink = fabric.switches, fabric.switches + 1
        near, far = fabric.cable_from.astype(np.int64), fabric.cable_to.astype(np.int64)
        start = np.concatenate([near, far, np.full(len(first), source), second])
        end = np.concatenate([far, near, first, np.full(len(second), sink)])
        capacity = np.concatenate([np.ones(2 * len(near), int), hosts[first], hosts[second]])
        shape = (fabric.switches + 2, fabric.switches + 2)
        graph = coo_array((capacity.astype(np.int32), (start, end)), shape=shape).tocsr()
        return int(maximum_flow(graph, source, sink).flow_value)

    return flow
