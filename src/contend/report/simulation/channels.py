"""Channels of a simulation: what their ports have counted, and who loads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from contend.base.units import counted, format_bytes, rounded, verb
from contend.congestion import BesideCounters, ChannelUser, ChannelUsers, CountedChannel, Simulation
from contend.report.charts import Bars, Curves, Stack, charted
from contend.report.series import DASHED, Axis, Scatter, Series, Unit, Words
from contend.report.style import COLOURS, DOT, HOLLOW, QUIET
from contend.report.table import Columns, Number, ResultTable, table_of
from contend.report.words import UNKNOWN, first_clause, percent, rate_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from contend.report.charts import Bars

_ROWS = 8
# Shares this near each other are called the same.
_ALIKE = 1.05
# From so large a part of the channels with two counters a factor of four is no accident, and so
# much more than a link carries is no error of clocks.
_MOSTLY, _TOO_BUSY = 0.5, 1.1
# Channels that the figure names.
_NAMED = 3
_ASIDE, _ABOVE = {"ha": "right", "color": "#767676"}, {"va": "baseline"}


def counters_verdict(simulation: Simulation, beside: BesideCounters) -> str:
    """How many channels have counters, whether they agree with the pattern, and the hottest one."""
    channels = counted(len(beside.channels), "channel")
    if not any(channel.bytes for channel in beside.channels):
        return f"The counters of {channels} between switches say that nothing was sent."
    correlation = (
        "undefined, as one of the two is the same everywhere"
        if beside.rank_correlation is None
        else f"{beside.rank_correlation:.2f}"
    )
    first = max(beside.channels, key=lambda channel: channel.heat)
    which = "busiest now"
    if simulation.heat_unit:
        which = f"hottest now, at {first.rate or 'an unknown rate'}"
    line = (
        f"{channels} of {2 * beside.fabric.cables:,} between switches have counters; rank "
        f"correlation with what {simulation.pattern} predicts: {correlation}; {which}: "
        f"{first.name} with {_share(first.share)} of all bytes, {_against(first)}."
    )
    return " ".join([line, *_doubts(beside)])


def _doubts(beside: BesideCounters) -> Iterator[str]:
    """What makes the units of counters doubtful."""
    taken = ", ".join(f"{name} as {_unit(unit)}" for name, unit in beside.units.items())
    if beside.fourfold and beside.fourfold >= _MOSTLY * beside.compared:
        yield (
            f"On {beside.fourfold:,} of {counted(beside.compared, 'channel')} with two counters "
            "one is four times the other: a source counts words of four bytes as bytes, as old "
            f"exporters do (taken here: {taken})."
        )
    busy = {channel.name: channel.busy for channel in beside.channels if channel.busy is not None}
    if over := sum(part > _TOO_BUSY for part in busy.values()):
        most = max(busy, key=busy.__getitem__)
        yield (
            f"{counted(over, 'channel')} carried more than the link can, {most} {busy[most]:.3g} "
            f"times as much: the interval or the unit is wrong (taken here: {taken})."
        )


def _unit(size: int) -> str:
    return "bytes" if size == 1 else f"words of {size} bytes"


def _against(channel: CountedChannel) -> str:
    """What was predicted for a channel, in words."""
    if channel.ratio is None:
        return "where nothing was predicted"
    if 1 / _ALIKE < channel.ratio < _ALIKE:
        return "as predicted"
    return f"{rounded(channel.ratio)} times the {_share(channel.predicted)} predicted"


def _share(value: float) -> str:
    """Three digits: of many channels each has but little."""
    return f"{rounded(100 * value)} %"


def _apart(channel: CountedChannel) -> float:
    return abs(channel.share - channel.predicted)


def counters_tables(simulation: Simulation, beside: BesideCounters) -> list[ResultTable]:
    """The channels that need most time now, and those that differ most from the prediction."""
    waited = sum(channel.waited or 0.0 for channel in beside.channels)
    amount: Columns[CountedChannel] = {"bytes": Number(lambda channel: format_bytes(channel.bytes))}
    if (seconds := beside.seconds) is not None:
        amount = {
            "rate": Number(lambda channel: rate_words(channel.bytes / seconds)),
            "busy": "busy",
        }
    columns: Columns[CountedChannel] = {
        **amount,
        "share now": Number(lambda channel: _share(channel.share)),
        "predicted": Number(lambda channel: _share(channel.predicted)),
        "ratio": Number(lambda c: UNKNOWN if c.ratio is None else rounded(c.ratio)),
        "share of waiting": Number(
            lambda c: UNKNOWN if c.waited is None or not waited else _share(c.waited / waited)
        ),
        **({"rate ": lambda channel: channel.rate or UNKNOWN} if simulation.heat_unit else {}),
        "channel": "name",
    }
    hottest = sorted(beside.channels, key=lambda channel: -channel.heat)[:_ROWS]
    differing = sorted(beside.channels, key=_apart, reverse=True)[:_ROWS]
    name = "Hottest channels now" if simulation.heat_unit else "Busiest channels now"
    shown = [channel for channel in hottest if channel.heat > 0] or differing[:1]
    return [
        table_of(name, shown, columns, note=_notes(simulation, beside)),
        table_of(f"Channels that differ most from {simulation.pattern}", differing, columns),
    ]


def _notes(simulation: Simulation, beside: BesideCounters) -> str:
    parts = ["shares are of all bytes, or messages, of channels between switches with counters"]
    if simulation.heat_unit:
        parts.append("the hottest channels need the most time for their bytes: bytes over rate")
    parts += [
        f"{name} and its like are taken as {_unit(unit)}" for name, unit in beside.units.items()
    ]
    if beside.unknown:
        parts.append(f"{counted(beside.unknown, 'port')} that this fabric does not have: left out")
    for number, why in (
        (beside.cleared, "were cleared between the two readings"),
        (beside.full, "are at their 32-bit limit"),
    ):
        if number:
            parts.append(f"counters of {counted(number, 'port')} {why}: left out")
    if files := beside.empty_files:
        parts.append(f"{counted(files, 'file')} {verb(files, 'is')} empty: left out")
    return "; ".join(parts)


def counters_figure(simulation: Simulation, beside: BesideCounters) -> Figure:
    """A point for every channel: its share of what was predicted, and of what was counted."""
    predicted = [channel.predicted for channel in beside.channels]
    share = [channel.share for channel in beside.channels]
    end = 1.08 * max(*predicted, *share, 1e-12)
    apart = _far_apart(beside, end)
    words = [Words("as predicted", (0.97 * end, 0.97 * end), (-8, 0), look=_ASIDE)]
    words += [
        Words(str(number), (channel.predicted, channel.share), (4, 0), look=_ABOVE)
        for number, channel in enumerate(apart, 1)
    ]
    chart = Curves(
        samples=[Scatter(predicted, share, COLOURS[0], size=2.6)],
        series=[Series([0, end], [0, end], "", QUIET, DASHED, width=0.8, above=0)],
        words=words,
        x=Axis(f"share of the messages of {simulation.pattern}", Unit.SHARE, (0, end)),
        y=Axis("share of the bytes that ports counted", Unit.SHARE, (0, end)),
    )
    names = [f"{n}  {channel.name.replace('switch ', '')}" for n, channel in enumerate(apart, 1)]
    return charted(_finding(simulation, beside), chart, height=3.8, note="\n".join(names))


def _far_apart(beside: BesideCounters, end: float) -> list[CountedChannel]:
    """The few that differ most from the prediction, and whose points do not lie on each other."""
    named: list[CountedChannel] = []
    for channel in sorted(beside.channels, key=_apart, reverse=True):
        near = (
            abs(channel.share - other.share) < 0.03 * end
            and abs(channel.predicted - other.predicted) < 0.03 * end
            for other in named
        )
        if not any(near):
            named.append(channel)
        if len(named) == _NAMED:
            break
    return named


def _finding(simulation: Simulation, beside: BesideCounters) -> str:
    if beside.rank_correlation is None:
        return f"What ports counted beside {simulation.pattern}"
    return (
        f"{beside.fabric.name}: rank correlation of what ports counted with "
        f"{simulation.pattern} is {beside.rank_correlation:.2f}"
    )


# Whether they are those that messages come from or go to, leaves and hosts.
_Ends: TypeAlias = tuple[str, Sequence[ChannelUser], Sequence[ChannelUser]]
# Leaves and hosts named, each, in a table.
_MOST_ENDS = 5
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
        rows += [(kind, user) for user in users[:_MOST_ENDS]]
        if rest := users[_MOST_ENDS:]:
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
    shown = users[:_BARS]
    left = len(users) - len(shown)
    label = f"{kind}{f', {left:,} more' if left else ''}"
    messages = [user.share for user in shown]
    routes = Series(
        [user.routes_share for user in shown],
        range(len(shown)),
        "share of the routes there",
        COLOURS[1],
        mark={**DOT, **HOLLOW, "markerfacecolor": "white"},
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
