"""All-to-alls as schedules: the algorithms of contend's probe, with its sizes and orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from contend.errors import UsageError
from contend.schedule.collectives import barrier
from contend.schedule.schedule import Schedule, Strand
from contend.units import nearest

# What is sent in a barrier is told apart from blocks.
_BARRIER_TAG = 1


@dataclass(frozen=True)
class Exchange:
    """An all-to-all to be carried out.

    Attributes:
        ranks: how many.
        size: bytes that each sends to each other.
        batch: messages each way that ``scattered`` sends at a time.
        in_flight: messages each way that ``inflight`` keeps under way.
        radix: base in which ``bruck`` writes distances.
        ranks_per_node: consecutive ranks that count as one node.
        copy_per_byte: seconds in which a rank copies a byte of its own.
    """

    ranks: int
    size: int
    batch: int = 32
    in_flight: int = 32
    radix: int = 2
    ranks_per_node: int = 1
    copy_per_byte: float = 0.0

    def copy(self, strand: Strand, size: float) -> None:
        """Copies bytes within the rank's memory."""
        if self.copy_per_byte and size:
            strand.compute(size * self.copy_per_byte)


def _strands(exchange: Exchange) -> list[Strand]:
    return [Strand(rank) for rank in range(exchange.ranks)]


def _linear(exchange: Exchange) -> Sequence[Strand]:
    """All receives and all sends at once, then waits for all."""
    strands, ranks = _strands(exchange), exchange.ranks
    for strand in strands:
        for places in range(1, ranks):
            strand.receive((strand.rank - places) % ranks)
        for places in range(1, ranks):
            strand.send((strand.rank + places) % ranks, exchange.size)
        exchange.copy(strand, exchange.size)
        strand.wait_all()
    return strands


def _scattered(exchange: Exchange) -> Sequence[Strand]:
    """Batches of receives and sends, each of which ends before the next."""
    strands, ranks = _strands(exchange), exchange.ranks
    for strand in strands:
        exchange.copy(strand, exchange.size)
        for first in range(1, ranks, exchange.batch):
            batch = range(first, min(ranks, first + exchange.batch))
            for places in batch:
                strand.receive((strand.rank - places) % ranks)
            for places in batch:
                strand.send((strand.rank + places) % ranks, exchange.size)
            strand.wait_all()
    return strands


def _in_flight(exchange: Exchange) -> Sequence[Strand]:
    """Some receives and sends under way; as one ends, the next of its kind begins.

    A rank's receives and its sends go on independently of each other: a strand for each.
    """
    ranks, width = exchange.ranks, min(exchange.in_flight, exchange.ranks - 1)
    receivers = _strands(exchange)
    senders = _strands(exchange)
    for strand in receivers:
        for places in range(1, ranks):
            if places > width:
                strand.wait_for(places - width)
            strand.receive(ranks + (strand.rank - places) % ranks)
        exchange.copy(strand, exchange.size)
        strand.wait_all()
    for strand in senders:
        for places in range(1, ranks):
            if places > width:
                strand.wait_for(places - width)
            strand.send((strand.rank + places) % ranks, exchange.size)
        strand.wait_all()
    return [*receivers, *senders]


def _shift(exchange: Exchange, *, barriers: bool = False) -> Sequence[Strand]:
    """In phase i to rank r + i and from rank r - i."""
    strands, ranks = _strands(exchange), exchange.ranks
    for strand in strands:
        exchange.copy(strand, exchange.size)
        for places in range(1, ranks):
            if barriers and places > 1:
                barrier(strand, ranks, _BARRIER_TAG)
            target, source = (strand.rank + places) % ranks, (strand.rank - places) % ranks
            strand.exchange(target, exchange.size, source)
    return strands


def _shift_barrier(exchange: Exchange) -> Sequence[Strand]:
    """The same with a barrier between phases."""
    return _shift(exchange, barriers=True)


def _exclusive_or(exchange: Exchange) -> Sequence[Strand]:
    """In phase i with rank r xor i."""
    if exchange.ranks & (exchange.ranks - 1):
        raise UsageError(f"xor: expected a power of two of ranks, got {exchange.ranks}")
    strands = _strands(exchange)
    for strand in strands:
        exchange.copy(strand, exchange.size)
        for phase in range(1, exchange.ranks):
            strand.exchange(strand.rank ^ phase, exchange.size, strand.rank ^ phase)
    return strands


def _one_factor(exchange: Exchange) -> Sequence[Strand]:
    """In phase i with rank i - r modulo p; a rank that meets itself only copies."""
    strands = _strands(exchange)
    for strand in strands:
        for phase in range(exchange.ranks):
            partner = (phase - strand.rank) % exchange.ranks
            if partner == strand.rank:
                exchange.copy(strand, exchange.size)
            else:
                strand.exchange(partner, exchange.size, partner)
    return strands


def _bruck(exchange: Exchange) -> Sequence[Strand]:
    """Blocks travel together in log p rounds, by the digits of their distance."""
    strands, ranks = _strands(exchange), exchange.ranks
    radix = min(exchange.radix, max(ranks, 2))
    for strand in strands:
        exchange.copy(strand, ranks * exchange.size)
        weight = 1
        while weight < ranks:
            values = range(1, min(radix, -(-ranks // weight)))
            moved = [
                sum(places // weight % radix == value for places in range(ranks))
                for value in values
            ]
            exchange.copy(strand, sum(moved) * exchange.size)
            for value, blocks in zip(values, moved, strict=True):
                strand.receive((strand.rank - value * weight) % ranks)
                strand.send((strand.rank + value * weight) % ranks, blocks * exchange.size)
            strand.wait_all()
            exchange.copy(strand, sum(moved) * exchange.size)
            weight *= radix
        exchange.copy(strand, ranks * exchange.size)
    return strands


def _nodes(exchange: Exchange) -> list[list[int]]:
    each = exchange.ranks_per_node
    return [
        list(range(first, min(first + each, exchange.ranks)))
        for first in range(0, exchange.ranks, each)
    ]


def _node_ordered(exchange: Exchange, *, barriers: bool = False) -> Sequence[Strand]:
    """In phase i all ranks of a node with all of the node i further on."""
    strands, nodes = _strands(exchange), _nodes(exchange)
    first_barrier = 1 if any(len(node) > 1 for node in nodes) else 2
    for strand in strands:
        own, place = divmod(strand.rank, exchange.ranks_per_node)
        for phase in range(len(nodes)):
            if barriers and phase >= first_barrier:
                barrier(strand, exchange.ranks, _BARRIER_TAG)
            for source in _turned(nodes[(own - phase) % len(nodes)], place, strand.rank):
                strand.receive(source)
            for target in _turned(nodes[(own + phase) % len(nodes)], place, strand.rank):
                strand.send(target, exchange.size)
            if phase == 0:
                exchange.copy(strand, exchange.size)
            strand.wait_all()
    return strands


def _node_ordered_barrier(exchange: Exchange) -> Sequence[Strand]:
    """The same with a barrier between phases."""
    return _node_ordered(exchange, barriers=True)


def _turned(ranks: Sequence[int], place: int, own: int) -> list[int]:
    """A node's other ranks, beginning at a place."""
    turned = [ranks[(place + step) % len(ranks)] for step in range(len(ranks))]
    return [rank for rank in turned if rank != own]


def _hierarchical(exchange: Exchange) -> Sequence[Strand]:
    """Each node's first rank gathers, exchanges with the others, and hands out."""
    strands, nodes = _strands(exchange), _nodes(exchange)
    whole = exchange.ranks * exchange.size
    for own, node in enumerate(nodes):
        leader, members = strands[node[0]], node[1:]
        for member in members:
            strands[member].receive(node[0])
            strands[member].send(node[0], whole)
            strands[member].wait_all()
            leader.receive(member)
        leader.wait_all()
        exchange.copy(leader, len(node) * whole)
        for places in range(1, len(nodes)):
            there, back = nodes[(own + places) % len(nodes)], nodes[(own - places) % len(nodes)]
            size = len(node) * len(there) * exchange.size
            leader.exchange(there[0], size, back[0])
        exchange.copy(leader, len(node) * whole)
        for member in members:
            leader.send(member, whole)
        leader.wait_all()
    return strands


Algorithm = Callable[[Exchange], Sequence[Strand]]

ALGORITHMS: Mapping[str, Algorithm] = {
    "linear": _linear,
    "scattered": _scattered,
    "inflight": _in_flight,
    "shift": _shift,
    "shift-barrier": _shift_barrier,
    "xor": _exclusive_or,
    "one-factor": _one_factor,
    "bruck": _bruck,
    "node-ordered": _node_ordered,
    "node-ordered-barrier": _node_ordered_barrier,
    "hierarchical": _hierarchical,
}
"""Algorithms that can be carried out, by the probe's names for them."""

PHASED = frozenset(
    {"shift", "shift-barrier", "xor", "one-factor", "node-ordered", "node-ordered-barrier"}
)
"""Those in which a rank exchanges with one other rank, or node, at a time."""


def alltoall(algorithm: str, exchange: Exchange) -> Schedule:
    """The schedule of an all-to-all.

    Raises:
        UsageError: there is no such algorithm, or not for so many ranks.
    """
    if algorithm not in ALGORITHMS:
        raise UsageError(
            f"algorithm: expected one of {', '.join(ALGORITHMS)}, got {algorithm!r}"
            f"{nearest(algorithm, list(ALGORITHMS))}"
        )
    return Schedule.of(ALGORITHMS[algorithm](exchange))
