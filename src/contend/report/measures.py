"""The bandwidth figures that one simulation yields, and the words for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from contend.congestion import Simulation, half_width


class Measure(Enum):
    """How the congestions π of a sample become one bandwidth; values are its words on an axis.

    Bandwidths are fractions of the link speed, multiplied by the simulation's scale, which takes
    out what a pattern such as ``neighbour:6`` does to its own end points.
    """

    MEAN_BANDWIDTH = "mean of 1/π"
    OF_MEAN_CONGESTION = "1 / mean π"
    OF_MAX_CONGESTION = "1 / mean of the rounds' largest π"

    def per_sample(self, simulation: Simulation) -> NDArray[np.float64]:
        """Bandwidth of every sample, shape [samples]."""
        if self is Measure.MEAN_BANDWIDTH:
            return simulation.scale * simulation.bandwidth
        if self is Measure.OF_MEAN_CONGESTION:
            return simulation.scale / simulation.mean_congestion
        return simulation.scale / simulation.max_congestion

    def estimate(self, simulation: Simulation) -> Estimate:
        """Mean over the samples with its 95 % interval; exhaustive results have no interval."""
        samples = self.per_sample(simulation)
        mean = float(samples.mean())
        half = 0.0 if simulation.exhaustive else half_width(samples)
        return Estimate(mean, mean - half, mean + half)


@dataclass(frozen=True)
class Estimate:
    """A mean and the ends of its 95 % interval."""

    mean: float
    low: float
    high: float


def percent(fraction: float) -> str:
    """A fraction for people: ``44.8 %``."""
    return f"{100 * fraction:.1f} %"


def labels(simulations: Sequence[Simulation]) -> list[str]:
    """What tells simulations apart, in as few words as will do."""
    first = (
        [s.fabric_name for s in simulations],
        engine_labels([s.engine for s in simulations]),
        [s.pattern for s in simulations],
    )
    further = ([s.placement for s in simulations], [f"{s.ranks} ranks" for s in simulations])
    # Alone, or all alike: the fabric and its engine say most.
    telling = [column for column in first if len(set(column)) > 1] or list(first[:2])
    for column in further:
        if len(set(zip(*telling, strict=True))) == len(simulations):
            break
        if len(set(column)) > 1:
            telling.append(column)
    return [", ".join(filter(None, words)) for words in zip(*telling, strict=True)]


def engine_labels(engines: Sequence[str]) -> list[str]:
    """Engines without the word opensm, where nothing else would become the same."""
    short = [engine.removeprefix("opensm:") for engine in engines]
    clash = len(set(short)) < len(set(engines))
    return list(engines) if clash else short


def scaled_by(simulations: Sequence[Simulation]) -> str:
    """What bandwidths have been multiplied by, for an axis: ``, times 6`` or nothing."""
    scales = {s.scale for s in simulations} - {1.0}
    return f", times {scales.pop():g}" if len(scales) == 1 else ", scaled" if scales else ""


def headline_name(pattern: str) -> str:
    """What the effective bandwidth of a pattern is called."""
    return "effective bisection bandwidth" if _is_bisect(pattern) else "effective bandwidth"


def _is_bisect(pattern: str) -> bool:
    return pattern.split(":")[0] == "bisect"
