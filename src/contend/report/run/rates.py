"""Rate of a rank against message size, as in Kutzner's plots of 2005: of runs and of studies."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from contend.lab.runs import CellSummary, Collapse, Condition, Run
from contend.report.charts import Curves, charted
from contend.report.run.findings import collapse_words, judged_rate
from contend.report.series import Axis, Scatter, Series, Unit, near, wire_line
from contend.report.style import (
    BEYOND,
    COLUMN_WIDTH,
    DIAMOND,
    FAINT,
    HOLLOW,
    QUIET,
    Look,
    columns_for,
    looks,
)
from contend.report.words import BEYOND_WIRE, condition_words, rate_words, size_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPREAD = 0.2
"""The part of the step between sizes over which samples are spread, either way."""
_RATES = Axis(unit=Unit.RATE)
_RING = {**HOLLOW, "marker": "o", "markeredgecolor": "#C00000", "markeredgewidth": 0.9}


def cell_samples(
    cell: CellSummary,
    colour: str,
    place: float,
    reach: float = SPREAD,
    told: Callable[[NDArray[Any]], NDArray[Any]] = lambda seconds: seconds,
) -> Iterator[Scatter]:
    """Every sample of a cell near its place, and those that do not count.

    Args:
        cell: of a run.
        colour: of its schedule.
        place: on an axis that doubles.
        reach: how far from it samples are at most, in doublings.
        told: what is drawn of their seconds.
    """
    for values, left_out in ((cell.results, False), (cell.left_out, True)):
        if len(values):
            x = near(place, len(values), reach, times=True)
            yield Scatter(x, told(values), colour, left_out=left_out)


def rate(cell: CellSummary, seconds: Any) -> Any:
    """Bytes per second that a rank sends in an operation."""
    return (cell.sent or 0) / seconds


@dataclass(frozen=True)
class Curve:
    """The rates, or what else, of one schedule over message sizes."""

    name: str
    """What it is called in a legend."""
    look: Look
    """How it is drawn."""
    cells: Sequence[CellSummary]
    """Cells by size, ascending."""
    published: tuple[tuple[int, float], ...] = ()
    """Sizes with rates that others published, in bytes per second."""
    told: Callable[[CellSummary, Any], Any] = rate
    """What is drawn of a cell that took so many seconds."""

    def _middle(self, cell: CellSummary) -> float:
        return float(self.told(cell, cell.median.value))

    def median(self, look: Look, **more: Any) -> Series:
        """The line through its medians."""
        sizes = [cell.record.bytes or 0 for cell in self.cells]
        rates = [self._middle(cell) for cell in self.cells]
        line: dict[str, Any] = {"colour": look.colour, "line": look.line, "width": 0.9, **more}
        return Series(sizes, rates, **line)

    def series(self, *, named: bool) -> Iterator[Series]:
        """Its line, what lies beyond the wire, and what others published."""
        yield self.median(self.look, name=self.name if named else "", above=1.5)
        marked = [(c.record.bytes or 0, self._middle(c)) for c in self.cells if c.beyond_wire]
        for places, mark, above in ((marked, BEYOND, 3), (self.published, DIAMOND, 4)):
            for size, rate in places:
                yield Series([size], [rate], colour=self.look.colour, mark=mark, above=above)

    def samples(self) -> Iterator[Scatter]:
        """All of its samples; those of neighbouring sizes stay apart."""
        sizes = [cell.record.bytes or 1 for cell in self.cells]
        steps = [math.log2(after / before) for before, after in pairwise(sizes)]
        reach = SPREAD * min(2.0, *steps) if len(steps) > 1 else SPREAD
        for cell, size in zip(self.cells, sizes, strict=True):
            yield from cell_samples(cell, self.look.colour, size, reach, partial(self.told, cell))


@dataclass(frozen=True)
class Panel:
    """What one panel shows."""

    name: str
    """Name above it."""
    curves: tuple[Curve, ...]
    """Curves that have every sample."""
    collapses: tuple[Collapse, ...] = ()
    """Collapses of the schedules of its curves."""
    limit: float | None = None
    """Bytes per second of a rank at which the hosts' ports are full; None where unknown."""
    behind: tuple[Curve, ...] = ()
    """Curves whose medians are drawn faintly, to compare with."""
    colour: str = "black"
    """Colour of its name."""

    @property
    def collapsed(self) -> list[CellSummary]:
        """Cells of its collapses."""
        return [cell for collapse in self.collapses for cell in collapse.cells]

    def chart(self, x: Axis, y: Axis = _RATES, *, named: bool = False, told: bool = True) -> Curves:
        """All of it; `named` in a legend, the limit `told` beside its line."""
        series = [curve.median(Look(FAINT, "-"), above=1) for curve in self.behind]
        for curve in self.curves:
            series += curve.series(named=named)
        ring = {**_RING, "markersize": 7}
        for cell in self.collapsed:
            size = cell.record.bytes or 0
            series.append(Series([size], [judged_rate(cell)], mark=ring, above=4))
        limits = [] if self.limit is None else [wire_line(self.limit, told=told)]
        return Curves(
            x=x,
            y=y,
            heading=self.name,
            heading_colour=self.colour,
            series=series,
            samples=[each for curve in self.curves for each in curve.samples()],
            bounds=limits,
        )


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
    all_sizes = [cell.record.bytes or 1 for curve in curves for cell in curve.cells]
    x = Axis(sizes, Unit.SIZE, ticks=all_sizes)
    named: set[float | None] = set()
    charts: list[list[Curves | None]] = []
    for row in panels:
        charts.append([])
        for panel in row:
            if panel is None:
                charts[-1].append(None)
                continue
            charts[-1].append(panel.chart(x, named=legend, told=panel.limit not in named))
            named.add(panel.limit)
    rows, columns = len(panels), len(panels[0])
    # Larger ones where a legend tells many curves apart.
    high, wide = (1.75, 0.92) if legend else (1.45, 0.62)
    width = COLUMN_WIDTH * (1 if columns == 1 else wide * columns)
    keys = list(_keys(drawn, curves, named=legend))
    entries = len(keys) + (len({curve.name for curve in curves}) if legend else 0)
    return charted(
        finding,
        *charts,
        height=2.9 if rows == columns == 1 else 0.9 + high * rows,
        width=width,
        legend=_even(entries, 3 if width <= COLUMN_WIDTH else 7),
        keys=keys,
        label="rate per rank",
        sharex=True,
        sharey=True,
    )


def _even(entries: int, most: int) -> int:
    """Columns of a legend, at most so many, whose rows are as long as each other."""
    return -(-entries // -(-entries // most))


def _keys(panels: Sequence[Panel], curves: Sequence[Curve], *, named: bool) -> Iterator[Series]:
    """The marks that a figure of rates has."""
    if not named:
        yield Series([], name="median", colour=QUIET, line="-", width=0.9)
    if any(curve.published for curve in curves):
        yield Series([], name="published", colour=QUIET, mark=DIAMOND)
    cells = [cell for curve in curves for cell in curve.cells]
    if any(cell.beyond_wire for cell in cells):
        yield Series([], name=BEYOND_WIRE, colour=QUIET, mark=BEYOND)
    collapsed = [cell for panel in panels for cell in panel.collapsed]
    if collapsed:
        # Where samples stall, a collapse is judged by their mean, which no line passes.
        apart = any(judged_rate(cell) != median_rate(cell) for cell in collapsed)
        name = "collapse, at the mean" if apart else "collapse"
        yield Series([], name=name, mark={**_RING, "markersize": 5})
    yield from sample_keys(cells)


def sample_keys(cells: Iterable[CellSummary]) -> Iterator[Series]:
    """What points are, and crosses where there are any."""
    yield Series([], name="sample", colour=QUIET, mark={"marker": ".", "markersize": 4})
    if any(len(cell.left_out) for cell in cells):
        yield Series([], name="late sample", colour=QUIET, mark={"marker": "x", "markersize": 3})


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
    return float(rate(cell, cell.median.value))


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
        panels = _schedule_panels(curves, here, members[0].limit)
        crowded = " (ranks share processors)" if _crowded(run, condition) else ""
        yield (
            f"rates-{_condition_name(condition)}",
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


def _schedule_panels(
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


def _condition_name(condition: Condition) -> str:
    labels = "-".join(f"{value}" for _, value in condition.by_name)
    return f"{condition.ranks}-ranks-{condition.hosts}-hosts" + (f"-{labels}" if labels else "")
