"""Which all-to-alls over TCP are healthy, stall or collapse; the verdict first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contend.base.units import counted, format_bytes, format_link_speed, format_seconds, listed
from contend.prediction import TcpPrediction, TcpPredictions, TcpState
from contend.report.charts import Curves, charted
from contend.report.document import Document
from contend.report.prediction.tables import schedule_words
from contend.report.series import Axis, Series, Unit
from contend.report.style import looks
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import UNKNOWN

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
        verdict=_verdict(found),
        tables=[_cells(found)],
        record=found,
        pictures={"states": lambda: _figure(found)},
    )


def _verdict(found: TcpPredictions) -> str:
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


def _cells(found: TcpPredictions) -> ResultTable:
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


def _figure(found: TcpPredictions) -> Figure:
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
    return charted(_verdict(found).partition(". ")[0], chart, height=3.0)
