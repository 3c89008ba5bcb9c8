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

from contend.runs.statistics import Estimate, Values, ratio
from contend.runs.summary import CellSummary, Condition, condition

_SIGNIFICANCE = 0.05
_FEWEST_LAUNCHES = 4
_MOST_EXACT = 12


class Basis(StrEnum):
    """What a test's observations are."""

    LAUNCHES = "launches"
    SAMPLES = "samples"


@dataclass(frozen=True)
class Rival:
    """A schedule that did not win.

    Attributes:
        cell: its figures.
        factor: its median over the winner's.
        p: corrected probability of such a difference between equals.
        beaten: whether the winner is proven faster.
    """

    cell: CellSummary
    factor: Estimate
    p: float
    beaten: bool


@dataclass(frozen=True)
class Contest:
    """All schedules at one size under one condition.

    Attributes:
        condition: the condition, with labels that go along with the size.
        bytes: per destination; None when cells have no size.
        winner: the schedule of the smallest median.
        rivals: all others, the fastest first.
        basis: what the tests' observations are.
    """

    condition: Condition
    bytes: int | None
    winner: CellSummary
    rivals: tuple[Rival, ...]
    basis: Basis

    @property
    def level(self) -> tuple[Rival, ...]:
        """Rivals that the winner is not proven to beat."""
        return tuple(rival for rival in self.rivals if not rival.beaten)


def contests(cells: Iterable[CellSummary]) -> tuple[Contest, ...]:
    """One contest for every size and condition that two schedules or more were measured at.

    Cells whose data were wrong take no part. The winner is tested against each other schedule by
    the rank test of Mann and Whitney (two-sided), and every probability is multiplied by the number
    of pairs that could be drawn from the schedules there (Bonferroni): the winner was picked after
    looking. Each row of a table of contests so keeps its own error below 5 %.

    Observations are the launches' medians where every schedule has at least four launches and so
    many that a complete separation would pass that test. Otherwise they are the samples of all
    launches; another launch may then decide otherwise, and a rival counts as beaten only if its
    median is larger in each launch that measured both. In any case the interval of the ratio must
    lie above 1.
    """
    groups: dict[tuple[Condition, int | None], list[CellSummary]] = {}
    for cell in cells:
        if cell.verified is not False:
            key = (condition(cell.record, with_sizes=True), cell.record.bytes)
            groups.setdefault(key, []).append(cell)
    return tuple(
        _contest(under, size, group)
        for (under, size), group in sorted(groups.items(), key=_order)
        if len({cell.schedule for cell in group}) > 1
    )


def _order(item: tuple[tuple[Condition, int | None], object]) -> tuple[object, ...]:
    (under, size), _ = item
    labels = tuple((name, str(value)) for name, value in under.labels)
    return under.ranks, under.hosts, labels, -1 if size is None else size


def _contest(under: Condition, size: int | None, group: Sequence[CellSummary]) -> Contest:
    ordered = sorted(group, key=lambda cell: cell.median.value)
    winner, others = ordered[0], ordered[1:]
    pairs = math.comb(len(ordered), 2)
    basis = _basis(ordered, pairs)
    return Contest(
        condition=under,
        bytes=size,
        winner=winner,
        rivals=tuple(_rival(winner, cell, pairs, basis) for cell in others),
        basis=basis,
    )


def _basis(cells: Sequence[CellSummary], pairs: int) -> Basis:
    launches = min(len(cell.launches) for cell in cells)
    best = 2 / math.comb(2 * launches, launches)
    enough = launches >= _FEWEST_LAUNCHES and best * pairs < _SIGNIFICANCE
    return Basis.LAUNCHES if enough else Basis.SAMPLES


def _rival(winner: CellSummary, cell: CellSummary, pairs: int, basis: Basis) -> Rival:
    if basis == Basis.LAUNCHES:
        p = rank_test(*(np.array(list(_medians(each).values())) for each in (winner, cell)))
        everywhere = True
    else:
        p = rank_test(winner.used, cell.used)
        ours, theirs = _medians(winner), _medians(cell)
        everywhere = all(ours[launch] < theirs[launch] for launch in ours.keys() & theirs.keys())
    corrected = min(1.0, p * pairs)
    factor = ratio(cell.median, winner.median)
    apart = factor.low is None or factor.low > 1
    return Rival(cell, factor, corrected, corrected < _SIGNIFICANCE and everywhere and apart)


def _medians(cell: CellSummary) -> dict[int, float]:
    """Median of every launch, by its number."""
    each = zip(cell.numbers, cell.launches, strict=True)
    return {number: float(np.median(values)) for number, values in each}


def rank_test(first: Values, second: Values) -> float:
    """Probability that two samples of one distribution differ as much in their ranks.

    Two-sided; exact for up to twelve values each without ties, else by the normal approximation
    with its corrections for ties and continuity (Mann and Whitney 1947). scipy.stats has one, but
    takes seconds to load: longer than everything else that reads a run.
    """
    joined = np.concatenate([first, second])
    n, m = len(first), len(second)
    _, inverse, ties = np.unique(joined, return_inverse=True, return_counts=True)
    last = np.cumsum(ties)
    # Equal values share the mean of their ranks.
    ranks = (last - (ties - 1) / 2)[inverse]
    above = float(ranks[:n].sum()) - n * (n + 1) / 2
    extreme = max(above, n * m - above)
    if ties.max() == 1 and max(n, m) <= _MOST_EXACT:
        return min(1.0, 2 * _exact_tail(n, m, round(extreme)))
    total = n + m
    tied = float((ties.astype(np.float64) ** 3 - ties).sum()) / (total * (total - 1))
    variance = n * m / 12 * (total + 1 - tied)
    if variance <= 0:
        return 1.0
    z = max(0.0, extreme - n * m / 2 - 0.5) / math.sqrt(variance)
    return float(2 * ndtr(-z))


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
