"""Profiles of programs whose calls are written down, with their times."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from built_records import Rank, leave_records
from contend.prediction import Calibration, PredictionConditions
from contend.profiling import ProgramProfile, merge
from contend.routes import load

ROUTINES = (
    "MPI_Send",
    "MPI_Recv",
    "MPI_Isend",
    "MPI_Irecv",
    "MPI_Imrecv",
    "MPI_Waitall",
    "MPI_Allreduce",
    "MPI_Alltoallv",
    "MPI_Probe",
    "MPI_Sendrecv",
    "MPI_Start",
    "MPI_Finalize",
    "MPI_Win_fence",
    "MPI_Ibarrier",
    "MPI_Bcast",
    "MPI_Improbe",
)
MS = 1_000_000
CALL, COMPLETION, PART = range(3)


class Script:
    """What one rank calls, with times in milliseconds."""

    def __init__(self, rank: int, size: int, started: float = 0, host: str | None = None) -> None:
        self.rank = Rank(
            rank,
            size,
            routines=ROUTINES,
            started=round(started * MS) + 1,
            ended=10_000 * MS,
            host=host or f"node{rank + 1}",
        )
        self._end = 0.0

    def call(
        self, routine: str, begin: float, end: float, communicator: int = 0, **more: int
    ) -> Script:
        self._times = round(begin * MS), round(end * MS)
        ticks = max(self._times[1] - self._times[0], 1000)
        cell = self.rank.cell(
            ROUTINES.index(f"MPI_{routine}"), communicator=communicator, ticks=ticks
        )
        self._cell = cell
        self.rank.event(*self._times, cell, **more)
        self._end = end
        return self

    def and_(self, kind: int, **more: int) -> Script:
        self.rank.event(*self._times, self._cell, kind=kind, **more)
        return self

    def end(self, at: float | None = None) -> Rank:
        at = self._end if at is None else at
        self.call("Finalize", at, at)
        self.rank.ended = round(at * MS) + 1
        return self.rank


def profile_of(folder: Path, *ranks: Rank, **known: object) -> ProgramProfile:
    leave_records(folder, ranks, **known)
    merge(folder)
    return ProgramProfile.load(folder)


def crossbar(calibration: Calibration, hosts: int = 4, **changes: object) -> PredictionConditions:
    network = load(f"crossbar:{hosts}", need_routes=True)
    where = PredictionConditions(network, range(hosts), calibration, calibration.wire_Bps)
    return replace(where, **changes)  # type: ignore[arg-type]
