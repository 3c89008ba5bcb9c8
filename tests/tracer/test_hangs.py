"""Programs that hang, each in another way, and what is said of where they were stuck."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

import contend
from contend.base.errors import UsageError
from contend.lab.mpi import launch_environment
from contend.profiling import ProgramProfile, cure_of, load_profile, merge
from contend.profiling.folder import (
    RECORDS,
    ProfileRecord,
    read_seen,
    write_profile_record,
    write_seen,
)
from contend.profiling.record_file import RankRecord
from probe_programs import Build, Mpi
from processes import CONTEND
from tracer.conftest import tracer_of
from tracer.hanging import OUT, left_records, place

_CIRCLE = "which waits for rank 0 in MPI_Barrier"
# Libraries ask for a lock at once, or when it is needed.
_LOCKING = "Win_lock|Win_lock_all|Win_flush|Rput|Put|Wait"
_LOCKED = "a window of MPI_COMM_WORLD at rank 1, which is locked by rank 1"
# Of each: in which calls its ranks come to a stop, and what is said of it.
HANGS = {
    "missing-send": (
        ("Recv", "Barrier"),
        ("rank 0 waits for rank 1 in MPI_Recv at hangs.c:", "tag 7, MPI_COMM_WORLD"),
    ),
    "both-receive": (
        ("Recv", "Recv"),
        ("rank 0 waits for rank 1 in MPI_Recv", "which waits for rank 0 in MPI_Recv"),
    ),
    "ring-of-sends": (
        ("Send", "Send", "Send"),
        ("rank 0 waits for rank 1 in MPI_Send", "rank 2 in MPI_Send", "rank 0 in MPI_Send"),
    ),
    "skipped": (
        ("Recv", "Barrier", "Barrier"),
        ("rank 0 waits for any rank in MPI_Recv", "ranks 1 and 2 wait for rank 0 in MPI_Barrier"),
    ),
    "finalized": (
        ("Finalize", "Barrier", "Barrier"),
        (
            "rank 0 waits for rank 1 in MPI_Finalize",
            "which waits for rank 0 in MPI_Barrier",
            "; rank 2 waits for rank 0 in MPI_Barrier",
        ),
    ),
    "collectives": (
        ("Bcast", "Reduce"),
        ("rank 0 called MPI_Bcast at hangs.c:", " where rank 1 called MPI_Reduce at", "on pair"),
    ),
    "roots": (
        ("Gather", "Gather"),
        (
            "rank 0 called MPI_Gather with rank 0 as its root at hangs.c:",
            " where rank 1 called MPI_Gather with rank 1 as its root at hangs.c:",
        ),
    ),
    "nonblocking": (
        ("Wait", "Allreduce"),
        (
            "rank 0 waits for rank 1 in MPI_Wait",
            "(MPI_Ibarrier, collective 2 on MPI_COMM_WORLD)",
            "rank 0 called MPI_Ibarrier at hangs.c:",
            " where rank 1 called MPI_Allreduce at hangs.c:",
        ),
    ),
    "left": (
        ("Barrier", "Reduce"),
        ("rank 1 called MPI_Reduce at hangs.c:", " where rank 0 called MPI_Bcast at hangs.c:"),
    ),
    "stopped": (
        ("Barrier", OUT),
        ("rank 0 waits for rank 1 in MPI_Barrier", "has been in no MPI call"),
    ),
    "lost": (
        ("Barrier", OUT),
        ("rank 0 waits for rank 1 in MPI_Barrier", "has been in no MPI call"),
    ),
    "wait": (
        ("Wait", "Barrier"),
        ("rank 0 waits for rank 1 in MPI_Wait", "receive from rank 1, tag 9"),
    ),
    "either": (
        ("Waitany", "Barrier"),
        ("rank 0 waits for rank 1 in MPI_Waitany", "rank 1 waits for rank 0 in MPI_Barrier"),
    ),
    "tags": (("Recv", "Ssend"), ("rank 1 sends with tag 6, and rank 0 receives tag 5",)),
    "tags-sent": (
        ("Recv", "Barrier"),
        ("rank 1 has sent rank 0 a message with tag 6, which no receive has taken",),
    ),
    "itself": (("Ssend", "Barrier"), ("rank 0 waits for itself in MPI_Ssend",)),
    "probe": (("Probe", "Barrier"), ("rank 0 waits for rank 1 in MPI_Probe", "tag 3")),
    "window": (("Win_wait", "Barrier"), ("MPI_Win_complete of rank 1, a window of", _CIRCLE)),
    "rma-incomplete": (("Win_wait", "Barrier"), ("MPI_Win_complete of rank 1, a window", _CIRCLE)),
    "rma-unposted": (
        ("Win_start|Win_complete", "Barrier"),
        ("MPI_Win_post of rank 1, a window of MPI_COMM_WORLD", _CIRCLE),
    ),
    "rma-fence": (
        ("Win_fence", "Barrier"),
        ("in MPI_Win_fence at hangs.c:", "collective 1 on a window of MPI_COMM_WORLD", _CIRCLE),
    ),
    "rma-free": (("Win_free", "Barrier"), ("collective 1 on a window of", _CIRCLE)),
    "rma-lock": ((_LOCKING, "Barrier"), (_LOCKED, _CIRCLE)),
    "rma-lock-all": ((_LOCKING, "Barrier"), ("which is locked by rank 1", _CIRCLE)),
    "rma-lock-request": ((_LOCKING, "Barrier"), (_LOCKED, _CIRCLE)),
    "rma-locks": (
        (_LOCKING, _LOCKING),
        ("rank 0 waits for rank 1 in MPI_", _LOCKED, "window of MPI_COMM_WORLD at rank 0, which"),
    ),
    "file-open": (
        ("File_open", "Barrier"),
        ("rank 0 called MPI_File_open at hangs.c:", " where rank 1 called MPI_Barrier", _CIRCLE),
    ),
    "file-size": (
        ("Barrier", "File_set_size"),
        ("rank 0 waits for rank 1 in MPI_Barrier", "collective 1 on a file of MPI_COMM_WORLD"),
    ),
    "duplicate": (
        ("Wait", "Barrier"),
        ("rank 0 called MPI_Comm_idup at hangs.c:", " where rank 1 called MPI_Barrier at hangs.c:"),
    ),
    "disconnect": (
        ("Barrier", "Comm_disconnect"),
        ("which waits for rank 0 in MPI_Comm_disconnect", "collective 1 on communicator 3"),
    ),
    "groups": (
        ("Barrier", "Barrier", "Barrier"),
        (_CIRCLE, "(collective 1 on communicator 4)", "; rank 2 waits for rank 0"),
    ),
    "make-group": (
        ("Comm_create_group", "Barrier", "Comm_create_group"),
        (
            "rank 0 waits for rank 1 in MPI_Comm_create_group at hangs.c:",
            "(tag 5, MPI_COMM_WORLD)",
            _CIRCLE,
            "; rank 2 waits for rank 1 in MPI_Comm_create_group",
        ),
    ),
    "make-between": (
        ("Intercomm_create", "Barrier", "Intercomm_create"),
        (
            "rank 0 waits for rank 1 in MPI_Intercomm_create at hangs.c:",
            _CIRCLE,
            "; rank 2 waits for rank 1 in MPI_Intercomm_create",
        ),
    ),
    "make-accept": (
        ("Comm_accept", "Barrier"),
        (
            "rank 0 called MPI_Comm_accept at hangs.c:",
            " where rank 1 called MPI_Barrier at",
            _CIRCLE,
        ),
    ),
    "detach": (
        ("Buffer_detach", "Barrier"),
        (
            "rank 0 waits for rank 1 in MPI_Buffer_detach at hangs.c:",
            " (send to rank 1, tag 7, MPI_COMM_WORLD; send to rank 1, tag 8, MPI_COMM_WORLD), ",
            _CIRCLE,
        ),
    ),
    "exchange": (
        ("Wait", "Barrier"),
        ("rank 0 waits for rank 1 in MPI_Wait", "receive from rank 1, tag 5, MPI_", _CIRCLE),
    ),
    **{
        f"make-{what}": (
            (f"Comm_{what}", "Barrier"),
            (f"rank 0 called MPI_Comm_{what} at hangs.c:", " where rank 1 called MPI_Barrier at"),
        )
        for what in ("connect", "spawn")
    },
    "meet": (
        ("Comm_accept", "Comm_accept"),
        ("ranks 0 and 1 wait for another program in MPI_Comm_accept at hangs.c:",),
    ),
    "pipe": (("Barrier", OUT), ("rank 1 has been in no MPI call for", "such as a full pipe")),
}
UNPROVEN = frozenset({"stopped", "lost", "either", "pipe", "meet"})
"""What is in no call, or is not followed, may be about to do what others wait for."""

NEW = ("exchange",)
"""Debian's Open MPI lacks the routines."""
LIBRARYS_OWN = ("missing-send", "finalized", "nonblocking", "rma-unposted", "rma-lock-request")
LIBRARYS_OWN += ("detach", *NEW)
"""In which call ranks come to a stop is up to the library."""


def _in_place(
    records: list[RankRecord],
    places: tuple[str | None, ...],
    there: Callable[[RankRecord], bool],
) -> bool:
    """Whether ranks are where they are to be; of one that is at no place, `there` tells."""
    return len(records) == len(places) and all(
        there(record) if at is None else re.fullmatch(at, place(record)) is not None
        for record, at in zip(records, places, strict=True)
    )


def _hang(
    mpi: Mpi,
    program: Path,
    mode: str,
    places: tuple[str | None, ...],
    folder: Path,
    *,
    there: Callable[[RankRecord], bool] = lambda record: True,
) -> Path:
    """A profile of a program that was killed as soon as its ranks were in place."""
    records = folder / RECORDS
    records.mkdir()
    write_profile_record(folder, ProfileRecord(("./hangs", mode)))
    variables = {
        **launch_environment(os.environ),
        "CONTEND_PROFILE": str(records),
        "LD_PRELOAD": str(tracer_of(mpi)),
    }
    command = [mpi.launcher, "-n", str(len(places)), str(program), mode]
    with subprocess.Popen(
        command, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as launched:
        try:
            while not _in_place(left_records(records), places, there):
                if launched.poll() is not None:
                    break
                os.sched_yield()
        finally:
            for record in left_records(records):
                with suppress(ProcessLookupError):
                    os.kill(int(record.header["pid"]), signal.SIGKILL)
            launched.wait()
    return folder


# Its ranks ask again and again, so that they are in no call, or in a question.
ASKING = {
    "polls": ("MPI_Iprobe", "for any rank"),
    "polls-matched": ("MPI_Improbe", "for rank 1"),
    "tests": ("MPI_Test", "for rank 1"),
    "tests-any": ("MPI_Testany", "for rank 1"),
    "tests-status": ("MPI_Request_get_status", "for rank 1"),
}


@pytest.mark.parametrize("mode", ASKING)
def test_who_asks_again_and_again_waits(
    openmpi: Mpi, build: Build, tmp_path: Path, mode: str
) -> None:
    routine, whom = ASKING[mode]

    def asks(record: RankRecord) -> bool:
        [thread] = record.threads
        return bool(thread["asking"]) and bool(thread["asked_left"] == thread["left"])

    program = build(openmpi.wrapper, "hangs.c")
    folder = _hang(openmpi, program, mode, (None, "Barrier"), tmp_path, there=asks)
    merge(folder)
    profile = ProgramProfile.load(folder)
    stuck = profile.record.stuck[0]
    assert (stuck.routine, stuck.asks) == (routine, True)
    said = f"rank 0 waits {whom} in {routine} at hangs.c:"
    assert said in profile.findings.verdict
    long = [msgspec.structs.replace(thread, since_s=60.0) for thread in profile.record.stuck]
    assert replace(profile.findings.stuck, stuck=long).hung


@pytest.mark.parametrize(
    ("any_mpi", "mode"),
    [("openmpi", mode) for mode in ("fetch", "sleeps", "locks", "request", "memory")]
    + [("mpich", "fetch"), ("wheel", "request")],
    indirect=["any_mpi"],
)
def test_who_reads_a_window_again_and_again_polls_it(
    any_mpi: Mpi, build: Build, tmp_path: Path, mode: str
) -> None:
    def reads(record: RankRecord) -> bool:
        return bool(record.threads[0]["asking"])

    program = build(any_mpi.wrapper, "hangs.c")
    folder = _hang(any_mpi, program, f"reads-{mode}", (None, "Barrier"), tmp_path, there=reads)
    merge(folder)
    profile = ProgramProfile.load(folder)
    [polls, waits] = profile.record.stuck
    [awaited] = polls.awaits
    target = None if mode == "memory" else 1
    assert (polls.asks, polls.ranks, awaited.kind, awaited.peer) == (True, (1,), "memory", target)
    whose = "a" if mode == "memory" else "rank 1's"
    said = f" (polls {whose} window until somebody writes there, a window of MPI_COMM_WORLD)"
    assert said in profile.findings.verdict
    # What was written before may still be on its way.
    long = [msgspec.structs.replace(thread, since_s=60.0) for thread in (polls, waits)]
    stood = replace(profile.findings.stuck, stuck=long)
    assert stood.verdict().startswith("No rank got any further in the last 60 s of the run: ")
    assert cure_of(stood).startswith("Look for the call that writes what rank 0 waits for")
    longer = [msgspec.structs.replace(thread, since_s=601.0) for thread in (polls, waits)]
    assert replace(stood, stuck=longer).hung


@pytest.mark.parametrize(
    ("any_mpi", "mode"),
    [("openmpi", mode) for mode in HANGS if mode not in NEW]
    + [(library, mode) for library in ("mpich", "wheel") for mode in LIBRARYS_OWN],
    indirect=["any_mpi"],
)
def test_where_it_was_stuck(any_mpi: Mpi, build: Build, tmp_path: Path, mode: str) -> None:
    places, said = HANGS[mode]
    folder = _hang(any_mpi, build(any_mpi.wrapper, "hangs.c"), mode, places, tmp_path)
    # As if they had been there for a minute.
    ended = ProfileRecord(("./hangs", mode), ended_unix=time.time() + 60)
    write_profile_record(folder, ended)
    merge(folder)
    profile = ProgramProfile.load(folder)
    verdict = profile.findings.verdict
    for words in said:
        assert words in verdict
    explanation = contend.explain(folder)
    if mode in UNPROVEN:
        assert verdict.startswith("No rank began or ended an MPI call in the last ")
        assert explanation.verdict.startswith("No rank began or ended an MPI call")
        assert any(" is not proven" in remark for remark in explanation.remarks)
    else:
        assert verdict.startswith("The run hung: ")
        [told] = {cell.limits[0].why for cell in explanation.cells}
        # The evidence says what the sentence does not.
        assert explanation.verdict.startswith("The run hung: ")
        assert "stopped first" in told
    assert profile.record.stuck[0].since_s == pytest.approx(60, abs=30)
    # The call in which it hung counts until the end.
    first = profile.record.stuck[0].routine or "none"
    calls = profile.calls.filter(profile.calls["routine"].cast(str) == first)
    since = max(place.since_s for place in profile.record.stuck if place.routine)
    assert calls["longest_s"].max() == pytest.approx(since, abs=1)
    assert profile.hung == (mode not in UNPROVEN)
    for at, name in zip(profile.stuck, places, strict=True):
        assert re.fullmatch(name, at.thread.routine.removeprefix("MPI_") or OUT)


def test_partitions_that_are_not_ready_are_not_under_way(
    build: Build, tmp_path: Path, mpich: Mpi
) -> None:
    program = build(mpich.wrapper, "partitions.c")
    folder = _hang(mpich, program, "", ("Wait", "Wait"), tmp_path)
    write_profile_record(folder, ProfileRecord(("./p",), ended_unix=time.time() + 60))
    merge(folder)
    profile = ProgramProfile.load(folder)
    verdict = profile.findings.verdict
    assert verdict.startswith("The run hung: rank 0 waits for itself in MPI_Wait at partitions.c:")
    assert "(3 of 4 partitions of a send to rank 1 are marked as ready, tag 3" in verdict
    assert "rank 1 waits for rank 0 in MPI_Wait" in verdict
    assert profile.record.under_way == ()
    assert cure_of(profile.findings.stuck).startswith("A send in partitions ends when MPI_Pready")


@pytest.mark.parametrize(
    ("mode", "places", "said"),
    [
        (
            "waits",
            ("Recv", "Session_finalize"),
            "which waits for rank 0 in MPI_Session_finalize at sessions.c:",
        ),
        (
            "makes",
            ("Comm_create_from_group", "Barrier"),
            "rank 0 waits for rank 1 in MPI_Comm_create_from_group at sessions.c:",
        ),
    ],
)
def test_in_sessions(
    build: Build, tmp_path: Path, mpich: Mpi, mode: str, places: tuple[str, ...], said: str
) -> None:
    folder = _hang(mpich, build(mpich.wrapper, "sessions.c"), mode, places, tmp_path)
    write_profile_record(folder, ProfileRecord(("./s",), ended_unix=time.time() + 60))
    merge(folder)
    profile = ProgramProfile.load(folder)
    assert profile.hung
    assert said in profile.findings.verdict


def test_a_run_that_was_ended_early_has_not_hung(
    openmpi: Mpi, build: Build, tmp_path: Path
) -> None:
    """Nobody saw the end, and nothing proves that the program could not go on."""
    places, _ = HANGS["stopped"]
    folder = _hang(openmpi, build(openmpi.wrapper, "hangs.c"), "stopped", places, tmp_path)
    merge(folder)
    verdict = ProgramProfile.load(folder).findings.verdict
    assert verdict.startswith("When the run was ended: rank 0 waits for rank 1 in MPI_Barrier")
    assert "for an unknown time" in verdict


def test_contend_is_killed_with_its_program(openmpi: Mpi, build: Build, tmp_path: Path) -> None:
    """As a batch system does when time is over: what is left tells since when at least it hung."""
    places, said = HANGS["missing-send"]
    program = [str(build(openmpi.wrapper, "hangs.c")), "missing-send"]
    command = [*CONTEND, "profile", "--output", str(tmp_path / "p"), "--", openmpi.launcher]
    records = tmp_path / "p" / RECORDS
    with subprocess.Popen(
        [*command, "-n", "2", *program],
        env=launch_environment(os.environ),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as contend_itself:
        try:
            while tuple(map(place, left_records(records))) != places:
                assert contend_itself.poll() is None
                os.sched_yield()
            in_place = time.time()
            while (read_seen(records) or 0.0) < in_place + 1:
                os.sched_yield()
            pids = [int(record.header["pid"]) for record in left_records(records)]
            # Their launcher is told to end, and would end them.
            stat = Path(f"/proc/{pids[0]}/stat").read_text().rpartition(")")[2]
            pids.append(int(stat.split()[1]))
            ends = [os.pidfd_open(pid) for pid in pids]
            for end in ends:
                signal.pidfd_send_signal(end, signal.SIGSTOP)
        finally:
            contend_itself.kill()
    with pytest.raises(UsageError, match="its program still runs, such as process "):
        load_profile(tmp_path / "p")
    for end in ends:
        signal.pidfd_send_signal(end, signal.SIGKILL)
        select.select([end], [], [])
        os.close(end)
    seen = read_seen(records)
    assert seen is not None
    # As if contend had seen it hang for a minute.
    write_seen(records, seen + 60)
    profile = load_profile(tmp_path / "p")
    assert profile.findings.verdict.startswith(f"The run hung: {said[0]}")
    assert "for at least " in profile.findings.verdict
    for stuck in profile.record.stuck:
        assert stuck.at_least
        assert seen + 59 - in_place <= stuck.since_s < seen + 120 - in_place
