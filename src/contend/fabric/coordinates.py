"""Where switches of networks without levels lie: coordinates in grids, groups of dragonflies."""

from __future__ import annotations

import math
import re

import numpy as np
from numpy.typing import NDArray

from contend.fabric.composition import cables_per_pair
from contend.fabric.fabric import Fabric
from contend.fabric.parts import connected_parts
from contend.fabric.shape import dimensions_of, dragonfly_groups

# Larger networks are not looked at: nobody can read a drawing of them.
_MOST_PAIRS = 50_000
# Some cables may be missing, or lead elsewhere.
_MOST = 0.9
_INSIDE = 0.25
_NUMBER = re.compile(r"\d+")


def grid_coordinates(fabric: Fabric) -> NDArray[np.int64] | None:
    """Coordinates of every switch of a torus, mesh, HyperX or hypercube; None for others.

    Numbers in names are believed where they count the places of a grid and nine of ten cables
    change one of them only, so that a torus with dead cables is still one; else cables tell, where
    all of them are there.

    Returns:
        From 0, shape [switches, dimensions], at least two.
    """
    low, high, _ = cables_per_pair(fabric)
    if fabric.switches < 4 or not 0 < len(low) <= _MOST_PAIRS:
        return None
    named = _named_coordinates(fabric, low, high)
    return _cabled_coordinates(fabric, low, high) if named is None else named


def _named_coordinates(
    fabric: Fabric, low: NDArray[np.int64], high: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    names = fabric.switch_name
    if len({_NUMBER.sub("#", name) for name in names}) != 1:
        return None
    numbers = [_NUMBER.findall(name) for name in names]
    if any(len(number) > 9 for each in numbers for number in each):
        return None
    values = np.array(numbers, dtype=np.int64)
    ranks = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in values.T]
    ranks = [rank for rank in ranks if rank.max() > 0]
    if len(ranks) < 2:
        return None
    place = np.stack(ranks, axis=1).astype(np.int64)
    full = math.prod((place.max(axis=0) + 1).tolist())
    if len(np.unique(place, axis=0)) < len(place) or len(place) < _MOST * full:
        return None
    changed = np.count_nonzero(place[low] != place[high], axis=1)
    return place if np.count_nonzero(changed == 1) >= _MOST * len(low) else None


def _cabled_coordinates(
    fabric: Fabric, low: NDArray[np.int64], high: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    classes = dimensions_of(fabric.switches, low, high)
    if classes is None:
        return None
    columns = []
    for dimension in np.unique(classes).tolist():
        inside = classes == dimension
        line = connected_parts(fabric.switches, low[~inside], high[~inside])
        columns.append(_along(line, low[inside], high[inside]))
    # Two dimensions of two switches each are a ring of four.
    twos = [column for column in columns if column.max() == 1]
    others = [column for column in columns if column.max() > 1]
    while len(twos) > 1 and len(twos) + len(others) > 2:
        one, other = twos.pop(), twos.pop()
        others.append(np.where(one == 0, other, 3 - other))
    columns = sorted([*others, *twos], key=lambda column: -int(column.max()))
    return np.stack(columns, axis=1) if len(columns) > 1 else None


def _along(
    line: NDArray[np.int64], near: NDArray[np.int64], far: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Order of the places of one dimension: neighbours by cables follow each other."""
    around: dict[int, set[int]] = {}
    for one, other in zip(line[near].tolist(), line[far].tolist(), strict=True):
        around.setdefault(one, set()).add(other)
        around.setdefault(other, set()).add(one)
    here = min(around, key=lambda place: (len(around[place]), place))
    rank = {here: 0}
    while step := sorted(place for place in around[here] if place not in rank):
        here = step[0]
        rank[here] = len(rank)
    return np.array([rank.get(place, 0) for place in line.tolist()], dtype=np.int64)


def group_circle(fabric: Fabric) -> NDArray[np.int64] | None:
    """Group of every switch of a dragonfly or another network of groups, shape [switches]; or None.

    Groups are what names have in common up to their first number, where each hangs together and
    a fair share of all cables stays within; else those of a dragonfly that lacks no cable.
    """
    low, high, _ = cables_per_pair(fabric)
    if not 0 < len(low) <= _MOST_PAIRS:
        return None
    stems = [match[0] if (match := _UP_TO_NUMBER.match(n)) else n for n in fabric.switch_name]
    order = {stem: index for index, stem in enumerate(dict.fromkeys(stems))}
    group = np.array([order[stem] for stem in stems], dtype=np.int64)
    inside = group[low] == group[high]
    if len(order) > 2 and min(np.bincount(group)) > 1 and np.mean(inside) >= _INSIDE:
        parts = connected_parts(fabric.switches, low[inside], high[inside])
        if int(parts.max()) + 1 == len(order):
            return group
    return dragonfly_groups(fabric.switches, low, high)


_UP_TO_NUMBER = re.compile(r"\D*\d+")
