"""Who wins: tests against chance, corrected, on launches or on samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from contend.runs import Basis, contests
from contend.runs.collapse import _more_frequent
from contend.runs.winners import rank_test


@pytest.mark.parametrize(("n", "m"), [(3, 12), (4, 4), (6, 6), (12, 5), (13, 2), (25, 30)])
def test_the_rank_test_is_that_of_scipy(n: int, m: int) -> None:
    generator = np.random.default_rng(n)
    method = "exact" if max(n, m) <= 12 else "asymptotic"
    for _ in range(20):
        one, other = generator.normal(0, 1, n), generator.normal(1, 1, m)
        expected = stats.mannwhitneyu(one, other, method=method).pvalue
        assert rank_test(one, other) == pytest.approx(expected, rel=1e-9)


def test_ties_are_corrected_for() -> None:
    generator = np.random.default_rng(1)
    one, other = generator.integers(0, 4, 20) * 1.0, generator.integers(0, 5, 15) * 1.0
    expected = stats.mannwhitneyu(one, other, method="asymptotic").pvalue
    assert rank_test(one, other) == pytest.approx(expected, rel=1e-9)
    assert rank_test(np.ones(9), np.ones(9)) == 1.0


@pytest.mark.parametrize(
    ("ours", "theirs"), [((5, 20), (0, 50)), ((2, 3), (1, 7)), ((5, 0), (0, 5))]
)
def test_more_slow_samples_by_fishers_test(ours: tuple[int, int], theirs: tuple[int, int]) -> None:
    expected = stats.fisher_exact([ours, theirs], "greater")[1]
    assert _more_frequent(ours, theirs) == pytest.approx(expected, rel=1e-9)


def spread(around: float, count: int = 12, seed: int = 1) -> np.ndarray:
    return around * np.random.default_rng(seed).lognormal(0, 0.02, count)


def test_the_smallest_median_wins_by_the_ratio_of_medians(make_cells: Any) -> None:
    cells = make_cells(
        {
            ("linear", 1024): spread(0.283, seed=1),
            ("ordered", 1024): spread(0.037, seed=2),
            ("barrier", 1024): spread(0.040, seed=3),
            ("linear", 8): spread(1e-4, seed=4),
        }
    )
    (contest,) = contests(cells)
    assert contest.winner.schedule == "ordered"
    assert [rival.cell.schedule for rival in contest.rivals] == ["barrier", "linear"]
    last = contest.rivals[-1]
    # 0.283 s to 0.037 s is 7.6 times.
    assert last.factor.value == pytest.approx(7.65, rel=0.05)
    # Exact: all of 12 above all of 12, two-sided, three pairs.
    assert last.p == pytest.approx(3 * 2 / 2704156, rel=1e-6)
    assert last.beaten
    assert contest.basis == Basis.SAMPLES


def test_equals_are_not_told_apart(make_cells: Any) -> None:
    """Five equal schedules: the fastest of them is a matter of luck, in 95 of 100 rows seen so."""
    generator = np.random.default_rng(8)
    cells = make_cells(
        {
            (f"a{number}", size): generator.lognormal(0, 0.1, 20)
            for number in range(5)
            for size in range(1, 101)
        }
    )
    wrong = sum(any(rival.beaten for rival in contest.rivals) for contest in contests(cells))
    assert wrong <= 5


def test_enough_launches_decide_by_their_medians(make_cells: Any) -> None:
    generator = np.random.default_rng(9)

    def launches(around: float) -> list[np.ndarray]:
        luck = generator.lognormal(0, 0.1, 5)
        return [around * factor * generator.lognormal(0, 0.01, 8) for factor in luck]

    (contest,) = contests(make_cells({("a", 8): launches(1.0), ("b", 8): launches(2.0)}))
    assert contest.basis == Basis.LAUNCHES
    # Five above five: two of 252 orders.
    assert contest.rivals[0].p == pytest.approx(2 / 252)
    assert contest.rivals[0].beaten


def test_launches_that_disagree_prove_nothing(make_cells: Any) -> None:
    # 200 samples a launch would tell any two launches apart.
    even = np.linspace(0.99, 1.01, 200)
    cells = make_cells({("a", 8): [even, 1.1 * even], ("b", 8): [1.05 * even, 1.06 * even]})
    (contest,) = contests(cells)
    assert contest.basis == Basis.SAMPLES
    assert not contest.rivals[0].beaten


def test_wrong_data_do_not_win(make_cells: Any) -> None:
    right = make_cells({("a", 8): spread(2.0), ("b", 8): spread(3.0)})
    wrong = make_cells({("c", 8): spread(1.0)}, verified=False)
    (contest,) = contests([*right, *wrong])
    assert contest.winner.schedule == "a"


def test_conditions_are_kept_apart(make_cells: Any) -> None:
    even = make_cells({("a", 8): spread(1.0), ("b", 8): spread(2.0)}, counts="even")
    uneven = make_cells({("a", 8): spread(2.0), ("b", 8): spread(1.0)}, counts="uneven")
    winners = [contest.winner.schedule for contest in contests([*even, *uneven])]
    assert winners == ["a", "b"]
