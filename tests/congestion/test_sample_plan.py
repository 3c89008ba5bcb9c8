"""How many samples are drawn: intervals, and the precision at which they end a simulation."""

from __future__ import annotations

import numpy as np
import pytest

from contend.congestion import simulate
from contend.congestion.drawing import seat
from contend.congestion.simulation.samples import plan_samples
from contend.routes import load
from contend.traffic.pattern import parse
from contend.traffic.placement import parse as place
from small_fabrics import fat_tree, routed

TREE = routed(fat_tree(4, 4, 2))
EIGHT = routed(fat_tree(4, 2, 1))


def test_intervals_cover_the_exact_mean() -> None:
    """Of 60 seeded intervals of 95 % all but a few hold the mean over all 1,680 bisects."""
    exact = simulate(EIGHT, "bisect", exhaustive=True).effective_bandwidth.mean
    missed = 0
    for seed in range(60):
        found = simulate(EIGHT, "bisect", samples=300, seed=seed)
        low, high = found.effective_bandwidth.ci95
        missed += not low <= exact <= high
    # 3 are expected; more than 8 have a chance below 0.4 %.
    assert missed <= 8
    # Nor are the intervals so wide that they say nothing.
    assert high - low < 0.1 * exact


def test_half_width_of_few_samples_is_students() -> None:
    """t(0.975, 9) s / sqrt(10) with t = 2.262157."""
    found = simulate(TREE, "bisect", samples=10)
    low, high = found.effective_bandwidth.ci95
    assert (high - low) / 2 == pytest.approx(
        2.262157 * found.bandwidth.std(ddof=1) / np.sqrt(10), rel=1e-6
    )


def test_precision_stops() -> None:
    found = simulate(TREE, "bisect", precision=0.002)
    low, high = found.effective_bandwidth.ci95
    mean = found.effective_bandwidth.mean
    assert (high - low) / 2 <= 0.002 * mean
    assert 64 <= found.samples < 1_000_000
    # Not long before the precision asked for was reached: batches of 2^25 messages, 65,536 at most.
    assert found.samples <= 65_536 or (high - low) / 2 > 0.0005 * mean


@pytest.mark.parametrize(("ranks", "least"), [(1000, 64), (11_000, 8), (1 << 14, 8), (1 << 16, 2)])
def test_samples_of_much_work_are_fewer(ranks: int, least: int) -> None:
    """2^30 looks at channels are done in seconds: 64 samples, or 8 at least; 2^33 take minutes."""
    fabric = load("torus:16x16x16;16", route="ecmp")
    placement = place("linear", fabric)
    pattern = parse("alltoall", ranks)
    plan = plan_samples(pattern, placement, seat(pattern, placement), None, 0.01, False, drawn=True)
    plan = plan.working(ranks**2)
    alike = 0.5 + 1e-6 * np.arange(least)
    assert plan.reached(alike)
    assert not plan.reached(alike[:-1])
    assert plan.expected(alike[:0]) == least
    assert plan.expected(alike[:2]) == least


@pytest.mark.parametrize(
    ("precision", "reached"), [(None, [100]), (0.002, []), (0.02, [64, 99, 100])]
)
def test_one_part_in_hundred_is_enough_once_it_takes_seconds(
    precision: float | None, reached: list[int]
) -> None:
    """Work of 2^30 / 100 a sample: 100 are quick. t(0.975, n - 1) s / sqrt(n) is below 1 % here."""
    placement = place("random", TREE)
    pattern = parse("bisect", TREE.hosts)
    plan = plan_samples(pattern, placement, seat(pattern, placement), None, precision, False)
    plan = plan.working((1 << 30) // 100)
    values = np.tile([0.49, 0.51], 50)
    assert [n for n in (63, 64, 99, 100) if plan.reached(values[:n])] == reached
    # 1.96 x 0.010079 / 0.5 = 3.951 %: (3.951 / 0.2)^2 samples get to 0.2 %.
    assert plan.expected(values[:64]) == {None: 100, 0.002: 390, 0.02: 64}[precision]
    # Two of them: 1.96 x 0.014142 / 0.5 = 5.544 %, and not 12.7 times the standard error.
    assert plan.expected(values[:2]) == {None: 100, 0.002: 768, 0.02: 64}[precision]


def test_precision_of_one_part_in_thousand_is_the_default() -> None:
    by_default = simulate(TREE, "bisect")
    low, high = by_default.effective_bandwidth.ci95
    assert (high - low) / 2 <= 0.001 * by_default.effective_bandwidth.mean
    assert by_default.samples == simulate(TREE, "bisect", precision=0.001).samples


def test_samples_end_a_simulation_that_is_not_precise_enough() -> None:
    assert simulate(TREE, "bisect", samples=100, precision=1e-9).samples == 100
