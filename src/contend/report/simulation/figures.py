"""Figures of simulations: several compared, loads of channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter
from numpy.typing import NDArray

from contend.congestion import Average, LinkRates, SampleMean, Simulation, hottest
from contend.report.fabric.network import fabric_figure
from contend.report.simulation.tables import AXIS_WORDS, labels, scaled_by
from contend.report.style import (
    COLOURS,
    FAINT,
    QUIET,
    bandwidth_axis,
    name_rows,
    new_figure,
    percent_axis,
    styled,
    title,
)
from contend.report.words import percent, percent_range
from contend.units import verb


def simulation_comparison(
    simulations: Sequence[Simulation],
    *,
    average: Average = Average.EFFECTIVE_BANDWIDTH,
    rated: Sequence[float | None] = (),
    reference: Sequence[float | None] = (),
    reference_name: str = "paper",
) -> Figure:
    """One row for each simulation: a dot with its interval, a tick at what is rated.

    Args:
        simulations: at least one, drawn from the top in the order given.
        average: which bandwidth.
        rated: rated bisection bandwidth of each, or None.
        reference: a number known from elsewhere for each, or None; drawn as an open diamond.
        reference_name: what the diamond is called.
    """
    estimates = [s.averaged(average).times(s.scale) for s in simulations]
    rows = np.arange(len(simulations))
    with styled():
        figure = new_figure(height=1.38 + 0.2 * len(simulations))
        axes = figure.subplots()
        axes.barh(rows, [e.mean for e in estimates], height=0.12, color=FAINT, zorder=1)
        _intervals(axes, estimates)
        _marks(
            *(axes, rated, "narrowest cut found"),
            marker="|",
            markersize=9,
            markeredgewidth=1.4,
            color=QUIET,
            clip_on=False,
            zorder=2,
        )
        _marks(
            *(axes, reference, reference_name),
            marker="D",
            markersize=4.5,
            markerfacecolor="none",
            markeredgecolor=COLOURS[1],
            zorder=4,
        )
        for row, estimate in enumerate(estimates):
            axes.text(1.04, row, percent(estimate.mean), va="center", fontsize=7)
        name_rows(axes, labels(simulations))
        words = AXIS_WORDS[average] + scaled_by(simulations)
        # Two lines: long labels of rows leave little width.
        bandwidth_axis(axes, f"effective bandwidth ({words})\nas a share of the link speed")
        axes.spines["left"].set_visible(False)
        axes.set_xlim(0, 1)
        _legend(figure, axes)
        title(figure, _comparison_finding(simulations, estimates, rated))
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
        handletextpad=0.3,
        columnspacing=1.2,
    )


def _intervals(axes: Axes, estimates: Sequence[SampleMean]) -> None:
    means = np.array([e.mean for e in estimates])
    # A single sample has no interval.
    lows, highs = zip(*(e.ci95 or (e.mean, e.mean) for e in estimates), strict=True)
    axes.errorbar(
        means,
        np.arange(len(estimates)),
        xerr=np.array([means - lows, highs - means]),
        fmt="o",
        markersize=4,
        color=COLOURS[0],
        elinewidth=1.2,
        capsize=2,
        zorder=3,
        label="simulated, 95 % interval",
    )


def _marks(axes: Axes, values: Sequence[float | None], label: str, **look: Any) -> None:
    """A mark in the row of every simulation whose value is known."""
    known = {row: value for row, value in enumerate(values) if value is not None}
    if known:
        axes.plot([*known.values()], [*known], linestyle="", label=label, **look)


def _comparison_finding(
    simulations: Sequence[Simulation],
    estimates: Sequence[SampleMean],
    rated: Sequence[float | None],
) -> str:
    """What messages get; beside it, not as a part of it, what the narrowest cut could carry."""
    patterns = " and ".join(dict.fromkeys(s.pattern for s in simulations))
    gets = verb(len({s.pattern for s in simulations}), "gets")
    means = [estimate.mean for estimate in estimates]
    cuts = [value for value in rated if value is not None and value > 0]
    if len(cuts) == len(simulations):
        shares = percent_range(min(means), max(means))
        where = f"{labels(simulations)[0]}: " if len(simulations) == 1 else ""
        cut = "the narrowest cut found" if len(set(cuts)) == 1 else "the narrowest cuts found"
        carried = percent_range(min(cuts), max(cuts)).replace(".0 ", " ")
        return f"{where}{patterns} {gets} {shares} of the link speed; {cut} could carry {carried}"
    best = max(range(len(estimates)), key=lambda i: estimates[i].mean)
    case = labels(simulations)[best]
    return f"{patterns} {gets} {percent(means[best])} of the link speed in the best case: {case}"


_NAMED = 3
# Characters that fit below the axes.
_LINE = 66


def channel_loads(simulation: Simulation) -> Figure:
    """Mean heat a round of every channel between switches, sorted, the hottest named.

    That is the number of messages where links are alike. Even ones would lie on the broken line,
    which is their mean.
    """
    with styled():
        figure = new_figure(height=3.2)
        finding = draw_channel_loads(figure.subplots(), simulation)
        names = [_name(simulation, channel) for channel in hottest(_heats(simulation), _NAMED)]
        unit = simulation.heat_unit
        heading = f"hottest, by messages over rate, as at {unit}:" if unit else "hottest:"
        figure.supxlabel(
            "\n".join([heading, *names]),
            x=0.01,
            ha="left",
            fontsize=6,
            linespacing=1.35,
        )
        title(figure, finding)
    return figure


def network_loads(simulation: Simulation) -> Figure:
    """The network, its cables coloured by the mean heat a round of the hottest channel."""
    heats, fabric = _heats(simulation), simulation.whole_fabric
    rates = LinkRates(
        *(simulation.links, np.zeros(0), simulation.port_rate, simulation.relative_rates),
        *(simulation.heat_unit, simulation.heat_assumes),
    )
    loads, finding = simulation.channel_load[: len(heats)], _channels_finding(simulation, heats)
    return fabric_figure(fabric, loads, unit="messages", rates=rates, finding=finding)


def _heats(simulation: Simulation) -> NDArray[np.float64]:
    """Those of channels between switches."""
    return simulation.channel_heat[: 2 * simulation.whole_fabric.cables]


def draw_channel_loads(axes: Axes, simulation: Simulation) -> str:
    """Draws `channel_loads` into given axes, without names; returns the finding."""
    ranked = -np.sort(-_heats(simulation))
    mean = float(ranked.mean()) if len(ranked) else 0.0
    share = (np.arange(len(ranked)) + 0.5) / max(len(ranked), 1)
    axes.fill_between(share, ranked, step="mid", color=COLOURS[0], alpha=0.2, linewidth=0)
    axes.step(share, ranked, where="mid", color=COLOURS[0])
    axes.axhline(mean, color=QUIET, linewidth=0.8, linestyle=(0, (3, 2)))
    axes.text(1, mean, f"mean {mean:,.2f}", ha="right", va="bottom", fontsize=6.5, color=QUIET)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, None)
    percent_axis(axes.xaxis)
    axes.set_xlabel("channels between switches, hottest first")
    axes.set_ylabel("heat per round" if simulation.heat_unit else "messages per round")
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    return _channels_finding(simulation, ranked)


def _name(simulation: Simulation, channel: int) -> str:
    fabric = simulation.whole_fabric
    start, end = (text.removeprefix("switch ") for text in fabric.channel_ends(channel))
    rate = f", {fabric.channel_rate(channel) or 'unknown rate'}" if simulation.heat_unit else ""
    name = f"{simulation.channel_heat[channel]:,.2f}  {_short(start)} → {_short(end)}{rate}"
    return name if len(name) <= _LINE else name.replace(" → ", "\n          → ", 1)


def _short(name: str, most: int = 40) -> str:
    """Cuts a name in its middle: both its place and its port are at the ends."""
    return name if len(name) <= most else f"{name[: most // 2 - 1]}…{name[-most // 2 :]}"


def _channels_finding(simulation: Simulation, heats: NDArray[np.float64]) -> str:
    name = labels([simulation])[0]
    if not heats.any():
        return f"{name}: {simulation.pattern} uses no channel between switches"
    idle, ratio = float(np.mean(heats == 0)), float(heats.max()) / float(heats.mean())
    unused = f", {100 * idle:.0f} % carry nothing" if idle >= 0.005 else ""
    does = "needs" if simulation.heat_unit else "carries"
    time = " time" if simulation.heat_unit else ""
    return (
        f"{name}: {simulation.pattern}'s hottest channel {does} {ratio:.1f} times "
        f"the mean{time}{unused}"
    )
