"""The connections of an all-to-all as a picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from contend.errors import UsageError
from contend.report.style import COLOURS, new_figure, styled, title

_MOST_VECTOR_LINES = 4000
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
