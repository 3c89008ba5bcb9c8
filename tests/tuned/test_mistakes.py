"""What the drop-in all-to-all cannot carry safely: the library has it, or has the last word."""

from __future__ import annotations

from pathlib import Path

from contend.cure import Rule, Rules, write_rules
from probe_programs import Build, Mpi
from tuned.conftest import MANY, run_carried

# Mistakes of mistakes.c by which the library alone does not crash.
_OF = {
    "openmpi": ((0, 7), (9, 18), (20, 20), (24, 24)),
    "mpich": ((0, 8), (10, 18), (20, 25)),
}


def test_mistakes_end_as_the_library_ends_them(
    debian_mpi: Mpi, build: Build, every_schedule: Path
) -> None:
    program = build(debian_mpi.wrapper, "mistakes.c")
    for first, last in _OF[debian_mpi.name]:
        alone = debian_mpi.run(2, program, first, last)
        assert alone.status == 0, alone.errors
        carried = run_carried(debian_mpi, every_schedule, 2, program, first, last)
        assert carried.status == 0, carried.errors
        assert sorted(carried.output.splitlines()) == sorted(alone.output.splitlines())


def test_an_error_under_way_is_told_once_and_the_next_call_is_right(
    openmpi: Mpi, build: Build, every_schedule: Path
) -> None:
    program = build(openmpi.wrapper, "mistakes.c")
    ended = run_carried(openmpi, every_schedule, 2, program, 25, 25)
    assert ended.status == 0, ended.errors
    # MPI_ERR_TRUNCATE is 15, told by the wait; the handler itself calls MPI_Ialltoall.
    told = "mistake 25: call 0, wait 15, handler called 1 with 15, this communicator, then right"
    assert ended.output.count(told) == 2


def test_attributes_of_types_are_neither_copied_nor_deleted(
    debian_mpi: Mpi, build: Build, every_schedule: Path
) -> None:
    program = build(debian_mpi.wrapper, "plenty.c")
    ended = run_carried(debian_mpi, every_schedule, 2, program, "attribute")
    assert ended.status == 0, ended.errors
    assert ended.output.count("right") == 2


def test_more_calls_under_way_than_tags(debian_mpi: Mpi, build: Build, tmp_path: Path) -> None:
    # The last calls begin all messages at once, while the first are still in their first phases.
    rules = (
        Rule((3, 3), (1, MANY), (0, 8), "shift"),
        Rule((3, 3), (1, MANY), (9, MANY), "linear"),
    )
    write_rules(Rules(rules), tmp_path)
    ended = run_carried(debian_mpi, tmp_path, 3, build(debian_mpi.wrapper, "plenty.c"), "calls")
    assert ended.status == 0, ended.errors
    assert ended.output.count("right") == 3


def test_more_communicators_than_can_be_duplicated(
    debian_mpi: Mpi, build: Build, every_schedule: Path
) -> None:
    program = build(debian_mpi.wrapper, "plenty.c")
    ended = run_carried(debian_mpi, every_schedule, 2, program, "communicators")
    assert ended.status == 0, ended.errors
    assert ended.output.count("right") == 2


def test_an_all_to_all_that_stands_still_is_told(
    debian_mpi: Mpi, build: Build, every_schedule: Path
) -> None:
    program = build(debian_mpi.wrapper, "standing.c")
    still = run_carried(debian_mpi, every_schedule, 4, program, 1500)
    assert still.errors.count("stood still while the program did not call MPI") == 1
    assert "nonblocking = false in rules.toml" in still.errors
    assert "stood still" not in run_carried(debian_mpi, every_schedule, 4, program, 0).errors
