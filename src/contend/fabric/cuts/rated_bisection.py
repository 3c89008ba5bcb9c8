"""Rated bisection bandwidth: the capacity of the narrowest cut between two halves of the hosts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.names import natural
from contend.base.progress import step
from contend.fabric.composition import Capacities, capacities
from contend.fabric.cuts.cut_graph import CutGraph, metis_parts
from contend.fabric.cuts.exact_bisection import narrowest_side
from contend.fabric.cuts.pairs_bound import pairs_bound
from contend.fabric.fabric import Fabric
from contend.fabric.levels import parts_of

# METIS runs: as many as small fabrics can have in a fraction of a second, a dozen for the largest.
_FEWEST_SEEDS, _MOST_SEEDS, _SWITCHES_FOR_ALL = 12, 96, 100
# Capacities are counted in steps, of which the whole fabric has at most so many.
_MOST_STEPS = 2**30
_STEPS_PER_SLOWEST = 1000


@dataclass(frozen=True)
class Plane:
    """The hosts that cables join to each other, where they join them to no others."""

    part: int
    """Number of the connected part that they are in, see `parts_of`."""
    hosts: int
    """Number of hosts that take part."""
    capacity: float
    """What the cut carries in one direction, in the unit of the `Bisection`."""
    full: float
    """What half of its hosts can send together, in that unit."""
    share: float
    """Quotient of `capacity` and `full`, at most 1."""
    exact: bool
    """Whether no cut is narrower."""
    random_pairs: float
    """The most that random pairs of its hosts get on average."""


@dataclass(frozen=True)
class Bisection:
    """The narrowest cut found between two halves of the hosts that take part.

    Halves have equal numbers of hosts, or differ by one where the number is odd. To find the
    narrowest cut of all is NP-hard: unless `exact`, the true bisection may be narrower. It is no
    bound on what random pairs of hosts get, about half of which do not cross the cut;
    `random_pairs` is one.
    """

    hosts: int
    """Number of hosts that take part."""
    capacity: float
    """What the cut carries in one direction, in `unit`."""
    full: float
    """What half of the hosts can send together, in `unit`."""
    share: float
    """Quotient of `capacity` and `full`, at most 1."""
    exact: bool
    """Whether it is proved that no cut is narrower."""
    unit: str
    """Unit: ``bytes/s``, or ``cables`` where a rate is unknown or all cables count alike."""
    cut_cables: int
    """Number of cables between switches in the cut."""
    cut_host_links: int
    """Number of cables to hosts in it, where cutting hosts off is cheaper."""
    found_by: str
    """Method that found the cut first."""
    random_pairs: float
    """An upper bound, from this and other cuts, for what random pairs of ranks get on average, as a
    share of their hosts' links; see `pairs_bound`."""
    planes: tuple[Plane, ...] = ()
    """Planes, each by itself, where no cable joins some of the hosts to others; empty where all are
    joined."""


def bisection(
    fabric: Fabric,
    hosts: NDArray[np.integer] | Sequence[int] | None = None,
    *,
    ranks: int | None = None,
    alike: bool = False,
) -> Bisection:
    """Searches the narrowest cut between two halves of the hosts that take part.

    In small fabrics, and in larger ones whose switches are mostly alike, it is proved to be the
    narrowest of all; see `narrowest_side`. Elsewhere, halves of the hosts are proposed by METIS
    (several seeds) and by splitting the switches in some natural orders; each half is then given
    its exact minimum cut by maximum flow, which also decides where switches without hosts belong.
    As long as the two sides of that cut, evened out, are a better half, the search goes on from
    there. Deterministic. Cost: that of some 50 maximum flows for thousands of switches, of some
    hundreds for a hundred.

    Args:
        fabric: in which.
        hosts: that take part, a host for every rank that sits there; None: each once.
        ranks: how many of these take part at a time, for `Bisection.random_pairs`; None: all.
        alike: count all cables alike, whatever they carry.
    """
    seats = np.arange(fabric.hosts) if hosts is None else np.asarray(hosts, dtype=np.int64)
    taking_part = _distinct(seats)
    capacity = capacities(fabric, taking_part, alike=alike)
    whole = _bisection(fabric, capacity, seats, ranks)
    if len(np.unique(fabric.switch_part[fabric.host_switch[taking_part]])) < 2:
        return whole
    members = [(part.number, np.intersect1d(part.hosts, taking_part)) for part in parts_of(fabric)]
    planes = (_plane(fabric, capacity, part, hosts) for part, hosts in members if len(hosts))
    return replace(whole, planes=tuple(planes))


def _distinct(hosts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Hosts in order, each once: what numpy finds by hashing, in a twentieth of the time."""
    return np.flatnonzero(np.bincount(hosts))


def _plane(fabric: Fabric, capacity: Capacities, part: int, hosts: NDArray[np.int64]) -> Plane:
    found = _bisection(fabric, capacity, hosts, None)
    return Plane(
        part=part,
        hosts=found.hosts,
        capacity=found.capacity,
        full=found.full,
        share=found.share,
        exact=found.exact,
        random_pairs=found.random_pairs,
    )


def _bisection(
    fabric: Fabric, capacity: Capacities, seats: NDArray[np.int64], ranks: int | None
) -> Bisection:
    hosts = _distinct(seats)
    full = float(capacity.host[hosts].sum()) * (len(hosts) // 2) / max(len(hosts), 1)
    if len(hosts) < 2:
        unit = capacity.unit
        return Bisection(len(hosts), 0.0, full, 1.0, True, unit, 0, 0, "a single host", 1.0)
    graph = CutGraph.of(fabric, capacity, hosts)
    near = narrowest_side(graph)
    exact = near is not None
    if near is None:
        found = _search(fabric, graph, hosts)
    else:
        found = _Cuts(graph).of_side(near, "all sides, one node after the other")
    side = found.near[graph.node]
    cables = (side[fabric.cable_from] != side[fabric.cable_to]).sum()
    return Bisection(
        hosts=len(hosts),
        capacity=found.capacity,
        full=full,
        share=min(1.0, found.capacity / full),
        # Nothing is narrower than nothing.
        exact=exact or found.capacity == 0,
        unit=capacity.unit,
        cut_cables=int(cables),
        cut_host_links=found.host_links,
        found_by=found.found_by,
        random_pairs=pairs_bound(fabric, capacity, side, seats, ranks),
    )


@dataclass(frozen=True, eq=False)
class _Cut:
    capacity: float
    host_links: int
    near: NDArray[np.bool_]
    found_by: str

    def is_narrower_than(self, other: _Cut) -> bool:
        """Clearly, so that rounding decides nothing."""
        return self.capacity < other.capacity * (1 - 1e-9)


class _Cuts:
    """Cuts of a graph; a side is a mask over its nodes, a half one over the hosts."""

    def __init__(self, graph: CutGraph) -> None:
        self.graph = graph
        self.hosts = len(graph.host_node)
        self.hosts_at = graph.hosts_at
        # Slow hosts first: where a switch is split, they are the cheaper ones to part from it.
        self.host_order = np.lexsort((np.arange(self.hosts), graph.host_weight))
        slowest = min(float(graph.host_weight.min()), float(graph.weight.min(initial=np.inf)))
        total = float(graph.host_weight.sum() + graph.weight.sum())
        self.step = max(slowest / _STEPS_PER_SLOWEST, total / _MOST_STEPS)
        self.steps = np.rint(graph.weight / self.step).astype(np.int64)

    def of_side(self, side: NDArray[np.bool_], found_by: str) -> _Cut:
        """What is cut between two sides of the nodes, hosts that are too many on one included."""
        graph = self.graph
        inside = side[graph.host_node]
        if 2 * np.count_nonzero(inside) < self.hosts:
            inside = ~inside
        surplus = max(0, int(np.count_nonzero(inside)) - (self.hosts - self.hosts // 2))
        slowest = self.host_order[inside[self.host_order]][:surplus]
        apart = side[graph.tail] != side[graph.head]
        capacity = float(graph.weight[apart].sum()) / 2 + float(graph.host_weight[slowest].sum())
        return _Cut(capacity, surplus, side, found_by)

    def narrowest_from(self, half: NDArray[np.bool_], found_by: str) -> _Cut:
        """The minimum cut of a half, then of halves made from its two sides while they improve."""
        best, tried = self.minimum_cut(half, found_by), [half]
        while True:
            fresh = [
                new
                for new in self.evened_out(best.near)
                if not any(np.array_equal(new, other) for other in tried)
            ]
            cuts = [self.minimum_cut(new, found_by) for new in fresh]
            narrowest = min(cuts, key=lambda cut: cut.capacity, default=best)
            if not narrowest.is_narrower_than(best):
                return best
            best, tried = narrowest, tried + fresh

    def minimum_cut(self, half: NDArray[np.bool_], found_by: str) -> _Cut:
        """The least that separates the hosts of a half from the others."""
        graph, nodes = self.graph, self.graph.nodes
        source, sink = nodes, nodes + 1
        by_node = [
            np.bincount(graph.host_node[side], graph.host_weight[side], nodes)
            for side in (half, ~half)
        ]
        every = np.arange(nodes)
        reached = _core.minimum_cut(
            nodes + 2,
            np.concatenate([graph.tail, np.full(nodes, source), every]).astype(np.uint32),
            np.concatenate([graph.head, every, np.full(nodes, sink)]).astype(np.uint32),
            np.concatenate(
                [self.steps, *(np.rint(w / self.step).astype(np.int64) for w in by_node)]
            ),
            source,
            sink,
        )
        return self.of_side(reached[:nodes].astype(np.bool_), found_by)

    def first_half(self, order: NDArray[np.int64], count: int | None = None) -> NDArray[np.bool_]:
        """The first half of the hosts when nodes stand in an order, or so many of them."""
        position = np.empty(self.graph.nodes, dtype=np.int64)
        position[order] = np.arange(self.graph.nodes)
        at = position[self.graph.host_node[self.host_order]]
        half = np.zeros(self.hosts, dtype=np.bool_)
        first = self.host_order[np.argsort(at, kind="stable")]
        half[first[: self.hosts // 2 if count is None else count]] = True
        return half

    def evened_out(self, side: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
        """Halves of the hosts by two sides of the nodes: of an odd number of hosts, two.

        The surplus hosts nearest to the smaller side go over to it.
        """
        if 2 * self.hosts_at[side].sum() < self.hosts:
            side = ~side
        # The larger side stands first, its nodes with the strongest ties to the other side last.
        values = np.where(side, -1, 1)[self.graph.head] * self.steps
        pull = np.bincount(self.graph.tail, values, self.graph.nodes)
        order = np.lexsort((pull, ~side))
        counts = {self.hosts // 2, self.hosts - self.hosts // 2}
        return [self.first_half(order, count) for count in sorted(counts)]


def _search(fabric: Fabric, graph: CutGraph, hosts: NDArray[np.int64]) -> _Cut:
    """The narrowest of the cuts that start from some halves."""
    cuts = _Cuts(graph)
    proposals = _proposals(fabric, cuts, hosts)
    best: _Cut | None = None
    with step(f"halves of {fabric.name}") as tell:
        for done, (found_by, halve) in enumerate(proposals):
            tell(done / len(proposals))
            cut = cuts.narrowest_from(halve(), found_by)
            if best is None or cut.is_narrower_than(best):
                best = cut
    assert best is not None
    return best


def _proposals(
    fabric: Fabric, cuts: _Cuts, hosts: NDArray[np.int64]
) -> list[tuple[str, Callable[[], NDArray[np.bool_]]]]:
    """Halves of the hosts, each with what it is called and what finds it."""
    graph = cuts.graph

    def by_number() -> NDArray[np.bool_]:
        return cuts.first_half(_first(np.arange(fabric.switches), graph.node, graph.nodes))

    def by_name() -> NDArray[np.bool_]:
        order = sorted(range(fabric.switches), key=lambda s: (natural(fabric.switch_name[s]), s))
        return cuts.first_half(_first(np.array(order), graph.node, graph.nodes))

    def by_host() -> NDArray[np.bool_]:
        names = [fabric.host_name[host] for host in hosts.tolist()]
        order = sorted(range(len(names)), key=lambda h: (natural(names[h]), h))
        return cuts.first_half(_first(np.array(order), graph.host_node, graph.nodes))

    orders: list[tuple[str, Callable[[], NDArray[np.bool_]]]] = [
        ("switches in their order", by_number),
        ("switches by name", by_name),
        ("switches by their first host's name", by_host),
    ]
    if len(graph.tail) == 0:
        return orders
    seeds = _MOST_SEEDS * _SWITCHES_FOR_ALL // fabric.switches
    return [
        *orders,
        ("switches by distance from one", lambda: cuts.first_half(_by_distance(graph))),
        *(
            (f"METIS, seed {seed}", partial(_metis_half, cuts, seed))
            for seed in range(min(max(seeds, _FEWEST_SEEDS), _MOST_SEEDS))
        ),
    ]


def _first(order: NDArray[np.int64], node: NDArray[np.int64], nodes: int) -> NDArray[np.int64]:
    """Nodes by the first of what is on them, when that stands in an order; then all others."""
    place = np.full(nodes, len(order))
    np.minimum.at(place, node[order], np.arange(len(order)))
    return np.argsort(place, kind="stable")


def _by_distance(graph: CutGraph) -> NDArray[np.int64]:
    """Breadth-first order from a node at the rim, part by part."""
    neighbours = [part.tolist() for part in np.split(graph.head, graph.start[1:-1])]
    order: list[int] = []
    seen: set[int] = set()
    for start in range(graph.nodes):
        if start not in seen:
            reached = _breadth_first(neighbours, _breadth_first(neighbours, start)[-1])
            seen.update(reached)
            order += reached
    return np.array(order, dtype=np.int64)


def _breadth_first(neighbours: list[list[int]], start: int) -> list[int]:
    """What is reached from a node, in the order in which it is."""
    order, seen = [start], {start}
    for node in order:
        for neighbour in neighbours[node]:
            if neighbour not in seen:
                seen.add(neighbour)
                order.append(neighbour)
    return order


def _metis_half(cuts: _Cuts, seed: int) -> NDArray[np.bool_]:
    """Half of the hosts, by what METIS puts into its second part."""
    graph, weight = cuts.graph, cuts.hosts_at.astype(np.int64)
    part = metis_parts(2, graph.start, graph.head, weight=weight, edge_weight=cuts.steps, seed=seed)
    return cuts.evened_out(np.equal(part, 1))[0]
