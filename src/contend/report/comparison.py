"""Comparison of simulations: effective bandwidth with its interval, beside what is rated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contend.congestion import Simulation
from contend.report.measures import Estimate, Measure, labels, percent, scaled_by
from contend.report.style import (
    COLOURS,
    FAINT,
    QUIET,
    bandwidth_axis,
    new_figure,
    styled,
    title,
)


def comparison(
    simulations: Sequence[Simulation],
    *,
    measure: Measure = Measure.MEAN_BANDWIDTH,
    rated: Sequence[float | None] = (),
    reference: Sequence[float | None] = (),
    reference_name: str = "paper",
) -> Figure:
    """One row for each simulation: a dot with its interval, a tick at what is rated.

    Args:
        simulations: at least one, drawn from the top in the order given.
        measure: which bandwidth.
        rated: rated bisection bandwidth of each, or None.
        reference: a number known from elsewhere for each, or None; drawn as an open diamond.
        reference_name: what the diamond is called.
    """
    estimates = [measure.estimate(s) for s in simulations]
    rows = np.arange(len(simulations))
    with styled():
        figure = new_figure(height=1.38 + 0.2 * len(simulations))
        axes = figure.subplots()
        axes.barh(rows, [e.mean for e in estimates], height=0.12, color=FAINT, zorder=1)
        _intervals(axes, estimates)
        _ticks(axes, rated)
        _diamonds(axes, reference, reference_name)
        for row, estimate in enumerate(estimates):
            axes.text(1.04, row, percent(estimate.mean), va="center", fontsize=7)
        axes.set_yticks(rows, labels(simulations))
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(simulations) - 0.4, -0.6)
        average = measure.value + scaled_by(simulations)
        # Two lines: long labels of rows leave little width.
        bandwidth_axis(axes, f"effective bandwidth ({average}),\nof the link speed")
        axes.spines["left"].set_visible(False)
        axes.set_xlim(0, 1)
        _legend(figure, axes)
        title(figure, _finding(simulations, estimates, rated))
    return figure


def _legend(figure: Figure, axes: Axes) -> None:
    """What the marks mean, the simulated first."""
    handles, names = axes.get_legend_handles_labels()
    order = sorted(range(len(names)), key=lambda i: not names[i].startswith("simulated"))
    figure.legend(
        [handles[i] for i in order],
        [names[i] for i in order],
        loc="outside lower center",
        ncols=3,
        frameon=False,
        fontsize=6.5,
        handletextpad=0.3,
        columnspacing=1.2,
    )


def _intervals(axes: Axes, estimates: Sequence[Estimate]) -> None:
    means = np.array([e.mean for e in estimates])
    reach = np.array([[e.mean - e.low for e in estimates], [e.high - e.mean for e in estimates]])
    axes.errorbar(
        means,
        np.arange(len(estimates)),
        xerr=np.nan_to_num(reach, posinf=0),
        fmt="o",
        markersize=4,
        color=COLOURS[0],
        elinewidth=1.2,
        capsize=2,
        zorder=3,
        label="simulated, 95 % interval",
    )


def _ticks(axes: Axes, rated: Sequence[float | None]) -> None:
    rows = [row for row, value in enumerate(rated) if value is not None]
    values = [value for value in rated if value is not None]
    if rows:
        axes.plot(
            values,
            rows,
            linestyle="",
            marker="|",
            markersize=9,
            markeredgewidth=1.4,
            color=QUIET,
            clip_on=False,
            zorder=2,
            label="rated bisection",
        )


def _diamonds(axes: Axes, reference: Sequence[float | None], name: str) -> None:
    rows = [row for row, value in enumerate(reference) if value is not None]
    values = [value for value in reference if value is not None]
    if rows:
        axes.plot(
            values,
            rows,
            linestyle="",
            marker="D",
            markersize=4.5,
            markerfacecolor="none",
            markeredgecolor=COLOURS[1],
            zorder=4,
            label=name,
        )


def _finding(
    simulations: Sequence[Simulation],
    estimates: Sequence[Estimate],
    rated: Sequence[float | None],
) -> str:
    patterns = " and ".join(dict.fromkeys(s.pattern for s in simulations))
    shares = [
        estimate.mean / value
        for estimate, value in zip(estimates, rated, strict=False)
        if value is not None and value > 0
    ]
    if len(shares) == len(simulations) == 1:
        name, gets = labels(simulations)[0], f"gets {percent(estimates[0].mean)}"
        # The narrowest cut bounds nothing but traffic that all crosses it.
        if shares[0] > 1:
            return f"{name}: {patterns} {gets}, the narrowest cut carries {percent(rated[0] or 0)}"
        return f"{name}: {patterns} {gets}, {100 * shares[0]:.0f} % of what is rated"
    if len(shares) == len(simulations) and max(shares) <= 1:
        return (
            f"{patterns} gets {100 * min(shares):.0f} to {100 * max(shares):.0f} % "
            "of the rated bisection bandwidth"
        )
    names = labels(simulations)
    best = max(range(len(estimates)), key=lambda i: estimates[i].mean)
    return f"{patterns} gets most on {names[best]}: {percent(estimates[best].mean)}"
