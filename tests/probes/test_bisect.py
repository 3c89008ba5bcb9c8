"""Patterns of simultaneous messages, and a pair whose channels others load."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

from contend.lab.runs import read_samples
from probe_programs import Mpi, probe

_FOUR = ("--repetitions", "4:4", "--precision", "0", "--verify")


def test_every_rank_receives_what_its_pattern_sends(openmpi: Mpi, tmp_path: Path) -> None:
    patterns, path = tmp_path / "patterns.txt", tmp_path / "bisect.samples"
    # One way, both ways, and a pattern in which two ranks sit out.
    patterns.write_text("# three patterns\n1 - 3 -\n1 0 3 2\n- - 0 -\n")
    arguments = ["--patterns", patterns, "--bytes", "1001", "--packets", "7", *_FOUR]
    ended = openmpi.run(4, probe(openmpi, "bisect"), *arguments, "--output", path)
    assert ended.status == 0, ended.errors
    raw = read_samples(path)
    assert raw.done
    assert raw.ends[0].verified is True
    labels = raw.cells[0].labels
    assert (labels["patterns"], labels["repeats"], labels["packets"]) == (3, 1, 7)
    # A warm-up of the first pattern, the three, and the first again.
    assert raw.frame["repetition"].n_unique() == 5
    timed = raw.frame.filter(~pl.col("warmup"))
    assert ((timed["received"] >= timed["start_s"]) & (timed["received"] <= timed["end_s"])).all()


def test_rivals_send_until_the_victim_is_done(openmpi: Mpi, tmp_path: Path) -> None:
    path = tmp_path / "hotspot.samples"
    pairs = ["--victim", "0:1", "--rivals", "2:3,4:5", "--rivals-active", "0,1,2"]
    load = ["--load-bytes", "65536", "--lead", "0.001", "--operations", "3", "--window", "4"]
    ended = openmpi.run(
        6, probe(openmpi, "hotspot"), *pairs, *load, "--bytes", "0,999", *_FOUR, "--output", path
    )
    assert ended.status == 0, ended.errors
    raw = read_samples(path)
    assert len(raw.ends) == 2 * 3 * 2
    assert all(end.verified for end in raw.ends.values())
    victim = raw.frame.filter(pl.col("rank") == 0)
    instants = ["begin", "after_1", "after_2", "after_3", "end_s"]
    for earlier, later in pairwise(instants):
        assert (victim[earlier] <= victim[later]).all()


@pytest.mark.parametrize(
    ("algorithm", "size", "window", "operations"),
    [
        ("round-trip", 8, 1, 10),
        ("round-trip", 1000, 1, 4),
        ("round-trip", 9000, 1, 1),
        ("stream", 8, 16, 10),
        # 4 messages of 1000 bytes are all that a sample may send, and one is sent in any case.
        ("stream", 1000, 4, 1),
        ("stream", 9000, 1, 1),
    ],
)
def test_long_messages_are_fewer_where_a_sample_is_limited(
    openmpi: Mpi, tmp_path: Path, algorithm: str, size: int, window: int, operations: int
) -> None:
    path = tmp_path / "hotspot.samples"
    asked = ["--victim", "0:1", "--rivals-active", "0", "--algorithm", algorithm]
    asked += ["--bytes", str(size), "--sample-bytes", "4500", *_FOUR, "--output", path]
    ended = openmpi.run(2, probe(openmpi, "hotspot"), *asked)
    assert ended.status == 0, ended.errors
    raw = read_samples(path)
    labels = raw.cells[0].labels
    assert (labels["window"], labels["operations"]) == (window, operations)
    instants = [name for name in raw.frame.columns if name.startswith("after_")]
    assert len(instants) == operations
