"""Measured bandwidth of every pair against what the routes predict (Hoefler et al. 2008, fig 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contend.measurement import TOLERANCE, Agreement, predictions, usable
from contend.report.bandwidth_histogram import fractions, outline
from contend.report.measures import percent
from contend.report.style import COLOURS, QUIET, new_figure, percent_axis, styled, title
from contend.units import counted

_BINS = 50
_MEASURED, _MODEL, _FAIR = COLOURS[0], COLOURS[1], COLOURS[2]
# More points than this would be one blot, and a vector figure of many megabytes.
_MOST_POINTS = 20_000
_SPREAD = 0.012


@dataclass(frozen=True)
class Compared:
    """A fabric's comparison: its name, its messages with predictions, and what came of them."""

    name: str
    pairs: pl.DataFrame
    found: Agreement


def agreement_figure(compared: Sequence[Compared]) -> Figure:
    """One row a fabric: measured against γ/π and max-min fair share, and histograms of all three.

    Points are spread a little sideways, as messages of one congestion are predicted alike.
    """
    with styled():
        figure = new_figure(height=0.8 + 2.1 * len(compared), width=7.0)
        rows = figure.subplots(len(compared), 2, squeeze=False, width_ratios=(1.15, 1))
        for one, (left, right) in zip(compared, rows, strict=True):
            _points(left, one)
            _histogram(right, one)
            left.set_title(one.name, loc="left", fontsize=7.5)
            words = _nearer(one.found)
            left.text(0.03, 0.96, words, transform=left.transAxes, va="top", fontsize=6.5)
        rows[-1][0].set_xlabel("predicted share of an uncontended pair's bandwidth")
        rows[-1][1].set_xlabel("share of an uncontended pair's bandwidth")
        title(figure, _finding(compared))
    return figure


def _finding(compared: Sequence[Compared]) -> str:
    gaps = [abs(one.found.effective - one.found.models[0].effective) for one in compared]
    within = [one.found.models[0].within for one in compared]
    share, most = percent(min(within)), ""
    if len(compared) > 1:
        share, most = f"{share} to {percent(max(within))}", " at most"
    return (
        f"Measured and simulated effective bisection bandwidth differ by {100 * max(gaps):.1f} "
        f"points{most}; {share} of the pairs get what π says within {100 * TOLERANCE:.0f} %"
    )


def _nearer(found: Agreement) -> str:
    """How far off the models are, and which is nearer where they differ."""
    if not found.apart:
        return f"both models, alike here,\nare {percent(found.models[0].error)} off"
    errors = (f"{one.name} is {percent(one.error_apart or 0)} off" for one in found.models)
    return "\n".join((f"where models differ ({counted(found.apart, 'message')})", *errors))


def _points(axes: Axes, one: Compared) -> None:
    used = usable(one.pairs)
    got = used["bandwidth_Bps"].to_numpy() / one.found.gamma
    shares = predictions(used)
    line = np.array([0.0, 1.1])
    axes.fill_between(
        line, line * (1 - TOLERANCE), line * (1 + TOLERANCE), color=QUIET, alpha=0.15, linewidth=0
    )
    axes.plot(line, line, color=QUIET, linewidth=0.8)
    random = np.random.default_rng(1)
    some = random.permutation(len(got))[:_MOST_POINTS]
    # The two models side by side, so that neither hides the other.
    for share, side, colour, name in (
        (shares["congestion"], -1, _MODEL, "γ/π"),
        (shares["fair_share"], 1, _FAIR, "max-min fair share"),
    ):
        aside = side * (_SPREAD + _SPREAD * random.random(len(some)))
        axes.plot(
            share[some] + aside,
            got[some],
            ".",
            color=colour,
            markersize=2,
            alpha=_alpha(len(some)),
            markeredgewidth=0,
            rasterized=True,
        )
        axes.plot([], [], ".", color=colour, markersize=5, label=name)
    _medians(axes, one)
    axes.set_xlim(0, 1.1)
    axes.set_ylim(0, max(1.15, float(np.quantile(got, 0.999)) * 1.05))
    percent_axis(axes.xaxis)
    percent_axis(axes.yaxis)
    axes.set_ylabel("measured")
    axes.legend(loc="lower right", frameon=False, fontsize=6.5, handletextpad=0.2)


def _medians(axes: Axes, one: Compared) -> None:
    for group in one.found.by_congestion:
        x = 1 / group.congestion
        axes.plot([x - 0.03, x + 0.03], [group.median] * 2, color="black", linewidth=1)
        axes.annotate(
            f"π = {group.congestion}",
            (x, group.median),
            xytext=(-6, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=6.5,
        )


def _histogram(axes: Axes, one: Compared) -> None:
    used = usable(one.pairs)
    got = used["bandwidth_Bps"].to_numpy() / one.found.gamma
    edges = np.linspace(0, 1.1, _BINS + 1)
    shares = predictions(used)
    measured = fractions(got, edges)
    outline(axes, measured, edges, _MEASURED)
    # Where the models agree the broken line shows the one below.
    for values, colour, dashes in (
        (shares["congestion"], _MODEL, "-"),
        (shares["fair_share"], _FAIR, (0, (2, 2))),
    ):
        axes.stairs(fractions(values, edges), edges, color=colour, linewidth=0.9, linestyle=dashes)
    for name, colour, value in (
        ("measured", _MEASURED, one.found.effective),
        ("γ/π", _MODEL, one.found.models[0].effective),
        ("max-min", _FAIR, one.found.models[1].effective),
    ):
        axes.plot([], [], color=colour, linewidth=3, label=f"{name}, mean {percent(value)}")
    axes.set_xlim(0, 1.1)
    axes.set_ylabel("share of pairs")
    percent_axis(axes.xaxis)
    percent_axis(axes.yaxis)
    # Above, where no bar can be.
    axes.legend(
        loc="lower right",
        bbox_to_anchor=(1.0, 0.98),
        ncols=3,
        frameon=False,
        fontsize=6,
        handlelength=0.8,
        handletextpad=0.4,
        columnspacing=0.8,
        borderpad=0,
    )


def _alpha(points: int) -> float:
    return float(np.clip(60 / np.sqrt(max(points, 1)), 0.1, 0.8))
