"""Messages between pairs, on every library."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from contend.lab.runs import read_samples
from probe_programs import Mpi

_FEW = ("--repetitions", "2:2", "--seed", "0", "--verify")


@pytest.mark.parametrize("ranks", [2, 3])
def test_every_way_is_verified(any_mpi: Mpi, pingpong: Path, tmp_path: Path, ranks: int) -> None:
    path = tmp_path / "pairs.samples"
    arguments = ["--algorithm", "all", "--bytes", "0,1,4097", "--pairs", "1-0,all-shifts"]
    ended = any_mpi.run(ranks, pingpong, *arguments, "--window", "5", *_FEW, "--output", path)
    assert ended.status == 0, ended.errors
    raw = read_samples(path)
    assert len(raw.ends) == 4 * 3 * 2
    assert all(end.verified for end in raw.ends.values())
    assert raw.frame.height == 4 * 3 * (2 + ranks) * 3
    labels = raw.cells[23].labels
    assert labels == {
        "algorithm": "both-ways",
        "bytes": 4097,
        "pairs": "shift-1",
        "window": 5,
        "inner": 1,
    }


def test_others_take_no_part(any_mpi: Mpi, pingpong: Path, tmp_path: Path) -> None:
    path = tmp_path / "peer.samples"
    arguments = ["--bytes", "8", "--peer", "2", "--inner", "3", *_FEW]
    assert any_mpi.run(3, pingpong, *arguments, "--output", path).status == 0
    raw = read_samples(path)
    assert raw.cells[0].labels["pairs"] == "0-2"
    assert raw.frame["rank"].unique().sort().to_list() == [0, 2]
    # A round trip ends at the rank that began it, after the other got the message.
    ends = raw.frame.pivot("rank", index="repetition", values="end_s")
    assert (ends["0"] > ends["2"] - 1e-3).all()
    assert raw.frame.filter(pl.col("end_s") < pl.col("start_s")).is_empty()


def test_window_is_narrowed_to_what_memory_is_meant_for_it(
    any_mpi: Mpi, pingpong: Path, tmp_path: Path
) -> None:
    path = tmp_path / "wide.samples"
    arguments = ["--algorithm", "stream", "--bytes", f"64,{128 << 20}", "--window", "7"]
    # No time: the cells are only named.
    ended = any_mpi.run(2, pingpong, *arguments, "--seed", 0, "--budget", 1e-9, "--output", path)
    assert ended.status == 0
    raw = read_samples(path)
    assert [raw.cells[cell].labels["window"] for cell in range(2)] == [7, 2]


def test_table_says_what_times_mean(any_mpi: Mpi, pingpong: Path) -> None:
    arguments = ["--algorithm", "pingpong,bounce,stream", "--bytes", "1024", *_FEW]
    ended = any_mpi.run(2, pingpong, *arguments)
    assert ended.status == 0
    _, one, bounced, other = ended.output.splitlines()
    assert " us one way, " in one
    assert " us one way, " in bounced
    assert " MB/s each way, " in other
