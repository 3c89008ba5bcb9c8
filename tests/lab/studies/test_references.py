"""Published numbers and what the wire alone allows."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from contend.lab.studies import (
    GridPlace,
    Known,
    find_plan,
    read_plan,
)


def test_a_number_stands_beside_points_that_all_it_says_is_true_of() -> None:
    known = Known("sweep", ranks=4, algorithm="library", bytes=1024, rate_Bps=3.0)
    there = GridPlace("sweep", 4, 4, 1, algorithm="library", bytes=1024)
    assert known.placed
    assert known.beside(there)
    assert not known.beside(dataclasses.replace(there, ranks=8))
    assert not known.beside(dataclasses.replace(there, measure="other"))


def test_a_number_of_unknown_ranks_or_schedule_has_no_place() -> None:
    assert not Known("sweep", algorithm="library", bytes=1024).placed
    assert not Known("sweep", ranks=4, bytes=1024).placed


def test_seconds_become_the_rate_of_a_rank() -> None:
    """(p - 1) bytes / time: 31 · 128 KiB / 0.069 s = 56.2 MiB/s."""
    known = Known("sweep", ranks=32, algorithm="shift", bytes=128 << 10, seconds=0.069)
    assert known.rate_of(32) == pytest.approx(31 * (128 << 10) / 0.069)
    assert known.rate_of(None) is None


def test_table_5_is_about_1_4_times_what_the_wire_takes() -> None:
    """Measured over bound: 1.41, 1.35, 1.38, 1.35 for N = 3, 9, 18, 36."""
    ratios = [
        round(known.seconds / bound, 2)
        for known in read_plan(find_plan("mistry2015")).known()
        if (known.source, str(known.length)) == ("paper", "512N")
        and known.seconds is not None
        and known.wire_Bps is not None
        and (bound := known.least_s(known.wire_Bps)) is not None
    ]
    assert ratios == [1.41, 1.35, 1.38, 1.35]


def test_errors_have_no_seconds(grid_file: Path) -> None:
    numbers = [
        (known.hosts, known.seconds, known.failed) for known in read_plan(grid_file).known("sort")
    ]
    assert numbers == [(1, 0.5, False), (2, 0.25, False), (3, None, True)]
