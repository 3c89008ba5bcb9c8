"""Blocks of all members for all members."""

from __future__ import annotations

from contend.schedule.member import Collective, Member, Operation
from contend.schedule.trees import binomial, broadcast, gather_star, scatter_binomial


def to_the_next(member: Member, size: float) -> None:
    """So many bytes to the next member, and as many from the one before."""
    member.exchange((member.rank + 1) % member.size, size, (member.rank - 1) % member.size)


def allgather_ring(member: Member, operation: Operation) -> None:
    """In every phase each hands on the block that it got last."""
    for _ in range(member.size - 1):
        to_the_next(member, operation.size)


def allgather_bruck(member: Member, operation: Operation) -> None:
    """In round k all blocks so far, 2^k of them, to rank r - 2^k."""
    step = 1
    while step < member.size:
        blocks = min(step, member.size - step)
        to, source = (member.rank - step) % member.size, (member.rank + step) % member.size
        member.exchange(to, blocks * operation.size, source)
        step *= 2


def allgather_doubling(member: Member, operation: Operation) -> None:
    """In round k all blocks so far with the member whose place differs in bit k."""
    if member.size & (member.size - 1):
        allgather_bruck(member, operation)
        return
    step = 1
    while step < member.size:
        member.exchange(member.rank ^ step, step * operation.size, member.rank ^ step)
        step *= 2


def allgather_neighbour(member: Member, operation: Operation) -> None:
    """Pairs of neighbours in turns, two blocks at a time after the first (Chen and others 2005)."""
    if member.size % 2:
        allgather_ring(member, operation)
        return
    up = 1 if member.rank % 2 == 0 else -1
    for phase in range(member.size // 2):
        partner = (member.rank + (up if phase % 2 == 0 else -up)) % member.size
        member.exchange(partner, operation.size * (2 if phase else 1), partner)


def gather_broadcast(member: Member, operation: Operation) -> None:
    """All to the first member, which broadcasts them."""
    gather_star(member, Operation(operation.size))
    broadcast(binomial)(member, Operation(member.size * operation.size))


def scatter_allgather(allgather: Collective) -> Collective:
    """A broadcast of large data: a part to each, and all parts to all."""

    def hand_out(member: Member, operation: Operation) -> None:
        part = Operation(operation.size / member.size, operation.root)
        scatter_binomial(member, part)
        allgather(member, part)

    return hand_out
