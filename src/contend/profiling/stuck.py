"""Where ranks were when their program was ended: in which call, since when, waiting for whom.

A rank's record holds the call that each of its threads is in (`contend_under_way` in ``record.h``).
Of point to point the ranks that a call waits for are its peers; of a collective they are the
members that have not entered it, or have entered another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import msgspec
import numpy as np
from numpy.typing import NDArray

from contend.profiling.missing import rank_words
from contend.profiling.record_file import (
    ANY_PEER,
    ANY_TAG,
    FOREIGN_PEER,
    NO_CALL,
    OTHERS,
    WORLD,
    Awaits,
    RankRecord,
    State,
)
from contend.units import counted, format_seconds

HUNG_S = 5.0
"""Ranks that all have been where they are for so long hang, even where no circle proves it."""
_MOST_LINES = 8
# Of less, where nobody saw the end, nothing is told.
_TOLD_S = 1.0
_MOST_RANKS = 256


class Awaited(msgspec.Struct, frozen=True):
    """One thing that a call waits for.

    Attributes:
        kind: receiver, sender, members, target, finalize or exchange.
        peer: rank in MPI_COMM_WORLD; null for none or several.
        any_source: whether any rank may send it.
        tag: null for any, or none.
        communicator: by number.
        number: of the collective on that communicator, from 0.
    """

    kind: str
    peer: int | None
    any_source: bool
    tag: int | None
    communicator: int
    number: int


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
        ranks: that it waits for, as far as that can be told; at most 256.
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
            ranks=tuple(sorted(ranks)[:_MOST_RANKS]),
            others=tuple(sorted(others)[:_MOST_RANKS]),
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


def circles(stuck: Sequence[Stuck]) -> list[list[int]]:
    """Circles of ranks that wait for each other, each once, from its lowest rank on."""
    waits = _waits(stuck)
    found: dict[tuple[int, ...], list[int]] = {}
    for start in waits:
        path: list[int] = []
        at = start
        # Where a rank waits for several, any one that comes to nothing holds it up.
        while at in waits and at not in path:
            path.append(at)
            at = min(waits[at], key=lambda rank: (rank not in waits, rank not in path, rank))
        if at in path:
            circle = path[path.index(at) :]
            first = circle.index(min(circle))
            found.setdefault(tuple(sorted(circle)), circle[first:] + circle[:first])
    return list(found.values())


def _waits(stuck: Sequence[Stuck]) -> dict[int, tuple[int, ...]]:
    """For whom ranks wait, of which every thread is in a call that waits for somebody."""
    waits: dict[int, tuple[int, ...]] = {}
    for rank, group in groupby(stuck, key=lambda thread: thread.rank):
        threads = list(group)
        if all(thread.routine and thread.ranks and not thread.ended for thread in threads):
            waits[rank] = tuple(sorted({rank for thread in threads for rank in thread.ranks}))
    return waits


@dataclass(frozen=True)
class StuckWords:
    """Sentences on where a program was stuck.

    Attributes:
        stuck: the places of its ranks.
        places: of sites, by number.
        communicators: names by number.
        finished: ranks that reached the end.
    """

    stuck: Sequence[Stuck]
    places: Sequence[str]
    communicators: Sequence[str]
    finished: frozenset[int] = frozenset()

    @property
    def hung(self) -> bool:
        """Whether the program could not go on, or had not for long."""
        here = [thread for thread in self.stuck if not thread.ended]
        in_calls = [thread.since_s for thread in here if thread.routine]
        if not in_calls or any(thread.ended == "called MPI_Abort" for thread in self.stuck):
            return False
        gone = self.finished | {thread.rank for thread in self.stuck if thread.ended}
        waits_for_nobody = any(
            rank in gone for thread in here if thread.routine for rank in thread.ranks
        )
        return bool(circles(self.stuck)) or waits_for_nobody or min(in_calls) >= HUNG_S

    def verdict(self) -> str:
        """Where it was stuck, in one sentence; "" where nobody was in a call."""
        if not self.stuck:
            return ""
        head = "The run hung" if self.hung else "When the run was ended"
        return f"{head}: {'; '.join(self._chain() or self.lines())}"

    def _chain(self) -> list[str]:
        """The circles, each told from rank to rank."""
        by_rank = {thread.rank: thread for thread in reversed(self.stuck)}
        told = []
        for circle in circles(self.stuck):
            if len(circle) == 1:
                one = by_rank[circle[0]]
                told.append(
                    f"rank {circle[0]} waits for itself {self._call(one)} for {self.since(one)}"
                )
                continue
            links = [
                f"waits for rank {following} {self._call(by_rank[rank])}"
                for rank, following in zip(circle, [*circle[1:], circle[0]], strict=True)
            ]
            since = min((by_rank[rank] for rank in circle), key=lambda thread: thread.since_s)
            chain = ", which ".join(links[:_MOST_LINES])
            told.append(f"rank {circle[0]} {chain}, for {self.since(since)}")
        if told:
            around = {rank for circle in circles(self.stuck) for rank in circle}
            rest = [thread for thread in self.stuck if thread.rank not in around]
            told += [*self.mistakes(), *replace(self, stuck=rest).lines()]
        return told

    def mistakes(self) -> Iterator[str]:
        """What can be seen to be wrong: collectives, tags that do not meet."""
        by_rank = {thread.rank: thread for thread in self.stuck}
        for thread in self.stuck:
            if thread.others:
                other = by_rank[thread.others[0]]
                yield (
                    f"{thread.routine} of rank {thread.rank} and {other.routine} of rank "
                    f"{other.rank} are the same collective of their communicator"
                )
                return
        for thread in self.stuck:
            for one in thread.awaits:
                if one.kind != "sender" or one.peer is None or one.tag is None:
                    continue
                there = by_rank.get(one.peer)
                for sent in () if there is None else there.awaits:
                    if sent.kind == "receiver" and sent.peer == thread.rank:
                        if sent.tag not in (one.tag, None):
                            yield (
                                f"rank {one.peer} sends with tag {sent.tag}, and rank "
                                f"{thread.rank} receives tag {one.tag}"
                            )
                            return
                        if sent.communicator != one.communicator:
                            yield (
                                f"rank {one.peer} sends on {self._on(sent)}, and rank "
                                f"{thread.rank} receives on {self._on(one)}"
                            )
                            return

    def cure(self) -> str:
        """What to change in the program, in plain words."""
        mistakes = list(self.mistakes())
        if any(thread.others for thread in self.stuck):
            return (
                "All members of a communicator must call the same collectives on it in the same "
                f"order: {mistakes[0]}."
            )
        if mistakes:
            return f"Give both the same tag and communicator: {mistakes[0]}."
        by_rank = {thread.rank: thread for thread in self.stuck}
        for circle in circles(self.stuck):
            kinds = {one.kind for rank in circle for one in by_rank[rank].awaits}
            if len(circle) == 1:
                return (
                    "A message to the own rank needs a receive that was begun before: use "
                    "MPI_Irecv first, or MPI_Sendrecv."
                )
            if kinds == {"receiver"}:
                return (
                    "A send of a large message returns when its receiver takes it: exchange with "
                    "MPI_Sendrecv, or begin the sends or the receives without waiting."
                )
            if kinds == {"sender"}:
                return "One of these ranks has to send before it receives: use MPI_Sendrecv."
            return "Have these ranks make their calls in an order in which one can go on."
        for thread in self.stuck:
            for rank in thread.ranks:
                there = by_rank.get(rank)
                if rank in self.finished or (there is not None and there.ended):
                    return (
                        f"Rank {rank} ended while rank {thread.rank} needed it in "
                        f"{thread.routine}: have it take part, or do without it there."
                    )
                if there is not None and not there.routine:
                    return (
                        f"See what rank {rank} does outside of MPI: a debugger (gdb -p) or py-spy "
                        "shows the line while it runs; a rank without processor time is stopped, "
                        "or waits for a file, a lock or a pipe that nobody reads."
                    )
        return "Look for the call that these ranks wait for: no rank was about to make it."

    def lines(self) -> list[str]:
        """Ranks that were in the same call together, those that wait for others first."""
        groups: dict[tuple[object, ...], list[Stuck]] = {}
        for thread in self.stuck:
            alike = (thread.routine, thread.site, thread.ended, thread.ranks, thread.awaits)
            groups.setdefault(alike if thread.routine else ("", thread.ended), []).append(thread)
        told = [self._group(group) for group in groups.values()]
        more = len(told) - _MOST_LINES
        return [*told[:_MOST_LINES], f"{counted(more, 'other place')}"] if more > 0 else told

    def _group(self, group: Sequence[Stuck]) -> str:
        one, who = group[0], rank_words({thread.rank for thread in group})
        several = len({thread.rank for thread in group}) > 1
        since = self.since(max(group, key=lambda thread: thread.since_s))
        if one.ended:
            return f"{who} {one.ended}"
        if not one.routine:
            verb = "have" if several else "has"
            return (
                f"{who} {verb} been in no MPI call for {since}: computing, stopped, killed, or "
                "waiting for something else than MPI, such as a full pipe"
            )
        wait = "wait" if several else "waits"
        whom = self.whom(one)
        return f"{who} {wait} {whom + ' ' if whom else ''}{self._call(one)} for {since}"

    def since(self, thread: Stuck) -> str:
        """For how long, in words."""
        if thread.at_least and thread.since_s < _TOLD_S:
            return "an unknown time"
        return f"{'at least ' if thread.at_least else ''}{format_seconds(thread.since_s)}"

    def whom(self, thread: Stuck) -> str:
        """For whom a call waits, in words; "" where that is not known."""
        gone = [rank for rank in thread.ranks if rank in self.finished]
        if thread.ranks:
            ended = " (which has ended)" if gone == [*thread.ranks] and len(gone) == 1 else ""
            return f"for {rank_words(thread.ranks)}{ended}"
        return "for any rank" if any(one.any_source for one in thread.awaits) else ""

    def _call(self, thread: Stuck) -> str:
        place = self.places[thread.site] if thread.site < len(self.places) else "?"
        return f"in {thread.routine} at {place}{self.details(thread)}"

    def details(self, thread: Stuck) -> str:
        """Tags, communicator, requests of a call, in brackets."""
        words: list[str] = []
        for one in thread.awaits:
            match one.kind:
                case "sender" | "receiver" | "exchange":
                    which = {"sender": "receive", "receiver": "send", "exchange": "exchange"}
                    tag = "any tag" if one.tag is None else f"tag {one.tag}"
                    text = f"{tag}, {self._on(one)}"
                    if len(thread.awaits) > 1 or "Wait" in thread.routine:
                        way = "from" if one.kind == "sender" else "to"
                        peer = "any rank" if one.peer is None else f"rank {one.peer}"
                        text = f"{which[one.kind]} {way} {peer}, {text}"
                case "members":
                    text = f"collective {one.number + 1} on {self._on(one)}"
                case "target":
                    text = f"window on {self._on(one)}"
                case _:
                    continue
            if text not in words:
                words.append(text)
        if thread.requests > len(thread.awaits):
            words.append(f"{thread.requests} requests in all")
        return f" ({'; '.join(words)})" if words else ""

    def _on(self, one: Awaited) -> str:
        name = self.communicators[one.communicator]
        return name or f"communicator {one.communicator}"
