"""What ports have counted beside what a pattern predicts: a verdict, tables, JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

import msgspec
import numpy as np

from contend.congestion import BesideCounters, hottest
from contend.report.document import filled
from contend.report.table import ResultTable
from contend.report.words import UNKNOWN, percent, rate_words
from contend.units import counted, format_bytes, rounded

_ROWS = 8
# Shares this near each other are called the same.
_ALIKE = 1.05
# From so large a part of the channels with two counters a factor of four is no accident, and so
# much more than a link carries is no error of clocks.
_MOSTLY, _TOO_BUSY = 0.5, 1.1


def counters_verdict(beside: BesideCounters) -> str:
    """How many channels have counters, whether they agree with the pattern, and the hottest one."""
    fabric, channels = beside.carried.fabric, counted(len(beside.channels), "channel")
    pattern = beside.simulation.pattern
    if beside.sent.sum() == 0:
        return f"The counters of {channels} between switches say that nothing was sent."
    line = f"{channels} of {2 * fabric.cables:,} between switches have counters; "
    if beside.rank_correlation is None:
        line += f"rank correlation with what {pattern} predicts: undefined, as one of the two is "
        line += "the same everywhere"
    else:
        line += f"rank correlation with what {pattern} predicts: {beside.rank_correlation:.2f}"
    first = int(np.argmax(beside.heat))
    channel = int(beside.channels[first])
    which = "busiest now"
    if beside.simulation.heat_unit:
        which = f"hottest now, at {fabric.channel_rate(channel) or 'an unknown rate'}"
    line += f"; {which}: {fabric.channel_name(channel)} with "
    line += f"{_share(beside.share[first])} of all bytes, {_against(beside, first)}."
    return " ".join([line, *_doubts(beside)])


def _doubts(beside: BesideCounters) -> Iterator[str]:
    """What makes the units of counters doubtful."""
    carried, busy = beside.carried, beside.busy
    taken = ", ".join(f"{name} as {_unit(unit)}" for name, unit in carried.units.items())
    if carried.fourfold and carried.fourfold >= _MOSTLY * carried.compared:
        yield (
            f"On {carried.fourfold:,} of {counted(carried.compared, 'channel')} with two counters "
            "one is four times the other: a source counts words of four bytes as bytes, as old "
            f"exporters do (taken here: {taken})."
        )
    if busy is not None and (over := int(np.count_nonzero(busy > _TOO_BUSY))):
        most = int(np.nanargmax(busy))
        yield (
            f"{counted(over, 'channel')} carried more than the link can, "
            f"{beside.carried.fabric.channel_name(int(beside.channels[most]))} {busy[most]:.3g} "
            f"times as much: the interval or the unit is wrong (taken here: {taken})."
        )


def _unit(size: int) -> str:
    return "bytes" if size == 1 else f"words of {size} bytes"


def _against(beside: BesideCounters, row: int) -> str:
    """What was predicted for a channel, in words."""
    predicted, ratio = float(beside.predicted[row]), _ratio(beside, row)
    if ratio is None:
        return "where nothing was predicted"
    if 1 / _ALIKE < ratio < _ALIKE:
        return "as predicted"
    return f"{rounded(ratio)} times the {_share(predicted)} predicted"


def _share(value: float) -> str:
    """Three digits: of many channels each has but little."""
    return f"{rounded(100 * float(value))} %"


def _ratio(beside: BesideCounters, row: int) -> float | None:
    predicted = float(beside.predicted[row])
    return float(beside.share[row]) / predicted if predicted > 0 else None


def counters_tables(beside: BesideCounters) -> list[ResultTable]:
    """The channels that need most time now, and those that differ most from the prediction."""
    apart = beside.share - beside.predicted
    differing = np.argsort(-np.abs(apart), kind="stable")[:_ROWS].tolist()
    mixed = bool(beside.simulation.heat_unit)
    name = "Hottest channels now" if mixed else "Busiest channels now"
    return [
        _table(beside, name, hottest(beside.heat, _ROWS) or differing[:1], _notes(beside)),
        _table(
            beside,
            f"Channels that differ most from {beside.simulation.pattern}",
            differing,
            "",
        ),
    ]


def _notes(beside: BesideCounters) -> str:
    carried = beside.carried
    parts = ["shares are of all bytes, or messages, of channels between switches with counters"]
    if beside.simulation.heat_unit:
        parts.append("the hottest channels need the most time for their bytes: bytes over rate")
    parts += [
        f"{name} and its like are taken as {_unit(unit)}" for name, unit in carried.units.items()
    ]
    if carried.unknown:
        parts.append(f"{counted(carried.unknown, 'port')} that this fabric does not have: left out")
    if carried.cleared:
        ports = counted(carried.cleared, "port")
        parts.append(f"counters of {ports} were cleared between the two readings: left out")
    if carried.full:
        ports = counted(carried.full, "port")
        parts.append(f"counters of {ports} are at their 32-bit limit: left out")
    return "; ".join(parts)


def _table(beside: BesideCounters, name: str, rows: Iterable[int], note: str) -> ResultTable:
    seconds, busy = beside.carried.seconds, beside.busy
    fabric, mixed = beside.carried.fabric, bool(beside.simulation.heat_unit)
    amount = "bytes" if seconds is None else "rate"
    waited = float(np.nansum(beside.waited))
    numeric = (
        amount,
        *([] if busy is None else ["busy"]),
        *("share now", "predicted", "ratio", "share of waiting"),
    )

    def row_of(row: int) -> Iterator[str]:
        sent, channel = float(beside.sent[row]), int(beside.channels[row])
        yield format_bytes(sent) if seconds is None else rate_words(sent / seconds)
        if busy is not None:
            yield UNKNOWN if np.isnan(busy[row]) else percent(float(busy[row]))
        yield _share(beside.share[row])
        yield _share(beside.predicted[row])
        yield UNKNOWN if (ratio := _ratio(beside, row)) is None else rounded(ratio)
        unknown = np.isnan(beside.waited[row]) or waited == 0
        yield UNKNOWN if unknown else _share(beside.waited[row] / waited)
        if mixed:
            yield fabric.channel_rate(channel) or UNKNOWN
        yield fabric.channel_name(channel)

    return ResultTable(
        title=name,
        columns=(*numeric, *(["rate"] if mixed else []), "channel"),
        rows=tuple(tuple(row_of(row)) for row in rows),
        numeric=frozenset(numeric),
        note=note,
    )


class CountedChannelJson(msgspec.Struct, frozen=True, kw_only=True):
    """A channel between switches with counters."""

    channel: Annotated[int, "its number."]
    name: Annotated[str, "both its ends with their ports."]
    bytes: Annotated[float, "that it carried."]
    heat: Annotated[
        float,
        "bytes over its rate, in bytes at the fastest of the hosts' ports: how long they "
        "take; `bytes` where links are alike.",
    ]
    rate: Annotated[str, 'label of its cable, such as ``4xHDR``; "" where it is not known.']
    busy: Annotated[
        float | None,
        "part of the time between two readings that the bytes took at that rate; null where "
        "either is not known.",
    ]
    waited: Annotated[
        float | None,
        "ticks in which its port had something to send and could not; null where not known.",
    ]
    share: Annotated[float, "of the bytes of all these channels."]
    predicted: Annotated[float, "its share of the messages of all these channels."]


class CountersJson(msgspec.Struct, frozen=True, kw_only=True):
    """Port counters, compared with what the pattern predicts."""

    verdict: Annotated[str, "one-sentence verdict."]
    rank_correlation: Annotated[
        float | None, "Spearman's, of both shares; null where one is the same everywhere."
    ]
    seconds: Annotated[
        float | None, "between two readings; null for one, or where it is not known."
    ]
    ports: Annotated[int, "how many ports had counters."]
    unknown: Annotated[int, "how many of them are no part of this fabric."]
    cleared: Annotated[int, "how many ports were left out as a counter went back in between."]
    full: Annotated[
        int, "how many ports had counters left out because they are at their 32-bit limit."
    ]
    units: Annotated[
        dict[str, int], "bytes that one count was taken for, by the name of the counter."
    ]
    compared: Annotated[
        int,
        "how many channels have two counters: from two sources, or from the ports at both ends.",
    ]
    fourfold: Annotated[
        int,
        "how many of these differ by a factor of 4, as when words of four bytes are taken for "
        "bytes.",
    ]
    channels: Annotated[list[CountedChannelJson], "in the order of their numbers."]


def counters_json(beside: BesideCounters) -> CountersJson:
    """What ``contend simulate --counters --json`` has of them."""
    return filled(
        CountersJson,
        beside,
        beside.carried,
        verdict=counters_verdict(beside),
        channels=[_channel_json(beside, row) for row in range(len(beside.channels))],
    )


def _channel_json(beside: BesideCounters, row: int) -> CountedChannelJson:
    fabric, channel = beside.carried.fabric, int(beside.channels[row])
    waited = float(beside.waited[row])
    busy = np.nan if beside.busy is None else float(beside.busy[row])
    return CountedChannelJson(
        channel=channel,
        name=fabric.channel_name(channel),
        bytes=float(beside.sent[row]),
        heat=float(beside.heat[row]),
        rate=fabric.channel_rate(channel),
        busy=None if np.isnan(busy) else busy,
        waited=None if np.isnan(waited) else waited,
        share=float(beside.share[row]),
        predicted=float(beside.predicted[row]),
    )
