"""Wrappers of the user's own that the program is linked with: called, and recorded behind them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from probe_programs import Build, Mpi
from tracer.conftest import PROGRAMS, Run

WRAPPED = PROGRAMS.parents[1] / "conformance" / "programs" / "wrapped.c"


def test_a_wrapper_that_the_program_is_linked_with_is_called(
    any_mpi: Mpi, build: Build, run_recorded: Run, tmp_path: Path
) -> None:
    wrapper = tmp_path / "libwrapper.so"
    wrapper.symlink_to(build(any_mpi.wrapper, str(WRAPPED), "-DLIBRARY", "-shared", "-fPIC"))
    program = tmp_path / "program"
    linked = [str(WRAPPED), "-Wl,--no-as-needed", str(wrapper), f"-Wl,-rpath,{tmp_path}"]
    subprocess.run([any_mpi.wrapper, "-w", *linked, "-o", program], check=True)
    recorded = run_recorded(any_mpi, 2, program)
    assert recorded.ended.status == 0, recorded.ended.errors
    # Five calls of each, and none of what the recorder asks for itself.
    assert recorded.ended.output.count("wrapper saw 5 and 5") == 2
    for record in recorded.records:
        totals = record.totals()
        assert (totals["MPI_Alltoall"][0], totals["MPI_Isend"][0]) == (5, 5)
    assert len(recorded.records) == 2
