"""All-to-alls drawn at random give the same bytes with the drop-in library as without it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from contend.cure import Rule, Rules, write_rules
from probe_programs import Mpi
from tuned.conftest import Build, run_carried

_CARRIED = re.compile(r"contend: (\d+) calls of all-to-alls carried, (\d+) passed on(.*)")


def library_of(name: str, require_program: Callable[[str], str]) -> Mpi:
    return Mpi(name, require_program(f"mpicc.{name}"), require_program(f"mpirun.{name}"))


def received(folder: Path) -> dict[str, str]:
    """What every rank wrote."""
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_all_forms_give_the_same_bytes(
    require_program: Callable[[str], str],
    build: Build,
    every_schedule: Path,
    tmp_path: Path,
    name: str,
    seed: int,
) -> None:
    mpi = library_of(name, require_program)
    program = build(mpi.wrapper, "conformance.c")
    alone, carried = tmp_path / "alone", tmp_path / "carried"
    alone.mkdir(), carried.mkdir()
    plain = mpi.run(5, program, alone, 25, seed)
    assert plain.status == 0, plain.errors
    ended = run_carried(mpi, every_schedule, 5, program, carried, 25, seed)
    assert ended.status == 0, ended.errors
    assert len(received(alone)) == 5
    assert received(carried) == received(alone)
    told = _CARRIED.search(ended.errors)
    assert told is not None
    # Those on one rank pass, those between groups, those that are wrong, and little else.
    assert int(told[1]) > int(told[2])


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_several_threads_at_a_time(
    require_program: Callable[[str], str],
    build: Build,
    every_schedule: Path,
    tmp_path: Path,
    name: str,
) -> None:
    mpi = library_of(name, require_program)
    program = build(mpi.wrapper, "conformance.c")
    alone, carried = tmp_path / "alone", tmp_path / "carried"
    alone.mkdir(), carried.mkdir()
    plain = mpi.run(3, program, alone, 10, 1, "threads")
    assert plain.status == 0, plain.errors
    ended = run_carried(mpi, every_schedule, 3, program, carried, 10, 1, "threads")
    assert ended.status == 0, ended.errors
    assert received(carried) == received(alone)


@pytest.mark.parametrize("flavour", [1, 2, 3], ids=["mpif.h", "mpi", "mpi_f08"])
@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_fortran_is_carried(
    require_program: Callable[[str], str],
    build: Build,
    every_schedule: Path,
    name: str,
    flavour: int,
) -> None:
    mpi = library_of(name, require_program)
    wrapper = require_program(f"mpifort.{name}")
    program = build(wrapper, "flavour.F90", f"-DFLAVOUR={flavour}", "-fallow-argument-mismatch")
    ended = run_carried(mpi, every_schedule, 4, program)
    assert ended.status == 0, ended.errors
    assert ended.output.count("right") == 4
    # MPI_Alltoall, the same in place, MPI_Alltoallv and MPI_Ialltoall of four ranks.
    assert _CARRIED.search(ended.errors)[0] == (
        "contend: 16 calls of all-to-alls carried, 0 passed on: xor 16"
    )


def test_without_a_rule_every_call_is_the_librarys(
    require_program: Callable[[str], str], build: Build, tmp_path: Path
) -> None:
    mpi = library_of("openmpi", require_program)
    program = build(mpi.wrapper, "conformance.c")
    write_rules(Rules((Rule((7, 7), (1, 7), (1, 9), "shift"),)), tmp_path / "rules")
    out = tmp_path / "out"
    out.mkdir()
    ended = run_carried(mpi, tmp_path / "rules", 2, program, out, 5, 1)
    assert ended.status == 0, ended.errors
    assert re.search(r"contend: 0 calls of all-to-alls carried, \d+ passed on\n", ended.errors)


def test_rules_that_cannot_be_read_are_one_line(
    require_program: Callable[[str], str], build: Build, tmp_path: Path
) -> None:
    mpi = library_of("openmpi", require_program)
    program = build(mpi.wrapper, "sized.c")
    folder = tmp_path / "rules"
    write_rules(Rules(()), folder)
    (folder / "rules.toml").write_text("version = 1\n[[rule]]\nranks = 16\n")
    ended = run_carried(mpi, folder, 1, program, 50)
    assert ended.status == 0, ended.errors
    assert f"contend: {folder}/rules.toml:3: expected a value that this key takes" in ended.errors
