"""Programs that hang, each in another way, and what is said of where they were stuck."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

import contend
from contend.errors import InputError
from contend.mpi import launch_environment
from contend.profiling import Profile, merge
from contend.profiling.folder import RECORDS, ProfileRecord, write_profile_record
from contend.profiling.record_file import RankRecord, read_record
from contend.profiling.record_layout import NO_CALL, State
from contend.report import explanation_sentence, profiles_json
from probe_programs import Mpi
from tracer.conftest import Build, tracer_of

OUT = "MPI"
"""Stands for a rank that is in no call of MPI."""
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
        ("rank 0 is in MPI_Bcast where rank 1 is in MPI_Reduce", "on pair"),
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
    "itself": (("Ssend", "Barrier"), ("rank 0 waits for itself in MPI_Ssend",)),
    "probe": (("Probe", "Barrier"), ("rank 0 waits for rank 1 in MPI_Probe", "tag 3")),
    "window": (("Win_wait", "Barrier"), ("waits in MPI_Win_wait", "rank 1 waits for rank 0")),
    "pipe": (("Barrier", OUT), ("rank 1 has been in no MPI call for", "such as a full pipe")),
}
UNPROVEN = frozenset({"stopped", "lost", "either", "window", "pipe"})
"""What is in no call, or is not followed, may be about to do what others wait for."""


def _records(folder: Path) -> list[RankRecord]:
    """Of ranks that have begun to write one."""
    records = []
    for path in sorted(folder.glob("*.record")):
        with suppress(InputError):
            records.append(read_record(path))
    return records


def _place(record: RankRecord) -> str:
    barrier = [cell for cell in record.cells if record.routines[cell["routine"]] == "MPI_Barrier"]
    if record.state is State.EXITED or not len(record.threads) or not barrier:
        return "begins"
    routine = int(record.threads[0]["routine"])
    return OUT if routine == NO_CALL else record.routines[routine].removeprefix("MPI_")


def _hang(mpi: Mpi, program: Path, mode: str, places: tuple[str, ...], folder: Path) -> Path:
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
            while tuple(map(_place, _records(records))) != places:
                if launched.poll() is not None:
                    break
                os.sched_yield()
        finally:
            for record in _records(records):
                with suppress(ProcessLookupError):
                    os.kill(int(record.header["pid"]), signal.SIGKILL)
            launched.wait()
    return folder


@pytest.mark.parametrize("mode", HANGS)
def test_where_it_was_stuck(openmpi: Mpi, build: Build, tmp_path: Path, mode: str) -> None:
    places, said = HANGS[mode]
    folder = _hang(openmpi, build(openmpi.wrapper, "hangs.c"), mode, places, tmp_path)
    # As if they had been there for a minute.
    ended = ProfileRecord(("./hangs", mode), ended_unix=time.time() + 60)
    write_profile_record(folder, ended)
    merge(folder)
    profile = Profile.load(folder)
    verdict = profile.findings.verdict
    for words in said:
        assert words in verdict
    explanation = contend.explain(folder)
    if mode in UNPROVEN:
        assert verdict.startswith("No rank began or ended an MPI call in the last ")
        assert any(remark.startswith("No rank began or ended") for remark in explanation.remarks)
    else:
        assert verdict.startswith("The run hung: ")
        [told] = {cell.reasons[0].why for cell in explanation.verdicts}
        assert explanation_sentence(explanation) == f"{told}."
    assert profile.record.stuck[0].since_s == pytest.approx(60, abs=30)
    # The call in which it hung counts until the end.
    calls = profile.calls.filter(profile.calls["routine"].cast(str) == f"MPI_{places[0]}")
    since = max(place.since_s for place in profile.record.stuck if place.routine)
    assert calls["longest_s"].max() == pytest.approx(since, abs=1)
    result = profiles_json([profile])
    assert result.hung == (mode not in UNPROVEN)
    assert [place.routine or OUT for place in result.stuck] == [
        name if name == OUT else f"MPI_{name}" for name in places
    ]


def test_a_run_that_was_ended_early_has_not_hung(
    openmpi: Mpi, build: Build, tmp_path: Path
) -> None:
    """Nobody saw the end, and nothing proves that the program could not go on."""
    places, _ = HANGS["stopped"]
    folder = _hang(openmpi, build(openmpi.wrapper, "hangs.c"), "stopped", places, tmp_path)
    merge(folder)
    verdict = Profile.load(folder).findings.verdict
    assert verdict.startswith("When the run was ended: rank 0 waits for rank 1 in MPI_Barrier")
    assert "for an unknown time" in verdict
