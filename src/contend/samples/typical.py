"""The time that stands for a cell where schedules and sizes are judged."""

from __future__ import annotations

from contend.samples.modes import Modes
from contend.samples.statistics import Estimate
from contend.samples.summary import CellSummary

_FEWEST = 3


def typical_time(cell: CellSummary) -> Estimate | None:
    """The median or, where samples are of two kinds, the mean of both by their shares.

    A median tells of one kind only: with a time-out in every third sample it stays what it was.

    Returns:
        Seconds with both ends of an interval: the median's, the samples' range where there are
        three to five, or what the interval of the slow kind's share leaves (Clopper and Pearson);
        None where there are fewer samples.
    """
    if cell.modes is not None:
        return _mixed(cell.modes)
    if not cell.median.value > 0:
        return None
    if cell.median.low is not None:
        return cell.median
    used = cell.used
    if len(used) < _FEWEST:
        return None
    return Estimate(cell.median.value, float(used.min()), float(used.max()))


def _mixed(modes: Modes) -> Estimate:
    """Mean of two kinds, with the interval that the share of the slow one leaves."""
    from scipy.stats import beta

    slow, fast = modes.slow, modes.count - modes.slow
    shares = (
        modes.slow_share,
        float(beta.ppf(0.025, slow, fast + 1)),
        float(beta.ppf(0.975, slow + 1, fast)),
    )
    apart = modes.slow_s - modes.fast_s
    return Estimate(*(modes.fast_s + share * apart for share in shares))
