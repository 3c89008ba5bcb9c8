"""Distribution of the congestion π of single messages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from contend.congestion.simulation import Simulation
from contend.report.measures import labels, percent
from contend.report.style import COLOURS, QUIET, new_figure, percent_axis, styled, title
from contend.report.summary import congestion_shares

# A tail of fewer messages than this is summed up in words: it would stretch the axis for nothing.
_TAIL = 1e-3
_MARKERS = "osD^vP"


def congestion_distribution(simulations: Sequence[Simulation]) -> Figure:
    """Share of messages by π; the upper axis tells the bandwidth 1/π that a message gets.

    One simulation is drawn as bars, several as lines with markers.
    """
    shares = [congestion_shares(s) for s in simulations]
    shown = max(_shown(share) for share in shares)
    with styled():
        figure = new_figure(height=2.6)
        axes = figure.subplots()
        if len(simulations) == 1:
            _bars(axes, shares[0], shown)
        else:
            _lines(axes, shares, labels(simulations), shown)
        axes.set_xlim(min(min(share) for share in shares) - 0.6, shown + 0.6)
        axes.set_ylim(0, 1.12 * max(max(share.values()) for share in shares))
        axes.xaxis.set_major_locator(MaxNLocator(nbins=14, integer=True, steps=[1, 2, 5, 10]))
        axes.set_xlabel("congestion π: messages on a message's fullest channel")
        axes.set_ylabel("share of messages")
        percent_axis(axes.yaxis)
        _bandwidth_on_top(axes, shown)
        title(figure, _finding(simulations, shares))
    return figure


def _shown(shares: dict[int, float]) -> int:
    """Largest π to show: beyond it lie less than `_TAIL` of the messages."""
    beyond = 0.0
    for pi in sorted(shares, reverse=True):
        beyond += shares[pi]
        if beyond >= _TAIL:
            return pi
    return max(shares, default=1)


def _bars(axes: Axes, shares: dict[int, float], shown: int) -> None:
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
    pis = np.arange(min(min(share) for share in shares), shown + 1)
    for i, (share, name) in enumerate(zip(shares, names, strict=True)):
        heights = [share.get(int(pi), 0.0) for pi in pis]
        axes.plot(
            pis,
            heights,
            color=COLOURS[i % len(COLOURS)],
            marker=_MARKERS[i % len(_MARKERS)],
            markersize=3,
            linewidth=0.9,
            label=name,
        )
    axes.legend(frameon=False, fontsize=7, handlelength=1.6)


def _bandwidth_on_top(axes: Axes, shown: int) -> None:
    """Bandwidths 1/π at a few π, spaced so that their texts do not meet."""
    ticks = [pi for pi in (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100, 200) if pi <= shown]
    least = shown / 9
    kept: list[int] = []
    for pi in ticks:
        if not kept or pi - kept[-1] >= least:
            kept.append(pi)
    top = axes.secondary_xaxis("top")
    top.set_xticks(kept, [f"{100 / pi:.3g} %" for pi in kept])
    top.set_xlabel("bandwidth of the message, of the link speed")


def _finding(simulations: Sequence[Simulation], shares: Sequence[dict[int, float]]) -> str:
    alone = [share.get(1, 0.0) for share in shares]
    names = labels(simulations)
    if len(simulations) == 1:
        return (
            f"{names[0]}: {percent(alone[0])} of {simulations[0].pattern}'s messages share no "
            f"channel, the worst share one with {max(shares[0]) - 1} others"
        )
    best, worst = int(np.argmax(alone)), int(np.argmin(alone))
    return (
        f"From {percent(alone[worst])} ({names[worst]}) to {percent(alone[best])} "
        f"({names[best]}) of messages share no channel"
    )
