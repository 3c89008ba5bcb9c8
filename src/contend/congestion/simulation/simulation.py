"""The result of a simulation, and the figures that are derived from it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import UsageError
from contend.base.schema import PythonOnly, Share, Shown, told
from contend.congestion.rates import Links, heat, hottest
from contend.congestion.simulation.averages import (
    EACH_HOST,
    Average,
    Bandwidth,
    Congestion,
    EachHost,
    Judged,
    LoadedChannel,
    SampleMean,
    SimulatedRounds,
    SlowerDirection,
    half_width,
)
from contend.congestion.simulation.channels import BesideCounters, ChannelUsers
from contend.fabric import Bisection, Fabric, FabricSize, bisection

if TYPE_CHECKING:
    import polars

# Channels that programs get.
_HOTTEST = 10


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Simulation(Shown, told="simulation_document", drawn="draw_simulation"):
    """Congestion of many samples of a pattern on a fabric; a sample is one pattern and placement.

    π of a message is its congestion, the largest number of messages on any channel of its route;
    it gets 1/π of a link's rate (Hoefler et al. 2008, section 3.1). Where links differ in rate, it
    gets the least, over the channels of its route, of rate over messages; bandwidths are then
    shares of what the slower of its two hosts' ports carries. Its slowdown is 1 over its share, π
    where links are alike.
    """

    fabric: Fabric | FabricSize
    """What it ran on; only its size in a result that was kept."""
    engine: str
    """What computed the routes; "" if they were read and their file does not say."""
    pattern: str
    """The traffic pattern."""
    placement: str
    """How ranks were placed on hosts."""
    ranks: int
    """Number of ranks."""
    samples: int
    """Number of patterns that were drawn."""
    exhaustive: bool
    """Whether every possible pattern was counted once, so that there is no sampling error."""
    patterns_exist: int | None
    """Number of possible patterns; null above 2^63."""
    seed: int
    """Seed of every random choice."""
    scale: float
    """What bandwidths may be multiplied by to leave out what a pattern such as ``neighbour:6`` does
    to its own end points; the bandwidths here are not."""
    messages: int
    """Number of messages that were counted."""
    links: tuple[Links, ...] = ()
    """Links by their rates, the fastest first."""
    heat_unit: str = ""
    """Rate of the port that one unit of heat refers to, such as ``4xHDR``; "" if all links count
    alike, and heat is the number of messages."""
    heat_assumes: tuple[str, ...] = ()
    """Rates that heat assumes for links of unknown rate."""
    channels: tuple[ChannelUsers, ...] = ()
    """Who loads the channels that --channel asks for."""
    counters: BesideCounters | None = None
    """Comparison with port counters; null without --counters."""
    elapsed_s: float
    """Seconds from start to end."""
    drawing_s: float
    """Seconds of all cores spent on drawing patterns and placements."""
    counting_s: float
    """Seconds of all cores spent on counting."""
    several_at_once: bool = False
    """Whether ranks have several messages in a round: then what hosts get until the last one is
    done says more than what a message gets."""
    host_share: PythonOnly[NDArray[np.float64]] = field(default_factory=lambda: np.zeros(0))
    """`each_host.share` of every sample, shape [samples]; of fewer where messages count by their
    bytes, and of none where their routes are drawn besides."""
    host_rate: PythonOnly[NDArray[np.float64] | None] = None
    """`each_host.rate_Bps` likewise; None where all links count alike."""
    bandwidth: PythonOnly[NDArray[np.float64]]
    """Mean over rounds of the mean over messages of their shares, shape [samples]."""
    mean_congestion: PythonOnly[NDArray[np.float64]]
    """Mean over rounds of the mean over messages of π, shape [samples]."""
    max_congestion: PythonOnly[NDArray[np.float64]]
    """Mean over rounds of the largest π, shape [samples]."""
    round_mean_congestion: PythonOnly[NDArray[np.float64]]
    """`rounds.mean_by_round`, shape [rounds]."""
    round_max_congestion: PythonOnly[NDArray[np.float64]]
    """`rounds.max_by_round`, shape [rounds]."""
    round_max_seconds_per_byte: PythonOnly[NDArray[np.float64] | None] = None
    """Seconds that the slowest message of a round takes for a byte, averaged as the largest π of
    the round is, shape [rounds]; None where the rate of links is not known."""
    histogram: PythonOnly[NDArray[np.uint64]]
    """Messages by π, those that stay on their host at 0, shape [bins]; by their bytes where the
    pattern says how many, in units that keep sums within 64 bits."""
    bins_of_message: PythonOnly[int] = 1
    """Bins of the histogram for every message more: 1 where each takes one way, and bin n has π n;
    several where they split, and bin n has π n / bins_of_message."""
    channel_load: PythonOnly[NDArray[np.float64]]
    """Mean number of messages per round, shape [channels]."""
    relative_rates: PythonOnly[NDArray[np.float64]] = field(default_factory=lambda: np.zeros(0))
    """Rate of every channel as a multiple of the fastest port's; empty where all links count alike;
    see `contend.congestion.LinkRates`."""
    port_rate: PythonOnly[float | None] = None
    """Bytes per second of a host's port; None where they differ or are not known."""
    mean_slowdown: PythonOnly[NDArray[np.float64] | None] = None
    """As `mean_congestion`, of slowdown; None where all links count alike, and slowdown is π."""
    max_slowdown: PythonOnly[NDArray[np.float64] | None] = None
    """As `max_congestion`, of slowdown; None where all links count alike."""
    bytes_per_second: PythonOnly[NDArray[np.float64] | None] = None
    """As `bandwidth`, of bytes per second; None where all links count alike."""
    mean_seconds_per_byte: PythonOnly[NDArray[np.float64] | None] = None
    """As `mean_congestion`, of what a byte takes; None where all links count alike."""
    max_seconds_per_byte: PythonOnly[NDArray[np.float64] | None] = None
    """As `max_congestion`, of what a byte takes; None where all links count alike."""
    pair_bandwidth: PythonOnly[NDArray[np.float64] | None] = None
    """Mean over rounds of the mean over pairs of the share that the slower of their two directions
    gets, shape [samples]; None where rounds do not consist of pairs that exchange both ways."""
    pair_bytes_per_second: PythonOnly[NDArray[np.float64] | None] = None
    """The same of bytes per second; None also where all links count alike."""
    taking_part: PythonOnly[NDArray[np.uint32]]
    """Host of every slot that ranks may sit in, shape [slots]."""
    ranks_per_slot: PythonOnly[int] = 1
    """Number of ranks that share a slot."""
    left_out: PythonOnly[str] = ""
    """A sentence on servers that the placement leaves out, and why; "" for none."""
    gap: PythonOnly[float] = 1.0
    """By how much messages of `adaptive` may get more than was found, as a factor."""

    @told
    def weighed_by_rates(self) -> bool:
        """Whether links differ in rate and each message got the least of rate over load.

        False if all links counted alike.
        """
        return self.mean_slowdown is not None

    @told
    def effective_bandwidth(self) -> Bandwidth:
        """What messages get."""
        found = self.averaged(Average.EFFECTIVE_BANDWIDTH)
        of_mean = self.bandwidths(Average.OF_MEAN_CONGESTION)
        of_max = self.bandwidths(Average.OF_MAX_CONGESTION)
        return Bandwidth(
            mean=found.mean,
            ci95=found.ci95,
            at_most=min(found.mean * self.gap, 1) if self.gap > 1 else None,
            of_mean_congestion=float(of_mean.mean()),
            of_max_congestion=float(of_max.mean()),
            mean_Bps=self._rate(self.bandwidth, self.bytes_per_second),
            of_mean_congestion_Bps=self._rate(of_mean, _inverse(self.mean_seconds_per_byte)),
            of_max_congestion_Bps=self._rate(of_max, _inverse(self.max_seconds_per_byte)),
        )

    @told
    def each_host(self) -> EachHost | None:
        """What hosts get until the last message of a round is done.

        Null if messages count by their bytes and take routes that are drawn.
        """
        if len(self.host_share) == 0:
            return None
        found = self._mean_of(self.host_share)
        rate = self._rate(self.host_share, self.host_rate)
        return EachHost(share=found.mean, ci95=found.ci95, rate_Bps=rate)

    @property
    def judged(self) -> Judged:
        """What the pattern is judged by: what people wait for."""
        several = self.several_at_once and len(self.host_share) > 0
        return EACH_HOST if several else Average.EFFECTIVE_BANDWIDTH

    @property
    def judged_shares(self) -> NDArray[np.float64]:
        """What it is judged by, of every sample, shape [samples]."""
        return self.bandwidths(self.judged)

    @property
    def judged_share(self) -> float:
        """Mean over the samples of what it is judged by."""
        return float(self.judged_shares.mean())

    @property
    def judged_Bps(self) -> float | None:
        """Bytes per second by what it is judged by; None where the rate of links is not known."""
        each = self.each_host if self.judged == EACH_HOST else None
        return self.effective_bandwidth.mean_Bps if each is None else each.rate_Bps

    @told
    def slower_direction(self) -> SlowerDirection | None:
        """What pairs that exchange both ways get, such as those of ``bisect:two-way``.

        Null unless every rank of a round sends to the one that it receives from, and as much.
        """
        if self.pair_bandwidth is None:
            return None
        found = self._mean_of(self.pair_bandwidth)
        rate = self._rate(self.pair_bandwidth, self.pair_bytes_per_second)
        return SlowerDirection(mean=found.mean, ci95=found.ci95, mean_Bps=rate)

    @told
    def rated_bisection(self) -> Share:
        """Capacity of the narrowest cut found between halves of the hosts that take part.

        It is a fraction of what one half could send.
        """
        return self.bisection.share

    @told
    def rated_bisection_exact(self) -> bool:
        """Whether it is proved that no cut is narrower; if not, `rated_bisection` is a bound."""
        return self.bisection.exact

    @told
    def random_pairs_bound(self) -> Share:
        """An upper bound, from cuts, for what random pairs of the ranks get on average."""
        return self.bisection.random_pairs

    @told
    def congestion(self) -> Congestion:
        """Distribution of π."""
        total, bins = int(self.histogram.sum()), self.bins_of_message
        shares = {
            # Told as an integer where it is whole everywhere.
            number if bins == 1 else number / bins: int(self.histogram[number]) / total
            for number in np.flatnonzero(self.histogram).tolist()
        }
        return Congestion(shares, max(shares, default=0))

    @told
    def rounds(self) -> SimulatedRounds:
        """Both bounds for patterns of several rounds."""
        return SimulatedRounds(
            count=len(self.round_max_congestion),
            mean_max=float(self.max_congestion.mean()),
            mean_mean=float(self.mean_congestion.mean()),
            max_by_round=tuple(self.round_max_congestion.tolist()),
            mean_by_round=tuple(self.round_mean_congestion.tolist()),
        )

    @told
    def hottest_channels(self) -> tuple[LoadedChannel, ...]:
        """The ten channels that need most time, the hottest first."""
        fabric, heats = self.whole_fabric, self.channel_heat
        return tuple(
            LoadedChannel(
                channel=channel,
                name=fabric.channel_name(channel),
                messages_per_round=float(self.channel_load[channel]),
                heat=float(heats[channel]),
                rate=fabric.channel_rate(channel),
            )
            for channel in hottest(heats, _HOTTEST)
        )

    @told
    def patterns_per_s(self) -> float:
        """Samples over `elapsed_s`."""
        return self.samples / self.elapsed_s if self.elapsed_s > 0 else 0.0

    def bandwidths(self, average: Judged) -> NDArray[np.float64]:
        """Bandwidth of every sample by an average, shape [samples]."""
        if average == Average.EFFECTIVE_BANDWIDTH:
            return self.bandwidth
        if average == EACH_HOST:
            return self.host_share
        mean, largest = self.mean_slowdown, self.max_slowdown
        if mean is None or largest is None:
            mean, largest = self.mean_congestion, self.max_congestion
        return 1 / (mean if average == Average.OF_MEAN_CONGESTION else largest)

    def averaged(self, average: Judged) -> SampleMean:
        """Mean of an average over the samples; the interval of exhaustive results has no width."""
        return self._mean_of(self.bandwidths(average))

    def _mean_of(self, values: NDArray[np.float64]) -> SampleMean:
        mean = float(values.mean())
        half = 0.0 if self.exhaustive else half_width(values)
        if not math.isfinite(half):
            return SampleMean(mean, None, None)
        return SampleMean(mean, mean - half, mean + half)

    def _rate(self, shares: NDArray[np.float64], rates: NDArray[np.float64] | None) -> float | None:
        """Mean in bytes per second: of rates where they were counted, else by the ports' rate."""
        if rates is not None:
            return float(rates.mean())
        return None if self.port_rate is None else float(shares.mean()) * self.port_rate

    @property
    def channel_heat(self) -> NDArray[np.float64]:
        """How long channels need for a round: load over rate, in messages at a port, [channels].

        The load itself where all links count alike.
        """
        return heat(self.channel_load, self.relative_rates)

    @property
    def slowest_port(self) -> float:
        """Heat of a message at the slowest port of these hosts; 1 if all count alike."""
        if len(self.relative_rates) == 0:
            return 1.0
        return 1 / float(self.relative_rates[2 * self.whole_fabric.cables + self.taking_part].min())

    @property
    def whole_fabric(self) -> Fabric:
        """The fabric with all its parts.

        Raises:
            UsageError: the result was read back without them.
        """
        if isinstance(self.fabric, FabricSize):
            raise UsageError(f"this result of {self.fabric.name} was read back without its fabric")
        return self.fabric

    @cached_property
    def bisection(self) -> Bisection:
        """The narrowest cut between halves of the hosts that take part.

        Cables count as they did here, by their rates or all alike.

        Raises:
            UsageError: the result was read back without its fabric.
        """
        seats = np.repeat(self.taking_part, self.ranks_per_slot)
        if len(seats) - self.ranks < self.ranks_per_slot:
            seats = seats[: self.ranks]
        alike = not self.weighed_by_rates
        return bisection(self.whole_fabric, seats, ranks=self.ranks, alike=alike)

    def __repr__(self) -> str:
        engine, bandwidth = f", {self.engine}" if self.engine else "", self.effective_bandwidth
        if self.exhaustive:
            interval = "exact, every outcome was counted"
        elif bandwidth.ci95 is None:
            interval = "none, there is a single sample"
        else:
            interval = f"{' to '.join(f'{100 * end:.4g}' for end in bandwidth.ci95)} %"
        return (
            f"<Simulation of {self.pattern} on {self.fabric.name}{engine}: "
            f"{100 * bandwidth.mean:.4g} % of link speed ({interval})>"
        )

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
        ends = [self.whole_fabric.channel_ends(n) for n in range(self.fabric.channels)]
        return polars.DataFrame(
            {
                "channel": np.arange(self.fabric.channels, dtype=np.uint32),
                "source": [source for source, _ in ends],
                "target": [target for _, target in ends],
                "load": self.channel_load,
                "heat": self.channel_heat,
            }
        ).sort("heat", descending=True, maintain_order=True)


def _inverse(seconds: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    return None if seconds is None else 1 / seconds
