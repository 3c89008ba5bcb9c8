"""The narrowest of all cuts between two halves of the hosts, where it can be afforded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.fabric.cuts.cut_graph import CutGraph

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
    """Some nodes with the same neighbours are put on one side together."""

    nodes: tuple[int, ...]
    """Nodes that it takes."""
    stays: bool
    """Whether a neighbour is still to come, so that it joins the front."""
    leaves: tuple[int, ...]
    """Nodes of the front that have no neighbour to come from now on."""


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
    hosts = graph.host_weights_at
    heads = np.split(graph.head, graph.start[1:-1])
    weights = np.split(graph.steps, graph.start[1:-1])
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
        self._weights = graph.host_weights_at
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
