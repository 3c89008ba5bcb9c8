"""Marks at numbers known otherwise: what is rated, what others found."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from contend.report.measures import percent
from contend.report.style import QUIET


def mark_rated(axes: Axes, rated: Sequence[float | None]) -> None:
    """A broken vertical line at every rated bandwidth."""
    for value in dict.fromkeys(value for value in rated if value is not None):
        axes.axvline(value, color=QUIET, linewidth=0.8, linestyle=(0, (3, 2)), zorder=0.5)
        # What messages get mostly lies left of what is rated: the text stands right of the line or,
        # where there is no room, above the panel.
        above = value > 0.7
        axes.annotate(
            f"rated {percent(value)}".replace(".0 %", " %"),
            (value, 1 if above else 0.5),
            xycoords=("data", "axes fraction"),
            xytext=(0, 2) if above else (2, 0),
            textcoords="offset points",
            ha="right" if above else "left",
            va="bottom" if above else "center",
            fontsize=6.5,
            color=QUIET,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.3, "alpha": 0.8},
        )


def mark_reference(axes: Axes, reference: Sequence[float | None], name: str) -> None:
    """A black triangle on the axis at every number known from elsewhere."""
    for value in dict.fromkeys(value for value in reference if value is not None):
        axes.plot(
            [value],
            [0.03],
            marker="^",
            markersize=4.5,
            color="black",
            clip_on=False,
            zorder=5,
            transform=axes.get_xaxis_transform(),
        )
        axes.annotate(
            f"{name} {percent(value)}",
            (value, 0.05),
            xycoords=axes.get_xaxis_transform(),
            xytext=(5, 1),
            textcoords="offset points",
            fontsize=6.5,
            va="center",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.3, "alpha": 0.8},
            zorder=4,
        )
