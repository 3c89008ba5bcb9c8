"""For whom calls wait that were under way when a program was ended.

Of point to point the ranks that a call waits for are its peers; of a collective they are the
members that have not entered it, or have entered another one. Of those that have left it, their
events tell how they had entered it.

A lock of a window is in the way of another of the same target where one of both is exclusive (MPI
4.1, section 12.5.3). Libraries may ask for a lock only when the first operation needs it. So of two
ranks that have called MPI_Win_lock and wait at the target, either may be the one that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from contend.profiling import routines
from contend.profiling.hang.stuck import MOST_RANKS, Awaited, Entered, Lock, Seen, Stuck
from contend.profiling.record_file import RankRecord
from contend.profiling.record_form import (
    INTER,
    NO_CELL,
    NO_NUMBER,
    OPERATIONS,
    OTHERS,
    SELF,
    WORLD,
    EventKind,
    State,
    numbers,
)

History = Callable[[int, int, int], Entered | None]
"""How a rank entered a collective that it has left, by rank, communicator and number; None where
that is not known any more."""


def where_stuck(
    seen: Mapping[int, Seen],
    size: int,
    members: Mapping[int, NDArray[np.int32]],
    history: History = lambda rank, communicator, number: None,
) -> tuple[Stuck, ...]:
    """Where all threads were, with the ranks that they wait for; empty if no call was under way.

    Args:
        seen: by rank.
        size: of MPI_COMM_WORLD.
        members: of other communicators, by number.
        history: tells how ranks entered collectives that they have left.
    """
    threads = (thread for rank in seen.values() for thread in rank.threads)
    if not any(thread.routine or thread.died for thread in threads):
        return ()
    awaited = _AwaitedRanks(seen, size, members, history)
    return tuple(awaited.added_to(thread) for rank in sorted(seen) for thread in seen[rank].threads)


class _AwaitedRanks:
    """For whom calls wait; what is asked of one collective is the same for all that are in it."""

    def __init__(
        self,
        seen: Mapping[int, Seen],
        size: int,
        members: Mapping[int, NDArray[np.int32]],
        history: History,
    ) -> None:
        self._seen = seen
        self._size = size
        self._members = members
        self._history = history
        self._known: dict[tuple[int, int], tuple[list[int], list[dict[int, Entered]]]] = {}
        self._holders: dict[object, tuple[frozenset[int], frozenset[int]]] = {}

    def added_to(self, thread: Stuck) -> Stuck:
        """A place with the ranks that its call waits for."""
        ranks: set[int] = set()
        others: set[int] = set()
        entered: tuple[Entered, ...] = ()
        awaits = tuple(self._with_holders(thread.rank, one) for one in thread.awaits)
        for one in awaits:
            if one.kind == "ready":
                ranks.add(thread.rank)
            elif one.kind == "memory":
                known = self._members.get(one.communicator, np.arange(self._size))
                ranks.update(rank for rank in known.tolist() if rank not in (thread.rank, -1))
            elif one.holders:
                ranks.update(one.holders)
            elif one.kind == "group" and not one.number and self._makes_too(thread, one):
                continue
            elif one.peer is not None:
                ranks.add(one.peer)
            elif one.kind == "finalize":
                ranks.update(_outside_finalize(self._seen, self._size))
            elif one.kind == "members":
                missing, calls = self._entries(one.communicator, one.number)
                ranks.update(missing)
                mine = next((group[thread.rank] for group in calls if thread.rank in group), None)
                unlike = [
                    group for group in calls if mine and mine.differs(next(iter(group.values())))
                ]
                differing = [call for group in unlike for call in group.values()]
                others.update(call.rank for call in differing)
                if mine and differing and not entered:
                    entered = (mine, differing[0])
        return msgspec.structs.replace(
            thread,
            awaits=awaits,
            ranks=tuple(sorted(ranks | others)[:MOST_RANKS]),
            others=tuple(sorted(others)[:MOST_RANKS]),
            entered=entered,
        )

    def _makes_too(self, thread: Stuck, one: Awaited) -> bool:
        """Whether a member of a group has come to the call that makes a communicator of it."""
        there = None if one.peer is None else self._seen.get(one.peer)
        return there is not None and any(
            (other.routine, awaited.tag) == (thread.routine, one.tag)
            for other in there.threads
            for awaited in other.awaits
        )

    def _with_holders(self, rank: int, one: Awaited) -> Awaited:
        if one.exclusive is None:
            return one
        key = (one.communicator, one.peer, one.exclusive)
        if key not in self._holders:
            locks = {other: there.locks for other, there in self._seen.items()}
            threads = (thread for there in self._seen.values() for thread in there.threads)
            self._holders[key] = in_the_way(one, locks, threads)
        others, doubtful = (ranks - {rank} for ranks in self._holders[key])
        holders = () if others & doubtful else tuple(sorted(others))
        return msgspec.structs.replace(one, holders=holders)

    def _entries(
        self, communicator: int, number: int
    ) -> tuple[list[int], list[dict[int, Entered]]]:
        """Ranks that have not come to a collective; those that entered it alike, in groups.

        Of ranks that have left it only the first `MOST_RANKS` are asked how they entered it.
        """
        if (communicator, number) in self._known:
            return self._known[communicator, number]
        known = self._members.get(communicator)
        members = [] if known is None else known[known >= 0].tolist()
        missing: list[int] = []
        groups: dict[object, dict[int, Entered]] = {}
        asked = 0
        for member in range(self._size) if communicator == WORLD else members:
            there = self._seen.get(member)
            call = None if there is None else _inside(there, communicator, number)
            if call is not None:
                pass
            elif there is None or there.left.get(communicator, 0) <= number:
                missing.append(member)
            elif asked < MOST_RANKS:
                asked += 1
                call = self._history(member, communicator, number)
            if call is not None:
                alike = (call.routine, call.root, call.operation, call.bytes)
                groups.setdefault(alike, {})[member] = call
        self._known[communicator, number] = missing, list(groups.values())
        return self._known[communicator, number]


def _outside_finalize(seen: Mapping[int, Seen], size: int) -> Iterator[int]:
    for rank in range(size):
        there = seen.get(rank)
        if there is None or not (
            there.state is State.FINISHED
            or any(one.kind == "finalize" for thread in there.threads for one in thread.awaits)
        ):
            yield rank


def _inside(there: Seen, communicator: int, number: int) -> Entered | None:
    """How a rank entered the collective that it is in; None where it is not in this one."""
    for thread in there.threads:
        for one in thread.awaits:
            if (one.kind, one.communicator, one.number) == ("members", communicator, number):
                routine = one.routine or thread.routine
                return Entered(
                    thread.rank, routine, thread.site, one.root, one.operation, one.bytes
                )
    return None


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


_LOWER = frozenset(name.lower() for name in routines.COLLECTIVES)
# Members give as much as each other; what is recorded is for one or for all of them.
_OF_ALL = frozenset({"alltoall", "reduce_scatter_block"})
_ALIKE = _OF_ALL | {
    *("bcast", "gather", "scatter", "allgather", "reduce", "allreduce", "scan", "exscan")
}


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
        rows = entries_of(
            record, communicators, {name: n for n, name in enumerate(record.routines)}
        )
        here = rows[(rows["communicator"] == communicator) & (rows["number"] == number)]
        if not len(here):
            return None
        cell = record.cells[here[0]["cell"]]
        routine, site = record.routines[cell["routine"]], self._site(record, int(cell["site"]))
        return entered_by(here[0], routine, site)


UNKNOWN = -1
"""Stands for what is not known of how a collective was entered, or not given."""
ENTRY_OF = ("routine", "root", "operation", "bytes")
"""What all members must give alike."""
_ENTRY = np.dtype(
    [(name, "<i8") for name in ("communicator", "number", "rank", "cell", "at", *ENTRY_OF)]
)


def entries_of(
    record: RankRecord, communicators: NDArray[np.uint32], routine_numbers: dict[str, int]
) -> NDArray[Any]:
    """How a rank entered the collectives that it has left, as far as their events are kept.

    Args:
        record: of the rank.
        communicators: the profile's numbers of its communicators.
        routine_numbers: of names of routines; those that are new are added.
    """
    names = [routines.plain(name) for name in record.routines]
    begun = [_begun_as(name) for name in names]
    events = record.events
    events = events[(events["cell"] != NO_CELL) & (events["kind"] == EventKind.CALL)]
    routine = record.cells["routine"][events["cell"]]
    there = np.array([name in _LOWER for name in begun], bool)[routine]
    there &= numbers(events) < NO_NUMBER
    events, routine = events[there], routine[there]
    cells = record.cells[events["cell"]]
    of = record.communicators[cells["communicator"]]
    rows = np.zeros(len(events), _ENTRY)
    rows["communicator"], rows["number"] = communicators[cells["communicator"]], numbers(events)
    rows["rank"], rows["cell"], rows["at"] = record.rank, events["cell"], events["start"]
    known = [routine_numbers.setdefault(name, len(routine_numbers)) for name in names]
    rows["routine"] = np.array(known)[routine]
    tags, roots = events["tag"].astype(np.int64), events["peer"].astype(np.int64)
    rows["root"] = np.where(roots >= 0, roots, UNKNOWN)
    rows["operation"] = np.where((tags > 0) & (tags < len(OPERATIONS)), tags, UNKNOWN)
    of_all = np.array([name in _OF_ALL for name in begun], bool)[routine]
    of_all |= np.array([name == "scatter" for name in begun], bool)[routine] & (
        roots == record.rank
    )
    size = events["bytes"].astype(np.int64) // np.where(of_all, np.maximum(of["size"], 1), 1)
    rows["bytes"] = np.where(np.array([n in _ALIKE for n in begun], bool)[routine], size, UNKNOWN)
    inter = of["kind"] == INTER
    for name in ENTRY_OF[1:]:
        rows[name][inter] = UNKNOWN
    # Of MPI_COMM_SELF every rank has its own.
    kept: NDArray[Any] = rows[~np.isin(cells["communicator"], (SELF, OTHERS))]
    return kept


def entered_by(row: np.void, routine: str, site: int) -> Entered:
    """How a rank entered a collective, by a row of `entries_of`."""
    root, operation, size = (int(row[name]) for name in ENTRY_OF[1:])
    return Entered(
        int(row["rank"]),
        routine,
        site,
        None if root == UNKNOWN else root,
        OPERATIONS[max(operation, 0)],
        None if size == UNKNOWN else size,
    )


def _begun_as(name: str) -> str:
    """``barrier`` for ``Barrier`` and ``Ibarrier``."""
    return name.lower() if name in routines.COLLECTIVES else name.lower().removeprefix("i")
