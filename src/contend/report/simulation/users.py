"""Who loads a channel: a verdict, a table, a figure and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from contend.congestion import ChannelUsers, Simulation
from contend.report.style import COLOURS, QUIET, new_figure, percent_axis, styled, title
from contend.report.table import ResultTable
from contend.report.words import UNKNOWN, percent
from contend.units import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Leaves and hosts named, each, in a table and in a panel of the figure.
_ROWS = 5
_BARS = 8
# Channels that the first lines and the figure tell of.
_TOLD = 4
_DRAWN = 3


class _User(NamedTuple):
    """A leaf or host, its share of a channel's messages, and its share of the routes there."""

    name: str
    messages: float
    share: float
    routes: float


class _Users(NamedTuple):
    """Those of one kind that use a channel, the most messages first."""

    kind: str
    users: list[_User]


def _kinds(channel: ChannelUsers) -> Iterator[_Users]:
    """Leaves and hosts that send across a channel, and those that receive."""
    fabric = channel.fabric
    for way, messages, routes in (
        ("from", channel.sources, channel.source_routes),
        ("to", channel.targets, channel.target_routes),
    ):
        on_leaves = channel.by_leaf(messages), channel.by_leaf(routes)
        yield _Users(f"{way} leaf", _users(channel, fabric.switch_label, *on_leaves))
        yield _Users(f"{way} host", _users(channel, fabric.host_label, messages, routes))


def _users(
    channel: ChannelUsers,
    names: Sequence[str],
    messages: NDArray[np.float64],
    routes: NDArray[np.float64],
) -> list[_User]:
    order = np.lexsort((-routes, -messages))
    used = [int(number) for number in order if messages[number] > 0 or routes[number] > 0]
    load, across = channel.load or 1.0, channel.routes_across or 1.0
    return [
        _User(names[n], float(messages[n]), float(messages[n]) / load, float(routes[n]) / across)
        for n in used
    ]


def users_verdict(simulation: Simulation) -> list[str]:
    """A sentence for each channel that was asked for: what it carries, from where and to where."""
    told = [_sentence(channel) for channel in simulation.users[:_TOLD]]
    if left := len(simulation.users) - len(told):
        told.append(f"{counted(left, 'other channel')}: see below.")
    return told


def _sentence(channel: ChannelUsers) -> str:
    if channel.routes_across == 0:
        return f"{channel.name}: no route between these hosts leads there."
    if channel.load == 0:
        return f"{channel.name} carries nothing here; {_routes_words(channel)}."
    leaf_from, host_from, leaf_to, host_to = (kind.users for kind in _kinds(channel))
    return (
        f"{channel.name} carries {_load_words(channel)}, {_ends('from', leaf_from, host_from)} "
        f"{_ends('to', leaf_to, host_to)}."
    )


def _ends(way: str, leaves: Sequence[_User], hosts: Sequence[_User], most: bool = True) -> str:
    """Where messages come from or go to: ``to 3 hosts on leaf "x" (most to host "y": 40.0 %)``."""
    on_leaves, on_hosts = (sum(user.messages > 0 for user in users) for users in (leaves, hosts))
    first = hosts[0]
    if on_hosts == 1:
        return f'{way} host "{first.name}" alone'
    where = f'leaf "{leaves[0].name}"' if on_leaves == 1 else f"{on_leaves:,} leaves"
    named = f' (most {way} host "{first.name}": {percent(first.share)})' if most else ""
    return f"{way} {on_hosts:,} hosts on {where}{named}"


def _load_words(channel: ChannelUsers) -> str:
    number = f"{channel.load:.3g}"
    return f"{number} message{'' if number == '1' else 's'} a round"


def _routes_words(channel: ChannelUsers) -> str:
    across = channel.routes_across
    number = f"{across:,.0f}" if across == round(across) else f"{across:,.1f}"
    share = percent(across / max(channel.routes, 1))
    leads = "leads" if number == "1" else "lead"
    return f"{number} of {channel.routes:,} routes between hosts ({share}) {leads} there"


def users_tables(simulation: Simulation) -> list[ResultTable]:
    """A table for each channel: leaves and hosts that its messages come from and go to."""
    return [_table(channel) for channel in simulation.users]


def _table(channel: ChannelUsers) -> ResultTable:
    numeric = ("messages per round", "share", "share of routes")
    rows = []
    for kind, users in _kinds(channel):
        rows += [
            (
                kind,
                user.name,
                f"{user.messages:.3g}",
                percent(user.share) if channel.load else UNKNOWN,
                percent(user.routes),
            )
            for user in users[:_ROWS]
        ]
        rest = users[_ROWS:]
        if rest:
            rows.append(
                (
                    kind,
                    counted(len(rest), "other"),
                    f"{sum(user.messages for user in rest):.3g}",
                    percent(sum(user.share for user in rest)) if channel.load else UNKNOWN,
                    percent(sum(user.routes for user in rest)),
                )
            )
    return ResultTable(
        title=f"Who loads {channel.name}",
        columns=("", "", *numeric),
        rows=tuple(rows),
        numeric=frozenset(numeric),
        note=f"{_load_words(channel)}; {_routes_words(channel)}",
    )


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
            heading = f"{' → '.join(ends)}: {_load_words(channel)}"
            axes_row[0].set_title(heading, loc="left", fontsize=6.5)
        handles, labels = grid[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2, handletextpad=0.4)
        title(figure, _finding(shown[0]))
    return figure


def _finding(channel: ChannelUsers) -> str:
    if channel.load == 0:
        return _sentence(channel).rstrip(".")
    leaf_from, host_from, leaf_to, host_to = (kind.users for kind in _kinds(channel))
    return (
        f"Messages {_ends('from', leaf_from, host_from, most=False)} "
        f"{_ends('to', leaf_to, host_to)} share the channel"
    )


def _panel(channel: ChannelUsers, way: str) -> _Users:
    by_kind = {kind.kind: kind for kind in _kinds(channel)}
    leaves = by_kind[f"{way} leaf"]
    return leaves if len(leaves.users) > 1 else by_kind[f"{way} host"]


def _draw(axes: Axes, panel: _Users) -> None:
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
    axes.set_yticks(rows, [_cut(user.name, 28) for user in users])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(max(len(users), 2) - 0.4, -0.6)
    axes.set_xlim(0, None)
    percent_axis(axes.xaxis)
    left = len(panel.users) - len(users)
    others = f", {left:,} more" if left else ""
    axes.set_xlabel(f"{panel.kind}{others}", color=QUIET if not users else "black")


def _cut(name: str, most: int = 38) -> str:
    return name if len(name) <= most else f"{name[: most // 2]}…{name[-most // 2 + 1 :]}"


class UserJson(msgspec.Struct, frozen=True, kw_only=True):
    """A leaf or host that messages of a channel come from or go to.

    Attributes:
        name: told from all others.
        messages_per_round: its messages there, in the mean over rounds and samples.
        share: of all messages there; 0 where there are none.
        routes_share: of the routes between hosts there, those that start or end at it.
    """

    name: str
    messages_per_round: float
    share: float
    routes_share: float


class ChannelUsersJson(msgspec.Struct, frozen=True, kw_only=True):
    """Who loads a channel.

    Attributes:
        channel: its number.
        name: both its ends with their ports.
        messages_per_round: mean over rounds and samples.
        routes: how many routes between hosts lead there; a mean where routes are drawn.
        routes_in_all: how many there are between the hosts that take part.
        from_leaves: that the messages come from, the most first.
        from_hosts: likewise.
        to_leaves: that the messages go to, the most first.
        to_hosts: likewise.
    """

    channel: int
    name: str
    messages_per_round: float
    routes: float
    routes_in_all: int
    from_leaves: list[UserJson]
    from_hosts: list[UserJson]
    to_leaves: list[UserJson]
    to_hosts: list[UserJson]


def users_json(simulation: Simulation) -> list[ChannelUsersJson]:
    """The channels that were asked for."""
    return [_channel_json(channel) for channel in simulation.users]


def _channel_json(channel: ChannelUsers) -> ChannelUsersJson:
    leaf_from, host_from, leaf_to, host_to = (
        [
            UserJson(
                name=user.name,
                messages_per_round=user.messages,
                share=user.share,
                routes_share=user.routes,
            )
            for user in users
        ]
        for _, users in _kinds(channel)
    )
    return ChannelUsersJson(
        channel=channel.channel,
        name=channel.name,
        messages_per_round=channel.load,
        routes=channel.routes_across,
        routes_in_all=channel.routes,
        from_leaves=leaf_from,
        from_hosts=host_from,
        to_leaves=leaf_to,
        to_hosts=host_to,
    )
