"""What a drawing of a network consists of, in inches, whatever arranged it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from numpy.typing import NDArray
from scipy.sparse import csr_array

from contend.fabric import Fabric, short_names
from contend.report.words import printable

Points = NDArray[np.float64]

WIDTH = 7.2
"""Of every drawing, both columns of a page."""
LEFT = 0.95
"""Room for words beside the levels."""
SMALL, TINY = 6.5, 5.5
"""Sizes of letters, in points."""
LEAST_PITCH = 0.105
"""Inches between two lines of small letters."""
_DOTS = 72


@dataclass(frozen=True)
class Label:
    """A text, which is left out where it would cover another one.

    Attributes:
        x: where it stands.
        y: likewise.
        text: what it says.
        rotation: in degrees: 0, 90 or, around a circle, any.
        across: which part of it stands there: ``left``, ``center`` or ``right``.
        along: ``top``, ``center`` or ``bottom``.
        colour: of its letters.
        size: of its letters, in points.
        bold: whether it is the name of a group.
        key: of several labels with one key, the first that has room is written.
    """

    x: float
    y: float
    text: str
    rotation: float = 0.0
    across: str = "center"
    along: str = "center"
    colour: str = "#222222"
    size: float = SMALL
    bold: bool = False
    key: str = ""


@dataclass(frozen=True)
class Box:
    """A frame around a group of switches.

    Attributes:
        x: its left edge.
        y: its lower edge.
        width: likewise.
        height: likewise.
        group: its number.
    """

    x: float
    y: float
    width: float
    height: float
    group: int


@dataclass(frozen=True, eq=False)
class Scene:
    """Where everything stands, in inches from the lower left corner.

    Attributes:
        height: of the drawing, without its title and key.
        place: of every switch, shape [switches, 2]; nan where it is not drawn.
        side: of a switch's square; the least where `sides` tells them apart.
        towards: the direction in which a switch has its hosts, shape [switches, 2].
        host_room: the width that a switch has for them; 0 where they are written in labels.
        lines: each stands for all cables between two switches, or two groups.
        line_of: the line that stands for every cable, shape [cables]; -1 for cables within a group.
        boxes: frames of groups.
        box_of: the group of every switch, shape [switches]; -1 without groups.
        labels: the more important first.
        sides: of every switch's square, shape [switches]; None where all are alike.
        ring_ends: whether lines leave at one edge and come back at the opposite one.
    """

    height: float
    place: Points
    side: float
    towards: Points
    host_room: float
    lines: Sequence[Path]
    line_of: NDArray[np.int64]
    boxes: Sequence[Box]
    box_of: NDArray[np.int64]
    labels: Sequence[Label]
    sides: Points | None = None
    ring_ends: bool = False

    @property
    def side_of(self) -> Points:
        """Of every switch the side of its square, shape [switches]."""
        return np.full(len(self.place), self.side) if self.sides is None else self.sides


@cache
def _renderer() -> RendererAgg:
    return RendererAgg(10, 10, _DOTS)  # type: ignore[no-untyped-call]


@lru_cache(maxsize=8192)
def text_size(text: str, points: float = SMALL, bold: bool = False) -> tuple[float, float]:
    """Width and height of a text, in inches."""
    font = FontProperties(size=points, weight="bold" if bold else "normal")
    with warnings.catch_warnings():
        # Letters that the font lacks are not told for every name.
        warnings.simplefilter("ignore", UserWarning)
        renderer = _renderer()
        measured = renderer.get_text_width_height_descent(text, font, False)  # type: ignore[no-untyped-call]
    width, height = measured[0], measured[1]
    return width / _DOTS, max(height, points) / _DOTS


def longest(texts: Sequence[str], points: float = SMALL, bold: bool = False) -> float:
    """Width of the longest of some texts, in inches."""
    return max((text_size(text, points, bold)[0] for text in texts), default=0.0)


def shortened(text: str, most: int = 26) -> str:
    """A name in one line, cut in its middle: what tells it apart is at its ends."""
    text = printable(text).replace("\n", " ")
    return text if len(text) <= most else f"{text[: most // 2 - 1]}…{text[-(most // 2) :]}"


def lines_of_pairs(
    cable_from: NDArray[np.uint32], cable_to: NDArray[np.uint32], switches: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Joined pairs of switches, lower and higher, and the pair of every cable; -1 for loops."""
    low = np.minimum(cable_from, cable_to).astype(np.int64)
    high = np.maximum(cable_from, cable_to).astype(np.int64)
    across = low != high
    pairs, inverse = np.unique((low * switches + high)[across], return_inverse=True)
    line_of = np.full(len(low), -1, dtype=np.int64)
    line_of[across] = inverse.reshape(-1)
    return pairs // switches, pairs % switches, line_of


def adjacency_of(size: int, low: NDArray[np.int64], high: NDArray[np.int64]) -> csr_array:
    """Which switches are joined, shape [size, size]."""
    ends = (np.concatenate([low, high]), np.concatenate([high, low]))
    return csr_array((np.ones(2 * len(low)), ends), shape=(size, size))


def spoken_names(fabric: Fabric) -> tuple[str, ...]:
    """Names of switches within sentences: short ones, but no bare numbers."""
    short = short_names(fabric)
    spoken = all(any(letter.isalpha() for letter in name) for name in short)
    return short if spoken else fabric.switch_label


Rectangle = tuple[float, float, float, float]
"""Left, bottom, right and top, in inches."""
# Inches that stay free between labels side by side; closer ones read as one.
_APART = 0.02


def overlap(one: Rectangle, other: Rectangle) -> bool:
    """Whether two rectangles cover any point together."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def fitting_labels(labels: Iterable[Label], taken: Iterable[Rectangle]) -> Iterator[Label]:
    """The labels, one after the other, that cover no other one and nothing that is taken."""
    written: set[str] = set()
    covered = list(taken)
    for label in labels:
        if label.key and label.key in written:
            continue
        rectangle = _rectangle(label)
        straight = label.rotation in (0, 90)
        if straight and any(overlap(rectangle, other) for other in covered):
            continue
        written.add(label.key)
        if straight:
            left, bottom, right, top = rectangle
            covered.append((left - _APART, bottom, right + _APART, top))
        yield label


def _rectangle(label: Label) -> Rectangle:
    width, height = text_size(label.text, label.size, label.bold)
    if label.rotation == 90:
        width, height = height, width
    left = label.x - {"left": 0.0, "center": 0.5, "right": 1.0}[label.across] * width
    bottom = label.y - {"bottom": 0.0, "center": 0.5, "top": 1.0}[label.along] * height
    return left, bottom, left + width, bottom + height
