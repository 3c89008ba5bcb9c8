"""What a probe's command line takes, refuses and explains."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from probe_programs import Mpi, probe

_PHASES = "FILE: expected phases in which each rank sends to each other rank once"


# What options of all probes share, by the one that goes wrong on purpose; then what one knows.
# What units/test_cells.cpp holds of any command line stands here once. FILE holds the text that
# stands behind the words.
REFUSED = {
    "trial": (
        1,
        [
            ("--byte 8", "no such option --byte; --help lists them"),
            ("--repetitions 9:3", "--repetitions: expected MIN:MAX such as 6:1000, got '9:3'"),
            (
                "--warmups 0",
                "--warmups: expected at least 1, as the first is the one whose data is verified",
            ),
            (
                "--cells FILE good 1\ngood 1Q\n",
                "FILE:2: expected a whole number of at least 0, got '1Q'",
            ),
        ],
    ),
    "alltoall": (
        3,
        [
            ("--radix=1", "--radix: expected at least 2, got 1"),
            ("--batch=0", "--batch: expected at least 1, got 0"),
            (f"--bytes={2**61}", f"--bytes: {2**61} bytes for each of 3 ranks overflow 64 bits"),
            (
                "--algorithm routed",
                "--phases: expected a file with the phases of the schedule, got none",
            ),
            ("--algorithm routed --phases /no", "/no: cannot be read"),
            ("PHASES 1 2 0\n", f"{_PHASES}, and rank 2 does not, or is not sent to"),
            ("PHASES 1 2\n", "FILE:1: expected 3 destinations, got 2"),
            ("PHASES 1 1 0\n", "FILE:1: expected each rank as a destination once, got 1 again"),
            ("PHASES # nothing\n1 2 x\n", "FILE:2: expected a rank below 3 or -, got x"),
        ],
    ),
    "bisect": (
        4,
        [
            ("--patterns FILE - 1 - -\n", "FILE:1: expected no rank sending to itself, got 1"),
            ("--patterns FILE - - - -\n1 -\n", "FILE:2: expected 4 destinations, got 2"),
            ("--patterns FILE # nothing\n", "FILE: expected at least one pattern, got none"),
        ],
    ),
    "hotspot": (
        4,
        [
            ("--rivals 2:3", "--victim: expected one pair FROM:TO"),
            (
                "--victim 0:1 --rivals 1:2",
                "--rivals: expected each rank in one pair only, got 1 twice",
            ),
            ("--victim 0:4", "--victim: expected two ranks below 4, got '0:4'"),
            (
                "--victim 0:1 --rivals-active 1",
                "--rivals-active: expected at most the 0 pairs of --rivals",
            ),
        ],
    ),
    "pingpong": (
        2,
        [
            ("--pairs 0", "--pairs: expected two ranks such as 0-1, or all-shifts, got '0'"),
            ("--peer 2", "--pairs: expected ranks below 2, the number of ranks, got '0-2'"),
            ("--peer 1 --pairs 0-1", "give either --peer or --pairs, not both"),
            ("--inner 0", "--inner: expected at least 1"),
        ],
    ),
    "sort": (
        2,
        [
            ("--m 0", "--m: expected at least 1, got 0"),
            (f"--n {2**53 + 1}", f"--n: expected at most 2^53, got {2**53 + 1}"),
            (
                f"--n {2**53} --m 64",
                f"--n, --m: expected at most 2^58 doubles, got {2**53} times 64",
            ),
            ("--print", "--print: expected n of at most 10000, got 1492992"),
        ],
    ),
}


@pytest.mark.parametrize(
    ("name", "ranks", "words", "message"),
    [(name, ranks, *row) for name, (ranks, rows) in REFUSED.items() for row in rows],
)
def test_refused(
    openmpi: Mpi, trial: Path, tmp_path: Path, name: str, ranks: int, words: str, message: str
) -> None:
    file = tmp_path / "file"
    before, _, text = words.replace("PHASES", "--algorithm routed --phases FILE").partition("FILE ")
    file.write_text(text)
    arguments = [*before.split(), *([str(file)] if text else [])]
    ended = openmpi.run(ranks, trial if name == "trial" else probe(openmpi, name), *arguments)
    assert (ended.status, ended.output) == (2, "")
    message = message.replace("FILE", str(file))
    # A rank other than the first says which it is.
    said = {re.sub(r"rank \d: ", "", line) for line in ended.said()}
    assert f"contend-{name}: {message}" in said


def test_only_one_rank_speaks(openmpi: Mpi, trial: Path) -> None:
    ended = openmpi.run(3, trial, "--bytes", "x")
    assert ended.status == 2
    assert len(ended.said()) == 1


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


@pytest.mark.parametrize("name", ["alltoall", "bisect", "hotspot", "pingpong", "sort"])
def test_the_example_of_help_runs(openmpi: Mpi, tmp_path: Path, name: str) -> None:
    program, patterns = probe(openmpi, name), tmp_path / "pairs.txt"
    patterns.write_text("1 - 3 -\n")
    page = openmpi.run(1, program, "--help").output
    words = page.partition(f"contend-{name} ")[2].partition("\n")[0]
    words = words.replace("pairs.txt", str(patterns))
    ended = openmpi.run(4, program, *words.split(), "--repetitions", "1", "--budget", "20")
    assert (ended.status, ended.said()) == (0, [])


def test_the_command_of_the_page_runs(openmpi: Mpi) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/reference/probes.md").read_text()
    (words,) = re.findall(r"contend-pingpong (--algorithm .*)\n", page)
    ended = openmpi.run(2, probe(openmpi, "pingpong"), *words.split(), "--budget", "20")
    assert (ended.status, ended.said()) == (0, [])
