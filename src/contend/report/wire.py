"""The wire's limit in figures of rates."""

from __future__ import annotations

from matplotlib.axes import Axes

from contend.report.measured_words import rate_words
from contend.report.rate_words import MEBI
from contend.report.style import QUIET

# The axis is logarithmic: so many times the limit leaves room for the name above the line.
_ROOM = 2.5


def mark_wire(axes: Axes, limit: float, *, named: bool = True) -> None:
    """A broken line at what the wire carries, in bytes per second, on an axis of MiB/s."""
    axes.axhline(limit / MEBI, color=QUIET, linewidth=0.8, linestyle=(0, (3, 2)), zorder=0.5)
    axes.set_ylim(top=max(axes.get_ylim()[1], _ROOM * limit / MEBI))
    if named:
        axes.annotate(
            f"wire {rate_words(limit)}",
            (0.02, limit / MEBI),
            xycoords=axes.get_yaxis_transform(),
            xytext=(0, 2),
            textcoords="offset points",
            fontsize=6.5,
            color=QUIET,
        )
