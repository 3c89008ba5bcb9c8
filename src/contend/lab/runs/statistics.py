"""Numbers that sum up samples: the median with its interval, quantiles, ratios, two kinds.

After Hoefler and Belli, Scientific Benchmarking of Parallel Computing Systems (SC 2015), and Hunold
and Carpen-Amarie, Reproducible MPI Benchmarking Is Still Not as Easy as You Think (IEEE TPDS 2016).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrik

from contend.base.schema import PythonOnly, Seconds, Share, told
from contend.base.units import format_seconds

Values = NDArray[np.float64]

FEWEST = 6
"""Fewer samples than these have no 95 % interval of their median."""


CONFIDENCE = 0.95
"""What an interval promises where samples or launches are enough."""

# Two kinds of samples: the gap between them is at least such a factor wide ...
_LEAST_RATIO = 1.5
# ... each kind has so many samples ...
_LEAST_SHARE = 0.02
_FEWEST_OF_A_KIND = 2
_MOST_OF_A_KIND = 0.9
# ... and under a power law a gap as wide has a probability below this.
_UNLIKELY_GAP = 0.003


@dataclass(frozen=True)
class Estimate:
    """A number with its interval."""

    value: float
    """The number."""
    low: PythonOnly[float | None] = None
    """Lower end of the interval; None where there is none."""
    high: PythonOnly[float | None] = None
    """Upper end."""
    promised: PythonOnly[float] = CONFIDENCE
    """Least probability with which such intervals hold the true value; 95 % wherever samples or
    launches are enough for that."""

    @told
    def ci95(self) -> tuple[float, float] | None:
        """Both ends of its 95 % interval; null if too little was measured for one."""
        return self.interval if self.promised >= CONFIDENCE else None

    @told
    def interval(self) -> tuple[float, float] | None:
        """Both ends of the interval that there is; null if there is none."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @told
    def coverage(self) -> float | None:
        """Least probability with which the interval holds the true value; null without one."""
        return None if self.interval is None else self.promised


def median_interval(values: Values) -> Estimate:
    """The median with the interval between two order statistics that holds it.

    It assumes nothing about the distribution: the number of samples below the true median is
    binomial with p = 1/2. For 95 % it takes six samples.

    Args:
        values: at least one.
    """
    ordered = np.sort(values)
    value = float(np.median(ordered))
    below = _outside(len(ordered))
    if below < 1:
        return Estimate(value)
    return Estimate(value, float(ordered[below - 1]), float(ordered[-below]))


def range_coverage(count: int) -> float:
    """Probability that so many independent values enclose their distribution's median.

    All of them lie on one side of it with 2 (1/2)^count.
    """
    return 1 - 2.0 ** (1 - count)


def _outside(count: int) -> int:
    """Largest l with P(B < l) ≤ 2.5 % for B binomial(count, 1/2); 0 when there is none.

    From the l-th smallest to the l-th largest value the interval then reaches.
    """
    tail = (1 - CONFIDENCE) / 2
    return 0 if count < FEWEST else 1 + int(bdtrik(tail, count, 0.5))


def combine_launches(launches: Sequence[Values]) -> Estimate:
    """The median of a cell that several launches measured, with its interval.

    Samples of one launch resemble each other more than those of another, so launches, not samples,
    are what repeats: the value is the median of the launches' medians, each launch counting alike.
    Six launches or more give the 95 % order-statistic interval of their medians. Two to five are
    too few for 95 % without assumptions: their interval reaches from the lowest to the highest end
    of the launches' own intervals and holds the median of all launches with what the range of
    their medians covers, 50, 75, 87.5 or 93.75 %, at least; `Estimate.coverage` says so. A single
    launch tells of itself only: its interval holds what that launch would show with more samples.
    Launches with fewer than six samples count only where no launch has as many.

    Args:
        launches: samples of each, at least one of them not empty.
    """
    filled = [values for values in launches if len(values)]
    counted = [values for values in filled if len(values) >= FEWEST] or filled
    return _over_launches([median_interval(values) for values in counted])


def ratio_by_launch(numerator: Mapping[int, Values], denominator: Mapping[int, Values]) -> Estimate:
    """Ratio of two medians that the same launches measured, with its interval.

    What makes a launch slow, such as its placement or its neighbours, slows both: so each launch
    gives one ratio, and these repeat. They are combined as `combine_launches` combines medians.

    Args:
        numerator: samples of each launch, by its number.
        denominator: likewise; at least one launch is in both.
    """
    both = sorted(numerator.keys() & denominator.keys())
    whole = [
        launch for launch in both if min(len(numerator[launch]), len(denominator[launch])) >= FEWEST
    ]
    return _over_launches(
        [
            ratio(median_interval(numerator[launch]), median_interval(denominator[launch]))
            for launch in whole or both
        ]
    )


def _over_launches(each: Sequence[Estimate]) -> Estimate:
    """The median of what launches estimate, with the interval that `combine_launches` states."""
    if len(each) == 1:
        return each[0]
    values = np.array([estimate.value for estimate in each])
    if len(each) >= FEWEST:
        return median_interval(values)
    value = float(np.median(values))
    ends = [estimate.interval for estimate in each if estimate.interval is not None]
    if len(ends) < len(each):
        return Estimate(value)
    lows, highs = zip(*ends, strict=True)
    return Estimate(value, min(lows), max(highs), range_coverage(len(each)))


def quantile(values: Values, share: float) -> float:
    """The smallest sample that at least this share of the samples does not exceed."""
    return float(np.quantile(values, share, method="inverted_cdf"))


def ratio(numerator: Estimate, denominator: Estimate) -> Estimate:
    """Ratio of two positive estimates, with an interval from their own.

    The limits are recovered on the logarithms (Zou and Donner, Construction of confidence limits
    about effect measures, Statistics in Medicine 2008): their distances add up in squares. The
    interval covers what both intervals cover, or the lesser of the two. Averages of ratios appear
    nowhere.
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
    covered = min(numerator.promised, denominator.promised)
    # Beyond all numbers where the intervals span hundreds of powers of ten: no limit.
    high = value * math.exp(up) if up < math.log(sys.float_info.max) else math.inf
    return Estimate(value, value * math.exp(-down), high, covered)


def difference(minuend: Estimate, subtrahend: Estimate) -> Estimate:
    """Difference of two independent estimates, with an interval from their own.

    The limits' distances add up in squares, as in `ratio`.
    """
    value = minuend.value - subtrahend.value
    ends, other = minuend.interval, subtrahend.interval
    if ends is None or other is None:
        return Estimate(value)
    down = math.hypot(minuend.value - ends[0], other[1] - subtrahend.value)
    up = math.hypot(ends[1] - minuend.value, subtrahend.value - other[0])
    covered = min(minuend.promised, subtrahend.promised)
    return Estimate(value, value - down, value + up, covered)


@dataclass(frozen=True)
class Modes:
    """Two kinds of samples, such as those with and without a time-out, or of launches."""

    fast_s: Seconds
    """Median seconds of the faster kind."""
    slow_s: Seconds
    """Median seconds of the slower kind."""
    slow: PythonOnly[int]
    """Number of the slower kind."""
    count: PythonOnly[int]
    """Number of all."""

    @told
    def slow_share(self) -> Share:
        """Fraction that is of the slower kind."""
        return self.slow / self.count

    def __str__(self) -> str:
        return (
            f"{100 * self.slow_share:.0f} % near {format_seconds(self.slow_s)}, the others near "
            f"{format_seconds(self.fast_s)}"
        )


def two_modes(times: Values) -> Modes | None:
    """The two kinds that samples fall into, or None where they are of one kind.

    This is a rule and no test: it promises no error rate. The page "Samples" of the documentation
    has how often it sees two kinds in samples of one, up to 3.5 % for times just above a floor.

    The samples' logarithms are sorted. In samples of an exponential distribution the spacing with k
    samples beyond it, times k, is exponential too, and all those products are independent and alike
    (Rényi 1953). So each gap's product is held against the sum of the others on its side of the
    median: under that distribution it is as wide with (1 + product / sum)^-(number of the others).
    Logarithms that fall off exponentially on either side of the median are times with a power-law
    tail: lighter tails leave smaller gaps far out. That figure, multiplied by the number of gaps,
    must be below 0.003. Besides, the gap must be a factor of 1.5 wide, and each kind must have two
    samples and 2 % of all: single slow samples are outliers, which the largest sample tells. The
    widest such gap parts the kinds.

    Args:
        times: seconds.
    """
    parted = _parted(times)
    return None if parted is None else parted[0]


def _parted(times: Values) -> tuple[Modes, float] | None:
    """The two kinds, and how improbable the gap between them is under a power law."""
    ordered = np.sort(times[times > 0])
    count = len(ordered)
    if count < FEWEST or not ordered[-1] > _LEAST_RATIO * ordered[0]:
        return None
    gaps = np.diff(np.log(ordered))
    below = np.arange(1, count)
    outside = np.minimum(below, count - below)
    products = outside * gaps
    p = _probabilities(products, below <= count / 2) * len(gaps)
    fewest = max(_FEWEST_OF_A_KIND, math.ceil(_LEAST_SHARE * count))
    allowed = (outside >= fewest) & (gaps >= math.log(_LEAST_RATIO)) & (p < _UNLIKELY_GAP)
    if not allowed.any():
        return None
    # Of several such gaps, as between one time-out and two, the widest tells most.
    at = int(np.argmax(np.where(allowed, gaps, -1.0)))
    modes = Modes(
        fast_s=float(np.median(ordered[: at + 1])),
        slow_s=float(np.median(ordered[at + 1 :])),
        slow=count - at - 1,
        count=count,
    )
    return modes, float(p[at])


def modes_of(launches: Sequence[Values]) -> Modes | None:
    """Two kinds of samples in several launches of a cell.

    A network that has collapsed often stays so: all samples of one launch wait for time-outs, and
    none of another. So the launches are taken together when two of them at least have slow samples,
    and each launch has the same weight, however many samples it took. What slows a single launch
    may have ended with it: then the kinds must show within a launch, and the plainest one tells.

    Args:
        launches: seconds of every launch.
    """
    together = two_modes(np.concatenate(launches)) if len(launches) > 1 else None
    if together is not None:
        cut = math.sqrt(together.fast_s * together.slow_s)
        shares = [float((times > cut).mean()) for times in launches if len(times)]
        if sum(share > 0 for share in shares) > 1:
            # Of both kinds there are some.
            slow = round(together.count * sum(shares) / len(shares))
            return replace(together, slow=min(max(slow, 1), together.count - 1))
    parted = [result for result in map(_parted, launches) if result is not None]
    return min(parted, key=lambda result: result[1])[0] if parted else None


def launches_apart(launches: Sequence[Values]) -> Modes | None:
    """Two kinds of launches, each of one kind of samples; None where launches are alike.

    Their median is of neither kind. Samples part as `two_modes` has it; a launch is of a kind when
    nine tenths of its samples are. Counts are of launches.

    Args:
        launches: seconds of every launch.
    """
    filled = [times for times in launches if len(times)]
    together = two_modes(np.concatenate(filled)) if len(filled) > 1 else None
    if together is None:
        return None
    cut = math.sqrt(together.fast_s * together.slow_s)
    shares = [float((times > cut).mean()) for times in filled]
    if any(max(share, 1 - share) < _MOST_OF_A_KIND for share in shares):
        return None
    slow = sum(share > 0.5 for share in shares)
    return replace(together, slow=slow, count=len(filled)) if 0 < slow < len(filled) else None


def _probabilities(products: Values, lower: np.ndarray) -> Values:
    """Probability of each product given the others of its side, by the lower side's mask."""
    p = np.ones(len(products))
    for side in (lower, ~lower):
        values = products[side]
        others = len(values) - 1
        if others < 1:
            continue
        rest = np.maximum(values.sum() - values, np.finfo(float).tiny)
        with np.errstate(over="ignore"):
            p[side] = np.exp(-others * np.log1p(values / rest))
    return p
