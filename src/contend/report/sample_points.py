"""Every sample as a point, moved a little so that equal ones do not hide each other."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

MOST_VECTOR_POINTS = 4000
_SEED = 1

Values = NDArray[np.float64]


def spread(count: int) -> Values:
    """Numbers from -1 to 1, the same for every figure."""
    return np.random.default_rng(_SEED).uniform(-1, 1, count)


def points(
    axes: Axes, x: Values, y: Values, colour: str, *, left_out: bool = False, many: bool = False
) -> None:
    """Draws samples faintly, those left out as crosses.

    Args:
        axes: where.
        x: in data coordinates, spread already.
        y: likewise.
        colour: of the schedule.
        left_out: late samples that do not count.
        many: whether the figure has more points than a vector format should hold.
    """
    crowd = len(x) if not many else MOST_VECTOR_POINTS
    axes.plot(
        x,
        y,
        linestyle="",
        marker="x" if left_out else "o",
        markersize=2.4 if left_out else 1.9,
        markeredgewidth=0.5 if left_out else 0,
        color=colour,
        alpha=float(np.clip(6 / max(crowd, 1) ** 0.5, 0.15, 0.6)),
        rasterized=many,
        zorder=2,
    )
