"""Whether samples are of two kinds, such as those with and without a time-out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from contend.runs.statistics import Values

SIGNIFICANCE = 0.003
LEAST_RATIO = 1.5
"""A gap between two kinds is at least this factor wide."""
LEAST_SHARE = 0.02
_FEWEST_OF_A_KIND = 2
_FEWEST = 6


@dataclass(frozen=True)
class Modes:
    """Two kinds of samples.

    Attributes:
        fast_s: median of the faster kind.
        slow_s: median of the slower kind.
        slow: number of the slower kind.
        count: number of all.
        p: how probable a gap as wide is in samples of one kind, after correction.
    """

    fast_s: float
    slow_s: float
    slow: int
    count: int
    p: float

    @property
    def slow_share(self) -> float:
        """Part of the samples that is of the slower kind."""
        return self.slow / self.count


def two_modes(times: Values) -> Modes | None:
    """The two kinds that samples fall into, or None where they are of one kind.

    The samples' logarithms are sorted. In samples of an exponential distribution the spacing with k
    samples beyond it, times k, is exponential too, and all those products are independent and alike
    (Rényi 1953). So each gap's product is held against the sum of the others on its side of the
    median: it is too wide with probability (1 + product / sum)^-(number of the others). Logarithms
    that fall off exponentially on either side of the median are times with a power-law tail, a
    generous idea of one kind: lighter tails leave smaller gaps far out. The probability, multiplied
    by the number of gaps, must be below 0.3 %. Besides, the gap must be a factor of 1.5 wide, and
    each kind must have two samples and 2 % of all: single slow samples are outliers, which the
    largest sample tells. The widest such gap parts the kinds.

    Args:
        times: seconds.
    """
    ordered = np.sort(times[times > 0])
    count = len(ordered)
    if count < _FEWEST or not ordered[-1] > LEAST_RATIO * ordered[0]:
        return None
    gaps = np.diff(np.log(ordered))
    below = np.arange(1, count)
    outside = np.minimum(below, count - below)
    products = outside * gaps
    p = _probabilities(products, below <= count / 2) * len(gaps)
    fewest = max(_FEWEST_OF_A_KIND, math.ceil(LEAST_SHARE * count))
    allowed = (outside >= fewest) & (gaps >= math.log(LEAST_RATIO)) & (p < SIGNIFICANCE)
    if not allowed.any():
        return None
    # Of several such gaps, as between one time-out and two, the widest tells most.
    at = int(np.argmax(np.where(allowed, gaps, -1.0)))
    return Modes(
        fast_s=float(np.median(ordered[: at + 1])),
        slow_s=float(np.median(ordered[at + 1 :])),
        slow=count - at - 1,
        count=count,
        p=float(min(p[at], 1.0)),
    )


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
    found = [modes for modes in map(two_modes, launches) if modes is not None]
    return min(found, key=lambda modes: modes.p, default=None)


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
