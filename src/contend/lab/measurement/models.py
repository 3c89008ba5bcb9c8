"""How well measured bandwidths of pairs agree with what the routes predict."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import stdtrit

from contend.base.errors import ShortfallError
from contend.base.schema import PythonOnly, Rate, Share, told
from contend.base.units import counted

TOLERANCE = 0.10
"""A pair agrees with a model when it got within this part of what the model gives it."""

LEAST_UNCONTENDED = 3
"""From so few messages that share no channel γ is not told."""
_DIFFERENT = 1.01

MODELS = {
    "share": "γ/π",
    "fair_share": "max-min fair share",
}
"""Columns of predictions, and what they are called where links are alike."""
RATE_OVER_LOAD = "rate over load"
"""What the first of them is called where links differ in rate."""


@dataclass(frozen=True)
class ByCongestion:
    """Messages of one congestion."""

    congestion: int
    """Congestion π, or the nearest whole number where messages take several ways at once."""
    pairs: int
    """Number of messages."""
    median: Share
    """Median of their bandwidths, as a fraction of γ."""
    low: Share
    """Fraction of γ that a quarter of the messages stayed below."""
    high: Share
    """Fraction of γ that a quarter of the messages exceeded."""
    within: Share
    """Fraction of them within 10 % of 1/π, or where links differ in rate, of rate over load."""
    of_share: Share
    """Median of what they got as a fraction of that."""
    of_fair_share: Share
    """Median of what they got as a fraction of the max-min fair share."""


@dataclass(frozen=True)
class Model:
    """A way to predict bandwidths, compared with all messages."""

    name: str
    """Name ``γ/π`` (``rate over load`` where links differ) or ``max-min fair share``."""
    within: Share
    """Fraction of the messages within 10 % of it."""
    error: Share
    """Median deviation of messages from it, as a factor minus 1."""
    error_apart: Share | None
    """Median deviation of those for which the models differ; null if they never do."""
    effective: Share
    """Mean bandwidth that it predicts, as a fraction of γ."""


@dataclass(frozen=True)
class Agreement:
    """Measured bandwidths against predicted ones."""

    gamma: Rate
    """γ, what an uncontended pair gets, in bytes per second; between two of the fastest ports where
    links differ in rate."""
    weighed: bool
    """Whether links differ in rate, so that π alone does not say what a message gets."""
    messages: int
    """Number of messages that were compared."""
    apart: int
    """Number of them for which the models' predictions differ by more than 1 %."""
    patterns: int
    """Number of patterns."""
    late: int
    """Number of messages left out because a rank had started late; 0 when all had."""
    same_host: PythonOnly[int]
    """Number of messages left out because both ranks are on one host and cross no channel."""
    effective: Share
    """Measured effective bisection bandwidth, as a fraction of γ."""
    effective_ci95: tuple[Share, Share]
    """Both ends of its 95 % interval over patterns; null for a single pattern."""
    by_congestion: tuple[ByCongestion, ...]
    """Messages by π."""
    models: tuple[Model, ...]
    """What each model predicts."""

    @told
    def nearest(self) -> str:
        """Name of the model with the least error, where models differ if they ever do."""
        errors = {
            model.name: model.error if model.error_apart is None else model.error_apart
            for model in self.models
        }
        return min(errors, key=errors.__getitem__)


def usable(pairs: pl.DataFrame) -> pl.DataFrame:
    """The messages of samples without a late rank; all of them where there are no such samples."""
    on_time = pairs.filter(~pl.col("late"))
    return pairs if on_time.is_empty() else on_time


def agreement(pairs: pl.DataFrame) -> Agreement:
    """Compares messages with every model.

    γ is the median bandwidth of the messages that share no channel: the models are about sharing,
    and not about what a protocol makes of a free wire. What such a message gets over slower links
    counts for what it would get over the fastest.

    Args:
        pairs: of `lab.measurement.beside_predictions`.

    Raises:
        ShortfallError: too few messages are uncontended.
    """
    # A message within a host crosses no channel: models have nothing to say of it.
    crossing = pairs.filter(pl.col("congestion") > 0)
    used = usable(crossing)
    alone = used.filter(pl.col("congestion") == 1)
    free = alone["bandwidth_Bps"] / (alone["share"] * alone["port"])
    if len(free) < LEAST_UNCONTENDED:
        raise ShortfallError(
            f"{counted(len(free), 'message')} shared no channel: too few to compare with"
        )
    gamma = float(np.median(free.to_numpy()))
    parts = used["bandwidth_Bps"].to_numpy() / gamma
    given = predictions(used)
    apart = _apart(list(given.values()))
    by_pattern = (
        used.with_columns(part=pl.Series(parts))
        .group_by("pattern", maintain_order=True)
        .agg(pl.col("part").mean())["part"]
        .to_numpy()
    )
    congestion = used["congestion"].to_numpy()
    weighed = not np.allclose(given["share"], 1.0 / congestion, rtol=1e-9)
    names = MODELS | ({"share": RATE_OVER_LOAD} if weighed else {})
    return Agreement(
        gamma=gamma,
        weighed=weighed,
        messages=len(used),
        apart=int(apart.sum()),
        patterns=len(by_pattern),
        late=len(crossing) - len(used),
        same_host=len(pairs) - len(crossing),
        effective=float(by_pattern.mean()),
        effective_ci95=_interval(by_pattern),
        by_congestion=_by_congestion(congestion, parts, given),
        models=tuple(_model(names[name], share, parts, apart) for name, share in given.items()),
    )


def predictions(pairs: pl.DataFrame) -> dict[str, NDArray[np.float64]]:
    """What every model gives messages that cross a channel, in parts of γ, by `MODELS`' names."""
    port = pairs["port"].to_numpy()
    return {name: pairs[name].to_numpy() * port for name in MODELS}


def _apart(shares: list[NDArray[np.float64]]) -> NDArray[np.bool_]:
    """Which messages models give different parts."""
    least, most = np.min(shares, axis=0), np.max(shares, axis=0)
    return np.asarray(most > _DIFFERENT * least)


def _model(
    name: str, share: NDArray[np.float64], parts: NDArray[np.float64], apart: NDArray[np.bool_]
) -> Model:
    off = np.abs(np.log(parts / share))
    return Model(
        name=name,
        within=float((np.abs(parts / share - 1) <= TOLERANCE).mean()),
        error=float(np.expm1(np.median(off))),
        error_apart=float(np.expm1(np.median(off[apart]))) if apart.any() else None,
        effective=float(share.mean()),
    )


def _by_congestion(
    congestion: NDArray[np.int64] | NDArray[np.float64],
    parts: NDArray[np.float64],
    given: dict[str, NDArray[np.float64]],
) -> tuple[ByCongestion, ...]:
    groups = []
    whole = np.rint(congestion).astype(np.int64)
    for pi in np.unique(whole).tolist():
        here = whole == pi
        bandwidth = parts[here]
        low, median, high = np.quantile(bandwidth, [0.25, 0.5, 0.75]).tolist()
        of_share, of_fair = (bandwidth / given[name][here] for name in ("share", "fair_share"))
        groups.append(
            ByCongestion(
                congestion=pi,
                pairs=len(bandwidth),
                median=median,
                low=low,
                high=high,
                within=float((np.abs(of_share - 1) <= TOLERANCE).mean()),
                of_share=float(np.median(of_share)),
                of_fair_share=float(np.median(of_fair)),
            )
        )
    return tuple(groups)


def _interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """Of the mean of independent values, by Student's t; all of the line for a single value."""
    mean = float(values.mean())
    if len(values) < 2:
        return -math.inf, math.inf
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    half = float(stdtrit(len(values) - 1, 0.975)) * error
    return mean - half, mean + half
