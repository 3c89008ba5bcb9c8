"""Rate against message size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contend.report.axes import (
    MOST_VECTOR_POINTS,
    Look,
    columns_for,
    label_bottoms,
    looks,
    mark_wire,
    points,
    rate_axis,
    size_axis,
    spread,
)
from contend.report.run.findings import judged_rate
from contend.report.style import COLUMN_WIDTH, FAINT, new_figure, styled, title
from contend.report.words import MEBI, condition_words, rate_words, size_words
from contend.runs import CellSummary, Collapse, Condition, Kind, Run, collapses

# Samples are spread over this share of the step between sizes, either way.
_SPREAD = 0.2
_TOGETHER = 3
_PANEL_HEIGHT = 1.45

Series = dict[str, list[CellSummary]]


def rate_figures(run: Run) -> Iterator[tuple[str, Figure]]:
    """A named figure for every condition, with every sample.

    Up to three schedules share a panel. More have a panel each, the medians of the others faintly
    behind. The broken line is what a host's port carries, shared out over its ranks; crosses are
    late samples that do not count; red rings are collapses.
    """
    every = [cell for cell in run.summaries if cell.sent and cell.median.value > 0]
    look = looks(cell.schedule for cell in every)
    found = collapses(run.summaries)
    for under in dict.fromkeys(cell.condition for cell in every):
        members = [cell for cell in every if cell.condition == under]
        series: Series = {}
        for cell in sorted(members, key=lambda cell: cell.record.bytes or 0):
            series.setdefault(cell.schedule, []).append(cell)
        here = [one for one in found if one.condition == under]
        ordered = {name: series[name] for name in look if name in series}
        yield f"rates-{_name(under)}", _figure(run, under, ordered, look, here)


def _figure(
    run: Run, under: Condition, series: Series, look: dict[str, Look], found: Sequence[Collapse]
) -> Figure:
    together = len(series) <= _TOGETHER
    columns = 1 if together else columns_for(len(series))
    rows = 1 if together else -(-len(series) // columns)
    many = sum(cell.n for cells in series.values() for cell in cells) > MOST_VECTOR_POINTS
    with styled():
        figure = new_figure(
            height=2.9 if together else 0.85 + _PANEL_HEIGHT * rows,
            width=COLUMN_WIDTH if together else 0.62 * COLUMN_WIDTH * columns,
        )
        grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        panels = list(grid.flat)
        for panel in panels[1 if together else len(series) :]:
            panel.set_axis_off()
        for place, (name, cells) in enumerate(series.items()):
            panel = panels[0 if together else place]
            if not together:
                panel.set_title(name, loc="left", fontsize=7.5, color=look[name].colour)
                _others(panel, series, name)
            _draw(panel, cells, look[name], many, name if together else "")
            _rings(panel, [one for one in found if one.worst.schedule == name])
        _finish(figure, run, under, grid, series)
        if together and len(series) > 1:
            _legend(figure, panels[0])
        where = condition_words(under) + (
            " (ranks share processors)" if _crowded(run, under) else ""
        )
        title(figure, _finding(where, series, found))
    return figure


def _draw(axes: Axes, cells: Sequence[CellSummary], look: Look, many: bool, label: str) -> None:
    steps = np.diff(np.log2([cell.record.bytes or 1 for cell in cells]))
    reach = _SPREAD * min(2.0, *steps) if len(steps) > 1 else _SPREAD
    for cell in cells:
        for values, left_out in ((cell.used, False), (cell.left_out, True)):
            if len(values):
                x = (cell.record.bytes or 0) * 2 ** (reach * spread(len(values)))
                rates = (cell.sent or 0) / values / MEBI
                points(axes, x, rates, look.colour, left_out=left_out, many=many)
    sizes = [cell.record.bytes or 0 for cell in cells]
    medians = [(cell.sent or 0) / cell.median.value / MEBI for cell in cells]
    axes.plot(
        sizes,
        medians,
        color=look.colour,
        linestyle=look.line,
        linewidth=0.9,
        zorder=1.5,
        label=label or None,
    )


def _others(axes: Axes, series: Series, name: str) -> None:
    """Medians of all other schedules, to compare with."""
    for other, cells in series.items():
        if other != name:
            sizes = [cell.record.bytes or 0 for cell in cells]
            rates = [(cell.sent or 0) / cell.median.value / MEBI for cell in cells]
            axes.plot(sizes, rates, color=FAINT, linewidth=0.8, zorder=1)


def _rings(axes: Axes, found: Sequence[Collapse]) -> None:
    for collapse in found:
        for cell in collapse.cells:
            axes.plot(
                [cell.record.bytes or 0],
                [judged_rate(cell) / MEBI],
                marker="o",
                markersize=7,
                markerfacecolor="none",
                markeredgecolor="#C00000",
                markeredgewidth=0.9,
                linestyle="",
                zorder=4,
            )


def _finish(figure: Figure, run: Run, under: Condition, grid: np.ndarray, series: Series) -> None:
    sizes = [cell.record.bytes or 0 for cells in series.values() for cell in cells]
    pingpong = run.record.probe == "pingpong"
    figure.supxlabel("message" if pingpong else "bytes to each other rank", fontsize=7.5)
    figure.supylabel("MiB/s of a rank", fontsize=7.5)
    label_bottoms(grid)
    for place, axes in np.ndenumerate(grid):
        rate_axis(axes)
        size_axis(axes, sizes)
        if run.record.wire_Bps and axes.axison:
            limit = run.record.wire_Bps * under.hosts / under.ranks
            mark_wire(axes, limit, named=place == (0, 0))


def _legend(figure: Figure, axes: Axes) -> None:
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False, fontsize=6.5)


def _crowded(run: Run, under: Condition) -> bool:
    """Whether several ranks of a host shared its processors, so that turns are what was timed."""
    return under.ranks > under.hosts and any(
        launch.measured is not None and launch.measured.oversubscribed
        for launch in run.record.launches
        if launch.ranks == under.ranks
    )


def _finding(where: str, series: Series, found: Sequence[Collapse]) -> str:
    falls = [one for one in found if one.kind == Kind.FALLS] or list(found)
    if falls:
        worst = max(falls, key=lambda one: one.factor.value)
        says = (
            f"{worst.worst.schedule} collapses by a factor of {worst.factor.value:.3g} at "
            f"{size_words(worst.worst.record.bytes)}"
        )
        if worst.avoided_by is not None:
            says += f", {worst.avoided_by.schedule} does not"
        return f"{where}: {says}"
    best = max(
        (cell for cells in series.values() for cell in cells),
        key=lambda cell: (cell.sent or 0) / cell.median.value,
    )
    rate = (best.sent or 0) / best.median.value
    at = size_words(best.record.bytes)
    return f"{where}: at most {rate_words(rate)} a rank, {best.schedule} at {at}"


def _name(under: Condition) -> str:
    labels = "-".join(f"{value}" for _, value in under.labels)
    return f"{under.ranks}-ranks-{under.hosts}-hosts" + (f"-{labels}" if labels else "")
