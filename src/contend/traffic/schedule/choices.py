"""Which algorithm an MPI library takes for a collective."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import inf

from contend.base.errors import UsageError
from contend.base.units import parse_size

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
