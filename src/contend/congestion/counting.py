"""Simulation: samples of a pattern on a fabric, counted batch by batch until enough is known."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.congestion.drawing import (
    PatternSource,
    PlacementSource,
    Seating,
    arrange,
    check_seed,
    seat,
)
from contend.congestion.messages import channels_of_fabric
from contend.congestion.processes import Communicator, agree, end_all, gather, thread_count
from contend.congestion.rates import LinkRates, link_rates
from contend.congestion.simulation import Simulation, half_width
from contend.errors import UsageError
from contend.fabric import Fabric
from contend.pattern import Pattern
from contend.placement import HostChoice, Placement
from contend.routes import HashedRoutes, make_resolver

Progress = Callable[[int, int], None]
"""Called with the samples done and the samples to do (an estimate while a precision is sought)."""

DEFAULT_PRECISION = 0.001
_MOST_SAMPLES = 1_000_000
# Outcomes up to this number are all counted rather than sampled.
_FEW_OUTCOMES = 100_000
# Every outcome leaves its figures in memory, three numbers each.
_MOST_OUTCOMES = 10_000_000
# What the core says of every sample where links differ in rate.
_WEIGHED = (
    *("share", "mean_slowdown", "max_slowdown"),
    *("bytes_per_second", "mean_seconds_per_byte", "max_seconds_per_byte"),
)
# The interval of fewer samples is not trusted to end a simulation.
_LEAST_SAMPLES = 64


class SimulationInterrupted(KeyboardInterrupt):
    """A simulation was interrupted; `simulation` holds what had been counted by then."""

    def __init__(self, simulation: Simulation) -> None:
        super().__init__()
        self.simulation = simulation


def simulate(
    fabric: Fabric,
    pattern: PatternSource = "bisect",
    *,
    placement: PlacementSource = "random",
    hosts: HostChoice | None = None,
    ranks_per_host: int = 1,
    ranks: int | None = None,
    samples: int | None = None,
    precision: float | None = None,
    exhaustive: bool = False,
    seed: int = 1,
    threads: int | None = None,
    spread: bool = False,
    rate: float | None = None,
    equal_rates: bool = False,
    progress: Progress | None = None,
    communicator: Communicator | None = None,
) -> Simulation:
    """Counts the congestion of a pattern on a fabric; the arguments are `contend.simulate`'s.

    Raises:
        UsageError: fabric, pattern and placement do not fit together.
        OtherProcessError: another process of the communicator failed.
        SimulationInterrupted: after an interrupt, or what else ends the program, with what was
            counted until then.
    """
    started = time.perf_counter()

    def prepare() -> _Count:
        check_seed(seed)
        chosen = arrange(fabric, pattern, placement, hosts, ranks_per_host, ranks)
        seating = seat(*chosen)
        drawn = isinstance(fabric.routes, HashedRoutes)
        plan = plan_samples(*chosen, seating, samples, precision, exhaustive, drawn=drawn)
        rates = link_rates(fabric, seating.hosts, rate=rate, equal=equal_rates)
        return _Count(fabric, *chosen, seating, plan, seed, spread, rates, started)

    count = agree(communicator, prepare)
    workers = thread_count(threads, communicator)
    try:
        count.run(workers, communicator, progress)
    except (KeyboardInterrupt, SystemExit) as asked:
        end_all(communicator)
        if count.total.samples == 0:
            raise
        raise SimulationInterrupted(count.result()) from asked
    return count.result()


class _Count:
    """One simulation under way."""

    def __init__(
        self,
        fabric: Fabric,
        pattern: Pattern,
        placement: Placement,
        seating: Seating,
        plan: SamplePlan,
        seed: int,
        spread: bool,
        rates: LinkRates,
        started: float,
    ) -> None:
        self._fabric = fabric
        self._pattern = pattern
        self._placement = placement
        self._seating = seating
        self._plan = plan
        self._seed = seed
        self._rates = rates
        self._started = started
        self._resolver = make_resolver(
            fabric,
            seating.hosts,
            spread=spread,
            messages=plan.most * pattern.rounds * pattern.ranks,
        )
        self.total = Totals(pattern.rounds, len(seating.hosts) * 2 + 2 * fabric.cables)

    def run(
        self, threads: int, communicator: Communicator | None, progress: Progress | None
    ) -> None:
        """Counts batch after batch until the plan is fulfilled."""
        for first, size in self._plan.batches(self._batch_size()):
            self.total.add(self._batch(first, size, threads, communicator))
            bandwidth = self.total.bandwidth
            if progress is not None:
                progress(self.total.samples, self._plan.expected(bandwidth))
            if self._plan.reached(bandwidth):
                break

    def _batch_size(self) -> int:
        """Samples a batch: about a tenth of a second's work, the same on every machine."""
        work = self._pattern.core.messages_expected * self._resolver.stride
        return min(max((1 << 25) // max(work, 1), 16), 1 << 16)

    def _batch(
        self, first: int, size: int, threads: int, communicator: Communicator | None
    ) -> list[dict[str, Any]]:
        """Results of one batch, in the order of samples: one for every process."""
        processes, rank = (communicator.size, communicator.rank) if communicator else (1, 0)
        begin, end = (first + size * k // processes for k in (rank, rank + 1))
        return gather(
            communicator,
            lambda: _core.simulate(
                self._resolver,
                self._pattern.core,
                self._seating.slots,
                self._seating.ranks_per_slot,
                self._seating.random,
                self._seed,
                begin,
                end - begin,
                self._plan.enumerate,
                threads,
                self._rates.by_place,
            ),
        )

    def result(self) -> Simulation:
        """What has been counted so far."""
        fabric, pattern, total = self._fabric, self._pattern, self.total
        largest = int(np.flatnonzero(total.histogram)[-1]) if total.histogram.any() else 0
        channels = channels_of_fabric(fabric, self._seating.hosts, total.channel_messages)
        # A round that never has a message has no congestion either.
        with_messages = np.maximum(total.round_samples, 1)
        return Simulation(
            fabric=fabric,
            fabric_name=fabric.name,
            engine=fabric.routes.engine if fabric.routes is not None else "",
            hosts=fabric.hosts,
            switches=fabric.switches,
            channels=fabric.channels,
            pattern=pattern.name,
            placement=self._placement.name,
            ranks=pattern.ranks,
            rounds=pattern.rounds,
            samples=total.samples,
            seed=self._seed,
            # After an interrupt some outcomes may be missing.
            exhaustive=self._plan.enumerate and total.samples == self._plan.most,
            outcomes=self._plan.outcomes,
            scale=pattern.scale,
            bandwidth=total.bandwidth,
            mean_congestion=total.column("mean_congestion"),
            max_congestion=total.column("max_congestion"),
            round_mean_congestion=total.round_mean * _core.MEAN_UNIT / with_messages,
            round_max_congestion=total.round_max / with_messages,
            histogram=total.histogram[: largest + 1],
            channel_load=channels / (total.samples * pattern.rounds),
            links=self._rates.links,
            port_rate=self._rates.port,
            **total.weighed(),
            elapsed_s=time.perf_counter() - self._started,
            drawing_s=total.drawing_s,
            counting_s=total.counting_s,
            messages=self._messages(),
        )

    def _messages(self) -> int:
        """Number of messages, which is not what the histogram holds when bytes weigh them."""
        pattern = self._pattern
        if not pattern.core.weighted:
            return int(self.total.histogram.sum())
        of_sample = sum(len(pattern.messages(number)[0]) for number in range(pattern.rounds))
        return self.total.samples * of_sample


class Totals:
    """Sums of all batches so far."""

    def __init__(self, rounds: int, channels: int) -> None:
        self.samples = 0
        self._columns: dict[str, list[NDArray[np.float64]]] = {
            name: [] for name in ("bandwidth", "mean_congestion", "max_congestion", *_WEIGHED)
        }
        self.round_mean = np.zeros(rounds, dtype=np.uint64)
        self.round_max = np.zeros(rounds, dtype=np.uint64)
        self.round_samples = np.zeros(rounds, dtype=np.uint64)
        self.channel_messages = np.zeros(channels, dtype=np.uint64)
        self.histogram = np.zeros(0, dtype=np.uint64)
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
            self.channel_messages += batch["channel_messages"]
            longer = max(len(self.histogram), len(batch["histogram"]))
            self.histogram = np.pad(self.histogram, (0, longer - len(self.histogram)))
            self.histogram[: len(batch["histogram"])] += batch["histogram"]
            self.drawing_s += batch["drawing_seconds"]
            self.counting_s += batch["counting_seconds"]

    @property
    def bandwidth(self) -> NDArray[np.float64]:
        """What messages get, by the rates of links where these differ, shape [samples]."""
        share = self.column("share")
        return share if len(share) else self.column("bandwidth")

    def weighed(self) -> dict[str, NDArray[np.float64]]:
        """The figures beside it that go by rates; none where all links carry the same."""
        named = {name: self.column(name) for name in _WEIGHED if name != "share"}
        return {name: values for name, values in named.items() if len(values)}

    def column(self, name: str) -> NDArray[np.float64]:
        """A figure of every sample so far, shape [samples]."""
        parts = self._columns[name]
        if len(parts) > 1:
            parts[:] = [np.concatenate(parts)]
        return parts[0]


@dataclass(frozen=True)
class SamplePlan:
    """How many samples a simulation takes, and whether they are drawn or enumerated.

    Attributes:
        most: number of samples to end at.
        precision: relative half-width of the interval to end at, if any.
        enumerate: every outcome is counted once instead of drawing some.
        outcomes: number of equally likely outcomes; None when too many to count in 63 bits.
    """

    most: int
    precision: float | None
    enumerate: bool
    outcomes: int | None

    def batches(self, size: int) -> Iterator[tuple[int, int]]:
        """First sample and number of samples of every batch."""
        for first in range(0, self.most, size):
            yield first, min(size, self.most - first)

    def reached(self, bandwidth: NDArray[np.float64]) -> bool:
        """Whether the interval is narrow enough."""
        if self.precision is None or len(bandwidth) < _LEAST_SAMPLES:
            return False
        return half_width(bandwidth) <= self.precision * float(bandwidth.mean())

    def expected(self, bandwidth: NDArray[np.float64]) -> int:
        """How many samples it will take, as far as can be told."""
        if self.precision is None or len(bandwidth) < 2:
            return self.most
        ratio = half_width(bandwidth) / (self.precision * float(bandwidth.mean()))
        return min(self.most, max(len(bandwidth), int(len(bandwidth) * ratio**2)))


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
    outcomes = (
        None
        if drawn
        else _core.outcomes(pattern.core, seating.slots, seating.ranks_per_slot, seating.random)
    )
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
        precision = DEFAULT_PRECISION
    return SamplePlan(samples or _MOST_SAMPLES, precision, False, outcomes)
