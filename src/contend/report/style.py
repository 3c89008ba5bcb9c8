"""How every figure looks: its width and colours, its axes, points and lines, the wire.

Charts are data of which documents are made; matplotlib is loaded when one is drawn.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from contend.base.units import format_bytes, format_rate, format_seconds, rounded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette without its yellow, which is too light for lines and text on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
QUIET = "#767676"
FAINT = "#D9D9D9"

COLUMN_WIDTH = 3.5  # inches, a column of the usual two-column page
_TITLE_CHARACTERS = 48

_STYLE: dict[Any, Any] = {
    "axes.edgecolor": "#444444",
    "axes.labelsize": 7.5,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.family": "sans-serif",
    "font.size": 7.5,
    "legend.fontsize": 6.5,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "patch.linewidth": 0.8,
    # Names of switches may hold dollar signs.
    "text.parse_math": False,
    "xtick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.labelsize": 7,
    "ytick.major.width": 0.6,
}


@contextmanager
def styled() -> Iterator[None]:
    """Within it, figures and their artists get contend's look; the caller's settings come back."""
    import matplotlib as mpl

    with mpl.rc_context({**mpl.rcParamsDefault, "backend": mpl.rcParams["backend"], **_STYLE}):
        yield


def new_figure(height: float, width: float = COLUMN_WIDTH) -> Figure:
    """An empty figure, in inches; it belongs to nobody but the caller."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def title(figure: Figure, finding: str) -> None:
    """Writes the finding above the figure, wrapped to its width, aligned left."""
    lines = in_width(finding, figure.get_figwidth())
    figure.suptitle(lines, x=0.01, ha="left", fontsize=8.5, fontweight="bold")


def in_width(finding: str, inches: float) -> str:
    """A finding in lines that are not wider than that, in the size of titles."""
    return wrapped(finding, max(int(_TITLE_CHARACTERS * inches / COLUMN_WIDTH), 1))


def wrapped(finding: str, width: int = _TITLE_CHARACTERS) -> str:
    """A finding in lines of so many characters; a number and its per cent sign stay together."""
    lines = textwrap.fill(finding.replace(" %", "\u00a0%"), width, break_long_words=True)
    return lines.replace("\u00a0", " ")


def write_beside(
    axes: Axes, text: str, place: tuple[float, float], offset: tuple[float, float], **look: Any
) -> None:
    """Writes small letters so many points from a place, in the middle of its height."""
    look = {"textcoords": "offset points", "va": "center", "fontsize": 6.5, **look}
    axes.annotate(text, place, xytext=offset, **look)


def percent_axis(axis: Any) -> None:
    """Labels an axis of fractions in per cent, each with the digits that it has: 2.5 %."""
    axis.set_major_formatter(lambda value, _: f"{round(100 * value, 6):g} %")


# Factors of less than this, either way, stand on a linear axis.
_NARROW = 2.0


def second_axis(axis: Any) -> None:
    """Labels an axis of seconds from zero on."""
    axis.set_major_formatter(lambda value, _: format_seconds(value) if value else "0 s")


def factor_axis(axes: Axes) -> None:
    """The y axis of factors: logarithmic where they are far from 1."""
    from matplotlib.ticker import LogLocator

    low, high = axes.get_ylim()
    if not 1 / _NARROW < low < high < _NARROW:
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter("")
        if max(high, 1.0) < 100 * max(low, 1e-3):
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(lambda value, _: rounded(value, 6))


_MOST_TICKS = 5
# From here on at least two of 1, 2 and 5 are in the range.
_DECADES_OF_TICKS = 0.7
_GRID = "#EEEEEE"


def size_axis(axes: Axes, sizes: Sequence[int]) -> None:
    """The x axis of sizes in bytes, which double."""
    low, high = math.log2(min(sizes)), math.log2(max(sizes))
    room = max(0.5, 0.04 * (high - low))
    axes.set_xscale("log", base=2)
    axes.set_xlim(2 ** (low - room), 2 ** (high + room))
    step = max(1, math.ceil((high - low) / (_MOST_TICKS - 1)))
    ticks = [2**power for power in range(math.ceil(low), math.floor(high) + 1, step)]
    axes.set_xticks(ticks or [min(sizes)], [format_bytes(tick) for tick in ticks or [min(sizes)]])
    axes.set_xticks([], minor=True)


def columns_for(panels: int) -> int:
    """In how many columns panels stand; four make a square."""
    return 2 if panels == 4 else min(3, panels)


def label_bottoms(grid: NDArray[np.object_]) -> None:
    """Labels sizes below the last panel of every column of panels, wherever the column ends."""
    for (row, column), axes in np.ndenumerate(grid):
        below = row + 1 < grid.shape[0] and grid[row + 1, column].axison
        axes.tick_params(labelbottom=not below)


def rate_axis(axes: Axes) -> None:
    """The y axis of rates, in bytes per second."""
    from matplotlib.ticker import LogLocator

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(numticks=12))
    axes.yaxis.set_major_formatter(lambda value, _: format_rate(value))
    _quiet(axes, "y")
    axes.yaxis.set_minor_formatter(partial(_between_powers, axes))


def _between_powers(axes: Axes, value: float, _: int | None) -> str:
    """The label of 2 and 5 times a power of ten, where the axis has room and few powers."""
    low, high = axes.get_ylim()
    first = round(value / 10 ** math.floor(math.log10(value)))
    return format_rate(value) if first in (2, 5) and high < 50 * low else ""


def time_axis(axes: Axes, which: str) -> None:
    """An axis of seconds, labelled in units that people say."""
    from matplotlib.ticker import LogLocator, MaxNLocator

    axis = axes.xaxis if which == "x" else axes.yaxis
    axes.set_xscale("log") if which == "x" else axes.set_yscale("log")
    axis.set_major_formatter(lambda value, _: format_seconds(value))
    low, high = axes.get_xlim() if which == "x" else axes.get_ylim()
    decades = math.log10(high / low)
    if decades < _DECADES_OF_TICKS:
        axis.set_major_locator(MaxNLocator(_MOST_TICKS - 1))
    elif decades < 2:
        # Less than two powers of ten: 2 and 5 have ticks too.
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    elif decades > 5:
        axis.set_major_locator(LogLocator(base=100))
    _quiet(axes, which)


def _quiet(axes: Axes, which: str) -> None:
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_minor_formatter("")
    axes.grid(axis=which, color=_GRID, linewidth=0.5)  # type: ignore[arg-type]
    axes.set_axisbelow(True)


_SEED = 1

Values = NDArray[np.float64]


def spread(count: int) -> Values:
    """Numbers from -1 to 1, the same for every figure."""
    return np.random.default_rng(_SEED).uniform(-1, 1, count)


Dashes = str | tuple[float, tuple[float, ...]]
_LINES: tuple[Dashes, ...] = (
    "-",
    (0, (4, 1.5)),
    (0, (1.2, 1.2)),
    (0, (5, 1.5, 1, 1.5)),
)


_BARRIER = "-barrier"


@dataclass(frozen=True)
class Look:
    """How a schedule is drawn."""

    colour: str
    line: Dashes


def looks(names: Iterable[str]) -> dict[str, Look]:
    """Looks by name: a colour each; when they have run out, dotted lines.

    A schedule with barriers has the colour of the one without, and a broken line.
    """
    names = list(dict.fromkeys(names))
    bases = list(dict.fromkeys(name.removesuffix(_BARRIER) for name in names))
    result = {}
    for name in names:
        index = bases.index(name.removesuffix(_BARRIER))
        line = 2 * (index // len(COLOURS)) + name.endswith(_BARRIER)
        result[name] = Look(COLOURS[index % len(COLOURS)], _LINES[line % len(_LINES)])
    return result


# What lies at the end of an axis is whole.
DOT: dict[str, Any] = {"marker": "o", "markersize": 4, "clip_on": False}
RING: dict[str, Any] = {**DOT, "markersize": 7, "markerfacecolor": "white"}
HOLLOW: dict[str, Any] = {"markerfacecolor": "none", "markeredgewidth": 0.8}
DIAMOND: dict[str, Any] = {"marker": "D", "markersize": 4, **HOLLOW}
BEYOND: dict[str, Any] = {**HOLLOW, "marker": "^", "markersize": 4.5, "markerfacecolor": "white"}
"""Marks what is beyond the wire."""
