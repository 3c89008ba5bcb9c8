"""Who loads a channel, drawn."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contend.congestion import ChannelUsers, Simulation
from contend.report.simulation.users import (
    Users,
    ends_words,
    heat_words,
    kinds,
    load_words,
    sentence,
)
from contend.report.style import COLOURS, QUIET, name_rows, new_figure, percent_axis, styled, title

# Leaves or hosts in a panel, and channels in the figure.
_BARS = 8
_DRAWN = 3


def users_figure(simulation: Simulation) -> Figure:
    """Leaves (hosts, where there is but one) that load a channel, by share, and what they get.

    A bar is the share of the messages, a ring that of the routes. A row of panels for each channel.
    """
    shown = simulation.users[:_DRAWN]
    panels = [[_panel(channel, way) for way in ("from", "to")] for channel in shown]
    bars = [max(len(panel.users[:_BARS]) for panel in row) for row in panels]
    with styled():
        height = 1.2 + sum(0.55 + 0.19 * max(number, 2) for number in bars)
        figure = new_figure(height=height, width=7.0)
        grid = figure.subplots(
            len(shown), 2, squeeze=False, height_ratios=[max(number, 2) + 1.5 for number in bars]
        )
        for axes_row, row, channel in zip(grid, panels, shown, strict=True):
            for axes, panel in zip(axes_row, row, strict=True):
                _draw(axes, panel)
            both = channel.fabric.channel_ends(channel.channel)
            ends = (_cut(end.removeprefix("switch ")) for end in both)
            heading = f"{' → '.join(ends)}: {load_words(channel)}{heat_words(channel)}"
            axes_row[0].set_title(heading, loc="left", fontsize=6.5)
        handles, labels = grid[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2, handletextpad=0.4)
        title(figure, _finding(shown[0]))
    return figure


def _finding(channel: ChannelUsers) -> str:
    if channel.load == 0:
        return sentence(channel).rstrip(".")
    leaf_from, host_from, leaf_to, host_to = (kind.users for kind in kinds(channel))
    return (
        f"Messages {ends_words('from', leaf_from, host_from, most=False)} "
        f"{ends_words('to', leaf_to, host_to)} share the channel"
    )


def _panel(channel: ChannelUsers, way: str) -> Users:
    by_kind = {kind.kind: kind for kind in kinds(channel)}
    leaves = by_kind[f"{way} leaf"]
    return leaves if len(leaves.users) > 1 else by_kind[f"{way} host"]


def _draw(axes: Axes, panel: Users) -> None:
    users = panel.users[:_BARS]
    rows = np.arange(len(users))
    axes.barh(
        rows,
        [user.share for user in users],
        height=0.6,
        color=COLOURS[0],
        label="share of the messages there",
    )
    axes.plot(
        [user.routes for user in users],
        rows,
        linestyle="",
        marker="o",
        markersize=4,
        markerfacecolor="none",
        markeredgecolor=COLOURS[1],
        label="share of the routes there",
    )
    name_rows(axes, [_cut(user.name, 28) for user in users], 2)
    axes.set_xlim(0, None)
    percent_axis(axes.xaxis)
    left = len(panel.users) - len(users)
    others = f", {left:,} more" if left else ""
    axes.set_xlabel(f"{panel.kind}{others}", color=QUIET if not users else "black")


def _cut(name: str, most: int = 38) -> str:
    return name if len(name) <= most else f"{name[: most // 2]}…{name[-most // 2 + 1 :]}"
