"""What pairs of ranks got in bisect patterns, as figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from contend.errors import UsageError
from contend.measurement import (
    RATE_OVER_LOAD,
    TOLERANCE,
    Agreement,
    Distribution,
    DrawnAgreement,
    predictions,
    usable,
)
from contend.report.pairwise.pairs import drawn_finding
from contend.report.simulation.histograms import fractions, outline
from contend.report.style import (
    COLOURS,
    QUIET,
    new_figure,
    percent_axis,
    styled,
    title,
    write_beside,
)
from contend.report.words import BEYOND_WIRE, link_words, percent, percent_range
from contend.units import counted, format_rate, rate_unit

_AGREEMENT_BINS = 50
_MEASURED, _MODEL, _FAIR = COLOURS[0], COLOURS[1], COLOURS[2]
# More points than this would be one blot, and a vector figure of many megabytes.
_MOST_POINTS = 20_000
_SPREAD = 0.012


@dataclass(frozen=True)
class ComparedFabric:
    """A fabric's comparison: its name, its messages with predictions, and what came of them."""

    name: str
    pairs: pl.DataFrame
    agreement: Agreement


def agreement_figure(compared: Sequence[ComparedFabric]) -> Figure:
    """One row a fabric: measured against γ/π and max-min fair share, and histograms of all three.

    Points are spread a little sideways, as messages of one congestion are predicted alike.
    """
    with styled():
        figure = new_figure(height=0.8 + 2.1 * len(compared), width=7.0)
        rows = figure.subplots(len(compared), 2, squeeze=False, width_ratios=(1.15, 1))
        for item, (left, right) in zip(compared, rows, strict=True):
            _points(left, item)
            _histogram(right, item)
            left.set_title(item.name, loc="left", fontsize=7.5)
            words = _nearer(item.agreement)
            left.text(0.03, 0.96, words, transform=left.transAxes, va="top", fontsize=6.5)
        rows[-1][0].set_xlabel("predicted share of an uncontended pair's bandwidth")
        rows[-1][1].set_xlabel("share of an uncontended pair's bandwidth")
        title(figure, _finding(compared))
    return figure


def _finding(compared: Sequence[ComparedFabric]) -> str:
    gaps = [abs(item.agreement.effective - item.agreement.models[0].effective) for item in compared]
    within = [item.agreement.models[0].within for item in compared]
    share = percent_range(min(within), max(within))
    weighed = any(item.agreement.weighed for item in compared)
    model = RATE_OVER_LOAD if weighed else "π"
    most = " at most" if len(compared) > 1 else ""
    fast = max(float(usable(item.pairs)["beyond_wire"].mean()) for item in compared)  # type: ignore[arg-type]
    beyond = f"; {percent(fast)} of the messages are{most} {BEYOND_WIRE}" if fast else ""
    return (
        f"Measured and simulated effective bisection bandwidth differ by {100 * max(gaps):.1f} "
        f"percentage points{most}; {share} of the pairs get what {model} predicts, "
        f"give or take {100 * TOLERANCE:.0f} %{beyond}"
    )


def _nearer(agreement: Agreement) -> str:
    """How far off the models are, and which is nearer where they differ."""
    if not agreement.apart:
        return f"both models predict the same,\n{percent(agreement.models[0].error)} off"
    errors = (
        f"{model.name} is {percent(model.error_apart or 0)} off" for model in agreement.models
    )
    return "\n".join((f"where models differ ({counted(agreement.apart, 'message')})", *errors))


def _between_hosts(pairs: pl.DataFrame) -> pl.DataFrame:
    """Usable messages that crossed a channel: nothing is predicted within a host."""
    return usable(pairs).filter(pl.col("congestion") > 0)


def _points(axes: Axes, item: ComparedFabric) -> None:
    used = _between_hosts(item.pairs)
    measured = used["bandwidth_Bps"].to_numpy() / item.agreement.gamma
    shares = predictions(used)
    line = np.array([0.0, 1.1])
    axes.fill_between(
        line, line * (1 - TOLERANCE), line * (1 + TOLERANCE), color=QUIET, alpha=0.15, linewidth=0
    )
    axes.plot(line, line, color=QUIET, linewidth=0.8)
    random = np.random.default_rng(1)
    drawn = random.permutation(len(measured))[:_MOST_POINTS]
    # The two models side by side, so that neither hides the other.
    for share, side, colour, name in (
        (shares["share"], -1, _MODEL, item.agreement.models[0].name),
        (shares["fair_share"], 1, _FAIR, "max-min fair share"),
    ):
        aside = side * (_SPREAD + _SPREAD * random.random(len(drawn)))
        axes.plot(
            share[drawn] + aside,
            measured[drawn],
            ".",
            color=colour,
            markersize=2,
            alpha=_alpha(len(drawn)),
            markeredgewidth=0,
            rasterized=True,
        )
        axes.plot([], [], ".", color=colour, markersize=5, label=name)
    _medians(axes, item)
    axes.set_xlim(0, 1.1)
    axes.set_ylim(0, max(1.15, float(np.quantile(measured, 0.999)) * 1.05))
    percent_axis(axes.xaxis)
    percent_axis(axes.yaxis)
    axes.set_ylabel("measured")
    axes.legend(loc="lower right", handletextpad=0.2)


def _medians(axes: Axes, item: ComparedFabric) -> None:
    if item.agreement.weighed:
        # Messages of one π have several shares then.
        return
    for group in item.agreement.by_congestion:
        if group.congestion == 0:
            continue
        x = 1 / group.congestion
        axes.plot([x - 0.03, x + 0.03], [group.median] * 2, color="black", linewidth=1)
        write_beside(axes, f"π = {group.congestion}", (x, group.median), (-6, 0), ha="right")


def _histogram(axes: Axes, item: ComparedFabric) -> None:
    used = _between_hosts(item.pairs)
    measured = used["bandwidth_Bps"].to_numpy() / item.agreement.gamma
    edges = np.linspace(0, 1.1, _AGREEMENT_BINS + 1)
    shares = predictions(used)
    outline(axes, fractions(measured, edges), edges, _MEASURED)
    # Where the models agree the broken line shows the one below.
    for values, colour, dashes in (
        (shares["share"], _MODEL, "-"),
        (shares["fair_share"], _FAIR, (0, (2, 2))),
    ):
        axes.stairs(fractions(values, edges), edges, color=colour, linewidth=0.9, linestyle=dashes)
    for name, colour, value in (
        ("measured", _MEASURED, item.agreement.effective),
        (item.agreement.models[0].name, _MODEL, item.agreement.models[0].effective),
        ("max-min", _FAIR, item.agreement.models[1].effective),
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
        fontsize=6,
        handlelength=0.8,
        handletextpad=0.4,
        columnspacing=0.8,
        borderpad=0,
    )


def _alpha(points: int) -> float:
    return float(np.clip(60 / np.sqrt(max(points, 1)), 0.1, 0.8))


def drawn_figure(agreements: Mapping[str, DrawnAgreement]) -> Figure:
    """One row a library: what messages get, measured and over simulated draws of the routes.

    Left the slowest message of every pattern, by the part of γ that it gets about; right how many
    of all messages get so much or less.
    """
    with styled():
        figure = new_figure(height=0.8 + 2.1 * len(agreements), width=7.0)
        rows = figure.subplots(len(agreements), 2, squeeze=False)
        for (name, agreement), (left, right) in zip(agreements.items(), rows, strict=True):
            _parts(left, agreement.slowest)
            _shares_of_all(right, agreement.every)
            if len(agreements) > 1:
                left.set_title(name, loc="left", fontsize=7.5)
        rows[-1][0].set_xlabel("what the slowest message of a pattern gets")
        rows[-1][1].set_xlabel("share of an uncontended pair's bandwidth")
        title(figure, drawn_finding(list(agreements.values())))
    return figure


def _parts(axes: Axes, distribution: Distribution) -> None:
    groups = distribution.by_part
    at = np.arange(len(groups))
    measured = [group.measured for group in groups]
    simulated = [group.simulated for group in groups]
    axes.bar(at - 0.2, measured, 0.36, color=_MEASURED, label="measured")
    axes.bar(at + 0.2, simulated, 0.36, color=_FAIR, label="simulated, 95 % of simulations")
    for x, group in zip(at + 0.2, groups, strict=True):
        axes.plot([x, x], [group.low, group.high], color="black", linewidth=1)
    axes.set_xticks(at, ["γ" if k.divisor == 1 else f"γ/{k.divisor}" for k in groups])
    axes.set_ylabel("share of patterns")
    percent_axis(axes.yaxis)
    axes.legend(
        loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=2, fontsize=6, handlelength=0.8
    )


def _shares_of_all(axes: Axes, distribution: Distribution) -> None:
    grid = np.linspace(0, 1.1, 441)

    def shares(values: NDArray[np.float64]) -> NDArray[np.float64]:
        # A part that is met exactly is not to fall on either side by rounding.
        return np.searchsorted(values, grid + 1e-9) / len(values)

    simulated = np.array([shares(row) for row in distribution.drawn])
    low, high = np.quantile(simulated, [0.025, 0.975], axis=0)
    axes.fill_between(grid, low, high, color=_FAIR, alpha=0.25, linewidth=0, step="mid")
    axes.step(grid, simulated.mean(axis=0), where="mid", color=_FAIR, linewidth=0.9)
    axes.step(grid, shares(distribution.measured), where="mid", color=_MEASURED, linewidth=1.2)
    axes.set_xlim(0, 1.1)
    axes.set_ylim(0, 1)
    axes.set_ylabel("messages that get no more")
    percent_axis(axes.xaxis)
    percent_axis(axes.yaxis)


_PAIR_BINS = 50


def pair_figure(pairs: Mapping[str, pl.DataFrame], wire: float | None = None) -> Figure:
    """Share of pairs by bandwidth, an outline for each MPI library.

    Args:
        pairs: of `contend.measurement.pairs.pair_bandwidths`, by name.
        wire: bytes per second of a link, marked by a broken line.

    Raises:
        UsageError: no message was measured.
    """
    used = {name: usable(frame) for name, frame in pairs.items() if not frame.is_empty()}
    if not used:
        raise UsageError("there is nothing to draw: no message was measured")
    bandwidths = {name: frame["bandwidth_Bps"].to_numpy() for name, frame in used.items()}
    most = max(float(values.max()) for values in bandwidths.values())
    edges = np.linspace(0, 1.05 * max(most, wire or 0.0), _PAIR_BINS + 1)
    unit, scale = rate_unit(edges[-1])
    with styled():
        figure = new_figure(height=2.2)
        axes = figure.subplots()
        for (name, values), colour in zip(bandwidths.items(), COLOURS, strict=False):
            outline(axes, fractions(values, edges), edges / scale, colour)
            mean = format_rate(float(values.mean()))
            above = float(used[name]["beyond_wire"].mean())  # type: ignore[arg-type]
            beyond = f", {percent(above)} {BEYOND_WIRE}" if above else ""
            axes.plot([], [], color=colour, linewidth=3, label=f"{name}: mean {mean}{beyond}")
        if wire is not None:
            axes.axvline(wire / scale, color=QUIET, linewidth=0.8, linestyle=(0, (3, 2)))
        axes.set_xlim(0, edges[-1] / scale)
        axes.set_ylim(0, None)
        axes.set_xlabel(f"bandwidth of a pair in {unit}")
        axes.set_ylabel("share of pairs")
        percent_axis(axes.yaxis)
        # Above, where no bar can be.
        axes.legend(
            loc="lower left",
            bbox_to_anchor=(0, 0.98),
            handlelength=1,
            borderpad=0,
        )
        first = float(next(iter(bandwidths.values())).mean())
        finding = f"Random pairs get {format_rate(first)} on average"
        if wire is not None:
            finding += f", {link_words(first, wire)}"
        title(figure, finding)
    return figure
