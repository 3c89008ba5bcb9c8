"""Figures of runs: which fit, ping-pongs, and several runs against the first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from contend.errors import UsageError
from contend.measurement import pair_bandwidths, victim_operations
from contend.report.pairwise.hotspot_figures import hotspot_figure
from contend.report.pairwise.pair_figures import pair_figure
from contend.report.run.findings import PICTURES_OF_PROBES, pingpong_finding
from contend.report.run.rates import run_rate_figures
from contend.report.run.tables import in_order
from contend.report.run.times import distribution_figure, sort_figure
from contend.report.style import (
    BEYOND,
    COLUMN_WIDTH,
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
    time_axis,
    title,
)
from contend.report.words import BEYOND_WIRE
from contend.runs import ROUND_TRIPS, CellSummary, ComparedRun, Pair, Run, compared
from contend.units import counted, rounded

Named = tuple[str, Figure]


def run_figures(picture: str, runs: Sequence[Run], size: int | None = None) -> Iterator[Named]:
    """The figures of one of the pictures that `fitting_pictures` names.

    Args:
        picture: its name.
        runs: at least one.
        size: of the cells whose times are drawn; see `distribution_figure`.
    """
    if picture == "comparison":
        yield picture, comparison_figure(runs)
    elif picture == "rates":
        yield from _rates(runs)
    elif picture == "times":
        sampled = [run for run in runs if run.summaries]
        yield from _each(sampled, picture, lambda run: distribution_figure(run, size))
    else:
        fitting = [run for run in runs if _fits(run, picture)]
        yield from _each(fitting, picture, _DRAWN[picture])


def _fits(run: Run, picture: str) -> bool:
    return PICTURES_OF_PROBES.get(run.record.probe) == picture and not run.samples.is_empty()


def _each(runs: Sequence[Run], name: str, draw: Callable[[Run], Figure]) -> Iterator[Named]:
    for run in runs:
        yield (name if len(runs) == 1 else f"{run.name}-{name}"), draw(run)


def _pairs(run: Run) -> Figure:
    return pair_figure({run.record.library.title: pair_bandwidths(run)}, run.record.wire_Bps)


def _hotspot(run: Run) -> Figure:
    return hotspot_figure(victim_operations(run), run.record.placement or "the network")


def _rates(runs: Sequence[Run]) -> Iterator[Named]:
    for run in runs:
        for name, figure in run_rate_figures(run):
            yield (name if len(runs) == 1 else f"{run.name}-{name}"), figure


_PINGPONG_SPREAD = 0.16


def pingpong_figure(run: Run) -> Figure:
    """Left the time one way of a ping-pong, right the rate of all ways of sending.

    Raises:
        UsageError: no message of a ping-pong was measured.
    """
    cells = [cell for cell in run.summaries if cell.record.bytes and cell.median.value > 0]
    if not cells:
        raise UsageError(f"{run.folder}: the run has no messages between pairs")
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
        if any(cell.beyond_wire for cell in cells):
            rate.plot([], [], markeredgecolor=QUIET, label=BEYOND_WIRE, **BEYOND)
        if run.record.wire_Bps:
            mark_wire(rate, run.record.wire_Bps)
        for axes, words in ((latency, "time one way"), (rate, "rate, one direction")):
            size_axis(axes, sizes)
            axes.set_ylabel(words)
            axes.set_xlabel("bytes of a message")
        figure.legend(
            *rate.get_legend_handles_labels(),
            loc="outside lower center",
            ncols=4,
        )
        title(figure, pingpong_finding(cells))
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
        for values, left_out in ((cell.results, False), (cell.left_out, True)):
            if len(values):
                y = size / values if rates else values
                x = size * 2 ** (_PINGPONG_SPREAD * spread(len(values)))
                points(axes, x, y, look.colour, left_out=left_out, many=many)
    sizes = [cell.record.bytes or 1 for cell in cells]
    medians = [cell.median.value for cell in cells]
    line = [size / m for size, m in zip(sizes, medians, strict=True)] if rates else medians
    axes.plot(
        sizes, line, color=look.colour, linestyle=look.line, linewidth=0.9, zorder=1.5, label=name
    )
    fast = [n for n, cell in enumerate(cells) if cell.beyond_wire]
    at = [sizes[n] for n in fast], [line[n] for n in fast]
    axes.plot(*at, markeredgecolor=look.colour, zorder=3, **BEYOND)


_COMPARISON_SPREAD = 0.2
_PANEL_HEIGHT = 1.45
# Ratios of less than this, either way, are drawn on a linear axis.
_NARROW = 2.0


def comparison_figure(runs: Sequence[Run]) -> Figure:
    """Time of every sample over the first run's median, a panel for each schedule.

    Dots with bars are ratios of medians with their 95 % intervals.

    Raises:
        UsageError: no run has a cell in common with the first.
    """
    others = compared(runs)
    if not others:
        raise UsageError("the runs have no cell in common with the first")
    base, names = others[0].base, [other.other for other in others]
    look = looks(names)
    panels = _panels(others)
    columns = columns_for(len(panels))
    rows = -(-len(panels) // columns)
    many = sum(pair.other.n for other in others for pair in other.cells) > MOST_VECTOR_POINTS
    with styled():
        figure = new_figure(
            height=1.1 + _PANEL_HEIGHT * rows,
            width=COLUMN_WIDTH if columns == 1 else 0.62 * COLUMN_WIDTH * columns,
        )
        grid = figure.subplots(rows, columns, sharex=True, squeeze=False)
        for axes in list(grid.flat)[len(panels) :]:
            axes.set_axis_off()
        sizes = [p.base.record.bytes or 1 for other in others for p in other.cells]
        for axes, panel in zip(grid.flat, panels, strict=False):
            axes.set_title(panel, loc="left", fontsize=7.5)
            for number, other in enumerate(others):
                mine = [pair for pair in other.cells if _panel(pair) == panel]
                shift = number - (len(others) - 1) / 2
                _draw(axes, mine, look[other.other].colour, shift, many)
            _finish(axes, sizes)
        label_bottoms(grid)
        # Not one label of the figure, which a legend would hide.
        for column in grid.T:
            [axes for axes in column if axes.axison][-1].set_xlabel("bytes", fontsize=7.5)
        figure.supylabel(f"time relative to {base}", fontsize=7.5)
        if len(others) > 1:
            _legend(figure, {name: look[name].colour for name in names})
        title(figure, _comparison_finding(base, others))
    return figure


def _panel(pair: Pair) -> str:
    return f"{pair.base.schedule}, {counted(pair.base.record.ranks, 'rank')}"


def _panels(others: Sequence[ComparedRun]) -> list[str]:
    pairs = sorted((pair for other in others for pair in other.cells), key=in_order)
    return list(dict.fromkeys(map(_panel, pairs)))


def _draw(axes: Axes, pairs: Sequence[Pair], colour: str, shift: float, many: bool) -> None:
    for pair in pairs:
        centre = (pair.base.record.bytes or 1) * 2 ** (0.3 * shift)
        used = pair.other.results
        x = centre * 2 ** (_COMPARISON_SPREAD * spread(len(used)))
        points(axes, x, used / pair.base.median.value, colour, many=many)
        low = pair.ratio.value if pair.ratio.low is None else pair.ratio.low
        high = pair.ratio.value if pair.ratio.high is None else pair.ratio.high
        axes.errorbar(
            [centre],
            [pair.ratio.value],
            yerr=[[pair.ratio.value - low], [high - pair.ratio.value]],
            fmt="o",
            markersize=2.5,
            color=colour,
            markeredgecolor="black",
            ecolor="black",
            markeredgewidth=0.4,
            elinewidth=0.8,
            capsize=1.5,
            zorder=4,
        )


def _finish(axes: Axes, sizes: Sequence[int]) -> None:
    low, high = axes.get_ylim()
    if not 1 / _NARROW < low < high < _NARROW:
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter(NullFormatter())
        if max(high, 1.0) < 100 * max(low, 1e-3):
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: rounded(value, 6)))
    axes.axhline(1, color=QUIET, linewidth=0.8, linestyle=(0, (3, 2)), zorder=0.5)
    size_axis(axes, sizes)


def _legend(figure: Figure, colours: dict[str, str]) -> None:
    handles = [
        Line2D([], [], color=colour, linestyle="", marker="o", markersize=3, label=name)
        for name, colour in colours.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)


def _comparison_finding(base: str, others: Sequence[ComparedRun]) -> str:
    pairs = [pair for other in others for pair in other.cells]
    slower = sum(bool(pair.differs) and pair.ratio.value > 1 for pair in pairs)
    faster = sum(bool(pair.differs) and pair.ratio.value < 1 for pair in pairs)
    are = f"{others[0].other} is" if len(others) == 1 else "the others are"
    return (
        f"{are} slower than {base} in {slower} and faster in {faster} of "
        f"{counted(len(pairs), 'cell')}"
    )


_DRAWN: dict[str, Callable[[Run], Figure]] = {
    "pairs": _pairs,
    "hotspot": _hotspot,
    "pingpong": pingpong_figure,
    "steps": sort_figure,
}
"""Who draws the picture that shows what a probe is for."""
