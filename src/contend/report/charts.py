"""Six kinds of charts in the house's style: each takes plain data and draws it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from contend.report.series import MOST_VECTOR_POINTS, Axis, BoundLine, Scatter, Series, Words, near
from contend.report.style import (
    COLOURS,
    COLUMN_WIDTH,
    FAINT,
    QUIET,
    Dashes,
    in_width,
    label_bottoms,
    new_figure,
    styled,
    title,
    write_beside,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Half of the height of a row of samples.
_HALF_ROW = 0.32


# Where a legend stands that has its place above what is drawn.
_ABOVE = {"above left": ("lower left", 0), "above right": ("lower right", 1)}


@dataclass(frozen=True, kw_only=True, eq=False)
class Chart:
    """What all kinds have."""

    x: Axis = field(default_factory=Axis)
    """Its lower axis."""
    y: Axis = field(default_factory=Axis)
    """Its left one."""
    top: Axis | None = None
    """Its upper one, in the places of the lower one; None without."""
    heading: str = ""
    """Words above it."""
    heading_colour: str = "black"
    """Colour of the heading."""
    series: Sequence[Series] = ()
    """Points and lines."""
    samples: Sequence[Scatter] = ()
    """Single measurements."""
    bounds: Sequence[BoundLine] = ()
    """Broken lines."""
    words: Sequence[Words] = ()
    """Small letters within it."""
    legend: str = ""
    """Where its own legend stands: as matplotlib's, ``above left`` or ``above right``."""
    columns: int = 1
    """Columns of that legend."""

    def onto(self, axes: Axes, many: bool = False) -> None:
        """Draws the chart; its many samples as a picture."""
        for samples in self.samples:
            samples.onto(axes, many)
        self.draw(axes)
        self.x.onto(axes, "x")
        self.y.onto(axes, "y")
        if self.top is not None:
            self.top.onto(axes.secondary_xaxis("top"), "x")
        for words in self.words:
            write_beside(axes, words.text, words.at, words.offset, **words.look)
        if self.heading and self.legend not in _ABOVE:
            axes.set_title(self.heading, loc="left", fontsize=7.5, color=self.heading_colour)

    def finish(self, axes: Axes) -> None:
        """Draws lines across it and its legend, once all charts beside it are drawn."""
        for line in self.bounds:
            line.onto(axes)
        if self.legend:
            look: dict[str, Any] = {"loc": self.legend, "ncols": self.columns, "handlelength": 1.4}
            if self.legend in _ABOVE:
                corner, right = _ABOVE[self.legend]
                look |= {"loc": corner, "bbox_to_anchor": (right, 0.98), "borderpad": 0}
                look |= {"handlelength": 1.2, "handletextpad": 0.6, "columnspacing": 1.0}
                look |= {"title": self.heading or None, "title_fontsize": 7.5, "alignment": "left"}
            axes.legend(**look)

    def draw(self, axes: Axes) -> None:
        """Draws what the kind has of its own."""
        raise NotImplementedError


class Curves(Chart):
    """Values over others: lines with intervals or bands, points, every sample beside them."""

    def draw(self, axes: Axes) -> None:
        """Draws the series."""
        for series in self.series:
            series.onto(axes)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Rows(Chart):
    """A chart in rows."""

    names: Sequence[str] = ()
    """Names of the rows, from the top."""
    ends: Sequence[str] = ()
    """A text at the end of every row."""
    least: int = 0
    """Number of rows that have room at least."""

    def _name(self, axes: Axes) -> None:
        axes.set_yticks(range(len(self.names)), self.names)
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(max(len(self.names), self.least) - 0.4, -0.6)
        for row, text in enumerate(self.ends):
            at = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": 7}
            axes.text(1.03, row, text, **at)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True, eq=False)
class Intervals(_Rows):
    """Values with their intervals in rows."""

    stems: bool = False
    """Whether the first two series are joined in every row."""
    lengths: Sequence[float] = ()
    """Lengths of thin bars from zero."""

    def draw(self, axes: Axes) -> None:
        """Draws rows of bars, stems, and the series above them."""
        if self.lengths:
            axes.barh(range(len(self.lengths)), self.lengths, height=0.12, color=FAINT, zorder=1)
        if self.stems:
            first, second = (np.asarray(series.x, float) for series in self.series[:2])
            axes.hlines(range(len(first)), first, second, color=FAINT, linewidth=3, zorder=1)
        for series in self.series:
            rows = range(np.size(series.x)) if np.size(series.y) == 0 else series.y
            replace(series, y=rows).onto(axes, "x")
        self._name(axes)
        axes.spines["left"].set_visible(False)


@dataclass(frozen=True, kw_only=True, eq=False)
class SampleRow:
    """All measurements of one row of a strip."""

    used: ArrayLike
    """Measurements that count."""
    left_out: ArrayLike = ()
    """Measurements that do not count."""
    colour: str = COLOURS[0]
    """Colour of the row."""
    median: float | None = None
    """Median of those that count; None for none."""
    interval: tuple[float, float] | None = None
    """Interval of the median; None where it has none."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Strip(_Rows):
    """Every measurement in rows, with their medians."""

    rows: Sequence[SampleRow] = ()
    """Rows, one after the other."""
    explained: bool = False
    """Whether words above say what bars and crosses are."""

    def onto(self, axes: Axes, many: bool = False) -> None:
        """Draws the chart; its many samples as a picture."""
        many = many or sum(np.size(row.used) for row in self.rows) > MOST_VECTOR_POINTS
        for place, row in enumerate(self.rows):
            for values, left_out in ((row.used, False), (row.left_out, True)):
                if count := np.size(values):
                    y = near(place, count, _HALF_ROW)
                    Scatter(values, y, row.colour, left_out=left_out).onto(axes, many)
            high = place + np.array([-1.25, 1.25]) * _HALF_ROW
            if row.median is not None:
                look: dict[str, Any] = {"solid_capstyle": "butt", "zorder": 1.5, "linewidth": 0.9}
                axes.plot([row.median] * 2, high, color="black", **look)
            if row.interval is not None:
                look = {"solid_capstyle": "butt", "zorder": 1, "linewidth": 3}
                axes.plot(row.interval, [place] * 2, color=FAINT, **look)
        super().onto(axes, many)

    def draw(self, axes: Axes) -> None:
        """Names the rows, and says what their marks are."""
        self._name(axes)
        axes.spines["left"].set_visible(False)
        if self.explained:
            late = any(np.size(row.left_out) for row in self.rows)
            text = "bar: median and its interval" + "; crosses: late" * late
            where: dict[str, Any] = {"transform": axes.transAxes, "ha": "right", "va": "bottom"}
            axes.text(1, 1.01, text, fontsize=6, color=QUIET, **where)


@dataclass(frozen=True, eq=False)
class Stack:
    """A part of every bar."""

    lengths: ArrayLike
    """Lengths of the part, by bar."""
    name: str = ""
    """Name in a legend; "" for none."""
    colour: Any = COLOURS[0]
    """Colour of all, or of each."""
    words: Sequence[str] = ()
    """Words within each; "" for none."""
    words_colour: str = "black"
    """Colour of these words."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Bars(_Rows):
    """Bars in rows, or upright: of parts upon each other, or beside each other."""

    stacks: Sequence[Stack] = ()
    """Parts of the bars."""
    upright: bool = False
    """Whether bars stand."""
    beside: bool = False
    """Whether parts are beside each other."""
    places: Sequence[float] = ()
    """Places of bars, where they are not one after the other."""
    width: float = 0.62
    """Width of bars, where one after the other are 1 apart."""

    def draw(self, axes: Axes) -> None:
        """Draws bars, part by part, the words within them, then series above them."""
        count = max((np.size(stack.lengths) for stack in self.stacks), default=0)
        places, begin = np.asarray(self.places or range(count), float), np.zeros(count)
        width = self.width / len(self.stacks) if self.beside else self.width
        for number, stack in enumerate(self.stacks):
            lengths = np.asarray(stack.lengths, float)
            shift = (number - (len(self.stacks) - 1) / 2) * width * 1.1 if self.beside else 0.0
            look: dict[str, Any] = {"color": stack.colour, "label": stack.name or None}
            if self.upright:
                axes.bar(places + shift, lengths, width, bottom=begin, **look)
            else:
                axes.barh(places + shift, lengths, width, left=begin, **look)
            for place, start, length, text in zip(
                places, begin, lengths, stack.words or [""] * count, strict=True
            ):
                if text and self.upright:
                    write_beside(
                        axes, text, (place, length), (0, 1), ha="center", va="bottom", fontsize=6
                    )
                elif text:
                    at, colour = (start + length / 2, place), stack.words_colour
                    write_beside(axes, text, at, (0, 0), ha="center", color=colour)
            begin = begin if self.beside else begin + lengths
        for series in self.series:
            series.onto(axes, "y" if self.upright else "x")
        if not self.upright:
            self._name(axes)


@dataclass(frozen=True, eq=False)
class Outline:
    """One histogram."""

    heights: NDArray[np.float64]
    """Heights of its bins."""
    colour: str
    """Its colour."""
    name: str = ""
    """Name in a legend; "" for none."""
    line: Dashes = "-"
    """Line around it; "" for none."""
    fill: float = 0.18
    """How much of its colour is within it, from 0 to 1."""
    base: NDArray[np.float64] | None = None
    """Heights on which its bins stand; None: on zero."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Histogram(Chart):
    """Outlines over the same bins, or upon each other."""

    edges: NDArray[np.float64] = field(default_factory=lambda: np.zeros(1))
    """Edges of the bins."""
    outlines: Sequence[Outline] = ()
    """Histograms."""

    def draw(self, axes: Axes) -> None:
        """Draws every outline, then the series above them."""
        for outline in self.outlines:
            base = 0.0 if outline.base is None else outline.base
            at: dict[str, Any] = {"edges": self.edges, "baseline": base, "color": outline.colour}
            heights = outline.heights + base
            if outline.fill:
                axes.stairs(heights, fill=True, alpha=outline.fill, linewidth=0, **at)
            if outline.line:
                axes.stairs(heights, linestyle=outline.line, **at)
            if outline.name:
                axes.plot([], [], color=outline.colour, linewidth=3, label=outline.name)
        for series in self.series:
            series.onto(axes)


def fractions(values: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fraction of the values in every bin; what lies beyond the ends counts in the outer bins."""
    # A value such as 0.57 must not fall below its edge by a rounding error of the last bit.
    inside = np.clip(values * (1 + 1e-12), edges[0], edges[-1])
    return np.histogram(inside, edges)[0] / len(values)


@dataclass(frozen=True, kw_only=True, eq=False)
class Matrix(Chart):
    """Values by row and column, by colour on a logarithmic scale; zeros are left white."""

    values: NDArray[np.float64] = field(default_factory=lambda: np.zeros((1, 1)))
    """Values, shape [n, n]."""
    size: int = 1
    """Number of rows and columns that they stand for."""
    told: Callable[[float], str] = str
    """How a value reads."""
    base: int = 10
    """Base of the powers that are round numbers as they read."""
    scale: str = ""
    """What a value is, in words."""

    def draw(self, axes: Axes) -> None:
        """Draws the matrix and its scale."""
        from matplotlib.colors import LogNorm
        from matplotlib.ticker import LogLocator, MaxNLocator

        some = self.values > 0
        low, high = self.values[some].min(), self.values.max()
        shown = axes.imshow(
            np.where(some, self.values, np.nan),
            norm=LogNorm(low, max(high, 2 * low)),
            cmap="viridis_r",
            extent=(-0.5, self.size - 0.5, self.size - 0.5, -0.5),
            interpolation="nearest",
        )
        axes.set_facecolor("white")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(6, integer=True))
        assert axes.figure is not None
        bar = axes.figure.colorbar(shown, ax=axes, shrink=0.8, pad=0.03)
        bar.ax.yaxis.set_major_formatter(lambda value, _: self.told(value))
        # Units have round numbers at their own powers; a scale without has its ends labelled.
        powers = LogLocator(base=self.base).tick_values(low, high)
        round_numbers = [tick for tick in powers if low <= tick <= high]
        bar.set_ticks(round_numbers if len(round_numbers) > 1 else list(shown.get_clim()))
        bar.minorticks_off()
        bar.outline.set_visible(False)
        if self.scale:
            bar.set_label(self.scale)


@dataclass(frozen=True, kw_only=True, eq=False)
class Nothing(Chart):
    """A place without a chart."""

    why: str
    """Why there is none."""

    def draw(self, axes: Axes) -> None:
        """Says why."""
        axes.text(0.5, 0.5, self.why, ha="center", va="center", color=QUIET)
        axes.set_axis_off()


def charted(
    finding: str,
    *charts: Chart | Sequence[Chart | None],
    height: float,
    width: float = COLUMN_WIDTH,
    legend: int = 0,
    keys: Sequence[Series] = (),
    note: str = "",
    label: str = "",
    **grid: Any,
) -> Figure:
    """A figure of charts, titled by what it shows.

    Args:
        finding: the title.
        charts: one below the other; in rows where each is several, None leaves a place empty.
        height: in inches.
        width: likewise.
        legend: columns of a legend below all, of what is named in any chart; 0: there is none.
        keys: what that legend has besides.
        note: in small letters below all.
        label: of all charts, at the left.
        grid: how charts stand, as matplotlib's `subplots` takes it.
    """
    from matplotlib.lines import Line2D

    rows = [[row] if isinstance(row, Chart) else list(row) for row in charts]
    placed = [chart for row in rows for chart in row]
    some = [chart for chart in placed if chart is not None]
    many = sum(np.size(each.x) for chart in some for each in chart.samples) > MOST_VECTOR_POINTS
    with styled():
        figure = new_figure(height, width)
        every = figure.subplots(len(rows), len(rows[0]), squeeze=False, **grid)
        for axes, chart in zip(every.flat, placed, strict=True):
            if chart is None:
                axes.set_axis_off()
            else:
                chart.onto(axes, many)
        # After all: room for the names of lines ends the scaling that charts share.
        for axes, chart in zip(every.flat, placed, strict=True):
            if chart is not None:
                chart.finish(axes)
        if grid.get("sharex"):
            label_bottoms(every)
            for (row, column), axes in np.ndenumerate(every):
                if any(below.axison for below in every[row + 1 :, column]):
                    axes.set_xlabel("")
        if label:
            figure.supylabel(label, fontsize=7.5)
        if note:
            look: dict[str, Any] = {"fontsize": 5.5, "linespacing": 1.35}
            figure.supxlabel(note, x=0.01, ha="left", **look)
        if legend:
            # matplotlib puts intervals last.
            order = [series.name for chart in some for series in chart.series]
            named: dict[str, Any] = {}
            for axes in every.flat:
                entries = zip(*axes.get_legend_handles_labels(), strict=True)
                for handle, name in sorted(
                    entries, key=lambda entry: order.index(entry[1]) if entry[1] in order else -1
                ):
                    named.setdefault(name, handle)
            for key in keys:
                named.setdefault(key.name, Line2D([], [], **{**key.look, "label": key.name}))
            look = {"handletextpad": 0.4, "columnspacing": 1.2, "ncols": legend}
            figure.legend(named.values(), named.keys(), loc="outside lower center", **look)
        title(figure, finding)
    return figure


def in_axes(axes: Axes | None, size: tuple[float, float], chart: Chart, finding: str) -> Axes:
    """Draws in somebody's own axes, and writes the finding above in lines as wide as they are.

    Args:
        axes: where; None makes a figure, which a notebook shows.
        size: width and height of that figure, in inches.
        chart: what to draw.
        finding: what it shows.
    """
    with styled():
        if axes is None:
            import matplotlib.pyplot as plt

            _, axes = plt.subplots(figsize=size, layout="constrained")
        chart.onto(axes)
        chart.finish(axes)
        box = axes.get_window_extent()
        # Axes of equal scales are square.
        pixels = box.width if axes.get_aspect() == "auto" else min(box.width, box.height)
        lines = in_width(finding, pixels / axes.get_figure(root=True).dpi)  # type: ignore[union-attr]
        axes.set_title(lines, loc="left", fontsize=8.5, fontweight="bold")
    return axes
