"""Where groups of switches stand: a row of frames for every level, joined by bundles of cables."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from matplotlib.path import Path
from numpy.typing import NDArray

from contend.base.names import natural
from contend.base.units import counted, grouped
from contend.fabric import Fabric, SwitchGroups
from contend.report.fabric.layout import HOST
from contend.report.fabric.scene import (
    LEFT,
    SMALL,
    TINY,
    Box,
    Label,
    Points,
    Scene,
    longest,
    shortened,
    text_size,
)

_GAP = 1.25  # inches between two rows of frames
# Inches that a switch takes; smaller ones where more would stand upon each other.
_PITCHES, _SMALL_PITCHES, _DEEP = (0.13, 0.115, 0.1), (0.08, 0.065, 0.05), 12
_TALLEST = 4.0  # inches of switches upon each other; they are smaller where more would be needed
_SQUARE = 0.72  # of what a switch takes
_LINE = 0.115  # inches, a line of small letters
_SWEEPS = 4
_FEW = 12  # bundles that are labelled though they are alike
_FEWER = 0.9
_QUIET = "#666666"


def bundled(fabric: Fabric, groups: SwitchGroups, right: float) -> Scene:
    """Rows of frames, the highest level on top.

    Args:
        fabric: a tree.
        groups: of its switches.
        right: the edge of the drawing.
    """
    number = groups.number
    sizes = np.bincount(number[number >= 0], minlength=len(groups.level))
    hosts = np.bincount(number[fabric.host_switch], minlength=len(groups.level))
    near, far = number[fabric.cable_from], number[fabric.cable_to]
    low, high = np.minimum(near, far).astype(np.int64), np.maximum(near, far).astype(np.int64)
    across = (low != high) & (low >= 0)
    pairs, inverse, cables = np.unique(
        (low * len(sizes) + high)[across], return_inverse=True, return_counts=True
    )
    line_of = np.full(fabric.cables, -1, dtype=np.int64)
    line_of[across] = inverse.reshape(-1)
    ends = np.stack([pairs // len(sizes), pairs % len(sizes)], axis=1)

    level = np.array(groups.level)
    rows = [np.flatnonzero(level == at) for at in np.unique(level).tolist()]
    rows = _ordered(rows, ends, cables, groups)
    place = np.full((fabric.switches, 2), np.nan)
    boxes: dict[int, Box] = {}
    labels: list[Label] = []
    sides, y = np.full(fabric.switches, _SQUARE * _PITCHES[0]), 0.1
    for row in rows:
        words = _RowWords(row, groups, sizes, hosts, right)
        height = words.height
        x = LEFT + words.gap / 2
        for group in row.tolist():
            box = Box(x, y, words.width(group), height, group)
            boxes[group] = box
            members = np.flatnonzero(number == group)
            place[members] = words.places(box, members, fabric)
            sides[members] = _SQUARE * words.pitch
            labels += words.labels(box)
            x += box.width + words.gap
        count = int(sizes[row].sum())
        middle = y + height / 2
        labels.append(Label(LEFT - 0.12, middle, counted(count, "switch"), 0, "right"))
        if total := int(hosts[row].sum()):
            below = middle - 1.2 * _LINE
            labels.append(
                Label(LEFT - 0.12, below, counted(total, "host"), 0, "right", "center", HOST)
            )
        y += height + _GAP
    paths, ports = _bundle_paths(ends, boxes)
    labels += _bundle_labels(paths, ports, cables)
    labels += _between_rows(ends, cables, rows, boxes)
    return Scene(
        height=y - _GAP + 0.1,
        place=place,
        side=float(sides.min()),
        sides=sides,
        towards=np.zeros((fabric.switches, 2)),
        host_room=0.0,
        lines=paths,
        line_of=line_of,
        boxes=tuple(boxes.values()),
        box_of=number,
        labels=labels,
    )


def _shapes(most: int) -> Iterator[tuple[int, float]]:
    """How many switches stand upon each other, and what each takes, the best to read first."""
    for deep in range(1, min(most, _DEEP) + 1):
        for pitch in _PITCHES:
            yield deep, pitch
    for deep in range(min(most, _DEEP), most + 1):
        for pitch in _SMALL_PITCHES:
            if deep * pitch <= _TALLEST:
                yield deep, pitch


def _fitting(shares: dict[int, float], sizes: NDArray[np.int64]) -> tuple[int, float]:
    """The same where frames have no more than a share of the width, and are no taller than all.

    Args:
        shares: inches that the switches of each group have for themselves.
        sizes: how many these are.
    """
    pitch = _SMALL_PITCHES[-1]
    while True:
        wide = {group: int(share / pitch) for group, share in shares.items()}
        if min(wide.values()) > 0:
            deep = max(-(-int(sizes[group]) // across) for group, across in wide.items())
            if deep * pitch <= _TALLEST:
                return deep, pitch
        pitch *= 0.95


class _RowWords:
    """The frames of one row: as many switches upon each other as leave room for all."""

    def __init__(
        self,
        row: NDArray[np.int64],
        groups: SwitchGroups,
        sizes: NDArray[np.int64],
        hosts: NDArray[np.int64],
        right: float,
    ) -> None:
        room = right - LEFT
        self.gap = float(np.clip(0.15 * room / len(row), 0.02, 0.25))
        self._pad = min(0.05, 0.08 * room / len(row))
        inner = room - len(row) * (self.gap + 2 * self._pad)
        self._titles = {group: shortened(groups.name[group], 22) for group in row.tolist()}
        self._counts = {
            group: counted(int(hosts[group]), "host") if hosts[group] else ""
            for group in row.tolist()
        }
        words = {
            group: max(
                text_size(self._titles[group], SMALL, True)[0],
                text_size(self._counts[group], TINY)[0],
            )
            for group in row.tolist()
        }
        self._flat = sum(words.values()) <= inner
        needed = words if self._flat else dict.fromkeys(words, min(0.09, inner / len(row)))
        total = int(sizes[row].sum())
        for self._deep, self.pitch in _shapes(int(sizes[row].max())):
            self._wide = {group: -(-int(sizes[group]) // self._deep) for group in row.tolist()}
            self._inner = {
                group: max(wide * self.pitch, needed[group]) for group, wide in self._wide.items()
            }
            if (spare := inner - sum(self._inner.values())) >= -1e-9:
                break
        else:
            shares = {group: inner * int(sizes[group]) / total for group in row.tolist()}
            self._deep, self.pitch = _fitting(shares, sizes)
            self._wide = {group: -(-int(sizes[group]) // self._deep) for group in row.tolist()}
            self._inner = {group: wide * self.pitch for group, wide in self._wide.items()}
            spare = inner - sum(self._inner.values())
        # Frames share what is left by their switches.
        for group in row.tolist():
            self._inner[group] += max(spare, 0.0) * int(sizes[group]) / total
        if self._flat:
            self._head, self._foot = _LINE, _LINE * any(self._counts.values())
        else:
            self._head = longest(list(self._titles.values()), SMALL, True) + 0.03
            self._foot = longest(list(self._counts.values()), TINY) + 0.03
        self.height = self._head + self._foot + self._deep * self.pitch + 2 * self._pad

    def width(self, group: int) -> float:
        """Of a frame, in inches."""
        return self._inner[group] + 2 * self._pad

    def places(self, box: Box, members: NDArray[np.int64], fabric: Fabric) -> Points:
        """Switches row by row, in the order of their names."""
        order = sorted(members.tolist(), key=lambda s: natural(fabric.switch_label[s]))
        rank = np.empty(len(members))
        rank[np.searchsorted(members, order)] = np.arange(len(members))
        wide = self._wide[box.group]
        left = box.x + (box.width - wide * self.pitch) / 2
        top = box.y + box.height - self._pad - self._head
        x = left + (rank % wide + 0.5) * self.pitch
        return np.stack([x, top - (rank // wide + 0.5) * self.pitch], axis=1)

    def labels(self, box: Box) -> list[Label]:
        """The name of a group, and its hosts."""
        turn = 0.0 if self._flat else 90.0
        middle = box.x + box.width / 2
        head = box.y + box.height - self._pad - self._head / 2
        words = [Label(middle, head, self._titles[box.group], turn, bold=True)]
        if self._counts[box.group]:
            foot = box.y + self._pad + self._foot / 2
            words.append(Label(middle, foot, self._counts[box.group], turn, colour=HOST, size=TINY))
        return words


def _ordered(
    rows: list[NDArray[np.int64]],
    ends: NDArray[np.int64],
    cables: NDArray[np.int64],
    groups: SwitchGroups,
) -> list[NDArray[np.int64]]:
    """Groups in the order of their names, then each near what it is cabled to."""
    size = len(groups.level)
    weight = np.zeros((size, size))
    weight[ends[:, 0], ends[:, 1]] = cables
    weight += weight.T
    rows = [np.array(sorted(row.tolist(), key=lambda g: natural(groups.name[g]))) for row in rows]
    x = np.zeros(size)

    def put(row: NDArray[np.int64]) -> None:
        x[row] = (np.arange(len(row)) + 0.5) / len(row)

    for row in rows:
        put(row)
    best, fewest = list(rows), _crossings(rows, weight)
    for sweep in range(_SWEEPS):
        upwards = sweep % 2 == 0
        for at in range(1, len(rows)) if upwards else range(len(rows) - 2, -1, -1):
            beside = rows[at - 1] if upwards else rows[at + 1]
            pull = weight[np.ix_(rows[at], beside)]
            total = pull.sum(axis=1)
            mean = np.where(total > 0, pull @ x[beside] / np.maximum(total, 1), x[rows[at]])
            rows[at] = rows[at][np.argsort(np.round(mean, 3), kind="stable")]
            put(rows[at])
        # The order of names is easier to find one's way in: it yields to far fewer crossings only.
        if (crossings := _crossings(rows, weight)) < _FEWER * fewest:
            best, fewest = list(rows), crossings
    return best


def _crossings(rows: list[NDArray[np.int64]], weight: Points) -> float:
    """Pairs of cables between neighbouring rows that cross."""
    total = 0.0
    for lower, upper in pairwise(rows):
        cables = weight[np.ix_(lower, upper)]
        # Of each pair of groups below, cables of the right one that end left of the left one's.
        before = np.cumsum(cables, axis=1) - cables
        above = np.cumsum(before[::-1], axis=0)[::-1] - before
        total += float((cables * above).sum())
    return total


def _bundle_paths(
    ends: NDArray[np.int64], boxes: dict[int, Box]
) -> tuple[list[Path], list[tuple[Points, Points]]]:
    """From frame to frame; each has its own place at both, in the order of the other ends."""
    leaving: dict[tuple[int, bool], list[tuple[float, int]]] = {}
    for bundle, (one, other) in enumerate(ends.tolist()):
        for here, there in ((one, other), (other, one)):
            up = boxes[there].y >= boxes[here].y
            middle = boxes[there].x + boxes[there].width / 2
            leaving.setdefault((here, up), []).append((middle, bundle))
    at: dict[tuple[int, int], Points] = {}
    for (here, up), others in leaving.items():
        box = boxes[here]
        for rank, (_, bundle) in enumerate(sorted(others)):
            x = box.x + box.width * (rank + 0.5) / len(others)
            at[bundle, here] = np.array([x, box.y + box.height * up])
    paths: list[Path] = []
    ports: list[tuple[Points, Points]] = []
    for bundle, (one, other) in enumerate(ends.tolist()):
        low, high = sorted((at[bundle, one], at[bundle, other]), key=lambda end: float(end[1]))
        ports.append((low, high))
        if boxes[one].y == boxes[other].y:
            lift = np.array([(low[0] + high[0]) / 2, low[1] + 0.55 * _GAP])
            paths.append(Path([low, lift, high], [1, 3, 3]))
        else:
            paths.append(Path([low, high]))
    return paths, ports


def _bundle_labels(
    paths: list[Path], ports: list[tuple[Points, Points]], cables: NDArray[np.int64]
) -> list[Label]:
    """How many cables each bundle has, near one of its ends, the thinnest first."""
    between = grouped(range(len(ports)), lambda at: tuple(float(end[1]) for end in ports[at]))
    labels = []
    for bundles in between.values():
        if len(bundles) > _FEW and len(np.unique(cables[bundles])) == 1:
            continue  # The words beside the rows say it.
        for bundle in sorted(bundles, key=lambda bundle: int(cables[bundle])):
            low, high = ports[bundle]
            text, key = f"{cables[bundle]:,}", f"bundle {bundle}"
            for share in (0.1, 0.9, 0.2, 0.8) if len(paths[bundle]) == 2 else (0.5,):
                x, y = (low + share * (high - low)).tolist()
                labels.append(Label(x, y, text, size=TINY, key=key))
    return labels


def _between_rows(
    ends: NDArray[np.int64],
    cables: NDArray[np.int64],
    rows: list[NDArray[np.int64]],
    boxes: dict[int, Box],
) -> list[Label]:
    """What joins two neighbouring rows, in words beside them."""
    labels = []
    for lower, upper in pairwise(rows):
        joins = np.isin(ends, lower).sum(axis=1) + 10 * np.isin(ends, upper).sum(axis=1) == 11
        if not joins.any():
            continue
        box = boxes[int(lower[0])]
        y = box.y + box.height + _GAP / 2
        least, most = int(cables[joins].min()), int(cables[joins].max())
        each = f"{least:,} each" if least == most else f"{least:,} to {most:,} each"
        words = [counted(int(cables[joins].sum()), "cable"), counted(int(joins.sum()), "bundle")]
        words[1] = f"in {words[1]}"
        for rank, text in enumerate([*words, each]):
            below = y + (1 - rank) * _LINE
            labels.append(Label(LEFT - 0.12, below, text, 0, "right", size=TINY, colour=_QUIET))
    return labels
