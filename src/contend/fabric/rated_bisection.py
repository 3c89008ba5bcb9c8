"""Rated bisection bandwidth: the capacity of the narrowest cut between two halves of the hosts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pymetis
from numpy.typing import NDArray

from contend import _core
from contend.fabric.composition import Capacities, capacities
from contend.fabric.fabric import Fabric
from contend.fabric.pairs_bound import pairs_bound
from contend.fabric.rest import with_hosts

# METIS runs: as many as small fabrics can have in a fraction of a second, a dozen for the largest.
_FEWEST_SEEDS, _MOST_SEEDS, _SWITCHES_FOR_ALL = 12, 96, 100
# Capacities are counted in steps, of which the whole fabric has at most so many.
_MOST_STEPS = 2**30
_STEPS_PER_SLOWEST = 1000


@dataclass(frozen=True)
class Bisection:
    """The narrowest cut found between two halves of the hosts.

    To find the narrowest of all is NP-hard, so this is an upper bound: the true bisection may be
    narrower. On the usual regular fabrics (fat trees, tori, rings, crossbars) it is exact. It is no
    bound on what random pairs of hosts get, about half of which do not cross the cut;
    `random_pairs` is one.

    Attributes:
        capacity: what the cut carries in one direction, in `unit`.
        full: what half of the hosts can send together, in `unit`.
        share: capacity / full, at most 1.
        unit: ``bytes/s``, or ``cables`` where a rate is unknown.
        cut_cables: cables between switches in the cut.
        cut_host_links: cables to hosts in it, where cutting hosts off is cheaper.
        found_by: the method that found the cut first.
        random_pairs: the most that random pairs of hosts get on average, as a share of their links,
            by what this and other cuts carry; see `pairs_bound`.
    """

    capacity: float
    full: float
    share: float
    unit: str
    cut_cables: int
    cut_host_links: int
    found_by: str
    random_pairs: float


def bisection(fabric: Fabric, hosts: NDArray[Any] | None = None) -> Bisection:
    """Searches the narrowest cut between two halves of the hosts, all or those of these numbers.

    Halves of the hosts are proposed by METIS (several seeds) and by splitting the switches in some
    natural orders; each half is then given its exact minimum cut by maximum flow, which also
    decides where switches without hosts belong. As long as the two sides of that cut, evened out,
    are a better half, the search goes on from there. Deterministic. Cost: that of some 50 maximum
    flows for thousands of switches, of some hundreds for a hundred.
    """
    if hosts is not None:
        fabric = with_hosts(fabric, hosts)
    capacity = capacities(fabric)
    full = float(capacity.host.sum()) * (fabric.hosts // 2) / fabric.hosts
    network = _Network(fabric, capacity)
    best: _Cut | None = None
    for found_by, half in _proposals(fabric, network):
        cut = network.narrowest_from(half, found_by)
        if best is None or cut.is_narrower_than(best):
            best = cut
    if best is None:
        return Bisection(0.0, full, 1.0, capacity.unit, 0, 0, "a single host", 1.0)
    return Bisection(
        capacity=best.capacity,
        full=full,
        share=min(1.0, best.capacity / full),
        unit=capacity.unit,
        cut_cables=best.cables,
        cut_host_links=best.host_links,
        found_by=best.found_by,
        random_pairs=pairs_bound(fabric, capacity, best.near),
    )


@dataclass(frozen=True, eq=False)
class _Cut:
    capacity: float
    cables: int
    host_links: int
    near: NDArray[np.bool_]
    found_by: str

    def is_narrower_than(self, other: _Cut) -> bool:
        """Clearly, so that rounding decides nothing."""
        return self.capacity < other.capacity * (1 - 1e-9)


class _Network:
    """The fabric as a flow network; a half is a mask over the hosts, shape [hosts]."""

    def __init__(self, fabric: Fabric, capacity: Capacities) -> None:
        self.fabric = fabric
        self.capacity = capacity
        joins_two = fabric.cable_from != fabric.cable_to
        self.near = fabric.cable_from[joins_two].astype(np.int64)
        self.far = fabric.cable_to[joins_two].astype(np.int64)
        self.cable = capacity.cable[joins_two]
        self.hosts_at = np.bincount(fabric.host_switch, minlength=fabric.switches)
        # Slow hosts first: where a switch is split, they are the cheaper ones to part from it.
        self.host_order = np.lexsort((np.arange(fabric.hosts), capacity.host))
        slowest = min(float(capacity.host.min()), float(self.cable.min(initial=np.inf)))
        total = float(capacity.host.sum() + 2 * self.cable.sum())
        self.step = max(slowest / _STEPS_PER_SLOWEST, total / _MOST_STEPS)
        steps = np.rint(self.cable / self.step).astype(np.int64)
        self.adjacency = _Adjacency(
            fabric.switches,
            np.concatenate([self.near, self.far]),
            np.concatenate([self.far, self.near]),
            np.tile(steps, 2),
        )

    def narrowest_from(self, half: NDArray[np.bool_], found_by: str) -> _Cut:
        """The minimum cut of a half, then of halves made from its two sides while they improve."""
        best = self.minimum_cut(half, found_by)
        while True:
            cut = self.minimum_cut(self.even_out(best.near), found_by)
            if not cut.is_narrower_than(best):
                return best
            best = cut

    def minimum_cut(self, half: NDArray[np.bool_], found_by: str) -> _Cut:
        """The least that separates the hosts of a half from the others."""
        fabric, switches = self.fabric, self.fabric.switches
        source, sink = switches, switches + 1
        by_switch = [
            np.bincount(fabric.host_switch[side], self.capacity.host[side], switches)
            for side in (half, ~half)
        ]
        every = np.arange(switches)
        tail = np.concatenate([self.near, self.far, np.full(switches, source), every])
        head = np.concatenate([self.far, self.near, every, np.full(switches, sink)])
        limit = np.concatenate([self.cable, self.cable, *by_switch])
        reached = _core.minimum_cut(
            switches + 2,
            tail.astype(np.uint32),
            head.astype(np.uint32),
            np.rint(limit / self.step).astype(np.int64),
            source,
            sink,
        )
        return self._cut(half, reached[:switches].astype(np.bool_), found_by)

    def _cut(self, half: NDArray[np.bool_], side: NDArray[np.bool_], found_by: str) -> _Cut:
        cables = side[self.near] != side[self.far]
        links = side[self.fabric.host_switch] != half
        capacity = float(self.cable[cables].sum() + self.capacity.host[links].sum())
        return _Cut(capacity, int(cables.sum()), int(links.sum()), side, found_by)

    def first_half(self, switch_order: NDArray[np.int64]) -> NDArray[np.bool_]:
        """The first half of the hosts when switches stand in an order."""
        position = np.empty(self.fabric.switches, dtype=np.int64)
        position[switch_order] = np.arange(self.fabric.switches)
        hosts = self.host_order[
            np.argsort(position[self.fabric.host_switch[self.host_order]], kind="stable")
        ]
        half = np.zeros(self.fabric.hosts, dtype=np.bool_)
        half[hosts[: self.fabric.hosts // 2]] = True
        return half

    def even_out(self, side: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Half of the hosts by two sides of the switches.

        The surplus hosts nearest to the smaller side go over to it.
        """
        if 2 * self.hosts_at[side].sum() < self.fabric.hosts:
            side = ~side
        # The larger side stands first, its switches with the strongest ties to the other side last.
        pull = self.adjacency.times(np.where(side, -1, 1))
        return self.first_half(np.lexsort((pull, ~side)))


class _Adjacency:
    """Neighbours of every switch with the steps of the cables to them, as METIS wants them.

    Attributes:
        start: where each switch's neighbours begin, shape [switches + 1].
        neighbours: ascending for every switch, each once, shape [joined pairs both ways].
        steps: of all cables to that neighbour, likewise.
    """

    def __init__(
        self,
        switches: int,
        tail: NDArray[np.int64],
        head: NDArray[np.int64],
        steps: NDArray[np.int64],
    ) -> None:
        pairs, which = np.unique(tail * switches + head, return_inverse=True)
        self.switches = switches
        self.ends = pairs // switches
        self.neighbours = pairs % switches
        self.steps = np.bincount(which.reshape(-1), steps, len(pairs)).astype(np.int64)
        self.start = np.searchsorted(self.ends, np.arange(switches + 1))

    def times(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sum over every switch's neighbours, of value times steps; shape [switches]."""
        weighted = self.steps * values[self.neighbours]
        return np.bincount(self.ends, weighted, self.switches).astype(np.int64)

    def breadth_first(self, start: int) -> list[int]:
        """What is reached from a switch, in the order in which it is."""
        order, seen = [start], {start}
        for switch in order:
            for neighbour in self.neighbours[self.start[switch] : self.start[switch + 1]].tolist():
                if neighbour not in seen:
                    seen.add(neighbour)
                    order.append(neighbour)
        return order


def _proposals(fabric: Fabric, network: _Network) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Halves of the hosts, each with what it is called."""
    if fabric.hosts < 2:
        return
    numbers = np.arange(fabric.switches)
    yield "switches in their order", network.first_half(numbers)
    by_name = sorted(range(fabric.switches), key=lambda s: (_natural(fabric.switch_name[s]), s))
    yield "switches by name", network.first_half(np.array(by_name, dtype=np.int64))
    by_host = np.full(fabric.switches, fabric.hosts)
    hosts = sorted(range(fabric.hosts), key=lambda h: (_natural(fabric.host_name[h]), h))
    np.minimum.at(by_host, fabric.host_switch[hosts], np.arange(fabric.hosts))
    yield "switches by their first host's name", network.first_half(np.argsort(by_host))
    if len(network.near) == 0:
        return
    yield "switches by distance from one", network.first_half(_by_distance(network.adjacency))
    seeds = _MOST_SEEDS * _SWITCHES_FOR_ALL // fabric.switches
    for seed in range(min(max(seeds, _FEWEST_SEEDS), _MOST_SEEDS)):
        yield f"METIS, seed {seed}", network.even_out(_metis_side(network, seed))


def _by_distance(adjacency: _Adjacency) -> NDArray[np.int64]:
    """Breadth-first order from a switch at the rim, part by part."""
    order: list[int] = []
    seen: set[int] = set()
    for start in range(adjacency.switches):
        if start not in seen:
            reached = adjacency.breadth_first(adjacency.breadth_first(start)[-1])
            seen.update(reached)
            order += reached
    return np.array(order, dtype=np.int64)


def _metis_side(network: _Network, seed: int) -> NDArray[np.bool_]:
    """Which switches METIS puts into its second part."""
    adjacency = network.adjacency
    neighbours = pymetis.CSRAdjacency(adjacency.start, adjacency.neighbours)
    _, part = pymetis.part_graph(
        2,
        neighbours,
        vweights=network.hosts_at.astype(np.int64),
        eweights=adjacency.steps,
        options=pymetis.Options(seed=seed),
    )
    side: NDArray[np.bool_] = np.asarray(part) == 1
    return side


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Sorts ``leaf 10`` after ``leaf 9``."""
    # Numbers compare as texts of equal length: they may have any number of digits.
    return [
        (1, len(number := piece.lstrip("0")), number) if place % 2 else (0, 0, piece)
        for place, piece in enumerate(re.split(r"([0-9]+)", name))
        if piece
    ]
