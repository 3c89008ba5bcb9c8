"""What `contend measure` refuses: in one line, and nothing is left of it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from contend.cli.app import run

Contend = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def contend(
    tmp_path: Path,
    require_program: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Contend:
    """`contend(*arguments)` runs the verb in this process, as nothing is launched."""
    require_program("mpicc.openmpi")
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        status = run(["measure", *arguments])
        said = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, status, said.out, said.err)

    return call


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["-n", "two"], 2, "--ranks: expected numbers such as 2,4,8 or 1-4, got 'two'"),
        ([], 2, "--ranks: expected a number of ranks, such as -n 4"),
        (["-n", "2", "--budget", "soon"], 2, "--budget: expected a time such as 90s, 5min or 1.5h"),
        (["-n", "2", "--bytes", "1X"], 2, "--bytes: expected a size such as 512, 64K or 1MiB"),
        (["-n", "2", "--bytes", "9999999T"], 2, "is more bytes than 64 bits can count"),
        (["-n", "2", "--wire", "fast"], 2, "--wire: expected a rate such as 1Gbit/s"),
        (["-n", "2", "--precision", "x"], 2, "--precision: expected a share such as 5%"),
        (["-n", "4", "--ranks-per-host", "2"], 2, "need 2 hosts"),
        (["-n", "2", "--on", "nowhere"], 2, "nowhere: no such file"),
        (["-n", "2", "--mpi", "lam"], 3, "no MPI library lam is usable on this machine"),
        (["-n", "2", "--mpi", "./lam"], 2, "lam: no such folder or program"),
        (["-n", "2", "--launcher", "no-such"], 3, "the launcher no-such is not installed"),
        (["-n", "2", "--memory", "1MiB"], 3, "16,777,216 bytes (16 MiB), and 1 MiB are free"),
        (["--resume", "nowhere"], 2, "there is no session here"),
        (["-n", "2", "--algoritm", "all"], 2, "--algoritm"),
    ],
)
def test_what_cannot_be_is_one_line(
    contend: Contend, tmp_path: Path, arguments: list[str], status: int, said: str
) -> None:
    ended = contend("alltoall", *arguments)
    assert ended.returncode == status
    assert ended.stderr.startswith("contend: ")
    assert ended.stderr.count("\n") == 1
    assert said in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_hot_spot_takes_no_routes_that_hashes_draw(contend: Contend, tmp_path: Path) -> None:
    ended = contend("hotspot", "--on", "emulated:xgft:2;2,2;1,2", "--route", "ecmp")
    assert ended.returncode == 2
    assert ended.stderr.startswith("contend: routes by ecmp are drawn anew for every sample, and")
    assert list(tmp_path.iterdir()) == []


def test_unknown_words_of_the_probe_are_its_own(contend: Contend) -> None:
    ended = contend("alltoall", "-n", "2", "--mpi", "openmpi-4", "--algorithm", "shifty")
    assert ended.returncode == 2
    assert "--algorithm: got 'shifty'" in ended.stderr
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--pattern", "alltoall"], "alltoall: a rank sends or receives several messages at once"),
        (
            ["--pattern", "shift:1", "--two-way"],
            "two-way pairs are for the pattern bisect",
        ),
        (["--pattern", "file:nowhere.csv"], "nowhere.csv"),
        (["--messages", "pairs.txt"], "--messages: expected a name that ends in .csv or .parquet"),
        (["--mpi", "lam"], "no MPI library lam is usable on this machine"),
    ],
)
def test_pairs_that_cannot_be_measured_leave_nothing(
    contend: Contend, tmp_path: Path, arguments: list[str], said: str
) -> None:
    ended = contend("bisect", "-n", "4", *arguments, "--output", "run")
    assert ended.returncode == (3 if "lam" in arguments else 2)
    assert ended.stderr.count("\n") == 1
    assert said in ended.stderr
    assert list(tmp_path.iterdir()) == []
