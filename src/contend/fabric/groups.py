"""Where switches stand in a drawing: chassis, pods, rows of one name, grids, groups."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.fabric.composition import cables_per_pair
from contend.fabric.fabric import Fabric, connected_parts
from contend.fabric.levels import switch_levels
from contend.fabric.rails import leaf_rails
from contend.fabric.shape import dimensions_of, dragonfly_groups

MOST_GROUPS = 36
"""Of one level, so that a page has room for their names."""

# How switches with management call themselves: MF0;NAME:MODEL/UNIT.
_MANAGED = re.compile(r"MF0;([^:;]+):[^:/]*/(.+)", re.DOTALL)
_NUMBER = re.compile(r"\d+")
_UP_TO_SEPARATOR = re.compile(r".*[^0-9A-Za-z]", re.DOTALL)
_FROM_SEPARATOR = re.compile(r"[^0-9A-Za-z].*", re.DOTALL)
_EDGES = " -_:.,;/#"
# Names tell of groups where so much of a level is in groups of two and more.
_NAMED = 0.6


@dataclass(frozen=True, eq=False)
class SwitchGroups:
    """Groups of switches, each within one level, numbered by level and first switch."""

    number: NDArray[np.int64]
    """Group of every switch, shape [switches]; -1 where no host can be reached."""
    level: tuple[int, ...]
    """Level of every group."""
    name: tuple[str, ...]
    """Name of every group: what its switches' names begin with, and their numbers where several
    groups of a level begin alike."""
    rule: str
    """How they were found: ``names``, ``chassis``, ``cables`` or ``levels``."""


def short_names(fabric: Fabric) -> tuple[str, ...]:
    """Names of switches that tell them apart, without what all of them begin or end with."""
    names = list(plain_names(fabric))
    if len(set(names)) < len(names):
        names = list(fabric.switch_label)
    if len(names) < 2:
        return tuple(names)
    start = _UP_TO_SEPARATOR.match(_common_start(names))
    if start:
        rests = [name[start.end() :] for name in names]
        # A word goes before numbers and stays before other words: "group 1 switch 3".
        if not start[0].strip(" ").isalnum() or not any(map(str.isalpha, "".join(rests))):
            names = rests
    ending = _common_start([name[::-1] for name in names])[::-1]
    rest = _FROM_SEPARATOR.search(ending)
    kept = len(ending) - rest.start() if rest else 0
    return tuple(name[: len(name) - kept] for name in names)


def plain_names(fabric: Fabric) -> tuple[str, ...]:
    """What people call switches: of one with management the name that was given to it."""
    return tuple(plain_name(label) for label in fabric.switch_label)


def _common_start(names: Sequence[str]) -> str:
    first, last = min(names), max(names)
    same = (one == other for one, other in zip(first, last, strict=False))
    return first[: next((length for length, alike in enumerate(same) if not alike), len(first))]


def plain_name(name: str) -> str:
    """What people call a switch of this name."""
    managed = _MANAGED.fullmatch(name)
    if managed is None:
        return name.strip() or name
    return managed[1] if managed[2] == "U1" else f"{managed[1]} {managed[2]}"


def switch_groups(fabric: Fabric) -> SwitchGroups:
    """Groups the switches of a tree, at most `MOST_GROUPS` in a level; deterministic.

    The first rule that tells groups apart decides, see ADR 29: chips that share a system GUID;
    names that are alike up to their last number, or the one before; parts that remain when the top
    level is taken away. Cost: linear in cables but for sorting.
    """
    level = switch_levels(fabric)
    names = short_names(fabric)
    rule, keys = "chassis", _by_chassis(fabric, level)
    if keys is None:
        rule, keys = "names", _by_names(names, level)
    if keys is None:
        rule, keys = "cables", _by_cables(fabric, level)
    else:
        keys = _with_silent_levels(fabric, level, keys)
    if keys is None:
        rule, keys = "levels", np.zeros(fabric.switches, dtype=np.int64)
    number = _numbered(level, keys)
    groups = int(number.max(initial=-1)) + 1
    members = [np.flatnonzero(number == group).tolist() for group in range(groups)]
    levels = tuple(int(level[switches[0]]) for switches in members)
    return SwitchGroups(number, levels, _titles(names, levels, members, leaf_rails(fabric)), rule)


def _by_chassis(fabric: Fabric, level: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Chips with one system GUID are in one housing; other switches are left to each other."""
    system, key, count = np.unique(
        fabric.switch_system_guid, return_inverse=True, return_counts=True
    )
    several = (count > 2) & (system > 0)
    if np.count_nonzero(several) == 0:
        return None
    return np.where(several[key], key, -1).astype(np.int64)


def _by_names(names: Sequence[str], level: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """What names have in common up to a number, for every level the finest that groups; or None."""
    keys = np.full(len(names), -1, dtype=np.int64)
    for here in np.unique(level[level > 0]).tolist():
        members = np.flatnonzero(level == here)
        for numbers in (1, 2):
            stems = [_stem(names[switch], numbers) for switch in members.tolist()]
            sizes = Counter(stems)
            grouped = sum(size for size in sizes.values() if size > 1)
            several = sum(size > 1 for size in sizes.values())
            if several > 1 and len(sizes) <= MOST_GROUPS and grouped >= _NAMED * len(members):
                order = {stem: index for index, stem in enumerate(sizes)}
                keys[members] = [order[stem] for stem in stems]
                break
    return keys if bool((keys >= 0).any()) else None


def _stem(name: str, numbers: int) -> str:
    """A name up to its last number, or to an earlier one; whole where it has too few."""
    found = [match.start() for match in _NUMBER.finditer(name)]
    return name[: found[-numbers]] if len(found) >= numbers else name


def _with_silent_levels(
    fabric: Fabric, level: NDArray[np.int64], keys: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Switches without a key are grouped by which groups of other levels they are cabled to."""
    number = _numbered(level, keys)
    low, high, _ = cables_per_pair(fabric)
    result = keys.copy()
    for here in np.unique(level[(keys < 0) & (level > 0)]).tolist():
        members = np.flatnonzero((level == here) & (keys < 0))
        around: dict[int, set[int]] = {switch: set() for switch in members.tolist()}
        for near, far in ((low, high), (high, low)):
            told = (keys[near] < 0) & (level[near] == here) & (keys[far] >= 0)
            for switch, group in zip(near[told].tolist(), number[far[told]].tolist(), strict=True):
                around[switch].add(group)
        kinds = {kind: i for i, kind in enumerate(dict.fromkeys(map(frozenset, around.values())))}
        if 2 * len(kinds) <= len(members) and len(kinds) <= MOST_GROUPS:
            first = int(keys.max()) + 1
            result[members] = [first + kinds[frozenset(kind)] for kind in around.values()]
    return result


def _by_cables(fabric: Fabric, level: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Pods are what remains below the top level; top switches belong together by their planes."""
    top = int(level.max(initial=0))
    if top < 3:
        return None
    low, high, _ = cables_per_pair(fabric)

    def parts(kept: NDArray[np.bool_]) -> NDArray[np.int64]:
        inside = kept[low] & kept[high]
        return connected_parts(fabric.switches, low[inside], high[inside])

    pods = parts((level > 0) & (level < top))
    planes = parts(level >= top - 1)
    below, above = (level > 0) & (level < top), level == top
    several = len(np.unique(pods[below])) > 1
    if not several:
        return None
    # A plane for each top switch tells nothing.
    if 2 * len(np.unique(planes[above])) > np.count_nonzero(above):
        planes = np.zeros_like(planes)
    return np.where(below, pods, planes)


def _numbered(level: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers groups by level and first switch; neighbours are joined where there are too many."""
    number = np.full(len(level), -1, dtype=np.int64)
    first = 0
    for here in np.unique(level[level > 0]).tolist():
        members = np.flatnonzero(level == here)
        order = {key: index for index, key in enumerate(dict.fromkeys(keys[members].tolist()))}
        step = -(-len(order) // MOST_GROUPS)
        number[members] = [first + order[key] // step for key in keys[members].tolist()]
        first = int(number[members].max()) + 1
    return number


def _titles(
    names: Sequence[str],
    levels: Sequence[int],
    members: Sequence[list[int]],
    rail: NDArray[np.int64],
) -> tuple[str, ...]:
    """What names have in common; of leaves that share that with others, their rail or a range."""
    stems = []
    for level, switches in zip(levels, members, strict=True):
        if len(switches) == 1:
            stems.append(names[switches[0]])
            continue
        if not (stem := _common([names[switch] for switch in switches])):
            usual = Counter(_stem(names[switch], 1).strip(_EDGES) for switch in switches)
            stem = usual.most_common(1)[0][0] or f"level {level}"
        stems.append(stem)
    times = Counter(zip(levels, stems, strict=True))
    titles = []
    for level, stem, switches in zip(levels, stems, members, strict=True):
        again = times[level, stem] > 1 and len(switches) > 1
        title = f"{stem} {_range(names, switches)}".strip() if again else stem
        rails = set(rail[switches].tolist())
        titles.append(
            f"rail {rails.pop() + 1}" if again and len(rails) == 1 and -1 not in rails else title
        )
    twice = Counter(zip(levels, titles, strict=True))
    return tuple(
        f"{title} (group {group})" if twice[level, title] > 1 else title
        for group, (level, title) in enumerate(zip(levels, titles, strict=True), 1)
    )


def _common(names: Sequence[str]) -> str:
    """What names share, an asterisk for numbers that differ: ``card * leaf``."""
    if len({_NUMBER.sub("#", name) for name in names}) > 1:
        return _common_start(names).rstrip("0123456789").strip(_EDGES)
    parts = zip(*(re.split(r"(\d+)", name) for name in names), strict=True)
    return "".join(part[0] if len(set(part)) == 1 else "*" for part in parts).strip(_EDGES + "*")


def _range(names: Sequence[str], switches: Sequence[int]) -> str:
    """The least and the greatest last number: ``1-13``; "" where a name has none."""
    last = [_NUMBER.findall(names[switch]) for switch in switches]
    if not all(last):
        return ""
    numbers = sorted(int(each[-1][:18]) for each in last)
    whole = numbers[-1] - numbers[0] == len(set(numbers)) - 1 == len(numbers) - 1
    return f"{numbers[0]}-{numbers[-1]}" if whole else f"{numbers[0]}, {numbers[1]}, ..."


# Larger networks are not looked at: nobody can read a drawing of them.
_MOST_PAIRS = 50_000
# Some cables may be missing, or lead elsewhere.
_MOST = 0.9
_INSIDE = 0.25


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
    if len(low) == 0:
        return None
    stems = [match[0] if (match := _UP_TO_NUMBER.match(n)) else n for n in fabric.switch_name]
    order = {stem: index for index, stem in enumerate(dict.fromkeys(stems))}
    group = np.array([order[stem] for stem in stems], dtype=np.int64)
    inside = group[low] == group[high]
    if len(order) > 2 and min(np.bincount(group)) > 1 and np.mean(inside) >= _INSIDE:
        parts = connected_parts(fabric.switches, low[inside], high[inside])
        if int(parts.max()) + 1 == len(order):
            return group
    return dragonfly_groups(fabric.switches, low, high) if len(low) <= _MOST_PAIRS else None


_UP_TO_NUMBER = re.compile(r"\D*\d+")
