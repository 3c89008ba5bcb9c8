"""A parallel sort: which share each step has, and every sample of the exchange."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contend.errors import UsageError
from contend.report.sample_points import points, spread
from contend.report.size_axis import time_axis
from contend.report.style import COLOURS, COLUMN_WIDTH, new_figure, percent_axis, styled, title
from contend.runs import CellParts, Run
from contend.units import format_seconds

_EXCHANGE = "exchange"
# The steps in the order in which they happen, with their colours.
_STEPS = {
    "local_sort": COLOURS[5],
    "splitters": COLOURS[4],
    "counts": COLOURS[3],
    _EXCHANGE: COLOURS[0],
    "final_sort": COLOURS[2],
}
_HALF_ROW = 0.32


def sort_figure(run: Run) -> Figure:
    """A row for each cell: shares of the steps' medians, and the samples of the exchange.

    Raises:
        UsageError: the run has no steps of a sort.
    """
    members = sorted(
        (one for one in run.findings.parts if _STEPS.keys() & one.seconds.keys()),
        key=lambda one: (one.cell.record.ranks, one.cell.record.bytes or 0, _label(one)),
    )
    if not members:
        raise UsageError(f"{run.folder}: no steps of a sort are here")
    with styled():
        figure = new_figure(height=1.15 + 0.28 * len(members), width=2 * COLUMN_WIDTH)
        shares, samples = figure.subplots(1, 2, sharey=True, width_ratios=(1.2, 1))
        for row, one in enumerate(members):
            _stack(shares, row, one)
            _strip(samples, row, one)
        shares.set_yticks(range(len(members)), [_label(one) for one in members])
        shares.set_ylim(len(members) - 0.4, -0.6)
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
            frameon=False,
            fontsize=6.5,
        )
        title(figure, _finding(members))
    return figure


def _steps(one: CellParts) -> dict[str, float]:
    known = {**one.seconds, _EXCHANGE: one.cell.median.value}
    return {name: known.get(name, 0.0) for name in _STEPS}


def _stack(axes: Axes, row: int, one: CellParts) -> None:
    steps = _steps(one)
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


def _strip(axes: Axes, row: int, one: CellParts) -> None:
    cell = one.cell
    for values, left_out in ((cell.used, False), (cell.left_out, True)):
        if len(values):
            y = row + _HALF_ROW * spread(len(values))
            points(axes, values, y, _STEPS[_EXCHANGE], left_out=left_out)
    median = cell.median.value
    ends = np.array([row - 1.25 * _HALF_ROW, row + 1.25 * _HALF_ROW])
    axes.plot([median, median], ends, color="black", linewidth=0.9, zorder=1.5)


def _label(one: CellParts) -> str:
    cell = one.cell.record
    told = [f"{name} = {cell.labels[name]:,}" for name in ("n", "m") if name in cell.labels]
    return ", ".join([f"p = {cell.ranks}", *told, *_kind(one)])


def _kind(one: CellParts) -> list[str]:
    kind = one.cell.record.labels.get("input")
    return [] if kind is None else [str(kind)]


def _finding(members: Sequence[CellParts]) -> str:
    shares = [_steps(one)[_EXCHANGE] / (sum(_steps(one).values()) or 1.0) for one in members]
    low, high = min(shares), max(shares)
    if high - low < 0.005:
        return f"The exchange of data is {100 * high:.0f} % of the sort"
    return f"The exchange of data is {100 * low:.0f} to {100 * high:.0f} % of the sort"
