"""The time that stands for a cell where schedules and sizes are judged."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, gammaln

from contend.runs.modes import Modes
from contend.runs.statistics import Estimate
from contend.runs.summary import CellSummary

_FEWEST = 4
_SIGNIFICANCE = 0.01


def typical_time(cell: CellSummary) -> Estimate | None:
    """The median or, where samples are of two kinds, the mean of both by their shares.

    A median tells of one kind only: with a time-out in every third sample it stays what it was.

    Returns:
        Seconds with both ends of an interval: the median's, or what the interval of the slow kind's
        share leaves (Clopper and Pearson); None where there are too few samples.
    """
    return _mixed(cell.modes) if cell.modes is not None else median_time(cell)


def median_time(cell: CellSummary) -> Estimate | None:
    """The median with its interval, which with four or five samples is their range.

    None with fewer, or when it is not above zero.
    """
    if not cell.median.value > 0:
        return None
    if cell.median.low is not None:
        return cell.median
    used = cell.used
    if len(used) < _FEWEST:
        return None
    return Estimate(cell.median.value, float(used.min()), float(used.max()))


def time_against(cell: CellSummary, reference: CellSummary) -> Estimate | None:
    """The time of a cell where it is held against another.

    Slow samples count only where they are more frequent than in the reference (Fisher's exact test,
    1 %): hiccups of the machine come with any size and any schedule. Slow are those as far above
    the reference's median as the middle of the cell's two kinds is above its faster kind.
    """
    if cell.modes is None:
        return median_time(cell)
    factor = math.sqrt(cell.modes.slow_s / cell.modes.fast_s)
    ours = _slow_and_fast(cell, cell.modes.fast_s * factor)
    theirs = _slow_and_fast(reference, reference.median.value * factor)
    more = _more_frequent(ours, theirs) < _SIGNIFICANCE
    return typical_time(cell) if more else median_time(cell)


def _slow_and_fast(cell: CellSummary, cut: float) -> tuple[int, int]:
    slow = int((cell.used > cut).sum())
    return slow, len(cell.used) - slow


def _more_frequent(ours: tuple[int, int], theirs: tuple[int, int]) -> float:
    """Probability that the first of equals has as many slow samples."""
    slow, count, others = ours[0] + theirs[0], sum(ours), sum(theirs)
    # Of all ways to choose which samples are slow, those in which as many are ours.
    possible = np.arange(ours[0], min(slow, count) + 1)
    ways = _log_choose(count, possible) + _log_choose(others, slow - possible)
    return float(np.exp(ways - _log_choose(count + others, np.array(slow))).sum())


def _log_choose(of: int, count: NDArray[np.int64]) -> NDArray[np.float64]:
    """Logarithm of the binomial coefficient; -infinity where there are not so many."""
    with np.errstate(divide="ignore"):
        found: NDArray[np.float64] = np.where(
            count <= of,
            gammaln(of + 1) - gammaln(count + 1) - gammaln(np.maximum(of - count, 0) + 1),
            -np.inf,
        )
    return found


def _mixed(modes: Modes) -> Estimate:
    """Mean of two kinds, with the interval that the share of the slow one leaves."""
    slow, fast = modes.slow, modes.count - modes.slow
    shares = (
        modes.slow_share,
        float(betaincinv(slow, fast + 1, 0.025)),
        float(betaincinv(slow + 1, fast, 0.975)),
    )
    apart = modes.slow_s - modes.fast_s
    return Estimate(*(modes.fast_s + share * apart for share in shares))
