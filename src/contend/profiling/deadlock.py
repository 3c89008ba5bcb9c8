"""Whether ranks can never go on, by what each of them waits for.

A call waits for all of several things, as MPI_Waitall and MPI_Sendrecv do, or for any of them, as
MPI_Waitany and a receive from any source do. Ranks are deadlocked where each of them waits for one
thing that only ranks among them could do, or that only ranks could have done that have ended; of
alternatives that must hold for every one (the AND-OR model: Knapp, Deadlock detection in
distributed databases, ACM Computing Surveys, 1987).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby

from contend.profiling import routines
from contend.profiling.record_layout import MOST_AWAITED
from contend.profiling.stuck import MOST_RANKS, Awaited, Stuck

_ANY = frozenset({"Waitany", "Waitsome"})
_RETURNING = routines.TESTS | {"Iprobe", "Improbe", "Request_get_status"}
# Not all members need each other; who needs whom is not kept.
_LOOSE = routines.COLLECTIVES - routines.SYNCHRONISING

Clause = frozenset[int]
"""Ranks of which one has to do something before a call returns."""
_Members = Mapping[int, Collection[int]]


def deadlocked(
    stuck: Sequence[Stuck], members: _Members, ended: Collection[int] = ()
) -> frozenset[int]:
    """Ranks that can never go on, as far as that is proven.

    Args:
        stuck: where all threads were.
        members: of communicators on which any rank may send, by number.
        ended: ranks that do nothing any more.
    """
    waits = {
        rank: [_clauses(thread, members) for thread in threads]
        for rank, threads in _in_calls(stuck).items()
    }
    # All of them, until those are gone that one outside could set free, and whom these could ...
    while True:
        held = waits.keys() | set(ended)
        free = [
            rank
            for rank, threads in waits.items()
            if not all(any(clause <= held for clause in clauses) for clauses in threads)
        ]
        if not free:
            return frozenset(waits)
        for rank in free:
            del waits[rank]


def circles(stuck: Sequence[Stuck]) -> list[list[int]]:
    """Circles of ranks of which none can do without the next, each from its lowest rank on.

    No rank is in two of them: where many wait for one that waits for all, one circle is told.
    """
    needs = {rank: _needed(threads) for rank, threads in _in_calls(stuck).items()}
    found: list[list[int]] = []
    seen: set[int] = set()
    for start in needs:
        path: list[int] = []
        at = start
        # Where a rank needs several, any one that comes to nothing holds it up.
        while needs.get(at) and at not in seen:
            seen.add(at)
            path.append(at)
            at = min(needs[at], key=lambda rank: (not needs.get(rank), rank not in path, rank))
        if at in path:
            circle = path[path.index(at) :]
            first = circle.index(min(circle))
            found.append(circle[first:] + circle[:first])
    return found


def waits_for_any(thread: Stuck) -> bool:
    """Whether a call returns as soon as one of the things is there that it waits for."""
    return routines.plain(thread.routine) in _ANY and thread.requests > 1


def _in_calls(stuck: Iterable[Stuck]) -> dict[int, list[Stuck]]:
    """Threads by rank, of ranks whose every thread is in a call that may last."""
    ranks: dict[int, list[Stuck]] = {}
    for rank, group in groupby(stuck, key=lambda thread: thread.rank):
        threads = list(group)
        if all(
            thread.routine and not thread.ended and routines.plain(thread.routine) not in _RETURNING
            for thread in threads
        ):
            ranks[rank] = threads
    return ranks


def _needed(threads: Sequence[Stuck]) -> Clause:
    """Ranks without each of which a rank does not go on: another thread of it might."""
    return frozenset.intersection(
        *(
            frozenset().union(*(clause for clause in _clauses(thread, {}) if len(clause) == 1))
            for thread in threads
        )
    )


def _clauses(thread: Stuck, members: _Members) -> list[Clause]:
    """What has to be done before a call returns, as far as it is known, each thing by any of some.

    No clause is empty: who could do a thing is known, or the thing is left out.
    """
    things = [_thing(thread, one, members) for one in thread.awaits]
    if not waits_for_any(thread):
        return [clause for clauses in things for clause in clauses]
    if thread.requests >= MOST_AWAITED or not all(things):
        return []
    return [frozenset().union(*(clause for clauses in things for clause in clauses))]


def _thing(thread: Stuck, one: Awaited, members: _Members) -> list[Clause]:
    if one.under_way:
        return []
    if one.any_source:
        anyone = frozenset(members.get(one.communicator, ()))
        return [anyone] if anyone and min(anyone) >= 0 else []
    if one.kind in ("sender", "receiver", "exchange"):
        return [] if one.peer is None else [frozenset({one.peer})]
    if one.kind not in ("members", "finalize") or not thread.ranks:
        return []
    begun_before = "Wait" in thread.routine
    if not begun_before and routines.plain(thread.routine) not in _LOOSE:
        return [frozenset({rank}) for rank in thread.ranks]
    return [frozenset(thread.ranks)] if len(thread.ranks) < MOST_RANKS else []
