"""Pictures of fabrics, with cables coloured by what they carry, and of an all-to-all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize, to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import StrMethodFormatter
from numpy.typing import NDArray

from contend.errors import UsageError
from contend.fabric import Fabric, cables_per_pair
from contend.report.fabric.layout import Layout, place_switches, without_idle
from contend.report.style import COLOURS, new_figure, styled, title
from contend.units import counted

_WIDTH = 7.0  # inches, both columns of a page
_GAP = 1.75  # inches between two levels
_ROOM = 72 * 0.75 * _WIDTH  # points that the switches of a level have, beside labels and colour bar
_MOST_VECTOR_LINES = 4000
_CURVE_POINTS = 17
_BELOW, _TICK = -0.09, 0.14  # where hosts begin below the leaves, and their length, in gaps
_SWITCH = "#222222"
_HOST = COLOURS[0]
_PLAIN = "#8C9BA8"
_IDLE = "#D5D5D5"
# From light blue over purple to dark red: no grey between, brightness falls all the way.
_LOADS = LinearSegmentedColormap.from_list(
    "loads", ["#A9CDEB", "#7A93D0", "#8F5BB5", "#BF2A57", "#8A0A0A"]
)


def fabric_figure(fabric: Fabric, load: NDArray[np.uint64] | None = None) -> Figure:
    """Draws a fabric: trees level by level with hosts below, others on a circle.

    Args:
        fabric: the fabric.
        load: routes over every channel between switches, shape [2 cables]; a line then has the
            colour of the busiest channel between its two switches, the busiest drawn on top.
    """
    whole = fabric
    fabric, load = without_idle(fabric, load)
    layout = place_switches(fabric)
    with styled():
        height = 1.1 + _GAP * layout.height[-1] if layout.is_tree else _WIDTH - 0.9
        figure = new_figure(height=max(height, 1.8), width=_WIDTH)
        axes = figure.subplots()
        axes.set_axis_off()
        keys = _draw_cables(figure, axes, fabric, layout, load)
        size = _draw_switches(axes, fabric, layout)
        if layout.is_tree:
            _draw_hosts_below(axes, fabric, layout)
            _label_levels(axes, fabric, layout)
        else:
            _draw_hosts_around(axes, fabric, layout)
            switches = Line2D([], [], color=_SWITCH, marker="s", markersize=size, linestyle="")
            hosts = Line2D([], [], color=_HOST, linewidth=0.8)
            keys[counted(fabric.switches, "switch")] = switches
            keys[counted(fabric.hosts, "host")] = hosts
        if fabric.switches < whole.switches:
            left_out = f"{counted(whole.switches - fabric.switches, 'idle switch')} not drawn"
            keys[left_out] = Line2D([], [], linestyle="")
        if keys:
            figure.legend(
                keys.values(), keys.keys(), loc="outside lower center", ncols=4, fontsize=7.5
            )
        title(figure, _finding(whole, load))
    return figure


def _draw_cables(
    figure: Figure,
    axes: Axes,
    fabric: Fabric,
    layout: Layout,
    load: NDArray[np.uint64] | None,
) -> dict[str, Line2D]:
    """Draws one line per joined pair of switches; what a key should explain of them."""
    low, high, cables = cables_per_pair(fabric)
    keys: dict[str, Line2D] = {}
    if len(low) == 0:
        return keys
    width = np.clip(14 / np.sqrt(len(low)), 0.2, 1.3)
    busiest = np.zeros(len(low)) if load is None else _busiest(fabric, low, high, load)
    # Even loads have the colour in the middle: only what exceeds twice the mean darkens the scale.
    mean = 0.0 if load is None else float(load.mean())
    norm = Normalize(0, max(float(busiest.max()), 2 * mean, 1))
    colour = _LOADS(norm(busiest))
    colour[busiest == 0] = to_rgba(_PLAIN if load is None else _IDLE)
    order = np.argsort(busiest, kind="stable")
    lines = LineCollection(
        list(_paths(layout, low, high)[order]),
        linewidths=(width * np.sqrt(cables))[order],
        colors=colour[order],
        capstyle="round",
        zorder=1,
    )
    lines.set_rasterized(len(low) > _MOST_VECTOR_LINES)
    axes.add_collection(lines)
    if load is not None:
        bar = figure.colorbar(
            ScalarMappable(norm, _LOADS), ax=axes, shrink=0.85, aspect=28, pad=0.03
        )
        bar.set_label("routes over the busiest channel of a line")
        bar.ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        bar.outline.set_visible(False)
        bar.ax.axhline(mean, color="white", linewidth=1)
        bar.ax.text(-0.25, mean, "mean", ha="right", va="center", fontsize=6)
        if bool(np.any(busiest == 0)):
            keys["no route"] = Line2D([], [], color=_IDLE, linewidth=1.3)
    if len(np.unique(cables)) > 1 or cables[0] > 1:
        most = int(cables.max())
        keys[counted(most, "cable")] = Line2D([], [], color=_PLAIN, linewidth=width * np.sqrt(most))
        if cables.min() < most:
            fewest = int(cables.min())
            name = counted(fewest, "cable")
            keys[name] = Line2D([], [], color=_PLAIN, linewidth=width * np.sqrt(fewest))
    return keys


def _paths(layout: Layout, low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.float64]:
    """Straight lines in a tree; on a circle curves, the farther they lead the nearer its centre."""
    places = np.stack([layout.x, layout.y], axis=1)
    start, end = places[low], places[high]
    if layout.is_tree:
        return np.stack([start, end], axis=1)
    middle = (start + end) / 2
    # Opposite switches have the centre between them; neighbours keep close to the rim.
    bend = middle * np.linalg.norm(middle, axis=1, keepdims=True) ** 3
    t = np.linspace(0, 1, _CURVE_POINTS)[None, :, None]
    curve = (1 - t) ** 2 * start[:, None] + 2 * t * (1 - t) * bend[:, None] + t**2 * end[:, None]
    return np.asarray(curve)


def _busiest(
    fabric: Fabric, low: NDArray[np.int64], high: NDArray[np.int64], load: NDArray[np.uint64]
) -> NDArray[np.float64]:
    """The largest load of any channel between two switches, shape [pairs]."""
    per_cable = load.reshape(-1, 2).max(axis=1).astype(np.float64)
    ends = np.stack([fabric.cable_from, fabric.cable_to]).astype(np.int64)
    pair = np.searchsorted(
        low * fabric.switches + high, ends.min(axis=0) * fabric.switches + ends.max(axis=0)
    )
    busiest = np.zeros(len(low))
    np.maximum.at(busiest, pair, per_cable)
    return busiest


def _draw_switches(axes: Axes, fabric: Fabric, layout: Layout) -> float:
    """Draws the switches; the size of their squares in points."""
    room = _ROOM * _closest(layout) if layout.is_tree else 2.2 * _ROOM / fabric.switches
    size = float(np.clip(0.7 * room, 1.0, 7.0))
    axes.plot(layout.x, layout.y, "s", color=_SWITCH, markersize=size, markeredgewidth=0, zorder=3)
    return size


def _closest(layout: Layout) -> float:
    """The least distance of two switches of a level."""
    order = np.lexsort((layout.x, layout.level))
    steps = np.diff(layout.x[order])[np.diff(layout.level[order]) == 0]
    return float(steps.min(initial=1.0))


def _draw_hosts_below(axes: Axes, fabric: Fabric, layout: Layout) -> None:
    """A tick for every host, or bars as long as there are hosts where ticks would run together."""
    hosts_at = np.bincount(fabric.host_switch, minlength=fabric.switches)
    leaves = np.flatnonzero(hosts_at)
    room, most = 1 / np.count_nonzero(layout.level == 1), int(hosts_at.max())
    if _ROOM * room / (most + 1) < 1:
        bottom = _BELOW - _TICK * hosts_at[leaves] / most
        axes.vlines(layout.x[leaves], bottom, _BELOW, color=_HOST, linewidth=0.6 * _ROOM * room)
        return
    switch = np.repeat(leaves, hosts_at[leaves])
    rank = np.concatenate([np.arange(count) for count in hosts_at[leaves]])
    x = layout.x[switch] + (rank - (hosts_at[switch] - 1) / 2) * 0.8 * room / most
    axes.vlines(x, _BELOW - _TICK, _BELOW, color=_HOST, linewidth=0.8)
    down = np.stack([x, np.full(len(x), _BELOW)], axis=1)
    up = np.stack([layout.x[switch], np.zeros(len(x))], axis=1)
    fan = np.stack([down, up], axis=1)
    axes.add_collection(LineCollection(list(fan), colors=_HOST, linewidths=0.3, zorder=2))


def _draw_hosts_around(axes: Axes, fabric: Fabric, layout: Layout) -> None:
    hosts_at = np.bincount(fabric.host_switch, minlength=fabric.switches)
    switch = np.repeat(np.arange(fabric.switches), hosts_at)
    rank = np.concatenate([np.arange(count) for count in hosts_at])
    step = 0.8 * 2 * np.pi / fabric.switches / int(hosts_at.max())
    angle = np.arctan2(layout.y, layout.x)[switch] + (rank - (hosts_at[switch] - 1) / 2) * step
    towards = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    ticks = np.stack([1.03 * towards, 1.07 * towards], axis=1)
    axes.add_collection(LineCollection(list(ticks), colors=_HOST, linewidths=0.8))
    axes.set_aspect("equal")
    axes.set(xlim=(-1.1, 1.1), ylim=(-1.1, 1.1))


def _label_levels(axes: Axes, fabric: Fabric, layout: Layout) -> None:
    for level, y in enumerate(layout.height, 1):
        count = int(np.count_nonzero(layout.level == level))
        axes.text(-0.015, y, counted(count, "switch"), ha="right", va="center", color=_SWITCH)
    hosts = counted(fabric.hosts, "host")
    axes.text(-0.015, _BELOW - _TICK / 2, hosts, ha="right", va="center", color=_HOST)
    axes.set_xlim(-0.14, 1.01)
    axes.set_ylim(_BELOW - 1.1 * _TICK, layout.height[-1] + 0.05)


def _finding(fabric: Fabric, load: NDArray[np.uint64] | None) -> str:
    if load is None or not load.any():
        return (
            f"{fabric.name}: {counted(fabric.hosts, 'host')}, {counted(fabric.switches, 'switch')}"
        )
    ratio = float(load.max()) / float(load.mean())
    return f"{fabric.name}: the busiest channel of an all-to-all carries {ratio:.1f} times the mean"


MOST_POINTS = 1000
_PANELS_A_ROW = 3
_PANEL = 2.3  # inches


def alltoall_figure(counts: Sequence[int]) -> Figure:
    """One panel for each number of processes; a line is a pair, which exchanges two messages.

    Args:
        counts: numbers of processes, each from 2 to `MOST_POINTS`: beyond, lines fill the circle.

    Raises:
        UsageError: for no numbers, or one out of range.
    """
    if not counts or min(counts) < 2 or max(counts) > MOST_POINTS:
        raise UsageError(f"expected numbers of processes from 2 to {MOST_POINTS:,}")
    columns = min(len(counts), _PANELS_A_ROW)
    rows = -(-len(counts) // columns)
    with styled():
        figure = new_figure(height=(_PANEL + 0.2) * rows + 0.35, width=max(_PANEL * columns, 3.5))
        panels = figure.subplots(rows, columns, squeeze=False)
        for panel in panels.flat:
            panel.set_axis_off()
        for panel, count in zip(panels.flat, counts, strict=False):
            angle = np.pi / 2 - 2 * np.pi * np.arange(count) / count
            places = np.stack([np.cos(angle), np.sin(angle)], axis=1)
            first, second = np.triu_indices(count, 1)
            width = float(np.clip(8 / count, 0.04, 0.9))
            lines = LineCollection(
                list(np.stack([places[first], places[second]], axis=1)),
                colors=COLOURS[0],
                linewidths=width,
                alpha=min(1.0, 36 / count) ** 1.5,
                rasterized=len(first) > _MOST_VECTOR_LINES,
            )
            panel.add_collection(lines)
            size = float(np.clip(120 / count, 0.6, 5))
            panel.plot(*places.T, "o", color="#222222", markersize=size, markeredgewidth=0)
            panel.set_aspect("equal")
            panel.set(xlim=(-1.08, 1.08), ylim=(-1.08, 1.08))
            messages = f"N = {count:,}: {count * (count - 1):,} messages"
            panel.set_title(messages, fontsize=7.5)
        title(figure, "In an all-to-all every process sends to every other")
    return figure
