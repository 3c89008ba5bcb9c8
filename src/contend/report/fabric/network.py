"""Drawings of networks: every switch, cables or bundles of them coloured by heat, faults marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import UsageError
from contend.base.units import counted
from contend.congestion import LinkRates
from contend.fabric import Fabric, cables_per_pair, is_tree
from contend.report.fabric.marks import FAULT, Mark, Marked, numbered_marks
from contend.report.fabric.scene import (
    MOST_HOSTS,
    SMALL,
    TOO_LARGE,
    WIDTH,
    Drawn,
    Layer,
    Scene,
    layer_of,
    what_is_drawn,
)
from contend.report.style import COLOURS, new_figure, styled, title, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LINE = 0.125  # inches
_MOST_VECTOR_LINES = 4000
MOST_POINTS = 1000
_PANELS_A_ROW = 3
_PANEL = 2.3  # inches


def fabric_figure(
    fabric: Fabric,
    load: NDArray[np.uint64] | NDArray[np.float64] | None = None,
    *,
    unit: str = "routes",
    rates: LinkRates | None = None,
    finding: str = "",
    marks: Sequence[Mark] = (),
) -> Figure:
    """Draws a fabric: trees level by level, large ones by groups, others by what they are.

    Hot channels and faults are marked and named below. In SVG and HTML every switch and line says
    what it is when one points at it.

    Args:
        fabric: the fabric.
        load: of every channel between switches, shape [2 cables]; a line then has the colour of
            the hottest channel that it stands for, the hottest drawn on top.
        unit: what is counted in `load`.
        rates: by which `load` becomes heat; None is the fabric's own.
        finding: the title; by default what is drawn.
        marks: what else to point out, by numbers of the fabric.

    Raises:
        UsageError: it has more than `MOST_HOSTS` hosts.
    """
    # Here, as below: documents of networks are made without what draws them.
    from contend.report.fabric.painting import Keys, Painting

    if fabric.hosts > MOST_HOSTS:
        raise UsageError(f"{fabric.name} has {counted(fabric.hosts, 'host')}. {TOO_LARGE}")
    heated = None if load is None else layer_of(fabric, load.astype(np.float64), unit, rates)
    drawn = what_is_drawn(fabric, heated)
    right = WIDTH - (1.0 if load is not None else 0.15)
    scene = arranged(drawn, right)
    marked = numbered_marks(fabric, heated, marks)
    with styled():
        keys = Keys()
        words = finding or _finding(fabric, heated, marked)
        top = 0.12 + 0.14 * (wrapped(words, int(48 * WIDTH / 3.5)).count("\n") + 1)
        paint = Painting(drawn, heated, scene, marked, keys)
        paint.fill_keys()
        bottom = 0.12 + keys.height + _LINE * len(marked.lines)
        figure = new_figure(height=max(scene.height + top + bottom, 1.6), width=WIDTH)
        figure.set_layout_engine("none")
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set(xlim=(0, WIDTH), ylim=(-bottom, figure.get_figheight() - bottom))
        paint.paint(figure, axes, right)
        for rank, line in enumerate(marked.lines):
            y = -0.04 - _LINE * (rank + 0.5)
            axes.text(0.1, y, line, ha="left", va="center", fontsize=SMALL)
        keys.write(figure)
        title(figure, words)
        # As far from the edge in tall drawings as in low ones.
        figure.texts[0].set_y(1 - 0.06 / figure.get_figheight())
    return figure


def arranged(drawn: Drawn, right: float) -> Scene:
    """Where everything stands that is drawn, from the left edge to the right one, in inches."""
    from contend.report.fabric.bundles import bundled
    from contend.report.fabric.flat_layout import without_levels
    from contend.report.fabric.layout import leveled

    fabric, groups = drawn.fabric, drawn.groups
    if groups is not None:
        return bundled(fabric, groups, right)
    low, high, _ = cables_per_pair(fabric)
    if not len(low) or is_tree(drawn.level, low, high):
        return leveled(fabric, drawn.level, right)
    return without_levels(fabric, right)


def _finding(fabric: Fabric, load: Layer | None, marked: Marked) -> str:
    if load is not None and load.heat.any():
        ratio = float(load.heat.max()) / float(load.heat.mean())
        does, mean = ("needs", "mean time") if load.port else ("carries", "mean")
        hottest = f"the hottest channel of an all-to-all {does} {ratio:.1f} times the {mean}"
        return f"{fabric.name}: {hottest}"
    wrong = sum(mark.kind == FAULT for _, mark in marked.marks)
    parts = [
        counted(fabric.hosts, "host"),
        counted(fabric.switches, "switch"),
        f"{counted(fabric.cables, 'cable')} between them",
        *([f"{counted(wrong, 'fault')} marked"] if wrong else []),
    ]
    return f"{fabric.name}: {', '.join(parts)}"


def alltoall_figure(counts: Sequence[int]) -> Figure:
    """One panel for each number of processes; a line is a pair, which exchanges two messages.

    Args:
        counts: numbers of processes, each from 2 to `MOST_POINTS`: beyond, lines fill the circle.

    Raises:
        UsageError: for no numbers, or one out of range.
    """
    from matplotlib.collections import LineCollection

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
