"""Figures of times: all schedules at one size, and the steps of a sort."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contend.errors import UsageError
from contend.report.style import (
    COLOURS,
    COLUMN_WIDTH,
    FAINT,
    MOST_VECTOR_POINTS,
    QUIET,
    looks,
    name_rows,
    new_figure,
    percent_axis,
    points,
    spread,
    styled,
    time_axis,
    title,
)
from contend.report.words import condition_words, percent_range, run_words, size_words
from contend.runs import CellParts, CellSummary, Condition, Run
from contend.units import format_bytes, format_seconds, rounded

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
            _times_strip(axes, row, cell, look[cell.schedule].colour, many)
        name_rows(axes, [cell.schedule for cell in cells])
        axes.spines["left"].set_visible(False)
        axes.set_xscale("log")
        time_axis(axes, "x")
        words = f"{run_words(run.record)}\n{condition_words(under)}, {size_words(chosen)}"
        axes.set_xlabel(f"time of a sample\n{words}")
        _explain(axes, cells)
        title(figure, _times_finding(cells, chosen))
    return figure


def _choice(run: Run, size: int | None) -> tuple[Condition, int | None]:
    cells = [cell for cell in run.summaries if cell.median.value > 0]
    if size is not None:
        cells = [cell for cell in cells if cell.record.bytes == size]
    if not cells:
        at = "" if size is None else f" at {format_bytes(size)}"
        raise UsageError(f"{run.folder}: nothing was measured{at}")
    collapses = [
        collapse
        for collapse in run.findings.collapses
        if size in (None, collapse.worst.record.bytes)
    ]
    if collapses:
        worst = max(collapses, key=lambda collapse: collapse.factor.value)
        return worst.condition, worst.worst.record.bytes
    counts: dict[tuple[Condition, int | None], int] = {}
    for cell in cells:
        key = cell.condition, cell.record.bytes
        counts[key] = counts.get(key, 0) + 1
    return max(counts, key=lambda key: (counts[key], key[1] or 0, key[0].ranks))


def _times_strip(axes: Axes, row: int, cell: CellSummary, colour: str, many: bool) -> None:
    _samples(axes, row, cell, colour, many)
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


def _samples(axes: Axes, row: int, cell: CellSummary, colour: str, many: bool = False) -> None:
    for values, left_out in ((cell.results, False), (cell.left_out, True)):
        if len(values):
            y = row + _HALF_ROW * spread(len(values))
            points(axes, values, y, colour, left_out=left_out, many=many)


def _explain(axes: Axes, cells: Sequence[CellSummary]) -> None:
    text = "bar: median and its interval"
    if any(len(cell.left_out) for cell in cells):
        text += "; crosses: late"
    axes.text(
        1, 1.01, text, transform=axes.transAxes, ha="right", va="bottom", fontsize=6, color=QUIET
    )


def _times_finding(cells: Sequence[CellSummary], size: int | None) -> str:
    at = f" at {size_words(size)}" if size is not None else ""
    first, last = cells[0], cells[-1]
    split = [cell for cell in cells if cell.two_kinds is not None]
    if split:
        worst = max(split, key=lambda cell: cell.two_kinds.slow_s if cell.two_kinds else 0)
        assert worst.two_kinds is not None
        return (
            f"{worst.schedule}{at}: {100 * worst.two_kinds.slow_share:.0f} % of the samples take "
            f"about {format_seconds(worst.two_kinds.slow_s)}, the others "
            f"{format_seconds(worst.two_kinds.fast_s)}"
        )
    if len(cells) == 1:
        return f"{first.schedule}{at}: {format_seconds(first.median.value)}"
    factor = last.median.value / first.median.value
    return f"{first.schedule} is fastest{at}, {rounded(factor, 2)} times as fast as {last.schedule}"


_EXCHANGE = "exchange"
# The steps in the order in which they happen, with their colours.
_STEPS = {
    "local_sort": COLOURS[5],
    "splitters": COLOURS[4],
    "counts": COLOURS[3],
    _EXCHANGE: COLOURS[0],
    "final_sort": COLOURS[2],
}


def sort_figure(run: Run) -> Figure:
    """A row for each cell: shares of the steps' medians, and the samples of the exchange.

    Raises:
        UsageError: the run has no steps of a sort.
    """
    members = sorted(
        (parts for parts in run.findings.parts if _STEPS.keys() & parts.seconds.keys()),
        key=lambda parts: (parts.cell.record.ranks, parts.cell.record.bytes or 0, _label(parts)),
    )
    if not members:
        raise UsageError(f"{run.folder}: the run has no steps of a sort")
    with styled():
        figure = new_figure(height=1.15 + 0.28 * len(members), width=2 * COLUMN_WIDTH)
        shares, samples = figure.subplots(1, 2, sharey=True, width_ratios=(1.2, 1))
        for row, parts in enumerate(members):
            _stack(shares, row, parts)
            _sort_strip(samples, row, parts)
        name_rows(shares, [_label(parts) for parts in members])
        shares.set_xlim(0, 1)
        percent_axis(shares.xaxis)
        shares.set_xlabel("share of the steps' medians")
        for axes in (shares, samples):
            axes.tick_params(axis="y", length=0)
            axes.spines["left"].set_visible(False)
        samples.set_xscale("log")
        time_axis(samples, "x")
        samples.set_xlabel("exchange of data, every sample")
        figure.legend(
            *shares.get_legend_handles_labels(),
            loc="outside lower center",
            ncols=len(_STEPS),
        )
        title(figure, _sort_finding(members))
    return figure


def _steps(parts: CellParts) -> dict[str, float]:
    known = {**parts.seconds, _EXCHANGE: parts.cell.median.value}
    return {name: known.get(name, 0.0) for name in _STEPS}


def _stack(axes: Axes, row: int, parts: CellParts) -> None:
    steps = _steps(parts)
    total = sum(steps.values()) or 1.0
    left = 0.0
    for name, seconds in steps.items():
        width = seconds / total
        axes.barh(
            row,
            width,
            left=left,
            height=2 * _HALF_ROW,
            color=_STEPS[name],
            label=name.replace("_", " ") if row == 0 else None,
        )
        if width > 0.14:
            axes.text(
                left + width / 2,
                row,
                format_seconds(seconds),
                ha="center",
                va="center",
                fontsize=6.5,
                color="white" if name == _EXCHANGE else "black",
            )
        left += width


def _sort_strip(axes: Axes, row: int, parts: CellParts) -> None:
    cell = parts.cell
    _samples(axes, row, cell, _STEPS[_EXCHANGE])
    median = cell.median.value
    ends = np.array([row - 1.25 * _HALF_ROW, row + 1.25 * _HALF_ROW])
    axes.plot([median, median], ends, color="black", linewidth=0.9, zorder=1.5)


def _label(parts: CellParts) -> str:
    cell = parts.cell.record
    sizes = [f"{name} = {cell.labels[name]:,}" for name in ("n", "m") if name in cell.labels]
    return ", ".join([f"p = {cell.ranks}", *sizes, *_kind(parts)])


def _kind(parts: CellParts) -> list[str]:
    kind = parts.cell.record.labels.get("input")
    return [] if kind is None else [str(kind)]


def _sort_finding(members: Sequence[CellParts]) -> str:
    shares = [_steps(parts)[_EXCHANGE] / (sum(_steps(parts).values()) or 1.0) for parts in members]
    share = percent_range(min(shares), max(shares), 0)
    return f"The exchange of data takes {share} of the sort"
