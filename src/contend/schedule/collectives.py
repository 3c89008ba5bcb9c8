"""Collective operations as messages, by the algorithms with which MPI libraries carry them out.

Every function adds one rank's part to its strand; strand numbers are ranks. `tag` tells apart what
the same ranks do at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from contend.schedule.schedule import Strand


def barrier(strand: Strand, ranks: int, tag: int = 0) -> None:
    """Dissemination: in round k an empty message to rank r + 2^k and one from r - 2^k.

    It is MPICH's barrier and the non-blocking one of Open MPI. Open MPI's blocking one is recursive
    doubling on a power of two, which has as many rounds.

    Source: D. Hensgen, R. Finkel, U. Manber, Two algorithms for barrier synchronization (1988).
    """
    step = 1
    while step < ranks:
        target, source = (strand.rank + step) % ranks, (strand.rank - step) % ranks
        strand.exchange(target, 0, source, tag)
        step *= 2


def broadcast(strand: Strand, ranks: int, size: float, root: int = 0, tag: int = 0) -> None:
    """Binomial tree: who has the data hands it to the rank half of what is left away."""
    place = (strand.rank - root) % ranks
    step = 1
    while step < ranks and not place & step:
        step *= 2
    if place:
        strand.wait(strand.receive((strand.rank - step) % ranks, tag))
    step //= 2
    while step:
        if place + step < ranks:
            strand.send((strand.rank + step) % ranks, size, tag)
        step //= 2
    strand.wait_all()


def reduce(
    strand: Strand,
    ranks: int,
    size: float,
    root: int = 0,
    tag: int = 0,
    per_byte: float = 0.0,
) -> None:
    """Binomial tree towards the root; every message is added to what is there.

    Args:
        strand: the rank's.
        ranks: in all.
        size: bytes of the data.
        root: who has the result.
        tag: of the messages.
        per_byte: seconds in which a byte is added to another.
    """
    place = (strand.rank - root) % ranks
    step = 1
    while step < ranks:
        if place & step:
            strand.wait(strand.send((strand.rank - step) % ranks, size, tag))
            return
        if place + step < ranks:
            strand.wait(strand.receive((strand.rank + step) % ranks, tag))
            _add(strand, size, per_byte)
        step *= 2


def allreduce(strand: Strand, ranks: int, size: float, tag: int = 0, per_byte: float = 0.0) -> None:
    """Recursive doubling below 10,000 bytes, a ring of reduce-scatter and allgather above.

    These are the algorithms of Open MPI's fixed decision. Where the number of ranks is no power of
    two, recursive doubling first folds the ranks that are too many into others.
    """
    if size < 10_000 or size < ranks:
        _recursive_doubling(strand, ranks, size, tag, per_byte)
        return
    block = size / ranks
    for _ in range(ranks - 1):
        _to_the_next(strand, ranks, block, tag)
        _add(strand, block, per_byte)
    for _ in range(ranks - 1):
        _to_the_next(strand, ranks, block, tag)


def _recursive_doubling(strand: Strand, ranks: int, size: float, tag: int, per_byte: float) -> None:
    power = 1 << (ranks.bit_length() - 1)
    extra = ranks - power
    rank = strand.rank
    if rank < 2 * extra and rank % 2 == 0:
        strand.wait(strand.send(rank + 1, size, tag))
        strand.wait(strand.receive(rank + 1, tag))
        return
    if rank < 2 * extra:
        strand.wait(strand.receive(rank - 1, tag))
        _add(strand, size, per_byte)
    place = rank // 2 if rank < 2 * extra else rank - extra
    step = 1
    while step < power:
        other = place ^ step
        partner = 2 * other + 1 if other < extra else other + extra
        strand.exchange(partner, size, partner, tag)
        _add(strand, size, per_byte)
        step *= 2
    if rank < 2 * extra:
        strand.wait(strand.send(rank - 1, size, tag))


def allgather(strand: Strand, ranks: int, size: float, tag: int = 0) -> None:
    """A ring: in every phase each rank hands on the block that it got last.

    Args:
        strand: the rank's.
        ranks: in all.
        size: bytes of each rank's block.
        tag: of the messages.
    """
    for _ in range(ranks - 1):
        _to_the_next(strand, ranks, size, tag)


def _to_the_next(strand: Strand, ranks: int, size: float, tag: int) -> None:
    strand.exchange((strand.rank + 1) % ranks, size, (strand.rank - 1) % ranks, tag)


def _add(strand: Strand, size: float, per_byte: float) -> None:
    if per_byte:
        strand.compute(size * per_byte)


Collective = Callable[..., None]

COLLECTIVES: dict[str, Collective] = {
    "barrier": barrier,
    "broadcast": broadcast,
    "reduce": reduce,
    "allreduce": allreduce,
    "allgather": allgather,
}
"""By name."""


def all_ranks(ranks: int, collective: Collective, *arguments: float) -> Sequence[Strand]:
    """The strands of all ranks that carry one collective operation out."""
    strands = [Strand(rank) for rank in range(ranks)]
    for strand in strands:
        collective(strand, ranks, *arguments)
    return strands
