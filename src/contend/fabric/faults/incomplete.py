"""What is unlike its like: pairs of switches that lack cables, switches named like another row."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import UsageError
from contend.base.names import natural
from contend.base.units import counted, listed
from contend.fabric.altered import sockets, with_cables
from contend.fabric.composition import cables_per_pair
from contend.fabric.fabric import Fabric, connected_parts
from contend.fabric.groups import plain_name
from contend.fabric.levels import switch_levels

# Switches are like each other where at most this part of their neighbours differs.
_UNLIKE = 0.25
# So many of those that are like it must have what a switch lacks.
_MOST = 0.75
# So many of them must have more cables in sum; where all have the same number it is meant.
_SOME = 0.2
# A square of four switches with three cables may be meant.
_FEWEST = 5
# Pairs of a connected part of two levels that is looked at, and numbers of cables that are usual:
# they are multiplied with each other.
_MOST_PAIRS = 1 << 20
_MOST_NUMBERS = 16

# Where pairs of two levels differ in their cables, so many of them must have the same number.
_NEARLY_ALL = 0.9

_Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class MissingCables:
    """Two switches that fewer cables join than like pairs."""

    switches: tuple[int, int]
    """Both switches, the one of the lower level first."""
    cables: int
    """Number of cables between them."""
    usual: int
    """Number of cables between like pairs."""

    def words(self, fabric: Fabric) -> str:
        """Both switches, what joins them and what like pairs have, in one line."""
        one, other = (f'switch "{fabric.switch_label[switch]}"' for switch in self.switches)
        have = counted(self.cables, "cable") if self.cables else "no cable joins them"
        ends = f"; {listed(self.ends(fabric))}"
        return f"{one} and {other}: {have}, where similar pairs have {self.usual}{ends}"

    def ends(self, fabric: Fabric) -> list[str]:
        """Each cable by the free ports that `with_cables` gives it, ``leaf 2:5 - spine 1:2``.

        By the switches alone where one of them has no free port.
        """
        labels, count = fabric.switch_label, self.usual - self.cables
        try:
            _, cables = with_cables(fabric, [self.switches] * count)
        except UsageError:
            return [" - ".join(labels[switch] for switch in self.switches)] * count
        return [f"{labels[a]}:{port} - {labels[b]}:{back}" for a, port, b, back in cables]


def missing_cables(fabric: Fabric) -> tuple[MissingCables, ...]:
    """Pairs of switches that lack cables, those that lack most first.

    Between two levels of a tree, switches are like each other whose neighbours there are nearly the
    same. A pair lacks a cable where the like of either have more cables to the other, and where
    both have fewer cables between these levels in all than some of their like: cables that are
    dealt out unevenly, or lead elsewhere, are not missing. Where too few are alike, as in a torus,
    a cable is missing where all switches but two have the same number of cables. Cost: for every
    connected part of two levels that is not joined evenly its pairs times its switches.
    """
    level = switch_levels(fabric)
    low, high, count = cables_per_pair(fabric)
    turned = level[low] > level[high]
    near, far = np.where(turned, high, low), np.where(turned, low, high)
    steps = level[near] * (int(level.max(initial=0)) + 1) + level[far]
    found: list[MissingCables] = []
    for step in np.unique(steps[level[near] > 0]).tolist():
        here = steps == step
        pairs = near[here], far[here], count[here]
        lacking = _thinner(fabric.switches, *pairs)
        if level[pairs[0][0]] != level[pairs[1][0]]:
            lacking |= _unlike_others(fabric.switches, *pairs)
        found += lacking or _one_short(level, *pairs)
    return tuple(sorted(found, key=lambda pair: (pair.cables - pair.usual, pair.switches)))


def _thinner(
    switches: int, near: NDArray[np.int64], far: NDArray[np.int64], count: NDArray[np.int64]
) -> set[MissingCables]:
    """Pairs with fewer parallel cables than nearly all others of these levels."""
    numbers, pairs = np.unique(count, return_counts=True)
    usual = int(numbers[pairs.argmax()])
    if usual < 2 or pairs.max() < _NEARLY_ALL * len(count):
        return set()
    thin = count < usual
    for ends in (near, far):
        total = np.bincount(ends, count, switches)
        numbers, times = np.unique(total[np.unique(ends)], return_counts=True)
        thin &= total[ends] < numbers[times.argmax()]
    return {
        MissingCables((int(near[pair]), int(far[pair])), int(count[pair]), usual)
        for pair in np.flatnonzero(thin)
    }


def _unlike_others(
    switches: int, near: NDArray[np.int64], far: NDArray[np.int64], count: NDArray[np.int64]
) -> set[MissingCables]:
    """Pairs of two levels that lack what like pairs have."""
    found = set()
    part = connected_parts(switches, near, far)[near]
    order = np.argsort(part, kind="stable")
    bounds = np.flatnonzero(np.diff(part[order])) + 1
    for pairs in np.split(order, bounds):
        below, row = np.unique(near[pairs], return_inverse=True)
        above, column = np.unique(far[pairs], return_inverse=True)
        possible, least = len(below) * len(above), int(count[pairs].min())
        even = len(pairs) == possible and least == int(count[pairs].max())
        few = len(below) + len(above) < _FEWEST
        if even or few or possible > _MOST_PAIRS or max(len(below), len(above)) ** 2 > _MOST_PAIRS:
            continue
        cables = np.zeros((len(below), len(above)), dtype=np.int64)
        cables[row.reshape(-1), column.reshape(-1)] = count[pairs]
        usual = _lacking(cables)
        for lower, upper in np.argwhere(usual > cables).tolist():
            ends = int(below[lower]), int(above[upper])
            have, others = int(cables[lower, upper]), int(usual[lower, upper])
            found.add(MissingCables(ends, have, others))
    return found


def _lacking(cables: NDArray[np.int64]) -> NDArray[np.int64]:
    """Cables that like pairs have, where a pair lacks some; else 0; shape of `cables`."""
    like_below, like_above = _alike(cables > 0), _alike(cables.T > 0)
    by_row, by_column = _usual(like_below, cables), _usual(like_above, cables.T).T
    usual = np.minimum(by_row, by_column)
    peers = like_below.sum(axis=1)[:, np.newaxis] + like_above.sum(axis=1)
    usual[peers < _FEWEST - 2] = 0
    rows = _fewer_in_all(like_below, cables, by_row)
    columns = _fewer_in_all(like_above, cables.T, by_column.T)
    usual[~(rows[:, np.newaxis] & columns)] = 0
    return usual


def _fewer_in_all(
    alike: _Matrix, cables: NDArray[np.int64], usual: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Which rows have fewer cables in sum than is usual, and than some of their like have."""
    # Where nothing is usual a row has as much as is right.
    total, whole = cables.sum(axis=1), np.where(usual > 0, usual, cables).sum(axis=1)
    more = (alike * (total > total[:, np.newaxis])).sum(axis=1)
    some = more >= np.maximum(1, _SOME * alike.sum(axis=1))
    fewer: NDArray[np.bool_] = (total < whole) & some
    return fewer


def _alike(joined: NDArray[np.bool_]) -> _Matrix:
    """Which rows are nearly the same as which others, 1 or 0, shape [rows, rows]."""
    rows = joined.astype(np.float32)
    size = rows.sum(axis=1)
    both = rows @ rows.T
    unlike = size[:, np.newaxis] + size - 2 * both
    most = np.maximum(1, _UNLIKE * np.maximum(size[:, np.newaxis], size))
    alike: _Matrix = (unlike <= most).astype(np.float32)
    np.fill_diagonal(alike, 0)
    return alike


def _usual(alike: _Matrix, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The value that most like rows have, 0 where they differ, shape of `values`."""
    peers = alike.sum(axis=1)[:, np.newaxis]
    usual = np.zeros(values.shape, dtype=np.int64)
    numbers, times = np.unique(values, return_counts=True)
    for value in numbers[np.argsort(-times, kind="stable")][:_MOST_NUMBERS].tolist():
        votes = alike @ (values == value).astype(np.float32)
        usual[(votes >= _MOST * peers) & (peers > 0)] = value
    return usual


def _one_short(
    level: NDArray[np.int64],
    near: NDArray[np.int64],
    far: NDArray[np.int64],
    count: NDArray[np.int64],
) -> set[MissingCables]:
    """The pair, in one level or between two, that has one cable fewer each than all others."""
    total = np.bincount(near, count, len(level)) + np.bincount(far, count, len(level))
    here = level[near[0]], level[far[0]]
    short = [switch for at in sorted(set(here)) for switch in _short(total, level == at)]
    if len(short) != 2 or (here[0] != here[1] and level[short[0]] == level[short[1]]):
        return set()
    joined = (np.minimum(near, far) == min(short)) & (np.maximum(near, far) == max(short))
    own, usual = int(count[joined].sum()), int(np.bincount(count).argmax())
    return {MissingCables((short[0], short[1]), own, usual)} if own < usual else set()


def _short(total: NDArray[np.number], here: NDArray[np.bool_]) -> list[int]:
    """At most two switches with one cable fewer than all others here, which have the same."""
    numbers, switches = np.unique(total[here], return_counts=True)
    # The ends of a chain have one less by right, and of few switches none is usual.
    if len(numbers) != 2 or numbers[1] - numbers[0] != 1 or numbers[1] < 2:
        return []
    fewest = int(switches[0])
    if fewest > 2 or switches[1] <= 2 * fewest or (fewest == 2 and numbers[1] < 3):
        return []
    return np.flatnonzero(here & (total == numbers[0])).tolist()


def absent_switches(fabric: Fabric) -> list[str]:
    """A sentence for all switches above or below a row that it seems to lack.

    The names of the row's neighbours skip numbers, and each switch of the row has ports free for
    so many, the same on all, between ports with cables. Or, above a row, the number before the
    first or behind the last is nobody's, and the ports next to theirs, in the order of numbers,
    are free for just one more. Cost: linear in cables.
    """
    ports: dict[int, dict[int, int]] = defaultdict(dict)
    for near, port, far, back in fabric.cable_ends():
        ports[near][port], ports[far][back] = far, near
    taken = {switch: set(own) for switch, own in ports.items()}
    for switch, port in zip(fabric.host_switch.tolist(), fabric.host_port.tolist(), strict=True):
        taken.setdefault(switch, set()).add(port)
    names, found = [*map(plain_name, fabric.switch_name)], dict[str, None]()
    known = set(names)

    def note(absent: list[str], free: set[int], row: list[int]) -> None:
        quoted = ", ".join(f'"{name}"' for name in absent[:3])
        more = f" or {len(absent) - 3:,} more" if len(absent) > 3 else ""
        which, are = ("port", "is") if len(free) == 1 else ("ports", "are")
        which += f" {', '.join(map(str, sorted(free)[:8]))}{', ...' if len(free) > 8 else ''}"
        found[
            f"no switch is called {quoted}{more}, and {which} of all {len(row):,} switches "
            f'like "{names[row[0]]}", which would lead there, {are} free'
        ] = None

    for row in _rows(fabric):
        around = set(ports[row[0]].values())
        skipped = [name for name in _skipped(names[s] for s in around) if name not in known]
        if len(row) < 2 or not skipped or len(skipped) > len(around) / 2:
            continue
        free = set(range(min(ports[row[0]]) + 1, max(ports[row[0]])))
        free = free.difference(*(taken[switch] for switch in row))
        if len(free) in {n * len(skipped) for n in Counter(ports[row[0]].values()).values()}:
            note(skipped, free, row)
    level = switch_levels(fabric).tolist()
    lowest = {name: min(numbers) for name, numbers in _series(names).items()}
    for row in _rows(fabric, level):
        used = set[int]().union(*(taken[switch] for switch in row))
        used |= {0, sockets(int(fabric.switch_ports[row[0]])) + 1}
        above: dict[str, list[int]] = defaultdict(list)
        for port, far in ports[row[0]].items():
            if level[far] > level[row[0]]:
                above[names[far]].append(port)
        for name, free in _beyond(above, used, lowest) if len(row) > 1 else ():
            if name not in known:
                note([name], free, row)
    return list(found)


_Series = tuple[str, str]
"""What stands before a number in names, and behind it."""


def _beyond(
    above: dict[str, list[int]], used: set[int], lowest: dict[_Series, int]
) -> Iterator[tuple[str, set[int]]]:
    """Names before and behind those of numbered switches, and the free ports that lead there.

    Args:
        above: the ports that lead to each, by name.
        used: ports of a row of switches, and those before the first and behind the last.
        lowest: the lowest number of each series of names.
    """
    each = len(next(iter(above.values()), ()))
    for series, spelled in _series(above).items():
        low, high = min(spelled), max(spelled)
        if len(above) < _FEWEST - 2 or high - low + 1 != len(above):
            continue
        in_order = [above.get(_name(n, *series, spelled), []) for n in range(low, high + 1)]
        row = [port for own in in_order for port in sorted(own)]
        if {len(own) for own in in_order} != {each} or row != list(range(row[0], row[-1] + 1)):
            continue
        # Names count from 1, or go on from those of another row.
        first = low - 1 if low == 2 or lowest[series] < low else None
        before, behind = range(row[0] - each, row[0]), range(row[-1] + 1, row[-1] + 1 + each)
        for number, free, next_port in (
            (first, before, row[0] - each - 1),
            (high + 1, behind, row[-1] + each + 1),
        ):
            if number is not None and next_port in used and not used.intersection(free):
                yield _name(number, *series, spelled), set(free)


def _series(names: Iterable[str]) -> dict[_Series, dict[int, str]]:
    """Numbers in names with what they are written like, by what stands around them."""
    series: dict[_Series, dict[int, str]] = defaultdict(dict)
    for name in names:
        for match in list(_NUMBER.finditer(name[:_LONGEST_NAME]))[-_MOST_COUNTED:]:
            series[name[: match.start()], name[match.end() :]][int(match[0])] = match[0]
    return series


def _name(number: int, before: str, behind: str, spelled: dict[int, str]) -> str:
    """A name of a series, its number filled with zeros where those of others are."""
    least = spelled[min(spelled)]
    return f"{before}{number:0{len(least) if least.startswith('0') else 0}}{behind}"


def _skipped(names: Iterable[str]) -> list[str]:
    """Names that numbered ones leave out between the lowest and the highest of a number."""
    skipped: dict[str, None] = {}
    for series, spelled in _series(names).items():
        low, high = min(spelled), max(spelled)
        for number in range(low, high if high - low < 2 * len(spelled) else low):
            if number not in spelled:
                skipped[_name(number, *series, spelled)] = None
    return sorted(skipped, key=natural)


# So many of a row must agree for the others to be out of place.
_AGREE = 0.75
_NUMBER = re.compile(r"\d+")
# Of a switch's name that may count, such as unit, row and place.
_MOST_COUNTED, _LONGEST_NAME = 3, 256


def misnamed_switches(fabric: Fabric) -> list[str]:
    """A sentence for every switch that is called like those of another row than it is cabled to.

    A row are switches with the same neighbours, such as the spines above the same leaves. A name is
    out of place where most of its row are called alike, by all but numbers, and it is called as
    most of another row are. Cost: linear in cables.
    """
    stems = [_NUMBER.sub("#", name.strip()) for name in fabric.switch_name]
    rows = _rows(fabric)
    usual: list[tuple[str, int]] = []
    for row in rows:
        stem, times = Counter(stems[switch] for switch in row).most_common(1)[0]
        usual.append((stem, times if len(row) > 2 and times >= _AGREE * len(row) else 0))
    of_rows = {stem: row for row, (stem, times) in zip(rows, usual, strict=True) if times and stem}
    found = []
    for row, (stem, times) in zip(rows, usual, strict=True):
        for switch in row if times and stem else ():
            if stems[switch] == stem or stems[switch] not in of_rows:
                continue
            like = [f'"{fabric.switch_name[other]}"' for other in row if stems[other] == stem]
            elsewhere = next(other for other in of_rows[stems[switch]] if stems[other] != stem)
            found.append(
                f'switch "{fabric.switch_label[switch]}" has the same neighbours as '
                f"{' and '.join(like[:2])}, but is named like "
                f'"{fabric.switch_label[elsewhere]}"'
            )
    return found


def switches_called_alike(fabric: Fabric) -> list[str]:
    """A sentence for every name that several switches have, where most have one of their own."""
    times = Counter(map(str.strip, fabric.switch_name))
    alike = {name: count for name, count in times.items() if count > 1 and name}
    if sum(alike.values()) > max(_FEWEST, _UNLIKE * fabric.switches):
        return []
    return [f'{count} switches are called "{name}"' for name, count in alike.items()]


def _rows(fabric: Fabric, level: Sequence[int] | None = None) -> list[list[int]]:
    """Switches with the same neighbours, or those above them where levels are given."""
    around: dict[int, list[int]] = defaultdict(list)
    low, high, _ = cables_per_pair(fabric)
    for pair in zip(low.tolist(), high.tolist(), strict=True):
        for near, far in (pair, pair[::-1]):
            if level is None or level[far] > level[near]:
                around[near].append(far)
    rows: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for switch, neighbours in around.items():
        rows[tuple(sorted(neighbours))].append(switch)
    return list(rows.values())
