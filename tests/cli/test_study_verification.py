"""The simulation held against a real, emulated network, at a size that fits a test."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from contend.measurement.pairs import patterns_of

from contend.cli.app import run
from contend.loading import load
from contend.measurement import beside_predictions
from contend.pattern import parse
from contend.runs import Run

_SMALL = ["--rate", "20Mbit", "--bytes", "20K", "--packets", "5", "--mpi", "openmpi"]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory, permitted: None) -> Path:
    """The 16-node figure, six patterns."""
    folder = tmp_path_factory.mktemp("verification")
    out = ["--out", str(folder / "out"), "--json", str(folder / "found.json")]
    fabric = ["--fabric", "fig1@fig1", "--patterns", "6"]
    status = run(["study", "verification", *fabric, *_SMALL, *out, "--plot", str(folder / "f.svg")])
    assert status == 0
    return folder


def test_pairs_that_share_get_less(measured: Path) -> None:
    found = json.loads((measured / "found.json").read_text())["results"][0]
    assert found["messages"] + found["late"] == 6 * 8
    medians = {one["congestion"]: one["median"] for one in found["by_congestion"]}
    # By definition an uncontended pair gets γ. Two that share get half each, with room here for a
    # machine that does much else.
    assert medians[1] == pytest.approx(1.0)
    assert 0.3 < medians[2] < 0.75
    assert abs(found["effective"] - found["models"][0]["effective"]) < 0.15
    assert (measured / "f.svg").stat().st_size > 0


def test_patterns_are_those_that_are_simulated(measured: Path) -> None:
    found = Run.load(measured / "out" / "fig1-fig1" / "run-1")
    fabric = load("fig1", route="fig1")
    pairs = beside_predictions(found, fabric, list(range(16)))
    assert len(pairs) == 6 * 8
    drawn = parse("bisect", 16)
    for number, to in enumerate(patterns_of(found)):
        source, target = drawn.messages(0, seed=1, sample=number)
        assert {(int(s), int(t)) for s, t in zip(source, target, strict=True)} == {
            (rank, int(peer)) for rank, peer in enumerate(to) if peer >= 0
        }


def test_kept_fabrics_are_not_measured_again(
    measured: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = measured / "out"
    before = pl.read_parquet(out / "fig1-fig1" / "pairs.parquet")
    arguments = ["study", "verification", "--fabric", "fig1@fig1", *_SMALL, "--out", str(out)]
    assert run([*arguments, "--patterns", "6"]) == 0
    assert pl.read_parquet(out / "fig1-fig1" / "pairs.parquet").equals(before)
    assert not (out / "fig1-fig1" / "run-2").exists()
    assert run([*arguments, "--patterns", "7"]) == 2
    assert "choose another folder with --out" in capsys.readouterr().err
