"""The figures of a placement: the network that it loads, its fullest channels, and its seats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from contend.base.names import natural
from contend.base.units import counted, rounded
from contend.congestion import LinkRates, channel_bytes, hottest, link_rates
from contend.cure import BetterSeats
from contend.report.charts import Intervals, charted
from contend.report.fabric.marks import Mark, channel_way
from contend.report.fabric.network import fabric_figure
from contend.report.fabric.scene import spoken_names
from contend.report.series import Axis, Series
from contend.report.style import COLOURS, DOT, RING
from contend.report.words import printable
from contend.routes import each_alone

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Rows of the figure of channels, and channels of the given order that the network points out.
_ROWS = 8
_MARKED = 3
_MOST_LEAVES = 40  # with a name each


@dataclass(frozen=True, eq=False)
class LoadedSeats:
    """What channels carry of a program, over all its phases, in both orders.

    Attributes:
        better: the placement.
    """

    better: BetterSeats

    @cached_property
    def before(self) -> NDArray[np.float64]:
        """Bytes of every channel in the order that was given, shape [channels]."""
        return self._bytes(self.better.given)

    @cached_property
    def after(self) -> NDArray[np.float64]:
        """Those of the new placement."""
        return self._bytes(self.better.placement.hosts)

    @cached_property
    def rates(self) -> LinkRates:
        """By which bytes become time."""
        return link_rates(self.better.fabric)

    @property
    def between(self) -> slice:
        """Channels between switches."""
        return slice(2 * self.better.fabric.cables)

    def _bytes(self, hosts: NDArray[np.integer]) -> NDArray[np.float64]:
        traffic = self.better.sent.traffic
        source, target = hosts[traffic.source], hosts[traffic.target]
        # Ranks of one host send nothing over the network.
        away = source != target
        size = traffic.bytes[away].astype(np.uint64)
        # As the search took them where messages split together.
        fabric = each_alone(self.better.fabric)
        return channel_bytes(fabric, source[away], target[away], size)


def placement_network(loaded: LoadedSeats) -> Figure:
    """The network as the new placement loads it; the fullest channels of the given order marked."""
    better, fabric = loaded.better, loaded.better.fabric
    names = spoken_names(fabric)
    heats = loaded.rates.heat(loaded.before[loaded.between])
    unit, scale = _unit(heats.max(initial=0.0))
    marks = [
        Mark(
            "before",
            "cable",
            channel // 2,
            f"{rounded(loaded.before[channel] / scale)} {unit}, "
            f"now {rounded(loaded.after[channel] / scale)}: {channel_way(fabric, channel, names)}",
        )
        for channel in hottest(heats, _MARKED)
    ]
    marks += [
        Mark("seats", "switch", leaf, f"{names[leaf]}: {counted(now, 'rank')}, before {then:,}")
        for leaf, then, now in _ranks_of_leaves(better)
        if then != now
    ]
    return fabric_figure(
        fabric,
        loaded.after[loaded.between] / scale,
        unit=unit,
        rates=loaded.rates,
        finding=f"{fabric.name}: what {better.source} sends with the new placement",
        marks=marks,
    )


def fullest_channels(loaded: LoadedSeats) -> Figure:
    """The fullest channels of the given order, then those of the new one, with both loads.

    Where links differ in rate, the fullest are those that need most time.
    """
    fabric = loaded.better.fabric
    before, after = (loaded.rates.heat(load) for load in (loaded.before, loaded.after))
    fullest = list(dict.fromkeys((*hottest(before, _ROWS), *hottest(after, _ROWS // 2))))
    unit, scale = _unit(max(before[fullest].max(initial=0.0), after[fullest].max(initial=0.0)))
    names = spoken_names(fabric)
    then, now = before[fullest] / scale, after[fullest] / scale
    at = f", as at {loaded.rates.unit}" if loaded.rates.unit else ""
    chart = Intervals(
        names=[channel_way(fabric, channel, names) for channel in fullest],
        least=3,
        series=[
            Series(then, name="given order", mark=RING),
            Series(now, name="new placement", colour=COLOURS[1], mark=DOT, above=3),
        ],
        stems=True,
        x=Axis(f"{unit} over all phases{at}", ends=(0, None)),
    )
    most, least = (rounded(heats.max(initial=0.0) / scale) for heats in (before, after))
    differs = f" instead of {most}" if least != most else " in both orders"
    finding = f"The fullest channel carries {least} {unit}{differs}"
    return charted(finding, chart, height=1.5 + 0.19 * max(len(fullest), 3), width=5.6, legend=2)


def seats_figure(loaded: LoadedSeats) -> Figure:
    """On which leaf switch every rank sits, in both orders."""
    better, fabric = loaded.better, loaded.better.fabric
    names = spoken_names(fabric)
    leaves = [leaf for leaf, _, _ in _ranks_of_leaves(better)]
    leaves.sort(key=lambda leaf: natural(names[leaf]))
    row = np.full(fabric.switches, -1)
    row[leaves] = np.arange(len(leaves))
    ranks = np.arange(better.ranks)
    named = len(leaves) <= _MOST_LEAVES
    orders = (("given order", better.given), ("new placement", better.placement.hosts))
    mark = {"marker": "s", "markersize": float(np.clip(140 / max(len(ranks), 1), 0.8, 4))}
    room = 0.03 * max(len(ranks), 1)
    charts = [
        Intervals(
            heading=name,
            names=[printable(names[leaf]) for leaf in leaves] if named else (),
            least=4 if named else len(leaves),
            series=[Series(ranks, row[fabric.host_switch[hosts]], colour=colour, mark=mark)],
            x=Axis("rank", ends=(-room, len(ranks) - 1 + room)),
            y=Axis("" if named or colour != COLOURS[0] else "leaf switch"),
        )
        for (name, hosts), colour in zip(orders, COLOURS, strict=False)
    ]
    used = [len(np.unique(fabric.host_switch[hosts])) for _, hosts in orders]
    moved = f"{better.moved:,} of {counted(len(ranks), 'rank')} moved"
    return charted(
        f"{moved}; leaf switches in use: {used[0]:,} before, {used[1]:,} now",
        charts,
        height=1.3 + (0.15 * max(len(leaves), 4) if named else 4.0),
        width=5.6,
        sharey=True,
    )


def _ranks_of_leaves(better: BetterSeats) -> list[tuple[int, int, int]]:
    """Every leaf switch that has ranks in either order, with how many before and now."""
    fabric = better.fabric
    then, now = (
        np.bincount(fabric.host_switch[hosts], minlength=fabric.switches)
        for hosts in (better.given, better.placement.hosts)
    )
    return [(int(leaf), int(then[leaf]), int(now[leaf])) for leaf in np.flatnonzero(then + now)]


def _unit(most: float) -> tuple[str, float]:
    """The unit in which so many bytes are a number for an axis."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if most >= scale:
            return unit, scale
    return "bytes", 1.0


DRAWS: Mapping[str, Callable[[LoadedSeats], Figure]] = {
    "network": placement_network,
    "channels": fullest_channels,
    "seats": seats_figure,
}
"""What draws each picture."""
