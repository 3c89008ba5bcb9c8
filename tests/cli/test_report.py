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


def test_all_runs_of_a_folder_are_compared_with_the_first(measured: Path, typed: Typed) -> None:
    found = json.loads(typed("report", measured, "--json", "-").out)
    assert [Path(one["run"]).name for one in found["results"]] == ["first", "second"]
    (comparison,) = found["comparison"]
    assert [cell["differs"] for cell in comparison["cells"]] == [True] * 4


def test_a_size_can_be_drawn(measured: Path, tmp_path: Path) -> None:
    path = tmp_path / "it.svg"
    assert run(["report", str(measured / "first"), "--plot", str(path), "--at", "4K"]) == 0
    assert "4 KiB" in path.read_text()


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
