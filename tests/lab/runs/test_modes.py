"""Two kinds of samples: how often they are seen where there is one, and where there are two."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from contend.lab.runs.statistics import modes_of, two_modes

Draw = Callable[[np.random.Generator, int], np.ndarray]

# Samples of one kind: times with a floor, with tails from none to those of power laws.
ONE_KIND: dict[str, Draw] = {
    "normal": lambda g, n: np.abs(g.normal(1, 0.2, n)),
    "lognormal 0.3": lambda g, n: g.lognormal(0, 0.3, n),
    "lognormal 1": lambda g, n: g.lognormal(0, 1, n),
    "exponential": lambda g, n: 1 + g.exponential(1, n),
    "uniform": lambda g, n: g.uniform(1, 3, n),
    "pareto 2": lambda g, n: 1 + g.pareto(2, n),
    "pareto 1": lambda g, n: 1 + g.pareto(1, n),
    "half Cauchy": lambda g, n: 1 + np.abs(g.standard_cauchy(n)),
    "drifting": lambda g, n: np.exp(np.cumsum(g.normal(0, 0.05, n))),
}


@pytest.mark.parametrize("name", ONE_KIND)
@pytest.mark.parametrize("count", [6, 10, 25, 100])
def test_one_kind_is_seldom_taken_for_two(name: str, count: int) -> None:
    generator = np.random.default_rng(5)
    rounds = 500
    found = sum(two_modes(ONE_KIND[name](generator, count)) is not None for _ in range(rounds))
    # Below 1.2 % in truth; 500 rounds show that within 1.5 %.
    assert found / rounds <= 0.025


@pytest.mark.parametrize(
    ("count", "share", "factor", "least"),
    [
        (10, 0.5, 200, 0.9),
        (25, 0.2, 10, 0.9),
        (25, 0.5, 3, 0.95),
        (100, 0.05, 200, 0.9),
        (1000, 0.05, 3, 0.95),
    ],
)
def test_time_outs_are_found(count: int, share: float, factor: float, least: float) -> None:
    generator = np.random.default_rng(6)
    found = 0
    for _ in range(100):
        values = generator.lognormal(0, 0.1, count)
        slow = max(1, generator.binomial(count, share))
        values[:slow] *= factor
        found += two_modes(generator.permutation(values)) is not None
    assert found >= 100 * least


def test_both_kinds_are_told() -> None:
    fast, slow = np.linspace(1e-3, 1.1e-3, 17), np.linspace(0.2, 0.201, 8)
    modes = two_modes(np.concatenate([slow, fast]))
    assert (modes.slow, modes.count) == (8, 25)
    assert modes.slow_share == 0.32
    assert modes.fast_s == pytest.approx(1.05e-3)
    assert modes.slow_s == pytest.approx(0.2005)


def test_of_several_gaps_the_widest_parts_them() -> None:
    generator = np.random.default_rng(2)
    values = np.concatenate(
        [
            2e-3 * generator.lognormal(0, 0.05, 8),
            0.202 + 1e-5 * np.arange(9),
            0.402 + 1e-5 * np.arange(8),
        ]
    )
    modes = two_modes(values)
    assert modes.slow == 17


@pytest.mark.parametrize(
    "values",
    [
        np.ones(50),
        np.array([1.0, 1.0, 1.0, 1.0, 1.0, 90.0]),
        np.array([1.0, 1.0, 9.0, 9.0]),
        np.zeros(20),
        np.concatenate([np.linspace(1, 1.1, 20), np.linspace(1.5, 1.6, 20)]),
    ],
    ids=["equal", "one outlier", "too few", "zeros", "less than 1.5 apart"],
)
def test_what_is_no_second_kind(values: np.ndarray) -> None:
    assert two_modes(values) is None


def test_launches_are_taken_together_where_several_are_slow() -> None:
    generator = np.random.default_rng(3)

    def near(seconds: float, count: int) -> np.ndarray:
        return seconds * generator.lognormal(0, 0.05, count)

    # As measured: a network that collapses in a launch stays so, and its samples are fewer.
    launches = [near(0.26, 6), near(0.26, 6), np.append(near(0.04, 24), 0.266)]
    modes = modes_of(launches)
    assert modes.count == 37
    assert modes.slow_share == pytest.approx((1 + 1 + 1 / 25) / 3, abs=0.5 / 37)
    assert modes.fast_s == pytest.approx(0.04, rel=0.1)
    assert modes.slow_s == pytest.approx(0.26, rel=0.1)
    # One slow launch of three may have met something that ended with it.
    assert modes_of([near(0.26, 6), near(0.04, 25), near(0.04, 25)]) is None
    assert modes_of([near(0.26, 25)]) is None
    # Within a launch it must be the network.
    both = np.concatenate([near(0.26, 10), near(0.04, 15)])
    assert modes_of([both, near(0.04, 25), near(0.04, 25)]) == two_modes(both)
