"""A simulation as JSON: the keys that scripts rely on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from contend.fabric.fabric import Fabric
from contend.report.summary import congestion_shares, hottest_channels

if TYPE_CHECKING:
    from contend.congestion.simulation import Simulation

_HOTTEST = 10
# Larger integers are not exact in the doubles that most readers of JSON use.
_LARGEST_EXACT = 2**53


def simulation_json(
    simulation: Simulation, fabric: Fabric, rated: float | None = None
) -> dict[str, Any]:
    """The result of ``contend simulate --json``; only elapsed_s and patterns_per_s hold time.

    Args:
        simulation: the result.
        fabric: what it ran on, for the names of channels.
        rated: rated bisection bandwidth as a fraction of full bisection, where it is known.
    """
    low, high = simulation.ci95
    elapsed = simulation.elapsed_s
    return {
        "fabric": {
            "name": simulation.fabric,
            "hosts": simulation.hosts,
            "switches": simulation.switches,
            "channels": simulation.channels,
        },
        "engine": simulation.engine,
        "pattern": simulation.pattern,
        "placement": simulation.placement,
        "ranks": simulation.ranks,
        "samples": simulation.samples,
        "exhaustive": simulation.exhaustive,
        "patterns_exist": _patterns_exist(simulation),
        "seed": simulation.seed,
        "scale": simulation.scale,
        "effective_bandwidth": {
            "mean": simulation.effective_bandwidth,
            "ci95": [low, high],
            "of_mean_congestion": simulation.of_mean_congestion,
            "of_max_congestion": simulation.of_max_congestion,
        },
        "rated_bisection": rated,
        "congestion": {
            "histogram": {str(pi): share for pi, share in congestion_shares(simulation).items()},
            "max": max(congestion_shares(simulation), default=0),
        },
        "rounds": {
            "count": simulation.rounds,
            "mean_max": simulation.mean_max,
            "mean_mean": simulation.mean_mean,
        },
        "hottest_channels": [
            {"channel": channel, "name": fabric.channel_name(channel), "messages_per_round": load}
            for channel, load in hottest_channels(simulation, _HOTTEST)
        ],
        "elapsed_s": elapsed,
        "patterns_per_s": simulation.samples / elapsed if elapsed > 0 else None,
    }


def bisect_patterns(ranks: int) -> int:
    """Number of one-way bisect patterns: C(p, k) (p-k)! / (p-2k)! with k = p div 2.

    The k senders are chosen among p ranks and given distinct receivers among the others; for even
    p that is C(p, p/2) (p/2)! (Hoefler et al. 2008, section 3), 518,918,400 for 16.
    """
    half = ranks // 2
    return math.comb(ranks, half) * math.perm(ranks - half, half)


def _patterns_exist(simulation: Simulation) -> dict[str, int | float | None] | None:
    """How many patterns the samples are drawn from, where it is known."""
    if simulation.pattern != "bisect":
        return None
    exist = bisect_patterns(simulation.ranks)
    # math.log10 takes integers of any size.
    return {"count": exist if exist <= _LARGEST_EXACT else None, "log10": math.log10(exist)}
