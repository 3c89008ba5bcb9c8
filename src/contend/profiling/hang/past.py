"""How ranks entered collectives that they have left."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from contend.profiling import routines
from contend.profiling.hang.stuck import Entered
from contend.profiling.record_file import RankRecord
from contend.profiling.record_form import INTER, NO_CELL, OPERATIONS, EventKind, numbers


class Past:
    """How ranks entered collectives that they have left, by the events that they kept."""

    def __init__(
        self,
        read: Callable[[int], tuple[RankRecord, NDArray[np.uint32]] | None],
        site: Callable[[RankRecord, int], int],
    ) -> None:
        self._read, self._site = read, site

    def __call__(self, rank: int, communicator: int, number: int) -> Entered | None:
        """A `History`."""
        if (found := self._read(rank)) is None:
            return None
        record, communicators = found
        names = [routines.plain(name) for name in record.routines]
        collective = np.array([_begun_as(name) in _LOWER for name in names], bool)
        events = record.events
        events = events[(events["cell"] != NO_CELL) & (events["kind"] == EventKind.CALL)]
        cells = record.cells[events["cell"]]
        here = (numbers(events) == number) & collective[cells["routine"]]
        rows = np.flatnonzero(here & (communicators[cells["communicator"]] == communicator))
        if not len(rows):
            return None
        event, cell = events[rows[0]], cells[rows[0]]
        of, tag = record.communicators[cell["communicator"]], int(event["tag"])
        name, root = names[cell["routine"]], int(event["peer"])
        routine, site = record.routines[cell["routine"]], self._site(record, int(cell["site"]))
        if int(of["kind"]) == INTER:
            return Entered(rank, routine, site)
        size = int(event["bytes"])
        lower = _begun_as(name)
        if lower in _OF_ALL or (lower == "scatter" and root == rank):
            size //= int(of["size"])
        return Entered(
            rank,
            routine,
            site,
            root if root >= 0 else None,
            OPERATIONS[tag] if 0 <= tag < len(OPERATIONS) else "",
            size if lower in _ALIKE else None,
        )


_LOWER = frozenset(name.lower() for name in routines.COLLECTIVES)
# Members give as much as each other; what is recorded is for one or for all of them.
_OF_ALL = frozenset({"alltoall", "reduce_scatter_block"})
_ALIKE = _OF_ALL | {
    *("bcast", "gather", "scatter", "allgather", "reduce", "allreduce", "scan", "exscan")
}


def _begun_as(name: str) -> str:
    """``barrier`` for ``Barrier`` and ``Ibarrier``."""
    return name.lower() if name in routines.COLLECTIVES else name.lower().removeprefix("i")
