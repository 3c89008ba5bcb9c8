"""One clock for all ranks: offsets add up along the tree, drift is followed, uncertainty grows."""

from __future__ import annotations

import numpy as np
import pytest

from contend.profiling.clocks import LinearClock, common_clocks, counter_of, parent_of
from contend.profiling.record_form import CLOCK


def _clock(*offsets: tuple[int, int, int], ticks: tuple[int, int] = (0, 10**9)) -> np.void:
    clock = np.zeros(1, CLOCK)
    clock["known"] = len(offsets)
    for index, offset in enumerate(offsets):
        clock["offsets"][0, index] = offset
    clock["start_ticks"], clock["end_ticks"] = ticks
    clock["end_ns"] = 10**9
    found: np.void = clock[0]
    return found


def test_parents_form_a_binomial_tree() -> None:
    assert [parent_of(rank) for rank in range(9)] == [0, 0, 0, 2, 0, 4, 4, 6, 0]


def test_offsets_and_uncertainties_add_up_along_the_tree() -> None:
    """Rank 3 follows 2, which follows 0: 100 + 1000, and 5 + 7."""
    clocks = {0: _clock(), 2: _clock((0, 1000, 7)), 3: _clock((0, 100, 5))}
    common = common_clocks(clocks, {0: "a", 2: "b", 3: "c"})
    assert common[3].on(np.array([50])).tolist() == [1150]
    assert common[3].uncertainty == 12
    assert common[0].on(np.array([50])).tolist() == [50]


def test_drift_is_linear_between_two_comparisons() -> None:
    """Ahead by 0 at the beginning and by 2,000 ns after a second: by 500 after a quarter."""
    clocks = {0: _clock(), 1: _clock((0, 0, 10), (10**9, 2000, 20))}
    common = common_clocks(clocks, {0: "a", 1: "b"})
    assert common[1].on(np.array([0, 250_000_000, 10**9])).tolist() == [
        0,
        250_000_500,
        10**9 + 2000,
    ]
    assert common[1].uncertainty == 20


def test_drifts_compose() -> None:
    """t' = t (1 + 1e-6), t'' = t' (1 + 2e-6) + 100, at t = 1e9: 1e9 + 1000 + 2000 + 0.002 + 100."""
    inner = LinearClock(0, 0.0, 1e-6)
    outer = LinearClock(0, 100.0, 2e-6)
    assert inner.then(outer).on(np.array([10**9])).tolist() == [10**9 + 3100]


def test_ranks_of_one_host_share_its_clock() -> None:
    """The two comparisons differ by 40 ns, which is their error, not a drift."""
    clocks = {0: _clock(), 1: _clock((0, 20, 50), (10**9, 60, 50))}
    common = common_clocks(clocks, {0: "a", 1: "a"})
    assert common[1].slope == 0


def test_a_rank_without_comparison_follows_another_of_its_host() -> None:
    clocks = {1: _clock((0, 300, 9)), 3: _clock(), 5: _clock()}
    common = common_clocks(clocks, {1: "b", 3: "b", 5: "c"})
    assert common[3].on(np.array([0])).tolist() == [300]
    assert common[5].uncertainty is None


def test_impossible_drift_is_uncertainty() -> None:
    """A second ahead after a second: no clock does that, so it may be off by as much."""
    clocks = {0: _clock(), 1: _clock((0, 0, 10), (10**9, 10**9, 10))}
    common = common_clocks(clocks, {0: "a", 1: "b"})
    assert common[1].slope == 0
    assert common[1].uncertainty == pytest.approx(10**9 + 10)


def test_ticks_become_nanoseconds_by_two_readings() -> None:
    """10^9 ns are 4 10^9 ticks: a tick is a quarter; instants may precede the first reading."""
    counter = counter_of(_clock(ticks=(2**63, 2**63 + 4 * 10**9)))
    ticks = np.array([2**63, 2**63 + 400, 2**63 - 400], np.uint64)
    assert counter.at(ticks).tolist() == [0, 100, -100]
    assert counter.seconds(np.array([4 * 10**9], np.uint64)).tolist() == [1.0]


def test_a_counter_that_was_read_once_has_no_period() -> None:
    assert counter_of(_clock(ticks=(5, 5))).period is None
