"""Figures of simulations: several compared, congestion of messages, loads of channels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from contend.congestion import Average, LinkRates, SampleMean, Simulation, hottest
from contend.fabric import Fabric
from contend.report.fabric.network import fabric_figure
from contend.report.simulation.tables import AXIS_WORDS, labels, scaled_by, whole_congestion_shares
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
from contend.units import counted, rounded, verb


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
        _ticks(axes, rated)
        _diamonds(axes, reference, reference_name)
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
    lows = [e.mean if e.low is None else e.low for e in estimates]
    highs = [e.mean if e.high is None else e.high for e in estimates]
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
            label="narrowest cut found",
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
    return f"{patterns} {gets} most on {labels(simulations)[best]}: {percent(means[best])}"


# A tail of fewer messages than this is summed up in words: it would stretch the axis for nothing.
_TAIL = 1e-3
_MARKERS = "osD^vP"
# Bars and markers for more values of π than this would be too thin to be seen.
_MOST_SINGLE_VALUES = 40
_MOST_TICKS = 14


def congestion_distribution(simulations: Sequence[Simulation]) -> Figure:
    """Share of messages by π; the upper axis tells the bandwidth 1/π that a message gets.

    One simulation is drawn as bars, several as lines with markers; where π has many values, as for
    an all-to-all, either as the share of messages up to each π.
    """
    with styled():
        figure = new_figure(height=2.6)
        title(figure, draw_congestion(figure.subplots(), simulations))
    return figure


def draw_congestion(axes: Axes, simulations: Sequence[Simulation]) -> str:
    """Draws `congestion_distribution` into given axes; returns the finding."""
    shares = [whole_congestion_shares(s) for s in simulations]
    least = min(min(share) for share in shares)
    shown = max(_shown(share) for share in shares)
    axes.set_ylabel("share of messages")
    if shown - least > _MOST_SINGLE_VALUES:
        _steps(axes, shares, labels(simulations))
    elif len(simulations) == 1:
        _bars(axes, shares[0], shown)
    else:
        _lines(axes, shares, labels(simulations), shown)
    # Room at both ends, so that what stands there is not taken for the frame.
    margin = max(0.6, 0.03 * (shown - least))
    axes.set_xlim(least - margin, shown + margin)
    if shown - least < _MOST_TICKS:
        axes.set_xticks(range(least, shown + 1))
    else:
        ticks = MaxNLocator(nbins=_MOST_TICKS, integer=True, steps=[1, 2, 5, 10])
        axes.xaxis.set_major_locator(ticks)
    axes.set_xlabel("congestion π: messages on the fullest channel of a route")
    percent_axis(axes.yaxis)
    _bandwidth_on_top(axes, least, shown)
    return _congestion_finding(simulations, shares)


def _shown(shares: dict[int, float]) -> int:
    """Largest π to show: beyond it lie less than `_TAIL` of the messages."""
    beyond = 0.0
    for pi in sorted(shares, reverse=True):
        beyond += shares[pi]
        if beyond >= _TAIL:
            return pi
    return max(shares, default=1)


def _bars(axes: Axes, shares: dict[int, float], shown: int) -> None:
    axes.set_ylim(0, 1.12 * max(shares.values()))
    pis = np.arange(min(shares), shown + 1)
    heights = np.array([shares.get(int(pi), 0.0) for pi in pis])
    bars = axes.bar(pis, heights, width=0.78, color=COLOURS[0])
    if shown <= 12:
        texts = [percent(height) if height > 0 else "" for height in heights]
        axes.bar_label(bars, texts, fontsize=6, padding=1)
    beyond = sum(share for pi, share in shares.items() if pi > shown)
    if beyond > 0:
        axes.text(
            0.99,
            0.55,
            f"{100 * beyond:.2g} % beyond,\nup to π = {max(shares)}",
            transform=axes.transAxes,
            ha="right",
            fontsize=6.5,
            color=QUIET,
        )


def _lines(
    axes: Axes, shares: Sequence[dict[int, float]], names: Sequence[str], shown: int
) -> None:
    axes.set_ylim(0, 1.12 * max(max(share.values()) for share in shares))
    pis = np.arange(min(min(share) for share in shares), shown + 1)
    for i, (share, name) in enumerate(zip(shares, names, strict=True)):
        heights = [share.get(int(pi), 0.0) for pi in pis]
        axes.plot(
            pis,
            heights,
            color=COLOURS[i % len(COLOURS)],
            marker=_MARKERS[i % len(_MARKERS)],
            markersize=_slimmer(3, i, len(shares)),
            linewidth=_slimmer(0.9, i, len(shares)),
            label=name,
        )
    axes.legend(fontsize=7, handlelength=1.6)


def _steps(axes: Axes, shares: Sequence[dict[int, float]], names: Sequence[str]) -> None:
    most = max(max(share) for share in shares)
    for i, (share, name) in enumerate(zip(shares, names, strict=True)):
        pis = sorted(share)
        up_to = np.cumsum([share[pi] for pi in pis])
        axes.step(
            [pis[0], *pis, most + 1],
            [0.0, *up_to, 1.0],
            where="post",
            color=COLOURS[i % len(COLOURS)],
            linewidth=_slimmer(0.9, i, len(shares)),
            label=name,
        )
    axes.set_ylim(0, 1.05)
    axes.set_ylabel("share of messages up to this π")
    if len(shares) > 1:
        axes.legend(fontsize=7, handlelength=1.6)


def _slimmer(least: float, i: int, count: int) -> float:
    """Sizes that shrink towards the last, so that a curve still shows below an equal one."""
    return least * (1 + 0.7 * (count - 1 - i))


def _bandwidth_on_top(axes: Axes, least: int, shown: int) -> None:
    """Bandwidths 1/π at a few π, spaced so that their texts do not meet."""
    ticks = [pi for pi in (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40) if least <= pi <= shown]
    if shown - least > _MOST_SINGLE_VALUES:
        even = MaxNLocator(nbins=5, integer=True).tick_values(least, shown)
        ticks = [int(pi) for pi in even if max(least, 1) <= pi <= shown]
    gap = (shown - least + 1) / 9
    kept: list[int] = []
    for pi in ticks:
        if not kept or pi - kept[-1] >= gap:
            kept.append(pi)
    top = axes.secondary_xaxis("top")
    top.set_xticks(kept, [f"{rounded(100 / pi)} %" for pi in kept])
    top.set_xlabel("bandwidth of the message as a share of the link speed")


def _congestion_finding(
    simulations: Sequence[Simulation], shares: Sequence[dict[int, float]]
) -> str:
    alone = [share.get(1, 0.0) for share in shares]
    names = labels(simulations)
    if max(alone) < _TAIL:
        return _finding_of_shared(simulations, shares)
    if len(simulations) == 1:
        return (
            f"{names[0]}: {percent(alone[0])} of {simulations[0].pattern}'s messages share no "
            f"channel, the worst share one with {counted(max(shares[0]) - 1, 'other')}"
        )
    best, worst = int(np.argmax(alone)), int(np.argmin(alone))
    return (
        f"From {percent(alone[worst])} ({names[worst]}) to {percent(alone[best])} "
        f"({names[best]}) of messages share no channel"
    )


def _finding_of_shared(
    simulations: Sequence[Simulation], shares: Sequence[dict[int, float]]
) -> str:
    """For patterns whose messages all share channels: what the typical one shares."""
    medians = [_median(share) for share in shares]
    names = labels(simulations)
    if len(simulations) == 1:
        typical, most = medians[0] - 1, max(shares[0]) - 1
        worst_too = f" or more, the worst with {most}" if most > typical else ", none with more"
        return (
            f"{names[0]}: half of {simulations[0].pattern}'s messages share a channel with "
            f"{counted(typical, 'other')}{worst_too}"
        )
    best, worst = int(np.argmin(medians)), int(np.argmax(medians))
    return (
        f"Half of the messages share a channel with {counted(medians[best] - 1, 'other')} or more "
        f"({names[best]}) to {medians[worst] - 1} or more ({names[worst]})"
    )


def _median(shares: dict[int, float]) -> int:
    """The largest π that half of the messages reach."""
    pis = sorted(shares)
    below = np.cumsum([0.0, *(shares[pi] for pi in pis[:-1])])
    return pis[int(np.searchsorted(below, 0.5, side="right")) - 1]


_NAMED = 3
# Characters that fit below the axes.
_LINE = 66


def channel_loads(simulation: Simulation, fabric: Fabric) -> Figure:
    """Mean heat a round of every channel between switches, sorted, the hottest named.

    That is the number of messages where links are alike. Even ones would lie on the broken line,
    which is their mean.
    """
    with styled():
        figure = new_figure(height=3.2)
        finding = draw_channel_loads(figure.subplots(), simulation, fabric)
        heats = simulation.channel_heat[: 2 * fabric.cables]
        names = [_name(simulation, fabric, channel) for channel in hottest(heats, _NAMED)]
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


def network_loads(simulation: Simulation, fabric: Fabric) -> Figure:
    """The network, its cables coloured by the mean heat a round of the hottest channel."""
    between = slice(2 * fabric.cables)
    heats = simulation.channel_heat[between]
    mean = float(heats.mean()) if len(heats) else 0.0
    finding = _channels_finding(simulation, -np.sort(-heats), mean)
    rates = LinkRates(
        *(simulation.links, np.zeros(0), simulation.port_rate, simulation.relative_rates),
        *(simulation.heat_unit, tuple(simulation.assumed_rates)),
    )
    loads = simulation.channel_load[between]
    return fabric_figure(fabric, loads, unit="messages", rates=rates, finding=finding)


def draw_channel_loads(axes: Axes, simulation: Simulation, fabric: Fabric) -> str:
    """Draws `channel_loads` into given axes, without names; returns the finding."""
    ranked = -np.sort(-simulation.channel_heat[: 2 * fabric.cables])
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
    return _channels_finding(simulation, ranked, mean)


def _name(simulation: Simulation, fabric: Fabric, channel: int) -> str:
    start, end = (text.removeprefix("switch ") for text in fabric.channel_ends(channel))
    rate = f", {fabric.channel_rate(channel) or 'unknown rate'}" if simulation.heat_unit else ""
    name = f"{simulation.channel_heat[channel]:,.2f}  {_short(start)} → {_short(end)}{rate}"
    return name if len(name) <= _LINE else name.replace(" → ", "\n          → ", 1)


def _short(name: str, most: int = 40) -> str:
    """Cuts a name in its middle: both its place and its port are at the ends."""
    return name if len(name) <= most else f"{name[: most // 2 - 1]}…{name[-most // 2 :]}"


def _channels_finding(simulation: Simulation, ranked: np.ndarray, mean: float) -> str:
    name = labels([simulation])[0]
    if mean == 0:
        return f"{name}: {simulation.pattern} uses no channel between switches"
    idle = float(np.mean(ranked == 0))
    unused = f", {100 * idle:.0f} % carry nothing" if idle >= 0.005 else ""
    does = "needs" if simulation.heat_unit else "carries"
    time = " time" if simulation.heat_unit else ""
    return (
        f"{name}: {simulation.pattern}'s hottest channel {does} {ranked[0] / mean:.1f} times "
        f"the mean{time}{unused}"
    )
