"""What a simulation comes to: averages over its messages, rounds and samples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from contend.base.schema import Rate, Share

# Below this many samples the interval comes from Student's distribution.
_MANY_SAMPLES = 200


class Average(StrEnum):
    """How the congestions π of a sample become one bandwidth, a fraction of the link speed.

    Where links differ in rate, it is a fraction of what the slower of a message's two ports
    carries, and slowdown takes the place of π.
    """

    EFFECTIVE_BANDWIDTH = "effective_bandwidth"
    """Mean over rounds of the mean over messages of their shares: of 1/π where links are alike."""
    OF_MEAN_CONGESTION = "of_mean_congestion"
    """That of the 2008 paper's text: 1 over the mean over rounds of the mean π."""
    OF_MAX_CONGESTION = "of_max_congestion"
    """1 over the mean over rounds of the largest π: all wait for the slowest (section 5.1)."""


EACH_HOST: Literal["each_host"] = "each_host"
"""What hosts get of what their ports allow, until the last message of a round is done."""

Judged: TypeAlias = Average | Literal["each_host"]
"""What a pattern may be judged by: an average over messages, or what each host gets."""


@dataclass(frozen=True)
class SampleMean:
    """A mean over samples and its 95 % interval, which a single sample does not have."""

    mean: float
    """Mean over samples."""
    low: float | None
    """Lower end of its 95 % interval; null for a single sample."""
    high: float | None
    """Upper end of its 95 % interval; null for a single sample."""

    @property
    def ci95(self) -> tuple[float, float] | None:
        """Both ends of the interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def times(self, factor: float) -> SampleMean:
        """The mean, and its interval, of so many times the samples."""
        low, high = (None if end is None else end * factor for end in (self.low, self.high))
        return SampleMean(self.mean * factor, low, high)


@dataclass(frozen=True, kw_only=True)
class Bandwidth:
    """Averages of the bandwidth that messages get, as fractions of the link speed.

    Where links differ in rate, fractions of what the slower of a message's two hosts' ports
    carries: the least, over its channels, of rate over load; and 1 over that instead of π.
    """

    mean: Share
    """Mean of 1/π over the messages of a round, then over rounds and samples."""
    ci95: tuple[float, float] | None
    """Both ends of its 95 % interval, the mean twice if every outcome was counted; null for a
    single sample."""
    at_most: Share | None
    """Bound of `mean` by `adaptive` if that was solved only nearly; null elsewhere."""
    of_mean_congestion: Share
    """Mean over samples of 1 over the mean π: no waiting between rounds."""
    of_max_congestion: Share
    """Mean over samples of 1 over the mean of the rounds' largest π: every round waits for its
    slowest message."""
    mean_Bps: Rate | None
    """`mean` in bytes per second; null if the rate of links is not known."""
    of_mean_congestion_Bps: Rate | None
    """`of_mean_congestion` in bytes per second; null if the rate of links is not known."""
    of_max_congestion_Bps: Rate | None
    """`of_max_congestion` in bytes per second; null if the rate of links is not known."""


@dataclass(frozen=True, kw_only=True)
class EachHost:
    """What a program waits for: the time until the last message of a round is done.

    Where links are alike, the busiest channel of the network has as many messages as the last one
    waits for, and the busiest port as many as any network would have to wait for. Messages count by
    their bytes where the pattern says how many, for at most 16 samples.
    """

    share: Share
    """Time that the busiest port alone would take, over the time until the last message is done:
    what hosts get of what their ports allow. The mean over samples; all rounds of one together."""
    ci95: tuple[float, float] | None
    """Both ends of its 95 % interval; null for a single sample."""
    rate_Bps: Rate | None
    """Bytes per second that the busiest port carries until then; null if the rate of links is not
    known."""


@dataclass(frozen=True, kw_only=True)
class SlowerDirection:
    """What pairs of ranks that exchange both ways get, each by the slower of its two directions.

    This is what a benchmark of `MPI_Sendrecv` measures: a pair has ended when both messages have.
    """

    mean: Share
    """Mean of the smaller of a pair's two shares, as in `effective_bandwidth`, over the pairs of a
    round, then over rounds and samples."""
    ci95: tuple[float, float] | None
    """Both ends of its 95 % interval; null for a single sample."""
    mean_Bps: Rate | None
    """`mean` in bytes per second; null if the rate of links is not known."""


@dataclass(frozen=True)
class Congestion:
    """How many messages share a channel."""

    histogram: dict[float, float]
    """Fraction of the messages by π, ascending; "0" are those between ranks of one host. π is whole
    unless messages split."""
    max: float
    """The largest π that occurred."""


@dataclass(frozen=True, kw_only=True)
class SimulatedRounds:
    """The rounds of the pattern."""

    count: int
    """Number of rounds."""
    mean_max: float
    """Mean over rounds and samples of a round's largest π."""
    mean_mean: float
    """Mean over rounds and samples of a round's mean π."""
    max_by_round: tuple[float, ...]
    """`mean_max` of every round: averaged over the samples in which the round has
    messages between hosts; 0 where it never has. A sample in which no round has any counts as free
    of congestion, 1 in every round."""
    mean_by_round: tuple[float, ...]
    """`mean_mean` of every round."""


@dataclass(frozen=True, kw_only=True)
class LoadedChannel:
    """A channel and what it carries."""

    channel: int
    """Number of the channel."""
    name: str
    """Both its ends with their ports."""
    messages_per_round: float
    """Number of messages, in the mean over rounds and samples."""
    heat: float
    """How long they take: messages over the channel's rate, in units of what one message takes at
    the fastest of the hosts' ports; `messages_per_round` where links are alike."""
    rate: str
    """Label of the rate of the channel's cable, such as ``4xHDR``; "" if it is not known."""


def half_width(values: NDArray[np.float64]) -> float:
    """Half of the 95 % confidence interval of the mean; infinite for a single value."""
    n = len(values)
    return float("inf") if n < 2 else normal_half_width(float(values.std(ddof=1)), n)


def normal_half_width(deviation: float, n: int) -> float:
    """The same for n values, at least two, by their standard deviation."""
    quantile = 1.959963984540054
    if n < _MANY_SAMPLES:
        # It takes longer to load than many simulations run.
        import scipy.special

        quantile = float(scipy.special.stdtrit(n - 1, 0.975))
    return quantile * deviation / math.sqrt(n)
