"""Collective operations as messages, by the algorithms with which MPI libraries carry them out.

Trees, allgathers and reductions have files of their own. Which algorithm a library takes is said by
`traffic.schedule.choices`.

Sources: R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication Operations
in MPICH (2005), for most of them; D. Hensgen, R. Finkel, U. Manber, Two algorithms for barrier
synchronization (1988), for dissemination; J. Bruck and others, Efficient Algorithms for All-to-All
Communications (1997).
"""

from __future__ import annotations

from collections.abc import Mapping

from contend.traffic.schedule.algorithms import (
    allgather_bruck,
    allgather_doubling,
    allgather_neighbour,
    allgather_ring,
    allreduce_ring,
    binary,
    binomial,
    broadcast,
    chain,
    dissemination,
    gather_binomial,
    gather_broadcast,
    gather_star,
    halving_doubling,
    halving_gather,
    quaternary,
    recursive_doubling,
    recursive_halving,
    reduce,
    reduce_and_scatter,
    reduce_scatter_ring,
    scan,
    scatter_allgather,
    scatter_binomial,
    scatter_star,
    star,
)
from contend.traffic.schedule.alltoalls import Exchange, exchange_directly
from contend.traffic.schedule.schedule import Collective, Member, Operation


def _one_after_the_other(*collectives: Collective) -> Collective:
    def both(member: Member, operation: Operation) -> None:
        for collective in collectives:
            collective(member, operation)

    return both


def _exchange_at_once(member: Member, operation: Operation) -> None:
    """All receives and all sends at once; where nothing goes there is no message."""
    blocks = Exchange(member.size, 0)
    exchange_directly(member, "linear", blocks, operation.to, operation.sources)


def _exchange_by_shifts(member: Member, operation: Operation) -> None:
    """In phase i to rank r + i and from rank r - i; empty messages too."""
    to = {rank: operation.to.get(rank, 0.0) for rank in range(member.size)}
    exchange_directly(member, "shift", Exchange(member.size, 0), to)


_ALGORITHMS: dict[str, Mapping[str, Collective]] = {
    "barrier": {
        "dissemination": dissemination,
        "recursive-doubling": recursive_doubling,
        "linear": _one_after_the_other(reduce(star), broadcast(star)),
        "binomial": _one_after_the_other(reduce(binomial), broadcast(binomial)),
    },
    "bcast": {
        "linear": broadcast(star),
        "chain": broadcast(chain),
        "binary": broadcast(binary),
        "binomial": broadcast(binomial),
        "quaternary": broadcast(quaternary),
        "scatter-doubling": scatter_allgather(allgather_doubling),
        "scatter-ring": scatter_allgather(allgather_ring),
    },
    "reduce": {
        "linear": reduce(star),
        "chain": reduce(chain),
        "binary": reduce(binary),
        "binomial": reduce(binomial),
        "halving-gather": halving_gather,
    },
    "allreduce": {
        "recursive-doubling": recursive_doubling,
        "ring": allreduce_ring,
        "halving-doubling": halving_doubling,
        "tree": _one_after_the_other(reduce(binomial), broadcast(binomial)),
    },
    "reduce_scatter": {
        "recursive-halving": recursive_halving,
        "recursive-doubling": recursive_doubling,
        "ring": reduce_scatter_ring,
        "reduce-scatter": reduce_and_scatter,
    },
    "scan": {"linear": scan, "recursive-doubling": recursive_doubling},
    "allgather": {
        "ring": allgather_ring,
        "bruck": allgather_bruck,
        "recursive-doubling": allgather_doubling,
        "neighbour": allgather_neighbour,
        "gather-broadcast": gather_broadcast,
    },
    "gather": {"linear": gather_star, "binomial": gather_binomial},
    "scatter": {"linear": scatter_star, "binomial": scatter_binomial},
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
