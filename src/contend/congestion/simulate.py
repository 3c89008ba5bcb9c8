"""Simulation: samples of a pattern on a fabric, counted until enough is known."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.congestion.communicator import Communicator
from contend.congestion.messages import channels_of_fabric
from contend.congestion.simulation import Simulation, half_width
from contend.errors import UsageError
from contend.fabric.fabric import Fabric
from contend.pattern import Pattern
from contend.pattern import parse as parse_pattern
from contend.placement import Placement
from contend.placement import parse as parse_placement
from contend.routes.resolver import make_resolver

DEFAULT_PRECISION = 0.001
_MOST_SAMPLES = 1_000_000
# Outcomes up to this number are all counted rather than sampled.
_FEW_OUTCOMES = 100_000
# Every outcome leaves its figures in memory, three numbers each.
_MOST_OUTCOMES = 10_000_000
# The interval of fewer samples is not trusted to end a simulation.
_LEAST_SAMPLES = 64

Progress = Callable[[int, int], None]
"""Called with the samples done and the samples to do (an estimate while a precision is sought)."""


def simulate(
    fabric: Fabric,
    pattern: str | Pattern = "bisect",
    *,
    placement: str | Placement = "random",
    hosts: str | None = None,
    ranks_per_host: int = 1,
    ranks: int | None = None,
    samples: int | None = None,
    precision: float | None = None,
    exhaustive: bool = False,
    seed: int = 1,
    threads: int | None = None,
    spread: bool = False,
    progress: Progress | None = None,
    communicator: Communicator | None = None,
) -> Simulation:
    """Counts the congestion of a pattern on a fabric.

    Args:
        fabric: with routes.
        pattern: a specification such as ``bisect`` or ``shift:3`` (see `contend.pattern.FORMS`).
        placement: which rank sits on which host; ``random`` draws another one for every sample.
        hosts: a choice among the fabric's hosts; None is all.
        ranks_per_host: ranks that share a host.
        ranks: number of ranks; None fills the placement.
        samples: how many patterns and placements to draw; None: until `precision` is reached.
        precision: relative half-width of the 95 % interval to stop at; None with `samples` None is
            0.001. Whatever comes first ends the simulation.
        exhaustive: count every outcome instead of drawing some.
        seed: of all random choices; the same seed gives the same result on any number of threads.
        threads: None: one per core this process may use.
        spread: use all addresses of hosts with LMC > 0 in turn instead of the first.
        progress: is told how far the simulation is.
        communicator: shares the samples out over MPI ranks; everyone gets the whole result.

    Raises:
        UsageError: when fabric, pattern and placement do not fit together.
    """
    started = time.perf_counter()
    if isinstance(placement, str):
        placement = parse_placement(placement, fabric, ranks_per_host=ranks_per_host, hosts=hosts)
    elif hosts is not None or ranks_per_host != 1:
        raise UsageError("hosts and ranks per host belong to the placement, which is made already")
    if not 0 <= seed < 1 << 64:
        raise UsageError(f"a seed between 0 and 2^64 - 1, got {seed}")
    if ranks is None:
        ranks = placement.ranks
    if not 1 <= ranks <= placement.ranks:
        raise UsageError(f"between 1 and {placement.ranks} ranks on these hosts, got {ranks}")
    if isinstance(pattern, str):
        pattern = parse_pattern(pattern, ranks)
    seating = _seat(pattern, placement)
    plan = _plan(pattern, placement, seating, samples, precision, exhaustive)
    resolver = make_resolver(
        fabric, seating.hosts, spread=spread, messages=plan.most * pattern.rounds * ranks
    )
    total = _Total(pattern.rounds, len(seating.hosts) * 2 + 2 * fabric.cables)
    run = _Runner(resolver, pattern, seating, seed, plan.enumerate, _threads(threads), communicator)
    for first, count in plan.batches(run.batch_size()):
        total.add(run(first, count))
        if progress is not None:
            progress(total.samples, plan.expected(total.bandwidth_so_far()))
        if plan.reached(total.bandwidth_so_far()):
            break
    return _result(fabric, pattern, placement, seating, seed, plan, total, started)


@dataclass(frozen=True, eq=False)
class _Seating:
    """A placement in the core's terms: the hosts that take part, and the slots among them."""

    hosts: NDArray[np.uint32]
    slots: NDArray[np.uint32]
    ranks_per_slot: int
    random: bool


def _seat(pattern: Pattern, placement: Placement) -> _Seating:
    hosts, first, slots = np.unique(placement.hosts, return_index=True, return_inverse=True)
    # Hosts in the order in which ranks fill them: neighbouring ranks share cache lines.
    order = np.argsort(first, kind="stable")
    position = np.empty(len(order), dtype=np.uint32)
    position[order] = np.arange(len(order), dtype=np.uint32)
    # Shuffling the slots of a pattern that treats all ranks alike would change nothing, unless some
    # slots stay empty.
    full = pattern.ranks == placement.ranks
    drawn = placement.random and not (pattern.core.symmetric and full)
    return _Seating(hosts[order], position[slots], placement.ranks_per_host, drawn)


@dataclass(frozen=True)
class _Plan:
    """When to stop."""

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


def _plan(
    pattern: Pattern,
    placement: Placement,
    seating: _Seating,
    samples: int | None,
    precision: float | None,
    exhaustive: bool,
) -> _Plan:
    if samples is not None and samples < 1:
        raise UsageError(f"at least 1 sample, got {samples}")
    if precision is not None and not 0 < precision < 1:
        raise UsageError(f"a precision between 0 and 100 %, got {precision:%}")
    outcomes = _core.outcomes(pattern.core, seating.slots, seating.ranks_per_slot, seating.random)
    if exhaustive and (outcomes is None or outcomes > _MOST_OUTCOMES):
        count = "more, or none that are equally likely" if outcomes is None else f"{outcomes:,}"
        raise UsageError(
            f"an exhaustive simulation counts up to {_MOST_OUTCOMES:,} equally likely outcomes, "
            f"{pattern.name} with {placement.name} placement has {count}; draw samples instead"
        )
    few = outcomes is not None and outcomes <= (_FEW_OUTCOMES if samples is None else samples)
    if outcomes is not None and (exhaustive or few):
        return _Plan(outcomes, None, True, outcomes)
    if samples is None and precision is None:
        precision = DEFAULT_PRECISION
    return _Plan(samples or _MOST_SAMPLES, precision, False, outcomes)


class _Runner:
    """Runs batches in the core, shared out over MPI ranks when there are several."""

    def __init__(
        self,
        resolver: _core.Resolver,
        pattern: Pattern,
        seating: _Seating,
        seed: int,
        enumerate_outcomes: bool,
        threads: int,
        communicator: Communicator | None,
    ) -> None:
        self._resolver = resolver
        self._pattern = pattern
        self._seating = seating
        self._seed = seed
        self._enumerate = enumerate_outcomes
        self._threads = threads
        self._communicator = communicator

    def batch_size(self) -> int:
        """Samples a batch: about a tenth of a second's work, the same on every machine."""
        work = self._pattern.rounds * self._pattern.ranks * self._resolver.stride
        if self._pattern.name == "alltoall":
            work *= self._pattern.ranks
        return min(max((1 << 25) // max(work, 1), 16), 1 << 16)

    def __call__(self, first: int, count: int) -> list[dict[str, Any]]:
        """Results of one batch, in the order of samples."""
        if self._communicator is None:
            return [self._run(first, count)]
        size, rank = self._communicator.size, self._communicator.rank
        bounds = [first + count * k // size for k in range(size + 1)]
        mine = self._run(bounds[rank], bounds[rank + 1] - bounds[rank])
        return self._communicator.allgather(mine)

    def _run(self, first: int, count: int) -> dict[str, Any]:
        result: dict[str, Any] = _core.simulate(
            self._resolver,
            self._pattern.core,
            self._seating.slots,
            self._seating.ranks_per_slot,
            self._seating.random,
            self._seed,
            first,
            count,
            self._enumerate,
            self._threads,
        )
        return result


class _Total:
    """Sums of all batches so far."""

    def __init__(self, rounds: int, channels: int) -> None:
        self.samples = 0
        self._columns: dict[str, list[NDArray[np.float64]]] = {
            name: [] for name in ("bandwidth", "mean_congestion", "max_congestion")
        }
        self.round_mean = np.zeros(rounds, dtype=np.uint64)
        self.round_max = np.zeros(rounds, dtype=np.uint64)
        self.channel_messages = np.zeros(channels, dtype=np.uint64)
        self.histogram = np.zeros(0, dtype=np.uint64)
        self.drawing_s = 0.0
        self.counting_s = 0.0

    def add(self, batches: list[dict[str, Any]]) -> None:
        for batch in batches:
            for name, parts in self._columns.items():
                parts.append(batch[name])
            self.samples += len(batch["bandwidth"])
            self.round_mean += batch["round_mean_congestion"]
            self.round_max += batch["round_max_congestion"]
            self.channel_messages += batch["channel_messages"]
            longer = max(len(self.histogram), len(batch["histogram"]))
            self.histogram = np.pad(self.histogram, (0, longer - len(self.histogram)))
            self.histogram[: len(batch["histogram"])] += batch["histogram"]
            self.drawing_s += batch["drawing_seconds"]
            self.counting_s += batch["counting_seconds"]

    def column(self, name: str) -> NDArray[np.float64]:
        parts = self._columns[name]
        if len(parts) > 1:
            parts[:] = [np.concatenate(parts)]
        return parts[0]

    def bandwidth_so_far(self) -> NDArray[np.float64]:
        return self.column("bandwidth")


def _threads(threads: int | None) -> int:
    if threads is None:
        allowed = len(os.sched_getaffinity(0))
        text = os.environ.get("OMP_NUM_THREADS", "")
        return min(allowed, int(text)) if text.isdigit() and int(text) > 0 else allowed
    if threads < 1:
        raise UsageError(f"at least 1 thread, got {threads}")
    return threads


def _result(
    fabric: Fabric,
    pattern: Pattern,
    placement: Placement,
    seating: _Seating,
    seed: int,
    plan: _Plan,
    total: _Total,
    started: float,
) -> Simulation:
    rounds_counted = total.samples * pattern.rounds
    largest = int(np.flatnonzero(total.histogram)[-1]) if total.histogram.any() else 0
    channels = channels_of_fabric(fabric, seating.hosts, total.channel_messages)
    return Simulation(
        fabric=fabric.name,
        engine=fabric.routes.engine if fabric.routes is not None else "",
        hosts=fabric.hosts,
        switches=fabric.switches,
        channels=fabric.channels,
        pattern=pattern.name,
        placement=placement.name,
        ranks=pattern.ranks,
        rounds=pattern.rounds,
        samples=total.samples,
        seed=seed,
        exhaustive=plan.enumerate,
        outcomes=plan.outcomes,
        scale=pattern.scale,
        bandwidth=total.column("bandwidth"),
        mean_congestion=total.column("mean_congestion"),
        max_congestion=total.column("max_congestion"),
        round_mean_congestion=total.round_mean * _core.MEAN_UNIT / total.samples,
        round_max_congestion=total.round_max / total.samples,
        histogram=total.histogram[: largest + 1],
        channel_load=channels / rounds_counted,
        elapsed_s=time.perf_counter() - started,
        drawing_s=total.drawing_s,
        counting_s=total.counting_s,
        messages=_messages(pattern, total),
    )


def _messages(pattern: Pattern, total: _Total) -> int:
    """Number of messages, which is not what the histogram holds when they count by their bytes."""
    if not pattern.core.weighted:
        return int(total.histogram.sum())
    rounds = range(pattern.rounds)
    return total.samples * sum(len(pattern.messages(number)[0]) for number in rounds)
