"""Locks of windows: which ranks have one that is in another rank's way.

A lock is in the way of another of the same target where one of both is exclusive (MPI 4.1, section
12.5.3). Libraries may ask for a lock only when the first operation needs it. So of two ranks that
have called MPI_Win_lock and wait at the target, either may be the one that has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from contend.profiling.record_file import RankRecord
from contend.profiling.record_form import OTHERS, WINDOW

if TYPE_CHECKING:
    from contend.profiling.hang.stuck import Awaited, Stuck


class Lock(NamedTuple):
    """A lock of a window's target, None for all; or of one that is not known, if not certain."""

    window: int
    target: int | None
    exclusive: bool
    certain: bool = True

    def meets(self, one: Awaited) -> bool:
        """Whether both are of the same target of a window."""
        same = self.target == one.peer or None in (self.target, one.peer)
        return same and self.window == one.communicator


def locks_of(record: RankRecord, communicators: NDArray[np.uint32]) -> Iterator[Lock]:
    """Locks that a rank had, or had asked for, at its end."""
    for index in np.flatnonzero(record.communicators["kind"] == WINDOW).tolist():
        of, window = record.communicators[index], int(communicators[index])
        for code in of["extent"][of["extent"] > 0].tolist() if index > OTHERS else ():
            target = (code >> 1) - 3
            yield Lock(window, target if target >= 0 else None, bool(code & 1))
        if int(of["dimensions"]):
            yield Lock(window, None, exclusive=True, certain=False)


def in_the_way(
    one: Awaited, locks: Mapping[int, Iterable[Lock]], threads: Iterable[Stuck]
) -> tuple[frozenset[int], frozenset[int]]:
    """Ranks that have a lock in the way of what is awaited, and those that may have none."""
    there = [
        (rank, lock)
        for rank, held in locks.items()
        for lock in held
        if lock.meets(one) and (one.exclusive or lock.exclusive)
    ]
    doubtful = {rank for rank, lock in there if not lock.certain} | {
        thread.rank
        for thread in threads
        for other in thread.awaits
        if other.kind == one.kind and Lock(other.communicator, other.peer, True).meets(one)
    }
    return frozenset(rank for rank, _ in there), frozenset(doubtful)
