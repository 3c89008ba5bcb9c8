"""All-to-alls packet by packet over queues that lose none; the fastest first, then why."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from contend.base.units import counted, format_bytes, format_link_speed, format_seconds
from contend.congestion import Queues
from contend.prediction import PacketPrediction, PacketPredictions, QueuedExchange
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

_BARRIER = "-barrier"
# Of the legend.
_COLUMNS = 4
# Of a time: what is less is no effect.
_NOTHING = 0.005


def lossless_document(found: PacketPredictions) -> Document:
    """All-to-alls by size, skew and algorithm, and what barriers and skew do."""
    locked = [each.circle for cell in found.cells for each in cell.queues if each.circle]
    return Document(
        verdict=_verdict(found),
        tables=[_cells(found)],
        record=found,
        pictures={"shares": lambda: _figure(found)},
        shortfall=locked_words(locked[0] if locked else ()),
    )


def _middle(cell: PacketPrediction) -> float:
    """Seconds in the middle between both kinds of queues; infinite if packets lock up."""
    return sum(map(_seconds, cell.queues)) / len(cell.queues)


def _seconds(each: QueuedExchange) -> float:
    return float("inf") if each.predicted_s is None else each.predicted_s


def _verdict(found: PacketPredictions) -> str:
    """What is fastest with the largest blocks, what holds it up, and what barriers and skew do."""
    stuck = [cell for cell in found.cells if any(each.circle for each in cell.queues)]
    lines = []
    moving = [cell for cell in found.cells if cell not in stuck]
    if moving:
        largest = max(cell.bytes for cell in moving)
        best = min((c for c in moving if c.bytes == largest), key=_middle)
        worst = max(best.queues, key=_seconds)
        shares = sorted(each.share for each in best.queues if each.share is not None)
        got = f", {percent_range(shares[0], shares[-1])} of what ports allow" if shares else ""
        lines.append(
            f"With blocks of {format_bytes(largest)} {schedule_words(best)} is fastest on "
            f"{found.fabric.name} at {format_link_speed(found.rate_Bps)}: {_times(best)}, "
            f"at least {rate_words(worst.rate_Bps_per_rank)} a rank{got}; {worst.fullest_channel} "
            f"carries packets {percent(worst.fullest_share, 0)} of that time."
        )
        lines += [_barriers(moving), _skew(moving)]
    if stuck:
        names = ", ".join(dict.fromkeys(schedule_words(cell) for cell in stuck))
        lines.insert(0, f"{found.fabric.name} locks up: no end comes of {names}.")
    return " ".join(filter(None, lines))


def _largest_effect(
    cells: list[PacketPrediction],
    key: Callable[[PacketPrediction], tuple[object, ...]],
    changed: Callable[[PacketPrediction], bool],
) -> tuple[PacketPrediction, float] | None:
    """The changed cell whose time differs most from that of its counterpart, and by what part."""
    plain = {key(cell): cell for cell in cells if not changed(cell)}
    effects = [
        (cell, _middle(cell) / _middle(plain[key(cell)]) - 1)
        for cell in cells
        if changed(cell) and key(cell) in plain
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


def _barriers(cells: list[PacketPrediction]) -> str:
    return _made(
        "Barriers between phases",
        _largest_effect(
            cells,
            lambda cell: (cell.algorithm.removesuffix(_BARRIER), cell.bytes, cell.skew_s),
            lambda cell: cell.algorithm.endswith(_BARRIER),
        ),
    )


def _skew(cells: list[PacketPrediction]) -> str:
    least, most = (end(cell.skew_s for cell in cells) for end in (min, max))
    return _made(
        f"Starts within {format_seconds(most)}",
        _largest_effect(
            cells, lambda cell: (cell.algorithm, cell.bytes), lambda cell: cell.skew_s == most
        )
        if most > least
        else None,
    )


def _times(cell: PacketPrediction) -> str:
    """From the faster to the slower queues, in words."""
    times = sorted(map(_seconds, cell.queues))
    return " to ".join(dict.fromkeys(map(format_seconds, times)))


def _cells(found: PacketPredictions) -> ResultTable:
    def of(queues: Queues) -> Callable[[PacketPrediction], QueuedExchange]:
        return lambda cell: next(each for each in cell.queues if each.queues == queues)

    def time(queues: Queues) -> Number[PacketPrediction]:
        def words(cell: PacketPrediction) -> str:
            each = of(queues)(cell)
            return "locks up" if each.predicted_s is None else format_seconds(each.predicted_s)

        return Number(words)

    def share(queues: Queues) -> Number[PacketPrediction]:
        return Number(lambda cell: percent(of(queues)(cell).share))

    def fullest(cell: PacketPrediction) -> str:
        shares = sorted(each.fullest_share for each in cell.queues)
        return percent_range(shares[0], shares[-1], 0)

    def blocked(cell: PacketPrediction) -> str:
        worst = max(cell.queues, key=lambda each: each.blocked_share)
        if worst.blocked_share < _NOTHING:
            return UNKNOWN
        return f"{percent(worst.blocked_share, 0)} {worst.blocked_channel}"

    kinds = [each.queues for each in found.cells[0].queues]
    skewed = any(cell.skew_s for cell in found.cells)
    begin: dict[str, str] = {"begin within": "skew_s"} if skewed else {}
    room = "any number of bytes" if not found.buffer else format_bytes(found.buffer)
    return table_of(
        f"All-to-all of {counted(found.cells[0].ranks, 'rank')} on {found.fabric.name}, packet by "
        "packet",
        sorted(found.cells, key=lambda cell: (cell.bytes, cell.skew_s, _middle(cell))),
        {
            "bytes": "bytes",
            "schedule": schedule_words,
            **begin,
            **{str(queues): time(queues) for queues in kinds},
            **{f"of a port, {queues}": share(queues) for queues in kinds},
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
    least = min(cell.skew_s for cell in found.cells)
    begun = [cell for cell in found.cells if cell.skew_s == least]
    series = []
    for name, look in looks(cell.algorithm for cell in begun).items():
        cells = sorted((c for c in begun if c.algorithm == name), key=lambda cell: cell.bytes)
        shares = [[each.share or 0.0 for each in cell.queues] for cell in cells]
        series.append(
            Series(
                [cell.bytes for cell in cells],
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
        x=Axis("bytes to each other rank", Unit.SIZE, ticks=sorted({cell.bytes for cell in begun})),
        y=Axis(f"of what ports allow{within}, fifo to voq", Unit.SHARE, (0, 1.03)),
    )
    finding = first_clause(_verdict(found))
    height, width = 2.9 + 0.16 * -(-len(series) // _COLUMNS), 1.4 * COLUMN_WIDTH
    return charted(finding, chart, height=height, width=width, legend=_COLUMNS)
