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

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend.profiling import routines
from contend.profiling.clocks import TickCounter
from contend.profiling.folder import LeftOut
from contend.profiling.record_file import RankRecord
from contend.profiling.record_form import NO_CELL, NO_NUMBER, EventKind
from contend.profiling.waits.lateness import (
    LATE_PARTNER,
    LATE_RANK,
    LATE_RECEIVER,
    LATE_SENDER,
    Waits,
)
from contend.profiling.waits.steps import (
    ANY,
    ENVELOPE,
    IN_STEP,
    NEVER,
    NOT_SAID,
    PERHAPS,
    POSTED,
    Steps,
    groups,
)

MOST_EVENTS = 1 << 24
"""Of all ranks together: of more, messages are not matched."""
EAGER = 1024
"""Every library sends so many bytes without asking whether the receiver is ready."""
# What is only seen, or posted, does not tell what arrives.
_NO_SIZE = (NEVER, POSTED)

_Numbers = NDArray[np.int64]
_AWAITED = np.dtype(
    [("rank", "<i8"), ("call", "<i8"), ("instant", "<i8"), ("peer", "<i8"), ("kind", "<i8")]
)


@dataclass
class Messages:
    """Messages and nonblocking collectives: those of all ranks are added, then they are matched."""

    matched: tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None = None
    """What was sent and received, numbered in each flow, and receives that were posted and did not
    end; None where some is left out, or nothing was matched."""
    whole: bool = True
    thinned: bool = False
    untold_s: float = 0.0
    _events: int = 0
    _gaps: bool = False
    _calls: dict[int, NDArray[Any]] = field(default_factory=dict)
    _sent: list[NDArray[Any]] = field(default_factory=list)
    _received: list[NDArray[Any]] = field(default_factory=list)
    _posted: list[NDArray[Any]] = field(default_factory=list)
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
        self._posted.append(steps.posted())
        self._gaps |= bool(record.header["requests_lost"]) or not steps.whole
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
            sent["number"] = _places(groups(sent, ENVELOPE), sent["at"], sent["known"])
            received = received[received["mode"] != POSTED]
            taking = received["mode"] != NEVER
            received["number"] = _places(groups(received, ENVELOPE), received["at"], taking)
            if not self._gaps:
                there = (received["mode"] == PERHAPS) & (received["tag"] >= 0)
                posted = np.concatenate(self._posted)
                self.matched = sent[sent["tag"] >= 0], received[there], posted
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
        group = groups(np.concatenate((messages, others)), ENVELOPE)
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
        taken = received[received["mode"] != NEVER]
        waits = (sent["mode"] == IN_STEP) | (sent["bytes"] > EAGER) | (not self.thinned)
        waits &= sent["mode"] != NEVER
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
        in_step = (sent["mode"] == IN_STEP) | (~early & (sent["bytes"] > eager[apart]))
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
        new = np.diff(groups(rows, keys)) != 0
        unlocks = np.sort(rows[rows["mode"] == IN_STEP], order=("communicator", "at"))
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
            late &= (waits["mode"] == PERHAPS) | (other["bytes"] <= waits["bytes"])
            waits, other = waits[late], other[late]
            yield _awaited(
                waits["source"], waits["call"], other["at"], other["source"], LATE_PARTNER
            )

    def _late_ranks(self, sizes: _Numbers) -> Iterator[NDArray[Any]]:
        ranks = np.concatenate([np.full(len(part), rank) for rank, part in self._entries])
        entries = np.concatenate([part for _, part in self._entries])
        if not len(entries):
            return
        group = groups(entries, ("communicator", "number"))
        order = np.lexsort((entries["at"], group))
        last = order[np.append(np.flatnonzero(np.diff(group[order])), len(order) - 1)]
        members = np.bincount(group)
        communicators = entries["communicator"][last]
        same = members == sizes[communicators]
        told = (same | self.thinned) & (members > 1) & (sizes[communicators] > 1)
        told &= entries["at"][last] > NOT_SAID
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


def left_out_of(record: RankRecord, counter: TickCounter, after_s: float) -> LeftOut:
    """Calls of a full record that messages may have kept waiting, less those that it has.

    Args:
        record: of the rank.
        counter: of its ticks.
        after_s: seconds into the run when it was full.
    """
    kept = np.concatenate((record.events, record.later))
    kept = kept[(kept["kind"] == EventKind.CALL) & (kept["cell"] != NO_CELL)]
    cells = record.cells
    names = [routines.plain(name) for name in record.routines]
    of = cells["routine"]
    waits = np.array([name in routines.AWAITING for name in names], bool)[of]
    sends = np.array([name in routines.SENDS for name in names], bool)[of]
    waits |= sends & (cells["size_class"] > EAGER.bit_length())
    told = np.bincount(kept["cell"], counter.seconds(kept["end"] - kept["start"]), len(cells))
    calls = cells["calls"].astype(np.int64) - np.bincount(kept["cell"], minlength=len(cells))
    below = float(counter.seconds(record.header["least"].reshape(1))[0])
    seconds = np.maximum(counter.seconds(cells["ticks"]) - told, 0)
    if below:
        seconds = np.minimum(seconds, below * np.maximum(calls, 0))
    return LeftOut(
        after_s=after_s,
        below_s=below,
        calls=int(calls[waits].clip(0).sum()),
        seconds=float(seconds[waits].sum()),
    )


def left_out_of_all(parts: Sequence[LeftOut], untold_s: float) -> LeftOut | None:
    """What all full records left out together; None where there are none.

    Args:
        parts: of each.
        untold_s: what ranks may have waited in calls that they have, for others that are left out.
    """
    if not parts:
        return None
    return LeftOut(
        min(part.after_s for part in parts),
        max(part.below_s for part in parts),
        sum(part.calls for part in parts),
        sum(part.seconds for part in parts) + untold_s,
        untold_s,
    )


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
