"""What of a network a page lets one explore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from contend.base.units import counted
from contend.congestion import BesideCounters, Simulation
from contend.fabric import (
    Fabric,
    missing_cables,
    short_names,
    without_numbers,
)
from contend.report.fabric.marks import Mark, faults
from contend.report.fabric.scene import MOST_HOSTS, Layer, layer_of
from contend.routes import NO_PORT, all_to_all_load, mended

# Entries of tables: a page with more is opened slowly.
_MOST_ENTRIES = 16_000_000


@dataclass(frozen=True, eq=False)
class Followed:
    """The routes of a state."""

    words: str
    """Words for them, as a sentence begins."""
    ports: NDArray[np.uint16] | None = None
    """Port by which every switch sends to every host, `NO_PORT` for none, shape [switches, hosts];
    None where no tables tell it."""


@dataclass(frozen=True, eq=False)
class Within:
    """A part of a network, or one of its states, in the numbers of the whole."""

    whole: Fabric
    """The network that holds it."""
    switches: NDArray[np.int64]
    """Number of each of its switches in the whole."""
    hosts: NDArray[np.int64]
    """Number of each of its hosts."""
    cables: NDArray[np.int64]
    """Number of each of its cables between switches."""

    @property
    def channels(self) -> NDArray[np.int64]:
        """Number of each of its channels: between switches, from hosts, to hosts."""
        between = (2 * self.cables[:, np.newaxis] + [0, 1]).ravel()
        host = 2 * self.whole.cables + self.hosts
        return np.concatenate([between, host, host + self.whole.hosts])

    def layer(self, layer: Layer) -> Layer:
        """What its channels carry, over the channels of the whole."""
        size = 2 * self.whole.cables
        if len(layer.load) > 2 * len(self.cables):
            size += 2 * self.whole.hosts
        load, heat = np.zeros((2, size))
        at = self.channels[: len(layer.load)]
        load[at], heat[at] = layer.load, layer.heat
        return replace(layer, load=load, heat=heat)

    def followed(self, routes: Followed) -> Followed:
        """Its routes, to the hosts of the whole."""
        if routes.ports is None:
            return routes
        ports = np.full((self.whole.switches, self.whole.hosts), NO_PORT, dtype=np.uint16)
        ports[np.ix_(self.switches, self.hosts)] = routes.ports
        return replace(routes, ports=ports)

    def missing(self) -> list[tuple[str, int]]:
        """What the whole has besides: ``switch``, ``host`` or ``cable``, and its number."""
        sizes = {"switch": self.whole.switches, "host": self.whole.hosts}
        sizes["cable"] = self.whole.cables
        own = {"switch": self.switches, "host": self.hosts, "cable": self.cables}
        return [
            (kind, number)
            for kind, size in sizes.items()
            for number in np.setdiff1d(np.arange(size), own[kind]).tolist()
        ]


@dataclass(frozen=True, eq=False)
class View:
    """The network in one state."""

    name: str
    """Name of the state, such as an engine's name or a failure."""
    routes: Followed
    """Routes that messages take in it."""
    layers: Mapping[str, Layer] = field(default_factory=dict)
    """What its channels carry, by what it comes from. Layers of one name in two views are drawn in
    one scale."""
    gone: Sequence[tuple[str, int]] = ()
    """Parts that are dead in it: ``switch`` or ``cable``, and its number."""
    words: str = ""
    """What that costs, in a sentence; "" where nothing is to be said."""
    missing: Sequence[tuple[str, int]] = ()
    """Parts that only other states have: ``switch``, ``host`` or ``cable``, and number."""
    rate: NDArray[np.uint16] | None = None
    """Rate of every cable in it, then of every host, as an index into the fabric's rates; None as
    in the fabric."""
    apart: tuple[Fabric, Within] | None = None
    """The state itself, where it is too unlike the others to be drawn at their places."""


@dataclass(frozen=True, eq=False)
class PartNames:
    """What parts are called."""

    host: Sequence[str]
    """Name of every host, shape [hosts]."""
    switch: Sequence[str]
    """Name of every switch, shape [switches]."""
    short: Sequence[str]
    """Names of switches without what all have in common."""

    @classmethod
    def of(cls, fabric: Fabric) -> PartNames:
        """The names of a fabric's own parts."""
        return cls(fabric.host_label, fabric.switch_label, short_names(fabric))


@dataclass(frozen=True, eq=False)
class Explorable:
    """A network with everything that can be looked up in it."""

    fabric: Fabric
    """The network."""
    views: Sequence[View] = ()
    """States of it, the present one first."""
    marks: Sequence[Mark] = ()
    """Faults and other parts to point out, by numbers of the fabric."""
    costs: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """What the death of a part costs, in words, by ``switch`` or ``cable`` and number."""
    jobs: Sequence[str] = ()
    """Name of the job on every host, shape [hosts]; "" where none runs. Empty: nobody asked."""
    jobs_on: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    """Jobs whose messages cross a channel, by its number: the heat of each by its name, that of the
    most first."""
    beside: int | None = None
    """Number of the view that stands beside the first one from the start; None for none."""
    twins: Sequence[tuple[str, int, int]] = ()
    """Pairs of ``host`` or ``cable``, by numbers, that are one part at two places."""
    names: PartNames | None = None
    """Names of its parts; None: the fabric's."""


def explored(
    fabric: Fabric,
    views: Sequence[View] = (),
    marks: Sequence[Mark] = (),
    costs: Mapping[tuple[str, int], str] | None = None,
    jobs: Sequence[str] = (),
    jobs_on: Mapping[int, Mapping[str, float]] | None = None,
) -> Explorable | None:
    """A network as its page shows it, with its faults; None where it is too large for a page.

    Args:
        fabric: the network.
        views: states of it; none: as it is, with its routes.
        marks: what else to point out.
        costs: see `Explorable`.
        jobs: likewise.
        jobs_on: likewise.
    """
    if fabric.hosts > MOST_HOSTS:
        return None
    views = views or [View("now", followed(fabric), routes_layer(fabric))]
    told = (*faults(fabric), *_lacking(fabric), *marks)
    return Explorable(fabric, views, told, costs or {}, jobs, jobs_on or {})


def _lacking(fabric: Fabric) -> list[Mark]:
    """Pairs of switches that lack cables, told at both."""
    names, marks = short_names(fabric), []
    for pair in missing_cables(fabric):
        one, other = (names[end] for end in pair.switches)
        words = f"{pair.cables} of {counted(pair.usual, 'cable')} between {one} and {other}"
        marks += [Mark("missing", "switch", end, words) for end in pair.switches]
    return marks


def followed(fabric: Fabric) -> Followed:
    """The routes of a fabric, as far as a page can hold them."""
    routes = fabric.routes
    if routes is None:
        return Followed("No routes were given")
    words = f"Routes by {routes.engine}" if routes.engine else "Routes from a file"
    if routes.tables is None:
        return Followed(words)
    if fabric.switches * fabric.hosts > _MOST_ENTRIES:
        return Followed(f"{words}, too many for a page")
    ports = routes.tables.ports[:, fabric.host_lid]
    ports[:, fabric.host_lid == 0] = NO_PORT
    return Followed(words, ports)


def routes_layer(fabric: Fabric) -> dict[str, Layer]:
    """The routes of an all-to-all over every channel between switches, where tables tell them."""
    if fabric.tables is None:
        return {}
    return {"all routes": layer_of(fabric, all_to_all_load(fabric))}


def simulation_views(simulations: Sequence[Simulation]) -> list[View]:
    """A view for each of several simulations of one fabric: what its channels carry in a round."""
    several = len(simulations) > 1
    views = []
    for one in simulations:
        fabric = one.whole_fabric
        layer = Layer(one.channel_load, one.channel_heat, "messages a round", one.heat_unit)
        name = (one.engine or "routes from a file") if several else "now"
        layers = {f"load of {one.pattern}": layer, **routes_layer(fabric)}
        if one.counters is not None:
            layers["port counters"] = _counters_layer(one.counters, one.heat_unit)
        views.append(View(name, followed(fabric), layers))
    return views


def _counters_layer(beside: BesideCounters, heat_unit: str) -> Layer:
    """What ports have counted: of the rate of every link where the time is known, else bytes.

    Nothing is drawn where no port counted.
    """
    values = np.zeros((2, beside.fabric.channels))
    timed = beside.seconds is not None
    for channel in beside.channels:
        busy = 100 * (channel.busy or 0.0)
        values[:, channel.channel] = (busy, busy) if timed else (channel.bytes, channel.heat)
    return Layer(*values, *(("% of the link's rate",) if timed else ("bytes", heat_unit)))


def failure_views(
    fabric: Fabric, parts: Sequence[tuple[str, int]], words: Sequence[str]
) -> list[View]:
    """Views without one part each, by mended tables, where tables tell the routes.

    Args:
        fabric: whole.
        parts: what dies: ``switch`` or ``cable``, and its number.
        words: what that costs.
    """
    if fabric.tables is None:
        return []
    views, cables = [], np.arange(fabric.cables)
    for (kind, number), cost in zip(parts, words, strict=True):
        dead = {"switches": [number]} if kind == "switch" else {"cables": [number]}
        rest = without_numbers(fabric, **dead)
        healed = mended(fabric, rest)[0]
        at_switch = (fabric.cable_from == number) | (fabric.cable_to == number)
        # The rest has the cables that are left, in their order.
        left = np.flatnonzero(~at_switch if kind == "switch" else cables != number)
        within = Within(fabric, rest.switches, rest.hosts, left)
        name = fabric.switch_label[number] if kind == "switch" else fabric.channel_name(2 * number)
        found = within.followed(followed(healed))
        found = replace(found, words=f"{found.words}, mended")
        layers = {"all routes": within.layer(routes_layer(healed)["all routes"])}
        views.append(View(f"without {name}", found, layers, [(kind, number)], cost))
    return views
