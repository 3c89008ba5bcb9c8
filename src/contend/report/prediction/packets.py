"""All-to-alls packet by packet: over TCP, and over queues that lose none; the verdict first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.base.units import (
    counted,
    format_bytes,
    format_link_speed,
    format_seconds,
    grouped,
    listed,
)
from contend.prediction import (
    PacketPrediction,
    PacketPredictions,
    TcpPrediction,
    TcpPredictions,
    TcpState,
)
from contend.report.charts import Curves, charted
from contend.report.document import Document
from contend.report.prediction.tables import schedule_words
from contend.report.series import Axis, Series, Unit
from contend.report.simulation.packets import locked_words
from contend.report.style import COLUMN_WIDTH, looks
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import UNKNOWN, first_clause, percent, percent_range, rate_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PLACES = {
    "in_hosts": "a host's own queue",
    "between_switches": "a switch's queue for another switch",
    "before_hosts": "a switch's queue for a receiving host",
}


def tcp_document(found: TcpPredictions) -> Document:
    """All-to-alls by size and algorithm: what becomes of each, and where packets are dropped."""
    return Document(
        verdict=_tcp_verdict(found),
        tables=[_tcp_table(found)],
        record=found,
        pictures={"states": lambda: _tcp_figure(found)},
    )


def _tcp_verdict(found: TcpPredictions) -> str:
    """The smallest size at which anything fails, where it is dropped first, and what avoids it."""
    failed = [cell for cell in found.cells if cell.state != TcpState.HEALTHY]
    port = format_link_speed(found.rate_Bps)
    if not failed:
        largest = max(cell.bytes for cell in found.cells)
        dropped = sum(cell.drops.total for cell in found.cells)
        rest = "dropped packets are sent again at once" if dropped else "no packet is dropped"
        return (
            f"No all-to-all up to {format_bytes(largest)} waits for a time-out on "
            f"{found.fabric.name} at {port}: {rest}."
        )
    size = min(cell.bytes for cell in failed)
    at_size = [cell for cell in failed if cell.bytes == size]
    worst = max(at_size, key=lambda cell: cell.timed_out)
    others = [cell.algorithm for cell in at_size if cell is not worst]
    line = (
        f"{worst.algorithm} {worst.state} from {format_bytes(size)} on over {found.fabric.name} at "
        f"{port}: time-outs hold up {worst.timed_out} of {counted(worst.calls, 'call')}"
    )
    line += f", and some of {listed(others)}." if others else "."
    if worst.first_drop is not None:
        first = worst.first_drop
        line += f" Packets are dropped first in {_PLACES[first.place]}, {first.channel}."
    return f"{line} {_remedy(found, size, worst)}"


def _remedy(found: TcpPredictions, size: int, worst: TcpPrediction) -> str:
    """Another schedule at that size, and queues that would do."""
    ways = []
    healthy = [c for c in found.cells if c.bytes == size and c.state == TcpState.HEALTHY]
    if healthy:
        best = min(healthy, key=lambda cell: cell.interval_s[1])
        ways.append(f"{best.algorithm} stays healthy at this size")
    if worst.enough_buffer is not None:
        kind = "shared buffers" if found.shared_buffer else "buffers"
        ways.append(f"{kind} of {format_bytes(worst.enough_buffer)} are enough")
    if worst.first_drop is not None and worst.first_drop.place == "in_hosts":
        ways.append("hosts need a longer queue (txqueuelen)")
    if not ways:
        return "No schedule that was asked for avoids it, nor do buffers 64 times as large."
    return f"What helps: {listed(ways)}."


def _tcp_table(found: TcpPredictions) -> ResultTable:
    def time(cell: TcpPrediction) -> str:
        low, high = cell.interval_s
        return f"{format_seconds(low)} to {format_seconds(high)}"

    def first(cell: TcpPrediction) -> str:
        return UNKNOWN if cell.first_drop is None else _PLACES[cell.first_drop.place]

    if found.shared_buffer is not None:
        queues = f"a switch's ports share {format_bytes(found.shared_buffer)}"
    else:
        assert found.buffer is not None
        queues = f"a switch queues {format_bytes(found.buffer)} for each port"
    host = "1,000 packets" if found.host_queue is None else format_bytes(found.host_queue)
    return table_of(
        f"All-to-all of {counted(found.cells[0].ranks, 'rank')} on {found.fabric.name} over TCP",
        sorted(found.cells, key=lambda cell: (cell.bytes, cell.interval_s[1])),
        {
            "bytes": "bytes",
            "schedule": schedule_words,
            "": lambda cell: str(cell.state),
            "timed out": Number(lambda cell: f"{cell.timed_out} of {cell.calls}"),
            "a call takes": Number(time),
            "dropped": Number(lambda cell: f"{cell.drops.total:,}"),
            "first in": first,
            "fullest queue": "fullest_queue",
            "enough": "enough_buffer",
        },
        note=f"Here {queues}, and a host {host}. Timed out: calls in which a connection waits for "
        f"a time-out of at least {format_seconds(found.rto_min_s)}; their times depend on chance. "
        "Enough: the buffer, doubled, with which none does.",
        tones={TcpState.COLLAPSES: "red", TcpState.STALLS: "yellow"},
    )


def _tcp_figure(found: TcpPredictions) -> Figure:
    """How many calls of every algorithm wait for time-outs, against the size."""
    series = []
    for algorithm, look in looks(cell.algorithm for cell in found.cells).items():
        cells = sorted(
            (c for c in found.cells if c.algorithm == algorithm), key=lambda cell: cell.bytes
        )
        series.append(
            Series(
                [cell.bytes for cell in cells],
                [cell.timed_out / cell.calls for cell in cells],
                algorithm,
                look.colour,
                look.line,
                mark={"marker": "o", "markersize": 3.5},
            )
        )
    chart = Curves(
        series=series,
        x=Axis(
            "bytes to each other rank",
            Unit.SIZE,
            ticks=sorted({cell.bytes for cell in found.cells}),
        ),
        y=Axis("calls that wait for a time-out", Unit.SHARE, (-0.03, 1.03)),
        legend="upper left",
    )
    return charted(_tcp_verdict(found).partition(". ")[0], chart, height=3.0)


_BARRIER = "-barrier"
# Of the legend.
_COLUMNS = 4
# Of a time: what is less is no effect.
_NOTHING = 0.005


def lossless_document(found: PacketPredictions) -> Document:
    """All-to-alls by size, skew and algorithm, and what barriers and skew do."""
    locked = [each.circle for each in found.cells if each.circle]
    return Document(
        verdict=_verdict(found),
        tables=[_table(found)],
        record=found,
        pictures={"shares": lambda: _figure(found)},
        shortfall=locked_words(locked[0] if locked else ()),
    )


@dataclass(frozen=True)
class _Cell:
    """One schedule by all kinds of queues."""

    by_queues: list[PacketPrediction]

    @property
    def one(self) -> PacketPrediction:
        """Any of them: they differ in what becomes of it alone."""
        return self.by_queues[0]

    @property
    def middle(self) -> float:
        """Seconds in the middle between all kinds of queues; infinite if packets lock up."""
        return sum(map(_seconds, self.by_queues)) / len(self.by_queues)


def _cells(found: PacketPredictions) -> list[_Cell]:
    alike = grouped(found.cells, lambda each: (each.algorithm, each.bytes, each.skew_s))
    return list(map(_Cell, alike.values()))


def _seconds(each: PacketPrediction) -> float:
    return float("inf") if each.predicted_s is None else each.predicted_s


def _verdict(found: PacketPredictions) -> str:
    """What is fastest with the largest blocks, what holds it up, and what barriers and skew do."""
    cells = _cells(found)
    stuck = [cell for cell in cells if any(each.circle for each in cell.by_queues)]
    lines = []
    moving = [cell for cell in cells if cell not in stuck]
    if moving:
        largest = max(cell.one.bytes for cell in moving)
        best = min((c for c in moving if c.one.bytes == largest), key=lambda cell: cell.middle)
        worst = max(best.by_queues, key=_seconds)
        shares = sorted(each.share for each in best.by_queues if each.share is not None)
        got = f", {percent_range(shares[0], shares[-1])} of what ports allow" if shares else ""
        lines.append(
            f"With blocks of {format_bytes(largest)} {schedule_words(best.one)} is fastest on "
            f"{found.fabric.name} at {format_link_speed(found.rate_Bps)}: {_times(best)}, "
            f"at least {rate_words(worst.rate_Bps_per_rank)} a rank{got}; {worst.fullest_channel} "
            f"carries packets {percent(worst.fullest_share, 0)} of that time."
        )
        lines += [_barriers(moving), _skew(moving)]
    if stuck:
        names = ", ".join(dict.fromkeys(schedule_words(cell.one) for cell in stuck))
        lines.insert(0, f"{found.fabric.name} locks up: no end comes of {names}.")
    return " ".join(filter(None, lines))


def _largest_effect(
    cells: list[_Cell],
    key: Callable[[PacketPrediction], tuple[object, ...]],
    changed: Callable[[PacketPrediction], bool],
) -> tuple[PacketPrediction, float] | None:
    """The changed cell whose time differs most from that of its counterpart, and by what part."""
    plain = {key(cell.one): cell.middle for cell in cells if not changed(cell.one)}
    effects = [
        (cell.one, cell.middle / plain[key(cell.one)] - 1)
        for cell in cells
        if changed(cell.one) and key(cell.one) in plain
    ]
    return max(effects, key=lambda effect: abs(effect[1]), default=None)


def _made(what: str, found: tuple[PacketPrediction, float] | None) -> str:
    """What something does to a schedule where it matters most; "" where nothing tells."""
    if found is None:
        return ""
    cell, effect = found
    size, name = format_bytes(cell.bytes), cell.algorithm.removesuffix(_BARRIER)
    if abs(effect) < _NOTHING:
        return f"{what} change no time by {percent(_NOTHING)}."
    faster = "slower" if effect > 0 else "faster"
    part = percent(abs(effect), 0)
    return f"{what} matter most to {name} with {size}, which is {part} {faster} with them."


def _barriers(cells: list[_Cell]) -> str:
    return _made(
        "Barriers between phases",
        _largest_effect(
            cells,
            lambda cell: (cell.algorithm.removesuffix(_BARRIER), cell.bytes, cell.skew_s),
            lambda cell: cell.algorithm.endswith(_BARRIER),
        ),
    )


def _skew(cells: list[_Cell]) -> str:
    least, most = (end(cell.one.skew_s for cell in cells) for end in (min, max))
    return _made(
        f"Starts within {format_seconds(most)}",
        _largest_effect(
            cells, lambda cell: (cell.algorithm, cell.bytes), lambda cell: cell.skew_s == most
        )
        if most > least
        else None,
    )


def _times(cell: _Cell) -> str:
    """From the faster to the slower queues, in words."""
    times = sorted(map(_seconds, cell.by_queues))
    return " to ".join(dict.fromkeys(map(format_seconds, times)))


def _table(found: PacketPredictions) -> ResultTable:
    cells = sorted(_cells(found), key=lambda cell: (cell.one.bytes, cell.one.skew_s, cell.middle))

    def time(place: int) -> Number[_Cell]:
        def words(cell: _Cell) -> str:
            seconds = cell.by_queues[place].predicted_s
            return "locks up" if seconds is None else format_seconds(seconds)

        return Number(words)

    def share(place: int) -> Number[_Cell]:
        return Number(lambda cell: percent(cell.by_queues[place].share))

    def fullest(cell: _Cell) -> str:
        shares = sorted(each.fullest_share for each in cell.by_queues)
        return percent_range(shares[0], shares[-1], 0)

    def blocked(cell: _Cell) -> str:
        worst = max(cell.by_queues, key=lambda each: each.blocked_share)
        if worst.blocked_share < _NOTHING:
            return UNKNOWN
        return f"{percent(worst.blocked_share, 0)} {worst.blocked_channel}"

    kinds = dict(enumerate(each.queues for each in cells[0].by_queues))
    skewed = any(each.skew_s for each in found.cells)
    begin: dict[str, Number[_Cell]] = {}
    if skewed:
        begin["begin within"] = Number(lambda cell: format_seconds(cell.one.skew_s))
    room = "any number of bytes" if not found.buffer else format_bytes(found.buffer)
    return table_of(
        f"All-to-all of {counted(found.cells[0].ranks, 'rank')} on {found.fabric.name}, packet by "
        "packet",
        cells,
        {
            "bytes": Number(lambda cell: format_bytes(cell.one.bytes)),
            "schedule": lambda cell: schedule_words(cell.one),
            **begin,
            **{str(queues): time(place) for place, queues in kinds.items()},
            **{f"of a port, {queues}": share(place) for place, queues in kinds.items()},
            "fullest channel busy": Number(fullest),
            "blocked most": blocked,
        },
        note=f"The far end of every channel holds {room}, and packets are at most "
        f"{format_bytes(found.mtu)}. fifo: one queue for each port; voq: one for each way out. "
        "Blocked: packets wait, and the channel stands still for want of room. A rank takes "
        f"{format_seconds(found.overhead_s)} for each message that it sends, and copies its own "
        f"block; messages of more than {format_bytes(found.eager)} wait until their receiver is "
        "ready.",
    )


def _figure(found: PacketPredictions) -> Figure:
    """What a rank gets as a share of what ports allow, from one kind of queues to the other."""
    least = min(each.skew_s for each in found.cells)
    begun = [cell for cell in _cells(found) if cell.one.skew_s == least]
    begun.sort(key=lambda cell: cell.one.bytes)
    series = []
    for name, look in looks(each.algorithm for each in found.cells).items():
        cells = [cell for cell in begun if cell.one.algorithm == name]
        shares = [[each.share or 0.0 for each in cell.by_queues] for cell in cells]
        series.append(
            Series(
                [cell.one.bytes for cell in cells],
                [(min(each) + max(each)) / 2 for each in shares],
                name,
                look.colour,
                look.line,
                low=list(map(min, shares)),
                high=list(map(max, shares)),
                band=True,
            )
        )
    within = f", begun within {format_seconds(least)}" if least else ""
    chart = Curves(
        series=series,
        x=Axis(
            "bytes to each other rank", Unit.SIZE, ticks=sorted({cell.one.bytes for cell in begun})
        ),
        y=Axis(f"of what ports allow{within}, fifo to voq", Unit.SHARE, (0, 1.03)),
    )
    finding = first_clause(_verdict(found))
    height, width = 2.9 + 0.16 * -(-len(series) // _COLUMNS), 1.4 * COLUMN_WIDTH
    return charted(finding, chart, height=height, width=width, legend=_COLUMNS)
