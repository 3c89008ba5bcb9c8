"""Programs that end early: who died first, in which call, and of what; no limit is blamed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import contend
from contend.profiling import ProgramProfile, merge
from contend.profiling.folder import RECORDS, ProfileRecord, write_profile_record
from probe_programs import Build, Mpi
from tracer.conftest import Run

DEATHS = {
    "truncates": (
        "failed with MPI_ERR_TRUNCATE in MPI_Recv at dies.c:",
        "needs room for the whole message",
    ),
    "amounts": (
        "failed with MPI_ERR_TRUNCATE in MPI_Bcast at dies.c:",
        "rank 1 called MPI_Bcast of 16 B at .* where rank 0 called MPI_Bcast of 32 B at",
    ),
    "peer": (
        "failed with MPI_ERR_RANK in MPI_Send at dies.c:33 (to rank 77, but MPI_COMM_WORLD has 2 "
        "ranks)",
        "Name a rank that the communicator has",
    ),
    "fault": (
        "died of signal 11 (Segmentation fault) in the program's own code at dies.c:34",
        "The network has no part in it",
    ),
    "divides": (
        "died of signal 8 (Floating point exception) in the program's own code",
        "debugger",
    ),
    "aborts": ("died of signal 6 (Aborted) in the program's own code", "run rank 1 in a debugger"),
    "bus": ("died of signal 7 (Bus error) in the program's own code", "run rank 1 in a debugger"),
    "exits": (
        "ended without MPI_Finalize, with exit status 3, ",
        "See why rank 1 ends before MPI_Finalize",
    ),
    "leaves": ("ended without MPI_Finalize, ", "See why rank 1 ends before MPI_Finalize"),
    "survives": ("called MPI_Abort, ", "See why rank 1 calls MPI_Abort"),
}
"""What is said of rank 1, and what helps."""


@pytest.mark.parametrize("how", DEATHS)
def test_who_died_of_what(
    any_mpi: Mpi, build: Build, run_recorded: Run, tmp_path: Path, how: str
) -> None:
    said, cure = DEATHS[how]
    recorded = run_recorded(any_mpi, 2, build(any_mpi.wrapper, "dies.c"), how)
    assert recorded.ended.status != 0 or how == "leaves"  # which MPICH's launcher takes as success
    folder = tmp_path / "p"
    folder.mkdir()
    recorded.folder.rename(folder / RECORDS)
    write_profile_record(folder, ProfileRecord(("./dies", how), status=1))
    merge(folder)
    profile = ProgramProfile.load(folder)
    assert profile.findings.verdict.startswith(f"The run ended early: rank 1 {said}")
    assert not profile.findings.stuck.hung
    explanation = contend.explain(folder)
    assert [cell.proven for cell in explanation.cells] == [("a crash",)]
    [remedy] = explanation.remedies
    assert re.search(cure, remedy.advice)
    assert explanation.remarks == ("No other limit is judged in a program that ended early.",)
