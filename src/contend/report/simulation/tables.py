"""A simulation in words and tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from contend.congestion import Simulation, half_width
from contend.fabric import Bisection, Fabric
from contend.report.table import ResultTable
from contend.report.words import percent, percent_range, printable
from contend.units import counted

_HOTTEST = 8


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


def labels(simulations: Sequence[Simulation]) -> list[str]:
    """What tells simulations apart, in as few words as will do."""
    first = (
        [s.fabric_name for s in simulations],
        engine_labels([s.engine for s in simulations]),
        [s.pattern for s in simulations],
    )
    further = ([s.placement for s in simulations], [counted(s.ranks, "rank") for s in simulations])
    # Alone, or all alike: the fabric and its engine say most.
    telling = [column for column in first if len(set(column)) > 1] or list(first[:2])
    for column in further:
        if len(set(zip(*telling, strict=True))) == len(simulations):
            break
        if len(set(column)) > 1:
            telling.append(column)
    # Routes that came with a generator have its name, which need not be said twice.
    return [
        printable(", ".join(dict.fromkeys(filter(None, words))))
        for words in zip(*telling, strict=True)
    ]


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


_BAR = 40
_MOST_ROWS = 20
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def simulation_tables(
    simulation: Simulation, fabric: Fabric, rated: Bisection | None = None
) -> tuple[ResultTable, ...]:
    """The headline figures, the distribution of π and the hottest channels."""
    return (
        headline(simulation, rated),
        congestion_table(simulation),
        hottest_table(simulation, fabric),
    )


def headline(simulation: Simulation, rated: Bisection | None = None) -> ResultTable:
    """Effective bandwidth with its interval, its other averages, and what is rated beside it."""
    rows = [
        (
            headline_name(simulation.pattern),
            percent(simulation.effective_bandwidth),
            _interval(simulation),
        ),
        ("1 / mean π", percent(simulation.of_mean_congestion), "no waiting between rounds"),
        (
            "1 / mean of the rounds' largest π",
            percent(simulation.of_max_congestion),
            "every round waits for its slowest message",
        ),
    ]
    if simulation.scale != 1:
        rows.insert(1, _scaled(simulation))
    if rated is not None:
        rows.append(
            (
                "rated bisection bandwidth",
                percent(rated.share),
                "capacity of the narrowest cut found",
            )
        )
        if simulation.pattern == "bisect":
            bound = "the most that random pairs get, by what cuts carry"
            rows.append(("bound by cuts", percent(rated.random_pairs), bound))
    rows += [
        ("mean π", f"{simulation.mean_mean:.2f}", "messages on the fullest channel of a route"),
        ("mean of the rounds' largest π", f"{simulation.mean_max:.2f}", ""),
    ]
    return ResultTable(
        title=_title(simulation),
        columns=("", "of link speed", ""),
        rows=tuple(rows),
        numeric=frozenset({"of link speed"}),
        note=_conditions(simulation),
    )


def _interval(simulation: Simulation) -> str:
    if simulation.exhaustive:
        return "exact: every possible outcome was counted"
    low, high = simulation.ci95
    if not math.isfinite(high - low):
        return "a single sample has no interval"
    return f"95 % interval {percent_range(low, high, 2)}"


def _scaled(simulation: Simulation) -> tuple[str, str, str]:
    scaled = Measure.MEAN_BANDWIDTH.estimate(simulation).mean
    of_mean = Measure.OF_MEAN_CONGESTION.estimate(simulation).mean
    also = f"leaves out the pattern's own end points; 1 / mean π: {percent(of_mean)}"
    return f"times {simulation.scale:g}", percent(scaled), also


def _conditions(simulation: Simulation) -> str:
    samples = counted(simulation.samples, "sample")
    rounds = counted(simulation.rounds, "round")
    ranks = counted(simulation.ranks, "rank")
    return f"{samples} of {rounds}, {ranks}, seed {simulation.seed}, {simulation.elapsed_s:.2f} s"


def congestion_table(simulation: Simulation) -> ResultTable:
    """Share of messages by π, with bars; many values are joined to ranges of equal width."""
    ranges = _ranges(congestion_shares(simulation))
    largest = max((share for _, _, share in ranges), default=1)
    return ResultTable(
        title="Messages by congestion",
        columns=("π", "bandwidth", "messages", " "),
        rows=tuple(
            (
                str(first) if first == last else f"{first} to {last}",
                _bandwidth(first) if first == last else f"{_bandwidth(last)} or more",
                percent(share),
                _bar(share / largest),
            )
            for first, last, share in ranges
        ),
        numeric=frozenset({"π", "bandwidth", "messages"}),
    )


def _ranges(shares: dict[int, float]) -> list[tuple[int, int, float]]:
    """First and last π and share of messages of at most about `_MOST_ROWS` ranges."""
    if len(shares) <= _MOST_ROWS:
        return [(pi, pi, share) for pi, share in shares.items()]
    width = -(-max(shares) // _MOST_ROWS)
    joined: dict[int, float] = {}
    for pi, share in shares.items():
        # Messages within a host, π = 0, stay a row of their own.
        first = pi if pi == 0 else (pi - 1) // width * width + 1
        joined[first] = joined.get(first, 0.0) + share
    return [(first, first + width - 1 if first else 0, share) for first, share in joined.items()]


def hottest_table(simulation: Simulation, fabric: Fabric) -> ResultTable:
    """The channels that carry most, by name."""
    return ResultTable(
        title="Hottest channels",
        columns=("messages per round", "channel"),
        rows=tuple(
            (f"{load:.2f}", fabric.channel_name(channel))
            for channel, load in hottest_channels(simulation, _HOTTEST)
        ),
        numeric=frozenset({"messages per round"}),
    )


def congestion_shares(simulation: Simulation) -> dict[int, float]:
    """Fraction of messages for every π that occurs, ascending; 0 is those within a host."""
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
    fabric = simulation.fabric_name
    engine = f", routes by {simulation.engine}" if simulation.engine not in ("", fabric) else ""
    return f"{simulation.pattern} on {fabric}{engine}, {simulation.placement} placement"


def _bandwidth(pi: int) -> str:
    return percent(1 / pi) if pi else "same host"


def _bar(share: float) -> str:
    eighths = round(share * _BAR * 8)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")
