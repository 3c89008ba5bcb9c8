"""``contend report``: what it prints, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contend.cli.app import run
from measured_runs import alltoall_run
from typed_commands import Typed

KEPT = Path(__file__).resolve().parents[1] / "data" / "kept"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("measured")
    small = {"launches": 1, "count": 8, "sizes": (64, 4096), "schedules": ("linear", "bruck")}
    alltoall_run(folder / "first", **small)
    alltoall_run(folder / "second", seed=2, slower=2.0, **small)
    return folder


def test_tables_are_printed(measured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", str(measured / "first")]) == 0
    printed = capsys.readouterr().out
    assert "16 ranks on 16 hosts" in printed
    assert "Fastest schedule" in printed
    assert "reading the clock" in printed


def test_all_runs_of_a_folder_are_compared_with_the_first(measured: Path, typed: Typed) -> None:
    found = json.loads(typed("report", measured, "--json", "-").out)
    assert [Path(one["run"]).name for one in found["results"]] == ["first", "second"]
    (comparison,) = found["comparison"]
    assert [cell["differs"] for cell in comparison["cells"]] == [True] * 4


def test_everything_is_written(measured: Path, tmp_path: Path, typed: Typed) -> None:
    targets = {name: tmp_path / f"it.{name}" for name in ("markdown", "csv", "json")}
    options = [word for name, path in targets.items() for word in (f"--{name}", str(path))]
    page = tmp_path / "it.html"
    printed = typed("report", measured / "first", *options, "--plot", page)
    assert targets["markdown"].read_text().startswith("At 4 KiB to each other rank")
    assert targets["csv"].read_text().count("\n") == 5
    assert json.loads(targets["json"].read_text())["probe"] == "alltoall"
    assert page.read_text().count("<svg") == 2
    assert "Fastest schedule" in printed.out


def test_a_size_can_be_drawn(measured: Path, tmp_path: Path) -> None:
    path = tmp_path / "it.svg"
    assert run(["report", str(measured / "first"), "--plot", str(path), "--at", "4K"]) == 0
    assert "4 KiB" in path.read_text()


def test_no_run_and_damaged_runs(measured: Path, tmp_path: Path, typed: Typed) -> None:
    assert "no run is here" in typed("report", tmp_path, status=2).err
    (tmp_path / "run.json").write_text("{")
    printed = typed("report", tmp_path, status=2)
    assert "run.json: expected what contend keeps of a run" in printed.err


@pytest.mark.parametrize(
    ("kept", "picture", "told"),
    [
        ("bisect", "pairs", "mean, the effective bisection bandwidth"),
        ("hotspot", "hotspot", "The victim's bandwidth while k other pairs send"),
    ],
)
def test_a_run_is_reported_by_what_its_probe_is_for(
    kept: str, picture: str, told: str, tmp_path: Path, typed: Typed
) -> None:
    path = tmp_path / "it.svg"
    output = typed("report", KEPT / kept, "--plot", path).out
    assert told in output
    assert "was measured" in output
    drawn = path.read_bytes()
    other = tmp_path / "named.svg"
    again = ["--plot", str(other), "--picture", picture]
    assert run(["report", str(KEPT / kept), *again]) == 0
    assert other.read_bytes() == drawn
