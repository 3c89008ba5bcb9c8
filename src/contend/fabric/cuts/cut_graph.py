"""A fabric as narrow cuts see it: switches that no narrowest cut has to part are one node."""

from __future__ import annotations

import signal
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.fabric.composition import Capacities
from contend.fabric.fabric import Fabric, connected_parts

# Weights are compared in steps, of which the largest has so many.
_STEPS = 2**40


@dataclass(frozen=True, eq=False)
class CutGraph:
    """Nodes with hosts and without, and what the cables between them carry."""

    node: NDArray[np.int64]
    """Node of every switch, shape [switches]."""
    nodes: int
    """Number of nodes."""
    tail: NDArray[np.int64]
    """One end of every joined pair, each in both directions, ascending; shape [2 pairs]."""
    head: NDArray[np.int64]
    """Other end, ascending for every tail; shape [2 pairs]."""
    weight: NDArray[np.float64]
    """What all cables of a pair carry in one direction; shape [2 pairs]."""
    host_node: NDArray[np.int64]
    """Node of every host that takes part, shape [hosts]."""
    host_weight: NDArray[np.float64]
    """What a host's cable carries, shape [hosts]."""

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

    @property
    def host_weights_at(self) -> list[NDArray[np.float64]]:
        """What the cables of the hosts on every node carry, ascending."""
        by_node = np.lexsort((self.host_weight, self.host_node))
        return np.split(self.host_weight[by_node], np.cumsum(self.hosts_at)[:-1])

    @property
    def steps(self) -> NDArray[np.float64]:
        """Weights in whole steps: sums of the same rates may differ in their last digits."""
        steps: NDArray[np.float64] = np.rint(self.weight / self.weight.max(initial=1.0) * _STEPS)
        return steps

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
        steps = self.steps.astype(np.uint64)
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


def metis_parts(
    count: int,
    start: NDArray[np.int64],
    head: NDArray[np.int64],
    *,
    weight: NDArray[np.int64],
    edge_weight: NDArray[np.int64],
    seed: int = 0,
) -> NDArray[np.int64]:
    """Which part METIS puts every node in: as heavy ones, with little between them.

    Args:
        count: of parts.
        start: where the neighbours of each node begin in `head`, shape [nodes + 1].
        head: the neighbours.
        weight: of the nodes.
        edge_weight: of what leads to the neighbours.
        seed: of its choices.

    Returns:
        Shape [nodes].
    """
    import pymetis

    try:
        _, part = pymetis.part_graph(
            count,
            pymetis.CSRAdjacency(start, head),
            vweights=weight,
            eweights=edge_weight,
            options=pymetis.Options(seed=seed),
        )
    except RuntimeError:
        # At work METIS catches SIGTERM itself, and leaves it blocked when it gives up.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        signal.raise_signal(signal.SIGTERM)
        raise
    return np.asarray(part, dtype=np.int64)
