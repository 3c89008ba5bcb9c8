"""One rank's events as calls, and as what they had to do with other ranks.

Each message, nonblocking collective and lock of a window is a row with the number of its call. They
are matched with those of other ranks elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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

NOT_SAID = -(1 << 62)
"""Stands for the instant of an entry that is left out."""
ANY = -1
"""Stands for any source or any tag of a receive that is posted."""

# Both sides of a window's epoch tell each other by messages as well (MPI 4.1, section 12.5.2):
# MPI_Win_post lets MPI_Win_start and MPI_Win_complete go on, and MPI_Win_complete MPI_Win_wait.
_STARTED, _TOLD, COMPLETED = -2, -3, -4
"""Stands for the tags of these."""
_LETS = {"Win_post": (_STARTED, _TOLD), "Win_complete": (COMPLETED,)}
NEEDED = {"Win_start": _STARTED, "Win_complete": _TOLD}
NEEDED |= {"Win_wait": COMPLETED, "Win_test": COMPLETED}

_NONE, PERHAPS, IN_STEP, NEVER, POSTED = range(5)
"""Modes: whether the library hands a message over in step with its receiver; or it is a receive
that was only posted."""
_SENDS = {
    **dict.fromkeys(("Send", "Isend", "Sendrecv", "Sendrecv_replace"), PERHAPS),
    **dict.fromkeys(("Isendrecv", "Isendrecv_replace"), PERHAPS),
    **dict.fromkeys(("Ssend", "Issend"), IN_STEP),
    **dict.fromkeys(("Bsend", "Ibsend", "Rsend", "Irsend"), NEVER),
}
_BUFFERED = frozenset({"Bsend", "Ibsend"})
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
        ("buffered", "?"),
        ("cell", "<i8"),
    ]
)
ENVELOPE = ("communicator", "source", "destination", "tag")
_ENTRY = np.dtype([("communicator", "<i8"), ("number", "<i8"), ("at", "<i8"), ("call", "<i8")])


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
        mode[started & (self._events["kind"] != EventKind.COMPLETION)] = PERHAPS
        mode[started & (self._role != OF_SEND)] = _NONE
        rows = np.flatnonzero((mode != _NONE) & (self._events["peer"] >= 0))
        # What began others is left out; that they are complete tells of them.
        lone = self._completed[(self._maker < 0) & (self._role[self._completed] == OF_SEND)]
        begun = np.array([_SENDS.get(name, _NONE) for name in self._names])[self._routine[lone]]
        mode[lone] = np.where(self._of(routines.STARTS)[lone], PERHAPS, begun)
        lone = lone[(mode[lone] != _NONE) & (self._events["peer"][lone] >= 0)]
        call = np.concatenate((self._completing()[rows], self._call[lone]))
        known, rows = np.arange(len(call)) < len(rows), np.concatenate((rows, lone))
        found = self._messages(rows, rows, call, known)
        found["source"], found["destination"] = self._rank, self._events["peer"][rows]
        found["mode"], found["buffered"] = mode[rows], self._of(_BUFFERED)[rows]
        for row in np.flatnonzero(self._of(frozenset({"Bsend_init"}))):
            alike = self._communicator[rows] == self._communicator[row]
            for name in ("peer", "tag"):
                alike &= self._events[name][rows] == self._events[name][row]
            found["buffered"] |= alike & self._of(routines.STARTS)[rows]
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
                found["tag"], found["mode"] = tag, NEVER if lets else PERHAPS
                yield found

    def receives(self) -> NDArray[Any]:
        """Messages that were taken; those that were only seen have the mode `NEVER`."""
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
        found["mode"] = np.where(probed[rows], NEVER, PERHAPS)
        found["mode"][len(rows) - len(posted) :] = POSTED
        return np.concatenate((found, *self._epochs({name: (NEEDED[name],) for name in NEEDED})))

    def locks(self) -> NDArray[Any]:
        """Calls on locks, as messages to their targets that are of as many bytes as their end."""
        rows = np.flatnonzero(self._is_call & self._of(routines.LOCKS | routines.LOCKED))
        found = self._messages(rows, rows, self._call[rows], self._is_call[rows])
        found["source"], found["destination"] = self._rank, self._events["peer"][rows]
        found["bytes"] = self.calls["end"][self._call[rows]]
        modes = (
            (routines.LOCKED, NEVER),
            (routines.UNLOCKS, IN_STEP),
            (routines.LOCKS, PERHAPS),
        )
        for names, mode in modes:
            found["mode"][self._of(names)[rows]] = mode
        return found

    def taken(self) -> NDArray[Any]:
        """Messages that were received."""
        found = self.receives()
        taken: NDArray[Any] = found[found["mode"] == PERHAPS]
        return taken

    def posted(self) -> NDArray[Any]:
        """Receives that were begun and are not complete; `ANY` for any source or tag."""
        begins = np.setdiff1d(self._made, self._maker)
        exchange = self._of(routines.BEGUN_EXCHANGES)[begins]
        started = self._of(routines.STARTS)[begins] & (self._role[begins] == OF_RECEIVE)
        rows = begins[self._of(routines.BEGUN_RECEIVES)[begins] | exchange | started]
        found = self._messages(rows, rows, self._call[rows], np.ones(len(rows), bool))
        # What an exchange receives is the part behind it.
        half = np.minimum(rows + self._of(routines.BEGUN_EXCHANGES)[rows], len(self._events) - 1)
        known = (half == rows) | (self._events["kind"][half] == EventKind.PART)
        # A message that was matched before may have any tag.
        known &= ~self._of(frozenset({"Imrecv"}))[rows]
        found["source"] = np.where(known, self._events["peer"][half], ANY)
        found["tag"] = np.where(known, self._events["tag"][half], ANY)
        found["destination"] = self._rank
        return found

    def _messages(
        self, rows: _Numbers, begun: _Numbers, calls: _Numbers, known: NDArray[np.bool_]
    ) -> NDArray[Any]:
        found = np.zeros(len(rows), _MESSAGE)
        found["communicator"], found["at"] = self._communicator[rows], self._at[begun]
        found["tag"], found["bytes"] = self._events["tag"][rows], self._events["bytes"][rows]
        found["call"], found["known"], found["number"] = calls, known, self._number[rows]
        found["cell"] = self._events["cell"][begun]
        return found

    def entries(self) -> NDArray[Any]:
        """Nonblocking collectives, of those that are complete also without their beginnings."""
        mine = self._is_call & self._of(_BEGUN_COLLECTIVES) & (self._events["request"] > 0)
        begun = np.flatnonzero(mine)
        lone = self._completed[(self._maker < 0) & (self._role[self._completed] == OF_COLLECTIVE)]
        rows = np.concatenate((begun, lone))
        found = np.zeros(len(rows), _ENTRY)
        found["communicator"], found["number"] = self._communicator[rows], self._number[rows]
        found["at"] = np.where(np.arange(len(rows)) < len(begun), self._at[rows], NOT_SAID)
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
    messages: NDArray[Any], what: str = "bytes"
) -> Iterator[tuple[tuple[int, int, int, int], _Numbers]]:
    """Bytes of messages in their order, by communicator, source, destination and tag; or others."""
    group = groups(messages, ENVELOPE)
    order = np.argsort(group, kind="stable")
    parts = np.split(messages[order], np.flatnonzero(np.diff(group[order])) + 1)
    for part in parts if len(messages) else ():
        yield tuple(part[0][list(ENVELOPE)].tolist()), part[what]


def groups(rows: NDArray[Any], names: tuple[str, ...]) -> _Numbers:
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
