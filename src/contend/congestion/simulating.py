"""Simulation: samples of a pattern on a fabric, counted until enough is known."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import numpy as np

from contend import _core
from contend.congestion.batches import BatchRunner, Totals
from contend.congestion.communicator import Communicator
from contend.congestion.messages import channels_of_fabric
from contend.congestion.sample_plan import SamplePlan, plan_samples
from contend.congestion.seating import Seating, check_seed, choose, seat
from contend.congestion.simulation import Simulation
from contend.errors import UsageError
from contend.fabric import Fabric
from contend.pattern import Pattern
from contend.placement import Placement
from contend.routes import make_resolver

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
    check_seed(seed)
    pattern, placement = choose(fabric, pattern, placement, hosts, ranks_per_host, ranks)
    seating = seat(pattern, placement)
    plan = plan_samples(pattern, placement, seating, samples, precision, exhaustive)
    resolver = make_resolver(
        fabric, seating.hosts, spread=spread, messages=plan.most * pattern.rounds * pattern.ranks
    )
    total = Totals(pattern.rounds, len(seating.hosts) * 2 + 2 * fabric.cables)
    run = BatchRunner(
        resolver, pattern, seating, seed, plan.enumerate, _threads(threads), communicator
    )
    for first, count in plan.batches(run.batch_size()):
        total.add(run(first, count))
        if progress is not None:
            progress(total.samples, plan.expected(total.bandwidth_so_far()))
        if plan.reached(total.bandwidth_so_far()):
            break
    return _result(fabric, pattern, placement, seating, seed, plan, total, started)


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
    seating: Seating,
    seed: int,
    plan: SamplePlan,
    total: Totals,
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


def _messages(pattern: Pattern, total: Totals) -> int:
    """Number of messages, which is not what the histogram holds when they count by their bytes."""
    if not pattern.core.weighted:
        return int(total.histogram.sum())
    rounds = range(pattern.rounds)
    return total.samples * sum(len(pattern.messages(number)[0]) for number in rounds)
