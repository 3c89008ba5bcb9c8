"""All schedules at one size: every sample's time, the median and its interval."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contend.errors import UsageError
from contend.report.measured_words import condition_words, run_words, size_words
from contend.report.sample_points import MOST_VECTOR_POINTS, points, spread
from contend.report.schedule_looks import looks
from contend.report.size_axis import time_axis
from contend.report.style import COLUMN_WIDTH, FAINT, QUIET, new_figure, styled, title
from contend.runs import CellSummary, Condition, Run
from contend.units import format_bytes, format_seconds

_HALF_ROW = 0.32


def distribution_figure(run: Run, size: int | None = None) -> Figure:
    """A strip for each schedule, the fastest at the top.

    Args:
        run: of any probe.
        size: bytes of the cells; by default where something has collapsed most or, where nothing
            has, the largest size that most schedules were measured at.

    Raises:
        UsageError: nothing was measured at that size.
    """
    under, chosen = _choice(run, size)
    cells = sorted(
        (cell for cell in run.summaries if cell.condition == under and cell.record.bytes == chosen),
        key=lambda cell: cell.median.value,
    )
    look = looks(cell.schedule for cell in run.summaries)
    many = sum(cell.n for cell in cells) > MOST_VECTOR_POINTS
    with styled():
        figure = new_figure(height=1.05 + 0.3 * len(cells), width=1.4 * COLUMN_WIDTH)
        axes = figure.subplots()
        for row, cell in enumerate(cells):
            _strip(axes, row, cell, look[cell.schedule].colour, many)
        axes.set_yticks(range(len(cells)), [cell.schedule for cell in cells])
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(cells) - 0.4, -0.6)
        axes.spines["left"].set_visible(False)
        axes.set_xscale("log")
        time_axis(axes, "x")
        words = f"{run_words(run.record)}\n{condition_words(under)}, {size_words(chosen)}"
        axes.set_xlabel(f"time of a sample\n{words}")
        _explain(axes, cells)
        title(figure, _finding(cells, chosen))
    return figure


def _choice(run: Run, size: int | None) -> tuple[Condition, int | None]:
    cells = [cell for cell in run.summaries if cell.median.value > 0]
    if size is not None:
        cells = [cell for cell in cells if cell.record.bytes == size]
    if not cells:
        at = "" if size is None else f" at {format_bytes(size)}"
        raise UsageError(f"{run.folder}: nothing was measured{at}")
    found = [one for one in run.findings.collapses if size in (None, one.worst.record.bytes)]
    if found:
        worst = max(found, key=lambda one: one.factor.value)
        return worst.condition, worst.worst.record.bytes
    counts: dict[tuple[Condition, int | None], int] = {}
    for cell in cells:
        place = cell.condition, cell.record.bytes
        counts[place] = counts.get(place, 0) + 1
    return max(counts, key=lambda place: (counts[place], place[1] or 0, place[0].ranks))


def _strip(axes: Axes, row: int, cell: CellSummary, colour: str, many: bool) -> None:
    for values, left_out in ((cell.used, False), (cell.left_out, True)):
        if len(values):
            y = row + _HALF_ROW * spread(len(values))
            points(axes, values, y, colour, left_out=left_out, many=many)
    median = cell.median
    axes.plot(
        [median.value, median.value],
        [row - 1.25 * _HALF_ROW, row + 1.25 * _HALF_ROW],
        color="black",
        linewidth=0.9,
        solid_capstyle="butt",
        zorder=1.5,
    )
    if median.low is not None and median.high is not None:
        axes.plot(
            [median.low, median.high],
            [row, row],
            color=FAINT,
            linewidth=3,
            solid_capstyle="butt",
            zorder=1,
        )


def _explain(axes: Axes, cells: Sequence[CellSummary]) -> None:
    said = "bar: median and its interval"
    if any(len(cell.left_out) for cell in cells):
        said += "; crosses: late"
    axes.text(
        1, 1.01, said, transform=axes.transAxes, ha="right", va="bottom", fontsize=6, color=QUIET
    )


def _finding(cells: Sequence[CellSummary], size: int | None) -> str:
    at = f" at {size_words(size)}" if size is not None else ""
    first, last = cells[0], cells[-1]
    split = [cell for cell in cells if cell.modes is not None]
    if split:
        worst = max(split, key=lambda cell: cell.modes.slow_s if cell.modes else 0)
        assert worst.modes is not None
        return (
            f"{worst.schedule}{at}: {100 * worst.modes.slow_share:.0f} % of the samples take "
            f"about {format_seconds(worst.modes.slow_s)}, the others "
            f"{format_seconds(worst.modes.fast_s)}"
        )
    if len(cells) == 1:
        return f"{first.schedule}{at}: {format_seconds(first.median.value)}"
    factor = last.median.value / first.median.value
    return f"{first.schedule} is fastest{at}, {factor:.2g} times as fast as {last.schedule}"
