"""`contend measure` from outside: what it prints, keeps, and how it exits."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from contend.cli.measure.measuring import judged
from contend.lab.runs import Run, RunRecord
from contend.report.document import Document
from processes import complaints
from sample_files import Launch

Contend = Callable[..., subprocess.CompletedProcess[str]]

# Two ranks and a few samples of the library that compiles first.
FEW = ("-n", "2", "--mpi", "openmpi-4", "--repetitions", "6:6")


def test_json_is_all_that_is_printed(contend: Contend, tmp_path: Path) -> None:
    ended = contend(
        *("alltoall", *FEW, "--algorithm", "library,shift", "--bytes", "1K,2K"),
        *("--label", "flow control=on", "--wire", "1Gbit", "--json", "-"),
    )
    assert (ended.returncode, complaints(ended.stderr)) == (0, "")
    result = json.loads(ended.stdout)
    assert (result["probe"], result["ranks"], result["hosts"]) == ("alltoall", 2, 1)
    assert result["mpi"]["name"] == "Open MPI"
    assert result["labels"] == {"flow control": "on"}
    cells = {(cell["algorithm"], cell["bytes"]): cell for cell in result["cells"]}
    assert set(cells) == {(name, size) for name in ("library", "shift") for size in (1024, 2048)}
    for cell in cells.values():
        assert cell["n"] == 6
        assert cell["verified"] is True
        # (p - 1) bytes over the median
        assert cell["rate_Bps_per_rank"] == pytest.approx(cell["bytes"] / cell["median_s"])
    run = Run.load(tmp_path / result["run"])
    assert run.folder.parent.name == "contend-runs"
    assert run.record.wire_Bps == 125e6


def test_the_budget_comes_first_and_a_line_for_every_launch(
    contend: Contend, tmp_path: Path
) -> None:
    ended = contend(
        *("pingpong", *FEW, "--mpi", "mpich-4", "--bytes", "1K", "--launches", "2"),
        *("--budget", "1min", "--output", "both"),
    )
    assert (ended.returncode, complaints(ended.stderr)) == (0, "")
    lines = ended.stdout.splitlines()
    assert lines[0].startswith("pingpong under Open MPI 4.")
    assert " and MPICH 4." in lines[0]
    assert "4 launches within 60 s, kept in both" in lines[0]
    assert [line.split()[0] for line in lines[1:5]] == ["1/4", "2/4", "3/4", "4/4"]
    assert all("2 ranks: 1 cell in " in line for line in lines[1:5])
    # A run folder for each library, and what was asked of both.
    assert len(list((tmp_path / "both").glob("*/run.json"))) == 2
    assert (tmp_path / "both" / "session.json").is_file()
    again = contend("pingpong", "--resume", "both", "--json", "both.json")
    assert (again.returncode, complaints(again.stderr)) == (0, "")
    assert "0 launches within 60 s" in again.stdout
    results = json.loads((tmp_path / "both.json").read_bytes())["results"]
    assert sorted(result["mpi"]["name"] for result in results) == ["MPICH", "Open MPI"]


def test_a_budget_that_was_over_before_the_first_sample_falls_short(tmp_path: Path) -> None:
    """One that was over before the last cell does not."""
    for samples, short in (([], "nothing was measured"), ([1e-3] * 9, "")):
        run = Run.create(tmp_path / f"run-{len(samples)}", RunRecord("pingpong"))
        launch = Launch(2, name="pingpong", hosts=["n0", "n1"])
        for reason, results in (("budget", samples), ("skipped", [])):
            launch.cell(np.array(results), algorithm="pingpong", pairs="0-1", reason=reason)
        launch.write(run.raw_path(0))
        document = judged(Document(verdict="", tables=[], record=None), [run.fold()])
        assert document.shortfall.partition(":")[0] == short


def test_any_pattern_is_measured_pair_by_pair(contend: Contend, tmp_path: Path) -> None:
    (tmp_path / "ring.csv").write_text("round,source,target\n0,0,1\n0,1,0\n1,1,0\n")
    ended = contend(
        *("bisect", "-n", "2", "--mpi", "openmpi-4", "--pattern", "file:ring.csv"),
        *("--repeats", "3", "--bytes", "1K", "--packets", "2", "--messages", "pairs.csv"),
    )
    assert (ended.returncode, complaints(ended.stderr)) == (0, "")
    pairs = pl.read_csv(tmp_path / "pairs.csv")
    found = (
        pairs.group_by("pattern", "source_rank", "target_rank").len().sort("pattern", "source_rank")
    )
    # Every round is a pattern, measured three times.
    assert found.rows() == [(0, 0, 1, 3), (0, 1, 0, 3), (1, 1, 0, 3)]
    assert (pairs["bandwidth_Bps"] > 0).all()
