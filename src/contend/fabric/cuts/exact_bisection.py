"""The narrowest of all cuts between two halves of the hosts, where it can be afforded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.fabric.composition import Capacities
from contend.fabric.fabric import Fabric, connected_parts

# Weights are compared in steps, of which the largest has so many.
_STEPS = 2**40


@dataclass(frozen=True, eq=False)
class CutGraph:
    """Nodes with hosts and without, and what the cables between them carry.

    Attributes:
        node: of every switch, shape [switches].
        nodes: how many there are.
        tail: one end of every joined pair, each in both directions, ascending; shape [2 pairs].
        head: the other end, ascending for every tail.
        weight: what all cables of a pair carry in one direction, likewise.
        host_node: node of every host that takes part, shape [hosts].
        host_weight: what a host's cable carries, shape [hosts].
    """

    node: NDArray[np.int64]
    nodes: int
    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    weight: NDArray[np.float64]
    host_node: NDArray[np.int64]
    host_weight: NDArray[np.float64]

    @classmethod
    def of(cls, fabric: Fabric, capacity: Capacities, hosts: NDArray[np.integer]) -> CutGraph:
        """The smallest graph found that has the narrowest cuts of a fabric.

        Whatever side every switch with hosts is on, the least that cables between both sides carry
        is the same in this graph as in the fabric, and is found where all switches of a node are on
        one side. Two rules make it so. A switch without hosts that has half of its capacity
        or more towards one neighbour is never better on another side than that. And switches
        without hosts that colour refinement cannot tell apart may be on one side: the mean of an
        optimal choice over each colour is optimal too, as the least cut is a linear program
        (Grohe, Kersting, Mladenov, Selman, Dimension Reduction via Colour Refinement, ESA 2014).
        So the spines of a regular tree are one node, and each of its planes is like the others.

        Args:
            fabric: whose cables.
            capacity: of them.
            hosts: those that take part, each once; the others are not there.
        """
        near, far = (ends.astype(np.int64) for ends in (fabric.cable_from, fabric.cable_to))
        graph = cls(
            np.arange(fabric.switches),
            fabric.switches,
            np.concatenate([near, far]),
            np.concatenate([far, near]),
            np.tile(capacity.cable, 2),
            fabric.host_switch[hosts].astype(np.int64),
            capacity.host[hosts],
        ).joined(np.arange(fabric.switches))
        while True:
            smaller = graph.joined(graph._dominated())
            smaller = smaller.joined(smaller._colours())
            if smaller.nodes == graph.nodes:
                return graph
            graph = smaller

    @property
    def hosts_at(self) -> NDArray[np.int64]:
        """Number of hosts on every node, shape [nodes]."""
        return np.bincount(self.host_node, minlength=self.nodes)

    @property
    def start(self) -> NDArray[np.int64]:
        """Where the joined pairs of every node begin, shape [nodes + 1]."""
        return np.searchsorted(self.tail, np.arange(self.nodes + 1))

    def joined(self, part: NDArray[np.int64]) -> CutGraph:
        """The graph whose nodes are parts of this one; shape [nodes], numbered from 0."""
        count = int(part.max(initial=-1)) + 1
        tail, head = part[self.tail], part[self.head]
        apart = tail != head
        pairs, which = np.unique(tail[apart] * count + head[apart], return_inverse=True)
        weight = np.bincount(which.reshape(-1), self.weight[apart], len(pairs)).astype(np.float64)
        return CutGraph(
            part[self.node],
            count,
            pairs // max(count, 1),
            pairs % max(count, 1),
            weight,
            part[self.host_node],
            self.host_weight,
        )

    def _dominated(self) -> NDArray[np.int64]:
        """Parts of nodes without hosts, each with the neighbour that has half of its capacity.

        Such a node may follow another that itself follows a third: what follows it has less
        capacity to others than to it, and so does not change what it is drawn to.
        """
        by_weight = np.lexsort((self.weight, self.tail))
        most = by_weight[np.flatnonzero(np.diff(self.tail, append=self.nodes))]
        total = np.bincount(self.tail, self.weight, self.nodes)
        follows = (self.hosts_at[self.tail[most]] == 0) & (
            2 * self.weight[most] >= total[self.tail[most]]
        )
        most = most[follows]
        return connected_parts(self.nodes, self.tail[most], self.head[most])

    def _colours(self) -> NDArray[np.int64]:
        """Parts of nodes that have the same capacity towards every part; with hosts, each is one.

        Nodes are told apart by sums of random numbers, so what comes out is checked.
        """
        held = self.hosts_at > 0
        colour = np.where(held, np.cumsum(held), 0)
        steps = np.rint(self.weight / self.weight.max(initial=1.0) * _STEPS).astype(np.uint64)
        draw = np.random.default_rng(0)
        random = draw.integers(0, 2**64, self.nodes + 1, dtype=np.uint64)
        while True:
            sums = np.zeros(self.nodes, dtype=np.uint64)
            np.add.at(sums, self.tail, steps * random[colour[self.head]])
            finer = np.unique(
                np.stack([colour.astype(np.uint64), sums]), axis=1, return_inverse=True
            )[1].reshape(-1)
            if finer.max(initial=0) == np.unique(colour).size - 1:
                break
            colour = finer
        return finer if self._is_equitable(finer, steps) else np.arange(self.nodes)

    def _is_equitable(self, colour: NDArray[np.int64], steps: NDArray[np.uint64]) -> bool:
        """Whether all nodes of a colour have the same capacity towards each other colour."""
        count = int(colour.max(initial=0)) + 1
        towards, which = np.unique(self.tail * count + colour[self.head], return_inverse=True)
        total = np.zeros(len(towards), dtype=np.uint64)
        np.add.at(total, which.reshape(-1), steps)
        pair = colour[towards // count] * count + towards % count
        _, first, which, nodes = np.unique(
            pair, return_index=True, return_inverse=True, return_counts=True
        )
        same = total == total[first][which.reshape(-1)]
        return bool(same.all()) and bool(
            np.array_equal(nodes, np.bincount(colour)[pair[first] // count])
        )


# Numbers that may be added and compared, in all and at once.
_MOST_STEPS, _MOST_AT_ONCE = 1 << 23, 1 << 20
# In larger graphs only neighbours of what is placed are placed next.
_FEW = 500


def narrowest_side(graph: CutGraph) -> NDArray[np.bool_] | None:
    """The nodes on one side of the narrowest cut between halves of the hosts; None: too much work.

    Nodes are put on either side one after the other. Of all ways to do so, only the one that cuts
    least is kept for every number of hosts on the near side and every choice of sides of the
    *front*, the placed nodes that have neighbours to come. The near side is the one with too many
    hosts, if any: they are cut off from their switches, the slowest first. Cost: for every node, 2
    to the power of the front times half of the hosts; times the node's hosts where rates differ.

    Args:
        graph: of the fabric; with two hosts at least.
    """
    alike = _alike(graph)
    orders = (_Order(graph, groups, wide) for groups in (alike, {}) for wide in (False, True))
    affordable = [order for order in orders if order.complete]
    if not affordable:
        return None
    return _Sides(graph).best(min(affordable, key=lambda order: order.work).steps)


@dataclass(frozen=True)
class _Step:
    """Some nodes with the same neighbours are put on one side together.

    Attributes:
        nodes: these.
        stays: whether a neighbour is still to come, so that it joins the front.
        leaves: nodes of the front that have no neighbour to come from now on.
    """

    nodes: tuple[int, ...]
    stays: bool
    leaves: tuple[int, ...]


class _Order:
    """The order in which nodes are placed, so that the front stays narrow.

    A node whose neighbours are all placed never joins the front, so it comes at once. Of others,
    the next is the one that closes the front most, and then the one with the most neighbours.

    Args:
        graph: of the fabric.
        alike: nodes with all those like them, which come when their neighbours are placed.
        wide: whether any node may be next; otherwise a neighbour of the front, if there is one.
    """

    def __init__(self, graph: CutGraph, alike: dict[int, list[int]], wide: bool) -> None:
        ends = np.split(graph.head, graph.start[1:-1])
        self.steps: list[_Step] = []
        self.work = 0
        self._neighbours = [dict.fromkeys(part.tolist()) for part in ends]
        self._left = [len(part) for part in ends]
        self._hosts = graph.hosts_at.tolist()
        self._counts = len(_numbers_of_hosts(graph))
        self._mixed = len(np.unique(graph.host_weight)) > 1
        self._alike = alike
        self._front: set[int] = set()
        # Other nodes have no hosts and lead to none, or to none but each other.
        waiting = {v for v in range(graph.nodes) if self._left[v] or self._hosts[v]}
        wide = wide and graph.nodes <= _FEW
        ready = [v for v in sorted(waiting) if self._left[v] == 0]
        while waiting and self.complete:
            node = ready[-1] if ready else self._next(waiting, wide)
            nodes = alike.get(node, [node])
            waiting.difference_update(nodes)
            for bundle in _bundles(nodes):
                self._place(bundle)
            ready = [v for v in ready if v in waiting] + [
                v for v in self._neighbours[node] if v in waiting and self._left[v] == 0
            ]

    @property
    def complete(self) -> bool:
        """Whether all of it can be afforded so far."""
        at_once = self._counts << len(self._front)
        return self.work <= _MOST_STEPS and at_once <= _MOST_AT_ONCE

    def _next(self, waiting: set[int], wide: bool) -> int:
        closing = [v for v in self._front if self._left[v] == 1]
        near = {n for v in self._front for n in self._neighbours[v]}
        closed = {next(iter(self._neighbours[v].keys() & waiting)) for v in closing}
        for some in (closed, near if not wide else waiting, waiting):
            fitting = [v for v in some if v in waiting and v not in self._alike]
            if fitting:
                return max(
                    fitting,
                    key=lambda v: (
                        sum(v in self._neighbours[c] for c in closing),
                        len(self._neighbours[v]),
                        -v,
                    ),
                )
        return min(waiting)

    def _place(self, nodes: tuple[int, ...]) -> None:
        first = nodes[0]
        size = self._counts << (len(self._front) + 1)
        hosts = len(nodes) * self._hosts[first]
        self.work += size * (1 + (hosts if self._mixed else 0))
        for node in nodes:
            for neighbour in self._neighbours[node]:
                self._left[neighbour] -= 1
        stays = self._left[first] > 0
        if stays:
            self._front.add(first)
        leaves = tuple(v for v in sorted(self._front) if self._left[v] == 0)
        self._front.difference_update(leaves)
        self.steps.append(_Step(nodes, stays, leaves))


def _numbers_of_hosts(graph: CutGraph) -> NDArray[np.int64]:
    """How many hosts may be on the near side, ascending; see `_Sides`."""
    hosts = len(graph.host_node)
    if len(np.unique(graph.host_weight)) > 1:
        return np.arange(hosts - hosts // 2 + 1)
    return np.arange(0, hosts + 1, int(np.gcd.reduce(graph.hosts_at)))


def _bundles(nodes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """1, 2, 4, ... and the rest of some nodes: any number of them can be on one side."""
    begin = 0
    while begin < len(nodes):
        yield tuple(nodes[begin : 2 * begin + 1])
        begin = 2 * begin + 1


def _alike(graph: CutGraph) -> dict[int, list[int]]:
    """Nodes with those that have the same hosts and the same neighbours, where there are several.

    None of them is a neighbour of another such node: then one of both kinds is left out.
    """
    by_node = np.lexsort((graph.host_weight, graph.host_node))
    hosts = np.split(graph.host_weight[by_node], np.cumsum(graph.hosts_at)[:-1])
    heads = np.split(graph.head, graph.start[1:-1])
    # Sums of the same rates may differ in their last digits.
    weights = np.split(
        np.rint(graph.weight / graph.weight.max(initial=1.0) * 2**40), graph.start[1:-1]
    )
    groups: dict[tuple[bytes, bytes, bytes], list[int]] = {}
    for node in range(graph.nodes):
        key = hosts[node].tobytes(), heads[node].tobytes(), weights[node].tobytes()
        groups.setdefault(key, []).append(node)
    several: dict[int, list[int]] = {}
    for group in groups.values():
        if len(group) > 1 and not any(n in several for n in heads[group[0]].tolist()):
            several.update(dict.fromkeys(group, group))
    return several


class _Sides:
    """The least that is cut, by sides of the front and by hosts on the near side.

    The array has an axis of two for every node of the front (0: far, 1: near), in the order in
    which they joined it, and a last one for numbers of hosts. Where all hosts' cables carry the
    same, what it costs to cut some off depends on their number alone, and is added in the end;
    numbers are then multiples of what divides those of all nodes. Otherwise hosts are cut off with
    their switch, and numbers up to half of all hosts are enough.
    """

    def __init__(self, graph: CutGraph) -> None:
        self._graph = graph
        self._start = graph.start
        self._alike = len(np.unique(graph.host_weight)) == 1
        self._hosts = _numbers_of_hosts(graph)
        self._unit = int(self._hosts[1])
        by_node = np.lexsort((graph.host_weight, graph.host_node))
        self._weights = np.split(graph.host_weight[by_node], np.cumsum(graph.hosts_at)[:-1])
        self._front: list[int] = []
        self._least = np.full(len(self._hosts), np.inf)
        self._least[0] = 0.0

    def best(self, steps: Sequence[_Step]) -> NDArray[np.bool_]:
        """The near side of the narrowest cut, shape [nodes]."""
        placed = [(step, list(self._front), *self._take(step)) for step in steps]
        surplus = self._hosts - (len(self._graph.host_node) + 1) // 2
        cost = self._least + surplus * float(self._graph.host_weight[0])
        count = int(np.argmin(np.where(surplus < 0, np.inf, cost)))
        near = np.zeros(self._graph.nodes, dtype=np.bool_)
        for step, front, cut_off, leaving in reversed(placed):
            for node, others, choice in reversed(leaving):
                near[node] = choice[(*(near[other].astype(int) for other in others), count)]
            at = (*(near[node].astype(int) for node in front), count)
            if not step.stays:
                near[list(step.nodes)] = cut_off[at] >= 0
            if near[step.nodes[0]]:
                hosts = sum(len(self._weights[node]) for node in step.nodes)
                count -= (hosts - max(int(cut_off[at]), 0)) // self._unit
        return near

    def _take(
        self, step: _Step
    ) -> tuple[NDArray[np.signedinteger], list[tuple[int, list[int], NDArray[np.bool_]]]]:
        """Places nodes, and lets others leave the front.

        Returns:
            How many of the nodes' hosts are cut off where they are near, -1 where they are far, by
            sides of the front before and by hosts on the near side after. Then every node that
            leaves, who stays in the front, and whether it is near, by their sides and these hosts.
        """
        far, near = self._least, self._least
        for axis, other in enumerate(self._front):
            weight = self._weight(step.nodes, other)
            one_side = np.array([0.0, weight]).reshape(2, *[1] * (self._least.ndim - axis - 1))
            far, near = far + one_side, near + one_side[::-1]
        near, cut_off = self._with_hosts(step.nodes, near)
        if step.stays:
            self._least = np.stack([far, near], axis=len(self._front))
            self._front.append(step.nodes[0])
        else:
            cut_off = np.where(near < far, cut_off, cut_off.dtype.type(-1))
            self._least = np.minimum(far, near)
        leaving = []
        for node in step.leaves:
            far, near = np.moveaxis(self._least, self._front.index(node), 0)
            self._front.remove(node)
            leaving.append((node, list(self._front), near < far))
            self._least = np.minimum(far, near)
        return cut_off, leaving

    def _weight(self, nodes: Sequence[int], other: int) -> float:
        """What leads from some nodes to another."""
        graph, total = self._graph, 0.0
        for node in nodes:
            own = slice(self._start[node], self._start[node + 1])
            total += float(graph.weight[own][graph.head[own] == other].sum())
        return total

    def _with_hosts(
        self, nodes: Sequence[int], least: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.signedinteger]]:
        """The least with the hosts of some nodes on the near side, and how many are cut off."""
        weights = np.sort(np.concatenate([self._weights[node] for node in nodes]))
        cost = np.concatenate([[0.0], np.cumsum(weights)])
        total = np.full_like(least, np.inf)
        cut_off = np.zeros(least.shape, dtype=np.int8 if self._alike else np.int32)
        for off in range(1 if self._alike else len(cost)):
            more = (len(weights) - off) // self._unit
            before = least[..., : max(0, least.shape[-1] - more)] + cost[off]
            after = total[..., more:]
            better = before < after
            after[better] = before[better]
            cut_off[..., more:][better] = off
        return total, cut_off
