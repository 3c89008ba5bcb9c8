"""Along trees: broadcasts, reductions to a root, gathers and scatters.

A tree says who hands on to whom, by the place after the root.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from contend.schedule.member import Collective, Member, Operation


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
