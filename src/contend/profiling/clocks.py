"""One clock for all ranks: ticks become nanoseconds of rank 0's host, with an uncertainty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Nanoseconds = NDArray[np.int64]
# Faster or slower than this by a part, no two clocks run: readings too close together say nothing.
_MOST_DRIFT = 1e-3
_FARTHEST = 2.0**62


@dataclass(frozen=True)
class LinearClock:
    """A clock that follows another: its time t becomes t + shift + slope (t - at)."""

    at: int = 0
    """Instant on this clock, in nanoseconds."""
    shift: float = 0.0
    """Nanoseconds to add there."""
    slope: float = 0.0
    """Nanoseconds to add for each one since."""
    uncertainty: float | None = 0.0
    """Nanoseconds, either way; None when the clocks were never compared."""

    def then(self, other: LinearClock) -> LinearClock:
        """This clock on that which the other one follows."""
        ahead = (self.at - other.at) + self.shift
        unsure = (self.uncertainty, other.uncertainty)
        return LinearClock(
            self.at,
            self.shift + other.shift + other.slope * ahead,
            self.slope + other.slope + self.slope * other.slope,
            None if None in unsure else sum(part for part in unsure if part is not None),
        )

    def on(self, nanoseconds: Nanoseconds) -> Nanoseconds:
        """Instants of this clock on the one that it follows."""
        since = (nanoseconds - self.at).astype(np.float64)
        return nanoseconds + _whole(self.shift + self.slope * since)


_UNKNOWN = LinearClock(uncertainty=None)


@dataclass(frozen=True)
class TickCounter:
    """Ticks as nanoseconds of the host's CLOCK_MONOTONIC."""

    ticks: int
    """Ticks at one instant."""
    nanoseconds: int
    """Nanoseconds of the same instant."""
    period: float | None
    """Nanoseconds of a tick; None when it was not read twice."""

    def at(self, ticks: NDArray[np.uint64]) -> Nanoseconds:
        """Instants in nanoseconds."""
        # Unsigned numbers that wrap around give the right difference, also of earlier ticks.
        since = (ticks - np.uint64(self.ticks)).view(np.int64).astype(np.float64)
        return self.nanoseconds + _whole(since * (self.period or 1.0))

    def seconds(self, ticks: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Durations in seconds."""
        return ticks.astype(np.float64) * ((self.period or 1.0) * 1e-9)


def _whole(nanoseconds: NDArray[np.float64]) -> Nanoseconds:
    """Rounded; what no clock shows, in a damaged file, is brought to what integers hold."""
    return np.rint(np.clip(nanoseconds, -_FARTHEST, _FARTHEST)).astype(np.int64)


def counter_of(clock: np.void) -> TickCounter:
    """The counter of a rank, by the two readings in its clock (dtype `CLOCK`)."""
    ticks = int(clock["end_ticks"]) - int(clock["start_ticks"])
    nanoseconds = int(clock["end_ns"]) - int(clock["start_ns"])
    period = nanoseconds / ticks if ticks > 0 and nanoseconds > 0 else None
    return TickCounter(int(clock["start_ticks"]), int(clock["start_ns"]), period)


def parent_of(rank: int) -> int:
    """A rank's parent in the binomial tree: itself without its lowest bit; rank 0 has none."""
    return rank & (rank - 1)


def against_parent(clock: np.void, *, same_host: bool) -> LinearClock:
    """A rank's clock against its parent's, linear between two comparisons.

    Args:
        clock: of dtype `CLOCK`.
        same_host: whether both read the same clock, which makes up for a missing comparison.
    """
    known = min(int(clock["known"]), 2)
    if known == 0:
        return LinearClock(uncertainty=0.0 if same_host else None)
    first: Any = clock["offsets"][0]
    at, shift, unsure = (int(first[name]) for name in ("at_ns", "offset_ns", "uncertainty_ns"))
    if known == 1 or same_host:
        # One host has one clock: two comparisons differ by their errors alone.
        return LinearClock(at, float(shift), 0.0, float(abs(unsure)))
    last: Any = clock["offsets"][1]
    between = int(last["at_ns"]) - at
    unsure = max(abs(unsure), abs(int(last["uncertainty_ns"])))
    drift = (int(last["offset_ns"]) - shift) / between if between > 0 else 0.0
    if abs(drift) > _MOST_DRIFT:
        drift = 0.0
        unsure += abs(int(last["offset_ns"]) - shift)
    return LinearClock(at, float(shift), drift, float(unsure))


def common_clocks(
    clocks: Mapping[int, np.void], hosts: Mapping[int, str]
) -> dict[int, LinearClock]:
    """Every rank's clock against that of rank 0.

    A rank whose parent left no record follows the clock of a lower rank on its host. Where there
    is none, its uncertainty is None.

    Args:
        clocks: by rank, of dtype `CLOCK`.
        hosts: by rank.
    """
    # Of rank 0 the others have told, whether or not it left a record itself.
    common = {0: LinearClock()}
    of_host: dict[str, LinearClock] = {}
    for rank in sorted(clocks):
        parent, host = parent_of(rank), hosts[rank]
        if rank:
            own = against_parent(clocks[rank], same_host=host == hosts.get(parent))
            common[rank] = own.then(common.get(parent, _UNKNOWN))
        if common[rank].uncertainty is None:
            common[rank] = of_host.get(host, _UNKNOWN)
        else:
            of_host.setdefault(host, common[rank])
    return {rank: common[rank] for rank in clocks}
