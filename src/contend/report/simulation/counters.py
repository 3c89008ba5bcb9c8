"""What ports have counted beside what a pattern predicts: a verdict, tables, JSON."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np

from contend.congestion import BesideCounters
from contend.report.table import ResultTable
from contend.report.words import UNKNOWN, gigabytes
from contend.units import counted, format_bytes

_ROWS = 8
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
