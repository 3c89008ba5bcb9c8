"""What ranks waited for, and where that lateness began: what is late may have waited itself.

While a rank waits for another one that waits for a third, the third one is what both wait for: that
part of the time is the third one's, and so on. What is left is of ranks that computed, or whose
messages were on their way.

Of a collective that all members' records have, L is the instant at which the last member entered.
What a rank spends in it before L is waiting, what it spends after L is transfer. A rank that left
before L (as the root of a broadcast may) did not wait for the last one: its time is transfer. That
holds within the uncertainty of both clocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend.profiling.record_form import NO_CELL

LATE_RANK, LATE_SENDER, LATE_RECEIVER, LATE_PARTNER = range(4)
"""What is waited for, as numbers of `contend.profiling.folder.WAITS`."""

# Of longer chains of many waits the rest counts as of the rank that was come to.
_MOST_LOOKED_AT = 1 << 24

Numbers = NDArray[np.int64]
Instants = NDArray[np.int64]


@dataclass(frozen=True)
class Waits:
    """What one rank waited for in calls that other ranks had a part in."""

    cells: NDArray[np.uint32]
    """Cells of the rank's record."""
    awaited: Numbers
    """Ranks that were waited for."""
    kinds: Numbers
    """Kinds `LATE_RANK`, `LATE_SENDER`, `LATE_RECEIVER`, `LATE_PARTNER`."""
    since: Instants
    """Nanoseconds of the common clock at which it began to wait."""
    seconds: NDArray[np.float64]
    """Seconds that it waited; 0 where nobody was late."""
    uncertainty: NDArray[np.float64]
    """Seconds by which that may be wrong, by the clocks."""

    @classmethod
    def decisive(
        cls,
        rank: int,
        calls: NDArray[Any],
        awaited: NDArray[Any],
        uncertainty: NDArray[np.float64],
    ) -> Waits:
        """What each call of a rank waited for: the last of what it needs, or the first of any."""
        # A message to itself is nothing that a rank waits for.
        awaited = awaited[awaited["peer"] != rank]
        late = np.where(calls["any"][awaited["call"]], -awaited["instant"], awaited["instant"])
        order = np.lexsort((late, awaited["call"]))
        ends = np.flatnonzero(np.diff(awaited["call"][order], append=-1))
        decisive = awaited[order[ends]]
        call = calls[decisive["call"]]
        unsure = uncertainty[rank] + uncertainty[decisive["peer"]]
        seconds = np.clip(
            decisive["instant"] - call["start"], 0, np.maximum(call["end"] - call["start"], 0)
        )
        # Who left before did not wait for it.
        seconds[call["end"] + unsure < decisive["instant"]] = 0
        return cls(
            call["cell"],
            decisive["peer"],
            decisive["kind"],
            call["start"],
            1e-9 * seconds,
            1e-9 * np.where(seconds > 0, unsure, 0.0),
        )

    def sums(self) -> dict[str, NDArray[Any]]:
        """Columns of sums by cell, rank that was waited for, and kind; without calls of no cell."""
        known = self.cells != NO_CELL
        keys, rows, times = np.unique(
            np.stack((self.cells.astype(np.int64), self.awaited, self.kinds))[:, known],
            axis=1,
            return_inverse=True,
            return_counts=True,
        )
        rows, count = rows.reshape(-1), keys.shape[1]
        return {
            "cell": keys[0].astype(np.uint32),
            "awaited": keys[1].astype(np.uint32),
            "kind": keys[2].astype(np.uint8),
            "occurrences": times.astype(np.uint64),
            "seconds": np.bincount(rows, self.seconds[known], count),
            "uncertainty_s": np.bincount(rows, self.uncertainty[known], count),
        }


@dataclass
class Origins:
    """Waits of all ranks: those of each are added, then all are followed."""

    _rows: list[NDArray[np.int64]] = field(default_factory=list)

    def add(self, rank: int, waits: Waits) -> None:
        """Adds what a rank waited for."""
        there = waits.seconds > 0
        since = waits.since[there]
        until = since + np.rint(1e9 * waits.seconds[there]).astype(np.int64)
        ranks = np.full(len(since), rank)
        self._rows.append(np.stack((ranks, since, until, waits.awaited[there])))

    def caused(self, size: int) -> NDArray[np.float64]:
        """Seconds of all ranks' waits by the rank at which the lateness began.

        Of a rank whose threads wait at the same time the first wait is followed. Chains that come
        back to a rank, as threads' may, end after as many steps as there are ranks.

        Cost: of chains of n waits n rounds of binary searches, all waits at once.
        """
        caused = np.zeros(size)
        rows = np.concatenate([np.zeros((4, 0), np.int64), *self._rows], axis=1)
        rank, since, until, awaited = rows[:, np.lexsort((rows[1], rows[0]))]
        # Instants by their order, so that one number stands for a rank and an instant.
        times = np.unique(np.concatenate((since, until)))
        begins, ends = np.searchsorted(times, since), np.searchsorted(times, until)
        width = len(times) + 1
        of, start, stop = awaited, begins, ends
        # What is followed: waits that do not overlap.
        lasts = np.maximum.accumulate(rank * width + ends) if len(rank) else ends
        firsts = np.maximum(rank * width + begins, np.concatenate(([0], lasts[:-1]))[: len(rank)])
        followed = firsts < lasts
        firsts, lasts, awaited = firsts[followed], lasts[followed], awaited[followed]
        looked_at = 0
        for _ in range(size):
            low = np.searchsorted(lasts, of * width + start, side="right")
            count = np.maximum(np.searchsorted(firsts, of * width + stop) - low, 0)
            looked_at += len(of) + int(count.sum())
            if not len(of) or looked_at > _MOST_LOOKED_AT:
                break
            piece = np.repeat(np.arange(len(of)), count)
            at = np.arange(len(piece)) - np.repeat(np.cumsum(count) - count - low, count)
            begin = np.maximum(start[piece], firsts[at] % width)
            end = np.minimum(stop[piece], lasts[at] % width)
            own = (
                times[stop] - times[start] - np.bincount(piece, times[end] - times[begin], len(of))
            )
            caused += np.bincount(of, 1e-9 * own, size)
            of, start, stop = awaited[at], begin, end
        return caused + np.bincount(of, 1e-9 * (times[stop] - times[start]), size)


@dataclass
class _Latest:
    """The last entry into every collective of one communicator, by the collective's number."""

    numbers: Numbers
    instants: Instants
    ranks: Numbers
    members: Numbers

    def add(self, numbers: Numbers, entries: Instants, rank: int) -> None:
        if not np.array_equal(numbers, self.numbers):
            self._make_room(numbers)
        at = np.searchsorted(self.numbers, numbers)
        later = entries > self.instants[at]
        self.instants[at[later]] = entries[later]
        self.ranks[at[later]] = rank
        self.members[at] += 1

    def _make_room(self, numbers: Numbers) -> None:
        both = np.union1d(self.numbers, numbers)
        if len(both) == len(self.numbers):
            return
        wider = _empty(both)
        at = np.searchsorted(both, self.numbers)
        wider.instants[at], wider.ranks[at] = self.instants, self.ranks
        wider.members[at] = self.members
        vars(self).update(vars(wider))


def _empty(numbers: Numbers) -> _Latest:
    count = len(numbers)
    never = np.iinfo(np.int64).min
    return _Latest(
        numbers,
        np.full(count, never),
        np.full(count, -1, np.int64),
        np.zeros(count, np.int64),
    )


@dataclass(frozen=True)
class Share:
    """One rank's collectives on one communicator, in the order of their numbers."""

    communicator: int
    """Number of the communicator in the profile."""
    cells: NDArray[np.uint32]
    """Cells of the rank's record."""
    seconds: NDArray[np.float64]
    """Seconds from entry to exit."""
    waiting: NDArray[np.float64]
    """Seconds until the last member entered."""
    entries: Instants
    """Entries of the rank."""
    last: NDArray[np.bool_]
    """Whether this rank was the last."""
    awaited: Numbers
    """Rank of the last member."""
    uncertainty: NDArray[np.float64]
    """Seconds by which waiting may be wrong, by the clocks."""

    def waits(self) -> Waits:
        """What the rank waited for; of occurrences in which it was the last itself, nothing."""
        rows = ~self.last
        return Waits(
            self.cells[rows],
            self.awaited[rows],
            np.full(int(rows.sum()), LATE_RANK),
            self.entries[rows],
            self.waiting[rows],
            self.uncertainty[rows],
        )


@dataclass
class Entries:
    """Entries into collectives: first those of all ranks are added, then each rank is asked."""

    _latest: dict[int, _Latest] = field(default_factory=dict)

    def add(self, rank: int, collectives: NDArray[Any], entries: Instants) -> None:
        """Adds a rank's collectives.

        Args:
            rank: in MPI_COMM_WORLD.
            collectives: of its record, with the profile's numbers of communicators.
            entries: on the common clock.
        """
        for communicator, rows in _by_communicator(collectives):
            numbers = _numbers(collectives)[rows]
            if communicator not in self._latest:
                self._latest[communicator] = _empty(numbers)
            self._latest[communicator].add(numbers, entries[rows], rank)

    def shares(
        self,
        rank: int,
        collectives: NDArray[Any],
        entries: Instants,
        exits: Instants,
        *,
        sizes: NDArray[np.int64],
        uncertainty: NDArray[np.float64],
    ) -> Iterator[Share]:
        """Waiting and transfer of a rank, in those collectives that all members have told of.

        Args:
            rank: in MPI_COMM_WORLD.
            collectives: as they were added.
            entries: likewise.
            exits: on the same clock.
            sizes: members of every communicator; 0 for those that cannot be compared.
            uncertainty: nanoseconds of every rank's clock.
        """
        for communicator, rows in _by_communicator(collectives):
            latest = self._latest.get(communicator)
            if latest is None or sizes[communicator] < 2:
                continue
            at = np.searchsorted(latest.numbers, _numbers(collectives)[rows])
            whole = latest.members[at] == sizes[communicator]
            rows, at = rows[whole], at[whole]
            entry, leaving, last = entries[rows], exits[rows], latest.instants[at]
            unsure = uncertainty[rank] + uncertainty[latest.ranks[at]]
            duration = np.maximum(leaving - entry, 0)
            waiting = np.clip(last - entry, 0, duration)
            waiting[leaving + unsure < last] = 0
            yield Share(
                communicator,
                collectives["cell"][rows],
                1e-9 * duration,
                1e-9 * waiting,
                entry,
                latest.ranks[at] == rank,
                latest.ranks[at],
                1e-9 * np.where(waiting > 0, unsure, 0),
            )


def _numbers(collectives: NDArray[Any]) -> Numbers:
    """Numbers of collectives, which begin anew on each of the communicators that stand as one."""
    turns: Numbers = collectives["turn"].astype(np.int64) << 32
    return turns | collectives["number"].astype(np.int64)


def _by_communicator(collectives: NDArray[Any]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Rows of every communicator by number; of a number that comes twice the first."""
    numbers = _numbers(collectives)
    order = np.lexsort((numbers, collectives["communicator"]))
    communicators = collectives["communicator"][order]
    bounds = np.flatnonzero(np.diff(communicators)) + 1
    for rows in np.split(order, bounds):
        if len(rows):
            _, first = np.unique(numbers[rows], return_index=True)
            yield int(collectives["communicator"][rows[0]]), rows[first]
