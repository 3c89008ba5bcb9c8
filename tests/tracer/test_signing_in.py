"""Ranks on hosts without the recorder: the program runs as ever, and the others are recorded."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from probe_programs import Build, Mpi
from rank_records import FINISHED
from tracer.conftest import Run, tracer_of


# Who misses whom does not depend on the library, how it is told does.
@pytest.mark.parametrize(
    ("any_mpi", "missing"),
    [*(("wheel", ranks) for ranks in ((3,), (0,), (1, 2))), ("openmpi", (0,)), ("mpich", (1, 2))],
    indirect=["any_mpi"],
)
def test_ranks_without_the_recorder(
    any_mpi: Mpi, build: Build, run_recorded: Run, without: Path, missing: tuple[int, ...]
) -> None:
    program = build(any_mpi.wrapper, "together.c")
    recorded = run_recorded(
        any_mpi, 4, without, program, environment={"WITHOUT": " ".join(map(str, missing))}
    )
    assert (recorded.ended.status, recorded.ended.output) == (0, "4 of 4\n"), recorded.ended.errors
    here = [rank for rank in range(4) if rank not in missing]
    assert [int(record.header["rank"]) for record in recorded.records] == here
    for record in recorded.records:
        assert record.header["state"] == FINISHED
        assert record.totals()["MPI_Iallreduce"] == (1, 4)
        assert record.header["clock"]["known"] == 0
    [line] = [line for line in recorded.ended.errors.splitlines() if line.startswith("contend: ")]
    names = "1-2" if len(missing) == 2 else str(missing[0])
    # Open MPI's launcher tells where ranks are.
    names += "" if any_mpi.name == "mpich" else f" on {socket.gethostname()}"
    assert line.startswith(f"contend: {len(missing)} of 4 ranks ({names}) run without the recorder")
    assert f"on {socket.gethostname()}" in line
    sees = "" if any_mpi.name != "mpich" else f"their hosts do not see {recorded.folder}, or "
    assert f": {sees}their environment lacks LD_PRELOAD or variables of contend; " in line


def test_with_all_ranks_nothing_is_said_and_clocks_are_compared(
    any_mpi: Mpi, build: Build, run_recorded: Run
) -> None:
    recorded = run_recorded(any_mpi, 5, build(any_mpi.wrapper, "together.c"))
    assert (recorded.ended.status, recorded.ended.output) == (0, "5 of 5\n"), recorded.ended.errors
    assert "contend" not in recorded.ended.errors
    assert [int(record.header["clock"]["known"]) for record in recorded.records] == 5 * [2]


def test_a_host_that_does_not_see_the_folder_is_named(
    openmpi: Mpi, build: Build, run_recorded: Run, tmp_path: Path
) -> None:
    script = tmp_path / "elsewhere.sh"
    script.write_text(
        '#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = 1 ] && export CONTEND_PROFILE=/nowhere\nexec "$@"\n'
    )
    script.chmod(0o755)
    assert tracer_of(openmpi).is_file()
    recorded = run_recorded(openmpi, 3, script, build(openmpi.wrapper, "together.c"))
    assert (recorded.ended.status, recorded.ended.output) == (0, "3 of 3\n")
    said = sorted(line for line in recorded.ended.errors.splitlines() if "contend: " in line)
    assert said[0].startswith(
        f"contend: 1 of 3 ranks (1 on {socket.gethostname()}) run without the recorder"
    )
    assert said[1].startswith(
        f"contend: rank 1 on {socket.gethostname()} is not recorded: /nowhere"
    )
    assert [int(record.header["rank"]) for record in recorded.records] == [0, 2]
