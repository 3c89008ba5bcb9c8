"""What is drawn of a network, on paper and on pages: its parts, in inches, and what they carry."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from contend.congestion import LinkRates, link_rates
from contend.fabric import (
    Fabric,
    SwitchGroups,
    cables_per_pair,
    idle_switches,
    is_tree,
    short_names,
    switch_groups,
    switch_levels,
)
from contend.report.words import printable

if TYPE_CHECKING:
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.path import Path
    from scipy.sparse import csr_array

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
MOST_HOSTS = 20_000
"""Of a network that is drawn: beyond, browsers get slow and files large."""
TOO_LARGE = f"Networks of more than {MOST_HOSTS:,} hosts are not drawn."


# A tree with more joined pairs, or more switches in a level, is drawn by groups where it has some;
# with many more also where it has none.
_MOST_PAIRS, _MOST_IN_LEVEL = 300, 40
_FAR_TOO_MANY_PAIRS, _FAR_TOO_MANY = 1500, 72


@dataclass(frozen=True, eq=False)
class Layer:
    """What channels carry, and how long they need for it."""

    load: NDArray[Any]
    """Load of every channel between switches, shape [2 cables]; or of every channel of the fabric,
    those of hosts included, shape [channels]."""
    heat: NDArray[np.float64]
    """Load over rate, of the same channels; see `contend.congestion.heat`."""
    unit: str
    """What is counted in `load`, in the plural."""
    port: str = ""
    """Label of the rate that heat goes by; "" where links are alike, and heat is the load."""
    assumed: Sequence[str] = ()
    """Labels of the rates that links of unknown rate were taken for."""


def layer_of(
    fabric: Fabric, load: NDArray[Any], unit: str = "routes", rates: LinkRates | None = None
) -> Layer:
    """A load as a layer, over the rates of links; None are the fabric's own."""
    rates = rates or link_rates(fabric)
    return Layer(load, rates.heat(load), unit, rates.unit, rates.assumed)


@dataclass(frozen=True, eq=False)
class Drawn:
    """What of a fabric is drawn, on paper and on a page."""

    fabric: Fabric
    """Fabric."""
    level: NDArray[np.int64]
    """Level of every switch, from 1, shape [switches]."""
    idle: NDArray[np.bool_]
    """Whether nothing needs a switch, shape [switches]."""
    groups: SwitchGroups | None
    """Groups of switches, None where each is drawn alone."""

    @property
    def left_out(self) -> int:
        """Number of switches that are not drawn."""
        return 0 if self.groups is None else int(np.count_nonzero(self.groups.number < 0))


def what_is_drawn(fabric: Fabric, layer: Layer | None = None) -> Drawn:
    """Chooses between single switches and groups, and finds what nothing needs."""
    level = switch_levels(fabric)
    idle = idle_switches(fabric)
    if layer is not None:
        idle &= idle_switches(fabric, layer.load.astype(bool).astype(np.uint64))
    low, high, _ = cables_per_pair(fabric)
    needed = ~idle[low] & ~idle[high]
    groups = _groups_of_large(fabric, level, idle, low[needed], high[needed])
    return Drawn(fabric, np.maximum(level, 1) if groups is None else level, idle, groups)


def _groups_of_large(
    fabric: Fabric,
    level: NDArray[np.int64],
    idle: NDArray[np.bool_],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
) -> SwitchGroups | None:
    """Groups of a tree that is too large to draw every cable."""
    if not len(low) or not is_tree(level, low, high):
        return None
    widest = int(np.bincount(level[~idle]).max())
    if len(low) <= _MOST_PAIRS and widest <= _MOST_IN_LEVEL:
        return None
    groups = switch_groups(fabric)
    if groups.rule == "levels" and len(low) <= _FAR_TOO_MANY_PAIRS and widest <= _FAR_TOO_MANY:
        return None
    return groups


@dataclass(frozen=True)
class Label:
    """A text, which is left out where it would cover another one."""

    x: float
    """Inches from the left edge."""
    y: float
    """Inches from the lower edge."""
    text: str
    """What it says."""
    rotation: float = 0.0
    """Degrees: 0, 90 or, around a circle, any."""
    across: str = "center"
    """Part of it that stands there: ``left``, ``center`` or ``right``."""
    along: str = "center"
    """Part of it that stands there: ``top``, ``center`` or ``bottom``."""
    colour: str = "#222222"
    """Colour of its letters."""
    size: float = SMALL
    """Size of its letters, in points."""
    bold: bool = False
    """Whether it is the name of a group."""
    key: str = ""
    """What it names: of several labels with one key, the first that has room is written."""


@dataclass(frozen=True)
class Box:
    """A frame around a group of switches."""

    x: float
    """Its left edge."""
    y: float
    """Its lower edge."""
    width: float
    """Its width."""
    height: float
    """Its height."""
    group: int
    """Number of the group."""


@dataclass(frozen=True, eq=False)
class Scene:
    """Where everything stands, in inches from the lower left corner."""

    height: float
    """Height of the drawing, without its title and key."""
    place: Points
    """Place of every switch, shape [switches, 2]; nan where it is not drawn."""
    side: float
    """Side of a switch's square; the least where `sides` tells them apart."""
    towards: Points
    """Direction in which a switch has its hosts, shape [switches, 2]."""
    host_room: float
    """Width that a switch has for its hosts; 0 where they are written in labels."""
    lines: Sequence[Path]
    """Lines, each for all cables between two switches, or two groups."""
    line_of: NDArray[np.int64]
    """Line that stands for every cable, shape [cables]; -1 for cables within a group."""
    labels: Sequence[Label]
    """Labels, the more important first."""
    boxes: Sequence[Box] = ()
    """Frames of groups."""
    box_of: NDArray[np.int64] | None = None
    """Group of every switch, shape [switches]; None without groups."""
    sides: Points | None = None
    """Sides of every switch's square, shape [switches]; None where all are alike."""
    ring_ends: bool = False
    """Whether lines leave at one edge and come back at the opposite one."""

    @property
    def side_of(self) -> Points:
        """Of every switch the side of its square, shape [switches]."""
        return np.full(len(self.place), self.side) if self.sides is None else self.sides


@cache
def _renderer() -> RendererAgg:
    # Here, as below: what is told of a network needs none of what draws it.
    from matplotlib.backends.backend_agg import RendererAgg

    return RendererAgg(10, 10, _DOTS)  # type: ignore[no-untyped-call]


@lru_cache(maxsize=8192)
def text_size(text: str, points: float = SMALL, bold: bool = False) -> tuple[float, float]:
    """Width and height of a text, in inches."""
    from matplotlib.font_manager import FontProperties

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
    from scipy.sparse import csr_array

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
