"""Collective operations as messages, by the algorithms with which MPI libraries carry them out.

Trees, allgathers and reductions have files of their own. Which algorithm a library takes is said by
`traffic.schedule.choices`.

Sources: R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication Operations
in MPICH (2005), for most of them; D. Hensgen, R. Finkel, U. Manber, Two algorithms for barrier
synchronization (1988), for dissemination; J. Bruck and others, Efficient Algorithms for All-to-All
Communications (1997).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import inf

from contend.base.errors import UsageError
from contend.base.units import parse_size
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


_OPEN_MPI = "Open MPI"
_MPICH = "MPICH"
LIBRARIES = (_OPEN_MPI, _MPICH)
"""Libraries whose choices are known, by the first words of their version."""

# Those in which amounts differ have no algorithm but the simplest, in both libraries.
_ALWAYS = {"gatherv": "linear", "scatterv": "linear", "alltoallw": "linear"}


def choose(library: str, routine: str, ranks: int, size: float) -> str:
    """The algorithm by which a library carries a collective out, as far as it is known.

    Open MPI's are the fixed decisions of versions 4.1 and 5.0, MPICH's those that its documentation
    of control variables gives for 4.0; other versions, and components for shared memory or for
    special networks, may choose others.

    Args:
        library: its name and version.
        routine: in lower case, without ``MPI_``, such as ``alltoall``.
        ranks: members of the communicator.
        size: bytes of the data; of a rank's block in all-to-alls, allgathers, gathers and scatters;
            of all blocks in a reduce-scatter.

    Returns:
        A name of `traffic.schedule.COLLECTIVES`, or for ``alltoall`` of `traffic.schedule.MEMBERS`.

    Raises:
        UsageError: for another library or routine.
    """
    if library.startswith(LIBRARIES) and routine in _ALWAYS:
        return _ALWAYS[routine]
    if library.startswith(_OPEN_MPI):
        if routine in ("scan", "exscan"):
            return "linear"
        table = _open_mpi()
        if routine in table:
            return _look_up(table[routine], ranks, size)
    elif library.startswith(_MPICH):
        chosen = _mpich(routine, ranks, size)
        if chosen:
            return chosen
    else:
        raise UsageError(
            f"algorithms of {library or 'no library'} are not known: expected {_OPEN_MPI} or "
            f"{_MPICH}"
        )
    raise UsageError(f"how {library} carries {routine} out is not known")


@dataclass(frozen=True)
class _Row:
    """Algorithms by size for communicators of fewer than `ranks` ranks."""

    ranks: float
    algorithms: Sequence[tuple[float, str]]


@cache
def _open_mpi() -> Mapping[str, Sequence[_Row]]:
    text = resources.files(__package__).joinpath("openmpi.toml").read_text()
    return {
        routine: [_Row(_bound(ranks), _algorithms(words)) for ranks, words in rows.items()]
        for routine, rows in tomllib.loads(text).items()
    }


def _algorithms(words: str) -> list[tuple[float, str]]:
    if " " not in words:
        return [(inf, words)]
    pairs = (part.split() for part in words.split(","))
    return [(_bound(below), algorithm) for below, algorithm in pairs]


def _bound(words: str) -> float:
    return inf if words == "more" else parse_size(words)


def _look_up(rows: Sequence[_Row], ranks: int, size: float) -> str:
    row = next(row for row in rows if ranks < row.ranks)
    return next(algorithm for below, algorithm in row.algorithms if size < below)


def _mpich(routine: str, ranks: int, size: float) -> str:
    """MPICH's choice; "" where it is not known."""
    power_of_two = not ranks & (ranks - 1)
    whole = ranks * size
    fixed = {
        "barrier": "dissemination",
        "gather": "binomial",
        "scatter": "binomial",
        "scan": "recursive-doubling",
        "exscan": "recursive-doubling",
        "alltoallv": "linear",
        "allreduce": "recursive-doubling" if size <= 2048 else "halving-doubling",
        "reduce": "binomial" if size <= 2048 else "halving-gather",
        "reduce_scatter": "recursive-halving" if size < 524_288 else "ring",
        "reduce_scatter_block": "recursive-halving" if size < 524_288 else "ring",
    }
    if routine in fixed:
        return fixed[routine]
    if routine == "alltoall":
        if size <= 256 and ranks >= 8:
            return "bruck"
        return "scattered" if size <= 32_768 else "xor" if power_of_two else "shift"
    if routine == "bcast":
        if size < 12_288 or ranks < 8:
            return "binomial"
        return "scatter-doubling" if size < 524_288 and power_of_two else "scatter-ring"
    if routine in ("allgather", "allgatherv"):
        if whole < 524_288 and power_of_two:
            return "recursive-doubling"
        return "bruck" if whole < 81_920 else "ring"
    return ""
