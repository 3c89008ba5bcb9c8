"""Samples of a simulation: how many are drawn or enumerated, and the sums of batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import ArgumentError, UsageError
from contend.congestion.drawing import Seating
from contend.congestion.simulation.averages import half_width
from contend.traffic.pattern import Pattern
from contend.traffic.placement import Placement

_MOST_SAMPLES = 1_000_000
# Standard errors that half an interval of 95 % has where samples are many.
_OF_MANY = 1.96
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
        # Not by the interval of those few, which is wide as their spread may be chance: of two
        # samples it would ask for forty times as many as are needed.
        width = _OF_MANY * float(bandwidth.std(ddof=1) / bandwidth.mean())
        most = max(len(bandwidth), self.least, int((width / self.precision) ** 2))
        if self.later is not None and most > self.quick:
            enough = int((width / self.later) ** 2)
            most = max(len(bandwidth), self.least, self.quick, enough)
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
        raise ArgumentError("samples", f"expected at least 1, got {samples}")
    if precision is not None and not 0 < precision < 1:
        raise ArgumentError(
            "precision", f"expected a share between 0 and 100 %, got {100 * precision:g} %"
        )
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


# What the core says of every sample where links differ in rate.
_WEIGHED = (
    *("share", "mean_slowdown", "max_slowdown"),
    *("bytes_per_second", "mean_seconds_per_byte", "max_seconds_per_byte"),
    "port_seconds_per_byte",
)
_PLAIN = ("bandwidth", "mean_congestion", "max_congestion", "port_congestion")
# Of pairs that exchange both ways, where rounds consist of these; the second as those above.
_OF_PAIRS = ("pair_bandwidth", "pair_bytes_per_second")


class Totals:
    """Sums of all batches so far."""

    def __init__(self, rounds: int, channels: int) -> None:
        self.samples = 0
        self._columns: dict[str, list[NDArray[np.float64]]] = {
            name: [] for name in (*_PLAIN, *_WEIGHED, *_OF_PAIRS)
        }
        self.round_mean = np.zeros(rounds, dtype=np.uint64)
        self.round_max = np.zeros(rounds, dtype=np.uint64)
        self.round_samples = np.zeros(rounds, dtype=np.uint64)
        self.round_max_time = np.zeros(rounds, dtype=np.uint64)
        self.channel_messages = np.zeros(channels, dtype=np.uint64)
        self.histogram = np.zeros(0, dtype=np.uint64)
        self.gap = 1.0
        self.drawing_s = 0.0
        self.counting_s = 0.0

    def add(self, batches: list[dict[str, Any]]) -> None:
        """Adds batches in the order of their samples."""
        for batch in batches:
            for name, parts in self._columns.items():
                parts.append(batch[name])
            self.samples += len(batch["bandwidth"])
            self.round_mean += batch["round_mean_congestion"]
            self.round_max += batch["round_max_congestion"]
            self.round_samples += batch["round_samples"]
            if len(batch["round_max_time"]):
                self.round_max_time += batch["round_max_time"]
            self.channel_messages += batch["channel_messages"]
            longer = max(len(self.histogram), len(batch["histogram"]))
            self.histogram = np.pad(self.histogram, (0, longer - len(self.histogram)))
            self.histogram[: len(batch["histogram"])] += batch["histogram"]
            self.gap = max(self.gap, batch["gap"])
            self.drawing_s += batch["drawing_seconds"]
            self.counting_s += batch["counting_seconds"]

    @property
    def bandwidth(self) -> NDArray[np.float64]:
        """What messages get, by the rates of links where these differ, shape [samples]."""
        share = self.column("share")
        return share if len(share) else self.column("bandwidth")

    def further(self) -> dict[str, Any]:
        """The figures beside it that not all fabrics and patterns have."""
        beside = ("share", "port_seconds_per_byte")
        named = {n: self.column(n) for n in (*_WEIGHED, *_OF_PAIRS) if n not in beside}
        return {name: values for name, values in named.items() if len(values)}

    @property
    def of_hosts(self) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """What hosts get until the last message of a round is done; see `EachHost`.

        Shares of what their ports allow, and by the rates of links where these differ bytes per
        second, both of shape [samples].
        """
        messages, seconds = self.column("port_congestion"), self.column("port_seconds_per_byte")
        if len(seconds) == 0:
            return messages / self.column("max_congestion"), None
        slowest = self.column("max_seconds_per_byte")
        return seconds / slowest, messages / slowest

    def column(self, name: str) -> NDArray[np.float64]:
        """A figure of every sample so far, shape [samples]."""
        parts = self._columns[name]
        if len(parts) > 1:
            parts[:] = [np.concatenate(parts)]
        return parts[0]
