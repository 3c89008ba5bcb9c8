"""What a simulation found, as tables of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from contend.fabric.fabric import Fabric
from contend.report.measures import Measure, headline_name, percent
from contend.report.result_table import ResultTable

if TYPE_CHECKING:
    from contend.congestion.simulation import Simulation

_BAR = 40
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def simulation_tables(
    simulation: Simulation, fabric: Fabric, rated: float | None = None
) -> tuple[ResultTable, ...]:
    """The headline figures, the distribution of π and the hottest channels."""
    return (
        headline(simulation, rated),
        congestion_table(simulation),
        hottest_table(simulation, fabric),
    )


def headline(simulation: Simulation, rated: float | None = None) -> ResultTable:
    """Effective bandwidth with its interval, its other averages, and what is rated beside it."""
    effective = Measure.MEAN_BANDWIDTH.estimate(simulation)
    interval = f"95 % interval {100 * effective.low:.2f} to {100 * effective.high:.2f} %"
    if simulation.exhaustive:
        interval = "exact: every sample there is"
    rows = [
        (headline_name(simulation.pattern), percent(effective.mean), interval),
        ("1 / mean π", percent(simulation.of_mean_congestion), "no waiting between rounds"),
        (
            "1 / mean of the rounds' largest π",
            percent(simulation.of_max_congestion),
            "every round waits for its slowest message",
        ),
    ]
    if rated is not None:
        rows.append(("rated bisection bandwidth", percent(rated), "what the cables could carry"))
    rows += [
        ("mean π", f"{simulation.mean_mean:.2f}", "messages on a message's fullest channel"),
        ("mean of the rounds' largest π", f"{simulation.mean_max:.2f}", ""),
    ]
    scaled = ""
    if simulation.scale != 1:
        scaled = f" Bandwidths are multiplied by {simulation.scale:g} to take out the end points."
    return ResultTable(
        title=_title(simulation),
        columns=("", "of link speed", ""),
        rows=tuple(rows),
        numeric=frozenset({"of link speed"}),
        note=f"{simulation.samples:,} samples of {simulation.rounds:,} round"
        f"{'s' if simulation.rounds != 1 else ''}, {simulation.ranks:,} ranks, "
        f"seed {simulation.seed}, {simulation.elapsed_s:.2f} s.{scaled}",
    )


def congestion_table(simulation: Simulation) -> ResultTable:
    """Share of messages by π, with bars."""
    shares = congestion_shares(simulation)
    largest = max(shares.values(), default=1)
    return ResultTable(
        title="Messages by congestion",
        columns=("π", "bandwidth", "messages", " "),
        rows=tuple(
            (str(pi), percent(simulation.scale / pi), _share(share), _bar(share / largest))
            for pi, share in shares.items()
        ),
        numeric=frozenset({"π", "bandwidth", "messages"}),
    )


def hottest_table(simulation: Simulation, fabric: Fabric, count: int = 8) -> ResultTable:
    """The channels that carry most, by name."""
    return ResultTable(
        title="Hottest channels",
        columns=("messages a round", "channel"),
        rows=tuple(
            (f"{load:.2f}", fabric.channel_name(channel))
            for channel, load in hottest_channels(simulation, count)
        ),
        numeric=frozenset({"messages a round"}),
    )


def congestion_shares(simulation: Simulation) -> dict[int, float]:
    """Fraction of messages for every π that occurs, ascending."""
    total = int(simulation.histogram.sum())
    return {
        int(pi): int(simulation.histogram[pi]) / total
        for pi in np.flatnonzero(simulation.histogram)
    }


def hottest_channels(simulation: Simulation, count: int) -> list[tuple[int, float]]:
    """The `count` fullest channels with their mean messages per round; unused ones never."""
    order = np.argsort(-simulation.channel_load, kind="stable")[:count]
    loads = [(int(channel), float(simulation.channel_load[channel])) for channel in order]
    return [(channel, load) for channel, load in loads if load > 0]


def _title(simulation: Simulation) -> str:
    engine = f", {simulation.engine}" if simulation.engine else ""
    return f"{simulation.pattern} on {simulation.fabric}{engine}, {simulation.placement} placement"


def _share(share: float) -> str:
    return percent(share) if share >= 0.0005 else f"{100 * share:.2g} %"


def _bar(share: float) -> str:
    eighths = round(share * _BAR * 8)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")
