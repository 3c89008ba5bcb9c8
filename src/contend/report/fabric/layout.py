"""Where the switches of a tree stand: in levels, hosts below."""

from __future__ import annotations

import numpy as np
from matplotlib.path import Path
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from contend.base.names import natural
from contend.base.units import counted
from contend.fabric import Fabric, short_names
from contend.report.fabric.scene import (
    LEAST_PITCH,
    LEFT,
    TINY,
    Label,
    Scene,
    adjacency_of,
    lines_of_pairs,
    longest,
    shortened,
)

# Levels that few cables join, such as a management corner, need little height.
_FEW, _LOW_GAP, _GAP = 0.03, 0.55, 1.75
HOST = "#0072B2"


def leveled(fabric: Fabric, level: NDArray[np.int64], right: float) -> Scene:
    """Levels one above the other, hosts below the lowest.

    Args:
        fabric: a tree.
        level: of every switch, from 1, shape [switches].
        right: the edge of the drawing.
    """
    low, high, line_of = lines_of_pairs(fabric.cable_from, fabric.cable_to, fabric.switches)
    adjacency = adjacency_of(fabric.switches, low, high)
    top = int(level.max())
    names = [shortened(name) for name in short_names(fabric)]
    rows = [np.flatnonzero(level == at) for at in range(1, top + 1)]
    order = sorted(range(fabric.switches), key=lambda s: natural(fabric.switch_label[s]))
    rank = np.argsort(order)
    x = LEFT + x_by_level(level, adjacency, rank) * (right - LEFT)
    # The least distance of two neighbours of a level.
    pitch = [float(np.diff(np.sort(x[row])).min(initial=right - LEFT)) for row in rows]
    side = float(np.clip(0.6 * min(pitch), 0.02, 0.12))
    wide = [longest([names[switch] for switch in row.tolist()]) for row in rows]
    flat = [width + 0.06 <= room for width, room in zip(wide, pitch, strict=True)]
    named = [room >= LEAST_PITCH for room in pitch]
    # Below the leaves are hosts, then names; above the top switches their names.
    bottom = 0.42 + (0.15 if flat[0] else wide[0] + 0.05) * named[0]
    gaps = np.bincount(np.minimum(level[low], level[high]), minlength=top + 1)[1:top]
    full = _GAP if len(low) > 12 else 1.2
    steps = np.where(gaps < _FEW * gaps.max(initial=0), _LOW_GAP, full)
    steps += (
        np.array(
            [
                0 if at or not some else width
                for at, some, width in zip(flat[1:], named[1:], wide[1:], strict=True)
            ]
        )
        * 0.6
    )
    if top > 1 and named[-1]:
        # The highest names stand above, not between.
        steps[-1] = _LOW_GAP if gaps[-1] < _FEW * gaps.max(initial=0) else full
    heights = bottom + np.concatenate([[0.0], np.cumsum(steps)])
    above = 0.15 + ((0.12 if flat[-1] else wide[-1]) if named[-1] and top > 1 else 0)
    y = heights[level - 1]
    labels = [
        label for at in range(top) for label in _row_words(fabric, level, at + 1, heights[at])
    ]
    hosts_at = np.bincount(fabric.host_switch, minlength=fabric.switches)
    for at, row in enumerate(rows):
        where = "below" if at == 0 else "above" if at == top - 1 else "middle"
        labels += [
            _beside(names[switch], x[switch], y[switch], side, flat[at], where)
            for switch in (row.tolist() if named[at] else [])
        ]
        for switch in row[hosts_at[row] > 0].tolist() if at else []:
            count = counted(int(hosts_at[switch]), "host")
            labels.append(
                Label(
                    x[switch] + side / 2 + 0.03, y[switch], count, 0, "left", "center", HOST, TINY
                )
            )
    place = np.stack([x, y], axis=1)
    towards = np.tile([0.0, -1.0], (fabric.switches, 1))
    towards[level > 1] = 0
    return Scene(
        height=float(heights[-1]) + above,
        place=place,
        side=side,
        towards=towards,
        host_room=0.8 * (right - LEFT) / max(len(rows[0]), 1),
        lines=[Path(ends) for ends in np.stack([place[low], place[high]], axis=1)],
        line_of=line_of,
        labels=labels,
    )


def _row_words(fabric: Fabric, level: NDArray[np.int64], at: int, y: float) -> list[Label]:
    here = int(np.count_nonzero(level == at))
    words = [Label(LEFT - 0.12, y, counted(here, "switch"), 0, "right")]
    if at == 1:
        hosts = counted(int(np.count_nonzero(level[fabric.host_switch] == 1)), "host")
        words.append(Label(LEFT - 0.12, y - 0.27, hosts, 0, "right", "center", HOST))
    return words


def _beside(name: str, x: float, y: float, side: float, flat: bool, where: str) -> Label:
    rotation = 0.0 if flat else 90.0
    if where == "below":
        return Label(x, y - 0.36, name, rotation, "center", "top")
    if where == "above":
        return Label(x, y + side / 2 + 0.03, name, rotation, "center", "bottom")
    return Label(x, y - side / 2 - 0.03, name, rotation, "center", "top")


def x_by_level(
    level: NDArray[np.int64], adjacency: csr_array, rank: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Leaves side by side, those of a pod together; the switches above over their own leaves.

    Those of a pod in the order of `rank`. A pod of level n is a part of what remains of the fabric
    below level n + 1. From 0 to 1.
    """
    top = int(level.max())
    pods = [_pods(level, adjacency, rank, at) for at in range(1, top + 1)]
    leaves = np.flatnonzero(level == 1)
    leaves = leaves[np.lexsort((rank[leaves], *(pod[leaves] for pod in pods)))]
    x = np.zeros(len(level))
    x[leaves] = (np.arange(len(leaves)) + 0.5) / len(leaves)
    for at in range(2, top + 1):
        pod = pods[at - 1]
        members = np.flatnonzero(level == at)
        below = adjacency[members] * (level < at)
        # Over the mean of what hangs below, so that lines cross less.
        mean = (below @ x) / np.maximum(np.asarray(below.sum(axis=1)).ravel(), 1)
        members = members[np.lexsort((rank[members], np.round(mean, 9), pod[members]))]
        first_x = np.full(int(pod.max()) + 1, np.inf)
        last_x = np.full(int(pod.max()) + 1, -np.inf)
        np.minimum.at(first_x, pod[leaves], x[leaves])
        np.maximum.at(last_x, pod[leaves], x[leaves])
        # What no leaf hangs below stands over all of them.
        alone = np.isinf(first_x)
        first_x[alone], last_x[alone] = x[leaves].min(), x[leaves].max()
        count = np.bincount(pod[members], minlength=len(first_x))
        place = np.arange(len(members)) - np.searchsorted(pod[members], pod[members])
        room = (last_x - first_x + 1 / len(leaves))[pod[members]]
        start = first_x[pod[members]] - 0.5 / len(leaves)
        x[members] = start + room * (place + 0.5) / count[pod[members]]
    return x


def _pods(
    level: NDArray[np.int64], adjacency: csr_array, rank: NDArray[np.int64], highest: int
) -> NDArray[np.int64]:
    """Number of the part that every switch belongs to when those above a level are taken away."""
    kept = np.flatnonzero(level <= highest)
    labels = connected_components(adjacency[kept][:, kept], directed=False)[1]
    # Numbered in the order of their first switches by name, so that names stay in their order.
    first = np.full(int(labels.max()) + 1, len(level))
    np.minimum.at(first, labels, rank[kept])
    pods = np.zeros(len(level), dtype=np.int64)
    pods[kept] = np.argsort(np.argsort(first))[labels]
    return pods
