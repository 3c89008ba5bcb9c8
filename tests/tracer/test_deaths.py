"""Programs that end early: who died first, in which call, and of what; no limit is blamed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import contend
from probe_programs import Build, Mpi
from tracer.conftest import PROGRAMS, Run

DEATHS = {
    "truncates": (
        "failed with MPI_ERR_TRUNCATE in MPI_Recv at dies.c:",
        "needs room for the whole message",
    ),
    "amounts": (
        "failed with MPI_ERR_TRUNCATE in MPI_Bcast at dies.c:",
        "rank 1 called MPI_Bcast of 16 B at .* where rank 0 called MPI_Bcast of 32 B at",
    ),
    # Also where other types have taken the place of its own.
    "crowds": (
        "failed with MPI_ERR_TRUNCATE in MPI_Bcast at dies.c:",
        "rank 1 called MPI_Bcast of 16 B at .* where rank 0 called MPI_Bcast of 32 B at",
    ),
    "peer": (
        "failed with MPI_ERR_RANK in MPI_Send at dies.c:LINE (to rank 77, but MPI_COMM_WORLD has 2 "
        "ranks)",
        "Name a rank that the communicator has",
    ),
    "fault": (
        "died of signal 11 (Segmentation fault) in the program's own code at dies.c:LINE",
        "The network has no part in it",
    ),
    "divides": (
        "died of signal 8 (Floating point exception) in the program's own code at dies.c:LINE",
        "debugger",
    ),
    "descends": (
        "died of signal 11 (Segmentation fault) in the program's own code at dies.c:",
        "debugger",
    ),
    "copies": ("died of signal 11 (Segmentation fault) in libc, called at dies.c:LINE", "debugger"),
    "frees": ("died of signal 6 (Aborted) in libc, called at dies.c:LINE", "debugger"),
    "aborts": ("died of signal 6 (Aborted) in libc, called at dies.c:LINE", "debugger"),
    "bus": ("died of signal 7 (Bus error) in libc, called at dies.c:LINE", "debugger"),
    "pipes": ("died of signal 13 (Broken pipe) in libc, called at dies.c:LINE", "debugger"),
    "limits": (
        "died of signal 24 (CPU time limit exceeded) in libc, called at dies.c:LINE",
        "debugger",
    ),
    "terminates": ("died of signal 15 (Terminated) in libc, called at dies.c:LINE", "debugger"),
    "alarms": ("died of signal 14 (Alarm clock) in the program's own code at dies.c:", "debugger"),
    "jumps": (
        "died of signal 11 (Segmentation fault) at an address without code, called at dies.c:LINE",
        "debugger",
    ),
    "exits": (
        "ended without MPI_Finalize, with exit status 3, ",
        "See why rank 1 ends before MPI_Finalize",
    ),
    "leaves": ("ended without MPI_Finalize, ", "See why rank 1 ends before MPI_Finalize"),
    "survives": ("called MPI_Abort, ", "See why rank 1 calls MPI_Abort"),
}
for _number, _line in enumerate((PROGRAMS / "dies.c").read_text().splitlines(), 1):
    if (_how := _line.rpartition("  // ")[2]) in DEATHS:
        _said, _cure = DEATHS[_how]
        DEATHS[_how] = _said.replace("LINE", str(_number)), _cure
"""What is said of rank 1, and what helps; LINE is that whose end names the death."""
LIBRARYS_OWN = ("truncates", "peer", "fault", "terminates", "exits", "leaves", "survives")
"""Libraries and their launchers have a part in these."""


@pytest.mark.parametrize(
    ("any_mpi", "how"),
    [("openmpi", how) for how in DEATHS]
    + [(library, how) for library in ("mpich", "wheel") for how in LIBRARYS_OWN],
    indirect=["any_mpi"],
)
def test_who_died_of_what(
    any_mpi: Mpi, build: Build, run_recorded: Run, tmp_path: Path, how: str
) -> None:
    said, cure = DEATHS[how]
    recorded = run_recorded(any_mpi, 2, build(any_mpi.wrapper, "dies.c"), how)
    assert recorded.ended.status != 0 or how == "leaves"  # which MPICH's launcher takes as success
    profile = recorded.profile(tmp_path / "p", "./dies")
    assert profile.findings.verdict.startswith(f"The run ended early: rank 1 {said}")
    assert not profile.findings.stuck.hung
    explanation = contend.explain(profile)
    assert [cell.proven for cell in explanation.cells] == [("a crash",)]
    [remedy] = explanation.remedies
    assert re.search(cure, remedy.advice)
    *survived, last = explanation.remarks
    assert last == "No other limit is judged in a program that ended early."
    assert [("MPI_Send at dies.c:" in remark) for remark in survived] == [True] * (
        how == "survives"
    )


def test_the_line_of_python_that_died(any_mpi: Mpi, run_recorded: Run, tmp_path: Path) -> None:
    program = PROGRAMS / "dies.py"
    environment = any_mpi.variables(tmp_path)
    recorded = run_recorded(any_mpi, 2, Path(sys.executable), program, environment=environment)
    [line] = (
        number
        for number, text in enumerate(program.read_text().splitlines(), 1)
        if text.endswith("# libc")
    )
    said = f"died of signal 11 (Segmentation fault) in libc, called at dies.py:{line}"
    assert said in recorded.profile(tmp_path / "p", "./dies").findings.verdict
