"""Rate of a rank against message size, as in Kutzner's plots of 2005: of runs and of studies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from contend.report.run.findings import collapse_words, judged_rate
from contend.report.style import (
    BEYOND,
    COLUMN_WIDTH,
    FAINT,
    MOST_VECTOR_POINTS,
    QUIET,
    Look,
    columns_for,
    label_bottoms,
    looks,
    mark_wire,
    new_figure,
    points,
    rate_axis,
    size_axis,
    spread,
    styled,
    title,
)
from contend.report.words import BEYOND_WIRE, condition_words, rate_words, size_words
from contend.runs import CellSummary, Collapse, Condition, Run

# Samples are spread over this part of the step between sizes, either way.
_SPREAD = 0.2
_COLLAPSED = "#C00000"
_RING: dict[str, Any] = {
    "marker": "o",
    "markerfacecolor": "none",
    "markeredgecolor": _COLLAPSED,
    "markeredgewidth": 0.9,
    "linestyle": "",
}
_DIAMOND: dict[str, Any] = {
    "marker": "D",
    "markersize": 4,
    "markerfacecolor": "none",
    "markeredgewidth": 0.8,
    "linestyle": "",
}


@dataclass(frozen=True)
class Curve:
    """The rates of one schedule over message sizes.

    Attributes:
        name: what it is called in a legend.
        look: how it is drawn.
        cells: by size, ascending.
        published: sizes with rates that others published, in bytes per second.
    """

    name: str
    look: Look
    cells: tuple[CellSummary, ...]
    published: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True)
class Panel:
    """What one panel shows.

    Attributes:
        name: above it.
        curves: with every sample.
        behind: curves whose medians are drawn faintly, to compare with.
        collapses: of the schedules of its curves.
        limit: bytes per second of a rank at which the hosts' ports are full; None where unknown.
        colour: of its name.
    """

    name: str
    curves: tuple[Curve, ...]
    collapses: tuple[Collapse, ...] = ()
    limit: float | None = None
    behind: tuple[Curve, ...] = ()
    colour: str = "black"


def rate_figure(
    panels: Sequence[Sequence[Panel | None]], finding: str, *, legend: bool, sizes: str
) -> Figure:
    """Every sample, medians joined by lines, collapses ringed, the wire as a broken line.

    Args:
        panels: by row and column; None leaves a place empty.
        finding: the title.
        legend: whether curves are named below the figure, beside its marks; else panels must
            name them.
        sizes: what the sizes are, on their axis.
    """
    drawn = [panel for row in panels for panel in row if panel is not None]
    curves = [curve for panel in drawn for curve in panel.curves]
    cells = [cell for curve in curves for cell in curve.cells]
    many = sum(cell.n for cell in cells) > MOST_VECTOR_POINTS
    with styled():
        figure = _empty(len(panels), len(panels[0]), legend=legend)
        grid = figure.subplots(len(panels), len(panels[0]), sharex=True, sharey=True, squeeze=False)
        named: set[float] = set()
        for axes, panel in zip(grid.flat, chain.from_iterable(panels), strict=True):
            rate_axis(axes)
            size_axis(axes, [cell.record.bytes or 1 for cell in cells])
            if panel is None:
                axes.set_axis_off()
                continue
            _draw(axes, panel, many)
        # After all: room for the wire's name ends the scaling that panels share.
        for axes, panel in zip(grid.flat, chain.from_iterable(panels), strict=True):
            if panel is not None and panel.limit is not None:
                mark_wire(axes, panel.limit, named=panel.limit not in named)
                named.add(panel.limit)
        label_bottoms(grid)
        figure.supylabel("rate per rank", fontsize=7.5)
        # Below the last panels, so that the legend has its place beneath.
        for column in grid.T:
            [axes for axes in column if axes.axison][-1].set_xlabel(sizes)
        _legend(figure, drawn, curves, named=legend)
        title(figure, finding)
    return figure


def rate_finding(
    where: str, cells: Iterable[CellSummary], collapses: Sequence[Collapse] = ()
) -> str:
    """The worst collapse or, where there is none, the highest rate."""
    if collapses:
        return f"{where}: {collapse_words(collapses)}"
    cells = list(cells)
    # What lay in buffers tells nothing of the network, unless nothing else was measured.
    sound = [cell for cell in cells if not cell.beyond_wire]
    fastest = max(sound or cells, key=median_rate, default=None)
    if fastest is None:
        return f"{where}: nothing was measured"
    at = size_words(fastest.record.bytes)
    return (
        f"{where}: at most {rate_words(median_rate(fastest))} per rank, {fastest.schedule} at {at}"
    )


def median_rate(cell: CellSummary) -> float:
    """Bytes per second that a rank sends, at the median."""
    return (cell.sent or 0) / cell.median.value


def _empty(rows: int, columns: int, *, legend: bool) -> Figure:
    """A figure that has room for panels: larger ones where a legend tells many curves apart."""
    if rows == columns == 1:
        return new_figure(height=2.9)
    height, width = (1.75, 0.92) if legend else (1.45, 0.62)
    return new_figure(
        height=0.9 + height * rows, width=COLUMN_WIDTH * (1 if columns == 1 else width * columns)
    )


def _draw(axes: Axes, panel: Panel, many: bool) -> None:
    axes.set_title(panel.name, loc="left", fontsize=7.5, color=panel.colour)
    for curve in panel.behind:
        _medians(axes, curve, Look(FAINT, "-"), 1)
    for curve in panel.curves:
        _samples(axes, curve, many)
        _medians(axes, curve, curve.look, 1.5)
        for cell in curve.cells:
            if cell.beyond_wire:
                at = [cell.record.bytes or 0], [median_rate(cell)]
                axes.plot(*at, markeredgecolor=curve.look.colour, zorder=3, **BEYOND)
        for size, rate in curve.published:
            axes.plot([size], [rate], markeredgecolor=curve.look.colour, zorder=4, **_DIAMOND)
    for collapse in panel.collapses:
        for cell in collapse.cells:
            rate = judged_rate(cell)
            axes.plot([cell.record.bytes or 0], [rate], markersize=7, zorder=4, **_RING)


def _samples(axes: Axes, curve: Curve, many: bool) -> None:
    """The rate of every sample near its size; those that do not count are crosses."""
    steps = np.diff(np.log2([cell.record.bytes or 1 for cell in curve.cells]))
    reach = _SPREAD * min(2.0, *steps) if len(steps) > 1 else _SPREAD
    for cell in curve.cells:
        for values, left_out in ((cell.results, False), (cell.left_out, True)):
            if len(values):
                x = (cell.record.bytes or 0) * 2 ** (reach * spread(len(values)))
                rates = (cell.sent or 0) / values
                points(axes, x, rates, curve.look.colour, left_out=left_out, many=many)


def _medians(axes: Axes, curve: Curve, look: Look, zorder: float) -> None:
    sizes = [cell.record.bytes or 0 for cell in curve.cells]
    rates = [median_rate(cell) for cell in curve.cells]
    axes.plot(sizes, rates, color=look.colour, linestyle=look.line, linewidth=0.9, zorder=zorder)


def _legend(
    figure: Figure, panels: Sequence[Panel], curves: Sequence[Curve], *, named: bool
) -> None:
    """The curves, where panels do not name them, then the marks that the figure has."""
    looks = {curve.name: curve.look for curve in curves} if named else {}
    handles = [
        Line2D([], [], color=look.colour, linestyle=look.line, label=name)  # type: ignore[arg-type]
        for name, look in looks.items()
    ]
    if not named:
        handles.append(Line2D([], [], color=QUIET, linewidth=0.9, label="median"))
    if any(curve.published for curve in curves):
        handles.append(Line2D([], [], markeredgecolor=QUIET, label="published", **_DIAMOND))
    if any(cell.beyond_wire for curve in curves for cell in curve.cells):
        handles.append(Line2D([], [], markeredgecolor=QUIET, label=BEYOND_WIRE, **BEYOND))
    collapsed = [cell for panel in panels for one in panel.collapses for cell in one.cells]
    if collapsed:
        # Where samples stall, a collapse is judged by their mean, which no line passes.
        apart = any(judged_rate(cell) != median_rate(cell) for cell in collapsed)
        name = "collapse, at the mean" if apart else "collapse"
        handles.append(Line2D([], [], markersize=5, label=name, **_RING))
    mark: dict[str, Any] = {"linestyle": "", "color": QUIET}
    handles.append(Line2D([], [], marker=".", markersize=4, label="sample", **mark))
    if any(len(cell.left_out) for curve in curves for cell in curve.cells):
        handles.append(Line2D([], [], marker="x", markersize=3, label="late sample", **mark))
    most = 3 if figure.get_figwidth() <= COLUMN_WIDTH else 7
    rows = -(-len(handles) // most)
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=-(-len(handles) // rows),
        handletextpad=0.4,
        columnspacing=1.2,
    )


_TOGETHER = 3


def run_rate_figures(run: Run) -> Iterator[tuple[str, Figure]]:
    """A named figure for every condition, with every sample.

    Up to three schedules share a panel. More have a panel each, the medians of the others faintly
    behind. The broken line is where the ports of the hosts are full; crosses are
    late samples that do not count; red rings are collapses; hollow triangles lie beyond the wire.
    """
    cells = [cell for cell in run.summaries if cell.sent and cell.median.value > 0]
    collapses = run.findings.collapses
    look = looks(cell.schedule for cell in cells)
    for condition in dict.fromkeys(cell.condition for cell in cells):
        members = [cell for cell in cells if cell.condition == condition]
        curves = [
            Curve(schedule, look[schedule], _by_size(members, schedule))
            for schedule in look
            if any(cell.schedule == schedule for cell in members)
        ]
        here = [collapse for collapse in collapses if collapse.condition == condition]
        panels = _panels(curves, here, members[0].limit)
        crowded = " (ranks share processors)" if _crowded(run, condition) else ""
        yield (
            f"rates-{_name(condition)}",
            rate_figure(
                panels,
                rate_finding(condition_words(condition) + crowded, members, here),
                legend=len(curves) <= _TOGETHER,
                sizes="bytes of a message"
                if run.record.probe == "pingpong"
                else "bytes to each other rank",
            ),
        )


def _by_size(cells: Sequence[CellSummary], schedule: str) -> tuple[CellSummary, ...]:
    members = (cell for cell in cells if cell.schedule == schedule)
    return tuple(sorted(members, key=lambda cell: cell.record.bytes or 0))


def _panels(
    curves: Sequence[Curve], collapses: Sequence[Collapse], limit: float | None
) -> list[list[Panel | None]]:
    """Few curves in one panel, many in a panel each."""
    if len(curves) <= _TOGETHER:
        return [[Panel("", tuple(curves), tuple(collapses), limit)]]
    columns = columns_for(len(curves))
    panels: list[Panel | None] = [
        Panel(
            curve.name,
            (curve,),
            tuple(collapse for collapse in collapses if collapse.worst.schedule == curve.name),
            limit,
            behind=tuple(other for other in curves if other is not curve),
            colour=curve.look.colour,
        )
        for curve in curves
    ]
    panels += [None] * (-len(panels) % columns)
    return [panels[start : start + columns] for start in range(0, len(panels), columns)]


def _crowded(run: Run, condition: Condition) -> bool:
    """Whether several ranks of a host shared its processors, so that turns are what was timed."""
    return condition.ranks > condition.hosts and any(
        launch.measured is not None and launch.measured.oversubscribed
        for launch in run.record.launches
        if launch.ranks == condition.ranks
    )


def _name(condition: Condition) -> str:
    labels = "-".join(f"{value}" for _, value in condition.by_name)
    return f"{condition.ranks}-ranks-{condition.hosts}-hosts" + (f"-{labels}" if labels else "")
