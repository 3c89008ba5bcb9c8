"""How every figure looks: a column wide, colours that colour-blind eyes tell apart."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

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
    with mpl.rc_context({**mpl.rcParamsDefault, "backend": mpl.rcParams["backend"], **_STYLE}):
        yield


def new_figure(height: float, width: float = COLUMN_WIDTH) -> Figure:
    """An empty figure, in inches; it belongs to nobody but the caller."""
    return Figure(figsize=(width, height), layout="constrained")


def title(figure: Figure, finding: str) -> None:
    """Writes the finding above the figure, wrapped to its width, aligned left."""
    width = int(_TITLE_CHARACTERS * figure.get_figwidth() / COLUMN_WIDTH)
    figure.suptitle(wrapped(finding, width), x=0.01, ha="left", fontsize=8.5, fontweight="bold")


def wrapped(finding: str, width: int = _TITLE_CHARACTERS) -> str:
    """A finding in lines of so many characters; a number and its per cent sign stay together."""
    lines = textwrap.fill(finding.replace(" %", "\u00a0%"), width, break_long_words=True)
    return lines.replace("\u00a0", " ")


def percent_axis(axis: Any) -> None:
    """Labels an axis of fractions in per cent, each with the digits that it has: 2.5 %."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{round(100 * value, 6):g} %"))


def bandwidth_axis(axes: Axes, label: str) -> None:
    """The x axis of bandwidths: 0 to 100 % of the link speed."""
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    percent_axis(axes.xaxis)
    axes.set_xlabel(label)
