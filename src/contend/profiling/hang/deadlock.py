"""Whether ranks can never go on, by what each of them waits for, and what was under way to them.

A call waits for all of several things, as MPI_Waitall and MPI_Sendrecv do, or for any of them, as
MPI_Waitany and a receive from any source do. Ranks are deadlocked where each of them waits for one
thing that only ranks among them could do, or that only ranks could have done that have ended; of
alternatives that must hold for every one (the AND-OR model: Knapp, Deadlock detection in
distributed databases, ACM Computing Surveys, 1987).

Who waits for a message that was sent, with a receive posted for it, waits for the network and not
for the other rank. Sends and receives are counted by envelope (communicator, source, destination,
tag), by the events of both ranks and by the calls that they are in. Of one envelope the k-th send
goes to the k-th receive (MPI 4.1, section 3.5); receives from any source or of any tag take what
fits.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from contend.profiling import routines
from contend.profiling.hang.stuck import MOST_RANKS, Awaited, Stuck, UnderWay
from contend.profiling.record_file import RankRecord
from contend.profiling.record_form import MOST_AWAITED, OTHERS
from contend.profiling.waits.steps import ANY, COMPLETED, NEEDED, Steps, by_envelope

_MOST_PAIRS = 256
_NOTHING = np.zeros(0, np.int64)
_SENDING = routines.SENDS | routines.EXCHANGES
_RECEIVING = routines.RECEIVES | routines.EXCHANGES
_EPOCHS = ("post", "complete")
_FOLLOWED = ("sender", "receiver", *_EPOCHS)
_DETACHES = frozenset({"Buffer_detach"})
"""They wait until all messages have left the program's buffer."""

Envelope: TypeAlias = tuple[int, int, int, int]
"""Communicator, source, destination, tag; `ANY` stands for any source, and for any tag."""
_Read: TypeAlias = Callable[[int], tuple[RankRecord, NDArray[np.uint32]] | None]


def with_messages(
    stuck: Sequence[Stuck], members: Mapping[int, NDArray[np.int32]], size: int, read: _Read
) -> tuple[tuple[Stuck, ...], tuple[UnderWay, ...]]:
    """Where ranks were, with which of the messages that they wait for were under way.

    Args:
        stuck: where all threads were.
        members: of communicators but MPI_COMM_WORLD, by number.
        size: of MPI_COMM_WORLD.
        read: gives a rank's record, with events, and the profile's numbers of its communicators;
            None for a rank that left none.
    """
    stuck = [_with_buffered(thread, read) for thread in stuck]
    mail = _Mail(frozenset(_pairs(stuck)))
    ranks = {rank for pair in mail.pairs for rank in pair}
    for number in {one.communicator for thread in stuck for one in thread.awaits if one.any_source}:
        ranks |= set(members.get(number, np.arange(size)).tolist())
    for rank in sorted(ranks - {ANY}):
        if (found := read(rank)) is None:
            mail.incomplete.add(rank)
        else:
            mail.add(*found)
    for thread in stuck:
        mail.add_call(thread)
    stuck = [mail.without_received(thread) for thread in stuck]
    told = tuple(
        msgspec.structs.replace(
            thread,
            awaits=tuple(
                msgspec.structs.replace(
                    one,
                    under_way=mail.is_under_way(thread, one),
                    unclaimed=tuple(mail.unclaimed(thread, one)),
                )
                for one in thread.awaits
            ),
        )
        for thread in stuck
    )
    return told, tuple(mail.moving(told))[:_MOST_PAIRS]


@dataclass
class _Mail:
    """What ranks have sent, received, and posted receives for, by envelope."""

    pairs: frozenset[tuple[int, int]]
    """Sources and destinations that are asked for; `ANY` for any source."""
    sent: dict[Envelope, NDArray[np.int64]] = field(default_factory=dict)
    """Bytes of messages in their order."""
    sending: Counter[Envelope] = field(default_factory=Counter)
    """How many more of them, by calls that have not returned."""
    received: Counter[Envelope] = field(default_factory=Counter)
    """How many of all these were received."""
    buffered: Counter[Envelope] = field(default_factory=Counter)
    """Up to which of them the program's buffer has one."""
    posted: Counter[Envelope] = field(default_factory=Counter)
    """Receives that have not ended."""
    incomplete: set[int] = field(default_factory=set)
    """Ranks of which that is not known."""
    _of: dict[tuple[int, int], set[Envelope]] = field(default_factory=lambda: defaultdict(set))

    def add(self, record: RankRecord, communicators: NDArray[np.uint32]) -> None:
        """Adds a rank's events."""
        steps = Steps(record, communicators, lambda ticks: ticks.astype(np.int64))
        if record.lost["events"] or int(record.header["requests_lost"]) or not steps.whole:
            self.incomplete.add(record.rank)
        sends = steps.sends()
        for envelope, sizes in self._asked(sends):
            self.sent[envelope] = sizes
        for envelope, buffered in self._asked(sends, "buffered"):
            self.buffered[envelope] = int(np.flatnonzero(buffered).max(initial=-1)) + 1
        for envelope, sizes in self._asked(steps.taken()):
            self.received[envelope] += len(sizes)
        for envelope, sizes in by_envelope(steps.posted()):
            self.posted[envelope] += len(sizes)

    def _asked(
        self, messages: NDArray[Any], what: str = "bytes"
    ) -> Iterator[tuple[Envelope, NDArray[np.int64]]]:
        """Messages by envelope, between ranks of which one waits for the other."""
        for envelope, values in by_envelope(messages, what):
            if (ANY, envelope[2]) in self.pairs or envelope[1:3] in self.pairs:
                yield envelope, values

    def without_received(self, thread: Stuck) -> Stuck:
        """A thread that waits for its buffered messages, without those that were received."""
        if routines.plain(thread.routine) not in _DETACHES:
            return thread
        keys = ((one, _envelope(thread, one)) for one in thread.awaits)
        left = [one for one, key in keys if self.received[key] < self.buffered[key]]
        ranks = sorted({one.peer for one in left if one.peer is not None})
        return msgspec.structs.replace(
            thread,
            awaits=tuple(left[:MOST_AWAITED]),
            ranks=tuple(ranks[:MOST_RANKS]),
        )

    def add_call(self, thread: Stuck) -> None:
        """Adds the message of a call that a thread is in: its event would follow."""
        name = routines.plain(thread.routine)
        for one in thread.awaits:
            if one.kind == "receiver" and name in _SENDING:
                self.sending[_envelope(thread, one)] += 1
            if one.kind == "sender" and name in _RECEIVING:
                self.posted[_envelope(thread, one)] += 1
            if name == "Win_complete" and one.peer is not None:
                self.sending[one.communicator, thread.rank, one.peer, COMPLETED] += 1

    def is_under_way(self, thread: Stuck, one: Awaited) -> bool | None:
        """Whether a message that a call waits for is on its way; None where nobody can tell."""
        if one.kind not in _FOLLOWED or (one.peer is None and not one.any_source):
            return None if one.kind in ("exchange", "memory") else False
        if thread.routine.startswith("MPI_Mrecv"):
            return True
        envelope = _envelope(thread, one)
        fitting = self._fitting(envelope)
        sends = sum(max(self._begun(key) - self.received[key], 0) for key in fitting)
        receives = sum(self.posted[key] for key in fitting)
        name = routines.plain(thread.routine)
        # What a call begins itself is the last of its envelope; of any, what fits may be for it.
        last = name in _SENDING | _RECEIVING | _DETACHES and not any(ANY in key for key in fitting)
        if one.kind in ("sender", *_EPOCHS):
            there = sends >= (receives if last else 1)
        else:
            there = receives >= (sends if last else 1)
        both = {thread.rank} | ({one.peer} if one.peer is not None else self.incomplete)
        if one.communicator == OTHERS or (not there and both & self.incomplete):
            return None
        return there

    def unclaimed(self, thread: Stuck, one: Awaited) -> Iterator[tuple[int, int]]:
        """Communicators and tags of messages that the awaited sender has sent in vain so far."""
        if one.kind != "sender" or one.peer is None or {one.peer, thread.rank} & self.incomplete:
            return
        for envelope in self.sent:
            communicator, source, destination, tag = envelope
            if (source, destination) == (one.peer, thread.rank) and tag >= 0:
                posted = sum(self.posted[key] for key in self._fitting(envelope))
                if len(self.sent[envelope]) > self.received[envelope] + posted:
                    yield communicator, tag

    def _fitting(self, envelope: Envelope) -> list[Envelope]:
        """Envelopes, of sends and of receives, that may be of the same messages."""
        if not self._of:
            for known in (*self.sent, *self.sending, *self.posted):
                self._of[known[0], known[2]].add(known)
        return [key for key in self._of[envelope[0], envelope[2]] if _fit(envelope, key)]

    def _begun(self, envelope: Envelope) -> int:
        return len(self.sent.get(envelope, _NOTHING)) + self.sending[envelope]

    def _unreceived(self, envelope: Envelope) -> list[int | None]:
        """Bytes of messages that were sent and not received; None where they are not known."""
        known = self.sent.get(envelope, _NOTHING).tolist()
        return [*known, *[None] * self.sending[envelope]][self.received[envelope] :]

    def moving(self, stuck: Iterable[Stuck]) -> Iterator[UnderWay]:
        """What was under way of what calls wait for, by ranks."""
        envelopes = {
            key
            for thread in stuck
            for one in thread.awaits
            if one.under_way and one.kind not in _EPOCHS
            for key in self._fitting(_envelope(thread, one))
            if ANY not in key
        }
        pairs: dict[tuple[int, int], list[int | None]] = defaultdict(list)
        for key in sorted(envelopes):
            receives = sum(self.posted[other] for other in self._fitting(key))
            pairs[key[1], key[2]] += self._unreceived(key)[:receives]
        for (source, destination), sizes in sorted(pairs.items()):
            if sizes:
                known = sum(size for size in sizes if size is not None)
                yield UnderWay(source, destination, len(sizes), known)


def _with_buffered(thread: Stuck, read: _Read) -> Stuck:
    """A thread that waits until its buffer is empty, with what had gone into that."""
    if routines.plain(thread.routine) not in _DETACHES or (found := read(thread.rank)) is None:
        return thread
    record, communicators = found
    sends = Steps(record, communicators, lambda ticks: ticks.astype(np.int64)).sends()
    awaits = [
        Awaited("receiver", destination, False, tag, communicator, 0)
        for (communicator, _, destination, tag), _ in by_envelope(sends[sends["buffered"]])
    ]
    return msgspec.structs.replace(thread, awaits=tuple(awaits))


def _pairs(stuck: Iterable[Stuck]) -> Iterator[tuple[int, int]]:
    for thread in stuck:
        for one in thread.awaits:
            if one.kind in _FOLLOWED:
                _, source, destination, _ = _envelope(thread, one)
                yield source, destination


def _envelope(thread: Stuck, one: Awaited) -> Envelope:
    peer, tag = ANY if one.peer is None else one.peer, ANY if one.tag is None else one.tag
    if one.kind in _EPOCHS:
        tag = NEEDED[routines.plain(thread.routine)]
    if one.kind in ("sender", *_EPOCHS):
        return one.communicator, peer, thread.rank, tag
    return one.communicator, thread.rank, peer, tag


def _fit(one: Envelope, other: Envelope) -> bool:
    return all(
        mine == theirs or ANY in (mine, theirs) for mine, theirs in zip(one, other, strict=True)
    )


_ANY = frozenset({"Waitany", "Waitsome", "Testany", "Testsome"})
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
            thread.routine
            and not thread.ended
            # Who asks once may do something else; who asks again and again waits.
            and (thread.asks or routines.plain(thread.routine) not in routines.QUESTIONS)
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
    clauses = [clause for clauses in things for clause in clauses]
    if routines.plain(thread.routine) in _DETACHES:
        # Some of them may have left the buffer before they are received.
        return [frozenset().union(*clauses)] if clauses and all(things) else []
    if not waits_for_any(thread):
        return clauses
    if thread.requests >= MOST_AWAITED or not all(things):
        return []
    return [frozenset().union(*clauses)]


def _thing(thread: Stuck, one: Awaited, members: _Members) -> list[Clause]:
    if one.under_way:
        return []
    if one.any_source:
        anyone = frozenset(members.get(one.communicator, ()))
        return [anyone] if anyone and min(anyone) >= 0 else []
    if one.kind == "ready":
        return [frozenset({thread.rank})]
    if one.kind == "target":
        return [frozenset(one.holders)] if one.holders else []
    if one.kind == "memory":
        return [frozenset(thread.ranks)] if 0 < len(thread.ranks) < MOST_RANKS else []
    if one.kind == "group" and one.peer not in thread.ranks:
        return []
    if one.kind in ("sender", "receiver", "exchange", "group", *_EPOCHS):
        return [] if one.peer is None else [frozenset({one.peer})]
    if one.kind not in ("members", "finalize") or not thread.ranks:
        return []
    begun_before = one.routine not in ("", thread.routine) or "Wait" in thread.routine
    if not begun_before and routines.plain(thread.routine) not in _LOOSE:
        return [frozenset({rank}) for rank in thread.ranks]
    return [frozenset(thread.ranks)] if len(thread.ranks) < MOST_RANKS else []
