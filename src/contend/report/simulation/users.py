"""Who loads a channel: a verdict, a table and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from contend.congestion import ChannelUsers, Simulation
from contend.report.document import filled
from contend.report.table import ResultTable
from contend.report.words import UNKNOWN, percent
from contend.units import counted, rounded

# Leaves and hosts named, each, in a table.
_ROWS = 5
# Channels that the first lines tell of.
_TOLD = 4


class _User(NamedTuple):
    """A leaf or host, its share of a channel's messages, and its share of the routes there."""

    name: str
    messages: float
    share: float
    routes: float


class Users(NamedTuple):
    """Those of one kind that use a channel, the most messages first."""

    kind: str
    users: list[_User]


def kinds(channel: ChannelUsers) -> Iterator[Users]:
    """Leaves and hosts that send across a channel, and those that receive."""
    fabric = channel.fabric
    for way, messages, routes in (
        ("from", channel.sources, channel.source_routes),
        ("to", channel.targets, channel.target_routes),
    ):
        on_leaves = channel.by_leaf(messages), channel.by_leaf(routes)
        yield Users(f"{way} leaf", _users(channel, fabric.switch_label, *on_leaves))
        yield Users(f"{way} host", _users(channel, fabric.host_label, messages, routes))


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
    told = [sentence(channel) for channel in simulation.users[:_TOLD]]
    if left := len(simulation.users) - len(told):
        told.append(f"{counted(left, 'other channel')}: see below.")
    return told


def sentence(channel: ChannelUsers) -> str:
    """What a channel carries, from where and to where."""
    if channel.routes_across == 0:
        return f"{channel.name}: no route between these hosts leads there."
    if channel.load == 0:
        return f"{channel.name} carries nothing here; {_routes_words(channel)}."
    leaf_from, host_from, leaf_to, host_to = (kind.users for kind in kinds(channel))
    return (
        f"{channel.name} carries {load_words(channel)}{heat_words(channel)}, "
        f"{ends_words('from', leaf_from, host_from)} {ends_words('to', leaf_to, host_to)}."
    )


def ends_words(way: str, leaves: Sequence[_User], hosts: Sequence[_User], most: bool = True) -> str:
    """Where messages come from or go to: ``to 3 hosts on leaf "x" (most to host "y": 40.0 %)``."""
    on_leaves, on_hosts = (sum(user.messages > 0 for user in users) for users in (leaves, hosts))
    first = hosts[0]
    if on_hosts == 1:
        return f'{way} host "{first.name}" alone'
    where = f'leaf "{leaves[0].name}"' if on_leaves == 1 else f"{on_leaves:,} leaves"
    named = f' (most {way} host "{first.name}": {percent(first.share)})' if most else ""
    return f"{way} {on_hosts:,} hosts on {where}{named}"


def load_words(channel: ChannelUsers) -> str:
    """Its messages per round, in words."""
    number = f"{rounded(channel.load)}"
    return f"{number} message{'' if number == '1' else 's'} per round"


def heat_words(channel: ChannelUsers) -> str:
    """Where links differ in rate, how long the messages take."""
    if channel.slowness == 1:
        return ""
    rate = channel.fabric.channel_rate(channel.channel)
    at = f" at {rate}" if rate else ""
    return f"{at}, which take as long as {rounded(channel.heat)} at the fastest port"


def _routes_words(channel: ChannelUsers) -> str:
    across = channel.routes_across
    number = f"{across:,.1f}".removesuffix(".0")
    share = percent(across / max(channel.routes, 1))
    leads = "leads" if number == "1" else "lead"
    return f"{number} of {channel.routes:,} routes between hosts ({share}) {leads} there"


def users_tables(simulation: Simulation) -> list[ResultTable]:
    """A table for each channel: leaves and hosts that its messages come from and go to."""
    return [_table(channel) for channel in simulation.users]


def _table(channel: ChannelUsers) -> ResultTable:
    numeric = ("messages per round", "share", "share of routes")
    rows = []
    for kind, users in kinds(channel):
        rows += [
            (
                kind,
                user.name,
                f"{rounded(user.messages)}",
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
                    f"{rounded(sum(user.messages for user in rest))}",
                    percent(sum(user.share for user in rest)) if channel.load else UNKNOWN,
                    percent(sum(user.routes for user in rest)),
                )
            )
    return ResultTable(
        title=f"Who loads {channel.name}",
        columns=("", "", *numeric),
        rows=tuple(rows),
        numeric=frozenset(numeric),
        note=f"{load_words(channel)}{heat_words(channel)}; {_routes_words(channel)}",
    )


class UserJson(msgspec.Struct, frozen=True, kw_only=True):
    """A leaf or host that messages of a channel come from or go to."""

    name: Annotated[str, "unique name."]
    messages_per_round: Annotated[float, "its messages there, averaged over rounds and samples."]
    share: Annotated[float, "of all messages there; 0 where there are none."]
    routes_share: Annotated[
        float, "of the routes between hosts there, those that start or end at it."
    ]


class ChannelUsersJson(msgspec.Struct, frozen=True, kw_only=True):
    """Who loads a channel."""

    channel: Annotated[int, "its number."]
    name: Annotated[str, "both its ends with their ports."]
    messages_per_round: Annotated[float, "mean over rounds and samples."]
    heat: Annotated[float, "how long they take, as that of `hottest_channels`."]
    routes: Annotated[
        float, "how many routes between hosts lead there; a mean where routes are drawn."
    ]
    routes_in_all: Annotated[int, "how many there are between the hosts that take part."]
    from_leaves: Annotated[list[UserJson], "that the messages come from, the most first."]
    from_hosts: Annotated[list[UserJson], "likewise."]
    to_leaves: Annotated[list[UserJson], "that the messages go to, the most first."]
    to_hosts: Annotated[list[UserJson], "likewise."]


def users_json(simulation: Simulation) -> list[ChannelUsersJson]:
    """The channels that were asked for."""
    return [_channel_json(channel) for channel in simulation.users]


def _channel_json(channel: ChannelUsers) -> ChannelUsersJson:
    leaf_from, host_from, leaf_to, host_to = (
        [
            filled(UserJson, user, messages_per_round=user.messages, routes_share=user.routes)
            for user in users
        ]
        for _, users in kinds(channel)
    )
    return filled(
        ChannelUsersJson,
        channel,
        messages_per_round=channel.load,
        routes=channel.routes_across,
        routes_in_all=channel.routes,
        from_leaves=leaf_from,
        from_hosts=host_from,
        to_leaves=leaf_to,
        to_hosts=host_to,
    )
