"""Histograms of the bandwidth of samples: by fabric and routing, and with both bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from contend.congestion import Average, Simulation
from contend.report.simulation.tables import AXIS_WORDS, engine_labels, labels, scaled_by
from contend.report.style import (
    COLOURS,
    QUIET,
    bandwidth_axis,
    new_figure,
    percent_axis,
    styled,
    title,
    write_beside,
)
from contend.report.words import percent

# Width of a character at 7 points, as a share of a panel as wide as a column.
_CHARACTER = 0.0185
# In inches: a row of text, what is drawn below all rows, and what is between two panels.
_ROW, _DRAWN, _BETWEEN = 0.125, 0.6, 0.3
# Letters that stand on lines.
_ON_LINES = {"facecolor": "white", "edgecolor": "none", "pad": 0.3, "alpha": 0.8}


@dataclass(frozen=True)
class BarLabel:
    """Text for the thing whose top is at (x, top), in data coordinates with x from 0 to 1."""

    text: str
    x: float
    top: float
    colour: str


def write_labels(axes: Axes, labels: Sequence[BarLabel], height: float) -> None:
    """Writes labels above everything drawn, each joined to its thing by a thin line.

    Args:
        axes: where all is drawn.
        labels: what to write.
        height: of the axes, in inches.
    """
    rows = label_rows(labels)
    row_share = min(_ROW / height, 0.6 / (max(rows, default=0) + 1))
    room = row_share * (max(rows, default=0) + 1) + 0.04
    highest = max((label.top for label in labels), default=1) or 1
    full = highest / (1 - room)
    axes.set_ylim(0, full)
    # Only what is drawn is scaled; the room above is for words.
    ticks = MaxNLocator(nbins=3, steps=[1, 2, 2.5, 5, 10]).tick_values(0, highest)
    axes.set_yticks([tick for tick in ticks if 0 <= tick <= highest * 1.05])
    for label, row in zip(labels, rows, strict=True):
        y = full * (1 - room + 0.04 + row_share * (row + 0.5))
        left, right = _span(label)
        axes.plot(
            [label.x, label.x],
            [label.top, y - full * row_share / 2.2],
            color=label.colour,
            linewidth=0.5,
            zorder=1.5,
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


def label_rows(labels: Sequence[BarLabel]) -> list[int]:
    """Row of every label, from 0 (lowest), so that none covers another one or its line."""
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
        for below in taken[:row]:
            below.append((labels[i].x, labels[i].x))
        rows[i] = row
    return rows


def _span(label: BarLabel) -> tuple[float, float]:
    """Left and right end of a label's text, kept within the panel.

    It ends at its line: those of labels further right pass it by.
    """
    width = _CHARACTER * (len(label.text) + 1)
    left = min(max(label.x - width + 0.5 * _CHARACTER, 0.01), max(1 - width, 0))
    return left, left + width


def mark_rated(axes: Axes, rated: Sequence[float | None], outlines: Sequence[_Outline]) -> None:
    """A broken vertical line at every rated bandwidth."""
    middle = [float(np.median(curve.values)) for curve in outlines]
    for value in dict.fromkeys(value for value in rated if value is not None):
        axes.axvline(value, color=QUIET, linewidth=0.8, linestyle=(0, (3, 2)), zorder=0.5)
        text = f"narrowest cut {percent(value)}".replace(".0 %", " %")
        # The text stands on the side of the line with fewer samples or, where there is no room,
        # above the panel.
        left = value > 0.7 or any(each > value for each in middle)
        no_room = value < _CHARACTER * len(text)
        above = value > 0.7 or (left and no_room)
        left = left and not no_room
        write_beside(
            axes,
            text,
            (value, 1 if above else 0.5),
            (0, 2) if above else (-2 if left else 2, 0),
            xycoords=("data", "axes fraction"),
            ha="right" if left else "left",
            va="bottom" if above else "center",
            color=QUIET,
            bbox=_ON_LINES,
        )


_FINE_BINS, _COARSE_BINS = 100, 50
# Above this spread of the samples bins of 1 % would show combs rather than shapes.
_WIDE = 0.1


def bandwidth_histogram(
    simulations: Sequence[Simulation],
    *,
    average: Average = Average.OF_MEAN_CONGESTION,
    rated: Sequence[float | None] = (),
    reference: Sequence[float | None] = (),
    reference_name: str = "paper",
) -> Figure:
    """Fraction of samples by bandwidth, one panel for each fabric, one outline for each routing.

    Args:
        simulations: at least one; those of one fabric share a panel.
        average: which bandwidth of a sample.
        rated: rated bisection bandwidth for each simulation, marked by a broken line.
        reference: a number known from elsewhere for each simulation, marked by a triangle.
        reference_name: what the triangle is called.
    """
    outlines = _outlines(simulations, [s.scale * s.bandwidths(average) for s in simulations])
    panels = []
    for fabric in dict.fromkeys(s.fabric.name for s in simulations):
        members = [i for i, s in enumerate(simulations) if s.fabric.name == fabric]
        panels.append(
            _Panel(
                fabric if len(simulations) > 1 else "",
                [outlines[i] for i in members],
                [rated[i] for i in members if rated],
                [reference[i] for i in members if reference],
            )
        )
    words, finding = _axis_words(simulations, average), _bandwidth_finding(simulations, average)
    return _stacked(panels, reference_name, words, finding)


@dataclass(frozen=True)
class _Outline:
    name: str
    values: NDArray[np.float64]
    colour: str
    style: str = "-"


@dataclass(frozen=True)
class _Panel:
    """Histograms over each other, and what stands beside them."""

    title: str
    outlines: Sequence[_Outline]
    rated: Sequence[float | None] = ()
    reference: Sequence[float | None] = ()

    def labels(self, edges: NDArray[np.float64], reference_name: str) -> list[BarLabel]:
        """Every histogram with its mean, those that are the same together, and other numbers."""
        alike: dict[bytes, list[_Outline]] = {}
        for curve in self.outlines:
            alike.setdefault(curve.values.tobytes(), []).append(curve)
        labels = []
        for curves in alike.values():
            # The last is drawn above the others.
            values, colour = curves[-1].values, curves[-1].colour
            names = ", ".join(curve.name for curve in curves)
            mean, top = float(values.mean()), float(fractions(values, edges).max())
            labels.append(BarLabel(f"{names} {percent(mean)}".strip(), mean, top, colour))
        labels += [
            BarLabel(f"{reference_name} {percent(value)}", value, 0.0, "black")
            for value in dict.fromkeys(value for value in self.reference if value is not None)
        ]
        return labels


def _stacked(panels: Sequence[_Panel], reference_name: str, words: str, finding: str) -> Figure:
    """Panels below each other, each as high as its labels need beside what is drawn."""
    edges = bin_edges([curve.values for panel in panels for curve in panel.outlines])
    heights = []
    for panel in panels:
        rows = max(label_rows(panel.labels(edges, reference_name))) + 1
        heights.append(_DRAWN + _ROW * rows)
    with styled():
        figure = new_figure(height=0.97 + sum(heights) + _BETWEEN * len(panels))
        ratios = {"height_ratios": heights}
        stack = figure.subplots(len(panels), 1, sharex=True, squeeze=False, gridspec_kw=ratios)
        for panel, axes, height in zip(panels, stack[:, 0], heights, strict=True):
            _draw(axes, panel, edges, height, reference_name)
            axes.set_title(panel.title, loc="left", fontsize=7.5)
        bandwidth_axis(stack[-1, 0], words)
        figure.supylabel("fraction of samples", fontsize=7.5)
        title(figure, finding)
    return figure


def _draw(
    axes: Axes,
    panel: _Panel,
    edges: NDArray[np.float64],
    height: float = 1.0,
    reference_name: str = "",
) -> None:
    for curve in panel.outlines:
        outline(axes, fractions(curve.values, edges), edges, curve.colour, curve.style)
    labels = panel.labels(edges, reference_name)
    write_labels(axes, labels, height)
    mark_rated(axes, panel.rated, panel.outlines)
    # A line without points would take room at the figure's corner.
    if known := [value for value in panel.reference if value is not None]:
        at, low = axes.get_xaxis_transform(), [0.03] * len(known)
        axes.plot(known, low, "k^", markersize=4.5, clip_on=False, zorder=5, transform=at)
    percent_axis(axes.yaxis)


def _draw_alone(axes: Axes, outlines: Sequence[_Outline], words: str) -> None:
    _draw(axes, _Panel("", outlines), bin_edges([curve.values for curve in outlines]))
    bandwidth_axis(axes, words)
    axes.set_ylabel("fraction of samples")


def draw_bandwidths(axes: Axes, simulation: Simulation) -> str:
    """Draws `bandwidth_histogram` of one simulation into given axes; returns the finding."""
    average = Average.EFFECTIVE_BANDWIDTH
    values = simulation.scale * simulation.bandwidths(average)
    _draw_alone(axes, [_Outline("mean", values, COLOURS[0])], _axis_words([simulation], average))
    return _bandwidth_finding([simulation], average)


def _axis_words(simulations: Sequence[Simulation], average: Average) -> str:
    words = AXIS_WORDS[average] + scaled_by(simulations)
    return f"bandwidth of a sample ({words})\nas a share of the link speed"


def bin_edges(samples: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Equal bins over 0 to 1: 100, or 50 when the samples lie wide apart."""
    wide = any(np.ptp(np.quantile(values, [0.01, 0.99])) > _WIDE for values in samples)
    return np.linspace(0, 1, (_COARSE_BINS if wide else _FINE_BINS) + 1)


def fractions(values: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fraction of the values in every bin; what lies beyond the ends counts in the outer bins."""
    # A value such as 0.57 must not fall below its edge by a rounding error of the last bit.
    inside = np.clip(values * (1 + 1e-12), edges[0], edges[-1])
    return np.histogram(inside, edges)[0] / len(values)


def outline(
    axes: Axes,
    heights: NDArray[np.float64],
    edges: NDArray[np.float64],
    colour: str,
    style: str = "-",
) -> None:
    """Draws one histogram as a filled outline."""
    axes.stairs(heights, edges, fill=True, color=colour, alpha=0.18, linewidth=0)
    axes.stairs(heights, edges, color=colour, linestyle=style)


def _outlines(
    simulations: Sequence[Simulation], samples: Sequence[NDArray[np.float64]]
) -> list[_Outline]:
    """Names and colours; a routing has the same in every panel."""
    names = engine_labels([s.engine for s in simulations])
    if len({(s.fabric.name, name) for s, name in zip(simulations, names, strict=True)}) < len(
        names
    ):
        names = labels(simulations)
    order = list(dict.fromkeys(names))
    return [
        _Outline(name, values, COLOURS[order.index(name) % len(COLOURS)])
        for name, values in zip(names, samples, strict=True)
    ]


def _bandwidth_finding(simulations: Sequence[Simulation], average: Average) -> str:
    means = [s.averaged(average).times(s.scale).mean for s in simulations]
    patterns = " and ".join(dict.fromkeys(s.pattern for s in simulations))
    if len(simulations) == 1:
        name = labels(simulations)[0]
        return f"{name}: {patterns} gets {percent(means[0])} of the link speed"
    names = labels(simulations)
    best, worst = int(np.argmax(means)), int(np.argmin(means))
    if percent(means[best]) == percent(means[worst]):
        return f"{patterns} gets {percent(means[best])} of the link speed in every case"
    return (
        f"{patterns} gets {percent(means[worst])} ({names[worst]}) "
        f"to {percent(means[best])} ({names[best]}) of the link speed"
    )


_BOUNDS = (
    (Average.OF_MAX_CONGESTION, "waiting", COLOURS[1], "--"),
    (Average.OF_MEAN_CONGESTION, "no waiting", COLOURS[0], "-"),
)


def round_bounds(
    simulations: Sequence[Simulation],
    *,
    reference: Sequence[float | None] = (),
    reference_name: str = "paper",
) -> Figure:
    """Fraction of samples by bandwidth, a panel for each simulation with both of its bounds.

    The pessimistic bound takes the largest π of every round: all wait for the slowest message. The
    optimistic takes the mean π: nobody waits.

    Args:
        simulations: at least one, a panel each.
        reference: a number known from elsewhere for the optimistic bound of each.
        reference_name: what it is called.
    """
    names = labels(simulations)
    panels = [
        _Panel(name, _bounds(simulation), reference=reference[i : i + 1])
        for i, (name, simulation) in enumerate(zip(names, simulations, strict=True))
    ]
    finding = _rounds_finding(simulations)
    return _stacked(panels, reference_name, _bounds_words(simulations), finding)


def draw_bounds(axes: Axes, simulation: Simulation) -> str:
    """Draws `round_bounds` of one simulation into given axes; returns the finding."""
    _draw_alone(axes, _bounds(simulation), _bounds_words([simulation]))
    return _rounds_finding([simulation])


def _bounds(simulation: Simulation) -> list[_Outline]:
    return [
        _Outline(name, simulation.scale * simulation.bandwidths(average), colour, style)
        for average, name, colour, style in _BOUNDS
    ]


def _bounds_words(simulations: Sequence[Simulation]) -> str:
    return f"bandwidth of a sample{scaled_by(simulations)}\nas a share of the link speed"


def _rounds_finding(simulations: Sequence[Simulation]) -> str:
    found = [s.effective_bandwidth for s in simulations]
    ratios = [each.of_mean_congestion / each.of_max_congestion for each in found]
    pattern = " and ".join(dict.fromkeys(s.pattern for s in simulations))
    low, high = f"{min(ratios):.1f}", f"{max(ratios):.1f}"
    factor = low if low == high else f"{low} to {high}"
    return f"{pattern}: waiting for the slowest message of every round costs a factor of {factor}"
