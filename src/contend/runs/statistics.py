"""Numbers that sum up samples: the median with its interval, quantiles, means of rates.

After Hoefler and Belli, Scientific Benchmarking of Parallel Computing Systems (SC 2015), and Hunold
and Carpen-Amarie, Reproducible MPI Benchmarking Is Still Not as Easy as You Think (IEEE TPDS 2016).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

Values = NDArray[np.float64]

FEWEST = 6
"""Fewer samples than these have no 95 % interval of their median."""


@dataclass(frozen=True)
class Estimate:
    """A number and its interval, whose ends are None where it has none."""

    value: float
    low: float | None = None
    high: float | None = None


def median_interval(values: Values, confidence: float = 0.95) -> Estimate:
    """The median with the interval between two order statistics that holds it.

    It assumes nothing about the distribution: the number of samples below the true median is
    binomial with p = 1/2. For 95 % it takes six samples.

    Args:
        values: at least one.
        confidence: the least probability that the interval holds the median.
    """
    ordered = np.sort(values)
    value = float(np.median(ordered))
    below = _outside(len(ordered), round((1 - confidence) / 2, 12))
    if below < 1:
        return Estimate(value)
    return Estimate(value, float(ordered[below - 1]), float(ordered[-below]))


@lru_cache(maxsize=4096)
def _outside(count: int, tail: float) -> int:
    """Largest l with P(B < l) ≤ tail for B binomial(count, 1/2); 0 when there is none.

    From the l-th smallest to the l-th largest value the interval then reaches.
    """
    least, most = 0, count
    while least < most:
        middle = (least + most + 1) // 2
        if bdtr(middle - 1, count, 0.5) <= tail:
            least = middle
        else:
            most = middle - 1
    return least


def combine_launches(launches: Sequence[Values]) -> Estimate:
    """The median of a cell that several launches measured, with a 95 % interval.

    Samples of one launch resemble each other more than those of another, so launches, not samples,
    are what repeats: the value is the median of the launches' medians, each launch counting alike.
    Six launches or more give the order-statistic interval of their medians. Two to five are too few
    for any interval of theirs without assumptions; their interval then reaches from the lowest to
    the highest end of the launches' own intervals: it holds what these launches would show again.
    Launches with fewer than six samples count only where no launch has as many.

    Args:
        launches: samples of each, at least one of them not empty.
    """
    filled = [values for values in launches if len(values)]
    counted = [values for values in filled if len(values) >= FEWEST] or filled
    if len(counted) == 1:
        return median_interval(counted[0])
    each = [median_interval(values) for values in counted]
    medians = np.array([one.value for one in each])
    if len(counted) >= FEWEST:
        return median_interval(medians)
    value = float(np.median(medians))
    lows = [one.low for one in each if one.low is not None]
    highs = [one.high for one in each if one.high is not None]
    if len(lows) < len(each):
        return Estimate(value)
    return Estimate(value, min(lows), max(highs))


def quantile(values: Values, share: float) -> float:
    """The smallest sample that at least this share of the samples does not exceed."""
    return float(np.quantile(values, share, method="inverted_cdf"))


def ratio(numerator: Estimate, denominator: Estimate) -> Estimate:
    """Ratio of two positive estimates, with a 95 % interval from their own.

    The limits are recovered on the logarithms (Zou and Donner, Construction of confidence limits
    about effect measures, Statistics in Medicine 2008): their distances add up in squares. Averages
    of ratios appear nowhere.
    """
    value = numerator.value / denominator.value if denominator.value > 0 else math.nan
    ends = (numerator.low, numerator.high, denominator.low, denominator.high)
    known = [end for end in ends if end is not None and end > 0]
    if len(known) < len(ends) or not value > 0:
        return Estimate(value)
    over, under = math.log(numerator.value), math.log(denominator.value)
    over_low, over_high, under_low, under_high = (math.log(end) for end in known)
    down = math.hypot(over - over_low, under_high - under)
    up = math.hypot(over_high - over, under - under_low)
    return Estimate(value, value * math.exp(-down), value * math.exp(up))
