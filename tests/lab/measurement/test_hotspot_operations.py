"""Every operation of a victim, where long messages have fewer of them in a sample."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from contend.lab.measurement import (
    hotspot_options,
    measure_each,
    victim_operations,
    victim_samples,
)


@pytest.mark.parametrize(("wire", "operations"), [(None, 10), (1e5, 1)])
def test_operations_are_those_that_a_sample_had(
    wire: float | None, operations: int, tmp_path: Path, require_program: Callable[[str], str]
) -> None:
    require_program("mpicc.openmpi")
    (run,) = measure_each(
        ("openmpi-4",),
        "hotspot",
        hotspot_options(2, (0,), bytes="100,12K", operations=10, repetitions="6:6", precision=0),
        ranks=(2,),
        budget=60,
        wire=wire,
        folder=tmp_path / "run",
    )
    assert run.record.wire_Bps == wire
    found = victim_operations(run)
    counts = found.group_by("algorithm", "bytes").len().sort("algorithm", "bytes")
    assert counts.rows() == [
        (name, size, 6 * each)
        for name in ("round-trip", "stream")
        for size, each in ((100, 10), (12 << 10, operations))
    ]
    assert (found["seconds"] > 0).all()
    assert found.null_count().sum_horizontal().item() == 0
    # A sample's operations follow each other at once: what repeats are the samples.
    samples = victim_samples(found)
    assert samples.group_by("algorithm", "bytes").len()["len"].to_list() == [6] * 4
    # A stream of a window acknowledged at once, a round trip of two messages.
    one_way = found.filter((pl.col("algorithm") == "round-trip") & (pl.col("bytes") == 100))
    assert (one_way["bandwidth_Bps"] * one_way["seconds"] - 100).abs().max() < 1e-6
