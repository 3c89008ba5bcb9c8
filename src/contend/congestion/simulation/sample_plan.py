"""How many samples a simulation takes, and whether they are drawn or enumerated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import UsageError
from contend.congestion.drawing import Seating
from contend.congestion.simulation.averages import half_width
from contend.traffic.pattern import Pattern
from contend.traffic.placement import Placement

_MOST_SAMPLES = 1_000_000
# Outcomes up to this number are all counted rather than sampled.
_FEW_OUTCOMES = 100_000
# Every outcome leaves its figures in memory, three numbers each.
_MOST_OUTCOMES = 10_000_000
# The interval of fewer samples is not trusted to end a simulation, unless each takes so much work
# that a few last seconds, or that two take minutes: such samples hardly differ.
_LEAST_SAMPLES, _LEAST_OF_LONG, _LEAST_OF_LONGEST = 64, 8, 2
_SECONDS_OF_WORK, _MINUTES_OF_WORK = 1 << 30, 1 << 33
# What is precise enough where nobody says what is, first and once that many seconds were counted.
DEFAULT_PRECISION, LATER_PRECISION = 0.001, 0.01


@dataclass(frozen=True)
class SamplePlan:
    """How many samples a simulation takes, and whether they are drawn or enumerated."""

    most: int
    """Number of samples to end at."""
    precision: float | None
    """Relative half-width of the interval to end at, if any."""
    enumerate: bool
    """Whether every outcome is counted once instead of drawing some."""
    outcomes: int | None
    """Number of equally likely outcomes; None when too many to count in 63 bits."""
    least: int = _LEAST_SAMPLES
    """Number of samples whose interval may end it."""
    quick: int = _MOST_SAMPLES
    """Number of samples that are done within seconds."""
    later: float | None = None
    """Precision that is enough after these; None where somebody says what is."""

    def working(self, work: int) -> SamplePlan:
        """The same where each sample takes so much work, which the core does 2^28 of in a second.

        How many that allows is the same on every machine.
        """
        quick = _SECONDS_OF_WORK // max(work, 1)
        few = min(_LEAST_OF_LONG, max(_MINUTES_OF_WORK // max(work, 1), _LEAST_OF_LONGEST))
        return replace(self, quick=quick, least=min(max(quick, few), _LEAST_SAMPLES))

    def batches(self, size: int) -> Iterator[tuple[int, int]]:
        """First sample and number of samples of every batch."""
        for first in range(0, self.most, size):
            yield first, min(size, self.most - first)

    def reached(self, bandwidth: NDArray[np.float64]) -> bool:
        """Whether the interval is narrow enough."""
        if self.precision is None or len(bandwidth) < self.least:
            return False
        return half_width(bandwidth) <= self._enough(len(bandwidth)) * float(bandwidth.mean())

    def _enough(self, samples: int) -> float:
        """The precision that ends it after so many samples."""
        assert self.precision is not None
        return self.precision if self.later is None or samples < self.quick else self.later

    def expected(self, bandwidth: NDArray[np.float64]) -> int:
        """How many samples it will take, as far as can be told."""
        if self.precision is None:
            return self.most
        if len(bandwidth) < 2:
            return min(self.most, self.least)
        done, width = len(bandwidth), half_width(bandwidth) / float(bandwidth.mean())
        most = max(done, self.least, int(done * (width / self.precision) ** 2))
        if self.later is not None and most > self.quick:
            most = max(done, self.least, self.quick, int(done * (width / self.later) ** 2))
        return min(self.most, most)


def plan_samples(
    pattern: Pattern,
    placement: Placement,
    seating: Seating,
    samples: int | None,
    precision: float | None,
    exhaustive: bool,
    *,
    drawn: bool = False,
) -> SamplePlan:
    """Decides how many samples to draw, or to count every outcome; see `simulate`.

    Where routes are drawn too, outcomes are not counted.

    Raises:
        UsageError: a number is out of range, or there are too many outcomes to count.
    """
    if samples is not None and samples < 1:
        raise UsageError(f"expected at least 1 sample, got {samples}")
    if precision is not None and not 0 < precision < 1:
        raise UsageError(f"expected a precision between 0 and 100 %, got {precision:%}")
    outcomes = None if drawn else _core.outcomes(pattern.core, seating.core)
    if exhaustive and (outcomes is None or outcomes > _MOST_OUTCOMES):
        count = (
            "too many to count, or not equally likely ones" if outcomes is None else f"{outcomes:,}"
        )
        raise UsageError(
            f"an exhaustive simulation counts up to {_MOST_OUTCOMES:,} equally likely outcomes; "
            f"{pattern.name} with {placement.name} placement has {count}: draw samples instead"
        )
    few = outcomes is not None and outcomes <= (_FEW_OUTCOMES if samples is None else samples)
    if outcomes is not None and (exhaustive or few):
        return SamplePlan(outcomes, None, True, outcomes)
    if samples is None and precision is None:
        return SamplePlan(_MOST_SAMPLES, DEFAULT_PRECISION, False, outcomes, later=LATER_PRECISION)
    return SamplePlan(samples or _MOST_SAMPLES, precision, False, outcomes)
