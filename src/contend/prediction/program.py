"""A profiled program as a schedule: the same messages in the same order, between the same pauses.

What a rank did between two calls of MPI takes the time that it took when it was recorded, with all
that held it up then. Calls become messages: those of a collective by the algorithm that the library
takes for it. Time begins when the first rank leaves MPI_Init, and ends when the last one calls
MPI_Finalize: how long a library takes to start and to end is not the program's.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from contend.errors import ShortfallError
from contend.prediction.calls import (
    LEAVES,
    RankCalls,
    answered,
    groups_of,
    meetings_of,
    read_calls,
)
from contend.prediction.rank_strand import RankStrand, Row, Shared
from contend.profiling import ProgramProfile
from contend.schedule import LIBRARIES, Schedule

_LAST = (LEAVES, "Abort")
_UNKNOWN_LIBRARY = "MPICH"
# Part of the time in calls from which on it is said that some take what they took.
_MENTIONED = 0.01


@dataclass(frozen=True, eq=False)
class ProfiledProgram:
    """What a profiled program does, to be carried out."""

    schedule: Schedule
    """Schedule with a strand for each rank."""
    start: NDArray[np.float64]
    """Seconds at which every rank leaves MPI_Init, from the first one's, shape [ranks]."""
    calls: pl.DataFrame
    """A row for every call: ``rank``, ``routine``, ``communicator``, ``bytes``, ``seconds`` as
    recorded, ``pause`` before it, ``operation``, the number of the operation in which that pause
    elapses, and ``site``, the number of its place in the program."""
    until: float
    """Seconds from then on up to which events of all ranks were kept; infinite where all were."""
    as_recorded: float
    """Seconds of MPI, all ranks together, in calls that take what they took."""
    remarks: tuple[str, ...]
    """Remarks that a reader must know."""


def program_of(profile: ProgramProfile, copy_per_byte: float = 0.0) -> ProfiledProgram:
    """The schedule of a profiled program.

    Args:
        profile: with events of all its ranks.
        copy_per_byte: seconds in which a rank copies a byte, or adds it to another.

    Raises:
        ShortfallError: a rank left no record or no events.
        UsageError: several threads of a rank called MPI.
        InputError: the events contradict each other.
    """
    ranks = profile.ranks.sort("rank")
    if len(ranks) < profile.size:
        raise ShortfallError(
            f"{profile.folder}: {profile.size - len(ranks)} of {profile.size} ranks left no "
            "record, so the program cannot be replayed"
        )
    started = ranks["started_s"].to_numpy()
    kept = [read_calls(profile, rank) for rank in range(profile.size)]
    until = _kept_until(profile, kept, ranks["ended_s"].to_list())
    kept = [_cut(calls, until) for calls in kept]
    library, remarks = _library(profile.record.library)
    groups = groups_of(profile)
    meetings = meetings_of(kept, groups, profile.folder)
    shared = Shared(answered(kept), groups, meetings, library, copy_per_byte)
    strands = [RankStrand(calls, shared) for calls in kept]
    for strand, start in zip(strands, started.tolist(), strict=True):
        strand.write(start, until)
    calls = _calls(strands)
    as_recorded: Counter[str] = Counter()
    for strand in strands:
        as_recorded.update(strand.as_recorded)
    if as_recorded.total() > _MENTIONED * float(calls["seconds"].sum()):
        names = ", ".join(f"MPI_{name}" for name, _ in as_recorded.most_common(3))
        remarks.append(f"calls of {names} keep the time that they took in the recording")
    return ProfiledProgram(
        schedule=Schedule.of([strand.strand for strand in strands]),
        start=started - started.min(),
        calls=calls,
        until=until - float(started.min()),
        as_recorded=float(as_recorded.total()),
        remarks=tuple(remarks),
    )


def _kept_until(
    profile: ProgramProfile, ranks: Sequence[RankCalls], ended: Sequence[float]
) -> float:
    """Until when events of all ranks were kept."""
    until = math.inf
    for kept, end in zip(ranks, ended, strict=True):
        if not kept.calls:
            raise ShortfallError(f"{profile.folder}: no events of rank {kept.rank} were kept")
        last = kept.calls[-1]
        if last.routine not in _LAST and last.ended < end:
            until = min(until, last.ended)
    return until


def _cut(kept: RankCalls, until: float) -> RankCalls:
    """Calls that have ended by an instant, from the end of MPI_Init on."""
    calls = [call for call in kept.calls if call.ended <= until and not call.begins_mpi]
    return replace(kept, calls=calls)


def _library(name: str) -> tuple[str, list[str]]:
    """Whose algorithms are taken, and what is to be said of that."""
    if name.startswith(LIBRARIES):
        return name, []
    return _UNKNOWN_LIBRARY, [
        f"the algorithms of {name or 'the library'} are not known, so those of "
        f"{_UNKNOWN_LIBRARY} are assumed"
    ]


def _calls(strands: Sequence[RankStrand]) -> pl.DataFrame:
    """The rows of all strands, with operations counted through the schedule."""
    parts, before = [], 0
    for strand in strands:
        columns = zip(*strand.rows, strict=True) if strand.rows else [()] * len(Row._fields)
        part = pl.DataFrame(dict(zip(Row._fields, map(list, columns), strict=True)), _SCHEMA)
        parts.append(part.with_columns(pl.col("operation") + before))
        before += len(strand.strand)
    return pl.concat(parts)


_SCHEMA = pl.Schema(
    {
        "rank": pl.UInt32(),
        "routine": pl.String(),
        "communicator": pl.Int64(),
        "bytes": pl.UInt64(),
        "seconds": pl.Float64(),
        "pause": pl.Float64(),
        "operation": pl.Int64(),
        "site": pl.Int64(),
    }
)
