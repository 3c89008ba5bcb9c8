"""Pictures of how many messages share a channel: the share of messages by π."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from contend.congestion import Simulation
from contend.report.simulation.tables import labels, whole_congestion_shares
from contend.report.style import (
    COLOURS,
    QUIET,
    new_figure,
    percent_axis,
    styled,
    title,
)
from contend.report.words import percent
from contend.units import counted, rounded

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
