"""Medians, their intervals, and ratios: equations and the coverage that they promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from contend.lab.runs import Estimate, median_interval
from contend.lab.runs.statistics import (
    combine_launches,
    difference,
    quantile,
    ratio,
    ratio_by_launch,
)


@pytest.mark.parametrize(
    ("count", "low", "high"),
    # P(B <= k) <= 0.025 for B binomial(n, 1/2): k = 0 for 6 to 8, 1 for 9, 39 for 100.
    [(6, 1, 6), (8, 1, 8), (9, 2, 8), (15, 4, 12), (100, 40, 61)],
)
def test_order_statistics_around_the_median(count: int, low: int, high: int) -> None:
    values = np.random.default_rng(1).permutation(np.arange(1.0, count + 1))
    found = median_interval(values)
    assert found == Estimate((count + 1) / 2, low, high)


def test_the_interval_is_the_narrowest_that_promises_as_much() -> None:
    for count in range(6, 300):
        found = median_interval(np.arange(1.0, count + 1))
        assert found.low is not None
        assert stats.binom.cdf(found.low - 1, count, 0.5) <= 0.025
        assert stats.binom.cdf(found.low, count, 0.5) > 0.025


SHAPES = {
    "normal": (lambda g, shape: g.normal(1, 0.2, shape), 1.0),
    "skewed": (lambda g, shape: g.exponential(1, shape), np.log(2)),
    "heavy": (lambda g, shape: g.standard_cauchy(shape), 0.0),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("count", [6, 7, 20, 101, 1000, 1099, 5000])
def test_intervals_of_medians_hold_them_in_95_of_100(count: int, shape: str) -> None:
    draw, median = SHAPES[shape]
    rounds = 800
    rows = draw(np.random.default_rng(count), (rounds, count))
    intervals = [median_interval(row).interval for row in rows]
    held = sum(interval[0] <= median <= interval[1] for interval in intervals if interval)
    assert held / rounds >= 0.95 - 3 * (0.95 * 0.05 / rounds) ** 0.5
    # Order statistics come in steps: six values cover 97 %, a thousand hardly more than 95.
    assert held / rounds <= (0.995 if count < 100 else 0.98)


def test_five_samples_have_no_interval() -> None:
    # Both outer ones enclose the median with probability 1 - 2 / 32 only.
    assert median_interval(np.arange(5.0)) == Estimate(2.0)


def test_launches_count_alike_however_many_samples_they_have() -> None:
    launches = [np.full(1000, 1.0), np.full(6, 2.0), np.full(6, 3.0)]
    assert combine_launches(launches) == Estimate(2.0, 1.0, 3.0, promised=0.75)


def test_few_launches_reach_over_all_their_intervals() -> None:
    one, other = np.arange(1.0, 7), np.arange(11.0, 17)
    assert combine_launches([one, other]) == Estimate(8.5, 1.0, 16.0, promised=0.5)


def test_six_launches_have_the_interval_of_their_medians() -> None:
    launches = [np.full(10, float(number)) for number in range(1, 7)]
    assert combine_launches(launches) == Estimate(3.5, 1.0, 6.0)


def test_a_launch_that_was_cut_short_does_not_count_beside_whole_ones() -> None:
    assert combine_launches([np.full(9, 1.0), np.full(3, 50.0)]) == Estimate(1.0, 1.0, 1.0)
    assert combine_launches([np.full(2, 1.0), np.full(3, 3.0)]) == Estimate(2.0)


@pytest.mark.parametrize("between", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("launches", [2, 3, 4, 5, 8])
def test_the_interval_over_launches_holds_what_it_promises(launches: int, between: float) -> None:
    """Eight launches promise 95 % for the median of all launches; fewer than six what they say.

    n medians enclose the median of all launches with probability 1 - 2 / 2^n.
    """
    generator = np.random.default_rng(7)
    rounds, held, pooled = 600, 0, 0
    promised = set()
    for _ in range(rounds):
        centres = np.exp(generator.normal(0, between, launches))
        samples = [centre * generator.lognormal(0, 0.1, 20) for centre in centres]
        estimate = combine_launches(samples)
        assert estimate.interval is not None
        low, high = estimate.interval
        held += low <= 1 <= high
        promised.add(estimate.coverage)
        naive = median_interval(np.concatenate(samples))
        pooled += naive.ci95[0] <= 1 <= naive.ci95[1]
    (coverage,) = promised
    assert coverage == (0.95 if launches == 8 else 1 - 2 ** (1 - launches))
    # Within three standard deviations of 600 rounds.
    assert held / rounds >= coverage - 3 * (coverage * (1 - coverage) / rounds) ** 0.5
    if between == 0.3:
        # What it is there for: pooled samples promise far too much.
        assert pooled / rounds < 0.6


def test_what_covers_less_than_95_of_100_is_no_95_interval() -> None:
    launches = [np.full(10, float(number)) for number in range(1, 7)]
    assert combine_launches(launches).ci95 == (1.0, 6.0)
    five = combine_launches(launches[:5])
    assert (five.interval, five.ci95, five.coverage) == ((1.0, 5.0), None, 0.9375)
    against = ratio(five, median_interval(np.linspace(1, 2, 9)))
    assert against.ci95 is None
    assert against.coverage == 0.9375


def test_a_quantile_is_a_sample() -> None:
    assert quantile(np.arange(1.0, 101), 0.99) == 99
    assert quantile(np.arange(1.0, 11), 0.99) == 10


def test_a_ratio_joins_both_intervals_in_squares() -> None:
    # Distances in logarithms of 3 and 4 give 5.
    e = np.exp
    found = ratio(Estimate(e(10.0), e(7.0), e(10.0)), Estimate(e(2.0), e(2.0), e(6.0)))
    assert found.value == pytest.approx(e(8.0))
    assert found.low == pytest.approx(e(3.0))
    assert found.high == pytest.approx(e(8.0))


def test_a_ratio_needs_both_intervals() -> None:
    assert ratio(Estimate(4.0, 3.0, 5.0), Estimate(2.0)) == Estimate(2.0)
    assert np.isnan(ratio(Estimate(1.0), Estimate(0.0)).value)


def test_a_ratio_of_what_is_hardly_known_has_no_upper_limit() -> None:
    # The limits are 600 powers of ten apart, more than numbers have.
    wide = Estimate(1e-300, 1e-300, 1e300)
    assert ratio(wide, Estimate(1e-300, 1e-308, 1e300)).high == np.inf


def test_the_interval_of_a_ratio_holds_it_in_95_of_100() -> None:
    generator = np.random.default_rng(3)
    held = 0
    for _ in range(1000):
        one = 2 * generator.lognormal(0, 0.4, 15)
        other = 1 + generator.exponential(0.5, 25)
        true = 2 / (1 + 0.5 * np.log(2))
        found = ratio(median_interval(one), median_interval(other))
        assert found.low is not None
        assert found.high is not None
        held += found.low <= true <= found.high
    assert 930 <= held <= 990


def test_a_difference_joins_both_intervals_in_squares() -> None:
    assert difference(Estimate(12, 9, 16), Estimate(10, 7, 14)) == Estimate(2, -3.0, 7.0)
    assert difference(Estimate(12, 9, 16), Estimate(10)) == Estimate(2)


def test_the_interval_of_a_difference_holds_it_in_95_of_100() -> None:
    generator = np.random.default_rng(5)
    held, rounds = 0, 1000
    for _ in range(rounds):
        found = difference(
            median_interval(12 + generator.normal(0, 1, 20)),
            median_interval(10 + generator.exponential(1, 20) - np.log(2)),
        )
        held += found.interval[0] <= 2 <= found.interval[1]
    assert held / rounds >= 0.95 - 3 * (0.95 * 0.05 / rounds) ** 0.5


def test_launches_in_common_give_one_ratio_each() -> None:
    slow = {0: np.full(9, 2.0), 1: np.full(9, 20.0), 2: np.full(9, 1.0)}
    fast = {0: np.full(9, 1.0), 1: np.full(9, 5.0), 3: np.full(9, 70.0)}
    assert ratio_by_launch(slow, fast) == Estimate(3.0, 2.0, 4.0, promised=0.5)
