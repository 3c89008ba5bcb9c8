"""Several runs against the first: every sample's time over the first run's median."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from contend.errors import UsageError
from contend.report.run_comparison_tables import Compared, compared, in_order
from contend.report.sample_points import MOST_VECTOR_POINTS, points, spread
from contend.report.schedule_looks import looks
from contend.report.size_axis import columns_for, label_bottoms, size_axis
from contend.report.style import COLUMN_WIDTH, QUIET, new_figure, styled, title
from contend.runs import Pair, Run
from contend.units import counted

_SPREAD = 0.2
_PANEL_HEIGHT = 1.45
# Ratios of less than this, either way, are drawn on a linear axis.
_NARROW = 2.0


def comparison_figure(runs: Sequence[Run]) -> Figure:
    """Time of every sample over the first run's median, a panel for each schedule.

    Dots with bars are ratios of medians with their 95 % intervals.

    Raises:
        UsageError: no run has a cell in common with the first.
    """
    found = compared(runs)
    if not found:
        raise UsageError("the runs have no cell in common with the first")
    base, names = found[0].base, [one.name for one in found]
    look = looks(names)
    panels = _panels(found)
    columns = columns_for(len(panels))
    rows = -(-len(panels) // columns)
    many = sum(pair.other.n for one in found for pair in one.pairs) > MOST_VECTOR_POINTS
    with styled():
        figure = new_figure(
            height=1.1 + _PANEL_HEIGHT * rows,
            width=COLUMN_WIDTH if columns == 1 else 0.62 * COLUMN_WIDTH * columns,
        )
        grid = figure.subplots(rows, columns, sharex=True, squeeze=False)
        for axes in list(grid.flat)[len(panels) :]:
            axes.set_axis_off()
        sizes = [p.base.record.bytes or 1 for one in found for p in one.pairs]
        for axes, panel in zip(grid.flat, panels, strict=False):
            axes.set_title(panel, loc="left", fontsize=7.5)
            for number, one in enumerate(found):
                mine = [pair for pair in one.pairs if _panel(pair) == panel]
                shift = number - (len(found) - 1) / 2
                _draw(axes, mine, look[one.name].colour, shift, many)
            _finish(axes, sizes)
        label_bottoms(grid)
        figure.supxlabel("bytes", fontsize=7.5)
        figure.supylabel(f"time over that of {base}", fontsize=7.5)
        if len(found) > 1:
            _legend(figure, {name: look[name].colour for name in names})
        title(figure, _finding(base, found))
    return figure


def _panel(pair: Pair) -> str:
    return f"{pair.base.schedule}, {counted(pair.base.record.ranks, 'rank')}"


def _panels(found: Sequence[Compared]) -> list[str]:
    pairs = sorted((pair for one in found for pair in one.pairs), key=in_order)
    return list(dict.fromkeys(map(_panel, pairs)))


def _draw(axes: Axes, pairs: Sequence[Pair], colour: str, shift: float, many: bool) -> None:
    for pair in pairs:
        place = (pair.base.record.bytes or 1) * 2 ** (0.3 * shift)
        used = pair.other.used
        x = place * 2 ** (_SPREAD * spread(len(used)))
        points(axes, x, used / pair.base.median.value, colour, many=many)
        low = pair.factor.value if pair.factor.low is None else pair.factor.low
        high = pair.factor.value if pair.factor.high is None else pair.factor.high
        axes.errorbar(
            [place],
            [pair.factor.value],
            yerr=[[pair.factor.value - low], [high - pair.factor.value]],
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
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))
    axes.axhline(1, color=QUIET, linewidth=0.8, linestyle=(0, (3, 2)), zorder=0.5)
    size_axis(axes, sizes)


def _legend(figure: Figure, colours: dict[str, str]) -> None:
    handles = [
        Line2D([], [], color=colour, linestyle="", marker="o", markersize=3, label=name)
        for name, colour in colours.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False, fontsize=6.5)


def _finding(base: str, found: Sequence[Compared]) -> str:
    pairs = [pair for one in found for pair in one.pairs]
    slower = sum(bool(pair.differs) and pair.factor.value > 1 for pair in pairs)
    faster = sum(bool(pair.differs) and pair.factor.value < 1 for pair in pairs)
    are = f"{found[0].name} is" if len(found) == 1 else "the others are"
    return (
        f"{are} slower than {base} in {slower} and faster in {faster} of "
        f"{counted(len(pairs), 'cell')}"
    )
