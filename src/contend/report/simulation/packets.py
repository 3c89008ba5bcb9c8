"""What packets make of a pattern: what messages get, who is held up, and by whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from contend.base.units import counted, format_bytes, format_seconds, listed
from contend.congestion import (
    ChannelWaits,
    PacketSimulation,
    Queues,
    SampleMean,
    Victim,
)
from contend.fabric import Fabric
from contend.report.charts import Curves, charted
from contend.report.document import Document
from contend.report.fabric.marks import Mark, channel_way
from contend.report.fabric.scene import Layer, spoken_names
from contend.report.page.explorable import Explorable, View, explored, followed, routes_layer
from contend.report.series import Axis, Series, Unit
from contend.report.style import COLOURS
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import UNKNOWN, percent, percent_range, rate_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WORDS = {
    Queues.FIFO: "one queue for each port (fifo)",
    Queues.VOQ: "a queue for each way out of the switch (voq)",
}
_CIRCLE = 3
# For data, by the InfiniBand specification; one more is for management.
_USUAL_LANES, _MOST_LANES = 8, 15
# Where a channel is blocked for less, its messages wait for each other.
_BLOCKED = 0.01


def packets_document(found: PacketSimulation, *, cut_short: bool = False) -> Document:
    """What messages get by counting and by packets, the victims, and where packets stand still.

    Args:
        found: the result.
        cut_short: whether it was ended before all samples were done.
    """
    lines = [_verdict(found), *map(_watched_sentence, found.watched)]
    if cut_short:
        lines.insert(
            0, f"A partial result, of the {counted(found.samples, 'sample')} done before the end:"
        )
    return Document(
        verdict="\n".join(lines),
        tables=[
            _shares(found),
            *(_watched(channel) for channel in found.watched if channel.held),
            *_victims(found),
            *_blocked(found),
            _by_congestion(found),
        ],
        record=found,
        pictures={"congestion": lambda: _figure(found)},
        explorable=lambda: _explored(found),
        shortfall=locked_words(found.circle),
    )


def packets_documents(told: Sequence[Document], *, shortfall: str = "") -> Document:
    """Several beside each other; a terminal has shown each when it was done.

    Args:
        told: the document of each.
        shortfall: which others could not be simulated, and why.
    """
    locked = [document.shortfall for document in told if document.shortfall]
    return Document(
        verdict="\n".join(document.verdict for document in told),
        tables=[table for document in told for table in document.tables],
        record={"results": [document.content() for document in told]},
        plain="",
        shortfall="; ".join(filter(None, (*locked, shortfall))),
    )


def _verdict(found: PacketSimulation) -> str:
    who = "Random pairs get" if found.pattern.startswith("bisect") else f"{found.pattern} gets"
    shares = sorted(queued.bandwidth.mean for queued in found.queues)
    got = percent_range(shares[0], shares[-1])
    victims = sorted(queued.victims for queued in found.queues)
    if found.circle:
        circle = counted(len(found.circle), "channel")
        return (
            f"{found.pattern} locks {found.fabric.name} up: packets wait for each other in a "
            f"circle of {circle}, for ever. Counting, which knows no buffers, gives "
            f"{percent(found.counted.mean)} of a port's rate."
        )
    line = (
        f"{who} {got} of a port's rate on {found.fabric.name} packet by packet, "
        f"{percent(found.counted.mean)} by counting"
    )
    short = ""
    if found.covered < 1:
        short = (
            f" Buffers hold less than a round trip on the longest cable brings: they allow "
            f"{percent(found.covered)} of its rate."
        )
    if found.lanes > _USUAL_LANES:
        short += (
            f" These packets take {found.lanes} virtual lanes: many InfiniBand switches have "
            f"{_USUAL_LANES}, and none more than {_MOST_LANES}."
        )
    if victims[-1] == 0:
        return f"{line}; no message is held up by others that it shares no channel with.{short}"
    return (
        f"{line}; {percent_range(victims[0], victims[-1])} of the messages get less than nine "
        f"tenths of their counted share, held up behind others.{short}"
    )


def locked_words(circle: Sequence[str], where: str = "") -> str:
    """That channels wait for each other for ever, and `where`; "" for none."""
    if not circle:
        return ""
    names = list(circle[:_CIRCLE])
    if more := len(circle) - len(names):
        names.append(f"{more:,} more")
    return (
        f"the network locks up{where and f' {where}'}: packets on "
        f"{counted(len(circle), 'channel')} wait for each other in a circle for ever: "
        f"{listed(names)}"
    )


def _share_rows(found: PacketSimulation) -> list[tuple[str, SampleMean, str]]:
    rows = [
        ("by counting", found.counted, "a channel's rate over its messages"),
        ("max-min fair", found.fair, "what a busy channel denies, others use"),
    ]
    for queued in found.queues:
        lost = f"{percent(queued.victims)} victims, {percent(queued.halved)} halved"
        if queued.locked:
            lost += f"; locked up in {queued.locked} of {counted(found.samples, 'sample')}"
        rows.append((f"packets, {_WORDS[queued.queues]}", queued.bandwidth, lost))
    return rows


def _shares(found: PacketSimulation) -> ResultTable:
    rates = {id(queued.bandwidth): queued.mean_Bps for queued in found.queues}

    def interval(row: tuple[str, SampleMean, str]) -> str:
        return UNKNOWN if row[1].ci95 is None else percent_range(*row[1].ci95)

    sends = (
        "hosts send all the time"
        if found.message_bytes is None
        else f"messages of {format_bytes(found.message_bytes)}"
    )
    room = format_bytes(found.buffer) if found.buffer else "any number of bytes"
    return table_of(
        f"{found.pattern} on {found.fabric.name}, {found.placement} placement",
        _share_rows(found),
        {
            "": lambda row: row[0],
            "of port rate": Number(lambda row: percent(row[1].mean)),
            "95 % interval": Number(interval),
            "rate": Number(lambda row: rate_words(rates.get(id(row[1])))),
            "who suffers": lambda row: row[2],
        },
        note=f"{counted(found.samples, 'sample')}, {counted(found.ranks, 'rank')}, seed "
        f"{found.seed}, {format_seconds(found.elapsed_s)}; {sends}, packets of "
        f"{format_bytes(found.mtu)}, {room} of buffer at the far end of every channel; a victim "
        "gets less than 0.9 of its counted share",
    )


def _victims(found: PacketSimulation) -> list[ResultTable]:
    if not found.victims:
        return []

    def filled(victim: Victim) -> str:
        return victim.filled_by[0] if victim.filled_by else UNKNOWN

    return [
        table_of(
            "Messages that lose most",
            found.victims,
            {
                "counted": "counted",
                "received": "received",
                "queues": lambda victim: victim.queues.value,
                "message": str,
                "waits for": "held_up",
                "because of": "cause",
                "which carries": filled,
            },
        )
    ]


def _standing(channel: ChannelWaits) -> str:
    return f"busy {percent(channel.busy)} of the time, blocked {percent(channel.blocked)}"


def _watched_sentence(channel: ChannelWaits) -> str:
    """What a channel does, whom it holds up most, and behind whose packets."""
    line = f"{channel.name} is {_standing(channel)} ({channel.queues.value})"
    waiting = [one for one in channel.held if one.waits_for == channel.name]
    ahead = [one for one in channel.held if one.over == channel.name]
    lost = min(waiting, key=lambda one: one.received / one.counted, default=None)
    if lost is not None:
        line += f". {lost} waits for it with {lost.packets:.1f} packets"
        if lost.wait_s is not None:
            line += f", {format_seconds(lost.wait_s)} each"
    elif channel.blocked < _BLOCKED:
        return f"{line}; no packet waits for it."
    else:
        line += ". Packets wait for it in the host"
    if channel.blocked < _BLOCKED or not ahead:
        return f"{line}, while it carries others."
    first = str(max(ahead, key=lambda one: one.first))
    line += ", as its far end is full of packets "
    line += "of its own" if first == str(lost) else f"that wait behind {first}"
    others = [name for name in channel.filled_by if name != first]
    return f"{line}: {channel.cause} carries {others[0]}, too." if others else f"{line}."


def _watched(channel: ChannelWaits) -> ResultTable:
    """Whose packets wait for a channel and, having crossed it, at its far end."""
    return table_of(
        f"Who waits at {channel.name}, {_WORDS[channel.queues]}",
        channel.held,
        {
            "message": str,
            "packets": Number(lambda one: f"{one.packets:.1f}"),
            "each for": "wait_s",
            "as the first": "first",
            "waits for": lambda one: "it" if one.waits_for == channel.name else one.waits_for,
            "counted": "counted",
            "received": "received",
        },
        note=f"{_standing(channel)}; packets that wait at a time, in sample "
        f"{channel.held[0].sample}, in which it is blocked most; {channel.cause} carries "
        f"{listed(channel.filled_by)}",
    )


def _blocked(found: PacketSimulation) -> list[ResultTable]:
    if not found.channels:
        return []
    kind = _WORDS[found.channels[0].queues]
    return [
        table_of(
            f"Channels that stand still most though packets wait, {kind}",
            found.channels,
            {"blocked": "blocked", "busy": "busy", "channel": "name"},
        )
    ]


def _by_congestion(found: PacketSimulation) -> ResultTable:
    heads = {
        queued.queues.value: Number(
            lambda row, kind=queued.queues: percent(row.received[kind])  # type: ignore[misc]
        )
        for queued in found.queues
    }
    return table_of(
        "Messages by congestion",
        found.by_congestion,
        {
            "π": Number(lambda row: f"{row.congestion:g}"),
            "messages": "messages",
            "counted": "counted",
            **heads,
        },
    )


def _figure(found: PacketSimulation) -> Figure:
    """What messages of every congestion get, by counting and packet by packet."""
    rows = found.by_congestion
    pi = np.array([row.congestion for row in rows])
    bar = {"marker": "_", "markersize": 14}
    series = [Series(pi, [row.counted for row in rows], "by counting", "black", mark=bar)]
    for number, queued in enumerate(found.queues):
        series.append(
            Series(
                # Beside each other: they often get the same.
                pi + 0.12 * (2 * number - len(found.queues) + 1),
                [row.received[queued.queues] for row in rows],
                f"packets, {queued.queues.value}",
                COLOURS[number],
                mark={"marker": "os"[number], "markersize": 4},
            )
        )
    chart = Curves(
        series=series,
        x=Axis("congestion π", Unit.COUNT),
        y=Axis("share of a port's rate", Unit.SHARE, (0, 1.05)),
        legend="upper right",
    )
    return charted(_verdict(found).partition("; ")[0], chart, height=2.6)


def _explored(found: PacketSimulation) -> Explorable | None:
    fabric = found.fabric
    if not isinstance(fabric, Fabric):
        return None
    layers = {
        f"blocked, {queues.value}": Layer(
            *2 * (100 * shares[: 2 * fabric.cables],), "% of time blocked"
        )
        for queues, shares in found.blocked.items()
        if np.any(shares)
    }
    view = View("packets", followed(fabric), {**layers, **routes_layer(fabric)})
    names, lost = spoken_names(fabric), []
    for victim in found.victims:
        waits, cause = (channel_way(fabric, channel, names) for channel in victim.channels)
        words = (
            f"to {victim.target}: {percent(victim.received)}, {percent(victim.counted)} by "
            f"counting ({victim.queues.value}); waits for {waits}"
        )
        words += "" if cause == waits else f", because of {cause}"
        lost.append(Mark("victim", "host", victim.hosts[0], words))
    return explored(fabric, [view], lost)
