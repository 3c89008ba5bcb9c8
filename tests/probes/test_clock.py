"""Clocks of ranks that show other times and run at other speeds.

Each rank has a time namespace of its own, which sets its CLOCK_MONOTONIC off by some time, and a
preloaded library, which makes it drift. CLOCK_REALTIME stays the same for all: the truth.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from contend.lab.runs import RawSamples, read_samples
from probe_programs import Mpi

# On a machine that is busy with other things messages are late now and then.
_TOLERANCE = 100e-6


@dataclass(frozen=True)
class Wrong:
    """What is wrong with a rank's clock: seconds, and seconds in a second."""

    offset: int
    drift: float


_CLOCKS = [Wrong(0, 0.0), Wrong(1000, 50e-6), Wrong(-500, -80e-6), Wrong(3, 0.0)]


@pytest.fixture(scope="module")
def measured(
    openmpi: Mpi, trial: Path, clock_shim: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[RawSamples, float]:
    """What ranks with wrong clocks measured in some seconds, and since when they drifted."""
    path = tmp_path_factory.mktemp("clock") / "clock.samples"
    since = time.clock_gettime(time.CLOCK_MONOTONIC)
    command = [openmpi.launcher]
    for clock in _CLOCKS:
        drift = f"TRIAL_DRIFT={clock.drift}", f"TRIAL_SINCE={since + clock.offset}"
        # Mapping the user makes it work for others than root as well.
        unshare = ["unshare", "--user", "--map-current-user", "--time"]
        unshare += ["--monotonic", str(clock.offset)]
        rank = [*unshare, "env", f"LD_PRELOAD={clock_shim}", *drift, str(trial)]
        rank += ["--algorithm", "truth", "--repetitions", "1:100000000", "--precision", "0"]
        rank += ["--bytes", "1,2,3,4", "--budget", "6", "--output", str(path)]
        command += [*([":"] if clock is not _CLOCKS[0] else []), "-n", "1", *rank]
    # Messages through shared memory alone need no rights that another user namespace takes away.
    ended = openmpi.run_command(command, {"OMPI_MCA_btl_vader_single_copy_mechanism": "none"})
    assert ended.status == 0, ended.errors
    return read_samples(path), since


def test_clocks_are_told_apart(measured: tuple[RawSamples, float]) -> None:
    clocks = measured[0].clocks
    assert len(clocks) > 3
    first, last = clocks[0], clocks[-1]
    for rank, clock in enumerate(_CLOCKS):
        # Global time is rank 0's: its clock is right by definition.
        offset = first.offset_s[rank] - first.offset_s[0]
        assert offset == pytest.approx(-clock.offset, abs=0.1)
        # A clock that gains loses against the global one; (1 + d)^-1 - 1 = -d within d^2.
        assert last.drift[rank] == pytest.approx(-clock.drift, abs=10e-6)


def test_offsets_follow_the_drift(measured: tuple[RawSamples, float]) -> None:
    raw, since = measured
    last = raw.clocks[-1]
    # Rank 0's clock has neither offset nor drift: global time is its own minus where it began.
    passed = last.at_s - last.offset_s[0] - since
    for rank, clock in enumerate(_CLOCKS):
        expected = -clock.offset - clock.drift * passed
        assert last.offset_s[rank] - last.offset_s[0] == pytest.approx(expected, abs=_TOLERANCE)


def test_residuals_are_small_although_clocks_drifted(measured: tuple[RawSamples, float]) -> None:
    clocks = measured[0].clocks
    # Drifts are known from the third synchronisation on.
    known = clocks[3:]
    for rank, clock in enumerate(_CLOCKS):
        residuals = sorted(abs(found.residual_s[rank]) for found in known)
        assert residuals[len(residuals) // 2] < _TOLERANCE
        if abs(clock.drift) > 0:
            # What an offset alone would have been wrong by, from the first to the last.
            uncorrected = abs(clock.drift) * (clocks[-1].at_s - clocks[0].at_s)
            assert uncorrected > 2 * _TOLERANCE


def test_global_times_agree_with_the_truth(measured: tuple[RawSamples, float]) -> None:
    raw, _ = measured
    settled = raw.frame.filter(pl.col("start_s") > raw.clocks[2].at_s, ~pl.col("warmup"))
    # Global minus true time is the same on all ranks; at the median, as a rank may be held up
    # between its two looks at clocks.
    error = (
        settled.with_columns(shown=pl.col("now") - pl.col("true_s"))
        .group_by("rank")
        .agg(pl.col("shown").median())
        .sort("rank")["shown"]
    )
    assert error.len() == len(_CLOCKS)
    assert (error - error[0]).abs().max() < _TOLERANCE


def test_ranks_on_one_kernel_share_its_clock(openmpi: Mpi, trial: Path, tmp_path: Path) -> None:
    path = tmp_path / "shared.samples"
    assert openmpi.run(3, trial, "--output", path).status == 0
    raw = read_samples(path)
    assert len(raw.clocks) == 1
    assert raw.clocks[0].round_trip_s == (0.0, 0.0, 0.0)
    assert len(set(raw.clocks[0].offset_s)) == 1


def test_clocks_can_be_taken_for_different_ones(openmpi: Mpi, trial: Path, tmp_path: Path) -> None:
    path = tmp_path / "apart.samples"
    assert openmpi.run(3, trial, "--clocks", "apart", "--output", path).status == 0
    first = read_samples(path).clocks[0]
    assert first.round_trip_s[0] == 0.0
    assert min(first.round_trip_s[1:]) > 0.0
    # The truth is 0, and lies within half of a round trip.
    for rank in range(1, 3):
        error = abs(first.offset_s[rank] - first.offset_s[0])
        assert error <= sum(first.round_trip_s) / 2
