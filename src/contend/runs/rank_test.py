"""The rank test of Mann and Whitney.

scipy.stats has one, but takes seconds to load: longer than everything else that reads a run. Tests
hold this one against it.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from contend.runs.statistics import Values

_FEW = 12


def rank_test(one: Values, other: Values) -> float:
    """Probability that two samples of one distribution differ as much in their ranks.

    Two-sided; exact for up to twelve values each without ties, else by the normal approximation
    with its corrections for ties and continuity (Mann and Whitney 1947).
    """
    joined = np.concatenate([one, other])
    n, m = len(one), len(other)
    _, inverse, ties = np.unique(joined, return_inverse=True, return_counts=True)
    last = np.cumsum(ties)
    # Equal values share the mean of their ranks.
    ranks = (last - (ties - 1) / 2)[inverse]
    above = float(ranks[:n].sum()) - n * (n + 1) / 2
    extreme = max(above, n * m - above)
    if ties.max() == 1 and max(n, m) <= _FEW:
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
