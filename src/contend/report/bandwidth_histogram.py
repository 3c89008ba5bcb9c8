"""Histogram of the bandwidth of every sample (Hoefler et al. 2008, figure 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from contend.congestion import Simulation
from contend.report.direct_labels import Label, write_labels
from contend.report.marks import mark_rated, mark_reference
from contend.report.measures import Measure, engine_labels, labels, percent, scaled_by
from contend.report.style import COLOURS, bandwidth_axis, new_figure, percent_axis, styled, title

_FINE_BINS, _COARSE_BINS = 100, 50
# Above this spread of the samples bins of 1 % would show combs rather than shapes.
_WIDE = 0.1


def bandwidth_histogram(
    simulations: Sequence[Simulation],
    *,
    measure: Measure = Measure.OF_MEAN_CONGESTION,
    rated: Sequence[float | None] = (),
    reference: Sequence[float | None] = (),
    reference_name: str = "paper",
) -> Figure:
    """Fraction of samples by bandwidth, one panel for each fabric, one outline for each routing.

    Args:
        simulations: at least one; those of one fabric share a panel.
        measure: which bandwidth of a sample.
        rated: rated bisection bandwidth for each simulation, marked by a broken line.
        reference: a number known from elsewhere for each simulation, marked by a triangle.
        reference_name: what the triangle is called.
    """
    fabrics = list(dict.fromkeys(s.fabric_name for s in simulations))
    samples = [measure.per_sample(s) for s in simulations]
    edges = bin_edges(samples)
    with styled():
        figure = new_figure(height=0.85 + 1.05 * len(fabrics))
        panels = figure.subplots(len(fabrics), 1, sharex=True, squeeze=False)[:, 0]
        outlines = _outlines(simulations, samples)
        for fabric, axes in zip(fabrics, panels, strict=True):
            members = [i for i, s in enumerate(simulations) if s.fabric_name == fabric]
            _panel(axes, [outlines[i] for i in members], edges)
            if len(simulations) > 1:
                axes.set_title(fabric, loc="left", fontsize=7.5)
            mark_rated(axes, [rated[i] for i in members if rated])
            mark_reference(axes, [reference[i] for i in members if reference], reference_name)
        words = (
            f"bandwidth of a sample ({measure.value}{scaled_by(simulations)}), of the link speed"
        )
        bandwidth_axis(panels[-1], words)
        figure.supylabel("fraction of samples", fontsize=7.5)
        title(figure, _finding(simulations, measure))
    return figure


def bin_edges(samples: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Equal bins over 0 to 1: 100, or 50 as in the paper when the samples lie wide apart."""
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


@dataclass(frozen=True)
class _Outline:
    name: str
    values: NDArray[np.float64]
    colour: str


def _outlines(
    simulations: Sequence[Simulation], samples: Sequence[NDArray[np.float64]]
) -> list[_Outline]:
    """Names and colours; a routing has the same in every panel."""
    names = engine_labels([s.engine for s in simulations])
    if len({(s.fabric_name, name) for s, name in zip(simulations, names, strict=True)}) < len(
        names
    ):
        names = labels(simulations)
    order = list(dict.fromkeys(names))
    return [
        _Outline(name, values, COLOURS[order.index(name) % len(COLOURS)])
        for name, values in zip(names, samples, strict=True)
    ]


def _panel(axes: Axes, outlines: Sequence[_Outline], edges: NDArray[np.float64]) -> None:
    written = []
    for one in outlines:
        heights = fractions(one.values, edges)
        outline(axes, heights, edges, one.colour)
        mean = float(one.values.mean())
        text = f"{one.name} {percent(mean)}".strip()
        written.append(Label(text, mean, float(heights.max()), one.colour))
    write_labels(axes, written)
    percent_axis(axes.yaxis)


def _finding(simulations: Sequence[Simulation], measure: Measure) -> str:
    means = [measure.estimate(s).mean for s in simulations]
    patterns = " and ".join(dict.fromkeys(s.pattern for s in simulations))
    if len(simulations) == 1:
        name = labels(simulations)[0]
        return f"{name}: {patterns} gets {percent(means[0])} of the link speed"
    names = labels(simulations)
    best, worst = int(np.argmax(means)), int(np.argmin(means))
    return (
        f"{patterns} gets {percent(means[worst])} ({names[worst]}) "
        f"to {percent(means[best])} ({names[best]}) of the link speed"
    )
