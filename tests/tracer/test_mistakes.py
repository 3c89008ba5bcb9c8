"""Programs that end in order though they made a mistake: the profile tells of it."""

from __future__ import annotations

from pathlib import Path

import pytest

import contend
from probe_programs import Build, Mpi
from tracer.conftest import Run

MISTAKES = {
    "less": (),
    "alike": (),
    "cut": (
        "a message of 40 B with tag 5 from rank 0 was cut, as rank 1 had room for 16 B in MPI_Recv "
        "at mistakes.c:23; so were 6 more messages: a receive needs room for the whole message",
    ),
    "unreceived": (
        "no receive took a message of 4 B with tag 5 that rank 0 sent rank 1 in MPI_Send at "
        "mistakes.c:31: all messages must be received",
    ),
    "amounts": (
        "rank 0 called MPI_Gather of 16 B at mistakes.c:40 where rank 1 called MPI_Gather of 8 B "
        "at mistakes.c:40, and so in 2 more collectives: all members must give a collective the "
        "same root, operation and amount of data",
    ),
    "operations": (
        "rank 0 called MPI_Reduce with MPI_SUM at mistakes.c:43 where rank 1 called MPI_Reduce "
        "with MPI_MAX at mistakes.c:43: all members must give a collective the same root, "
        "operation and amount of data",
    ),
    "errors": (
        "MPI_Send at mistakes.c:46 returned MPI_ERR_RANK to rank 0, and the program went on, as 4 "
        "more calls returned errors: what such a call was to do may not be done",
    ),
    "waits": (
        "MPI_Waitall at mistakes.c:54 returned MPI_ERR_TRUNCATE to rank 1, and the program went "
        "on: what such a call was to do may not be done",
    ),
    "window": (
        "MPI_Put at mistakes.c:61 returned MPI_ERR_RANK to ranks 0 and 1, and the program went on: "
        "what such a call was to do may not be done",
    ),
    "file": (
        "MPI_File_open at mistakes.c:66 returned MPI_ERR_NO_SUCH_FILE to ranks 0 and 1, and the "
        "program went on: what such a call was to do may not be done",
    ),
}


@pytest.mark.parametrize("mode", MISTAKES)
def test_what_a_program_did_wrong(
    any_mpi: Mpi, build: Build, run_recorded: Run, tmp_path: Path, mode: str
) -> None:
    recorded = run_recorded(any_mpi, 2, build(any_mpi.wrapper, "mistakes.c"), mode)
    assert recorded.ended.status == 0, recorded.ended.errors
    profile = recorded.profile(tmp_path / "p", "./mistakes", mode)
    # MPICH leaves the class to the statuses.
    told = [
        text.replace("TRUNCATE", "IN_STATUS")
        if (any_mpi.name, mode) == ("mpich", "waits")
        else text
        for text in MISTAKES[mode]
    ]
    assert [warning.text for warning in profile.record.mistakes] == told
    remarks = contend.explain(profile).remarks
    for text in told:
        assert f"{text[0].upper()}{text[1:]}." in remarks
