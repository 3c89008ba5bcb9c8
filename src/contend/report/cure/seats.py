"""Better seats beside the order that was given: what they are worth, and their figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from contend.base.names import natural
from contend.base.units import counted, format_bytes, rounded
from contend.congestion import LinkRates, channel_bytes, hottest, link_rates
from contend.cure import BetterSeats
from contend.report.charts import Intervals, charted
from contend.report.document import Document
from contend.report.fabric.marks import Mark, channel_way
from contend.report.fabric.network import fabric_figure
from contend.report.fabric.scene import spoken_names
from contend.report.series import Axis, Series
from contend.report.style import COLOURS, DOT, RING
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import percent, printable
from contend.routes import each_alone

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Below this share nothing is worth a launch with other seats.
_WORTH_WHILE = 0.005


def _worth(better: BetterSeats) -> str:
    """What the seats are worth, in a few sentences."""
    if better.shares:
        return (
            f"{_by_shares(better)} {better.rails} rails: rings and all-to-alls within each rail, "
            "as GPU libraries send them; give a profile or a pattern for other traffic."
        )
    before, after = better.before, better.after
    time = f"{_busy(better, before.busy)} to {_busy(better, after.busy)}"
    congestion = f"{rounded(before.mean_congestion)} to {rounded(after.mean_congestion)}"
    if better.saved >= _WORTH_WHILE:
        return (
            f"With this placement the most loaded channels need {100 * better.saved:.0f} % less "
            f"time than in the given order ({time}), and mean congestion goes from {congestion}."
        )
    if after.mean_congestion < (1 - _WORTH_WHILE) * before.mean_congestion:
        return (
            "No placement was found in which the most loaded channels need less time, but with "
            f"this one mean congestion goes from {congestion}."
        )
    return "No placement better than the given order was found."


def _by_shares(better: BetterSeats) -> str:
    """What rings and all-to-alls get in the new order, and got in the given one."""
    rings, all_to_alls = better.shares
    if better.saved >= _WORTH_WHILE:
        return (
            f"With this placement rings get {percent(rings.after)} of a port's rate and "
            f"all-to-alls {percent(all_to_alls.after)}, instead of {percent(rings.before)} and "
            f"{percent(all_to_alls.before)} in the given order."
        )
    return (
        "No placement was found that is better than the given order, in which rings get "
        f"{percent(rings.before)} of a port's rate and all-to-alls {percent(all_to_alls.before)}."
    )


def _table(better: BetterSeats) -> ResultTable:
    """Both orders by each figure."""
    before, after = better.before, better.after
    figures: list[tuple[str, Callable[[float], str], float, float]] = [
        (f"{share.name}, share of a port's rate", percent, share.before, share.after)
        for share in better.shares
    ]
    figures += [
        ("time of the most loaded channels", partial(_busy, better), before.busy, after.busy),
        ("mean congestion", "{:.2f}".format, before.mean_congestion, after.mean_congestion),
        ("bytes times channels", format_bytes, before.hop_bytes, after.hop_bytes),
    ]
    used = len(set(better.placement.hosts.tolist()))
    hosts = counted(better.hosts_available, "host")
    note = (
        f"{counted(better.ranks, 'rank')} on {used:,} of {hosts}, "
        f"{counted(better.moved, 'rank')} moved; {counted(better.phases, 'phase')}; "
        f"{better.seconds:.1f} s"
    )
    remarks = better.remarks
    if better.rails:
        remarks += (f"whole servers move, with the {better.rails} ranks of their adapters",)
    return table_of(
        f"Placement of {better.source} on {better.fabric.name}",
        figures,
        {
            "what": lambda figure: figure[0],
            "given": Number(lambda figure: figure[1](figure[2])),
            "new": Number(lambda figure: figure[1](figure[3])),
            "": lambda figure: _change(*figure[2:]),
        },
        note="; ".join((note, *remarks)),
    )


def _busy(better: BetterSeats, busy: float) -> str:
    if better.unit == "bytes":
        return format_bytes(busy)
    return f"{rounded(busy, 4)} s" if busy >= 1 else f"{rounded(1e3 * busy, 4)} ms"


def _change(before: float, after: float) -> str:
    return f"{100 * (after / before - 1):+.1f} %" if before > 0 else ""


def better_seats_document(better: BetterSeats, form: str = "") -> Document:
    """What the seats are worth, and where they are, in which form."""
    loaded = LoadedSeats(better)
    return Document(
        verdict=f"{_worth(better)} {better.left_out}".rstrip(),
        tables=[_table(better)],
        record=better,
        pictures={name: partial(draw, loaded) for name, draw in DRAWS.items()},
        closing=(f"written to {better.file} as {form}",) if better.file else (),
    )


# Rows of the figure of channels, and channels of the given order that the network points out.
_MOST_CHANNELS = 8
_MARKED = 3
_MOST_LEAVES = 40  # with a name each


@dataclass(frozen=True, eq=False)
class LoadedSeats:
    """What channels carry of a program, over all its phases, in both orders."""

    better: BetterSeats
    """Placement."""

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
    fullest = list(
        dict.fromkeys((*hottest(before, _MOST_CHANNELS), *hottest(after, _MOST_CHANNELS // 2)))
    )
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
