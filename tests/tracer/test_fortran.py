"""Fortran in all three ways, whose calls come through libraries of the MPI's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from probe_programs import Build, Mpi
from processes import finished
from rank_records import OTHERS, RankRecord
from tracer.conftest import PROGRAMS, Run


@pytest.mark.parametrize("flavour", [1, 2, 3], ids=["mpif.h", "mpi", "mpi_f08"])
def test_calls_are_where_the_program_makes_them(
    debian_mpi: Mpi,
    require_program: Callable[[str], str],
    build: Build,
    run_recorded: Run,
    flavour: int,
) -> None:
    wrapper = require_program(f"mpifort.{debian_mpi.name}")
    require_program("addr2line")
    program = build(wrapper, "flavour.F90", f"-DFLAVOUR={flavour}", "-fallow-argument-mismatch")
    recorded = run_recorded(debian_mpi, 2, program)
    assert recorded.ended.status == 0, recorded.ended.errors
    assert recorded.ended.output.count("done") == 2
    source = (PROGRAMS / "flavour.F90").read_text().splitlines()
    for record in recorded.records:
        assert record.header["fortran_calls"] == 1
        totals = record.totals()
        # Three times six integers of a vector, and five in a row.
        assert totals["MPI_Send"] == totals["MPI_Irecv"] == (6, 3 * 24 + 3 * 20)
        assert totals["MPI_Allreduce"] == (2, 80 + 40)
        assert totals["MPI_Wait"] == (6, 0)
        [barrier] = record.collectives[record.collectives["communicator"] > OTHERS]
        same = record.communicators[barrier["communicator"]]
        assert (same["size"], same["parent"]) == (2, 0)
        for routine, places in (("MPI_Send", 2), ("MPI_Irecv", 2), ("MPI_Allreduce", 2)):
            lines = {_line(record, program, site) for site in record.sites(routine)}
            assert len(lines) == places
            assert all(f"call {routine}(" in source[line - 1] for line in lines)
        assert len(set(record.sites("MPI_Wait"))) == 2


def _line(record: RankRecord, program: Path, site: int) -> int:
    """The line in the source that a return address belongs to."""
    [where] = [words for words in map(str.split, record.modules) if words[5] == str(program)]
    base = int(where[0].split("-")[0], 16) - int(where[2], 16)
    command = ["addr2line", "-e", str(program), hex(site - 1 - base)]
    told = finished(command, check=True).stdout
    return int(told.split(":")[-1].split()[0])
