"""Figures of simulations: several compared, loads of channels, how many messages share one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from contend.base.units import counted, rounded, verb
from contend.congestion import EACH_HOST, Judged, LinkRates, SampleMean, Simulation, hottest
from contend.report.charts import Bars, Chart, Curves, Intervals, Stack, charted
from contend.report.fabric.network import fabric_figure
from contend.report.fabric.scene import shortened
from contend.report.series import Axis, BoundLine, Series, Unit, Words, port_axis
from contend.report.simulation.tables import (
    AXIS_WORDS,
    judged_by,
    labels,
    of_what,
    scale_of,
    scaled_by,
    whole_congestion_shares,
)
from contend.report.style import COLOURS, DIAMOND, DOT, QUIET
from contend.report.words import percent, percent_range

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CUT = {"marker": "|", "markersize": 9, "markeredgewidth": 1.4, "clip_on": False}


def simulation_comparison(
    simulations: Sequence[Simulation],
    *,
    average: Judged | None = None,
    rated: Sequence[float | None] = (),
    reference: Sequence[float | None] = (),
    reference_name: str = "paper",
) -> Figure:
    """One row for each simulation: a dot with its interval, a tick at what is rated.

    Args:
        simulations: at least one, drawn from the top in the order given.
        average: which bandwidth; None: by what each is judged, where that is the same of all.
        rated: rated bisection bandwidth of each, or None.
        reference: a number known from elsewhere for each, or None; drawn as an open diamond.
        reference_name: what the diamond is called.
    """
    average = judged_by(simulations, average)
    estimates = [s.averaged(average).times(scale_of(s, average)) for s in simulations]
    means = [estimate.mean for estimate in estimates]
    # A single sample has no interval.
    lows, highs = zip(*(e.ci95 or (e.mean, e.mean) for e in estimates), strict=True)
    name = "simulated, 95 % interval"
    series = [Series(means, name=name, mark=DOT, low=lows, high=highs, above=3)]
    for values, known, colour, mark in (
        (rated, "narrowest cut found", QUIET, _CUT),
        (reference, reference_name, COLOURS[1], DIAMOND),
    ):
        at = {row: value for row, value in enumerate(values) if value is not None}
        if at:
            series.append(Series([*at.values()], [*at], known, colour, mark=mark, above=4))
    words = AXIS_WORDS[average] + scaled_by(simulations, average)
    chart = Intervals(
        names=labels(simulations),
        ends=list(map(percent, means)),
        lengths=means,
        series=series,
        # Two lines: long labels of rows leave little width.
        x=port_axis(f"{_what(average, words)}\nas a share of {of_what(average)}"),
    )
    finding = _comparison_finding(simulations, estimates, rated, of_what(average))
    return charted(finding, chart, height=1.38 + 0.2 * len(simulations), legend=3)


def _what(average: Judged, words: str) -> str:
    return words if average == EACH_HOST else f"effective bandwidth ({words})"


def _comparison_finding(
    simulations: Sequence[Simulation],
    estimates: Sequence[SampleMean],
    rated: Sequence[float | None],
    whole: str,
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
        return f"{where}{patterns} {gets} {shares} of {whole}; {cut} could carry {carried}"
    best = max(range(len(estimates)), key=lambda i: estimates[i].mean)
    case = labels(simulations)[best]
    return f"{patterns} {gets} {percent(means[best])} of {whole} in the best case: {case}"


_NAMED = 3
# Characters that fit below the axes.
_LINE = 66


def channel_loads(simulation: Simulation) -> Figure:
    """Mean heat a round of every channel between switches, sorted, the hottest named.

    That is the number of messages where links are alike. Even ones would lie on the broken line,
    which is their mean.
    """
    chart, finding = loads_chart(simulation)
    unit = simulation.heat_unit
    heading = f"hottest, by messages over rate, as at {unit}:" if unit else "hottest:"
    names = [_name(simulation, channel) for channel in hottest(_heats(simulation), _NAMED)]
    return charted(finding, chart, height=3.2, note="\n".join([heading, *names]))


def loads_chart(simulation: Simulation) -> tuple[Chart, str]:
    """The chart of `channel_loads`, without names, and its finding."""
    ranked = -np.sort(-_heats(simulation))
    mean = float(ranked.mean()) if len(ranked) else 0.0
    share = (np.arange(len(ranked)) + 0.5) / max(len(ranked), 1)
    loads = Series(
        share,
        ranked,
        line="-",
        drawstyle="steps-mid",
        low=np.zeros(len(ranked)),
        high=ranked,
        band=True,
    )
    above = {"ha": "right", "va": "bottom", "color": QUIET}
    chart = Curves(
        series=[loads],
        bounds=[BoundLine(mean)],
        words=[Words(f"mean {mean:,.2f}", (1, mean), (0, 0), look=above)],
        x=Axis("channels between switches, hottest first", Unit.SHARE, (0, 1)),
        y=Axis(
            "heat per round" if simulation.heat_unit else "messages per round",
            Unit.AMOUNT,
            (0, None),
        ),
    )
    return chart, _channels_finding(simulation, ranked)


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


def _name(simulation: Simulation, channel: int) -> str:
    fabric = simulation.whole_fabric
    ends = (text.removeprefix("switch ") for text in fabric.channel_ends(channel))
    start, end = (shortened(end, 40) for end in ends)
    rate = f", {fabric.channel_rate(channel) or 'unknown rate'}" if simulation.heat_unit else ""
    name = f"{simulation.channel_heat[channel]:,.2f}  {start} → {end}{rate}"
    return name if len(name) <= _LINE else name.replace(" → ", "\n          → ", 1)


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
    chart, finding = congestion_chart(simulations)
    return charted(finding, chart, height=2.6)


def congestion_chart(simulations: Sequence[Simulation]) -> tuple[Chart, str]:
    """The chart of `congestion_distribution`, and its finding."""
    from matplotlib.ticker import MaxNLocator

    shares = [whole_congestion_shares(simulation) for simulation in simulations]
    least, shown = min(min(share) for share in shares), max(_shown(share) for share in shares)
    # Room at both ends, so that what stands there is not taken for the frame.
    margin = max(0.6, 0.03 * (shown - least))
    ends = (least - margin, shown + margin)
    even = MaxNLocator(nbins=_MOST_TICKS, integer=True, steps=[1, 2, 5, 10]).tick_values(*ends)
    ticks = range(least, shown + 1) if shown - least < _MOST_TICKS else even
    across = Axis(
        "congestion π: messages on the fullest channel of a route",
        ends=ends,
        ticks=[tick for tick in ticks if ends[0] <= tick <= ends[1]],
    )
    top = _bandwidths(least, shown)
    up = Axis(
        "share of messages", Unit.SHARE, (0, 1.12 * max(max(share.values()) for share in shares))
    )
    pis, legend = range(least, shown + 1), "best" if len(shares) > 1 else ""
    finding = _congestion_finding(simulations, shares)
    if shown - least > _MOST_SINGLE_VALUES:
        up = replace(up, label="share of messages\nup to this π", ends=(0, 1.05))
        series = _curves(shares, labels(simulations), steps=True)
    elif len(simulations) == 1:
        heights = np.array([shares[0].get(pi, 0.0) for pi in pis])
        texts = [percent(height) if height > 0 else "" for height in heights]
        bars = Stack(heights, words=texts if shown <= 12 else ())
        words = _beyond(shares[0], shown)
        chart = Bars(
            x=across,
            y=up,
            top=top,
            words=words,
            stacks=[bars],
            places=pis,
            width=0.78,
            upright=True,
        )
        return chart, finding
    else:
        series = _curves(shares, labels(simulations), steps=False)
    return Curves(x=across, y=up, top=top, series=series, legend=legend), finding


def _shown(shares: dict[int, float]) -> int:
    """Largest π to show: beyond it lie less than `_TAIL` of the messages."""
    beyond = 0.0
    for pi in sorted(shares, reverse=True):
        beyond += shares[pi]
        if beyond >= _TAIL:
            return pi
    return max(shares, default=1)


def _beyond(shares: dict[int, float], shown: int) -> list[Words]:
    """How much lies beyond what is shown."""
    beyond = sum(share for pi, share in shares.items() if pi > shown)
    text = f"{100 * beyond:.2g} % beyond,\nup to π = {max(shares)}"
    look = {"xycoords": "axes fraction", "ha": "right", "va": "baseline", "color": QUIET}
    return [Words(text, (0.99, 0.55), (0, 0), look=look)] if beyond > 0 else []


def _curves(
    shares: Sequence[dict[int, float]], names: Sequence[str], *, steps: bool
) -> list[Series]:
    """A line with markers each, or steps up to each π; an earlier one shows below an equal one."""
    most, least = max(max(share) for share in shares), min(min(share) for share in shares)
    series = []
    for i, (share, name) in enumerate(zip(shares, names, strict=True)):
        wide, colour = 1 + 0.7 * (len(shares) - 1 - i), COLOURS[i % len(COLOURS)]
        if steps:
            pis = [min(share), *sorted(share), most + 1]
            values = [0.0, *np.cumsum([share[pi] for pi in sorted(share)]), 1.0]
            more: dict[str, Any] = {"drawstyle": "steps-post"}
        else:
            pis = list(range(least, max(map(_shown, shares)) + 1))
            values = [share.get(pi, 0.0) for pi in pis]
            more = {"mark": {"marker": _MARKERS[i % len(_MARKERS)], "markersize": 3 * wide}}
        series.append(Series(pis, values, name, colour, "-", width=0.9 * wide, **more))
    return series


def _bandwidths(least: int, shown: int) -> Axis:
    """Bandwidths 1/π at a few π, spaced so that their texts do not meet."""
    from matplotlib.ticker import MaxNLocator

    ticks = [pi for pi in (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40) if least <= pi <= shown]
    if shown - least > _MOST_SINGLE_VALUES:
        even = MaxNLocator(nbins=5, integer=True).tick_values(least, shown)
        ticks = [int(pi) for pi in even if max(least, 1) <= pi <= shown]
    gap = (shown - least + 1) / 9
    kept: list[int] = []
    for pi in ticks:
        if not kept or pi - kept[-1] >= gap:
            kept.append(pi)
    return Axis(
        "bandwidth of the message as a share of the link speed",
        ticks={pi: f"{rounded(100 / pi)} %" for pi in kept},
    )


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
