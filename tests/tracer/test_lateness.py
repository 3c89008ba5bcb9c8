"""What is said of waits that a program knows itself, under every MPI library."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from contend.profiling import ProfileRecord, ProgramProfile, merge, write_profile_record
from probe_programs import Build, Mpi
from tracer.conftest import Run

RANKS = 3
KINDS = {"MPI_Send": "a late receiver", "MPI_Test": "a late rank", "MPI_Wait": "a late rank"}


def test_known_waits_are_told(
    any_mpi: Mpi, build: Build, run_recorded: Run, tmp_path: Path
) -> None:
    """Late senders, a late receiver, and late ranks of nonblocking collectives.

    Each within a tenth of the time that the program itself has measured.
    """
    recorded = run_recorded(any_mpi, RANKS, build(any_mpi.wrapper, "lateness.c"))
    assert recorded.ended.status == 0, recorded.ended.errors
    write_profile_record(tmp_path, ProfileRecord(("./lateness",)))
    merge(tmp_path)
    profile = ProgramProfile.load(tmp_path)
    keys = ("rank", "cell")
    told = profile.waits.join(profile.calls.select(*keys, "routine"), on=keys)
    lines = recorded.ended.output.splitlines()
    assert len(lines) == 6
    for line in lines:
        routine, rank, awaited, seconds = line.split()
        [row] = told.filter(
            (pl.col("routine") == routine)
            & (pl.col("rank") == int(rank))
            & (pl.col("awaited") == int(awaited))
            & (pl.col("seconds") > 0.1)
        ).to_dicts()
        assert row["seconds"] == pytest.approx(float(seconds), rel=0.1)
        assert row["kind"] == KINDS.get(routine, "a late sender")


_FEW, _ALL = 256 << 10, 64 << 20


# How waits are told from what is kept does not depend on the library, what is seen of them does.
@pytest.mark.parametrize(
    ("any_mpi", "how", "memory"),
    [
        *(("openmpi", how, _FEW) for how in ("recv", "wait", "all", "coll", "epoch")),
        *(("openmpi", how, _ALL) for how in ("recv", "coll")),
        *((library, "wait", _FEW) for library in ("mpich", "wheel")),
        *((library, "epoch", _ALL) for library in ("mpich", "wheel")),
    ],
    indirect=["any_mpi"],
)
def test_late_messages_behind_many_others_are_told(
    any_mpi: Mpi, build: Build, run_recorded: Run, tmp_path: Path, how: str, memory: int
) -> None:
    """At least what the program knows, behind 9,000 messages where 3,000 events fit and where all.

    What rank 2 waits until rank 0 comes it waits for rank 1, which waits for rank 0.
    """
    bound = {"CONTEND_PROFILE_MEMORY": str(memory)}
    program = build(any_mpi.wrapper, "late2.c")
    recorded = run_recorded(any_mpi, RANKS, program, 9000, 10, how, environment=bound)
    assert recorded.ended.status == 0, recorded.ended.errors
    assert all(path.stat().st_size < memory + 32768 for path in recorded.folder.glob("*.record"))
    write_profile_record(tmp_path, ProfileRecord(("./late2",)))
    merge(tmp_path)
    profile = ProgramProfile.load(tmp_path)
    assert (profile.record.left_out is None) == (memory > 1 << 20)
    keys = ("rank", "cell")
    told = profile.waits.join(profile.calls.select(*keys, "routine"), on=keys)
    waited = dict(map(float, line.split()) for line in recorded.ended.output.splitlines())
    assert sorted(waited) == [1, 2]
    for rank, seconds in waited.items():
        direct = 0 if how == "coll" else rank - 1
        long = told.filter((pl.col("rank") == rank) & (pl.col("awaited") == direct))
        # Ranks that share processors are late besides.
        assert long["seconds"].sum() > 0.8 * seconds
