"""What kind of network a fabric is, where cables tell it for certain."""

from __future__ import annotations

import math
from collections import Counter, deque
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend.base.units import counted
from contend.fabric.fabric import Fabric, connected_parts
from contend.fabric.levels import idle_switches, is_tree, switch_levels

IRREGULAR = "irregular"
# Larger networks than this many joined pairs are not compared with known kinds.
_MOST_PAIRS = 200_000


def shape_of(fabric: Fabric) -> str:
    """What a fabric is called: ``tree of 3 levels``, ``torus of 4 x 4 x 8``, ``irregular``.

    Switches that lie on no shortest path between hosts, the number of cables between two switches
    and cables from a switch to itself do not count. Every name but "irregular" is certain: all
    cables that the network must have are there, and no others. Only a tree may lack some, and have
    a few within a level.
    """
    kept = ~idle_switches(fabric)
    number = np.cumsum(kept) - 1
    low = np.minimum(fabric.cable_from, fabric.cable_to).astype(np.int64)
    high = np.maximum(fabric.cable_from, fabric.cable_to).astype(np.int64)
    used = kept[low] & kept[high] & (low != high)
    size = int(np.count_nonzero(kept))
    pairs = np.unique(number[low[used]] * size + number[high[used]])
    near, far = pairs // size, pairs % size
    level = switch_levels(fabric)[kept]
    if size == 1:
        return "single switch"
    if is_tree(level, near, far):
        return f"tree of {len(np.unique(level))} levels"
    if len(pairs) > _MOST_PAIRS:
        return IRREGULAR
    return _direct(size, near, far) or _dragonfly_plus(level, near, far) or IRREGULAR


def _direct(size: int, near: NDArray[np.int64], far: NDArray[np.int64]) -> str:
    if connected_parts(size, near, far).any():
        return ""
    if 2 * len(near) == size * (size - 1):
        return "two switches" if size == 2 else f"full mesh of {size} switches"
    neighbours = _neighbours(size, near, far)
    return _grid(neighbours) or _dragonfly(neighbours, near, far) or _slim_fly(neighbours)


def _neighbours(size: int, near: NDArray[np.int64], far: NDArray[np.int64]) -> list[set[int]]:
    neighbours: list[set[int]] = [set() for _ in range(size)]
    for one, other in zip(near.tolist(), far.tolist(), strict=True):
        neighbours[one].add(other)
        neighbours[other].add(one)
    return neighbours


# Grids: tori, meshes, hypercubes, HyperX.


def _grid(neighbours: list[set[int]]) -> str:
    """What the network is as a Cartesian product of rings, lines and full meshes."""
    size = len(neighbours)
    classes = _dimensions(neighbours)
    if classes is None:
        return ""
    factors = []
    for dimension in sorted(set(classes.values())):
        factor = _factor(size, classes, dimension)
        if factor is None:
            return ""
        factors.append(factor)
    if math.prod(nodes for nodes, _ in factors) != size:
        return ""
    return _grid_name(factors)


def dimensions_of(
    size: int, near: NDArray[np.int64], far: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """Dimension of every joined pair of a grid that lacks no cable, shape [pairs]; None for others.

    Args:
        size: switches.
        near: the lower one of every joined pair, shape [pairs].
        far: the higher one.
    """
    if connected_parts(size, near, far).any():
        return None
    neighbours = _neighbours(size, near, far)
    classes = _dimensions(neighbours) if _grid(neighbours) else None
    if classes is None:
        return None
    pairs = zip(near.tolist(), far.tolist(), strict=True)
    return np.array([classes[pair] for pair in pairs], dtype=np.int64)


def _dimensions(neighbours: list[set[int]]) -> dict[tuple[int, int], int] | None:
    """The dimension of every joined pair (lower, higher), if this is a product; else perhaps None.

    Two cables of one switch lie in different dimensions where they span exactly one square, and
    opposite sides of it lie in the same. From one switch on, squares tell all others.
    """
    first = _dimensions_at(neighbours, 0)
    at: dict[int, dict[int, int]] = {0: first}
    waiting = deque([0])
    while waiting:
        here = waiting.popleft()
        for there, crossed in at[here].items():
            if there in at:
                continue
            at[there] = found = {}
            for other, dimension in at[here].items():
                if dimension == crossed:
                    continue
                corner = (neighbours[there] & neighbours[other]) - {here}
                if len(corner) != 1:
                    return None
                found[corner.pop()] = dimension
            for rest in neighbours[there] - set(found):
                found[rest] = crossed
            waiting.append(there)
    classes: dict[tuple[int, int], int] = {}
    for here, ways in at.items():
        for there, dimension in ways.items():
            if classes.setdefault((min(here, there), max(here, there)), dimension) != dimension:
                return None
    return classes


def _dimensions_at(neighbours: list[set[int]], switch: int) -> dict[int, int]:
    """The dimension of every neighbour of a switch."""
    around = sorted(neighbours[switch])
    dimension = {other: index for index, other in enumerate(around)}
    for one, other in combinations(around, 2):
        shared = (neighbours[one] & neighbours[other]) - {switch}
        if other in neighbours[one] or len(shared) != 1:
            merged, kept = dimension[other], dimension[one]
            dimension = {each: kept if at == merged else at for each, at in dimension.items()}
    return dimension


def _factor(
    size: int, classes: dict[tuple[int, int], int], dimension: int
) -> tuple[int, str] | None:
    """How many switches one dimension has, and whether they are a ring, a line or all joined."""
    inside = np.array([pair for pair, at in classes.items() if at == dimension], dtype=np.int64)
    others = np.array(
        [pair for pair, at in classes.items() if at != dimension], dtype=np.int64
    ).reshape(-1, 2)
    place = connected_parts(size, others[:, 0], others[:, 1])
    nodes = int(place.max()) + 1
    ends = place[inside]
    joined = {(min(pair), max(pair)) for pair in ends.tolist()}
    # Every pair of the dimension is there once for every place in the other dimensions.
    if any(low == high for low, high in joined) or len(inside) * nodes != len(joined) * size:
        return None
    degree = Counter(end for pair in joined for end in pair)
    if 2 * len(joined) == nodes * (nodes - 1):
        return nodes, "mesh"
    if set(degree.values()) == {2} and len(joined) == nodes:
        return nodes, "ring"
    if set(degree.values()) == {1, 2} and len(joined) == nodes - 1:
        return nodes, "line"
    return None


def _grid_name(factors: list[tuple[int, str]]) -> str:
    """Two switches are a ring, a line and a full mesh; two pairs of them are a ring of four."""
    kinds = {kind for nodes, kind in factors if nodes > 2}
    sizes = sorted(nodes for nodes, _ in factors)
    twos = sizes.count(2)
    if not kinds:
        return "ring of 4 switches" if twos == 2 else f"hypercube of {twos} dimensions"
    if kinds <= {"ring"} or (kinds == {"ring", "mesh"} and not _fully_joined(factors)):
        sizes = sorted(
            [nodes for nodes in sizes if nodes > 2] + [4] * (twos // 2) + [2] * (twos % 2)
        )
        return f"ring of {sizes[0]} switches" if len(sizes) == 1 else f"torus of {_times(sizes)}"
    if kinds == {"line"}:
        return f"line of {sizes[0]} switches" if len(sizes) == 1 else f"mesh of {_times(sizes)}"
    if kinds == {"mesh"}:
        return f"HyperX of {_times(sizes)}"
    if not _fully_joined(factors):
        return f"grid of {_times(sizes)}, with and without rings"
    return ""


def _fully_joined(factors: list[tuple[int, str]]) -> bool:
    """Whether a dimension is a full mesh and no ring; three switches are both."""
    return any(kind == "mesh" and nodes > 3 for nodes, kind in factors)


def _times(sizes: list[int]) -> str:
    return " x ".join(map(str, sizes))


# Networks of groups.


def _dragonfly(neighbours: list[set[int]], near: NDArray[Any], far: NDArray[Any]) -> str:
    group = dragonfly_groups(len(neighbours), near, far)
    if group is None:
        return ""
    groups = int(group.max()) + 1
    return f"dragonfly of {groups} groups of {len(neighbours) // groups} switches"


def dragonfly_groups(
    size: int, near: NDArray[np.int64], far: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """Group of every switch of a dragonfly, shape [size]; None for other networks.

    Groups of joined switches, every two groups joined too, as many neighbours for each.
    """
    neighbours = _neighbours(size, near, far)
    if len({len(around) for around in neighbours}) > 1:
        return None
    pairs = zip(near.tolist(), far.tolist(), strict=True)
    shared = np.array([len(neighbours[one] & neighbours[other]) for one, other in pairs])
    # Within a group two switches share all others; three groups' own cables may share a few too.
    for least in np.unique(shared[shared > 0])[::-1].tolist():
        inside = shared >= least
        group = connected_parts(size, near[inside], far[inside])
        if _are_dragonfly_groups(group, near, far):
            return group
    return None


def _are_dragonfly_groups(group: NDArray[np.int64], near: Any, far: Any) -> bool:
    groups = int(group.max()) + 1
    sizes = np.bincount(group)
    each = int(sizes[0])
    within = np.bincount(group[near[group[near] == group[far]]], minlength=groups)
    if groups < 3 or each < 3 or (sizes != each).any() or (2 * within != each * (each - 1)).any():
        return False
    return _all_joined(groups, group[near], group[far])


def _dragonfly_plus(level: NDArray[np.int64], near: Any, far: Any) -> str:
    """Groups of leaves all joined to all spines, and every two groups by cables of spines."""
    upper = (level[near] == 2) & (level[far] == 2)
    if set(np.unique(level)) != {1, 2} or (level[near] == level[far])[~upper].any():
        return ""
    group = connected_parts(len(level), near[~upper], far[~upper])
    groups = int(group.max()) + 1
    leaves = np.bincount(group[level == 1], minlength=groups)
    spines = np.bincount(group[level == 2], minlength=groups)
    within = np.bincount(group[near[~upper]], minlength=groups)
    whole = (leaves > 0) & (spines > 0) & (within == leaves * spines)
    if groups < 3 or not whole.all() or not _all_joined(groups, group[near], group[far]):
        return ""
    return f"dragonfly+ of {counted(groups, 'group')}"


def _all_joined(groups: int, near: NDArray[Any], far: NDArray[Any]) -> bool:
    between = near != far
    low, high = np.minimum(near, far)[between], np.maximum(near, far)[between]
    return len(np.unique(low.astype(np.int64) * groups + high)) == groups * (groups - 1) // 2


def _slim_fly(neighbours: list[set[int]]) -> str:
    """2 q^2 switches with (3 q - d) / 2 neighbours each, d = -1, 0 or 1, all two steps apart.

    Besta and Hoefler, Slim Fly: A Cost Effective Low-Diameter Network Topology, SC 2014.
    """
    size = len(neighbours)
    q = math.isqrt(size // 2)
    apart = {0: 0, 1: 1, 3: -1}.get(q % 4)
    if 2 * q * q != size or apart is None:
        return ""
    if any(2 * len(around) != 3 * q - apart for around in neighbours):
        return ""
    if any(len(around.union(*(neighbours[n] for n in around))) < size for around in neighbours):
        return ""
    return f"Slim Fly of {size} switches"
