"""Pairs over routes that hashes draw: what they got against simulated draws, as distributions.

Which way a hash sends a connection is not known, so no pair has a prediction of its own. But the
same patterns, over as many draws of the routes as there were launches, give messages as large parts
as often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from contend.base.errors import ShortfallError
from contend.base.schema import PythonOnly, Rate, Share, told
from contend.base.units import counted
from contend.congestion import DrawnPattern, message_shares
from contend.fabric import Fabric
from contend.lab.measurement.models import LEAST_UNCONTENDED, usable

SETS = 200
"""How many times the launches are simulated."""
_ENDS = ["pattern", "source_rank"]


@dataclass(frozen=True)
class ByPart:
    """Messages that get about γ/k."""

    divisor: int
    """Number k; to a message belongs the one of which γ/k is nearest, by ratio."""
    measured: Share
    """Fraction of the messages."""
    simulated: Share
    """Fraction of the messages over all simulations."""
    low: Share
    """Fraction that one of 40 simulations stays below."""
    high: Share
    """Fraction that one of 40 simulations exceeds."""


@dataclass(frozen=True, eq=False)
class Distribution:
    """What messages get in parts of γ, measured and simulated."""

    by_part: tuple[ByPart, ...]
    """Messages by what they get, the largest parts first."""
    distance: Share
    """Largest difference of the fractions that get about γ/k or more, measured and simulated (the
    statistic of Kolmogorov and Smirnov, over k)."""
    usual_distance: Share
    """What 95 % of the simulations stay below, each compared with all."""
    measured: PythonOnly[NDArray[np.float64]]
    """Measured parts, ascending, shape [values]."""
    drawn: PythonOnly[NDArray[np.float64]]
    """Parts of every simulation, ascending, shape [simulations, values]."""

    @told
    def usual(self) -> bool:
        """Whether the measurement is as near to the simulations as they are to each other."""
        return self.distance <= self.usual_distance


@dataclass(frozen=True, eq=False)
class DrawnAgreement:
    """Measured bandwidths over routes that hashes draw, compared with simulated draws.

    In a launch each pair of ranks keeps its connection, and so its routes: a simulation of the
    measurement draws routes once for every launch, and all its patterns take them.
    """

    gamma: Rate
    """γ, what a pair gets that shares no channel with others, in bytes per second."""
    messages: int
    """Number of messages that were compared."""
    patterns: int
    """Number of their patterns."""
    launches: int
    """Number of launches, each with other connections."""
    late: int
    """Number of messages left out because a rank had started late."""
    same_host: PythonOnly[int]
    """Number of messages left out because both ranks are on one host."""
    simulations: int
    """Number of times that all of that was simulated."""
    effective: Share
    """Measured effective bisection bandwidth, as a fraction of γ."""
    simulated: Share
    """The same, simulated by max-min fair shares."""
    simulated_range: tuple[Share, Share]
    """Bounds of 95 % of the simulations."""
    slowest: Distribution
    """Slowest message of every sample: π of them share its fullest channel until the last has
    ended, so it gets γ/π whichever of them was faster in between."""
    every: Distribution
    """All messages. One that outran its rivals counts for more than γ/π here."""


def drawn_agreement(
    pairs: pl.DataFrame, fabric: Fabric, patterns: Sequence[DrawnPattern], *, sets: int = SETS
) -> DrawnAgreement:
    """Compares measured messages with simulated draws of the routes.

    γ is the median bandwidth of the messages that share no channel in any draw.

    Args:
        pairs: of `lab.measurement.pair_bandwidths`.
        fabric: with routes that hashes draw.
        patterns: that were measured, on the hosts of the ranks.
        sets: how many times to simulate all launches.

    Raises:
        ShortfallError: too few messages are always uncontended.
    """
    launches = pairs["launch"].unique().sort()
    launch = {number: index for index, number in enumerate(launches.to_list())}
    drawings = _drawings(fabric, patterns, sets * len(launch))
    crossing = pairs.join(drawings.keys, on=_ENDS).sort("launch", "sample", "row")
    used = usable(crossing)
    row = used["row"].to_numpy()
    alone = (drawings.part == drawings.port).all(axis=0)
    free = np.flatnonzero(alone[row])
    if len(free) < LEAST_UNCONTENDED:
        raise ShortfallError(
            f"{counted(len(free), 'message')} shared no channel in any draw: too few to compare "
            "with"
        )
    bandwidth = used["bandwidth_Bps"].to_numpy()
    gamma = float(np.median(bandwidth[free] / drawings.port[row[free]]))
    # Of every set and message the draw that its launch has there.
    draw = np.arange(sets)[:, None] * len(launch) + [launch[at] for at in used["launch"].to_list()]
    measured, drawn = bandwidth / gamma, drawings.part[draw, row]
    begins = used.with_row_index("at").group_by("launch", "sample").agg(pl.col("at").min())["at"]
    first = begins.sort().to_numpy()
    means = drawn.mean(axis=1)
    return DrawnAgreement(
        gamma=gamma,
        messages=len(used),
        patterns=used["pattern"].n_unique(),
        launches=len(launch),
        late=len(crossing) - len(used),
        same_host=len(pairs) - len(crossing),
        simulations=sets,
        effective=float(measured.mean()),
        simulated=float(means.mean()),
        simulated_range=_middle(means),
        slowest=_compare(
            np.minimum.reduceat(measured, first), np.minimum.reduceat(drawn, first, axis=1)
        ),
        every=_compare(measured, drawn),
    )


@dataclass(frozen=True, eq=False)
class _Drawings:
    """What messages between hosts get in every draw."""

    keys: pl.DataFrame
    """A row a message: its pattern, source and row."""
    port: NDArray[np.float64]
    """Port of the slower of a message's ports, a part of the fastest, shape [messages]."""
    part: NDArray[np.float64]
    """Max-min fair share in parts of γ, shape [draws, messages]."""


def _drawings(fabric: Fabric, patterns: Sequence[DrawnPattern], draws: int) -> _Drawings:
    parts = []
    for draw in range(draws):
        foreseen = message_shares(fabric, patterns, draw=draw).filter(pl.col("congestion") > 0)
        parts.append((foreseen["fair_share"] * foreseen["port"]).to_numpy())
    # Messages, their order and their ports are those of any draw.
    keys = foreseen.select(pl.col(name).cast(pl.Int64) for name in _ENDS).with_row_index("row")
    return _Drawings(keys, foreseen["port"].to_numpy(), np.array(parts))


def _compare(measured: NDArray[np.float64], drawn: NDArray[np.float64]) -> Distribution:
    """How far measured values are from all simulations, beside how far each of these is."""
    own, others = _divisor(measured), _divisor(drawn)
    most = int(max(own.max(), others.max()))
    counts = np.array([np.bincount(row, minlength=most + 1) for row in (own, *others)])
    fractions = counts / len(own)
    mean = fractions[1:].mean(axis=0)
    distances = np.abs(np.cumsum(fractions - mean, axis=1)).max(axis=1)
    return Distribution(
        by_part=tuple(
            ByPart(k, float(fractions[0, k]), float(mean[k]), *_middle(fractions[1:, k]))
            for k in range(1, most + 1)
            if fractions[:, k].any()
        ),
        distance=float(distances[0]),
        usual_distance=float(np.quantile(distances[1:], 0.95)),
        measured=np.sort(measured),
        drawn=np.sort(drawn, axis=1),
    )


def _divisor(part: NDArray[np.float64]) -> NDArray[np.int64]:
    """The k of which 1/k is nearest, by ratio: between k and k + 1 the border is their mean one."""
    most = int(np.ceil(1 / part.min())) + 1
    k = np.arange(1, most)
    borders = 1 / np.sqrt(k * (k + 1))
    return np.asarray(1 + np.searchsorted(-borders, -part), dtype=np.int64)


def _middle(values: NDArray[np.float64]) -> tuple[float, float]:
    """Between which 95 % of values are."""
    low, high = np.quantile(values, [0.025, 0.975]).tolist()
    return low, high
