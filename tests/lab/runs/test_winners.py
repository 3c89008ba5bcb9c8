"""Who wins: tests against chance, corrected, on launches or on samples."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from contend.lab.runs import Basis, contests
from contend.lab.runs.collapse import _more_frequent
from contend.lab.runs.winners import signed_rank_test, stratified_rank_test
from measured_runs import cell


@pytest.mark.parametrize(("n", "m"), [(3, 12), (4, 4), (6, 6), (12, 5), (13, 2), (25, 30)])
def test_the_rank_test_is_that_of_scipy(n: int, m: int) -> None:
    generator = np.random.default_rng(n)
    method = "exact" if max(n, m) <= 12 else "asymptotic"
    for _ in range(20):
        one, other = generator.normal(0, 1, n), generator.normal(1, 1, m)
        expected = stats.mannwhitneyu(one, other, method=method).pvalue
        assert stratified_rank_test([(one, other)]) == pytest.approx(expected, rel=1e-9)


def test_ties_are_corrected_for() -> None:
    generator = np.random.default_rng(1)
    one, other = generator.integers(0, 4, 20) * 1.0, generator.integers(0, 5, 15) * 1.0
    expected = stats.mannwhitneyu(one, other, method="asymptotic").pvalue
    assert stratified_rank_test([(one, other)]) == pytest.approx(expected, rel=1e-9)
    assert stratified_rank_test([(np.ones(9), np.ones(9))]) == 1.0


def test_the_signed_rank_test_counts_all_signs() -> None:
    """Exact with ties and zeros: of all signs of the ranks, those that are as far to one side."""
    generator = np.random.default_rng(2)
    for _ in range(20):
        values = generator.integers(-3, 5, 9) * 1.0
        if not values.any():
            continue
        ranks = stats.rankdata(np.abs(values))[values != 0]
        above = ranks[values[values != 0] > 0].sum()
        far = abs(above - ranks.sum() / 2)
        sums = np.array([ranks[list(up)].sum() for up in product([False, True], repeat=len(ranks))])
        expected = np.mean(np.abs(sums - ranks.sum() / 2) >= far - 1e-9)
        assert signed_rank_test(values) == pytest.approx(min(1.0, expected))
    assert signed_rank_test(np.arange(1.0, 7)) == pytest.approx(2 / 64)
    assert signed_rank_test(np.zeros(6)) == 1.0


def test_without_ties_it_is_that_of_scipy() -> None:
    values = np.random.default_rng(3).normal(0.5, 1, 15)
    expected = stats.wilcoxon(values, method="exact").pvalue
    assert signed_rank_test(values) == pytest.approx(expected)


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
    assert last.times_slower.value == pytest.approx(7.65, rel=0.05)
    # Exact: all of 12 above all of 12, two-sided, three pairs.
    assert last.p == pytest.approx(3 * 2 / 2704156, rel=1e-6)
    assert last.beaten
    assert contest.test_on == Basis.SAMPLES


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
        luck = generator.lognormal(0, 0.1, 6)
        return [around * factor * generator.lognormal(0, 0.01, 8) for factor in luck]

    (contest,) = contests(make_cells({("a", 8): launches(1.0), ("b", 8): launches(2.0)}))
    assert contest.test_on == Basis.LAUNCHES
    # Six of six: two of 64 ways to choose signs.
    assert contest.rivals[0].p == pytest.approx(2 / 64)
    assert contest.rivals[0].beaten


def test_a_launch_that_differs_counts_for_the_other_side(make_cells: Any) -> None:
    others = [np.full(8, times) for times in (2.0, 3.0, 4.0, 5.0, 6.0, 0.9)]
    (contest,) = contests(make_cells({("a", 8): [np.ones(8)] * 6, ("b", 8): others}))
    assert contest.test_on == Basis.LAUNCHES
    # The one that is faster differs least: four of 64 ways to choose signs are as far apart.
    assert contest.rivals[0].p == pytest.approx(4 / 64)
    assert not contest.rivals[0].beaten


@pytest.mark.parametrize("launches", [3, 7])
def test_what_slows_a_launch_slows_both(launches: int, make_cells: Any) -> None:
    """Launches differ by far more than schedules do: 1.1 times in each of them is proven."""
    generator = np.random.default_rng(10)
    luck = generator.lognormal(0, 0.5, launches)
    cells = make_cells(
        {
            ("a", 8): [each * generator.lognormal(0, 0.01, 20) for each in luck],
            ("b", 8): [1.1 * each * generator.lognormal(0, 0.01, 20) for each in luck],
        }
    )
    (contest,) = contests(cells)
    (rival,) = contest.rivals
    assert contest.test_on == (Basis.LAUNCHES if launches > 5 else Basis.SAMPLES)
    assert rival.beaten
    assert rival.times_slower.value == pytest.approx(1.1, rel=0.01)
    assert rival.times_slower.low == pytest.approx(1.1, rel=0.03)


@pytest.mark.parametrize("between", [0.0, 0.5])
@pytest.mark.parametrize("launches", [1, 3, 8])
def test_paired_winners_keep_their_error_and_their_interval(launches: int, between: float) -> None:
    """Two equal schedules under launches of any luck: 5 in 100 are told apart at most."""
    generator = np.random.default_rng(11)
    rounds = 400
    cells = []
    for size in range(1, rounds + 1):
        luck = generator.lognormal(0, between, launches)
        for name in ("a", "b"):
            times = [each * generator.lognormal(0, 0.2, 12) for each in luck]
            cells.append(cell(len(cells), name, size, *times))
    rivals = [contest.rivals[0] for contest in contests(cells)]
    assert len(rivals) == rounds
    margin = 3 * (0.05 * 0.95 / rounds) ** 0.5
    assert sum(rival.beaten for rival in rivals) / rounds <= 0.05 + margin
    # Both have the same median in every launch: their ratio is 1.
    held = sum(
        rival.times_slower.low <= 1 <= rival.times_slower.high
        for rival in rivals
        if rival.times_slower.low is not None and rival.times_slower.high is not None
    )
    covered = rivals[0].times_slower.coverage
    assert held / rounds >= covered - 3 * (covered * (1 - covered) / rounds) ** 0.5


def test_launches_that_disagree_prove_nothing(make_cells: Any) -> None:
    # 200 samples a launch would tell any two launches apart.
    even = np.linspace(0.99, 1.01, 200)
    cells = make_cells({("a", 8): [even, 1.1 * even], ("b", 8): [1.05 * even, 1.06 * even]})
    (contest,) = contests(cells)
    assert contest.test_on == Basis.SAMPLES
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
