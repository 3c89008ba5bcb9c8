"""Barriers, and reductions whose result all members get."""

from __future__ import annotations

from dataclasses import dataclass

from contend.schedule.allgathers import allgather_ring, to_the_next
from contend.schedule.member import Member, Operation
from contend.schedule.trees import binomial, gather_binomial, reduce, scatter_star


def dissemination(member: Member, operation: Operation | None = None) -> None:
    """A barrier: in round k an empty message to rank r + 2^k and one from r - 2^k."""
    step = 1
    while step < member.size:
        to, source = (member.rank + step) % member.size, (member.rank - step) % member.size
        member.exchange(to, 0, source)
        step *= 2


@dataclass(frozen=True)
class _Fold:
    """A power of two of members, into which those that are too many have been folded."""

    power: int
    extra: int
    place: int | None

    def member_at(self, place: int) -> int:
        return 2 * place + 1 if place < self.extra else place + self.extra


def _fold(member: Member, size: float, operation: Operation) -> _Fold:
    """Members that are too many for a power of two hand their data to a neighbour."""
    power = 1 << (member.size.bit_length() - 1)
    extra = member.size - power
    if member.rank >= 2 * extra:
        return _Fold(power, extra, member.rank - extra)
    if member.rank % 2 == 0:
        member.wait(member.send(member.rank + 1, size))
        return _Fold(power, extra, None)
    member.wait(member.receive(member.rank - 1))
    member.add(size, operation)
    return _Fold(power, extra, member.rank // 2)


def _unfold(member: Member, size: float, fold: _Fold) -> None:
    """They get the result from that neighbour."""
    if fold.place is None:
        member.wait(member.receive(member.rank + 1))
    elif member.rank < 2 * fold.extra:
        member.wait(member.send(member.rank - 1, size))


def recursive_doubling(member: Member, operation: Operation) -> None:
    """In round k all data with the member whose place differs in bit k."""
    fold = _fold(member, operation.size, operation)
    step = 1
    while fold.place is not None and step < fold.power:
        partner = fold.member_at(fold.place ^ step)
        member.exchange(partner, operation.size, partner)
        member.add(operation.size, operation)
        step *= 2
    _unfold(member, operation.size, fold)


def _halve(member: Member, fold: _Fold, operation: Operation) -> None:
    """Half of what is left to the member half of those left away."""
    step, size = fold.power // 2, operation.size / 2
    while fold.place is not None and step:
        partner = fold.member_at(fold.place ^ step)
        member.exchange(partner, size, partner)
        member.add(size, operation)
        step, size = step // 2, size / 2


def halving_doubling(member: Member, operation: Operation) -> None:
    """Rabenseifner's: a reduce-scatter by halving, and an allgather by doubling."""
    fold = _fold(member, operation.size, operation)
    _halve(member, fold, operation)
    step = 1
    while fold.place is not None and step < fold.power:
        partner = fold.member_at(fold.place ^ step)
        member.exchange(partner, operation.size * step / fold.power, partner)
        step *= 2
    _unfold(member, operation.size, fold)


def halving_gather(member: Member, operation: Operation) -> None:
    """Rabenseifner's for one: a reduce-scatter by halving, and a gather."""
    fold = _fold(member, operation.size, operation)
    _halve(member, fold, operation)
    gather_binomial(member, Operation(operation.size / member.size, operation.root))


def allreduce_ring(member: Member, operation: Operation) -> None:
    """A ring of reduce-scatter, and a ring of allgather."""
    if operation.size < member.size:
        recursive_doubling(member, operation)
        return
    reduce_scatter_ring(member, operation)
    allgather_ring(member, Operation(operation.size / member.size))


def reduce_scatter_ring(member: Member, operation: Operation) -> None:
    """In every phase each hands on a block with its own share added."""
    block = operation.size / member.size
    for _ in range(member.size - 1):
        to_the_next(member, block)
        member.add(block, operation)


def recursive_halving(member: Member, operation: Operation) -> None:
    """Half of what is left to the member half of those left away, until a block is left."""
    fold = _fold(member, operation.size, operation)
    _halve(member, fold, operation)
    _unfold(member, operation.size / member.size, fold)


def reduce_and_scatter(member: Member, operation: Operation) -> None:
    """A reduction to one, which scatters the blocks."""
    reduce(binomial)(member, operation)
    scatter_star(member, Operation(operation.size / member.size))


def scan(member: Member, operation: Operation) -> None:
    """From each to the next, which adds its own."""
    if member.rank:
        member.wait(member.receive(member.rank - 1))
        member.add(operation.size, operation)
    if member.rank + 1 < member.size:
        member.wait(member.send(member.rank + 1, operation.size))
