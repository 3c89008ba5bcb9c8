"""Waiting for late senders, late receivers, and late ranks of nonblocking collectives, by events.

Messages of one sender to one receiver with one tag on one communicator do not overtake each other
(MPI 4.1, section 3.5): the k-th that was sent goes to the k-th receive that was posted and took
such a message. Where the sizes of a pair differ, nothing is said of the messages between the two.

A call that returns when something of another rank's is there waited for the instant at which that
began: of a message that it receives the beginning of the send (a late sender); of a message that
the library hands over in step with the receiver the posting of the receive (a late receiver); of a
nonblocking collective the last member's entry (a late rank). Of several the last one counts, or the
first where the call returns with any. That holds within the uncertainty of both clocks.

Of a record that was full only the longest events are there, with their numbers in their order. Of a
message that is not there, the last one before it that is tells an instant that was not later: what
ranks waited for it is at least as long as is said.

The states are "late sender" and "late receiver" as Scalasca defines them (Geimer et al., The
Scalasca performance toolset architecture, 2010).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend.profiling import routines
from contend.profiling.record_file import RankRecord
from contend.profiling.record_form import (
    NO_CELL,
    NO_NUMBER,
    OF_COLLECTIVE,
    OF_RECEIVE,
    OF_SEND,
    EventKind,
    numbers,
    roles,
)
from contend.profiling.waits.collectives import (
    LATE_PARTNER,
    LATE_RANK,
    LATE_RECEIVER,
    LATE_SENDER,
    Waits,
)

MOST_EVENTS = 1 << 24
"""Of all ranks together: of more, messages are not matched."""
_NOT_SAID = -(1 << 62)
ANY = -1
"""Stands for any source or any tag of a receive that is posted."""

# Both sides of a window's epoch tell each other by messages as well (MPI 4.1, section 12.5.2):
# MPI_Win_post lets MPI_Win_start and MPI_Win_complete go on, and MPI_Win_complete MPI_Win_wait.
_STARTED, _TOLD, COMPLETED = -2, -3, -4
"""Stands for the tags of these."""
_LETS = {"Win_post": (_STARTED, _TOLD), "Win_complete": (COMPLETED,)}
NEEDED = {"Win_start": _STARTED, "Win_complete": _TOLD}
NEEDED |= {"Win_wait": COMPLETED, "Win_test": COMPLETED}
EAGER = 1024
"""Every library sends so many bytes without asking whether the receiver is ready."""
_NONE, _PERHAPS, _IN_STEP, _NEVER, _POSTED = range(5)
# What is only seen, or posted, does not tell what arrives.
_NO_SIZE = (_NEVER, _POSTED)
_SENDS = {
    **dict.fromkeys(("Send", "Isend", "Sendrecv", "Sendrecv_replace"), _PERHAPS),
    **dict.fromkeys(("Isendrecv", "Isendrecv_replace"), _PERHAPS),
    **dict.fromkeys(("Ssend", "Issend"), _IN_STEP),
    **dict.fromkeys(("Bsend", "Ibsend", "Rsend", "Irsend"), _NEVER),
}
_BEGUN_COLLECTIVES = frozenset(f"I{name.lower()}" for name in routines.COLLECTIVES)
_WITH_ANY = frozenset({"Waitany", "Waitsome", "Testany", "Testsome"})

_Numbers = NDArray[np.int64]
_CALL = np.dtype([("cell", "<u4"), ("start", "<i8"), ("end", "<i8"), ("any", "?")])
_MESSAGE = np.dtype(
    [
        ("communicator", "<i8"),
        ("source", "<i8"),
        ("destination", "<i8"),
        ("tag", "<i8"),
        ("bytes", "<i8"),
        ("at", "<i8"),
        ("call", "<i8"),
        ("mode", "<i8"),
        ("number", "<i8"),
        ("known", "?"),
    ]
)
_ENVELOPE = ("communicator", "source", "destination", "tag")
_ENTRY = np.dtype([("communicator", "<i8"), ("number", "<i8"), ("at", "<i8"), ("call", "<i8")])
_AWAITED = np.dtype(
    [("rank", "<i8"), ("call", "<i8"), ("instant", "<i8"), ("peer", "<i8"), ("kind", "<i8")]
)


@dataclass
class Messages:
    """Messages and nonblocking collectives: those of all ranks are added, then they are matched."""

    whole: bool = True
    thinned: bool = False
    untold_s: float = 0.0
    _events: int = 0
    _calls: dict[int, NDArray[Any]] = field(default_factory=dict)
    _sent: list[NDArray[Any]] = field(default_factory=list)
    _received: list[NDArray[Any]] = field(default_factory=list)
    _locks: list[NDArray[Any]] = field(default_factory=list)
    _entries: list[tuple[int, NDArray[Any]]] = field(default_factory=list)
    _unsure: list[NDArray[np.int64]] = field(default_factory=list)

    def add(
        self,
        record: RankRecord,
        communicators: NDArray[np.uint32],
        instants: Callable[[NDArray[np.uint64]], _Numbers],
    ) -> None:
        """Adds what a rank sent, received and entered.

        Args:
            record: of the rank.
            communicators: the profile's numbers, by the record's.
            instants: ticks on the common clock.
        """
        self._events += len(record.events) + len(record.later)
        self.thinned = self.thinned or record.lost["events"] > 0
        self.whole = self.whole and self._events <= MOST_EVENTS
        if not self.whole:
            return
        steps = Steps(record, communicators, instants)
        self._calls[record.rank] = steps.calls
        self._sent.append(steps.sends())
        self._received.append(steps.receives())
        self._locks.append(steps.locks())
        self._entries.append((record.rank, steps.entries()))

    def waits(
        self, sizes: _Numbers, uncertainty: NDArray[np.float64], hosts: Mapping[int, str]
    ) -> Iterator[tuple[int, Waits]]:
        """What every rank waited for.

        Args:
            sizes: members of every communicator; 0 for those that cannot be compared.
            uncertainty: nanoseconds of every rank's clock.
            hosts: by rank.
        """
        if not self.whole or not self._calls:
            return
        sent, received = np.concatenate(self._sent), np.concatenate(self._received)
        sent, received = (side[sizes[side["communicator"]] > 0] for side in (sent, received))
        if not self.thinned:
            # Of messages that all are there the order of posting tells, even where another one is
            # complete before.
            sent["number"] = _places(_groups(sent, _ENVELOPE), sent["at"], sent["known"])
            received = received[received["mode"] != _POSTED]
            taking = received["mode"] != _NEVER
            received["number"] = _places(_groups(received, _ENVELOPE), received["at"], taking)
        awaited = np.concatenate(
            [
                self._late_senders(sent, received),
                *self._late_receivers(sent, received, uncertainty, hosts),
                *self._late_ranks(sizes),
                *self._late_unlocks(),
            ]
        )
        unsure = np.concatenate(self._unsure, axis=1)
        for rank, calls in self._calls.items():
            waits = Waits.decisive(rank, calls, awaited[awaited["rank"] == rank], uncertainty)
            if self.thinned:
                calls = calls[np.unique(unsure[1, unsure[0] == rank])]
                told = waits.seconds[np.isin(waits.since, calls["start"])].sum()
                whole = 1e-9 * float((calls["end"] - calls["start"]).sum())
                self.untold_s += max(whole - float(told), 0.0)
            yield rank, waits

    def _before(
        self, messages: NDArray[Any], others: NDArray[Any], side: str
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Messages as one side tells of them, and as the other does.

        Others are the last before, where the same ones have been left out.
        """
        messages = messages[messages["call"] >= 0]
        others = others[others["known"] & (others["number"] < NO_NUMBER)]
        group = _groups(np.concatenate((messages, others)), _ENVELOPE)
        mine, theirs = np.split(group, [len(messages)])
        order = np.lexsort((others["number"], theirs))
        keys = (theirs << 32 | others["number"])[order]
        wanted = mine << 32 | messages["number"]
        at = np.searchsorted(keys, wanted, side="right") - 1
        there = np.flatnonzero((at >= 0) & (messages["number"] < NO_NUMBER))
        every = messages
        messages, others, wanted = messages[there], others[order[at[there]]], wanted[there]
        same, found, mine = keys[at[there]] == wanted, keys[at[there]] >> 32, mine[there]
        unlike = same & (messages["bytes"] != others["bytes"])
        unlike &= ~np.isin(messages["mode"], _NO_SIZE) & ~np.isin(others["mode"], _NO_SIZE)
        fit = (found == mine) & (same | self.thinned) & ~np.isin(mine, mine[unlike])
        doubtful = np.delete(every, there[fit & same])
        self._unsure.append(np.stack((doubtful[side], doubtful["call"])))
        return messages[fit], others[fit]

    def _late_senders(self, sent: NDArray[Any], received: NDArray[Any]) -> NDArray[Any]:
        taken, sent = self._before(received, sent, "destination")
        kind = np.where(taken["tag"] < ANY, LATE_PARTNER, LATE_SENDER)
        return _awaited(taken["destination"], taken["call"], sent["at"], taken["source"], kind)

    def _late_receivers(
        self,
        sent: NDArray[Any],
        received: NDArray[Any],
        uncertainty: NDArray[np.float64],
        hosts: Mapping[int, str],
    ) -> Iterator[NDArray[Any]]:
        """Sends in step: by their mode, or larger than any that returned before the receive."""
        taken = received[received["mode"] != _NEVER]
        waits = (sent["mode"] == _IN_STEP) | (sent["bytes"] > EAGER) | (not self.thinned)
        waits &= sent["mode"] != _NEVER
        sent, received = self._before(sent[waits], taken, "source")
        if not len(sent):
            return
        source, target, posted = sent["source"], sent["destination"], received["at"]
        left = np.array(
            [
                self._calls[rank]["end"][call]
                for rank, call in zip(source.tolist(), sent["call"].tolist(), strict=True)
            ],
            np.int64,
        )
        names = {name: number for number, name in enumerate(dict.fromkeys(hosts.values()))}
        of_rank = np.full(int(max(source.max(), target.max())) + 1, -1)
        for rank, host in hosts.items():
            of_rank[rank : rank + 1] = names[host]
        apart = (of_rank[source] != of_rank[target]).astype(np.int64)
        unsure = uncertainty[source] + uncertainty[target]
        early = left + unsure < posted
        eager = np.full(2, EAGER, np.int64)
        np.maximum.at(eager, apart[early], sent["bytes"][early])
        in_step = (sent["mode"] == _IN_STEP) | (~early & (sent["bytes"] > eager[apart]))
        yield _awaited(
            source[in_step],
            sent["call"][in_step],
            posted[in_step],
            target[in_step],
            LATE_RECEIVER,
        )

    def _late_unlocks(self) -> Iterator[NDArray[Any]]:
        """Calls that another rank's unlocking ended, which began in their course.

        One that has its lock perhaps must last until the other has unlocked.
        """
        rows = np.concatenate(self._locks)
        # What of unlocking is left out could have ended each of them.
        asks = rows[rows["tag"] >= 0]
        self._unsure.append(np.stack((asks["source"], asks["call"])))
        keys = ("communicator", "destination", "tag")
        rows = np.sort(rows, order=keys)
        new = np.diff(_groups(rows, keys)) != 0
        unlocks = np.sort(rows[rows["mode"] == _IN_STEP], order=("communicator", "at"))
        for waits in np.split(rows, np.flatnonzero(new) + 1) if len(unlocks) else ():
            one = waits[0]
            number = one["communicator"]
            there = unlocks[slice(*np.searchsorted(unlocks["communicator"], (number, number + 1)))]
            meets = (there["destination"] == one["destination"]) | (there["destination"] == ANY)
            there = there[(meets | (one["destination"] == ANY)) & (one["tag"] | there["tag"] == 1)]
            last = np.searchsorted(there["at"], waits["bytes"]) - 1
            late = (last >= 0) & (waits["tag"] >= 0)
            waits, other = waits[late], there[last[late]]
            late = (other["at"] > waits["at"]) & (other["source"] != waits["source"])
            late &= (waits["mode"] == _PERHAPS) | (other["bytes"] <= waits["bytes"])
            waits, other = waits[late], other[late]
            yield _awaited(
                waits["source"], waits["call"], other["at"], other["source"], LATE_PARTNER
            )

    def _late_ranks(self, sizes: _Numbers) -> Iterator[NDArray[Any]]:
        ranks = np.concatenate([np.full(len(part), rank) for rank, part in self._entries])
        entries = np.concatenate([part for _, part in self._entries])
        if not len(entries):
            return
        group = _groups(entries, ("communicator", "number"))
        order = np.lexsort((entries["at"], group))
        last = order[np.append(np.flatnonzero(np.diff(group[order])), len(order) - 1)]
        members = np.bincount(group)
        communicators = entries["communicator"][last]
        same = members == sizes[communicators]
        told = (same | self.thinned) & (members > 1) & (sizes[communicators] > 1)
        told &= entries["at"][last] > _NOT_SAID
        lone = (entries["call"] >= 0) & ~same[group]
        self._unsure.append(np.stack((ranks[lone], entries["call"][lone])))
        rows = told[group] & (entries["call"] >= 0)
        yield _awaited(
            ranks[rows],
            entries["call"][rows],
            entries["at"][last][group[rows]],
            ranks[last][group[rows]],
            LATE_RANK,
        )


class Steps:
    """A rank's events as calls, and what they had to do with other ranks."""

    def __init__(
        self,
        record: RankRecord,
        communicators: NDArray[np.uint32],
        instants: Callable[[NDArray[np.uint64]], _Numbers],
    ) -> None:
        events = np.concatenate((record.events, record.later))
        # Behind a call whose communicator is not known nothing is the k-th any more.
        unknown = np.flatnonzero(events["cell"] == NO_CELL)
        self.whole = not len(unknown)
        events = events[: unknown[0]] if len(unknown) else events
        self._events, self._rank = events, record.rank
        self._names = [routines.plain(name) for name in record.routines]
        self._routine = record.cells["routine"][events["cell"]].astype(np.int64)
        self._communicator = communicators[record.cells["communicator"]][events["cell"]].astype(
            np.int64
        )
        self._is_call = events["kind"] == EventKind.CALL
        self._call = np.cumsum(self._is_call) - 1
        self._at = instants(events["start"])
        rows = np.flatnonzero(self._is_call)
        self.calls = np.zeros(len(rows), _CALL)
        self.calls["cell"] = events["cell"][rows]
        self.calls["start"], self.calls["end"] = self._at[rows], instants(events["end"][rows])
        self.calls["any"] = self._of(_WITH_ANY)[rows]
        completed = np.flatnonzero(events["kind"] == EventKind.COMPLETION)
        self._made = np.flatnonzero(
            (events["kind"] != EventKind.COMPLETION) & (events["request"] > 0)
        )
        self._role, self._number = roles(events), numbers(events)
        self._completed = completed
        self._maker = _joined(events["request"], completed, self._made)

    def _of(self, names: frozenset[str] | Mapping[str, int]) -> NDArray[np.bool_]:
        """Whether events are of these routines."""
        chosen: NDArray[np.bool_] = np.array([name in names for name in self._names], bool)
        of_events: NDArray[np.bool_] = chosen[self._routine]
        return of_events

    def _completing(self) -> _Numbers:
        """By event: the call in which what it began was complete; -1 where none is known."""
        call = np.where(self._is_call & (self._events["request"] == 0), self._call, -1)
        known = self._maker >= 0
        call[self._maker[known]] = self._call[self._completed[known]]
        return call

    def sends(self) -> NDArray[Any]:
        """Messages in the order in which they were sent."""
        mode = np.array([_SENDS.get(name, _NONE) for name in self._names])[self._routine]
        mode[~self._is_call] = _NONE
        started = self._of(routines.STARTS) & (self._events["request"] > 0)
        mode[started & (self._events["kind"] != EventKind.COMPLETION)] = _PERHAPS
        mode[started & (self._role != OF_SEND)] = _NONE
        rows = np.flatnonzero((mode != _NONE) & (self._events["peer"] >= 0))
        # What began others is left out; that they are complete tells of them.
        lone = self._completed[(self._maker < 0) & (self._role[self._completed] == OF_SEND)]
        begun = np.array([_SENDS.get(name, _NONE) for name in self._names])[self._routine[lone]]
        mode[lone] = np.where(self._of(routines.STARTS)[lone], _PERHAPS, begun)
        lone = lone[(mode[lone] != _NONE) & (self._events["peer"][lone] >= 0)]
        call = np.concatenate((self._completing()[rows], self._call[lone]))
        known, rows = np.arange(len(call)) < len(rows), np.concatenate((rows, lone))
        found = self._messages(rows, rows, call, known)
        found["source"], found["destination"] = self._rank, self._events["peer"][rows]
        found["mode"] = mode[rows]
        return np.concatenate((found, *self._epochs(_LETS, lets=True)))

    def _epochs(
        self, tags: Mapping[str, tuple[int, ...]], *, lets: bool = False
    ) -> Iterator[NDArray[Any]]:
        """What calls tell the other sides of a window's epoch, or hear of them, as messages."""
        parts = (self._events["kind"] == EventKind.PART) & (self._events["peer"] >= 0)
        for name, several in tags.items():
            rows = np.flatnonzero(parts & self._of(frozenset({name})))
            for tag in several:
                found = self._messages(rows, rows, self._call[rows], parts[rows])
                peers = self._events["peer"][rows]
                found["source"], found["destination"] = self._rank, peers
                if not lets:
                    found["source"], found["destination"] = peers, self._rank
                found["tag"], found["mode"] = tag, _NEVER if lets else _PERHAPS
                yield found

    def receives(self) -> NDArray[Any]:
        """Messages that were taken; those that were only seen have the mode `_NEVER`."""
        events = self._events
        there = events["peer"] >= 0
        at_once = self._is_call & self._of(routines.RECEIVES) & there
        half = (events["kind"] == EventKind.PART) & (self._role == OF_RECEIVE)
        half &= (events["request"] == 0) & self._of(routines.EXCHANGES) & there
        probed = self._is_call & self._of(routines.PROBES) & there
        blocking = np.flatnonzero(at_once | half | probed)
        arrived = there[self._completed] & (self._role[self._completed] == OF_RECEIVE)
        began = self._of(routines.BEGUN_RECEIVES) | (
            self._of(routines.STARTS) & (self._role == OF_RECEIVE)
        )
        posted = self._made[(began & there & (self._number < NO_NUMBER))[self._made]]
        rows = np.concatenate((blocking, self._completed[arrived], posted))
        makers = np.concatenate((blocking, self._maker[arrived], posted))
        call = np.where(np.arange(len(rows)) < len(rows) - len(posted), self._call[rows], -1)
        found = self._messages(rows, np.where(makers < 0, rows, makers), call, makers >= 0)
        found["source"], found["destination"] = events["peer"][rows], self._rank
        found["mode"] = np.where(probed[rows], _NEVER, _PERHAPS)
        found["mode"][len(rows) - len(posted) :] = _POSTED
        return np.concatenate((found, *self._epochs({name: (NEEDED[name],) for name in NEEDED})))

    def locks(self) -> NDArray[Any]:
        """Calls on locks, as messages to their targets that are of as many bytes as their end."""
        rows = np.flatnonzero(self._is_call & self._of(routines.LOCKS | routines.LOCKED))
        found = self._messages(rows, rows, self._call[rows], self._is_call[rows])
        found["source"], found["destination"] = self._rank, self._events["peer"][rows]
        found["bytes"] = self.calls["end"][self._call[rows]]
        modes = (
            (routines.LOCKED, _NEVER),
            (routines.UNLOCKS, _IN_STEP),
            (routines.LOCKS, _PERHAPS),
        )
        for names, mode in modes:
            found["mode"][self._of(names)[rows]] = mode
        return found

    def taken(self) -> NDArray[Any]:
        """Messages that were received."""
        found = self.receives()
        taken: NDArray[Any] = found[found["mode"] == _PERHAPS]
        return taken

    def posted(self) -> NDArray[Any]:
        """Receives that were begun and are not complete; `ANY` for any source or tag."""
        begins = np.setdiff1d(self._made, self._maker)
        exchange = self._of(routines.BEGUN_EXCHANGES)[begins]
        started = self._of(routines.STARTS)[begins] & (self._role[begins] == OF_RECEIVE)
        rows = begins[self._of(routines.BEGUN_RECEIVES)[begins] | exchange | started]
        found = self._messages(rows, rows, self._call[rows], np.ones(len(rows), bool))
        found["source"], found["destination"] = self._events["peer"][rows], self._rank
        # What an exchange receives is not among its events.
        for name in ("source", "tag"):
            found[name][self._of(routines.BEGUN_EXCHANGES)[rows]] = ANY
        return found

    def _messages(
        self, rows: _Numbers, begun: _Numbers, calls: _Numbers, known: NDArray[np.bool_]
    ) -> NDArray[Any]:
        found = np.zeros(len(rows), _MESSAGE)
        found["communicator"], found["at"] = self._communicator[rows], self._at[begun]
        found["tag"], found["bytes"] = self._events["tag"][rows], self._events["bytes"][rows]
        found["call"], found["known"], found["number"] = calls, known, self._number[rows]
        return found

    def entries(self) -> NDArray[Any]:
        """Nonblocking collectives, of those that are complete also without their beginnings."""
        mine = self._is_call & self._of(_BEGUN_COLLECTIVES) & (self._events["request"] > 0)
        begun = np.flatnonzero(mine)
        lone = self._completed[(self._maker < 0) & (self._role[self._completed] == OF_COLLECTIVE)]
        rows = np.concatenate((begun, lone))
        found = np.zeros(len(rows), _ENTRY)
        found["communicator"], found["number"] = self._communicator[rows], self._number[rows]
        found["at"] = np.where(np.arange(len(rows)) < len(begun), self._at[rows], _NOT_SAID)
        found["call"] = np.concatenate((self._completing()[begun], self._call[lone]))
        return found[found["number"] < NO_NUMBER]


def _joined(requests: NDArray[Any], completed: _Numbers, made: _Numbers) -> _Numbers:
    """What made the requests that are complete; -1 where that is not there."""
    order = made[np.argsort(requests[made], kind="stable")]
    if not len(order):
        return np.full(len(completed), -1)
    at = np.searchsorted(requests[order], requests[completed], side="right") - 1
    maker = order[np.maximum(at, 0)]
    known = (at >= 0) & (requests[maker] == requests[completed])
    return np.where(known, maker, -1)


def by_envelope(
    messages: NDArray[Any],
) -> Iterator[tuple[tuple[int, int, int, int], _Numbers]]:
    """Bytes of messages in their order, by communicator, source, destination and tag."""
    group = _groups(messages, _ENVELOPE)
    order = np.argsort(group, kind="stable")
    parts = np.split(messages[order], np.flatnonzero(np.diff(group[order])) + 1)
    for part in parts if len(messages) else ():
        yield tuple(part[0][list(_ENVELOPE)].tolist()), part["bytes"]


def _groups(rows: NDArray[Any], names: tuple[str, ...]) -> _Numbers:
    """A number for each different combination of these columns, by row."""
    if not len(rows):
        return np.zeros(0, np.int64)
    order = np.lexsort([rows[name] for name in names])
    new = np.zeros(len(rows), bool)
    for name in names:
        new[1:] |= np.diff(rows[name][order]) != 0
    group = np.empty(len(rows), np.int64)
    group[order] = np.cumsum(new)
    return group


def _places(group: _Numbers, at: _Numbers, counted: NDArray[np.bool_]) -> _Numbers:
    """Of every row: how many of its group that count are before it."""
    if not len(group):
        return group
    order = np.lexsort((at, group))
    before: _Numbers = np.cumsum(counted[order]) - counted[order]
    first = np.append(0, np.flatnonzero(np.diff(group[order])) + 1)
    lengths = np.diff(np.append(first, len(order)))
    places = np.empty(len(group), np.int64)
    places[order] = before - np.repeat(before[first], lengths)
    return places


def _awaited(
    rank: _Numbers, call: _Numbers, instant: _Numbers, peer: _Numbers, kind: int | _Numbers
) -> NDArray[Any]:
    found = np.zeros(len(rank), _AWAITED)
    found["rank"], found["call"], found["instant"], found["peer"] = rank, call, instant, peer
    found["kind"] = kind
    return found
