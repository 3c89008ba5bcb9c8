"""Which schedule wins at each size, by how much, and whether that could be chance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from contend.base.schema import PythonOnly, Seconds, Spread, told
from contend.base.units import grouped
from contend.lab.runs.statistics import Estimate, Values, ratio, ratio_by_launch
from contend.lab.runs.summary import CellSummary, Condition, condition

_SIGNIFICANCE = 0.05
_MOST_EXACT = 12


class Basis(StrEnum):
    """What a test's observations are."""

    LAUNCHES = "launches"
    SAMPLES = "samples"


@dataclass(frozen=True, kw_only=True)
class Rival:
    """A schedule that did not win."""

    cell: PythonOnly[CellSummary]
    """Its figures."""
    times_slower: Estimate
    """Its median over that of the winner, launch by launch."""
    p: float
    """Corrected probability of such a difference between equals."""
    beaten: bool
    """Whether the winner is proven faster."""

    @told
    def schedule(self) -> str:
        """Its name."""
        return self.cell.schedule


@dataclass(frozen=True, kw_only=True)
class Contest:
    """The fastest schedule at one size under one condition."""

    condition: Spread[Condition]
    """What all schedules have in common, with labels that go along with the size."""
    bytes: int | None
    """Bytes to each other rank; null if cells have no size."""
    winner: PythonOnly[CellSummary]
    """The schedule with the smallest median."""
    schedule: str
    """Name of the one with the smallest median."""
    median_s: Seconds
    """Its median in seconds."""
    test_on: Basis
    """Word ``launches`` if the test compared their medians, or ``samples``."""
    rivals: tuple[Rival, ...]
    """All other schedules, the fastest first."""

    @property
    def level(self) -> tuple[Rival, ...]:
        """Rivals that the winner is not proven to beat."""
        return tuple(rival for rival in self.rivals if not rival.beaten)


def contests(cells: Iterable[CellSummary]) -> tuple[Contest, ...]:
    """One contest for every size and condition that two schedules or more were measured at.

    Cells whose data were wrong take no part. The winner is tested against each other schedule
    launch by launch, since what slows a launch slows all that it measures, and every probability is
    multiplied by the number of pairs that could be drawn from the schedules there (Bonferroni): the
    winner was picked after looking. Each row of a table of contests so keeps its own error below
    5 %. The tests are two-sided.

    Where every schedule shares so many launches with the winner that their agreement alone would
    pass, observations are the launches: Wilcoxon's signed-rank test of the ratios of their medians.
    Otherwise they are the samples, compared within each launch (`stratified_rank_test`); another
    launch may then decide otherwise, and a rival counts as beaten only if its median is larger in
    each launch that measured both. In any case the interval of the ratio must lie above 1.
    """
    groups = grouped(
        (cell for cell in cells if cell.verified is not False),
        lambda cell: (condition(cell.record, with_sizes=True), cell.record.bytes),
    )
    return tuple(
        _contest(under, size, group)
        for (under, size), group in sorted(groups.items(), key=_order)
        if len({cell.schedule for cell in group}) > 1
    )


def _order(item: tuple[tuple[Condition, int | None], object]) -> tuple[object, ...]:
    (under, size), _ = item
    labels = tuple((name, str(value)) for name, value in under.by_name)
    return under.ranks, under.hosts, labels, -1 if size is None else size


def _contest(under: Condition, size: int | None, group: Sequence[CellSummary]) -> Contest:
    ordered = sorted(group, key=lambda cell: cell.median.value)
    winner, others = ordered[0], ordered[1:]
    pairs = math.comb(len(ordered), 2)
    shared = min(len(winner.by_launch.keys() & cell.by_launch.keys()) for cell in others)
    # The least probability that the signed-rank test can give.
    basis = Basis.LAUNCHES if 2.0 ** (1 - shared) * pairs < _SIGNIFICANCE else Basis.SAMPLES
    return Contest(
        condition=under,
        bytes=size,
        winner=winner,
        schedule=winner.schedule,
        median_s=winner.median.value,
        rivals=tuple(_rival(winner, cell, pairs, basis) for cell in others),
        test_on=basis,
    )


def _rival(winner: CellSummary, cell: CellSummary, pairs: int, basis: Basis) -> Rival:
    ours, theirs = winner.by_launch, cell.by_launch
    both = sorted(ours.keys() & theirs.keys())
    if not both:
        # Nothing says what their launches did to them.
        factor = ratio(cell.median, winner.median)
        return Rival(cell=cell, times_slower=factor, p=1.0, beaten=False)
    medians = [(float(np.median(ours[at])), float(np.median(theirs[at]))) for at in both]
    if basis == Basis.LAUNCHES:
        # Ranked as their ratios would be, without dividing by a time too short for the timer.
        p = signed_rank_test(
            np.array([(slow - fast) / ((slow + fast) or 1.0) for fast, slow in medians])
        )
        everywhere = True
    else:
        p = stratified_rank_test([(ours[at], theirs[at]) for at in both])
        everywhere = all(fast < slow for fast, slow in medians)
    corrected = min(1.0, p * pairs)
    factor = ratio_by_launch(theirs, ours)
    apart = factor.low is None or factor.low > 1
    return Rival(
        cell=cell,
        times_slower=factor,
        p=corrected,
        beaten=corrected < _SIGNIFICANCE and everywhere and apart,
    )


def signed_rank_test(differences: Values) -> float:
    """Probability that differences around zero lie as much to one side (Wilcoxon 1945).

    Two-sided and exact, also with ties, over all signs of the ranks; zeros have rank but no side.
    """
    ranks = _mean_ranks(np.abs(differences))
    # Ranks that ties share end in halves.
    doubled = np.rint(2 * ranks[differences != 0]).astype(np.int64)
    if not len(doubled):
        return 1.0
    ways = np.ones(1)
    for rank in doubled.tolist():
        ways = np.pad(ways, (0, rank)) + np.pad(ways, (rank, 0))
    ways /= ways.sum()
    above = int(np.rint(2 * ranks[differences > 0].sum()))
    extreme = max(above, len(ways) - 1 - above)
    return min(1.0, 2 * float(ways[extreme:].sum()))


def stratified_rank_test(launches: Sequence[tuple[Values, Values]]) -> float:
    """Probability that samples of one distribution in each launch differ as much in their ranks.

    Values are compared within a launch alone, and launches weighted by 1 / (samples + 1) of both,
    which loses nothing where there is one (van Elteren 1960). Two-sided; exact for a single launch
    of up to twelve values each without ties, which is the test of Mann and Whitney (1947), else by
    the normal approximation with its corrections for ties and, in a single launch, for continuity.
    scipy.stats has the latter, but takes seconds to load: longer than everything else that reads
    a run.
    """
    statistic, variance = 0.0, 0.0
    for first, second in launches:
        n, m = len(first), len(second)
        joined = np.concatenate([first, second])
        _, ties = np.unique(joined, return_counts=True)
        above = float(_mean_ranks(joined)[:n].sum()) - n * (n + 1) / 2
        if len(launches) == 1 and ties.max() == 1 and max(n, m) <= _MOST_EXACT:
            return min(1.0, 2 * _exact_tail(n, m, round(max(above, n * m - above))))
        total = n + m
        tied = float((ties.astype(np.float64) ** 3 - ties).sum()) / (total * (total - 1))
        statistic += (above - n * m / 2) / (total + 1)
        variance += n * m / 12 * (total + 1 - tied) / (total + 1) ** 2
    if variance <= 0:
        return 1.0
    step = 0.5 / (total + 1) if len(launches) == 1 else 0.0
    return float(2 * ndtr(-max(0.0, abs(statistic) - step) / math.sqrt(variance)))


def _mean_ranks(values: Values) -> Values:
    """Ranks from 1 on; equal values share the mean of theirs."""
    _, inverse, ties = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(ties) - (ties - 1) / 2)[inverse]


def _exact_tail(n: int, m: int, extreme: int) -> float:
    counts = _orders(n, m)
    return float(counts[extreme:].sum() / counts.sum())


@lru_cache(maxsize=256)
def _orders(n: int, m: int) -> NDArray[np.float64]:
    """How many orders of n and m values have each number of pairs with the first above.

    The Gaussian binomial coefficient: the product over i of (1 - x^(m + i)) / (1 - x^i).
    """
    counts = np.zeros(n * m + 1)
    counts[0] = 1
    for i in range(1, n + 1):
        for u in range(n * m, m + i - 1, -1):
            counts[u] -= counts[u - m - i]
        for u in range(i, n * m + 1):
            counts[u] += counts[u - i]
    return counts
