"""Axes of measured figures: sizes of messages, times and rates, all logarithmic."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator
from numpy.typing import NDArray

from contend.units import format_bytes, format_seconds

_MOST_TICKS = 5
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
    axes.xaxis.set_minor_locator(NullLocator())


def columns_for(panels: int) -> int:
    """In how many columns panels stand; four make a square."""
    return 2 if panels == 4 else min(3, panels)


def label_bottoms(grid: NDArray[np.object_]) -> None:
    """Labels sizes below the last panel of every column of panels, wherever the column ends."""
    for (row, column), axes in np.ndenumerate(grid):
        below = row + 1 < grid.shape[0] and grid[row + 1, column].axison
        axes.tick_params(labelbottom=not below)


def rate_axis(axes: Axes) -> None:
    """The y axis of rates in MiB/s."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(numticks=12))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    _quiet(axes, "y")


def time_axis(axes: Axes, which: str) -> None:
    """An axis of seconds, labelled in units that people say."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    axes.set_xscale("log") if which == "x" else axes.set_yscale("log")
    axis.set_major_formatter(FuncFormatter(lambda value, _: format_seconds(value)))
    low, high = axes.get_xlim() if which == "x" else axes.get_ylim()
    decades = math.log10(high / low)
    if decades < 2:
        # Less than two powers of ten: 2 and 5 have ticks too.
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    elif decades > 5:
        axis.set_major_locator(LogLocator(base=100))
    _quiet(axes, which)


def _quiet(axes: Axes, which: str) -> None:
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_minor_formatter(NullFormatter())
    axes.grid(axis=which, color=_GRID, linewidth=0.5)  # type: ignore[arg-type]
    axes.set_axisbelow(True)
