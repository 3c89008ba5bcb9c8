"""Loads of the channels between switches, hottest first."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from contend.congestion import Simulation
from contend.fabric import Fabric
from contend.report.measures import labels
from contend.report.style import COLOURS, QUIET, new_figure, percent_axis, styled, title

_NAMED = 3
# Characters that fit below the axes.
_LINE = 66


def channel_loads(simulation: Simulation, fabric: Fabric) -> Figure:
    """Mean messages a round on every channel between switches, sorted, the hottest named.

    Even loads would lie on the broken line, which is their mean.
    """
    loads = simulation.channel_load[: 2 * fabric.cables]
    order = np.argsort(-loads, kind="stable")
    ranked = loads[order]
    mean = float(ranked.mean()) if len(ranked) else 0.0
    with styled():
        figure = new_figure(height=3.2)
        axes = figure.subplots()
        share = (np.arange(len(ranked)) + 0.5) / max(len(ranked), 1)
        axes.fill_between(share, ranked, step="mid", color=COLOURS[0], alpha=0.2, linewidth=0)
        axes.step(share, ranked, where="mid", color=COLOURS[0])
        axes.axhline(mean, color=QUIET, linewidth=0.8, linestyle=(0, (3, 2)))
        axes.text(1, mean, f"mean {mean:.2f}", ha="right", va="bottom", fontsize=6.5, color=QUIET)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, None)
        percent_axis(axes.xaxis)
        axes.set_xlabel("channels between switches, hottest first")
        axes.set_ylabel("messages a round")
        figure.supxlabel(
            "\n".join(["hottest:", *(_name(fabric, int(c), loads) for c in order[:_NAMED])]),
            x=0.01,
            ha="left",
            fontsize=6,
            linespacing=1.35,
        )
        title(figure, _finding(simulation, ranked, mean))
    return figure


def _name(fabric: Fabric, channel: int, loads: np.ndarray) -> str:
    start, end = (text.removeprefix("switch ") for text in fabric.channel_ends(channel))
    name = f"{loads[channel]:.2f}  {_short(start)} → {_short(end)}"
    return name if len(name) <= _LINE else name.replace(" → ", "\n          → ", 1)


def _short(name: str, most: int = 40) -> str:
    """Cuts a name in its middle: both its place and its port are at the ends."""
    return name if len(name) <= most else f"{name[: most // 2 - 1]}…{name[-most // 2 :]}"


def _finding(simulation: Simulation, ranked: np.ndarray, mean: float) -> str:
    name = labels([simulation])[0]
    if mean == 0:
        return f"{name}: {simulation.pattern} uses no channel between switches"
    idle = float(np.mean(ranked == 0))
    unused = f", {100 * idle:.0f} % carry nothing" if idle >= 0.005 else ""
    return (
        f"{name}: {simulation.pattern}'s hottest channel carries {ranked[0] / mean:.1f} times "
        f"the mean{unused}"
    )
