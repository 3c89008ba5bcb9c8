"""The measuring loop, with operations that go wrong."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from contend.lab.runs import read_samples
from probe_programs import Mpi


def test_samples_are_kept_with_their_ranks(openmpi: Mpi, trial: Path, tmp_path: Path) -> None:
    path = tmp_path / "good.samples"
    arguments = ["--bytes", "1,2", "--repetitions", "9:9", "--warmups", "2", "--output", path]
    ended = openmpi.run(3, trial, *arguments)
    assert (ended.status, ended.output) == (0, "")
    raw = read_samples(path)
    assert (raw.probe.probe, raw.probe.ranks, raw.probe.cells) == ("trial", 3, 2)
    assert raw.probe.library.startswith("Open MPI v4")
    assert len(set(raw.ranks.pid)) == 3
    assert raw.done
    assert raw.torn == 0
    # Two warm-ups and nine samples of three ranks in each of two cells.
    assert raw.frame.height == 2 * (2 + 9) * 3
    assert raw.frame["warmup"].sum() == 2 * 2 * 3
    # Only the first warm-up is looked at.
    assert raw.frame.filter("verified").select("repetition").unique().to_series().to_list() == [0]
    assert {end.reason for end in raw.ends.values()} == {"repetitions"}
    # Nobody starts before the agreed instant; a start takes no longer than the end.
    late = raw.frame.select((pl.col("start_s") - pl.col("agreed_s")).min()).item()
    assert late > -1e-6
    assert raw.frame.select((pl.col("end_s") - pl.col("start_s")).min()).item() >= 0


def test_rank_without_work_has_no_samples(openmpi: Mpi, trial: Path, tmp_path: Path) -> None:
    path = tmp_path / "alone.samples"
    ended = openmpi.run(3, trial, "--algorithm", "alone,good", "--seed", 0, "--output", path)
    assert ended.status == 0
    raw = read_samples(path)
    taking_part = raw.frame.group_by("cell").agg(pl.col("rank").unique().sort()).sort("cell")
    # Rank 0 leads, but only rank 1 works; then all do.
    assert taking_part["rank"].to_list() == [[1], [0, 1, 2]]


@pytest.mark.parametrize(
    ("how", "reason", "verified", "said", "status"),
    [
        ("unsupported", "skipped", None, "made for powers of two", 0),
        ("memory", "failed", None, "not enough memory for the data", 1),
        ("wrong", "failed", False, "rank 1: byte 7 is not there", 1),
    ],
)
def test_cell_that_fails_lets_others_go_on(
    openmpi: Mpi,
    trial: Path,
    tmp_path: Path,
    how: str,
    reason: str,
    verified: bool | None,
    said: str,
    status: int,
) -> None:
    path = tmp_path / "failed.samples"
    arguments = ["--algorithm", f"{how},good", "--seed", 0, "--repetitions", "6:6"]
    ended = openmpi.run(3, trial, *arguments, "--output", path)
    assert (ended.status, ended.said()) == (status, [])
    raw = read_samples(path)
    assert (raw.ends[0].reason, raw.ends[0].verified, raw.ends[0].said) == (reason, verified, said)
    assert (raw.ends[1].reason, raw.ends[1].verified) == ("repetitions", True)
    assert raw.frame.filter(pl.col("cell") == 1, ~pl.col("warmup")).height == 6 * 3


def test_wrong_data_in_a_late_sample_is_found_when_all_are_verified(
    openmpi: Mpi, trial: Path, tmp_path: Path
) -> None:
    path = tmp_path / "late.samples"
    arguments = ["--algorithm", "wrong-later", "--repetitions", "9:9", "--output", path]
    assert openmpi.run(2, trial, *arguments).status == 0
    assert openmpi.run(2, trial, *arguments, "--verify").status == 1
    raw = read_samples(path)
    # The fourth is the last.
    assert raw.frame["repetition"].max() == 3
    assert raw.frame["verified"].all()
    assert raw.ends[0].said == "rank 1: byte 7 is not there"


def test_stamps_that_do_not_fit_the_columns_end_the_program(openmpi: Mpi, trial: Path) -> None:
    ended = openmpi.run(2, trial, "--algorithm", "forgetful")
    assert ended.status != 0
    message = "an operation has more or fewer stamps than columns"
    assert {line.partition(": rank ")[2][3:] for line in ended.said()} == {message}


def test_killed_rank_leaves_whole_samples(openmpi: Mpi, trial: Path, tmp_path: Path) -> None:
    path = tmp_path / "killed.samples"
    arguments = ["--algorithm", "killed", "--repetitions", "100:100", "--output", path]
    ended = openmpi.run(2, trial, *arguments)
    assert ended.status != 0
    raw = read_samples(path)
    assert not raw.done
    # The rank dies in its twentieth sample.
    assert raw.frame["repetition"].max() == 18
    assert raw.torn == 0


def test_table_without_a_file(openmpi: Mpi, trial: Path) -> None:
    ended = openmpi.run(2, trial, "--bytes", "1,2", "--seed", 0, "--repetitions", "6:6")
    assert ended.status == 0
    title, first, second = ended.output.splitlines()
    assert title.split()[:3] == ["algorithm", "bytes", "samples"]
    assert first.split()[:2] == ["good", "1"]
    assert second.split()[:2] == ["good", "2"]


def test_cells_from_a_file(openmpi: Mpi, trial: Path, tmp_path: Path) -> None:
    cells = tmp_path / "cells"
    cells.write_text("good 4096\n\n # nothing\nunsupported 1 # and why\n2\n", encoding="utf-8")
    path = tmp_path / "cells.samples"
    ended = openmpi.run(2, trial, "--cells", cells, "--output", path, "--repetitions", "6:6")
    assert ended.status == 0
    raw = read_samples(path)
    labels = [raw.cells[number].labels for number in sorted(raw.cells)]
    assert labels == [
        {"algorithm": "good", "bytes": 4096},
        {"algorithm": "unsupported", "bytes": 1},
        {"algorithm": "good", "bytes": 2},
    ]


def test_no_time_skips_cells(openmpi: Mpi, trial: Path, tmp_path: Path) -> None:
    path = tmp_path / "hurry.samples"
    ended = openmpi.run(2, trial, "--bytes", "1,2,3", "--budget", 1e-9, "--output", path)
    assert ended.status == 0
    raw = read_samples(path)
    assert {(end.reason, end.said) for end in raw.ends.values()} == {("skipped", "no time left")}
    assert sorted(raw.ends) == [0, 1, 2]


def test_budget_is_shared_over_cells(openmpi: Mpi, trial: Path, tmp_path: Path) -> None:
    path = tmp_path / "budget.samples"
    arguments = ["--bytes", "1,2,3", "--budget", "3", "--precision", "0"]
    ended = openmpi.run(2, trial, *arguments, "--repetitions", "6:100000000", "--output", path)
    assert ended.status == 0
    raw = read_samples(path)
    # No cell is ever done, so each has all of its share of the time and ends with the budget.
    assert [raw.ends[cell].reason for cell in range(3)] == ["budget"] * 3
    assert raw.frame["cell"].unique().sort().to_list() == [0, 1, 2]
