"""Optimistic and pessimistic bandwidth of patterns in rounds (Hoefler et al. 2008, figures 7-9)."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contend.congestion import Simulation
from contend.report.bandwidth_histogram import bin_edges, fractions, outline
from contend.report.direct_labels import Label, write_labels
from contend.report.marks import mark_reference
from contend.report.measures import Measure, labels, percent, scaled_by
from contend.report.style import COLOURS, bandwidth_axis, new_figure, percent_axis, styled, title

_BOUNDS = (
    (Measure.OF_MAX_CONGESTION, "waiting", COLOURS[1], "--"),
    (Measure.OF_MEAN_CONGESTION, "no waiting", COLOURS[0], "-"),
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
    bounds = [[measure.per_sample(s) for measure, *_ in _BOUNDS] for s in simulations]
    edges = bin_edges([values for pair in bounds for values in pair])
    names = labels(simulations)
    with styled():
        figure = new_figure(height=0.95 + 1.0 * len(simulations))
        panels = figure.subplots(len(simulations), 1, sharex=True, squeeze=False)[:, 0]
        for i, axes in enumerate(panels):
            written = []
            for (_, name, colour, style), values in zip(_BOUNDS, bounds[i], strict=True):
                heights = fractions(values, edges)
                outline(axes, heights, edges, colour, style)
                mean = float(values.mean())
                text = f"{name} {percent(mean)}"
                written.append(Label(text, mean, float(heights.max()), colour))
            _finish(axes, written, names[i])
            mark_reference(axes, reference[i : i + 1], reference_name)
        bandwidth_axis(
            panels[-1], f"bandwidth of a sample{scaled_by(simulations)}, of the link speed"
        )
        figure.supylabel("fraction of samples", fontsize=7.5)
        title(figure, _finding(simulations))
    return figure


def _finish(axes: Axes, written: Sequence[Label], name: str) -> None:
    write_labels(axes, written)
    axes.set_title(name, loc="left", fontsize=7.5)
    percent_axis(axes.yaxis)


def _finding(simulations: Sequence[Simulation]) -> str:
    ratios = [s.of_mean_congestion / s.of_max_congestion for s in simulations]
    pattern = " and ".join(dict.fromkeys(s.pattern for s in simulations))
    low, high = f"{min(ratios):.1f}", f"{max(ratios):.1f}"
    factor = low if low == high else f"{low} to {high}"
    return f"{pattern}: waiting for the slowest message of every round costs a factor {factor}"
