"""``contend measure bisect`` over routes that hashes draw, run by real ranks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from typed_commands import Typed

_QUICK = ("--mpi", "openmpi-4", "--bytes", "100K", "--packets", "1", "--budget", "2min")


@pytest.fixture(scope="module", autouse=True)
def _library(require_program: Callable[[str], str]) -> None:
    require_program("mpicc.openmpi")


def test_pairs_stand_beside_simulated_draws(permitted: None, tmp_path: Path, typed: Typed) -> None:
    found, pairs, figure = (tmp_path / name for name in ("found.json", "pairs.csv", "figure.svg"))
    where = ["-n", "4", "--on", "emulated:xgft:2;2,2;1,2", "--route", "ecmp", "--rate", "20Mbit"]
    files = ["--json", str(found), "--messages", str(pairs), "--plot", str(figure)]
    asked = ["--patterns", "20", "--launches", "2", "--output", str(tmp_path / "run"), *files]
    told = typed("measure bisect", *where, *_QUICK, *asked).out
    assert "measured against simulated draws" in told
    assert "The slowest message of every pattern" in told
    result = json.loads(found.read_text())["pairs"]
    assert "agreement" not in result
    draws = result["draws"]
    # Two messages of each of 20 patterns in each of two launches.
    assert (draws["launches"], draws["messages"] + draws["late"]) == (2, 80)
    assert draws["gamma"] > 0
    # One message of two meets the other, or none does.
    assert {part["divisor"] for part in draws["slowest"]["by_part"] if part["simulated"]} == {1, 2}
    written = pl.read_csv(pairs)
    assert len(written) == 80
    assert "congestion" not in written.columns
    assert figure.read_text().startswith("<?xml")
