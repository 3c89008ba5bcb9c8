"""Where ranks were when their program was ended: in which call, since when, waiting for whom.

A rank's record holds the call that each of its threads is in (`contend_under_way` in ``record.h``).
Of point to point the ranks that a call waits for are its peers; of a collective they are the
members that have not entered it, or have entered another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from contend.profiling.clocks import TickCounter
from contend.profiling.record_file import RankRecord
from contend.profiling.record_form import (
    ANY_PEER,
    ANY_TAG,
    CELL,
    FOREIGN_PEER,
    NO_CALL,
    OTHERS,
    WORLD,
    Awaits,
    State,
)

MOST_RANKS = 256
"""Of those that a call waits for so many are kept."""


class Awaited(msgspec.Struct, frozen=True):
    """One thing that a call waits for.

    Attributes:
        kind: receiver, sender, members, target, finalize, exchange or unknown.
        peer: rank in MPI_COMM_WORLD; null for none or several.
        any_source: whether any rank may send it.
        tag: null for any, or none.
        communicator: by number.
        number: of the collective on that communicator, from 0.
        under_way: whether the message was sent and its receive posted, so that it was on its way;
            null where that is not known.
    """

    kind: str
    peer: int | None
    any_source: bool
    tag: int | None
    communicator: int
    number: int
    under_way: bool | None = False


class Stuck(msgspec.Struct, frozen=True):
    """Where one thread of a rank was when the program was ended.

    Attributes:
        rank: in MPI_COMM_WORLD.
        thread: from 0, by first call.
        routine: that it was in; "" for none.
        site: number of the place of the call, or of 0.
        since_s: how long it had been there.
        at_least: whether the end is not known, so that it may have been longer.
        ended: how the rank had ended by itself, such as ``called MPI_Abort``; "" if it had not.
        requests: how many things the call waits for, of which the first eight are here.
        awaits: what it waits for.
        ranks: that it waits for, as far as that can be told; at most `MOST_RANKS`.
        others: of a collective: ranks that are in another one instead.
    """

    rank: int
    thread: int
    routine: str
    site: int
    since_s: float
    at_least: bool
    ended: str
    requests: int
    awaits: tuple[Awaited, ...] = ()
    ranks: tuple[int, ...] = ()
    others: tuple[int, ...] = ()


class UnderWay(msgspec.Struct, frozen=True):
    """Messages from one rank to another that were under way.

    Attributes:
        source: rank in MPI_COMM_WORLD.
        destination: likewise.
        messages: how many.
        bytes: of those of which they are known.
    """

    source: int
    destination: int
    messages: int
    bytes: int


@dataclass(frozen=True)
class Seen:
    """What a rank's record tells of where it was.

    Attributes:
        state: of the rank.
        threads: its places; the `ranks` in them are not known yet.
        left: collectives that it has left, by number of the communicator.
    """

    state: State
    threads: tuple[Stuck, ...]
    left: Mapping[int, int]


def since_when(
    record: RankRecord, counter: TickCounter, ended_unix: float | None
) -> tuple[float, NDArray[np.float64]]:
    """Seconds from MPI_Init's end to the program's end, and for how long threads had been in place.

    Args:
        record: of the rank.
        counter: of its ticks.
        ended_unix: when the program was seen to end, or last seen to run; None where nobody told:
            then the last instant counts that the rank itself has told.
    """
    clock, threads = record.header["clock"], record.threads
    start = np.uint64(clock["start_ticks"])
    latest = np.concatenate([threads["start"], threads["left"], record.events["end"]])
    since = (latest - start).view(np.int64).max(initial=0)
    ended_s = 1e-9 * (int(clock["end_ns"]) - int(clock["start_ns"]))
    ended_s = max(ended_s, float(counter.seconds(np.array([since], np.uint64))[0]))
    if ended_unix is not None:
        ended_s = max(ended_s, ended_unix - 1e-9 * int(clock["start_unix_ns"]))
    called = threads["routine"] != NO_CALL
    begun = np.where(called, threads["start"], threads["left"]) - start
    return ended_s, ended_s - counter.seconds(begun)


def cells_under_way(threads: NDArray[Any], ticks: NDArray[np.float64]) -> NDArray[Any]:
    """The calls that threads were in, as cells of a record, with the time that each took."""
    called = threads["routine"] != NO_CALL
    cells = np.zeros(int(called.sum()), CELL)
    cells["site"] = threads["site"][called]
    cells["routine"] = threads["routine"][called]
    cells["communicator"] = np.where(
        threads["count"] > 0, threads["awaited"]["communicator"][:, 0], 0
    )[called]
    cells["calls"] = 1
    cells["ticks"] = cells["longest"] = ticks[called].astype(np.uint64)
    return cells


def look(
    record: RankRecord,
    communicators: NDArray[np.uint32],
    sites: NDArray[np.uint32],
    since_s: Sequence[float],
    *,
    at_least: bool,
) -> Seen:
    """Where a rank was.

    Args:
        record: of the rank.
        communicators: numbers of its communicators, by their index in the record.
        sites: numbers of the places of its threads' calls.
        since_s: how long its threads had been where they were.
        at_least: whether it may have been longer.
    """
    ended = {State.ABORTED: "called MPI_Abort", State.EXITED: "ended without MPI_Finalize"}
    threads = []
    for number, item in enumerate(record.threads):
        called = int(item["routine"]) != NO_CALL
        if record.state is State.FINISHED and not called:
            continue
        kept = item["awaited"][: int(item["count"])] if called else ()
        threads.append(
            Stuck(
                rank=record.rank,
                thread=number,
                routine=record.routines[item["routine"]] if called else "",
                site=int(sites[number]) if called else 0,
                since_s=max(since_s[number], 0.0),
                at_least=at_least,
                ended=ended.get(record.state, ""),
                requests=int(item["count"]) if called else 0,
                awaits=tuple(_awaited(one, communicators) for one in kept),
            )
        )
    left: dict[int, int] = {}
    for index, number in enumerate(communicators.tolist()):
        if index == OTHERS:
            continue
        left[number] = max(left.get(number, 0), int(record.communicators[index]["collectives"]))
    return Seen(record.state, tuple(threads), left)


def _awaited(item: np.void, communicators: NDArray[np.uint32]) -> Awaited:
    peer, tag = int(item["peer"]), int(item["tag"])
    kind = Awaits(int(item["kind"]))
    tagged = kind in (Awaits.RECEIVER, Awaits.SENDER, Awaits.EXCHANGE) and tag != ANY_TAG
    return Awaited(
        kind=kind.name.lower(),
        peer=peer if peer >= 0 and peer != FOREIGN_PEER else None,
        any_source=peer == ANY_PEER and kind is Awaits.SENDER,
        tag=tag if tagged else None,
        communicator=int(communicators[item["communicator"]]),
        number=int(item["number"]),
    )


def where_stuck(
    seen: Mapping[int, Seen], size: int, members: Mapping[int, NDArray[np.int32]]
) -> tuple[Stuck, ...]:
    """Where all threads were, with the ranks that they wait for; empty if no call was under way.

    Args:
        seen: by rank.
        size: of MPI_COMM_WORLD.
        members: of other communicators, by number.
    """
    if not any(thread.routine for rank in seen.values() for thread in rank.threads):
        return ()
    awaited = _AwaitedRanks(seen, size, members)
    return tuple(awaited.added_to(thread) for rank in sorted(seen) for thread in seen[rank].threads)


class _AwaitedRanks:
    """For whom calls wait; what is asked of one collective is the same for all that are in it."""

    def __init__(
        self, seen: Mapping[int, Seen], size: int, members: Mapping[int, NDArray[np.int32]]
    ) -> None:
        self._seen = seen
        self._size = size
        self._members = members
        self._known: dict[tuple[str, int, int, str], tuple[list[int], list[int]]] = {}

    def added_to(self, thread: Stuck) -> Stuck:
        """A place with the ranks that its call waits for."""
        ranks: set[int] = set()
        others: set[int] = set()
        for one in thread.awaits:
            if one.peer is not None:
                ranks.add(one.peer)
                continue
            key = (one.kind, one.communicator, one.number, thread.routine)
            if key not in self._known:
                self._known[key] = self._of(thread.routine, one)
            missing, differing = self._known[key]
            ranks.update(missing, differing)
            others.update(differing)
        return msgspec.structs.replace(
            thread,
            ranks=tuple(sorted(ranks)[:MOST_RANKS]),
            others=tuple(sorted(others)[:MOST_RANKS]),
        )

    def _of(self, routine: str, one: Awaited) -> tuple[list[int], list[int]]:
        """Ranks that have not come to a collective, and those that are in another one instead."""
        if one.kind == "finalize":
            return list(_outside_finalize(self._seen, self._size)), []
        if one.kind != "members":
            return [], []
        known = self._members.get(one.communicator)
        members = [] if known is None else known[known >= 0].tolist()
        missing, differing = [], []
        for member in range(self._size) if one.communicator == WORLD else members:
            there = self._seen.get(member)
            inside = "" if there is None else _inside(there, one)
            if inside == "":
                missing.append(member)
            elif inside is not None and _differs(routine, inside):
                differing.append(member)
        return missing, differing


def _outside_finalize(seen: Mapping[int, Seen], size: int) -> Iterator[int]:
    for rank in range(size):
        there = seen.get(rank)
        if there is None or not (
            there.state is State.FINISHED
            or any(thread.routine == "MPI_Finalize" for thread in there.threads)
        ):
            yield rank


def _inside(there: Seen, wanted: Awaited) -> str | None:
    """The routine by which a rank is in a collective, "" if it has not come, None if it has left.

    A rank that finished is in none.
    """
    for thread in there.threads:
        for one in thread.awaits:
            if (one.kind, one.communicator, one.number) == (
                "members",
                wanted.communicator,
                wanted.number,
            ):
                return thread.routine
    return None if there.left.get(wanted.communicator, 0) > wanted.number else ""


def _differs(routine: str, other: str) -> bool:
    """Whether two routines cannot be the same collective; waits tell nothing of theirs."""
    blocking = [name.removesuffix("_c") for name in (routine, other)]
    return blocking[0] != blocking[1] and all(not name.startswith("MPI_Wait") for name in blocking)
