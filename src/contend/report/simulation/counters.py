"""What ports have counted beside what a pattern predicts: a verdict, tables, a figure and JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from contend.congestion import BesideCounters
from contend.report.style import COLOURS, QUIET, new_figure, percent_axis, styled, title
from contend.report.table import ResultTable
from contend.report.words import UNKNOWN, gigabytes
from contend.units import counted, format_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROWS = 8
_NAMED = 3
# Shares this near each other are called the same.
_ALIKE = 1.05


def counters_verdict(beside: BesideCounters) -> str:
    """How many channels have counters, whether they agree with the pattern, and the hottest one."""
    fabric, channels = beside.carried.fabric, counted(len(beside.channels), "channel")
    pattern = beside.simulation.pattern
    if beside.sent.sum() == 0:
        return f"The counters of {channels} between switches say that nothing was sent."
    line = f"{channels} of {2 * fabric.cables:,} between switches have counters; "
    if beside.rank_correlation is None:
        line += f"whether {pattern} puts them in the same order cannot be told, as one is the same "
        line += "everywhere"
    else:
        line += f"rank correlation with what {pattern} predicts: {beside.rank_correlation:.2f}"
    hottest = int(np.argmax(beside.share))
    name = fabric.channel_name(int(beside.channels[hottest]))
    line += f"; most now: {name} with {_share(beside.share[hottest])} of all bytes, "
    return f"{line}{_against(beside, hottest)}."


def _against(beside: BesideCounters, row: int) -> str:
    """What was predicted for a channel, in words."""
    predicted, ratio = float(beside.predicted[row]), _ratio(beside, row)
    if ratio is None:
        return "where nothing was predicted"
    if 1 / _ALIKE < ratio < _ALIKE:
        return "as predicted"
    return f"{ratio:.3g} times the {_share(predicted)} predicted"


def _share(value: float) -> str:
    """Three digits: of many channels each has but little."""
    return f"{100 * float(value):.3g} %"


def _ratio(beside: BesideCounters, row: int) -> float | None:
    predicted = float(beside.predicted[row])
    return float(beside.share[row]) / predicted if predicted > 0 else None


def counters_tables(beside: BesideCounters) -> list[ResultTable]:
    """The channels that carry most now, and those that differ most from the prediction."""
    apart = beside.share - beside.predicted
    most = np.argsort(-beside.share, kind="stable")[:_ROWS]
    differing = np.argsort(-np.abs(apart), kind="stable")[:_ROWS]
    note = _left_out(beside)
    return [
        _table(beside, "Channels that carry most now", most.tolist(), note),
        _table(
            beside,
            f"Channels that differ most from {beside.simulation.pattern}",
            differing.tolist(),
            "",
        ),
    ]


def _left_out(beside: BesideCounters) -> str:
    carried = beside.carried
    parts = ["shares are of all bytes, or messages, of channels between switches with counters"]
    if carried.unknown:
        parts.append(f"{counted(carried.unknown, 'port')} of no part of this fabric left out")
    if carried.cleared:
        parts.append(f"{counted(carried.cleared, 'counter')} went back in between and are left out")
    return "; ".join(parts)


def _table(beside: BesideCounters, name: str, rows: Iterable[int], note: str) -> ResultTable:
    seconds = beside.carried.seconds
    amount = "bytes" if seconds is None else "GB/s"
    waited = float(np.nansum(beside.waited))
    numeric = (amount, "share now", "predicted", "ratio", "share of waiting")
    return ResultTable(
        title=name,
        columns=(*numeric, "channel"),
        rows=tuple(
            (
                format_bytes(float(beside.sent[row]))
                if seconds is None
                else gigabytes(float(beside.sent[row]) / seconds),
                _share(beside.share[row]),
                _share(beside.predicted[row]),
                UNKNOWN if (ratio := _ratio(beside, row)) is None else f"{ratio:.3g}",
                UNKNOWN
                if np.isnan(beside.waited[row]) or waited == 0
                else _share(beside.waited[row] / waited),
                beside.carried.fabric.channel_name(int(beside.channels[row])),
            )
            for row in rows
        ),
        numeric=frozenset(numeric),
        note=note,
    )


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
        axes.annotate(
            "as predicted",
            (0.97 * end, 0.97 * end),
            xytext=(-8, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=6.5,
            color=QUIET,
        )
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
            axes.annotate(
                str(number), place, xytext=(4, 0), textcoords="offset points", fontsize=6.5
            )
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


class CountedChannelJson(msgspec.Struct, frozen=True, kw_only=True):
    """A channel between switches with counters.

    Attributes:
        channel: its number.
        name: both its ends with their ports.
        bytes: that it carried.
        waited: ticks in which its port had something to send and could not; null where not known.
        share: of the bytes of all these channels.
        predicted: its share of the messages of all these channels.
    """

    channel: int
    name: str
    bytes: float
    waited: float | None
    share: float
    predicted: float


class CountersJson(msgspec.Struct, frozen=True, kw_only=True):
    """What ports have counted, beside what the pattern predicts.

    Attributes:
        verdict: what it comes to, in words.
        rank_correlation: Spearman's, of both shares; null where one is the same everywhere.
        seconds: between two readings; null for one, or where it is not known.
        ports: how many ports had counters.
        unknown: how many of them are no part of this fabric.
        cleared: how many channels were left out as a counter went back in between.
        channels: in the order of their numbers.
    """

    verdict: str
    rank_correlation: float | None
    seconds: float | None
    ports: int
    unknown: int
    cleared: int
    channels: list[CountedChannelJson]


def counters_json(beside: BesideCounters) -> CountersJson:
    """What ``contend simulate --counters --json`` has of them."""
    fabric, carried = beside.carried.fabric, beside.carried
    return CountersJson(
        verdict=counters_verdict(beside),
        rank_correlation=beside.rank_correlation,
        seconds=carried.seconds,
        ports=carried.ports,
        unknown=carried.unknown,
        cleared=carried.cleared,
        channels=[
            CountedChannelJson(
                channel=channel,
                name=fabric.channel_name(channel),
                bytes=sent,
                waited=None if np.isnan(waited) else waited,
                share=share,
                predicted=predicted,
            )
            for channel, sent, waited, share, predicted in zip(
                beside.channels.tolist(),
                beside.sent.tolist(),
                beside.waited.tolist(),
                beside.share.tolist(),
                beside.predicted.tolist(),
                strict=True,
            )
        ],
    )
