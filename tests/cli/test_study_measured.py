"""``contend study`` on plans of measurements, as a user runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from contend.cli.app import run
from typed_commands import Typed


@pytest.fixture
def mpi(
    require_program: Callable[[str], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> str:
    monkeypatch.chdir(tmp_path)
    return require_program("mpicc.openmpi")


def mistry(mpi: str, *more: str) -> int:
    grid = ["--hosts", "1,2", "--ranks-per-host", "1", "--vectors", "64"]
    grid += ["-m", "8,8N,1000000000N"]
    return run(["study", "mistry2015", "--mpi", mpi, *grid, "--budget", "60s", *more])


def test_a_study_measures_refuses_and_reports(mpi: str, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--json", "out.json", "--markdown", "out.md", "--plot", "out.html"]
    assert mistry(mpi, *files) == 1
    output = capsys.readouterr()
    assert "6 cells within 60 s, on one host: N hosts are N groups of ranks there" in output.out
    assert output.err.endswith("contend: 2 of 6 cells failed; mistry2015 says why\n")

    result = json.loads(Path("out.json").read_text())
    points = {(point["length"], point["hosts"]): point for point in result["points"]}
    for place in (("8", 1), ("8", 2), ("8N", 1), ("8N", 2)):
        assert points[place]["status"] == "done"
        cell = result["cells"][points[place]["cell"]]
        assert cell["seats"].endswith("on one host")
        low, high = points[place]["ci95_s"]
        assert 0 < low <= points[place]["median_s"] <= high
    refused = points["1000000000N", 2]
    assert (refused["status"], refused["cause"]) == ("failed", "memory")
    # n = 64 vectors of 2 · 10^9 doubles, two arrays, all on this host.
    assert f"the data of 2 ranks on a host is {2 * 64 * 2 * 10**9 * 8:,} bytes" in refused["said"]

    text = Path("out.md").read_text()
    assert "**Constant local memory: wall clock of the exchange in" in text
    # The published numbers stand beside, the paper's and the poster's.
    assert "| 512N | paper | 1.14 | 1.64 | 2.09 | 2.28 | 2.30 |" in text
    assert "| 512N | poster | 0.60 | 1.64 | 2.09 | 2.28 | 2.30 |" in text
    assert "| 1024N | poster | 85.00 | 170.62 | ERR | ERR | ERR |" in text
    assert Path("out.html").read_text().count("<svg") == 2


def test_studies_are_listed_and_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: Typed
) -> None:
    monkeypatch.chdir(tmp_path)
    output = typed("study").out
    assert all(
        name in output for name in ("hoefler2008", "kutzner2005", "mistry2015", "verification")
    )
    assert typed("study --copy kutzner2005").out == "kutzner2005.toml\n"
    assert "[[measure]]" in Path("kutzner2005.toml").read_text()
    printed = typed("study --copy kutzner2005", status=2)
    assert printed.err == "contend: kutzner2005.toml: exists already\n"
