"""Latency and bandwidth between pairs of ranks against message size, every sample."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contend.errors import UsageError
from contend.report.measured_words import rate_words, size_words
from contend.report.rate_words import MEBI
from contend.report.sample_points import MOST_VECTOR_POINTS, points, spread
from contend.report.schedule_looks import Look, looks
from contend.report.size_axis import rate_axis, size_axis, time_axis
from contend.report.style import COLUMN_WIDTH, new_figure, styled, title
from contend.report.wire import mark_wire
from contend.runs import ROUND_TRIPS, CellSummary, Run
from contend.units import format_seconds

_SPREAD = 0.16


def pingpong_figure(run: Run) -> Figure:
    """Left the time one way of a ping-pong, right the rate of all ways of sending.

    Raises:
        UsageError: no message of a ping-pong was measured.
    """
    cells = [cell for cell in run.summaries if cell.record.bytes and cell.median.value > 0]
    if not cells:
        raise UsageError(f"{run.folder}: no messages between pairs are here")
    series: dict[str, list[CellSummary]] = {}
    for cell in sorted(cells, key=lambda cell: cell.record.bytes or 0):
        series.setdefault(_series(cell, cells), []).append(cell)
    look = looks(series)
    many = sum(cell.n for cell in cells) > MOST_VECTOR_POINTS
    sizes = [cell.record.bytes or 1 for cell in cells]
    with styled():
        figure = new_figure(height=2.9, width=2 * COLUMN_WIDTH)
        latency, rate = figure.subplots(1, 2)
        for name, members in series.items():
            _curve(rate, members, look[name], many, name, rates=True)
            if members[0].record.algorithm in ROUND_TRIPS:
                _curve(latency, members, look[name], many, name, rates=False)
        latency.set_yscale("log")
        time_axis(latency, "y")
        rate_axis(rate)
        if run.record.wire_Bps:
            mark_wire(rate, run.record.wire_Bps)
        for axes, words in ((latency, "time one way"), (rate, "MiB/s each way")):
            size_axis(axes, sizes)
            axes.set_ylabel(words)
            axes.set_xlabel("bytes of a message")
        figure.legend(
            *rate.get_legend_handles_labels(),
            loc="outside lower center",
            ncols=4,
            frameon=False,
            fontsize=6.5,
        )
        title(figure, _finding(cells))
    return figure


def _series(cell: CellSummary, cells: Sequence[CellSummary]) -> str:
    """The way of sending and, where there are several, the pair or how many ranks."""
    pairs = {other.record.labels.get("pairs") for other in cells}
    pair = cell.record.labels.get("pairs")
    return f"{cell.schedule}, {pair}" if len(pairs) > 1 and pair else cell.schedule


def _curve(
    axes: Axes,
    cells: Sequence[CellSummary],
    look: Look,
    many: bool,
    name: str,
    *,
    rates: bool,
) -> None:
    for cell in cells:
        size = cell.record.bytes or 1
        for values, left_out in ((cell.used, False), (cell.left_out, True)):
            if len(values):
                y = size / values / MEBI if rates else values
                x = size * 2 ** (_SPREAD * spread(len(values)))
                points(axes, x, y, look.colour, left_out=left_out, many=many)
    sizes = [cell.record.bytes or 1 for cell in cells]
    medians = [cell.median.value for cell in cells]
    line = [size / m / MEBI for size, m in zip(sizes, medians, strict=True)] if rates else medians
    axes.plot(
        sizes, line, color=look.colour, linestyle=look.line, linewidth=0.9, zorder=1.5, label=name
    )


def _finding(cells: Sequence[CellSummary]) -> str:
    trips = [cell for cell in cells if cell.record.algorithm in ROUND_TRIPS]
    fastest = max(cells, key=lambda cell: (cell.record.bytes or 0) / cell.median.value)
    rate = (fastest.record.bytes or 0) / fastest.median.value
    at = size_words(fastest.record.bytes)
    most = f"at most {rate_words(rate)}, {fastest.schedule} at {at}"
    if not trips:
        return f"Messages: {most}"
    least = min(trips, key=lambda cell: cell.median.value)
    return f"A message takes {format_seconds(least.median.value)} or more; {most}"
