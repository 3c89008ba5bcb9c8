"""Collective operations as messages, by the algorithms with which MPI libraries carry them out.

Every function adds one member's part to its strand. Which algorithm a library takes is said by
`contend.schedule.choices`.

Sources: R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication Operations
in MPICH (2005), for most of them; D. Hensgen, R. Finkel, U. Manber, Two algorithms for barrier
synchronization (1988), for dissemination; J. Bruck and others, Efficient Algorithms for All-to-All
Communications (1997).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from contend.schedule.member import Member


@dataclass(frozen=True)
class Operation:
    """What a member gives and gets in a collective.

    Attributes:
        size: bytes: of the data, of each member's block (gather, scatter, allgather), or of all
            blocks together (reduce-scatter).
        root: place of the member that gives or gets all.
        per_byte: seconds in which a byte is added to another.
        to: bytes to each member that gets any, where members get different amounts.
        sources: members from which any come, likewise.
    """

    size: float = 0.0
    root: int = 0
    per_byte: float = 0.0
    to: Mapping[int, float] = field(default_factory=dict)
    sources: Sequence[int] = ()


Collective = Callable[[Member, Operation], None]


# ---- trees: who hands on to whom, by the place after the root


@dataclass(frozen=True)
class _Place:
    parent: int | None
    children: Sequence[int]


Tree = Callable[[int, int], _Place]


def _star(place: int, size: int) -> _Place:
    return _Place(0, ()) if place else _Place(None, range(1, size))


def _chain(place: int, size: int) -> _Place:
    return _Place(place - 1 if place else None, range(place + 1, min(place + 2, size)))


def _binary(place: int, size: int) -> _Place:
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


_binomial = _by_digits(2)
_quaternary = _by_digits(4)


def _broadcast(tree: Tree) -> Collective:
    """Who has the data hands it to all its children at once."""

    def broadcast(member: Member, operation: Operation) -> None:
        place = tree((member.rank - operation.root) % member.size, member.size)
        if place.parent is not None:
            member.wait(member.receive((place.parent + operation.root) % member.size))
        for child in place.children:
            member.send((child + operation.root) % member.size, operation.size)
        member.wait_all()

    return broadcast


def _reduce(tree: Tree) -> Collective:
    """Towards the root; every message is added to what is there."""

    def reduce(member: Member, operation: Operation) -> None:
        place = tree((member.rank - operation.root) % member.size, member.size)
        for child in reversed(place.children):
            member.wait(member.receive((child + operation.root) % member.size))
            _add(member, operation.size, operation)
        if place.parent is not None:
            to = (place.parent + operation.root) % member.size
            member.wait(member.send(to, operation.size))

    return reduce


def _one_after_the_other(*collectives: Collective) -> Collective:
    def both(member: Member, operation: Operation) -> None:
        for collective in collectives:
            collective(member, operation)

    return both


def _add(member: Member, size: float, operation: Operation) -> None:
    member.compute(size * operation.per_byte)


# ---- barriers and reductions for all


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
    _add(member, size, operation)
    return _Fold(power, extra, member.rank // 2)


def _unfold(member: Member, size: float, fold: _Fold) -> None:
    """They get the result from that neighbour."""
    if fold.place is None:
        member.wait(member.receive(member.rank + 1))
    elif member.rank < 2 * fold.extra:
        member.wait(member.send(member.rank - 1, size))


def _recursive_doubling(member: Member, operation: Operation) -> None:
    """In round k all data with the member whose place differs in bit k."""
    fold = _fold(member, operation.size, operation)
    step = 1
    while fold.place is not None and step < fold.power:
        partner = fold.member_at(fold.place ^ step)
        member.exchange(partner, operation.size, partner)
        _add(member, operation.size, operation)
        step *= 2
    _unfold(member, operation.size, fold)


def _halve(member: Member, fold: _Fold, operation: Operation) -> None:
    """Half of what is left to the member half of those left away."""
    step, size = fold.power // 2, operation.size / 2
    while fold.place is not None and step:
        partner = fold.member_at(fold.place ^ step)
        member.exchange(partner, size, partner)
        _add(member, size, operation)
        step, size = step // 2, size / 2


def _halving_doubling(member: Member, operation: Operation) -> None:
    """Rabenseifner's: a reduce-scatter by halving, and an allgather by doubling."""
    fold = _fold(member, operation.size, operation)
    _halve(member, fold, operation)
    step = 1
    while fold.place is not None and step < fold.power:
        partner = fold.member_at(fold.place ^ step)
        member.exchange(partner, operation.size * step / fold.power, partner)
        step *= 2
    _unfold(member, operation.size, fold)


def _halving_gather(member: Member, operation: Operation) -> None:
    """Rabenseifner's for one: a reduce-scatter by halving, and a gather."""
    fold = _fold(member, operation.size, operation)
    _halve(member, fold, operation)
    _gather_binomial(member, Operation(operation.size / member.size, operation.root))


def _allreduce_ring(member: Member, operation: Operation) -> None:
    """A ring of reduce-scatter, and a ring of allgather."""
    if operation.size < member.size:
        _recursive_doubling(member, operation)
        return
    _reduce_scatter_ring(member, operation)
    _allgather_ring(member, Operation(operation.size / member.size))


def _reduce_scatter_ring(member: Member, operation: Operation) -> None:
    block = operation.size / member.size
    for _ in range(member.size - 1):
        _to_the_next(member, block)
        _add(member, block, operation)


def _recursive_halving(member: Member, operation: Operation) -> None:
    fold = _fold(member, operation.size, operation)
    _halve(member, fold, operation)
    _unfold(member, operation.size / member.size, fold)


def _reduce_and_scatter(member: Member, operation: Operation) -> None:
    _reduce(_binomial)(member, operation)
    _scatter_star(member, Operation(operation.size / member.size))


def _scan(member: Member, operation: Operation) -> None:
    """From each to the next, which adds its own."""
    if member.rank:
        member.wait(member.receive(member.rank - 1))
        _add(member, operation.size, operation)
    if member.rank + 1 < member.size:
        member.wait(member.send(member.rank + 1, operation.size))


def _to_the_next(member: Member, size: float) -> None:
    member.exchange((member.rank + 1) % member.size, size, (member.rank - 1) % member.size)


# ---- allgathers


def _allgather_ring(member: Member, operation: Operation) -> None:
    """In every phase each hands on the block that it got last."""
    for _ in range(member.size - 1):
        _to_the_next(member, operation.size)


def _allgather_bruck(member: Member, operation: Operation) -> None:
    """In round k all blocks so far, 2^k of them, to rank r - 2^k."""
    step = 1
    while step < member.size:
        blocks = min(step, member.size - step)
        to, source = (member.rank - step) % member.size, (member.rank + step) % member.size
        member.exchange(to, blocks * operation.size, source)
        step *= 2


def _allgather_doubling(member: Member, operation: Operation) -> None:
    if member.size & (member.size - 1):
        _allgather_bruck(member, operation)
        return
    step = 1
    while step < member.size:
        member.exchange(member.rank ^ step, step * operation.size, member.rank ^ step)
        step *= 2


def _allgather_neighbour(member: Member, operation: Operation) -> None:
    """Pairs of neighbours in turns, two blocks at a time after the first (Chen and others 2005)."""
    if member.size % 2:
        _allgather_ring(member, operation)
        return
    up = 1 if member.rank % 2 == 0 else -1
    for phase in range(member.size // 2):
        partner = (member.rank + (up if phase % 2 == 0 else -up)) % member.size
        member.exchange(partner, operation.size * (2 if phase else 1), partner)


def _gather_broadcast(member: Member, operation: Operation) -> None:
    _gather_star(member, Operation(operation.size))
    _broadcast(_binomial)(member, Operation(member.size * operation.size))


# ---- gathers and scatters: blocks of all


def _gather_star(member: Member, operation: Operation) -> None:
    if member.rank != operation.root:
        member.wait(member.send(operation.root, operation.size))
        return
    for source in range(member.size):
        if source != member.rank:
            member.receive(source)
    member.wait_all()


def _scatter_star(member: Member, operation: Operation) -> None:
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


def _gather_binomial(member: Member, operation: Operation) -> None:
    own = (member.rank - operation.root) % member.size
    place = _binomial(own, member.size)
    for child in reversed(place.children):
        member.wait(member.receive((child + operation.root) % member.size))
    if place.parent is not None:
        blocks = _blocks_below(own, member.size)
        to = (place.parent + operation.root) % member.size
        member.wait(member.send(to, blocks * operation.size))


def _scatter_binomial(member: Member, operation: Operation) -> None:
    own = (member.rank - operation.root) % member.size
    place = _binomial(own, member.size)
    if place.parent is not None:
        member.wait(member.receive((place.parent + operation.root) % member.size))
    for child in place.children:
        blocks = _blocks_below(child, member.size)
        member.send((child + operation.root) % member.size, blocks * operation.size)
    member.wait_all()


def _scatter_allgather(allgather: Collective) -> Collective:
    """A broadcast of large data: a part to each, and all parts to all."""

    def broadcast(member: Member, operation: Operation) -> None:
        part = Operation(operation.size / member.size, operation.root)
        _scatter_binomial(member, part)
        allgather(member, part)

    return broadcast


# ---- exchanges of different amounts


def _exchange_at_once(member: Member, operation: Operation) -> None:
    """All receives and all sends at once; where nothing goes there is no message."""
    for places in range(1, member.size):
        source = (member.rank - places) % member.size
        if source in operation.sources:
            member.receive(source)
    for places in range(1, member.size):
        to = (member.rank + places) % member.size
        if to in operation.to:
            member.send(to, operation.to[to])
    member.wait_all()


def _exchange_by_shifts(member: Member, operation: Operation) -> None:
    """In phase i to rank r + i and from rank r - i; empty messages too."""
    for places in range(1, member.size):
        to, source = (member.rank + places) % member.size, (member.rank - places) % member.size
        member.exchange(to, operation.to.get(to, 0.0), source)


_ALGORITHMS: dict[str, Mapping[str, Collective]] = {
    "barrier": {
        "dissemination": dissemination,
        "recursive-doubling": _recursive_doubling,
        "linear": _one_after_the_other(_reduce(_star), _broadcast(_star)),
        "binomial": _one_after_the_other(_reduce(_binomial), _broadcast(_binomial)),
    },
    "bcast": {
        "linear": _broadcast(_star),
        "chain": _broadcast(_chain),
        "binary": _broadcast(_binary),
        "binomial": _broadcast(_binomial),
        "quaternary": _broadcast(_quaternary),
        "scatter-doubling": _scatter_allgather(_allgather_doubling),
        "scatter-ring": _scatter_allgather(_allgather_ring),
    },
    "reduce": {
        "linear": _reduce(_star),
        "chain": _reduce(_chain),
        "binary": _reduce(_binary),
        "binomial": _reduce(_binomial),
        "halving-gather": _halving_gather,
    },
    "allreduce": {
        "recursive-doubling": _recursive_doubling,
        "ring": _allreduce_ring,
        "halving-doubling": _halving_doubling,
        "tree": _one_after_the_other(_reduce(_binomial), _broadcast(_binomial)),
    },
    "reduce_scatter": {
        "recursive-halving": _recursive_halving,
        "recursive-doubling": _recursive_doubling,
        "ring": _reduce_scatter_ring,
        "reduce-scatter": _reduce_and_scatter,
    },
    "scan": {"linear": _scan, "recursive-doubling": _recursive_doubling},
    "allgather": {
        "ring": _allgather_ring,
        "bruck": _allgather_bruck,
        "recursive-doubling": _allgather_doubling,
        "neighbour": _allgather_neighbour,
        "gather-broadcast": _gather_broadcast,
    },
    "gather": {"linear": _gather_star, "binomial": _gather_binomial},
    "scatter": {"linear": _scatter_star, "binomial": _scatter_binomial},
    "alltoallv": {"linear": _exchange_at_once, "shift": _exchange_by_shifts},
}
# Routines that differ in the amounts that members give, or in what they leave out.
_ALIKE = {
    "allgatherv": "allgather",
    "alltoallw": "alltoallv",
    "exscan": "scan",
    "gatherv": "gather",
    "reduce_scatter_block": "reduce_scatter",
    "scatterv": "scatter",
}
COLLECTIVES: Mapping[str, Mapping[str, Collective]] = _ALGORITHMS | {
    routine: _ALGORITHMS[like] for routine, like in _ALIKE.items()
}
"""By the routine's name in lower case, then by the algorithm's."""
