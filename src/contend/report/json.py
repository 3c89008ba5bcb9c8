"""A simulation as JSON: the keys that scripts rely on."""

from __future__ import annotations

import math
from typing import Any

from contend.congestion import Simulation
from contend.fabric import Fabric
from contend.report.summary import congestion_shares, hottest_channels

_HOTTEST = 10


def simulation_json(
    simulation: Simulation, fabric: Fabric, rated: float | None = None
) -> dict[str, Any]:
    """The result of ``contend simulate --json``; only the last four keys depend on time.

    Bandwidths are fractions of the link speed, not multiplied by `scale`. An unbounded interval, of
    a single sample, is null.

    Args:
        simulation: the result.
        fabric: what it ran on, for the names of channels.
        rated: rated bisection bandwidth as a fraction of full bisection, where it is known.
    """
    low, high = simulation.ci95
    return {
        "fabric": {
            "name": simulation.fabric_name,
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
        "patterns_exist": simulation.outcomes,
        "seed": simulation.seed,
        "scale": simulation.scale,
        "messages": simulation.messages,
        "effective_bandwidth": {
            "mean": simulation.effective_bandwidth,
            "ci95": [low, high] if math.isfinite(high - low) else None,
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
            "max_by_round": simulation.round_max_congestion.tolist(),
            "mean_by_round": simulation.round_mean_congestion.tolist(),
        },
        "hottest_channels": [
            {"channel": channel, "name": fabric.channel_name(channel), "messages_per_round": load}
            for channel, load in hottest_channels(simulation, _HOTTEST)
        ],
        "elapsed_s": simulation.elapsed_s,
        "drawing_s": simulation.drawing_s,
        "counting_s": simulation.counting_s,
        "patterns_per_s": simulation.patterns_per_s,
    }
