"""Where ranks were when their program was ended: in which call, since when, waiting for whom.

A rank's record holds the call that each of its threads is in (`contend_under_way` in ``record.h``).
"""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from contend.base.schema import PythonOnly
from contend.profiling import routines
from contend.profiling.clocks import TickCounter
from contend.profiling.record_file import RankRecord
from contend.profiling.record_form import (
    ANY_PEER,
    ANY_TAG,
    CELL,
    FOREIGN_PEER,
    INVALID_PEER,
    NO_CALL,
    OPERATIONS,
    OTHERS,
    UNKNOWN_BYTES,
    WINDOW,
    Awaits,
    State,
)

# As in the recorder: a thread that pauses no longer than a part of what it has waited still asks.
_PAUSE_S, _PART_OF_WAIT = 1.0, 4
# A call is noted so soon after its end, also on a busy machine.
_NOTED_S = 1e-3
MOST_RANKS = 256
"""Of those that a call waits for so many are kept."""


class Awaited(msgspec.Struct, frozen=True):
    """One thing that a call waits for."""

    kind: str
    """Word receiver, sender, members, target, finalize, exchange, ready (its own partitions), post
    and complete (of the other side of a window's epoch), group (the same call of another rank that
    makes a communicator), memory (another value in the peer's part of a window) or unknown."""
    peer: int | None
    """Rank in MPI_COMM_WORLD; null for none or several."""
    any_source: bool
    """Whether any rank may send it."""
    tag: int | None
    """Tag; null for any, or none."""
    communicator: int
    """Number of the communicator."""
    number: int
    """Number of the collective on that communicator, from 0; of partitions, how many are marked as
    ready; of an invalid peer, the rank that the program gave."""
    under_way: bool | None = False
    """Whether the message was sent and its receive posted, so that it was on its way; null where
    that is not known."""
    routine: str = ""
    """Routine that a collective was begun by."""
    root: int | None = None
    """Root of a collective in MPI_COMM_WORLD; null for none."""
    operation: str = ""
    """Operation of a reduction."""
    bytes: int | None = None
    """Bytes of a collective: what all members must give alike; of partitions, how many they are; of
    an invalid peer, how many ranks there are; null where it is not known."""
    invalid: bool = False
    """Whether the communicator has no such peer."""
    foreign: bool = False
    """Whether the peer is a rank of another program."""
    exclusive: bool | None = None
    """Whether this rank's lock of a target is exclusive; null without one."""
    holders: tuple[int, ...] = ()
    """Ranks whose locks of a target are in the way, as far as that is certain."""
    unclaimed: tuple[tuple[int, int], ...] = ()
    """Communicators and tags of what a sender has sent to this rank, and no receive has taken or
    waits for."""


class Entered(msgspec.Struct, frozen=True):
    """How a rank entered a collective: what all members must do alike."""

    rank: int
    """Rank in MPI_COMM_WORLD."""
    routine: str
    """Routine that it called."""
    site: int
    """Number of the place of the call."""
    root: int | None = None
    """Root in MPI_COMM_WORLD; null for none."""
    operation: str = ""
    """Operation of a reduction."""
    bytes: int | None = None
    """Bytes from or to each; null where they are not known."""

    def differs(self, other: Entered) -> bool:
        """Whether two calls cannot be of the same collective (MPI 4.1, sections 6.2 and 6.12)."""
        pairs = (
            (self.root, other.root),
            (self.operation, other.operation),
            (self.bytes, other.bytes),
        )
        return routines.plain(self.routine) != routines.plain(other.routine) or any(
            mine != theirs and not {mine, theirs} & {None, ""} for mine, theirs in pairs
        )


class Stuck(msgspec.Struct, frozen=True):
    """Where one thread of a rank was when the program was ended."""

    rank: int
    """Rank in MPI_COMM_WORLD."""
    thread: int
    """Number of the thread from 0, by first call."""
    routine: str
    """Routine that it was in, or asked with again and again; "" for none."""
    site: PythonOnly[int]
    """Number of the place of the call, or of 0."""
    since_s: float
    """Seconds that it had been there, or since it had ended by itself."""
    at_least: bool
    """Whether it may have been longer, since nobody saw the end."""
    ended: str
    """How the rank had ended by itself, such as ``called MPI_Abort``; "" if it had not."""
    requests: PythonOnly[int]
    """Number of things that the call waits for, of which the first eight are here."""
    awaits: tuple[Awaited, ...] = ()
    """What the call waits for: its first eight messages, requests or collectives."""
    ranks: tuple[int, ...] = ()
    """Ranks that the call waits for, as far as that can be told; at most 256."""
    others: tuple[int, ...] = ()
    """Ranks that entered its collective by another call, which cannot match."""
    entered: PythonOnly[tuple[Entered, ...]] = ()
    """Calls by which it and the first of these entered the collective."""
    asks: PythonOnly[bool] = False
    """Whether it asked again and again, in vain."""
    died: PythonOnly[str] = ""
    """What it died of, such as ``died of signal 11 (Segmentation fault)``; "" for nothing."""
    through: PythonOnly[str] = ""
    """Where in what the program had called a signal came, such as ``in libc``; "" where that was in
    its own code."""
    gone_s: PythonOnly[float | None] = None
    """Seconds into the run when it died or ended by itself; None if it did not."""


class UnderWay(msgspec.Struct, frozen=True):
    """Messages from one rank to another that were under way."""

    source: int
    """Rank in MPI_COMM_WORLD that sends."""
    destination: int
    """Rank in MPI_COMM_WORLD that receives."""
    messages: int
    """Number of messages."""
    bytes: int
    """Bytes of those of which they are known."""


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


@dataclass(frozen=True)
class Seen:
    """What a rank's record tells of where it was."""

    state: State
    """State of the rank."""
    threads: tuple[Stuck, ...]
    """Places of its threads; the `ranks` in them are not known yet."""
    left: Mapping[int, int]
    """Collectives that it has left, by number of the communicator."""
    locks: tuple[Lock, ...] = ()
    """Locks that it has, of windows."""


def since_when(
    record: RankRecord, counter: TickCounter, ended_unix: float | None
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Seconds from MPI_Init's end to the program's end, and for how long threads had been in place.

    The last are of threads that asked again and again until the end, from the first question on;
    NaN of others.

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
    since_s = ended_s - counter.seconds(begun)
    asking_s = ended_s - counter.seconds(threads["asking"] - start)
    pause_s = ended_s - counter.seconds(threads["left"] - start)
    names = [routines.plain(name) for name in record.routines]

    def among(kind: frozenset[str], which: NDArray[Any]) -> NDArray[np.bool_]:
        of_kind: NDArray[np.bool_] = np.array([*(name in kind for name in names), False])
        chosen: NDArray[np.bool_] = of_kind[np.minimum(which, len(names))]
        return chosen

    asking = ~called | among(routines.QUESTIONS, threads["routine"])
    asking |= among(routines.READS, threads["asked"]) & among(routines.READING, threads["routine"])
    # An answer is noted a moment after its question has ended, with what it brought.
    asked = threads["asked_left"]
    noted = asked == threads["left"]
    if not record.lost["events"]:
        noted |= record.events["end"].max(initial=0) <= asked
    # What is read of a window is told to be the same when it is read again.
    just = counter.seconds(threads["left"] - asked) <= _NOTED_S
    noted |= among(routines.READS, threads["asked"]) & just
    asking &= (threads["asking"] > 0) & noted
    # Who sleeps between two questions waits too.
    asking &= pause_s <= np.maximum(_PAUSE_S, (asking_s - pause_s) / _PART_OF_WAIT)
    return ended_s, since_s, np.where(asking, asking_s, np.nan)


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
    of_death: tuple[int, str],
    since_s: Sequence[float],
    asking_s: Sequence[float],
    *,
    gone_s: float,
    since_gone_s: float,
    at_least: bool,
    killed: str = "",
) -> Seen:
    """Where a rank was.

    Args:
        record: of the rank.
        communicators: numbers of its communicators, by their index in the record.
        sites: numbers of the places of its threads' calls.
        of_death: number of the place in the program of a signal, and through what that came.
        since_s: how long its threads had been where they were.
        asking_s: how long they had asked in vain; NaN for those that did not.
        gone_s: seconds into the run when it died or ended by itself, if it did.
        since_gone_s: how long before the program's end it ended by itself, if it did.
        at_least: whether it may have been longer.
        killed: how it ended by what no program sees come, if it was the first to end; "" if not.
    """
    status = int(record.header["exit_code"])
    exited = f"ended without MPI_Finalize{f', with exit status {status}' if status else ''}"
    ended = {State.ABORTED: "called MPI_Abort", State.EXITED: exited}.get(record.state, "")
    threads = []
    dying, died = cause_of_death(record)
    if dying < 0 and killed and record.state is State.RUNNING and len(record.threads):
        dying, died, of_death = 0, killed, (0, "")
    for number, item in enumerate(record.threads):
        called, asks = int(item["routine"]) != NO_CALL, asking_s[number] == asking_s[number]
        since = since_gone_s if ended else asking_s[number] if asks else since_s[number]
        if record.state is State.FINISHED and not called:
            continue
        there = called or asks
        count = int(item["asked_for" if asks else "count"]) if there else 0
        reads = asks and routines.plain(record.routines[item["asked"]]) in routines.READS
        signalled = of_death if number == dying and not there else (0, "")
        site = int(sites[number]) if there else signalled[0]
        threads.append(
            Stuck(
                rank=record.rank,
                thread=number,
                routine=record.routines[item["routine" if called else "asked"]] if there else "",
                site=site,
                since_s=max(since, 0.0),
                at_least=at_least,
                ended=ended,
                requests=count,
                awaits=tuple(
                    _awaited(one, communicators, record.routines, reads=reads)
                    for one in item["awaited"][:count]
                ),
                asks=asks,
                died=died if number == dying else "",
                through=signalled[1],
                gone_s=gone_s if number == dying or ended else None,
            )
        )
    left: dict[int, int] = {}
    for index, number in enumerate(communicators.tolist()):
        if index == OTHERS:
            continue
        left[number] = max(left.get(number, 0), int(record.communicators[index]["collectives"]))
    return Seen(record.state, tuple(threads), left, (*_locks_of(record, communicators),))


FAILED = "failed with "
"""Begins what a rank died of that an error of MPI has ended."""


def cause_of_death(record: RankRecord) -> tuple[int, str]:
    """The thread that a rank died in, and of what; -1 and "" if it did not, as far as is known.

    What a rank survived, such as an error that it handles, was followed by other calls.
    """
    header = record.header
    number, when = int(header["died_thread"]), int(header["died"])
    if when == 0 or record.state is State.FINISHED or not len(record.threads):
        return -1, ""
    number = number if number < len(record.threads) else 0
    thread, error = record.threads[number], header["error"].decode(errors="replace")
    called = int(thread["routine"]) != NO_CALL
    if when < int(thread["start"]) or (error and not called):
        return -1, ""
    if not called and when < int(thread["left"]):
        return -1, ""
    if error:
        return number, f"{FAILED}{error}"
    return number, died_of(int(header["signal"]))


def died_of(number: int) -> str:
    """That a rank died of a signal, in words."""
    return f"died of signal {number} ({signal.strsignal(number) or '?'})"


def _awaited(
    item: np.void, communicators: NDArray[np.uint32], names: Sequence[str], *, reads: bool
) -> Awaited:
    peer, tag = int(item["peer"]), int(item["tag"])
    kind, size = Awaits(int(item["kind"])), int(item["bytes"])
    tagged = kind in (Awaits.RECEIVER, Awaits.SENDER, Awaits.EXCHANGE, Awaits.READY, Awaits.GROUP)
    collective = kind is Awaits.MEMBERS
    known = collective and int(item["routine"]) < len(names) and 0 <= tag < len(OPERATIONS)
    return Awaited(
        kind="memory" if reads else kind.name.lower(),
        peer=peer if peer >= 0 and not collective else None,
        any_source=peer == ANY_PEER and kind is Awaits.SENDER,
        tag=tag if tagged and tag != ANY_TAG else None,
        communicator=int(communicators[item["communicator"]]),
        number=int(item["number"]),
        routine=names[int(item["routine"])] if known else "",
        root=peer if collective and peer >= 0 else None,
        operation=OPERATIONS[tag] if known else "",
        bytes=None if reads or size == UNKNOWN_BYTES else size,
        invalid=peer == INVALID_PEER,
        foreign=tagged and peer == FOREIGN_PEER,
        exclusive=bool(tag) if kind is Awaits.TARGET and tag != ANY_TAG and not reads else None,
    )


def _locks_of(record: RankRecord, communicators: NDArray[np.uint32]) -> Iterator[Lock]:
    """Locks that a rank had, or had asked for, at its end."""
    for index in np.flatnonzero(record.communicators["kind"] == WINDOW).tolist():
        of, window = record.communicators[index], int(communicators[index])
        for code in of["extent"][of["extent"] > 0].tolist() if index > OTHERS else ():
            target = (code >> 1) - 3
            yield Lock(window, target if target >= 0 else None, bool(code & 1))
        if int(of["dimensions"]):
            yield Lock(window, None, exclusive=True, certain=False)
