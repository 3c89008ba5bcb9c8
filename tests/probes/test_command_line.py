"""What a probe's command line takes, refuses and explains."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from probe_programs import Mpi

ALGORITHMS = "good, truth, alone, unsupported, memory, wrong, wrong-later, killed, forgetful"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["8"], "expected an option that begins with --, got '8'"),
        (["--byte", "8"], "no such option --byte, did you mean 'bytes'?"),
        (["--nothing", "8"], "no such option --nothing"),
        (["--bytes"], "--bytes needs a value"),
        (["--verify=yes"], "--verify takes no value"),
        (["--bytes", "4K"], "--bytes: expected a whole number of at least 0, got '4K'"),
        (["--bytes", "1:4"], "--bytes: expected a whole number of at least 0, got '1:4'"),
        (
            ["--bytes", "9223372036854775808"],
            "--bytes: expected a whole number of at least 0, got '9223372036854775808'",
        ),
        (["--algorithm", "goood"], "--algorithm: got 'goood', did you mean 'good'?"),
        (["--algorithm", "best"], f"--algorithm: got 'best', expected one of {ALGORITHMS}"),
        (["--algorithm", "good,"], "--algorithm: expected words separated by commas, got 'good,'"),
        (["--precision", "x"], "--precision: expected a number of at least 0, got 'x'"),
        (["--seed", "-1"], "--seed: expected a whole number of at least 0, got '-1'"),
        (["--repetitions", "9:3"], "--repetitions: expected MIN:MAX such as 6:1000, got '9:3'"),
        (["--repetitions", "x"], "--repetitions: expected MIN:MAX such as 6:1000, got 'x'"),
        (
            ["--warmups", "0"],
            "--warmups: expected at least 1, as the first is the one whose data is verified",
        ),
        (["--cells", "/nowhere"], "/nowhere: cannot be read"),
    ],
)
def test_refused(openmpi: Mpi, trial: Path, arguments: list[str], message: str) -> None:
    ended = openmpi.run(1, trial, *arguments)
    assert (ended.status, ended.output) == (2, "")
    assert ended.said() == [f"contend-trial: {message}"]


def test_only_one_rank_speaks(openmpi: Mpi, trial: Path) -> None:
    ended = openmpi.run(3, trial, "--bytes", "x")
    assert ended.status == 2
    assert len(ended.said()) == 1


def test_fault_in_a_file_of_cells_names_its_line(openmpi: Mpi, trial: Path, tmp_path: Path) -> None:
    cells = tmp_path / "cells"
    cells.write_text("good 1\ngood 1Q\n", encoding="utf-8")
    ended = openmpi.run(2, trial, "--cells", cells)
    assert ended.status == 2
    assert ended.said() == [
        f"contend-trial: {cells}:2: expected a whole number of at least 0, got '1Q'"
    ]


def test_help_has_an_example_and_every_option(openmpi: Mpi, trial: Path) -> None:
    ended = openmpi.run(2, trial, "--help")
    assert (ended.status, ended.said()) == (0, [])
    assert "\nExample:\n  mpirun -n 4 contend-trial --algorithm wrong\n" in ended.output
    options = [line.split()[0] for line in ended.output.splitlines() if line.startswith("  --")]
    common = (
        "output cells without repetitions precision budget warmups pause verify seed clocks help "
        "version"
    )
    assert options == ["--algorithm", "--bytes", *(f"--{name}" for name in common.split())]
    assert max(map(len, ended.output.splitlines())) <= 96


def test_version_is_the_packages(openmpi: Mpi, trial: Path) -> None:
    project = Path(__file__).resolve().parents[2] / "pyproject.toml"
    version = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]
    assert openmpi.run(1, trial, "--version").output == f"contend-trial {version}\n"
