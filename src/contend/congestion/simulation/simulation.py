"""The result of a simulation, and the figures that are derived from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from contend.congestion.rates import heat
from contend.congestion.simulation.channel_users import ChannelUsers
from contend.errors import UsageError
from contend.fabric import Bisection, Fabric, bisection
from contend.shown import Shown

if TYPE_CHECKING:
    import polars

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


@dataclass(frozen=True)
class SampleMean:
    """A mean over samples and its 95 % interval, which a single sample does not have."""

    mean: float
    """Mean over samples."""
    low: float | None
    """Lower end of its 95 % interval; null for a single sample."""
    high: float | None
    """Upper end of its 95 % interval; null for a single sample."""

    def times(self, factor: float) -> SampleMean:
        """The mean, and its interval, of so many times the samples."""
        low, high = (None if end is None else end * factor for end in (self.low, self.high))
        return SampleMean(self.mean * factor, low, high)


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(Shown, told="simulation_document", drawn="draw_simulation"):
    """Congestion of many samples of a pattern on a fabric; a sample is one pattern and placement.

    pi of a message is its congestion, the largest number of messages on any channel of its route;
    it gets 1/pi of a link's rate (Hoefler et al. 2008, section 3.1). Where links differ in rate, it
    gets the least, over the channels of its route, of rate over messages; bandwidths are then
    shares of what the slower of its two hosts' ports carries. Its slowdown is 1 over its share, pi
    where links are alike.

    Attributes:
        fabric_name: name of the fabric.
        engine: what made its routes.
        hosts: number of hosts of the fabric.
        switches: number of switches.
        channels: number of channels, those of hosts included.
        pattern: the pattern's specification.
        placement: the placement's specification.
        ranks: number of ranks.
        rounds: rounds of the pattern.
        samples: number of samples.
        seed: of all random choices.
        exhaustive: every outcome was counted once, so there is no sampling error.
        outcomes: how many equally likely outcomes exist; None when too many to count in 63 bits.
        scale: what figures may be multiplied by to take out the pattern's own ends.
        bandwidth: shape [samples]; mean over rounds of the mean over messages of their shares.
        mean_congestion: shape [samples]; mean over rounds of the mean over messages of pi.
        max_congestion: shape [samples]; mean over rounds of the largest pi.
        round_mean_congestion: shape [rounds]; the round's mean pi, averaged over the samples in
            which the round has messages between hosts; 0 where it never has. A sample in which no
            round has any counts as free of congestion, 1 in every round.
        round_max_congestion: shape [rounds]; the round's largest pi, averaged in the same way.
        round_max_seconds_per_byte: shape [rounds]; seconds that the slowest message of the round
            takes for a byte, averaged likewise; None where the rate of links is not known.
        histogram: shape [bins]; messages by pi, those that stay on their host at 0; by their bytes
            where the pattern says how many, in units that keep sums within 64 bits.
        bins_of_message: bins of the histogram for every message more: 1 where each takes one way,
            and bin n has pi n; several where they split, and bin n has pi n / bins_of_message.
        channel_load: shape [channels]; mean number of messages per round.
        elapsed_s: seconds from start to end.
        drawing_s: core seconds spent on drawing patterns and placements.
        counting_s: core seconds spent on counting.
        messages: number of messages judged.
        links: number of links by rate label, the fastest first: cables between switches and those
            to the hosts that take part; ``""`` for rates that are not known.
        port_rate: bytes per second of a host's port; None where they differ or are not known.
        mean_slowdown: shape [samples]; as `mean_congestion`, of slowdown; None where all links
            count alike, and slowdown is pi. The following four likewise.
        max_slowdown: shape [samples]; as `max_congestion`.
        bytes_per_second: shape [samples]; as `bandwidth`, of what messages get.
        mean_seconds_per_byte: shape [samples]; as `mean_congestion`, of what a byte takes.
        max_seconds_per_byte: shape [samples]; as `max_congestion`, likewise.
        pair_bandwidth: shape [samples]; mean over rounds of the mean over pairs of the share that
            the slower of their two directions gets; None where rounds do not consist of pairs that
            exchange both ways.
        pair_bytes_per_second: shape [samples]; the same of what it gets; None also where all links
            count alike.
        relative_rates: of every channel, as a multiple of the fastest port's; empty where all links
            count alike; see `contend.congestion.LinkRates`. The following two likewise.
        heat_unit: label of that port's rate; "" where links count alike.
        assumed_rates: labels of the rates that links of unknown rate were taken for in heat.
        taking_part: host of every slot that ranks may sit in, shape [slots]; None in results that
            were kept before it was.
        ranks_per_slot: how many ranks share a slot.
        users: who uses the channels that were asked for.
        left_out: a sentence on servers that the placement leaves out, and why; "" for none.
        gap: by how much messages of `adaptive` may get more than was found, as a factor.
        fabric: what was simulated; None where a kept result was read back without it.
    """

    fabric_name: str
    engine: str
    hosts: int
    switches: int
    channels: int
    pattern: str
    placement: str
    ranks: int
    rounds: int
    samples: int
    seed: int
    exhaustive: bool
    outcomes: int | None
    scale: float
    bandwidth: NDArray[np.float64]
    mean_congestion: NDArray[np.float64]
    max_congestion: NDArray[np.float64]
    round_mean_congestion: NDArray[np.float64]
    round_max_congestion: NDArray[np.float64]
    histogram: NDArray[np.uint64]
    channel_load: NDArray[np.float64]
    elapsed_s: float
    drawing_s: float
    counting_s: float
    messages: int
    links: dict[str, int] = field(default_factory=dict)
    port_rate: float | None = None
    mean_slowdown: NDArray[np.float64] | None = None
    max_slowdown: NDArray[np.float64] | None = None
    bytes_per_second: NDArray[np.float64] | None = None
    mean_seconds_per_byte: NDArray[np.float64] | None = None
    max_seconds_per_byte: NDArray[np.float64] | None = None
    pair_bandwidth: NDArray[np.float64] | None = None
    pair_bytes_per_second: NDArray[np.float64] | None = None
    round_max_seconds_per_byte: NDArray[np.float64] | None = None
    bins_of_message: int = 1
    relative_rates: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    heat_unit: str = ""
    assumed_rates: Sequence[str] = ()
    taking_part: NDArray[np.uint32] | None = None
    ranks_per_slot: int = 1
    users: tuple[ChannelUsers, ...] = field(default=(), repr=False)
    left_out: str = ""
    gap: float = 1.0
    fabric: Fabric | None = field(default=None, repr=False)

    def bandwidths(self, average: Average) -> NDArray[np.float64]:
        """Bandwidth of every sample by an average, shape [samples]."""
        if average == Average.EFFECTIVE_BANDWIDTH:
            return self.bandwidth
        mean, largest = self.slowdown
        return 1 / (mean if average == Average.OF_MEAN_CONGESTION else largest)

    def averaged(self, average: Average) -> SampleMean:
        """Mean of an average over the samples; the interval of exhaustive results has no width."""
        return self._mean_of(self.bandwidths(average))

    @property
    def slower_direction(self) -> SampleMean | None:
        """Mean over pairs that exchange both ways of what their slower direction gets.

        As a two-way benchmark measures it: a pair has ended when both of its messages have. None
        for patterns whose rounds do not consist of such pairs.
        """
        return None if self.pair_bandwidth is None else self._mean_of(self.pair_bandwidth)

    @property
    def slower_direction_rate(self) -> float | None:
        """The same in bytes per second; None where the rate of links is not known either."""
        if self.pair_bytes_per_second is not None:
            return float(self.pair_bytes_per_second.mean())
        if self.pair_bandwidth is None or self.port_rate is None:
            return None
        return float(self.pair_bandwidth.mean()) * self.port_rate

    def _mean_of(self, values: NDArray[np.float64]) -> SampleMean:
        mean = float(values.mean())
        half = 0.0 if self.exhaustive else half_width(values)
        if not math.isfinite(half):
            return SampleMean(mean, None, None)
        return SampleMean(mean, mean - half, mean + half)

    def rate(self, average: Average) -> float | None:
        """The same in bytes per second; None where the rate of links is not known."""
        if average == Average.EFFECTIVE_BANDWIDTH and self.bytes_per_second is not None:
            return float(self.bytes_per_second.mean())
        seconds = {
            Average.OF_MEAN_CONGESTION: self.mean_seconds_per_byte,
            Average.OF_MAX_CONGESTION: self.max_seconds_per_byte,
        }.get(average)
        if seconds is not None:
            return float((1 / seconds).mean())
        return None if self.port_rate is None else self.averaged(average).mean * self.port_rate

    @property
    def effective_bandwidth(self) -> float:
        """Mean over samples, rounds and messages of their shares: of 1/pi where links are alike."""
        return self.averaged(Average.EFFECTIVE_BANDWIDTH).mean

    @property
    def weighed(self) -> bool:
        """Whether links differ in rate and were counted so."""
        return self.mean_slowdown is not None

    @property
    def channel_heat(self) -> NDArray[np.float64]:
        """How long channels need for a round: load over rate, in messages at a port, [channels].

        The load itself where all links count alike.
        """
        return heat(self.channel_load, self.relative_rates)

    @property
    def slowdown(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and largest slowdown, averaged over rounds, shapes [samples]."""
        if self.mean_slowdown is None or self.max_slowdown is None:
            return self.mean_congestion, self.max_congestion
        return self.mean_slowdown, self.max_slowdown

    @property
    def effective_rate(self) -> float | None:
        """What messages get, in bytes per second; None where the rate of links is not known."""
        return self.rate(Average.EFFECTIVE_BANDWIDTH)

    @property
    def ci95(self) -> tuple[float, float]:
        """95 % confidence interval of the effective bandwidth; no width when exhaustive."""
        mean, half = self.effective_bandwidth, half_width(self.bandwidth)
        return (mean, mean) if self.exhaustive else (mean - half, mean + half)

    @property
    def of_mean_congestion(self) -> float:
        """1 / (mean pi over messages, then rounds), averaged over samples, as the 2008 paper says.

        Of slowdown instead of pi where links differ in rate; so is `of_max_congestion`.
        """
        return self.averaged(Average.OF_MEAN_CONGESTION).mean

    @property
    def of_max_congestion(self) -> float:
        """The pessimistic bound: every round waits for its slowest message (section 5.1)."""
        return self.averaged(Average.OF_MAX_CONGESTION).mean

    @property
    def mean_mean(self) -> float:
        """Mean over samples of the mean over rounds of the mean pi."""
        return float(self.mean_congestion.mean())

    @property
    def mean_max(self) -> float:
        """Mean over samples of the mean over rounds of the largest pi."""
        return float(self.max_congestion.mean())

    def bisection(self) -> Bisection:
        """The narrowest cut between halves of the hosts that take part.

        Cables count as they did here, by their rates or all alike.

        Raises:
            UsageError: the result was read back without its fabric.
        """
        seats = None
        if self.taking_part is not None:
            seats = np.repeat(self.taking_part, self.ranks_per_slot)
            if len(seats) - self.ranks < self.ranks_per_slot:
                seats = seats[: self.ranks]
        return bisection(self._known_fabric(), seats, ranks=self.ranks, alike=not self.weighed)

    @property
    def patterns_per_s(self) -> float:
        """Samples a second."""
        return self.samples / self.elapsed_s if self.elapsed_s > 0 else 0.0

    @property
    def interval(self) -> str:
        """The 95 % interval in words: ``52.1 to 52.3 %``."""
        if self.exhaustive:
            return "exact, every outcome was counted"
        if self.samples < 2:
            return "none, there is a single sample"
        low, high = (f"{100 * end:.4g}" for end in self.ci95)
        return f"{low} to {high} %"

    def __repr__(self) -> str:
        engine = f", {self.engine}" if self.engine else ""
        return (
            f"<Simulation of {self.pattern} on {self.fabric_name}{engine}: "
            f"{100 * self.effective_bandwidth:.4g} % of link speed ({self.interval})>"
        )

    def _known_fabric(self) -> Fabric:
        if self.fabric is None:
            raise UsageError(f"this result of {self.fabric_name} was read back without its fabric")
        return self.fabric

    def to_frame(self, member: str | None = None) -> polars.DataFrame:
        """One row per sample, or with "channels" one per channel, the hottest first.

        Columns: ``bandwidth``, ``mean_congestion``, ``max_congestion``; or ``channel``, ``source``,
        ``target``, ``load``, ``heat``.

        Raises:
            UsageError: the result was read back without its fabric.
        """
        import polars

        if member is None:
            names = ("bandwidth", "mean_congestion", "max_congestion")
            return polars.DataFrame({name: getattr(self, name) for name in names})
        if member != "channels":
            return super().to_frame(member)
        fabric = self._known_fabric()
        ends = [fabric.channel_ends(channel) for channel in range(self.channels)]
        return polars.DataFrame(
            {
                "channel": np.arange(self.channels, dtype=np.uint32),
                "source": [source for source, _ in ends],
                "target": [target for _, target in ends],
                "load": self.channel_load,
                "heat": self.channel_heat,
            }
        ).sort("heat", descending=True, maintain_order=True)


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
