"""Where switches without levels stand: in grids, on circles of groups, or by distance."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
from matplotlib.path import Path
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import laplacian, shortest_path
from scipy.sparse.linalg import eigsh

from contend.base.units import counted
from contend.fabric import Fabric, grid_coordinates, group_circle, short_names
from contend.report.fabric.scene import (
    LEAST_PITCH,
    SMALL,
    TINY,
    Label,
    Points,
    Scene,
    adjacency_of,
    lines_of_pairs,
    longest,
    shortened,
    text_size,
)

_SMALL_MATRIX = 64
_MOST_BY_DISTANCE = 400
# Below this second eigenvalue a network has parts that hang together by few cables.
_BOTTLENECK = 0.1
_RING_END = 4  # points of a line that leaves at one edge and comes back at another
_UP_TO_NUMBER = re.compile(r"\D*\d+")


def without_levels(fabric: Fabric, right: float) -> Scene:
    """Grids as grids, groups around a circle, others on a circle or as far apart as by cables."""
    grid = grid_coordinates(fabric)
    if grid is not None:
        return _in_grid(fabric, grid, right)
    group = group_circle(fabric)
    if group is not None:
        return _circle_of_groups(fabric, group, right)
    low, high, line_of = lines_of_pairs(fabric.cable_from, fabric.cable_to, fabric.switches)
    adjacency = adjacency_of(fabric.switches, low, high)
    if fabric.switches <= _MOST_BY_DISTANCE and _second_eigenvalue(adjacency) < _BOTTLENECK:
        return _by_distance(fabric, adjacency, low, high, line_of, right)
    return _on_circle(fabric, adjacency, low, high, line_of, right)


def _in_grid(fabric: Fabric, coordinates: NDArray[np.int64], right: float) -> Scene:
    """The first two dimensions as a grid, the third aslant, others as grids of such grids."""
    sizes = coordinates.max(axis=0) + 1
    step = _steps(sizes)
    flat = coordinates @ step
    extent = np.ptp(flat, axis=0) + 1.4
    cell = float(min((right - 0.1) / extent[0], 8.5 / extent[1], 0.8))
    place = (flat - flat.min(axis=0) + 0.7) * cell
    place[:, 0] += max(0.0, (right - extent[0] * cell) / 2)
    low, high, line_of = lines_of_pairs(fabric.cable_from, fabric.cable_to, fabric.switches)
    shift = coordinates[high] - coordinates[low]
    lines = []
    for one, other, change in zip(place[low], place[high], shift, strict=True):
        changed = np.flatnonzero(change)
        along = int(changed[0])
        ring = abs(int(change[along])) == sizes[along] - 1 and sizes[along] > 2
        mesh = _has_chords(shift[:, along], int(sizes[along]))
        if len(changed) == 1 and ring and not mesh:
            # A ring's last cable leaves at one edge and comes back at the other.
            out = -np.sign(change[along]) * step[along] * cell * 0.42
            lines.append(Path([one, one + out, other, other - out], [1, 2, 1, 2]))
        elif len(changed) == 1 and abs(int(change[along])) == 1 and along < 3:
            lines.append(Path([one, other]))
        else:
            lines.append(_bent(one, other))
    side = float(np.clip(0.2 * cell, 0.03, 0.12))
    names = [shortened(name) for name in short_names(fabric)]
    room = cell * (0.95 if len(sizes) < 3 else 0.5)
    labels = [
        Label(x + side / 2 + 0.02, y + 0.02, name, 0, "left", "bottom", size=TINY)
        for name, (x, y) in zip(names, place.tolist(), strict=True)
        if text_size(name, TINY)[0] < room
    ]
    aslant = np.tile([0.5, -0.5], (fabric.switches, 1)) * np.sqrt(2)
    height = float(extent[1] * cell)
    scene = Scene(height, place, side, aslant, 0.35 * cell, lines, line_of, labels)
    return replace(scene, ring_ends=any(len(line) == _RING_END for line in lines))


def _has_chords(shift: NDArray[np.int64], size: int) -> bool:
    """Whether a dimension has cables between others than neighbours and both ends."""
    return bool(np.any((np.abs(shift) > 1) & (np.abs(shift) < size - 1)))


def _steps(sizes: NDArray[np.int64]) -> Points:
    """Where one step of every dimension leads, in cells; shape [dimensions, 2]."""
    steps = [np.array([1.0, 0.0]), np.array([0.0, 1.0])]
    width, height = float(sizes[0]), float(sizes[1])
    for at in range(2, len(sizes)):
        if at == 2:
            steps.append(np.array([0.62, 0.48]) / (sizes[2] - 1))
        elif at % 2:
            steps.append(np.array([width + 0.6, 0.0]))
            width = (width + 0.6) * sizes[at]
        else:
            steps.append(np.array([0.0, height + 0.6]))
            height = (height + 0.6) * sizes[at]
    return np.array(steps)


def _bent(one: Points, other: Points, by: float = 0.14) -> Path:
    middle = (one + other) / 2
    away = np.array([other[1] - one[1], one[0] - other[0]])
    return Path([one, middle + 2 * by * away, other], [1, 3, 3])


def _circle_of_groups(fabric: Fabric, group: NDArray[np.int64], right: float) -> Scene:
    """Groups around a circle, the switches of each around a small one."""
    groups = int(group.max()) + 1
    size = right - 0.1
    names = short_names(fabric)
    titles = [
        _group_title([fabric.switch_name[s] for s in np.flatnonzero(group == at).tolist()])
        for at in range(groups)
    ]
    margin = longest(titles, SMALL, True) + 0.35
    radius = size / 2 - margin
    small = float(min(0.29 * 2 * np.pi * radius / groups, 0.3 * radius))
    radius -= small
    centre = np.array([right / 2, radius + small + 0.45])
    angle = np.pi / 2 - 2 * np.pi * np.arange(groups) / groups
    around = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    place = np.zeros((fabric.switches, 2))
    towards = np.zeros((fabric.switches, 2))
    most = int(np.bincount(group).max())
    for at in range(groups):
        members = np.flatnonzero(group == at)
        turn = angle[at] - 2 * np.pi * (np.arange(len(members)) + 0.5) / len(members)
        towards[members] = np.stack([np.cos(turn), np.sin(turn)], axis=1)
        place[members] = centre + radius * around[at] + small * 0.8 * towards[members]
    low, high, line_of = lines_of_pairs(fabric.cable_from, fabric.cable_to, fabric.switches)
    lines = []
    for one, other in zip(low.tolist(), high.tolist(), strict=True):
        if group[one] == group[other]:
            lines.append(Path([place[one], place[other]]))
        else:
            middle = (place[one] + place[other]) / 2
            lines.append(
                Path([place[one], centre + 0.45 * (middle - centre), place[other]], [1, 3, 3])
            )
    labels = []
    for at, title in enumerate(titles):
        x, y = centre + (radius + small + 0.16) * around[at]
        across = "center" if abs(around[at, 0]) < 0.2 else "left" if around[at, 0] > 0 else "right"
        along = "center" if across != "center" else "bottom" if around[at, 1] > 0 else "top"
        labels.append(Label(float(x), float(y), title, 0, across, along, bold=True))
    side = float(np.clip(small * 1.2 / most, 0.03, 0.1))
    for number, (x, y), (dx, dy) in zip(names, place.tolist(), towards.tolist(), strict=True):
        last = number.split()[-1]
        if small > 0.32 and text_size(last, TINY)[0] < 0.5 * small:
            labels.append(Label(x - 0.11 * dx, y - 0.11 * dy, last, size=TINY))
    room = 0.75 * 2 * np.pi * small / most
    height = float(2 * (radius + small + 0.45))
    return Scene(height, place, side, towards, room, lines, line_of, labels)


def _group_title(names: list[str]) -> str:
    """What names have in common up to their first number."""
    starts = {match[0] if (match := _UP_TO_NUMBER.match(name)) else "" for name in names}
    title = starts.pop()
    return shortened(title) if title and not starts else counted(len(names), "switch")


def _on_circle(
    fabric: Fabric,
    adjacency: csr_array,
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    line_of: NDArray[np.int64],
    right: float,
) -> Scene:
    """All on a circle, in the order (as given, or spectral) whose cables span less of it."""
    size = fabric.switches
    best, shortest = np.arange(size), np.inf
    for order in (np.arange(size), np.argsort(_spectral_angle(adjacency), kind="stable")):
        rank = np.empty(size, dtype=np.int64)
        rank[order] = np.arange(size)
        span = np.abs(rank[low] - rank[high])
        total = float(np.minimum(span, size - span).sum())
        if total < shortest:
            best, shortest = rank, total
    angle = np.pi / 2 - 2 * np.pi * best / size
    around = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    names = [shortened(name) for name in short_names(fabric)]
    pitch = 2 * np.pi * (right / 2 - 0.4 - longest(names)) / size
    named = pitch >= LEAST_PITCH
    margin = 0.3 + (longest(names) if named else 0)
    radius = right / 2 - margin
    centre = np.array([right / 2, radius + margin])
    place = centre + radius * around
    lines = [
        Path([one, centre + bend, other], [1, 3, 3])
        for one, other, bend in zip(
            place[low], place[high], _bends(around[low], around[high]) * radius, strict=True
        )
    ]
    labels = []
    if named:
        rim = centre + (radius + 0.24) * around
        for name, turn, (x, y) in zip(
            names,
            np.degrees(angle).tolist(),
            rim.tolist(),
            strict=True,
        ):
            upright = abs((turn + 180) % 360 - 180) <= 90
            rotation, across = (turn, "left") if upright else (turn + 180, "right")
            labels.append(Label(x, y, name, rotation, across))
    side = float(np.clip(0.5 * 2 * np.pi * radius / size, 0.02, 0.12))
    room = 0.8 * 2 * np.pi * radius / size
    height = 2 * (radius + margin)
    return Scene(height, place, side, around, room, lines, line_of, labels)


def _bends(one: Points, other: Points) -> Points:
    """Opposite switches have the centre between them; neighbours keep close to the rim."""
    middle = (one + other) / 2
    bend: Points = middle * np.linalg.norm(middle, axis=1, keepdims=True) ** 3
    return bend


def _by_distance(
    fabric: Fabric,
    adjacency: csr_array,
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    line_of: NDArray[np.int64],
    right: float,
) -> Scene:
    """Switches as far apart as they are by cables: parts and what joins them can be seen.

    Stress majorisation (Gansner, Koren, North, Graph drawing by stress majorization, GD 2004).
    """
    hops = shortest_path(adjacency, unweighted=True, directed=False)
    finite = np.isfinite(hops)
    hops[~finite] = hops[finite].max() + 2
    unit = _majorised(hops, _spectral_places(adjacency))
    unit -= unit.min(axis=0)
    names = [shortened(name) for name in short_names(fabric)]
    margin = 0.35
    scale = min(
        (right - 2 * margin - longest(names)) / max(np.ptp(unit[:, 0]), 1e-9),
        7.0 / max(np.ptp(unit[:, 1]), 1e-9),
        1.3,
    )
    place = unit * scale + margin
    place[:, 0] += (right - np.ptp(place[:, 0])) / 2 - margin
    apart = np.linalg.norm(place[low] - place[high], axis=1)
    side = float(np.clip(0.25 * np.median(apart) if len(apart) else 0.1, 0.03, 0.11))
    labels = [
        Label(x, y + side / 2 + 0.03, name, 0, "center", "bottom")
        for name, (x, y) in zip(names, place.tolist(), strict=True)
    ]
    down = np.tile([0.0, -1.0], (fabric.switches, 1))
    lines = [Path(ends) for ends in np.stack([place[low], place[high]], axis=1)]
    height = float(np.ptp(place[:, 1])) + 2 * margin
    room = 4 * side
    return Scene(height, place, side, down, room, lines, line_of, labels)


def _majorised(hops: Points, place: Points, rounds: int = 150) -> Points:
    size = len(hops)
    weight = 1 / np.maximum(hops, 1) ** 2
    np.fill_diagonal(weight, 0)
    matrix = np.diag(weight.sum(axis=1)) - weight
    inverse = np.linalg.inv(matrix[1:, 1:]) if size > 1 else np.zeros((0, 0))
    for _ in range(rounds):
        apart = np.linalg.norm(place[:, None] - place[None], axis=2)
        ratio = -weight * hops / np.maximum(apart, 1e-6)
        np.fill_diagonal(ratio, 0)
        np.fill_diagonal(ratio, -ratio.sum(axis=1))
        moved = ratio @ place
        place = np.concatenate([np.zeros((1, 2)), inverse @ moved[1:]])
    return place


def _slowest_modes(adjacency: csr_array) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The three least eigenvalues of the normed Laplacian, and their vectors."""
    size = adjacency.shape[0]
    matrix = laplacian(adjacency, normed=True)
    if size <= _SMALL_MATRIX:
        values, vectors = np.linalg.eigh(matrix.toarray())
        values, vectors = values[:3], vectors[:, :3]
    else:
        # The largest eigenvalues of 2 - L belong to the smallest of L, and are found far faster.
        twice = csr_array((np.full(size, 2.0), (np.arange(size), np.arange(size))))
        values, vectors = eigsh(twice - matrix, k=3, v0=np.linspace(1, 2, size))
        order = np.argsort(-values)
        values, vectors = 2 - values[order], vectors[:, order]
    largest = np.abs(vectors).argmax(axis=0)
    return values, vectors * np.sign(vectors[largest, np.arange(vectors.shape[1])])


def _second_eigenvalue(adjacency: csr_array) -> float:
    return float(_slowest_modes(adjacency)[0][1]) if adjacency.shape[0] > 1 else 0.0


def _spectral_angle(adjacency: csr_array) -> NDArray[np.float64]:
    """The angle in the plane of the two slowest modes: around it, joined switches are near."""
    vectors = _slowest_modes(adjacency)[1]
    return np.arctan2(vectors[:, -1], vectors[:, -2])


def _spectral_places(adjacency: csr_array) -> Points:
    """Where majorisation begins: no two at one place."""
    size = adjacency.shape[0]
    angle = 2 * np.pi * np.argsort(np.argsort(_spectral_angle(adjacency), kind="stable")) / size
    places: Points = np.sqrt(size) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return places
