"""What ports have counted beside what a pattern predicts: a verdict, tables and a figure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from contend.base.units import counted, format_bytes, rounded, verb
from contend.congestion import BesideCounters, CountedChannel, Simulation
from contend.report.table import Columns, Number, ResultTable, table_of
from contend.report.words import UNKNOWN, rate_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    # Imported here: only figures need it, and loading takes a while.
    from contend.report.charts import Curves, charted
    from contend.report.series import DASHED, Axis, Scatter, Series, Unit, Words
    from contend.report.style import COLOURS, QUIET

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
