"""What is told of a profile row by row: calls together, ranks, who waits for whom, phases."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TypeVar

import polars as pl

from contend.base.schema import Seconds, Share, Size, Spread
from contend.profiling.folder import Phase
from contend.profiling.hang.stuck import Stuck


@dataclass(frozen=True, kw_only=True)
class SpentTime:
    """Calls of all ranks together."""

    calls: int
    """Number of calls."""
    bytes: Size
    """Bytes sent; of receives, those that arrived."""
    seconds: Seconds
    """Seconds in these calls, of all ranks together."""
    share: Share
    """Share of the run times of all ranks together."""
    longest_s: Seconds
    """Seconds of the longest call."""
    waiting_s: Seconds | None
    """Seconds of waiting for ranks that were late; null where that cannot be told."""


@dataclass(frozen=True, kw_only=True)
class RoutineTime(SpentTime):
    """Calls of one routine."""

    routine: str
    """Name of the routine."""


@dataclass(frozen=True, kw_only=True)
class PlaceTime(RoutineTime):
    """Calls of one routine from one place in the program."""

    place: str
    """File and line, or symbol and offset, or module and offset."""
    symbol: str
    """Function of the place, where that is known."""


@dataclass(frozen=True, kw_only=True)
class SizeTime(SpentTime):
    """Calls of one class of sizes."""

    from_bytes: int
    """Bytes of a call, at least."""
    to_bytes: int | None
    """Bytes of a call, at most; null for calls whose sizes found no room."""


@dataclass(frozen=True, kw_only=True)
class CommunicatorTime(SpentTime):
    """Calls on one communicator."""

    name: str
    """Name that the program gave it, or its number, with kind and extent."""
    ranks: int
    """Number of its ranks."""


@dataclass(frozen=True, kw_only=True)
class ProfiledRank:
    """One rank."""

    rank: int
    """Rank in MPI_COMM_WORLD."""
    host: str
    """Host that it ran on."""
    run_s: Seconds
    """Seconds between MPI_Init and MPI_Finalize."""
    mpi_s: Seconds
    """Seconds in MPI."""
    waiting_s: Seconds
    """Seconds of waiting for ranks that were late."""
    caused_s: Seconds
    """Seconds that others waited for it, or for ranks that it made late, in calls that are
    recorded."""
    sent_bytes: Size
    """Bytes to all peers."""
    messages: int
    """Messages to all peers."""
    neighbours: int
    """Number of ranks to which it sent point to point."""


@dataclass(frozen=True, kw_only=True)
class RankWait:
    """What one rank waits for another."""

    rank: int
    """Rank that waits."""
    awaited: int
    """Rank that it waits for."""
    kind: str
    """Kind of waiting: for a late rank in a collective, sender, receiver or window's partner."""
    seconds: Seconds
    """Seconds waited."""
    share: Share
    """Share of the run times of all ranks together."""
    uncertainty_s: Seconds
    """Uncertainty of these seconds, as clocks differ."""
    routine: str
    """Routine of the call that most of it is in."""
    place: str
    """Place of that call."""


@dataclass(frozen=True, kw_only=True)
class PlacedPhase:
    """Part of the program that repeats itself, by what one rank called."""

    phase: Spread[Phase]
    """Its rounds."""
    routine: str
    """Routine that each round begins with."""
    place: str
    """Place of that call."""


@dataclass(frozen=True, kw_only=True)
class StuckThread:
    """Where a thread of a rank was when the program was ended."""

    thread: Spread[Stuck]
    """The thread."""
    place: str
    """Place of its call; "" for none."""


Row = TypeVar("Row")


def rows_of(kind: type[Row], table: pl.DataFrame) -> tuple[Row, ...]:
    """The rows of a table that has a column for each field of their class."""
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    return tuple(kind(**row) for row in table.select(names).iter_rows(named=True))
