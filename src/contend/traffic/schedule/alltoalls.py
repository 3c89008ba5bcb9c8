"""All-to-alls as schedules: the algorithms of contend's probe, with its sizes and orders.

Where blocks go straight to their ranks, the plans are the core's, which compiles the same source as
the probe and the drop-in library. The algorithms that forward blocks are written here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import ArgumentError, UsageError
from contend.base.progress import step
from contend.base.units import nearest
from contend.traffic.schedule.algorithms import dissemination
from contend.traffic.schedule.direct import DIRECT, RADIX, ROUTED, WIDTH
from contend.traffic.schedule.phases import Phases
from contend.traffic.schedule.schedule import Member, Schedule, Strand, all_members

# What is sent in a barrier is told apart from blocks.
_BARRIER_TAG = 1
_FIRST_PHASE_TAG = 2


@dataclass(frozen=True)
class Exchange:
    """An all-to-all to be carried out."""

    ranks: int
    """Number of ranks."""
    size: int
    """Bytes that each sends to each other."""
    batch: int = WIDTH
    """Messages each way that ``scattered`` sends at a time."""
    in_flight: int = WIDTH
    """Messages each way that ``inflight`` keeps under way."""
    radix: int = RADIX
    """Base in which ``bruck`` writes distances."""
    hosts: Sequence[int] = ()
    """Number of each rank's host, in any way of counting; empty where each has its own."""
    copy_per_byte: float = 0.0
    """Seconds in which a rank copies a byte of its own."""
    phases: Phases | None = None
    """Phases that `ROUTED` algorithms follow; None where the routes are not known."""

    def copy(self, member: Member | Strand, size: float) -> None:
        """Copies bytes within the rank's memory."""
        if self.copy_per_byte and size:
            member.compute(size * self.copy_per_byte)

    @cached_property
    def host_of(self) -> NDArray[np.int32]:
        """Every rank's host, counted in the order of their first ranks."""
        hosts = list(self.hosts) or range(self.ranks)
        number = {host: place for place, host in enumerate(dict.fromkeys(hosts))}
        return np.array([number[host] for host in hosts], dtype=np.int32)

    @cached_property
    def nodes(self) -> list[list[int]]:
        """The ranks of every host."""
        nodes: list[list[int]] = [[] for _ in range(int(self.host_of.max()) + 1)]
        for rank, host in enumerate(self.host_of.tolist()):
            nodes[host].append(rank)
        return nodes


@dataclass(frozen=True)
class RankPlan:
    """One rank's messages."""

    phases: Sequence[tuple[Sequence[int], Sequence[int]]]
    """Ranks that it sends to in each phase, and those that it receives from."""
    own: int
    """Phase in which it copies its own block, while messages are under way; -1: before."""
    in_flight: int
    """Number of messages each way at a time where above 0: phases need not end, and as a message
    ends, the next of its direction begins."""


def plan(algorithm: str, exchange: Exchange, rank: int) -> RankPlan:
    """A rank's plan of a `DIRECT` schedule.

    Raises:
        UsageError: not for so many ranks, or without the phases that it follows.
    """
    direct = DIRECT[algorithm]
    widths = {"batch": exchange.batch, "in-flight": exchange.in_flight}
    made = _core.make_plan(
        direct.number,
        rank,
        exchange.ranks,
        min(widths.get(direct.option, 1), exchange.ranks),
        exchange.host_of,
        *_phases_of(rank, exchange, needed=algorithm in ROUTED),
    )
    to, source = made["to"].tolist(), made["source"].tolist()
    to_end, source_end = [0, *made["to_end"].tolist()], [0, *made["source_end"].tolist()]
    phases = [
        (to[to_end[phase] : to_end[phase + 1]], source[source_end[phase] : source_end[phase + 1]])
        for phase in range(len(to_end) - 1)
    ]
    return RankPlan(phases, made["own"], made["in_flight"])


def _phases_of(
    rank: int, exchange: Exchange, *, needed: bool
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    phases = exchange.phases
    if not needed:
        return np.empty(0, np.int32), np.empty(0, np.int32)
    if phases is None or phases.ranks != exchange.ranks:
        raise UsageError(
            f"routed: expected phases of {exchange.ranks} ranks, got "
            f"{'none' if phases is None else phases}; traffic.schedule.phases_by_routes makes them"
        )
    return phases.target[rank], phases.source[rank]


def exchange_directly(
    member: Member,
    algorithm: str,
    exchange: Exchange,
    to: Mapping[int, float] | None = None,
    sources: Sequence[int] | None = None,
) -> None:
    """One member's part by a `DIRECT` schedule, but for ``inflight``.

    A member that does nothing else has the number of their phase as tags of its messages: ranks may
    sit a phase out, so that others cannot be told by counting.

    Args:
        member: whose part it is.
        algorithm: the schedule.
        exchange: what is exchanged.
        to: where amounts differ, bytes to the members that get a message.
        sources: likewise, the members that a message comes from.
    """
    direct, strand, strands = DIRECT[algorithm], member.strand, member.strands
    made = plan(algorithm, exchange, member.rank)
    if made.own < 0:
        exchange.copy(member, exchange.size)
    for number, (targets, origins) in enumerate(made.phases):
        if direct.barriers and number:
            dissemination(replace(member, tag=_BARRIER_TAG))
        tag = _FIRST_PHASE_TAG + number if member.alone else member.tag
        begun = [
            strand.receive(strands[source], tag)
            for source in origins
            if sources is None or source in sources
        ]
        for target in targets:
            if to is None or target in to:
                size = exchange.size if to is None else to[target]
                begun.append(strand.send(strands[target], size, tag))
        if number == made.own:
            exchange.copy(member, exchange.size)
        if member.alone and not direct.paired:
            strand.wait_all()
            continue
        for request in begun:
            strand.wait(request)


@cache
def _moved(ranks: int, radix: int, weight: int) -> tuple[int, ...]:
    """Blocks whose distance has each digit from 1 on at a place of so much weight."""
    digits = np.arange(ranks) // weight % radix
    return tuple(np.bincount(digits)[1:].tolist())


def _bruck(member: Member, exchange: Exchange) -> None:
    """Blocks travel together in log p rounds, by the digits of their distance."""
    ranks = member.size
    radix = min(exchange.radix, max(ranks, 2))
    exchange.copy(member, ranks * exchange.size)
    weight = 1
    while weight < ranks:
        moved = _moved(ranks, radix, weight)
        exchange.copy(member, sum(moved) * exchange.size)
        for value, blocks in enumerate(moved, start=1):
            member.receive((member.rank - value * weight) % ranks)
            member.send((member.rank + value * weight) % ranks, blocks * exchange.size)
        member.wait_all()
        exchange.copy(member, sum(moved) * exchange.size)
        weight *= radix
    exchange.copy(member, ranks * exchange.size)


def _hierarchical(member: Member, exchange: Exchange) -> None:
    """Each node's first rank gathers, exchanges with the others, and hands out."""
    nodes = exchange.nodes
    whole = exchange.ranks * exchange.size
    own = int(exchange.host_of[member.rank])
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
    ranks = exchange.ranks
    receivers = [Strand(rank) for rank in range(ranks)]
    senders = [Strand(rank) for rank in range(ranks)]
    for receiver, sender in zip(receivers, senders, strict=True):
        made = plan(_IN_FLIGHT, exchange, receiver.rank)
        targets = [target for phase, _ in made.phases for target in phase]
        sources = [source for _, phase in made.phases for source in phase]
        for place, (target, source) in enumerate(zip(targets, sources, strict=True)):
            if place >= made.in_flight:
                receiver.wait_for(place - made.in_flight + 1)
                sender.wait_for(place - made.in_flight + 1)
            receiver.receive(ranks + source)
            sender.send(target, exchange.size)
        exchange.copy(receiver, exchange.size)
        receiver.wait_all()
        sender.wait_all()
    return [*receivers, *senders]


Algorithm = Callable[[Member, Exchange], None]
_IN_FLIGHT = "inflight"


def _directly(algorithm: str) -> Algorithm:
    return lambda member, exchange: exchange_directly(member, algorithm, exchange)


MEMBERS: Mapping[str, Algorithm] = {
    **{name: _directly(name) for name in DIRECT if name != _IN_FLIGHT},
    "bruck": _bruck,
    "hierarchical": _hierarchical,
}
"""One member's part by the algorithm's name, where a rank does one thing after the other."""
ALGORITHMS = (*DIRECT, "bruck", "hierarchical")
"""Algorithms that can be carried out, by the probe's names for them."""


def suited(ranks: int) -> list[str]:
    """The algorithms that can be carried out on so many ranks."""
    return [
        name
        for name in ALGORITHMS
        if name not in DIRECT or not DIRECT[name].power_of_two or not ranks & (ranks - 1)
    ]


def _expect_known(algorithm: str) -> None:
    if algorithm not in ALGORITHMS:
        raise ArgumentError(
            "algorithm",
            f"expected one of {', '.join(ALGORITHMS)}, got {algorithm!r}"
            f"{nearest(algorithm, list(ALGORITHMS))}",
        )


def messages_of(algorithm: str, exchange: Exchange) -> int:
    """About how many messages the schedule of an all-to-all has, those of barriers among them.

    Raises:
        UsageError: there is no such algorithm.
    """
    _expect_known(algorithm)
    ranks, nodes = exchange.ranks, len(exchange.nodes)
    if algorithm == "bruck":
        return ranks * (exchange.radix - 1) * ranks.bit_length()
    if algorithm == "hierarchical":
        return nodes * (nodes - 1) + 2 * (ranks - nodes)
    routed = exchange.phases if algorithm in ROUTED else None
    phases = ranks if routed is None else len(routed)
    in_barrier = ranks * (ranks - 1).bit_length()
    barriers = phases - 1 if DIRECT[algorithm].barriers else 0
    return ranks * (ranks - 1) + barriers * in_barrier


def alltoall(algorithm: str, exchange: Exchange) -> Schedule:
    """The schedule of an all-to-all.

    Raises:
        UsageError: there is no such algorithm, or not for so many ranks.
    """
    _expect_known(algorithm)
    if algorithm == _IN_FLIGHT:
        return Schedule.of(_in_flight(exchange))
    members = all_members(exchange.ranks)
    with step(f"schedule of {algorithm}") as tell:
        for member in members:
            MEMBERS[algorithm](member, exchange)
            tell((member.rank + 1) / len(members))
    return Schedule.of([member.strand for member in members])
