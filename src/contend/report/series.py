"""What charts are made of: axes, points and lines with their intervals, samples, words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from contend.base.units import format_rate
from contend.report.style import (
    COLOURS,
    QUIET,
    Dashes,
    factor_axis,
    percent_axis,
    rate_axis,
    second_axis,
    size_axis,
    spread,
    time_axis,
    write_beside,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_VECTOR_POINTS = 4000
DASHED: Dashes = (0, (3, 2))


class Unit(Enum):
    """What an axis counts, which tells its scale and how its numbers read."""

    NUMBER = "linear"
    COUNT = "whole numbers"
    AMOUNT = "numbers with commas"
    SHARE = "of one, in per cent"
    TIME = "seconds from zero"
    SECONDS = "seconds, logarithmic"
    RATE = "bytes per second, logarithmic"
    SIZE = "bytes, which double"
    FACTOR = "times something, logarithmic where they are far apart"


@dataclass(frozen=True, eq=False)
class Axis:
    """What one axis of a chart shows."""

    label: str = ""
    """What is counted, and of what."""
    unit: Unit = Unit.NUMBER
    """Unit in which it is counted."""
    ends: tuple[float | None, float | None] | None = None
    """Where it begins and ends; None where the data do."""
    ticks: Iterable[float] | Mapping[float, str] = ()
    """Where it has numbers, or texts by place; empty: as the unit has them. Of sizes all that the
    chart has."""

    def onto(self, axes: Any, which: str) -> None:
        """Gives an axis of matplotlib, x or y, its scale, ends, ticks and label."""
        axis = axes.xaxis if which == "x" else axes.yaxis
        ticks = self.ticks if isinstance(self.ticks, Mapping) else dict.fromkeys(self.ticks, "")
        if self.unit is Unit.SIZE:
            size_axis(axes, [int(size) for size in ticks])
        elif ticks:
            texts = list(ticks.values())
            axis.set_ticks(list(ticks), texts if any(texts) else None)
        if self.ends is not None:
            (axes.set_xlim if which == "x" else axes.set_ylim)(*self.ends)
        match self.unit:
            case Unit.AMOUNT:
                axis.set_major_formatter("{x:,g}")
            case Unit.SHARE:
                percent_axis(axis)
            case Unit.TIME:
                second_axis(axis)
            case Unit.SECONDS:
                (axes.set_xscale if which == "x" else axes.set_yscale)("log")
                time_axis(axes, which)
            case Unit.RATE:
                rate_axis(axes)
            case Unit.COUNT:
                from matplotlib.ticker import MaxNLocator

                axis.set_major_locator(MaxNLocator(8, integer=True))
            case Unit.FACTOR:
                factor_axis(axes)
        if self.label:
            axis.set_label_text(self.label)


def port_axis(label: str, most: float = 1.0) -> Axis:
    """The axis of bandwidths: 0 to 100 % of the rate of a link or a port."""
    ticks = [0, 0.2, 0.4, 0.6, 0.8, 1]
    return Axis(label, Unit.SHARE, (0, max(1.0, most)), ticks)


@dataclass(frozen=True, eq=False)
class Series:
    """Points, the line that joins them and their intervals: what a legend names."""

    x: ArrayLike
    """Where its points are."""
    y: ArrayLike = ()
    """Their other places; of charts in rows the rows, by default all."""
    name: str = ""
    """Name in a legend; "" for none."""
    colour: Any = COLOURS[0]
    """Colour of all of it."""
    line: Dashes = ""
    """Line that joins them; "" for none."""
    mark: Mapping[str, Any] = field(default_factory=dict)
    """Mark of every point, as matplotlib's lines take it; see `contend.report.style`."""
    low: ArrayLike | None = None
    """Where intervals begin; None without."""
    high: ArrayLike | None = None
    """Where intervals end."""
    band: bool = False
    """Whether intervals are a band rather than bars."""
    drawstyle: str = "default"
    """How the line is drawn, such as ``steps-mid``."""
    width: float = 1.2
    """Width of the line, in points."""
    above: float = 2
    """Order of drawing: what has a higher number lies above."""

    @property
    def look(self) -> dict[str, Any]:
        """As matplotlib takes it."""
        return {
            "color": self.colour,
            "linestyle": self.line,
            "drawstyle": self.drawstyle,
            "linewidth": self.width,
            "zorder": self.above,
            "label": self.name or None,
            **self.mark,
        }

    def onto(self, axes: Axes, across: str = "y") -> None:
        """Draws it; intervals along one axis."""
        x, y, look = np.asarray(self.x), np.asarray(self.y), self.look
        # Of one point neither a line nor a band can be seen, and dashes are told by its being open.
        alone = x.size == 1 and not self.mark
        if alone:
            fill = "full" if self.line in ("-", "") else "none"
            look |= {"marker": "o", "markersize": 4, "fillstyle": fill}
        if self.low is None or self.high is None or (self.band and not alone):
            axes.plot(x, y, **look)
        if self.low is None or self.high is None:
            return
        low, high = np.asarray(self.low), np.asarray(self.high)
        if self.band and not alone:
            step = self.drawstyle.removeprefix("steps-") if self.drawstyle != "default" else None
            shade = {"color": self.colour, "alpha": 0.2, "linewidth": 0}
            axes.fill_between(x, low, high, step=step, **shade)  # type: ignore[arg-type]
            return
        middle = x if across == "x" else y
        reach: dict[str, Any] = {f"{across}err": [middle - low, high - middle]}
        axes.errorbar(x, y, **reach, elinewidth=1, capsize=2, **look)


@dataclass(frozen=True, eq=False)
class Scatter:
    """Single measurements, drawn faintly."""

    x: ArrayLike
    """Where they are, spread already."""
    y: ArrayLike
    """Their other places."""
    colour: Any
    """Colour of what they are of."""
    left_out: bool = False
    """Whether they do not count; they are crosses."""
    size: float = 1.9
    """Size of the points."""

    def onto(self, axes: Axes, many: bool) -> None:
        """Draws them; many as a picture, as a vector format should not hold them."""
        x = np.asarray(self.x)
        crowd = MOST_VECTOR_POINTS if many else len(x)
        axes.plot(
            x,
            np.asarray(self.y),
            linestyle="",
            marker="x" if self.left_out else "o",
            markersize=2.4 if self.left_out else self.size,
            markeredgewidth=0.5 if self.left_out else 0,
            color=self.colour,
            alpha=float(np.clip(6 / max(crowd, 1) ** 0.5, 0.15, 0.6)),
            rasterized=many,
            zorder=2,
        )


def near(place: float, count: int, part: float, *, times: bool = False) -> NDArray[np.float64]:
    """So many places near one, that equal samples do not hide each other.

    Args:
        place: in the middle.
        count: how many.
        part: how far they are from it at most; on a scale that doubles, in doublings.
        times: whether the scale doubles.
    """
    return place * 2 ** (part * spread(count)) if times else place + part * spread(count)


@dataclass(frozen=True, eq=False)
class BoundLine:
    """A broken line across a chart, at a value that is a limit, a mean or nothing."""

    at: float
    """Its value."""
    words: str = ""
    """What it is, at its end; "" for none."""
    across: str = "y"
    """Axis that has the value."""
    name: str = ""
    """Name in a legend; "" for none."""
    look: Mapping[str, Any] = field(default_factory=dict)
    """How it is drawn, as matplotlib's lines take it."""
    room: float = 0.0
    """Number of times the value that the axis has at least."""

    def onto(self, axes: Axes) -> None:
        """Draws it."""
        look = {"color": QUIET, "linewidth": 0.8, "linestyle": DASHED, "zorder": 0.5, **self.look}
        line = axes.axhline if self.across == "y" else axes.axvline
        line(self.at, label=self.name or None, **look)
        if self.room:
            axes.set_ylim(top=max(axes.get_ylim()[1], self.room * self.at))
        if self.words:
            where = {"xycoords": axes.get_yaxis_transform(), "ha": "right", "va": "baseline"}
            write_beside(axes, self.words, (0.98, self.at), (0, 2), color=QUIET, **where)


def wire_line(limit: float, *, told: bool = True) -> BoundLine:
    """What the wire carries, in bytes per second, with room for its name above the line."""
    # The axis is logarithmic.
    return BoundLine(limit, f"wire {format_rate(limit)}" if told else "", room=2.5)


@dataclass(frozen=True, eq=False)
class Words:
    """Small letters beside a place of a chart."""

    text: str
    """What they say."""
    at: tuple[float, float]
    """Place that they stand beside."""
    offset: tuple[float, float] = (3, 0)
    """Offset of the words from it, in points."""
    look: Mapping[str, Any] = field(default_factory=dict)
    """How they are written, as matplotlib's texts take it."""


def with_interval(name: str, margins: ArrayLike, of: str = "") -> str:
    """A name of values with margins: what their bars are, unless all outcomes were counted."""
    sure = not np.any(np.nan_to_num(np.asarray(margins, dtype=float)))
    return name if sure else f"{name}, 95 % interval{of}"
