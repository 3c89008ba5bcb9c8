"""All-to-alls as schedules: the algorithms of contend's probe, with its sizes and orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from contend.errors import UsageError
from contend.schedule.member import Member, all_members
from contend.schedule.phases import Phases
from contend.schedule.reductions import dissemination
from contend.schedule.schedule import Schedule, Strand
from contend.units import nearest

# What is sent in a barrier is told apart from blocks.
_BARRIER_TAG = 1
_FIRST_PHASE_TAG = 2


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
        phases: that `ROUTED` algorithms follow; None where the routes are not known.
    """

    ranks: int
    size: int
    batch: int = 32
    in_flight: int = 32
    radix: int = 2
    ranks_per_node: int = 1
    copy_per_byte: float = 0.0
    phases: Phases | None = None

    def copy(self, member: Member | Strand, size: float) -> None:
        """Copies bytes within the rank's memory."""
        if self.copy_per_byte and size:
            member.compute(size * self.copy_per_byte)


def _linear(member: Member, exchange: Exchange) -> None:
    """All receives and all sends at once, then waits for all."""
    for places in range(1, member.size):
        member.receive((member.rank - places) % member.size)
    for places in range(1, member.size):
        member.send((member.rank + places) % member.size, exchange.size)
    exchange.copy(member, exchange.size)
    member.wait_all()


def _scattered(member: Member, exchange: Exchange) -> None:
    """Batches of receives and sends, each of which ends before the next."""
    exchange.copy(member, exchange.size)
    for first in range(1, member.size, exchange.batch):
        batch = range(first, min(member.size, first + exchange.batch))
        for places in batch:
            member.receive((member.rank - places) % member.size)
        for places in batch:
            member.send((member.rank + places) % member.size, exchange.size)
        member.wait_all()


def _shift(member: Member, exchange: Exchange, *, barriers: bool = False) -> None:
    """In phase i to rank r + i and from rank r - i."""
    exchange.copy(member, exchange.size)
    for places in range(1, member.size):
        if barriers and places > 1:
            dissemination(replace(member, tag=_BARRIER_TAG))
        to, source = (member.rank + places) % member.size, (member.rank - places) % member.size
        member.exchange(to, exchange.size, source)


def _exclusive_or(member: Member, exchange: Exchange) -> None:
    """In phase i with rank r xor i."""
    if member.size & (member.size - 1):
        raise UsageError(f"xor: expected a power of two of ranks, got {member.size}")
    exchange.copy(member, exchange.size)
    for phase in range(1, member.size):
        member.exchange(member.rank ^ phase, exchange.size, member.rank ^ phase)


def _one_factor(member: Member, exchange: Exchange) -> None:
    """In phase i with rank i - r modulo p; a rank that meets itself only copies."""
    for phase in range(member.size):
        partner = (phase - member.rank) % member.size
        if partner == member.rank:
            exchange.copy(member, exchange.size)
        else:
            member.exchange(partner, exchange.size, partner)


def _routed(member: Member, exchange: Exchange, *, barriers: bool = False) -> None:
    """In phases in which no two messages share a channel; every message has its phase's tag."""
    phases = exchange.phases
    if phases is None or phases.ranks != exchange.ranks:
        raise UsageError(
            f"routed: expected phases of {exchange.ranks} ranks, got "
            f"{'none' if phases is None else phases}; contend.schedule.phases_by_routes makes them"
        )
    exchange.copy(member, exchange.size)
    targets, sources = phases.target[member.rank].tolist(), phases.source[member.rank].tolist()
    for phase, (to, source) in enumerate(zip(targets, sources, strict=True)):
        if barriers and phase:
            dissemination(replace(member, tag=_BARRIER_TAG))
        in_phase = replace(member, tag=_FIRST_PHASE_TAG + phase)
        requests = []
        if source >= 0:
            requests.append(in_phase.receive(source))
        if to >= 0:
            requests.append(in_phase.send(to, exchange.size))
        for request in requests:
            in_phase.wait(request)


def _bruck(member: Member, exchange: Exchange) -> None:
    """Blocks travel together in log p rounds, by the digits of their distance."""
    ranks = member.size
    radix = min(exchange.radix, max(ranks, 2))
    exchange.copy(member, ranks * exchange.size)
    weight = 1
    while weight < ranks:
        values = range(1, min(radix, -(-ranks // weight)))
        moved = [
            sum(places // weight % radix == value for places in range(ranks)) for value in values
        ]
        exchange.copy(member, sum(moved) * exchange.size)
        for value, blocks in zip(values, moved, strict=True):
            member.receive((member.rank - value * weight) % ranks)
            member.send((member.rank + value * weight) % ranks, blocks * exchange.size)
        member.wait_all()
        exchange.copy(member, sum(moved) * exchange.size)
        weight *= radix
    exchange.copy(member, ranks * exchange.size)


def _nodes(exchange: Exchange) -> list[list[int]]:
    each = exchange.ranks_per_node
    return [
        list(range(first, min(first + each, exchange.ranks)))
        for first in range(0, exchange.ranks, each)
    ]


def _node_ordered(member: Member, exchange: Exchange, *, barriers: bool = False) -> None:
    """In phase i all ranks of a node with all of the node i further on."""
    nodes = _nodes(exchange)
    first_barrier = 1 if any(len(node) > 1 for node in nodes) else 2
    own, place = divmod(member.rank, exchange.ranks_per_node)
    for phase in range(len(nodes)):
        if barriers and phase >= first_barrier:
            dissemination(replace(member, tag=_BARRIER_TAG))
        for source in _turned(nodes[(own - phase) % len(nodes)], place, member.rank):
            member.receive(source)
        for to in _turned(nodes[(own + phase) % len(nodes)], place, member.rank):
            member.send(to, exchange.size)
        if phase == 0:
            exchange.copy(member, exchange.size)
        member.wait_all()


def _turned(ranks: Sequence[int], place: int, own: int) -> list[int]:
    """A node's other ranks, beginning at a place."""
    turned = [ranks[(place + step) % len(ranks)] for step in range(len(ranks))]
    return [rank for rank in turned if rank != own]


def _hierarchical(member: Member, exchange: Exchange) -> None:
    """Each node's first rank gathers, exchanges with the others, and hands out."""
    nodes = _nodes(exchange)
    whole = exchange.ranks * exchange.size
    own = member.rank // exchange.ranks_per_node
    leader, *members = nodes[own]
    if member.rank != leader:
        member.receive(leader)
        member.send(leader, whole)
        member.wait_all()
        return
    for source in members:
        member.receive(source)
    member.wait_all()
    exchange.copy(member, len(nodes[own]) * whole)
    for places in range(1, len(nodes)):
        there, back = nodes[(own + places) % len(nodes)], nodes[(own - places) % len(nodes)]
        member.exchange(there[0], len(nodes[own]) * len(there) * exchange.size, back[0])
    exchange.copy(member, len(nodes[own]) * whole)
    for to in members:
        member.send(to, whole)
    member.wait_all()


def _in_flight(exchange: Exchange) -> Sequence[Strand]:
    """Some receives and sends under way; as one ends, the next of its kind begins.

    A rank's receives and its sends go on independently of each other: a strand for each.
    """
    ranks, width = exchange.ranks, min(exchange.in_flight, exchange.ranks - 1)
    receivers = [Strand(rank) for rank in range(ranks)]
    senders = [Strand(rank) for rank in range(ranks)]
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


Algorithm = Callable[[Member, Exchange], None]

MEMBERS: Mapping[str, Algorithm] = {
    "linear": _linear,
    "scattered": _scattered,
    "shift": _shift,
    "shift-barrier": partial(_shift, barriers=True),
    "xor": _exclusive_or,
    "one-factor": _one_factor,
    "routed": _routed,
    "routed-barrier": partial(_routed, barriers=True),
    "bruck": _bruck,
    "node-ordered": _node_ordered,
    "node-ordered-barrier": partial(_node_ordered, barriers=True),
    "hierarchical": _hierarchical,
}
"""One member's part by the algorithm's name, where a rank does one thing after the other."""
_IN_FLIGHT = "inflight"
ALGORITHMS = (*MEMBERS, _IN_FLIGHT)
"""Algorithms that can be carried out, by the probe's names for them."""

ROUTED = ("routed", "routed-barrier")
"""Those that follow phases made from the routes, see `contend.schedule.phases_by_routes`."""
PHASED = frozenset(
    {
        *("shift", "shift-barrier", "xor", "one-factor", "node-ordered", "node-ordered-barrier"),
        *ROUTED,
    }
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
    if algorithm == _IN_FLIGHT:
        return Schedule.of(_in_flight(exchange))
    members = all_members(exchange.ranks)
    for member in members:
        MEMBERS[algorithm](member, exchange)
    return Schedule.of([member.strand for member in members])
