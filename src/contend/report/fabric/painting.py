"""Paints a scene: lines, frames, switches, hosts, marks, and words where there is room."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize, to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import StrMethodFormatter
from numpy.typing import NDArray

from contend.base.units import counted
from contend.fabric import leaf_rails
from contend.report.fabric.layout import HOST
from contend.report.fabric.marks import HOT, Mark, Marked, Tooltips, tooltip
from contend.report.fabric.scene import (
    SMALL,
    TINY,
    WIDTH,
    Drawn,
    Label,
    Layer,
    Points,
    Rectangle,
    Scene,
    fitting_labels,
    overlap,
)

# Beyond, lines become a picture: a vector format would hold megabytes of them.
_MOST_VECTOR_LINES = 20_000
_MARK = 0.062  # inches, the radius of a mark
_LEAST_RAIL = 4.5  # points of a switch's square that has room for a number
_SWITCH = "#222222"
_PLAIN = "#8C9BA8"
_IDLE = "#D5D5D5"
FRAME = "#5B6670"
_HOT, FAULT_COLOUR = "#8A0A0A", "#D55E00"
# From light blue over purple to dark red: no grey between, brightness falls all the way.
LOADS = LinearSegmentedColormap.from_list(
    "loads", ["#A9CDEB", "#7A93D0", "#8F5BB5", "#BF2A57", "#8A0A0A"]
)
# Where a mark may stand along its cable, the best first.
_SHARES = (0.5, 0.38, 0.62, 0.28, 0.72, 0.18, 0.82, 0.45, 0.55)


class Keys:
    """What signs mean, below the drawing."""

    _COLUMNS = 4

    def __init__(self) -> None:
        self._signs: dict[str, Line2D] = {}

    def add(self, text: str, **look: object) -> None:
        """A sign and its meaning."""
        self._signs[text] = Line2D([], [], **{"linestyle": "", **look})  # type: ignore[arg-type]

    @property
    def height(self) -> float:
        """In inches."""
        return 0.15 * -(-len(self._signs) // self._COLUMNS)

    def write(self, figure: Figure) -> None:
        """Adds them to the figure."""
        if self._signs:
            figure.legend(
                self._signs.values(),
                self._signs.keys(),
                loc="lower center",
                bbox_to_anchor=(0.5, 0.0),
                ncols=self._COLUMNS,
                fontsize=SMALL,
                borderaxespad=0.3,
                handlelength=1.4,
            )


class Painting:
    """One drawing under way."""

    def __init__(
        self, drawn: Drawn, load: Layer | None, scene: Scene, marked: Marked, keys: Keys
    ) -> None:
        self._drawn, self._scene, self._marked, self._keys = drawn, scene, marked, keys
        self._load = load
        fabric = drawn.fabric
        self._rail = leaf_rails(fabric)
        self._tips = Tooltips(fabric, drawn.level, drawn.idle, load, marked.words, self._rail)
        self._by_line = _by_line(scene.line_of, len(scene.lines))
        self._cables = np.array([len(cables) for cables in self._by_line])
        most = int(self._cables.max(initial=1))
        if drawn.groups is not None:
            self._width = np.maximum(0.5, 6 * self._cables / most) * min(
                1.0, (60 / max(len(scene.lines), 1)) ** 0.5
            )
        else:
            thin = np.clip(14 / np.sqrt(max(len(scene.lines), 1)), 0.3, 1.3)
            self._width = thin * np.sqrt(self._cables)
        self._hottest = np.zeros(len(scene.lines))
        if load is not None:
            each = load.heat.reshape(-1, 2).max(axis=1)
            told = scene.line_of >= 0
            np.maximum.at(self._hottest, scene.line_of[told], each[told])
        # Even heats have the colour in the middle: only what exceeds twice the mean darkens it.
        self._mean = 0.0 if load is None or not len(load.heat) else float(load.heat.mean())
        self._norm = Normalize(0, max(float(self._hottest.max(initial=0)), 2 * self._mean) or 1)

    def fill_keys(self) -> None:
        """Explains what is drawn."""
        keys, drawn, scene, load = self._keys, self._drawn, self._scene, self._load
        square = {"marker": "s", "markersize": 5}
        hosts_at = np.bincount(drawn.fabric.host_switch, minlength=drawn.fabric.switches)
        if bool((hosts_at > 0).any()):
            keys.add("switch with hosts", color=HOST, **square)
        if self._writes_rails:
            keys.add("number in a switch: its rail")
        if bool((hosts_at == 0).any()):
            keys.add("switch", color=_SWITCH, **square)
        if bool((drawn.idle & ~np.isnan(scene.place[:, 0])).any()):
            keys.add("idle switch", color=_IDLE, **square)
        if scene.ring_ends:
            keys.add("loose end: continues at the opposite edge", color=_PLAIN, linestyle="-")
        if scene.host_room and bool(scene.towards.any()):
            keys.add("host", color=HOST, marker="|", markersize=6)
        counts = np.unique(self._cables)
        for count in np.unique(counts[[-1, 0]])[::-1].tolist() if len(counts) else []:
            width = float(self._width[self._cables == count][0])
            if count > 1 or len(counts) > 1:
                keys.add(counted(count, "cable"), color=_PLAIN, linestyle="-", linewidth=width)
        if load is not None and bool((self._hottest == 0).any()):
            keys.add(f"no {load.unit.removesuffix('s')}", color=_IDLE, linestyle="-", linewidth=1.3)
        if load is not None and load.port:
            keys.add(f"heat: {load.unit} over rate, as at {load.port}")
            if load.assumed:
                keys.add(f"unknown rates count as {' or '.join(load.assumed)}")
        if drawn.left_out:
            keys.add(f"{counted(drawn.left_out, 'idle switch')} not drawn")
        if drawn.groups is not None and drawn.groups.rule != "levels":
            keys.add(f"switches grouped by {drawn.groups.rule}")

    def paint(self, figure: Figure, axes: Axes, right: float) -> None:
        """Draws everything into axes of inches."""
        self._paint_lines(axes)
        if (load := self._load) is not None:
            self._paint_scale(figure, right, "heat" if load.port else load.unit)
        self._paint_boxes(axes)
        self._paint_switches(axes)
        self._paint_rails(axes)
        self._paint_hosts(axes)
        taken = self._paint_marks(axes)
        _write_labels(axes, self._scene.labels, taken)

    def _paint_lines(self, axes: Axes) -> None:
        scene = self._scene
        if not scene.lines:
            return
        colour = LOADS(self._norm(self._hottest))
        colour[self._hottest == 0] = to_rgba(_PLAIN if self._load is None else _IDLE)
        order = np.argsort(self._hottest, kind="stable").tolist()
        lines = PathCollection(
            [scene.lines[line] for line in order],
            facecolors="none",
            linewidths=self._width[order],
            edgecolors=colour[order],
            capstyle="round",
            zorder=1,
        )
        if len(order) > _MOST_VECTOR_LINES:
            lines.set_rasterized(True)
        else:
            lines.set_urls([tooltip(self._line_text(line)) for line in order])
        axes.add_collection(lines, autolim=False)

    def _line_text(self, line: int) -> str:
        cables = self._by_line[line]
        groups = self._drawn.groups
        if groups is None:
            return self._tips.line(cables)
        ends = self._drawn.fabric.cable_from[cables[0]], self._drawn.fabric.cable_to[cables[0]]
        pair = sorted(int(groups.number[end]) for end in ends)
        return self._tips.bundle(groups, pair, cables)

    def _paint_scale(self, figure: Figure, right: float, amount: str) -> None:
        scene, whole = self._scene, figure.get_figheight()
        low = figure.axes[0].get_ylim()[0]
        height = min(0.85 * scene.height, 2.6)
        bottom = (scene.height - height) / 2 - low
        axes = figure.add_axes(
            ((right + 0.35) / WIDTH, bottom / whole, 0.09 / WIDTH, height / whole)
        )
        bar = figure.colorbar(ScalarMappable(self._norm, LOADS), cax=axes)
        what = "of a bundle" if self._drawn.groups is not None else "of a line"
        bar.set_label(f"{amount} over the hottest channel {what}", fontsize=TINY)
        form = "{x:,.0f}" if (self._norm.vmax or 0) >= 10 else "{x:,.2g}"
        bar.ax.yaxis.set_major_formatter(StrMethodFormatter(form))
        bar.ax.tick_params(labelsize=TINY)
        bar.outline.set_visible(False)
        bar.ax.axhline(self._mean, color="white", linewidth=1)
        bar.ax.text(-0.25, self._mean, "mean", ha="right", va="center", fontsize=TINY)

    def _paint_boxes(self, axes: Axes) -> None:
        scene, drawn = self._scene, self._drawn
        if drawn.groups is None or scene.box_of is None:
            return
        fabric, number = drawn.fabric, scene.box_of
        within = (scene.line_of < 0) & (number[fabric.cable_from] >= 0)
        group_of = np.where(within, number[fabric.cable_from], -1)
        corners, texts = [], []
        for box in scene.boxes:
            x, y, width, height = box.x, box.y, box.width, box.height
            corners.append([(x, y), (x + width, y), (x + width, y + height), (x, y + height)])
            idle = int(np.count_nonzero(drawn.idle & (number == box.group)))
            inside = np.flatnonzero(group_of == box.group)
            texts.append(tooltip(self._tips.group(drawn.groups, box.group, idle, inside)))
        axes.add_collection(
            PolyCollection(
                corners, facecolors="white", edgecolors=FRAME, linewidths=0.6, zorder=2, urls=texts
            ),
            autolim=False,
        )

    def _paint_switches(self, axes: Axes) -> None:
        scene, drawn = self._scene, self._drawn
        shown = np.flatnonzero(~np.isnan(scene.place[:, 0]))
        hosts_at = np.bincount(drawn.fabric.host_switch, minlength=drawn.fabric.switches)
        colour = np.where(hosts_at > 0, HOST, np.where(drawn.idle, _IDLE, _SWITCH))
        corners = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
        squares = corners * scene.side_of[shown][:, None, None]
        axes.add_collection(
            PolyCollection(
                list(scene.place[shown][:, None] + squares),
                facecolors=colour[shown].tolist(),
                edgecolors="none",
                zorder=3,
                urls=[tooltip(self._tips.switch(switch)) for switch in shown.tolist()],
            ),
            autolim=False,
        )

    @property
    def _writes_rails(self) -> bool:
        """Whether leaves have rails, and room for their numbers."""
        leaves = (self._rail >= 0) & ~np.isnan(self._scene.place[:, 0])
        side = self._scene.side_of[leaves].min(initial=np.inf)
        return bool(leaves.any()) and 72 * side >= _LEAST_RAIL

    def _paint_rails(self, axes: Axes) -> None:
        """The number of its rail in every leaf that has one."""
        if not self._writes_rails:
            return
        shown = (self._rail >= 0) & ~np.isnan(self._scene.place[:, 0])
        side = self._scene.side_of
        for leaf in np.flatnonzero(shown).tolist():
            x, y = self._scene.place[leaf].tolist()
            axes.text(
                x,
                y,
                str(self._rail[leaf] + 1),
                ha="center",
                va="center_baseline",
                fontsize=min(TINY, 0.85 * 72 * side[leaf]),
                color="white",
                zorder=3.5,
            )

    def _paint_hosts(self, axes: Axes) -> None:
        """A tick for every host, or bars of their number where ticks would run together."""
        scene, fabric = self._scene, self._drawn.fabric
        hosts_at = np.bincount(fabric.host_switch, minlength=fabric.switches)
        hosts_at[~scene.towards.any(axis=1)] = 0
        if not scene.host_room or not hosts_at.any():
            return
        most = int(hosts_at.max())
        step = scene.host_room / most
        if step < 0.014:
            holders = np.flatnonzero(hosts_at)
            length = 0.22 * hosts_at[holders] / most
            width = min(0.6 * scene.host_room, 0.1)
            switch, offset = holders, np.zeros(len(holders))
        else:
            switch = np.repeat(np.arange(fabric.switches), hosts_at)
            rank = np.concatenate([np.arange(count) for count in hosts_at])
            offset = (rank - (hosts_at[switch] - 1) / 2) * min(step, 0.05)
            length, width = np.full(len(switch), 0.1), 0.011
        towards = scene.towards[switch]
        aside = np.stack([-towards[:, 1], towards[:, 0]], axis=1) * offset[:, None]
        gap = 0.07 if scene.side < 0.13 and width == 0.011 else 0.05
        start = scene.place[switch] + aside + (scene.side / 2 + gap) * towards
        end = start + length[:, None] * towards
        axes.add_collection(
            LineCollection(
                list(np.stack([start, end], axis=1)), colors=HOST, linewidths=72 * width, zorder=2
            ),
            autolim=False,
        )

    def _paint_marks(self, axes: Axes) -> list[tuple[float, float, float, float]]:
        """Marks every hot or faulty part; returns what of the page marks with a sign take."""
        scene, fabric = self._scene, self._drawn.fabric
        taken: list[tuple[float, float, float, float]] = []
        for sign, mark in self._marked.marks:
            colour = _HOT if mark.kind == HOT else FAULT_COLOUR
            if mark.part == "switch":
                ends = scene.place[[mark.number, mark.number]]
            else:
                cable = mark.number
                ends = scene.place[[fabric.cable_from[cable], fabric.cable_to[cable]]]
            if np.isnan(ends).any():
                continue
            places = self._places(mark, ends)
            if mark.part == "cable" and self._drawn.groups is not None:
                # A cable that is hot and faulty has the colour of its heat.
                over = mark.kind == HOT
                line = self._heat_colour(mark.number) if over else colour
                axes.plot(*ends.T, color=line, linewidth=0.9, zorder=4.1 if over else 4)
            if not sign:
                axes.plot(*places[0], "x", color=colour, markersize=4, zorder=5)
                continue
            x, y = _free_place(places, taken)
            taken.append((x - _MARK, y - _MARK, x + _MARK, y + _MARK))
            look = {"markerfacecolor": "white", "markeredgecolor": colour, "markeredgewidth": 0.9}
            axes.plot(x, y, "o", markersize=2 * 72 * _MARK, zorder=5, **look)  # type: ignore[arg-type]
            axes.text(
                x,
                y,
                sign,
                ha="center",
                va="center_baseline",
                fontsize=TINY,
                color=colour,
                fontweight="bold",
                zorder=6,
            )
        return taken

    def _heat_colour(self, cable: int) -> tuple[float, float, float, float]:
        """That of the hotter channel of a cable, on the scale of the lines."""
        load = self._load
        heat = 0.0 if load is None else float(load.heat[2 * cable : 2 * cable + 2].max())
        return LOADS(self._norm(heat))

    def _places(self, mark: Mark, ends: Points) -> list[Points]:
        """Where a mark may stand: along its cable, or beside its switch."""
        if mark.part == "switch":
            aside = np.array([0.5, 0.5]) * (self._scene.side + 2 * _MARK)
            return [ends[0] + (0.6 + 4 * abs(share - 0.5)) * aside for share in _SHARES]
        line = int(self._scene.line_of[mark.number])
        points = ends
        if self._drawn.groups is None and line >= 0:
            points = np.asarray(self._scene.lines[line].vertices, dtype=np.float64)
        if len(points) == 3:
            first, bend, last = points
            return [(1 - t) ** 2 * first + 2 * t * (1 - t) * bend + t * t * last for t in _SHARES]
        return [points[0] + share * (points[1] - points[0]) for share in _SHARES]


def _by_line(line_of: NDArray[np.int64], lines: int) -> list[NDArray[np.int64]]:
    order = np.argsort(line_of, kind="stable")
    ends = np.searchsorted(line_of[order], np.arange(lines + 1))
    return [order[start:end] for start, end in pairwise(ends)]


def _free_place(places: Sequence[Points], taken: Sequence[Rectangle]) -> tuple[float, float]:
    for x, y in (place.tolist() for place in places):
        around = (x - _MARK, y - _MARK, x + _MARK, y + _MARK)
        if not any(overlap(around, other) for other in taken):
            return x, y
    x, y = places[0].tolist()
    return x, y


def _write_labels(axes: Axes, labels: Iterable[Label], taken: Iterable[Rectangle]) -> None:
    for label in fitting_labels(labels, taken):
        straight = label.rotation in (0, 90)
        text = axes.text(
            label.x,
            label.y,
            label.text,
            rotation=label.rotation,
            rotation_mode="default" if straight else "anchor",
            ha=label.across,
            va=label.along,
            fontsize=label.size,
            color=label.colour,
            fontweight="bold" if label.bold else "normal",
            zorder=4,
        )
        if straight and not label.bold:
            text.set_bbox({"facecolor": "white", "alpha": 0.8, "pad": 0.4, "linewidth": 0})
