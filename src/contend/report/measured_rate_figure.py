"""Rate per rank against message size, one panel for each ranks per node (Kutzner 2005)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter

from contend.report.collapse_table import sizes_of
from contend.report.measured_rate_panels import (
    Panel,
    algorithms_of,
    by_ranks,
    by_schedule,
    ranks_of,
)
from contend.report.rate_sweeps import Sweep, sweeps
from contend.report.rate_words import MEBI, mebibytes
from contend.report.style import COLUMN_WIDTH, QUIET, new_figure, styled, title
from contend.report.wire import mark_wire
from contend.study import MeasuredPlan, Result
from contend.units import counted, format_bytes

# A sample is spread over this part of the step between sizes, which double.
_SPREAD = 0.12
_WIDE = 1.85 * COLUMN_WIDTH


def rate_figures(plan: MeasuredPlan, results: Sequence[Result]) -> Iterator[tuple[str, Figure]]:
    """Named figures: for every number of ranks all schedules, for every schedule all ranks.

    Rows of panels are libraries and conditions, columns are ranks per node. Every sample is there.
    """
    found = [sweep for sweep in sweeps(plan, results) if sweep.ranks > 1]
    for measure in dict.fromkeys(sweep.measure for sweep in found):
        every = [sweep for sweep in found if sweep.measure == measure]
        ranks = ranks_of(every)
        for count in ranks:
            panels = by_schedule(every, count)
            found_here = [sweep for sweep in every if sweep.ranks == count]
            finding = _collapse(found_here) or _best(panels, count)
            yield f"{measure}-{count}-ranks", _figure(plan, panels, finding)
        if len(ranks) > 1:
            for name in algorithms_of(every):
                finding = f"{name}: rate of a rank on {' to '.join(map(str, _ends(ranks)))} ranks"
                yield f"{measure}-{name}", _figure(plan, by_ranks(every, name), finding)


def _ends(ranks: Sequence[int]) -> tuple[int, int]:
    return min(ranks), max(ranks)


def _figure(plan: MeasuredPlan, panels: Sequence[Panel], finding: str) -> Figure:
    rows = list(dict.fromkeys(panel.series for panel in panels))
    columns = sorted({panel.ranks_per_node for panel in panels})
    with styled():
        width = COLUMN_WIDTH if len(columns) == 1 else _WIDE
        figure = new_figure(height=0.9 + 1.75 * len(rows), width=width)
        grid = figure.subplots(len(rows), len(columns), sharex=True, sharey=True, squeeze=False)
        used = set()
        for panel in panels:
            place = rows.index(panel.series), columns.index(panel.ranks_per_node)
            used.add(place)
            _draw(plan, grid[place], panel)
        for place in np.ndindex(grid.shape):
            if place not in used:
                grid[place].set_axis_off()
        _axes(grid)
        _legend(figure, plan, panels)
        title(figure, finding)
    return figure


def _draw(plan: MeasuredPlan, axes: Axes, panel: Panel) -> None:
    each = counted(panel.ranks_per_node, "rank")
    hosted = any(r.one_host for line in panel.lines for r in line.results)
    where = f"groups of {each} on one host" if hosted else f"{each} a node"
    axes.set_title(", ".join(filter(None, (where, panel.series.label))), loc="left", fontsize=7.5)
    for line in panel.lines:
        measured = [r for r in line.results if r.rate is not None and r.place.bytes]
        _samples(axes, measured, line.colour)
        axes.plot(
            [r.place.bytes or 0 for r in measured],
            [(r.rate or 0) / MEBI for r in measured],
            color=line.colour,
            linestyle=(0, (3, 1.5)) if line.dashed else "-",
            linewidth=1,
            zorder=3,
        )
    for limit in panel.limits:
        mark_wire(axes, limit)
    for size, rate, colour in panel.collapsed:
        axes.plot(
            [size], [rate / MEBI], marker="v", markersize=5, color=colour, linestyle="", zorder=5
        )
    _published(plan, axes, panel)


def _samples(axes: Axes, results: Sequence[Result], colour: str) -> None:
    """The rate of every sample near its size; those that did not count are crosses."""
    generator = np.random.default_rng(1)
    for result in results:
        size, ranks = result.place.bytes or 0, result.place.ranks or 1
        for values, marker in ((result.counted, "."), (result.left_out, "x")):
            shift = 2 ** (_SPREAD * generator.uniform(-1, 1, len(values)))
            axes.plot(
                size * shift,
                (ranks - 1) * size / values / MEBI,
                color=colour,
                linestyle="",
                marker=marker,
                markersize=2,
                markeredgewidth=0.4,
                alpha=0.3,
                zorder=2,
            )


def _published(plan: MeasuredPlan, axes: Axes, panel: Panel) -> None:
    """What others published for this place, as open diamonds in the colour of its schedule."""
    for line in panel.lines:
        for result in line.results:
            for known in plan.known(result.place.measure):
                if known.placed and known.beside(result.place):
                    rate = known.rate_of(result.place.ranks)
                    axes.plot(
                        [result.place.bytes or 0],
                        [(rate or 0) / MEBI],
                        marker="D",
                        markersize=4,
                        markerfacecolor="none",
                        markeredgecolor=line.colour,
                        markeredgewidth=0.8,
                        zorder=4,
                    )


def _axes(grid: Any) -> None:
    for axes in grid.flat:
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.grid(axis="y", color="#EEEEEE", linewidth=0.5)
        axes.set_axisbelow(True)
    low, high = grid[0, 0].get_xlim()
    powers = range(int(np.ceil(np.log2(low))), int(np.floor(np.log2(high))) + 1)
    ticks = [2.0**power for power in powers if power % (4 if len(powers) > 8 else 2) == 0]
    for axes in grid[-1]:
        axes.set_xticks(ticks, [format_bytes(tick) for tick in ticks])
        axes.minorticks_off()
        axes.set_xlabel("bytes from each rank to each other")
    for axes in grid[:, 0]:
        axes.set_ylabel("MiB/s of a rank")


def _legend(figure: Figure, plan: MeasuredPlan, panels: Sequence[Panel]) -> None:
    lines = {line.name: line for panel in panels for line in panel.lines}
    handles = [
        Line2D(
            [],
            [],
            color=line.colour,
            linestyle=(0, (3, 1.5)) if line.dashed else "-",
            linewidth=1,
            label=line.name,
        )
        for line in lines.values()
    ]
    if any(
        known.placed and known.beside(result.place)
        for known in plan.known()
        for panel in panels
        for line in panel.lines
        for result in line.results
    ):
        handles.append(
            Line2D([], [], linestyle="", marker="D", markersize=4, markerfacecolor="none",
                   markeredgecolor=QUIET, label="published")
        )  # fmt: skip
    if any(panel.collapsed for panel in panels):
        handles.append(
            Line2D([], [], linestyle="", marker="v", markersize=5, color=QUIET, label="collapse")
        )
    handles.append(
        Line2D([], [], linestyle="", marker=".", markersize=4, color=QUIET, label="a sample")
    )
    columns = len({panel.ranks_per_node for panel in panels})
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=4 if columns == 1 else 7,
        frameon=False,
        fontsize=6.5,
        handletextpad=0.4,
        columnspacing=1.2,
    )


def _collapse(every: Sequence[Sweep]) -> str:
    """The collapse that costs most against what avoids it; "" where a network has none."""
    avoided = [
        (one.gain.value, sweep.ranks, one)
        for sweep in every
        if not sweep.one_host
        for one in sweep.collapses
        if one.gain is not None and one.avoided_by is not None
    ]
    if not avoided:
        return ""
    gain, ranks, one = max(avoided, key=lambda found: found[0])
    cure = one.avoided_by.schedule if one.avoided_by is not None else ""
    where = f"{counted(ranks, 'rank')}: {one.worst.schedule} collapses at {sizes_of(one)}"
    return f"{where}, where {cure} is {gain:.2g} times as fast"


def _best(panels: Sequence[Panel], ranks: int) -> str:
    """The highest rate of all and its schedule."""
    rates = [
        (result.rate, line.name, result.place.bytes or 0)
        for panel in panels
        for line in panel.lines
        for result in line.results
        if result.rate is not None
    ]
    if not rates:
        return f"{counted(ranks, 'rank')}: nothing was measured"
    rate, name, size = max(rates)
    return f"{ranks} ranks: at most {mebibytes(rate)} MiB/s a rank, {name} at {format_bytes(size)}"
