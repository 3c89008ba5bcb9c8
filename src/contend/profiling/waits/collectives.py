"""Waiting for late ranks against transfer: entries of all members of a collective, on one clock.

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

from contend.profiling.waits.lateness import LATE_RANK, Instants, Numbers, Waits


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
    """One rank's collectives on one communicator, in the order of their numbers.

    Attributes:
        communicator: number in the profile.
        cells: of the rank's record.
        seconds: from entry to exit.
        waiting: seconds until the last member entered.
        entries: of the rank.
        last: whether this rank was the last.
        awaited: rank of the last member.
        uncertainty: seconds by which waiting may be wrong, by the clocks.
    """

    communicator: int
    cells: NDArray[np.uint32]
    seconds: NDArray[np.float64]
    waiting: NDArray[np.float64]
    entries: Instants
    last: NDArray[np.bool_]
    awaited: Numbers
    uncertainty: NDArray[np.float64]

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
