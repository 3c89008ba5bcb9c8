"""Algorithms of collectives: along trees, blocks of all for all, barriers and reductions.

A tree says who hands on to whom, by the place after the root.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from contend.traffic.schedule.schedule import Collective, Member, Operation


@dataclass(frozen=True)
class _Place:
    parent: int | None
    children: Sequence[int]


Tree = Callable[[int, int], _Place]
"""Of a place and the number of members."""


def star(place: int, size: int) -> _Place:
    """The root hands on to all."""
    return _Place(0, ()) if place else _Place(None, range(1, size))


def chain(place: int, size: int) -> _Place:
    """Each hands on to the next."""
    return _Place(place - 1 if place else None, range(place + 1, min(place + 2, size)))


def binary(place: int, size: int) -> _Place:
    """Each hands on to two."""
    children = range(min(2 * place + 1, size), min(2 * place + 3, size))
    return _Place((place - 1) // 2 if place else None, children)


def _by_digits(radix: int) -> Tree:
    """A parent's place has 0 for the last digit of its child's that is not 0."""

    def tree(place: int, size: int) -> _Place:
        weight = 1
        while weight < size and not place % (radix * weight):
            weight *= radix
        parent = place - place % (radix * weight) if place else None
        children = []
        while weight > 1:
            weight //= radix
            children += [place + digit * weight for digit in range(1, radix)]
        return _Place(parent, [child for child in children if child < size])

    return tree


binomial = _by_digits(2)
quaternary = _by_digits(4)


def broadcast(tree: Tree) -> Collective:
    """Who has the data hands it to all its children at once."""

    def hand_on(member: Member, operation: Operation) -> None:
        place = tree((member.rank - operation.root) % member.size, member.size)
        if place.parent is not None:
            member.wait(member.receive((place.parent + operation.root) % member.size))
        for child in place.children:
            member.send((child + operation.root) % member.size, operation.size)
        member.wait_all()

    return hand_on


def reduce(tree: Tree) -> Collective:
    """Towards the root; every message is added to what is there."""

    def add_up(member: Member, operation: Operation) -> None:
        place = tree((member.rank - operation.root) % member.size, member.size)
        for child in reversed(place.children):
            member.wait(member.receive((child + operation.root) % member.size))
            member.add(operation.size, operation)
        if place.parent is not None:
            to = (place.parent + operation.root) % member.size
            member.wait(member.send(to, operation.size))

    return add_up


def gather_star(member: Member, operation: Operation) -> None:
    """All send their blocks to the root."""
    if member.rank != operation.root:
        member.wait(member.send(operation.root, operation.size))
        return
    for source in range(member.size):
        if source != member.rank:
            member.receive(source)
    member.wait_all()


def scatter_star(member: Member, operation: Operation) -> None:
    """The root sends each its block."""
    if member.rank != operation.root:
        member.wait(member.receive(operation.root))
        return
    for to in range(member.size):
        if to != member.rank:
            member.send(to, operation.to.get(to, operation.size))
    member.wait_all()


def _blocks_below(place: int, size: int) -> int:
    """Members of the binomial tree from a place downwards."""
    return min(place & -place, size - place) if place else size


def gather_binomial(member: Member, operation: Operation) -> None:
    """Each sends its own block with those of all below it."""
    own = (member.rank - operation.root) % member.size
    place = binomial(own, member.size)
    for child in reversed(place.children):
        member.wait(member.receive((child + operation.root) % member.size))
    if place.parent is not None:
        blocks = _blocks_below(own, member.size)
        to = (place.parent + operation.root) % member.size
        member.wait(member.send(to, blocks * operation.size))


def scatter_binomial(member: Member, operation: Operation) -> None:
    """Each gets its own block with those of all below it."""
    own = (member.rank - operation.root) % member.size
    place = binomial(own, member.size)
    if place.parent is not None:
        member.wait(member.receive((place.parent + operation.root) % member.size))
    for child in place.children:
        blocks = _blocks_below(child, member.size)
        member.send((child + operation.root) % member.size, blocks * operation.size)
    member.wait_all()


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
    """Rabenseifner's: a reduce-scatter by halving, and an allgather by doubling.

    Both libraries exchange the largest parts with the nearest member, first and last.
    """
    fold = _fold(member, operation.size, operation)
    steps = [1 << bit for bit in range(fold.power.bit_length() - 1)]
    if fold.place is not None:
        for step in steps:
            partner = fold.member_at(fold.place ^ step)
            member.exchange(partner, operation.size / (2 * step), partner)
            member.add(operation.size / (2 * step), operation)
        for step in reversed(steps):
            partner = fold.member_at(fold.place ^ step)
            member.exchange(partner, operation.size / (2 * step), partner)
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
