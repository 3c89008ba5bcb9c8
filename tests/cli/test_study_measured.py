"""``contend study`` on plans of measurements, as a user runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from contend.cli.app import run


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


def test_what_is_there_is_not_run_again(mpi: str, capsys: pytest.CaptureFixture[str]) -> None:
    mistry(mpi)
    capsys.readouterr()
    runs = sorted(Path("mistry2015/runs").glob("*/samples.parquet"))
    before = {path: path.stat().st_mtime_ns for path in runs}
    assert mistry(mpi) == 1
    assert "5 of 5 cells are kept from before in mistry2015" in capsys.readouterr().out
    assert before == {path: path.stat().st_mtime_ns for path in runs}
    # m = 8 and 8N are the same question of one host.
    assert len(before) == 5


def test_libraries_and_published_numbers_side_by_side(
    mpi: str, require_program: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    other = require_program("mpicc.mpich")
    arguments = ["--only", "sweep", "--ranks", "2", "--ranks-per-host", "1", "--bytes", "1K,2M"]
    arguments += ["--algorithm", "library,shift-barrier", "--mpi", mpi, "--mpi", other]
    arguments += ["--label", "flow control=on", "--wire", "1Gbit/s", "--budget", "60s"]
    assert run(["study", "kutzner2005", *arguments, "--json", "-"]) == 0
    points = json.loads(capsys.readouterr().out)["points"]
    assert {point["library"].split()[0] for point in points} == {"Open", "MPICH"}
    assert {point["conditions"] for point in points} == {"flow control on"}
    for point in points:
        rate = (point["ranks"] - 1) * point["bytes"] / point["median_s"]
        assert point["rate_Bps_per_rank"] == pytest.approx(rate)


def test_nothing_is_launched_where_the_library_is_missing(
    mpi: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["study", "mistry2015", "--mpi", "openmpi-1.0"]) == 3
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "openmpi-1.0" in error


def test_a_host_file_is_too_short(
    mpi: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four nodes asked of two hosts, which nobody needs to reach for that."""
    hosts = tmp_path / "hosts"
    hosts.write_text("n0\nn1\n")
    arguments = [
        "--only",
        "sweep",
        "--ranks",
        "4",
        "--ranks-per-host",
        "1",
        "--bytes",
        "1",
        "--mpi",
        mpi,
    ]
    arguments += ["--on", str(hosts)]
    assert run(["study", "kutzner2005", *arguments]) == 1
    output = capsys.readouterr().out
    assert "ERR hosts: " in output


def test_studies_are_listed_and_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["study"]) == 0
    output = capsys.readouterr().out
    assert all(
        name in output for name in ("hoefler2008", "kutzner2005", "mistry2015", "verification")
    )
    assert run(["study", "--copy", "kutzner2005"]) == 0
    assert capsys.readouterr().out == "kutzner2005.toml\n"
    assert "[[measure]]" in Path("kutzner2005.toml").read_text()
    assert run(["study", "--copy", "kutzner2005"]) == 2
    assert capsys.readouterr().err == "contend: kutzner2005.toml: exists already\n"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("--hosts 0", "--hosts: expected numbers from 1, got 0"),
        ("--ranks 4,4", "--ranks: expected every number once, got 4 again"),
        ("--budget soon", "--budget: expected a time such as 90s, 5min or 1.5h, got 'soon'"),
        ("--budget 0", "--budget: expected a time above 0 such as 90s or 5min, got '0'"),
        ("--wire fast", "--wire: expected a rate such as 1Gbit/s, 12.5GB/s or 4xHDR, got 'fast'"),
        ("--bytes 1K", "--bytes: no measurement of mistry2015 takes it"),
        ("--bytes much", "--bytes: expected a size such as 512, 64K or 1MiB, got 'much'"),
        ("--precision 2", "--precision: expected a share below 100%, got '2'"),
        ("--on nowhere", "nowhere"),
        ("--plot x.jpeg", "expected a figure's name ending in"),
        ("--only swap", "--only: expected one of sort, got swap"),
        ("--samples 9", "--samples does not belong to the study mistry2015"),
        ("--patterns 9", "--patterns does not belong to the study mistry2015"),
    ],
)
def test_wrong_options_are_one_line(
    arguments: str,
    complaint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["study", "mistry2015", "--vectors", "64", *arguments.split()]) == 2
    error = capsys.readouterr().err
    assert error.startswith("contend: ")
    assert complaint in error
    assert error.count("\n") == 1
    assert not Path("mistry2015").exists()
