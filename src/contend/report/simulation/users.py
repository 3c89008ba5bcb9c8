"""Who loads a channel: a verdict, a table and a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from contend.base.units import counted, rounded
from contend.congestion import ChannelUser, ChannelUsers, Simulation
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import UNKNOWN, first_clause, percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from contend.report.charts import Bars

# Whether they are those that messages come from or go to, leaves and hosts.
_Ends: TypeAlias = tuple[str, Sequence[ChannelUser], Sequence[ChannelUser]]
# Leaves and hosts named, each, in a table.
_ROWS = 5
# Channels that the first lines tell of.
_TOLD = 4
# Leaves or hosts in a panel, and channels in the figure.
_BARS = 8
_DRAWN = 3


def users_verdict(simulation: Simulation) -> list[str]:
    """A sentence for each channel that was asked for: what it carries, from where and to where."""
    told = [_sentence(channel) for channel in simulation.channels[:_TOLD]]
    if left := len(simulation.channels) - len(told):
        told.append(f"{counted(left, 'other channel')}: see below.")
    return told


def _sentence(channel: ChannelUsers) -> str:
    if channel.routes == 0:
        return f"{channel.name}: no route between these hosts leads there."
    if channel.messages_per_round == 0:
        return f"{channel.name} carries nothing here; {_routes_words(channel)}."
    start, end = (_words(ends) for ends in _both_ways(channel))
    return f"{channel.name} carries {_load_words(channel)}, {start} {end}."


def _both_ways(channel: ChannelUsers) -> tuple[_Ends, _Ends]:
    """Leaves and hosts that messages come from, and those that they go to."""
    return (
        ("from", channel.from_leaves, channel.from_hosts),
        ("to", channel.to_leaves, channel.to_hosts),
    )


def _words(ends: _Ends) -> str:
    """Those that send or receive: ``to 3 hosts on leaf "x" (most to host "y": 40.0 %)``."""
    way, leaves, hosts = ends
    on_leaves, on_hosts = (sum(user.messages_per_round > 0 for user in each) for each in ends[1:])
    first = hosts[0]
    if on_hosts == 1:
        return f'{way} host "{first.name}" alone'
    where = f'leaf "{leaves[0].name}"' if on_leaves == 1 else f"{on_leaves:,} leaves"
    most = f'(most {way} host "{first.name}": {percent(first.share)})'
    return f"{way} {on_hosts:,} hosts on {where} {most}"


def _load_words(channel: ChannelUsers) -> str:
    """Its messages per round and, where links differ in rate, how long they take."""
    number = rounded(channel.messages_per_round)
    load = f"{number} message{'' if number == '1' else 's'} per round"
    if channel.slowness == 1:
        return load
    rate = channel.fabric.channel_rate(channel.channel)
    at = f" at {rate}" if rate else ""
    return f"{load}{at}, which take as long as {rounded(channel.heat)} at the fastest port"


def _routes_words(channel: ChannelUsers) -> str:
    number = f"{channel.routes:,.1f}".removesuffix(".0")
    share = percent(channel.routes / max(channel.routes_in_all, 1))
    leads = "leads" if number == "1" else "lead"
    return f"{number} of {channel.routes_in_all:,} routes between hosts ({share}) {leads} there"


def users_table(channel: ChannelUsers) -> ResultTable:
    """Leaves and hosts that a channel's messages come from and go to."""
    rows: list[tuple[str, ChannelUser]] = []
    for kind, users in (
        (f"{way} {kind}", users)
        for way, *both in _both_ways(channel)
        for kind, users in zip(("leaf", "host"), both, strict=True)
    ):
        rows += [(kind, user) for user in users[:_ROWS]]
        if rest := users[_ROWS:]:
            columns = zip(
                *((user.messages_per_round, user.share, user.routes_share) for user in rest),
                strict=True,
            )
            rows.append((kind, ChannelUser(counted(len(rest), "other"), *map(sum, columns))))
    loaded = channel.messages_per_round > 0
    return table_of(
        f"Who loads {channel.name}",
        rows,
        {
            "": lambda row: row[0],
            " ": lambda row: row[1].name,
            "messages per round": Number(lambda row: rounded(row[1].messages_per_round)),
            "share": Number(lambda row: percent(row[1].share) if loaded else UNKNOWN),
            "share of routes": Number(lambda row: percent(row[1].routes_share)),
        },
        note=f"{_load_words(channel)}; {_routes_words(channel)}",
    )


def users_figure(simulation: Simulation) -> Figure:
    """Leaves (hosts, where there is but one) that load a channel, by share, and what they get.

    A bar is the share of the messages, a ring that of the routes. A row of panels for each channel.
    """
    # Imported here: only figures need it, and loading takes a while.
    from contend.report.charts import charted

    shown = simulation.channels[:_DRAWN]
    rows = [[_chart(*_panel(ends)) for ends in _both_ways(channel)] for channel in shown]
    for row, channel in zip(rows, shown, strict=True):
        both = channel.fabric.channel_ends(channel.channel)
        ends = (_cut(end.removeprefix("switch ")) for end in both)
        row[0] = replace(row[0], heading=f"{' → '.join(ends)}: {_load_words(channel)}")
    heights = [max(2, *(len(chart.names) for chart in row)) for row in rows]
    return charted(
        first_clause(_sentence(shown[0])),
        *rows,
        height=1.2 + sum(0.55 + 0.19 * number for number in heights),
        width=7.0,
        height_ratios=[number + 1.5 for number in heights],
        legend=2,
    )


def _panel(ends: _Ends) -> tuple[str, Sequence[ChannelUser]]:
    way, leaves, hosts = ends
    return (f"{way} leaf", leaves) if len(leaves) > 1 else (f"{way} host", hosts)


def _chart(kind: str, users: Sequence[ChannelUser]) -> Bars:
    from contend.report.charts import Bars, Stack
    from contend.report.series import Axis, Series, Unit
    from contend.report.style import COLOURS, DOT, HOLLOW

    shown = users[:_BARS]
    left = len(users) - len(shown)
    label = f"{kind}{f', {left:,} more' if left else ''}"
    messages = [user.share for user in shown]
    routes = Series(
        [user.routes_share for user in shown],
        range(len(shown)),
        "share of the routes there",
        COLOURS[1],
        mark={**DOT, **HOLLOW},
    )
    return Bars(
        names=[_cut(user.name, 28) for user in shown],
        least=2,
        stacks=[Stack(messages, "share of the messages there")],
        series=[routes],
        x=Axis(label, Unit.SHARE, (0, None)),
    )


def _cut(name: str, most: int = 38) -> str:
    return name if len(name) <= most else f"{name[: most // 2]}…{name[-most // 2 + 1 :]}"
