"""However a program ends, and whatever else it does: what is left is whole, and tells."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import numpy as np
import pytest

from contend.lab.mpi import launch_environment
from probe_programs import Build, Mpi
from processes import finished
from rank_records import ABORTED, CALL, EXITED, FINISHED, RUNNING, RankRecord, read_record
from tracer.conftest import Run, tracer_of

MIB = 1 << 20


@pytest.fixture
def endings(openmpi: Mpi, build: Build) -> Path:
    return build(openmpi.wrapper, "endings.c")


def _check_beginning(record: RankRecord) -> None:
    """What every rank does before anything else is there."""
    totals = record.totals()
    assert totals["MPI_Sendrecv"][0] >= 1
    assert totals["MPI_Barrier"][0] >= 1
    clock = record.header["clock"]
    assert clock["start_ns"] <= clock["end_ns"]


def test_abort_names_the_rank_and_the_code(openmpi: Mpi, endings: Path, run_recorded: Run) -> None:
    recorded = run_recorded(openmpi, 3, endings, "abort")
    assert recorded.ended.status != 0
    states = [int(record.header["state"]) for record in recorded.records]
    assert states[1] == ABORTED
    assert recorded.records[1].header["exit_code"] == 5
    for record in recorded.records:
        _check_beginning(record)


def test_a_killed_rank_leaves_what_it_had(openmpi: Mpi, endings: Path, run_recorded: Run) -> None:
    recorded = run_recorded(openmpi, 3, endings, "kill")
    assert recorded.ended.status != 0
    assert [int(record.header["rank"]) for record in recorded.records] == [0, 1, 2]
    assert recorded.records[1].header["state"] == RUNNING
    for record in recorded.records:
        _check_beginning(record)


def test_who_was_killed_unseen_is_not_made_up(
    any_mpi: Mpi, build: Build, run_recorded: Run, tmp_path: Path
) -> None:
    """Nobody watched the ranks, and their launcher ended as one of them did."""
    recorded = run_recorded(any_mpi, 3, build(any_mpi.wrapper, "endings.c"), "kill")
    verdict = recorded.profile(tmp_path / "p", "./endings").findings.verdict
    assert verdict.startswith(
        "The run ended early: a rank or the launcher died of signal 9 (Killed), and it is not known"
    )


@pytest.mark.parametrize(("how", "status"), [("exit", 6), ("_exit", 6), ("quick_exit", 0)])
def test_exit_without_finalize(
    openmpi: Mpi, endings: Path, run_recorded: Run, how: str, status: int
) -> None:
    """What quick_exit leaves with nobody is told."""
    recorded = run_recorded(openmpi, 1, endings, how)
    assert recorded.ended.status == 6
    [record] = recorded.records
    assert (record.header["state"], record.header["exit_code"]) == (EXITED, status)
    _check_beginning(record)


@pytest.mark.parametrize("how", ["fork", "vfork"])
def test_a_forked_child_leaves_its_parents_record_alone(
    openmpi: Mpi, endings: Path, run_recorded: Run, how: str
) -> None:
    recorded = run_recorded(openmpi, 2, endings, how)
    assert recorded.ended.status == 0
    for record in recorded.records:
        assert record.header["state"] == FINISHED
        assert record.totals()["MPI_Sendrecv"][0] == 2


def test_threads(openmpi: Mpi, endings: Path, run_recorded: Run) -> None:
    recorded = run_recorded(openmpi, 2, endings, "threads")
    assert recorded.ended.status == 0, recorded.ended.errors
    for record in recorded.records:
        assert record.header["thread_level"] == 3
        totals = record.totals()
        assert totals["MPI_Isend"] == totals["MPI_Irecv"] == (1500, 6000)
        assert totals["MPI_Waitall"] == (1500, 0)
        assert np.unique(record.events["thread"]).size == 4
        waits = record.events[record.events["kind"] == 1]
        assert np.unique(waits["request"]).size == waits.size == 3000


def test_memory_is_bounded_and_what_overflows_is_counted(
    openmpi: Mpi, endings: Path, run_recorded: Run
) -> None:
    full = run_recorded(openmpi, 2, endings, "overflow")
    ample = [record.totals() for record in full.records]
    for path in full.folder.iterdir():
        path.unlink()
    bound = {"CONTEND_PROFILE_MEMORY": str(MIB // 4)}
    recorded = run_recorded(openmpi, 2, endings, "overflow", environment=bound)
    assert recorded.ended.status == 0
    for rank, record in enumerate(recorded.records):
        path = recorded.folder / f"rank-{rank:06}.record"
        assert path.stat().st_size <= MIB // 4 + 2 * 64  # peers are on top
        # Communicators that are alike share what there is.
        assert record.lost["communicators"] == 0
        counted = sum(calls for calls, _ in record.totals().values())
        assert counted == sum(calls for calls, _ in ample[rank].values())
        stride = int(record.header["stride"])
        assert stride > 1
        assert np.all((record.collectives["number"] + record.collectives["turn"]) % stride == 0)
        blocking = 1 + 300 * 8
        assert len(record.collectives) + record.lost["collectives"] == blocking
    kept = [
        {
            (int(item["communicator"]), int(item["turn"]), int(item["number"]))
            for item in record.collectives
        }
        for record in recorded.records
    ]
    assert kept[0] == kept[1]
    # The peers' share is on top, so that it is never short.
    assert recorded.records[0].peers["messages"].tolist() == [100, 1]


def test_events_end_where_no_more_fit(openmpi: Mpi, endings: Path, run_recorded: Run) -> None:
    bound = {"CONTEND_PROFILE_MEMORY": str(MIB // 4)}
    recorded = run_recorded(openmpi, 2, endings, "threads", environment=bound)
    for record in recorded.records:
        assert record.lost["events"] > 0
        calls = record.events[record.events["kind"] == CALL]
        assert len(calls) > 1000
        assert record.totals()["MPI_Isend"] == (1500, 6000)


def test_a_full_disk_is_one_line_and_no_more(openmpi: Mpi, endings: Path, tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    script = (
        f'mount -t tmpfs -o size=20m none {folder} && "$@"; status=$?; ls {folder}; exit $status'
    )
    within = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]
    variables = {
        "CONTEND_PROFILE": str(folder),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    preload = f"LD_PRELOAD={tracer_of(openmpi)}"
    ended = openmpi.run_command(
        [*within, openmpi.launcher, "-n", "2", "env", preload, str(endings), "nothing"], variables
    )
    assert ended.status == 0, ended.errors
    assert ended.output.count("done") == 2
    [line] = [line for line in ended.errors.splitlines() if line.startswith("contend: ")]
    assert line.startswith("contend: rank ")
    assert line.endswith(".record: No space left on device")
    # Ranks that ask at the same time may both be refused; the first says so for both.
    assert ended.output.count(".record") <= 1
    assert f"unrecorded-{errno.ENOSPC}\n" in ended.output


def test_a_second_process_of_the_same_rank_leaves_a_record_of_its_own(
    openmpi: Mpi, endings: Path, tmp_path: Path
) -> None:
    variables = {
        **launch_environment(os.environ),
        "CONTEND_PROFILE": str(tmp_path),
        "LD_PRELOAD": str(tracer_of(openmpi)),
    }
    errors = [finished([endings, what], env=variables).stderr for what in ("exit", "nothing")]
    assert errors == ["", ""]
    first, second = (read_record(tmp_path / f"rank-000000{more}.record") for more in ("", "-2"))
    assert (first.header["state"], second.header["state"]) == (EXITED, FINISHED)
    words = [record.header["launch"].decode().split(" ") for record in (first, second)]
    assert words[0][1] != words[1][1]
    assert words[0][1].startswith(f"{socket.gethostname()}.{first.header['pid']}.")


def test_programs_that_are_not_recorded_run_as_ever(
    openmpi: Mpi,
    endings: Path,
    build: Build,
    run_recorded: Run,
    mpich: Mpi,
) -> None:
    """One without MPI, one where no folder is named, and one of another library."""
    plain = run_recorded(openmpi, 2, Path("/bin/echo"), "hello")
    assert (plain.ended.status, plain.ended.output) == (0, "hello\nhello\n")
    unnamed = run_recorded(openmpi, 2, endings, "nothing", environment={"CONTEND_PROFILE": ""})
    assert (unnamed.ended.status, unnamed.ended.output) == (0, "done\ndone\n")
    theirs = build(mpich.wrapper, "everything.c")
    for mpi, program, tracer in (
        (mpich, theirs, tracer_of(openmpi)),
        (openmpi, build(openmpi.wrapper, "everything.c"), tracer_of(mpich)),
    ):
        other = run_recorded(mpi, 4, program, tracer=tracer)
        assert other.ended.status == 0, other.ended.errors
        assert other.ended.output.count("all as expected") == 4
    assert plain.records == unnamed.records == other.records == []


def test_a_routine_that_the_library_lacks_is_not_found(
    openmpi: Mpi, build: Build, run_recorded: Run, mpich: Mpi
) -> None:
    """A program asks for MPI_Send_c, which MPICH's recorder has and Open MPI has not."""
    program = build(openmpi.wrapper, "asks.c")
    plain = openmpi.run(2, program)
    assert (plain.status, plain.output) == (0, 2 * "MPI_Send_c: none\n")
    recorded = run_recorded(openmpi, 2, program, tracer=tracer_of(mpich))
    assert (recorded.ended.status, recorded.ended.output) == (0, plain.output)
    assert recorded.records == []
    assert "libmpi.so" in (recorded.folder / "other-library").read_text()
