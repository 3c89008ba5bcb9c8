"""Where the switches of a fabric stand in a picture: in levels for trees, else on a circle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, laplacian
from scipy.sparse.linalg import eigsh

from contend.fabric import Fabric, cables_per_pair, idle_switches, is_tree, switch_levels

# Levels that few cables join, such as a management corner, need little height.
_FEW, _LOW_GAP = 0.03, 0.3
_SMALL = 64


@dataclass(frozen=True, eq=False)
class Layout:
    """Places of the switches: in the unit square by levels, or on the unit circle.

    Attributes:
        x: shape [switches].
        y: shape [switches].
        level: of every switch, from 1, shape [switches].
        height: y of every level from 1 on, in units of a full gap; empty for a circle.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    level: NDArray[np.int64]
    height: tuple[float, ...]

    @property
    def is_tree(self) -> bool:
        """Whether the switches stand in levels."""
        return len(self.height) > 0


def without_idle(
    fabric: Fabric, load: NDArray[np.uint64] | None
) -> tuple[Fabric, NDArray[np.uint64] | None]:
    """What a picture needs: idle switches are left out, unless routes use them nevertheless."""
    kept = ~idle_switches(fabric)
    ends = np.stack([fabric.cable_from, fabric.cable_to])
    if load is not None:
        kept |= ~idle_switches(fabric, load)
    number = (np.cumsum(kept) - 1).astype(np.uint32)
    cables = kept[ends].all(axis=0)
    names = np.array(fabric.switch_name, dtype=object)
    drawn = fabric.replace(
        host_switch=number[fabric.host_switch],
        switch_name=tuple(names[kept]),
        switch_guid=fabric.switch_guid[kept],
        switch_system_guid=fabric.switch_system_guid[kept],
        switch_ports=fabric.switch_ports[kept],
        switch_lid=fabric.switch_lid[kept],
        cable_from=number[fabric.cable_from[cables]],
        cable_from_port=fabric.cable_from_port[cables],
        cable_to=number[fabric.cable_to[cables]],
        cable_to_port=fabric.cable_to_port[cables],
        cable_rate=fabric.cable_rate[cables],
        routes=None,
    )
    return drawn, None if load is None else load.reshape(-1, 2)[cables].ravel()


def place_switches(fabric: Fabric) -> Layout:
    """Places the switches. Deterministic."""
    # What reaches no host is drawn with the leaves.
    level = np.maximum(switch_levels(fabric), 1)
    low, high, _ = cables_per_pair(fabric)
    ends = (np.concatenate([low, high]), np.concatenate([high, low]))
    size = fabric.switches
    adjacency = csr_array((np.ones(2 * len(low)), ends), shape=(size, size))
    if len(low) and not is_tree(level, low, high):
        return _circle(level, adjacency, low, high)
    gaps = np.bincount(np.minimum(level[low], level[high]), minlength=int(level.max()))[1:]
    gap_heights = np.where(gaps < _FEW * gaps.max(initial=0), _LOW_GAP, 1.0)
    heights = np.concatenate([[0.0], np.cumsum(gap_heights[: int(level.max()) - 1])])
    x = _x_by_level(level, adjacency)
    return Layout(x, heights[level - 1], level, tuple(heights.tolist()))


def _x_by_level(level: NDArray[np.int64], adjacency: csr_array) -> NDArray[np.float64]:
    """Leaves side by side, those of a pod together; the switches above over their own leaves.

    A pod of level n is a part of what remains of the fabric below level n + 1.
    """
    top = int(level.max())
    pods = [_pods(level, adjacency, at) for at in range(1, top + 1)]
    leaves = np.flatnonzero(level == 1)
    leaves = leaves[np.lexsort((leaves, *(pod[leaves] for pod in pods)))]
    x = np.zeros(len(level))
    x[leaves] = (np.arange(len(leaves)) + 0.5) / len(leaves)
    for at in range(2, top + 1):
        pod = pods[at - 1]
        members = np.flatnonzero(level == at)
        below = adjacency[members] * (level < at)
        # Over the mean of what hangs below, so that lines cross less.
        mean = (below @ x) / np.maximum(np.asarray(below.sum(axis=1)).ravel(), 1)
        members = members[np.lexsort((members, np.round(mean, 9), pod[members]))]
        first_x = np.full(int(pod.max()) + 1, np.inf)
        last_x = np.full(int(pod.max()) + 1, -np.inf)
        np.minimum.at(first_x, pod[leaves], x[leaves])
        np.maximum.at(last_x, pod[leaves], x[leaves])
        count = np.bincount(pod[members], minlength=len(first_x))
        rank = np.arange(len(members)) - np.searchsorted(pod[members], pod[members])
        room = (last_x - first_x + 1 / len(leaves))[pod[members]]
        start = first_x[pod[members]] - 0.5 / len(leaves)
        x[members] = start + room * (rank + 0.5) / count[pod[members]]
    return x


def _pods(level: NDArray[np.int64], adjacency: csr_array, highest: int) -> NDArray[np.int64]:
    """Number of the part that every switch belongs to when those above a level are taken away."""
    kept = np.flatnonzero(level <= highest)
    labels = connected_components(adjacency[kept][:, kept], directed=False)[1]
    # Numbered in the order of their first switches, so that names stay in their order.
    first = np.full(int(labels.max()) + 1, len(level))
    np.minimum.at(first, labels, kept)
    pods = np.zeros(len(level), dtype=np.int64)
    pods[kept] = np.argsort(np.argsort(first))[labels]
    return pods


def _circle(
    level: NDArray[np.int64], adjacency: csr_array, low: NDArray[np.int64], high: NDArray[np.int64]
) -> Layout:
    """All on a circle, in the order (as given, or spectral) whose cables span less of it."""
    size = len(level)
    best, shortest = np.arange(size), np.inf
    for order in (np.arange(size), np.argsort(_spectral_angle(adjacency), kind="stable")):
        place = np.empty(size, dtype=np.int64)
        place[order] = np.arange(size)
        span = np.abs(place[low] - place[high])
        total = float(np.minimum(span, size - span).sum())
        if total < shortest:
            best, shortest = place, total
    angle = np.pi / 2 - 2 * np.pi * best / size
    return Layout(np.cos(angle), np.sin(angle), level, ())


def _spectral_angle(adjacency: csr_array) -> NDArray[np.float64]:
    """The angle in the plane of the two slowest modes: around it, joined switches are near."""
    size = adjacency.shape[0]
    matrix = laplacian(adjacency, normed=True)
    if size <= _SMALL:
        vectors = np.linalg.eigh(matrix.toarray())[1][:, :3]
    else:
        # The largest eigenvalues of 2 - L belong to the smallest of L, and are found far faster.
        twice = csr_array((np.full(size, 2.0), (np.arange(size), np.arange(size))))
        values, vectors = eigsh(twice - matrix, k=3, v0=np.linspace(1, 2, size))
        vectors = vectors[:, np.argsort(-values)]
    largest = np.abs(vectors).argmax(axis=0)
    vectors = vectors * np.sign(vectors[largest, np.arange(vectors.shape[1])])
    angle: NDArray[np.float64] = np.arctan2(vectors[:, -1], vectors[:, -2])
    return angle
