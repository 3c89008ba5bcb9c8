"""What ports have counted beside what a pattern predicts, drawn."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from contend.congestion import BesideCounters
from contend.report.style import (
    COLOURS,
    QUIET,
    new_figure,
    percent_axis,
    styled,
    title,
    write_beside,
)

_NAMED = 3


def counters_figure(beside: BesideCounters) -> Figure:
    """A point for every channel: its share of what was predicted, and of what was counted."""
    with styled():
        figure = new_figure(height=3.8)
        axes = figure.subplots()
        axes.plot(
            beside.predicted,
            beside.share,
            linestyle="",
            marker="o",
            markersize=2.6,
            markeredgewidth=0,
            color=COLOURS[0],
            alpha=0.5,
            rasterized=len(beside.channels) > 4000,
        )
        end = 1.08 * float(max(beside.predicted.max(), beside.share.max(), 1e-12))
        axes.plot([0, end], [0, end], color=QUIET, linewidth=0.8, linestyle=(0, (3, 2)), zorder=0)
        corner = (0.97 * end, 0.97 * end)
        write_beside(axes, "as predicted", corner, (-8, 0), ha="right", color=QUIET)
        axes.set_xlim(0, end)
        axes.set_ylim(0, end)
        percent_axis(axes.xaxis)
        percent_axis(axes.yaxis)
        axes.set_xlabel(f"share of the messages of {beside.simulation.pattern}")
        axes.set_ylabel("share of the bytes that ports counted")
        named = _far_apart(beside, end)
        fabric = beside.carried.fabric
        for number, row in enumerate(named, 1):
            place = (float(beside.predicted[row]), float(beside.share[row]))
            write_beside(axes, str(number), place, (4, 0), va="baseline")
        names = [
            f"{number}  {fabric.channel_name(int(beside.channels[row])).replace('switch ', '')}"
            for number, row in enumerate(named, 1)
        ]
        figure.supxlabel("\n".join(names), x=0.01, ha="left", fontsize=5.5, linespacing=1.35)
        title(figure, _finding(beside))
    return figure


def _far_apart(beside: BesideCounters, end: float) -> list[int]:
    """The few that differ most from the prediction, and whose points do not lie on each other."""
    named: list[int] = []
    for row in np.argsort(-np.abs(beside.share - beside.predicted), kind="stable").tolist():
        near = [
            other
            for other in named
            if abs(beside.share[row] - beside.share[other]) < 0.03 * end
            and abs(beside.predicted[row] - beside.predicted[other]) < 0.03 * end
        ]
        if not near:
            named.append(row)
        if len(named) == _NAMED:
            break
    return named


def _finding(beside: BesideCounters) -> str:
    if beside.rank_correlation is None:
        return f"What ports counted beside {beside.simulation.pattern}"
    return (
        f"{beside.carried.fabric.name}: rank correlation of what ports counted with "
        f"{beside.simulation.pattern} is {beside.rank_correlation:.2f}"
    )
