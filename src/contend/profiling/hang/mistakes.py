"""Mistakes that programs survive: messages cut or not received, unlike collectives, errors.

A receive may be of more than what arrives, and of no less (MPI 4.1, section 3.2.4); to a collective
all members give the same root, operation and amounts (section 6.2). Libraries need not notice. Only
records without gaps tell, as the k-th message is no longer the k-th without another one. Errors are
told by whatever handles them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend.base.units import counted, format_bytes
from contend.lab.runs import Warned
from contend.profiling.hang.awaited_ranks import ENTRY_OF, UNKNOWN, entered_by, entries_of
from contend.profiling.hang.stuck import FAILED, cause_of_death
from contend.profiling.hang.stuck_words import entered_words
from contend.profiling.programs import rank_words
from contend.profiling.record_file import RankRecord
from contend.profiling.waits.messages import Messages
from contend.profiling.waits.steps import ANY, ENVELOPE, groups

CUT = "cut"
"""Code of messages that were cut."""

Place = Callable[[int, int], tuple[str, int]]
"""The routine and the number of the place of a rank's cell."""


@dataclass
class Mistakes:
    """What members gave to collectives, and errors: those of all ranks are added, then compared."""

    _entries: list[NDArray[Any]] = field(default_factory=list)
    _errors: dict[tuple[str, int, str], list[int]] = field(default_factory=dict)
    _more_errors: int = 0
    _names: dict[str, int] = field(default_factory=dict)

    def add(self, record: RankRecord, communicators: NDArray[np.uint32], site: int) -> None:
        """Adds the collectives that a rank has left, and the errors that it survived.

        Args:
            record: of the rank.
            communicators: the profile's numbers of its communicators.
            site: number of the place where its first error came.
        """
        header = record.header
        survived = int(header["errors"]) - cause_of_death(record)[1].startswith(FAILED)
        if survived > 0:
            error = header["first_error"].decode(errors="replace")
            routine = record.routines[header["error_routine"]]
            self._errors.setdefault((error, site, routine), []).append(record.rank)
            self._more_errors += survived - 1
        if not record.lost["events"]:
            self._entries.append(entries_of(record, communicators, self._names))

    def told(
        self, messages: Messages, cell: Place, places: list[str], *, ended: bool
    ) -> Iterator[Warned]:
        """The first one of each kind, and how many there are.

        Args:
            messages: of all ranks, matched.
            cell: tells of what a cell is.
            places: by number.
            ended: whether all ranks have reached the program's end.
        """
        if (mismatch := self._mismatch(cell)) is not None:
            pair, number = mismatch
            mine, other = (
                entered_words(one, another, places) for one, another in (pair, pair[::-1])
            )
            more = f", and so in {counted(number - 1, 'more collective')}" if number > 1 else ""
            yield Warned(
                "unlike-collectives",
                f"{mine} where {other}{more}: all members must give a collective the same root, "
                "operation and amount of data",
            )
        wrong = list(_wrong_messages(messages, cell, places, ended=ended))
        yield from wrong
        if not self._errors:
            return
        (error, site, routine), ranks = next(iter(self._errors.items()))
        if error == "MPI_ERR_TRUNCATE" and any(one.code == CUT for one in wrong):
            return
        others = self._more_errors + sum(map(len, self._errors.values())) - len(ranks)
        more = f", as {counted(others, 'more call')} returned errors" if others else ""
        yield Warned(
            "survived-errors",
            f"{routine} at {places[site]} returned {error} to {rank_words(ranks)}, and the program "
            f"went on{more}: what such a call was to do may not be done",
        )

    def _mismatch(self, cell: Place) -> tuple[Any, int] | None:
        """Two calls of the first collective that differ, and how many collectives do."""
        if not self._entries:
            return None
        rows = np.concatenate(self._entries)
        group = groups(rows, ("communicator", "number"))
        order = np.argsort(group, kind="stable")
        rows, group = rows[order], group[order]
        if not len(rows):
            return None
        first = np.flatnonzero(np.diff(group, prepend=-1))
        unlike = np.zeros(len(first), bool)
        for name in ENTRY_OF:
            known = rows[name] != UNKNOWN
            least = np.minimum.reduceat(np.where(known, rows[name], np.iinfo(np.int64).max), first)
            most = np.maximum.reduceat(np.where(known, rows[name], UNKNOWN), first)
            unlike |= (most > least) & (most != UNKNOWN)
        if not unlike.any():
            return None
        differing = np.flatnonzero(unlike)
        begun = differing[np.argmin(rows["at"][first[differing]])]
        members = rows[group == group[first[begun]]]
        calls = [entered_by(row, *cell(int(row["rank"]), int(row["cell"]))) for row in members]
        other = next(call for call in calls if call.differs(calls[0]))
        return (calls[0], other), len(differing)


def _wrong_messages(
    messages: Messages, cell: Place, places: list[str], *, ended: bool
) -> Iterator[Warned]:
    def call(message: Any, side: str) -> str:
        routine, site = cell(int(message[side]), int(message["cell"]))
        return f"{routine} at {places[site]}"

    if messages.matched is None:
        return
    sent, received, posted = messages.matched
    keys = _keys(sent, received)
    _, out, into = np.intersect1d(*keys, return_indices=True)
    # None stands for what its library does not tell.
    known = received["bytes"][into] > 0
    cut = np.flatnonzero(known & (received["bytes"][into] < sent["bytes"][out]))
    if len(cut):
        there, here = sent[out[cut[0]]], received[into[cut[0]]]
        more = f"; so were {counted(len(cut) - 1, 'more message')}" if len(cut) > 1 else ""
        yield Warned(
            CUT,
            f"a message of {format_bytes(int(there['bytes']))} with tag {there['tag']} from "
            f"rank {there['source']} was cut, as rank {here['destination']} had room for "
            f"{format_bytes(int(here['bytes']))} in {call(here, 'destination')}{more}: a "
            "receive needs room for the whole message",
        )
    lone = sent[np.isin(keys[0], keys[1], invert=True)]
    for one in posted:
        fits = [(lone[name] == one[name]) | (one[name] == ANY) for name in ENVELOPE]
        lone = lone[~np.logical_and.reduce(fits)]
    if len(lone) and ended:
        first = lone[0]
        more = f", nor {counted(len(lone) - 1, 'more message')}" if len(lone) > 1 else ""
        yield Warned(
            "unreceived",
            f"no receive took a message of {format_bytes(int(first['bytes']))} with tag "
            f"{first['tag']} that rank {first['source']} sent rank {first['destination']} in "
            f"{call(first, 'source')}{more}: all messages must be received",
        )


def _keys(
    sent: NDArray[Any], received: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A number for each message in its flow, the same on both sides."""
    group = groups(np.concatenate((sent, received)), ENVELOPE)
    number = np.concatenate((sent["number"], received["number"]))
    mine, theirs = np.split(group << 32 | number, [len(sent)])
    return mine, theirs
