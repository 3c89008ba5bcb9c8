"""Programs with MPI-4 sessions, without MPI_Init, before it, and after MPI_Finalize."""

from __future__ import annotations

from pathlib import Path

import pytest

from probe_programs import Build, Mpi
from rank_records import EXITED, FINISHED, RankRecord
from tracer.conftest import Run

OUTPUT = "0: 4 {} 3\n1: 6 {} 3\n2: 4 {} 7\n3: 6 {} 7\n"
INT = 4


# Open MPI 4.1 has none.
pytestmark = pytest.mark.parametrize("any_mpi", ["wheel", "mpich"], indirect=True)


@pytest.fixture
def program(any_mpi: Mpi, build: Build) -> Path:
    return build(any_mpi.wrapper, "sessions.c")


def _check(recorded: list[RankRecord], reductions: int) -> None:
    """Of each rank: its calls and bytes, to whom, and on which ranks of the world."""
    assert [int(record.header["rank"]) for record in recorded] == [0, 1, 2, 3]
    for rank, record in enumerate(recorded):
        assert (record.header["state"], record.header["size"]) == (FINISHED, 4)
        totals = record.totals()
        assert totals["MPI_Session_init"] == totals["MPI_Session_finalize"] == (1, 0)
        assert totals["MPI_Comm_create_from_group"] == (2, 0)
        assert totals["MPI_Allreduce"] == (reductions, reductions * INT)
        assert totals["MPI_Comm_disconnect"] == (2, 0)
        sent = [0, 0, 0, 0]
        sent[(rank + 1) % 4] = 4 * INT
        assert record.peers["bytes"].tolist() == sent
        members = {record.members_of(index) for index in range(3, len(record.communicators))}
        half, pair = tuple(range(rank % 2, 4, 2)), (rank // 2 * 2, rank // 2 * 2 + 1)
        assert members == {(0, 1, 2, 3), half, pair}
        launch = record.header["launch"]
        assert launch == recorded[0].header["launch"]
        assert launch.decode().split(" ")[1]
    # Members call a communicator the same.
    ids = [
        {record.members_of(at): int(record.communicators[at]["id"]) for at in range(3, 6)}
        for record in recorded
    ]
    assert len({known[0, 1, 2, 3] for known in ids}) == 1
    assert ids[0][0, 2] == ids[2][0, 2] != ids[1][1, 3] == ids[3][1, 3]


def test_without_mpi_init(any_mpi: Mpi, program: Path, run_recorded: Run) -> None:
    """Clocks are compared once, when there is a communicator of all ranks."""
    run = run_recorded(any_mpi, 4, program, "plain")
    assert "contend" not in run.ended.errors
    assert sorted(run.ended.output.splitlines()) == OUTPUT.format(10, 10, 10, 10).splitlines()
    _check(run.records, 3)
    for record in run.records:
        clock = record.header["clock"]
        assert clock["known"] == 1
        assert clock["begun_ticks"] == clock["start_ticks"]
        ticks = {record.routines[cell["routine"]]: int(cell["ticks"]) for cell in record.cells}
        # Both are within what is recorded.
        whole = int(clock["end_ticks"]) - int(clock["start_ticks"])
        assert ticks["MPI_Session_init"] + ticks["MPI_Session_finalize"] <= whole


@pytest.mark.parametrize("mode", ["later", "outlives"])
def test_beside_mpi_init(any_mpi: Mpi, program: Path, run_recorded: Run, mode: str) -> None:
    """MPI_Init comes after a session; MPI_Finalize comes before its end."""
    run = run_recorded(any_mpi, 4, program, mode)
    assert run.ended.status == 0, run.ended.errors
    assert "contend" not in run.ended.errors
    assert sorted(run.ended.output.splitlines()) == OUTPUT.format(20, 20, 20, 20).splitlines()
    _check(run.records, 4)
    for record in run.records:
        assert record.totals()["MPI_Init"] == record.totals()["MPI_Finalize"] == (1, 0)
        assert record.header["clock"]["known"] == (1 if mode == "later" else 2)


def test_a_session_opens_while_another_thread_waits(
    any_mpi: Mpi, program: Path, run_recorded: Run, tmp_path: Path
) -> None:
    """What is noted of a wait begins where threads need no lock, and ends where they do."""
    # Memory that nobody has written is full of garbage.
    garbage = {"MALLOC_PERTURB_": "90"}
    run = run_recorded(any_mpi, 2, program, "meanwhile", tmp_path / "open", environment=garbage)
    assert (run.ended.status, run.ended.output) == (0, "got 7\n"), run.ended.errors
    assert run.records[0].totals()["MPI_Waitall"] == (1, 0)
    assert [int(record.header["state"]) for record in run.records] == [FINISHED] * 2


def test_exit_with_a_session(any_mpi: Mpi, program: Path, run_recorded: Run) -> None:
    run = run_recorded(any_mpi, 2, program, "exit")
    assert [int(record.header["state"]) for record in run.records] == [EXITED] * 2
    assert [int(record.header["exit_code"]) for record in run.records] == [6] * 2


def test_a_rank_without_the_recorder(
    any_mpi: Mpi, program: Path, run_recorded: Run, without: Path
) -> None:
    """The others find out as they make a communicator of all ranks, and go on."""
    run = run_recorded(any_mpi, 4, without, program, "plain", environment={"WITHOUT": "3"})
    assert run.ended.status == 0, run.ended.errors
    assert sorted(run.ended.output.splitlines()) == OUTPUT.format(10, 10, 10, 10).splitlines()
    [line] = [line for line in run.ended.errors.splitlines() if line.startswith("contend: ")]
    assert line.startswith("contend: 1 of 4 ranks (3")
    assert [int(record.header["clock"]["known"]) for record in run.records] == [0] * 3
