"""Labels written beside what they name, in as many rows as it takes for none to overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

# Width of a character and height of a row of text at 7 points within a column-wide panel about an
# inch high, as shares of the panel.
_CHARACTER = 0.0185
_ROW = 0.16


@dataclass(frozen=True)
class Label:
    """Text for the thing whose top is at (x, top), in data coordinates with x from 0 to 1."""

    text: str
    x: float
    top: float
    colour: str


def write_labels(axes: Axes, labels: Sequence[Label]) -> None:
    """Writes labels above everything drawn, each joined to its thing by a thin line."""
    rows = label_rows(labels)
    room = _ROW * (max(rows, default=0) + 1) + 0.04
    highest = max((label.top for label in labels), default=1) or 1
    full = highest / (1 - min(room, 0.8))
    axes.set_ylim(0, full)
    # Only what is drawn is scaled; the room above is for words.
    ticks = MaxNLocator(nbins=3, steps=[1, 2, 2.5, 5, 10]).tick_values(0, highest)
    axes.set_yticks([tick for tick in ticks if 0 <= tick <= highest * 1.05])
    for label, row in zip(labels, rows, strict=True):
        y = full * (1 - room + 0.04 + _ROW * (row + 0.5))
        left, right = _span(label)
        axes.plot(
            [label.x, label.x],
            [label.top, y - full * _ROW / 2.2],
            color=label.colour,
            linewidth=0.5,
        )
        axes.text(
            (left + right) / 2,
            y,
            label.text,
            color=label.colour,
            fontsize=7,
            ha="center",
            va="center",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.85},
        )


def label_rows(labels: Sequence[Label]) -> list[int]:
    """Row of every label, from 0 (lowest), so that no two of a row overlap."""
    rows = [0] * len(labels)
    taken: list[list[tuple[float, float]]] = []
    for i in sorted(range(len(labels)), key=lambda i: labels[i].x):
        left, right = _span(labels[i])
        row = 0
        while row < len(taken) and any(left < r and lo < right for lo, r in taken[row]):
            row += 1
        if row == len(taken):
            taken.append([])
        taken[row].append((left, right))
        rows[i] = row
    return rows


def _span(label: Label) -> tuple[float, float]:
    """Left and right end of a label's text, kept within the panel."""
    width = _CHARACTER * (len(label.text) + 1)
    left = min(max(label.x - width / 2, 0), max(1 - width, 0))
    return left, left + width
