"""A simulation as JSON: the keys that scripts rely on."""

from __future__ import annotations

import math

import msgspec

from contend.congestion import Average, BesideCounters, Simulation, hottest
from contend.fabric import Bisection, Fabric
from contend.report.document import filled
from contend.report.simulation.counters import CountersJson, counters_json
from contend.report.simulation.tables import congestion_shares, simulation_verdict
from contend.report.simulation.users import ChannelUsersJson, users_json
from contend.units import rate_of

_HOTTEST = 10


class FabricJson(msgspec.Struct, frozen=True, kw_only=True):
    """The fabric.

    Attributes:
        name: what it is called.
        hosts: number of end ports that carry traffic.
        switches: number of switches.
        channels: number of directions of cables, those of hosts included.
    """

    name: str
    hosts: int
    switches: int
    channels: int


class BandwidthJson(msgspec.Struct, frozen=True, kw_only=True):
    """Averages of the bandwidth that messages get, as fractions of the link speed.

    Where links differ in rate, fractions of what the slower of a message's two hosts' ports
    carries: the least, over its channels, of rate over load; and 1 over that instead of π.

    Attributes:
        mean: of 1/π over the messages of a round, then over rounds and samples.
        ci95: both ends of its 95 % interval; null for a single sample.
        of_mean_congestion: of 1 over the mean π of a sample: no waiting between rounds.
        of_max_congestion: of 1 over the mean of the rounds' largest π: every round waits for its
            slowest message.
        mean_Bps: `mean` in bytes per second; null where the rate of links is not known.
        of_mean_congestion_Bps: likewise.
        of_max_congestion_Bps: likewise.
    """

    mean: float
    ci95: tuple[float, float] | None
    of_mean_congestion: float
    of_max_congestion: float
    mean_Bps: float | None  # noqa: N815
    of_mean_congestion_Bps: float | None  # noqa: N815
    of_max_congestion_Bps: float | None  # noqa: N815


class LinksJson(msgspec.Struct, frozen=True, kw_only=True):
    """Links of one rate.

    Attributes:
        rate: its label, such as ``4xHDR``; "" where it is not known.
        rate_Bps: bytes per second each way after line coding; null where it is not known.
        links: cables to the hosts that take part, and between switches that these can reach.
    """

    rate: str
    rate_Bps: float | None  # noqa: N815
    links: int


class CongestionJson(msgspec.Struct, frozen=True, kw_only=True):
    """How many messages share a channel.

    Attributes:
        histogram: fraction of the messages by π; "0" are those between ranks of one host.
        max: the largest π that occurred.
    """

    histogram: dict[str, float]
    max: int


class RoundsJson(msgspec.Struct, frozen=True, kw_only=True):
    """The rounds of the pattern.

    Attributes:
        count: how many.
        mean_max: mean over rounds and samples of a round's largest π.
        mean_mean: mean over rounds and samples of a round's mean π.
        max_by_round: `mean_max` of every round.
        mean_by_round: `mean_mean` of every round.
    """

    count: int
    mean_max: float
    mean_mean: float
    max_by_round: list[float]
    mean_by_round: list[float]


class ChannelJson(msgspec.Struct, frozen=True, kw_only=True):
    """A channel and what it carries.

    Attributes:
        channel: its number.
        name: both its ends with their ports.
        messages_per_round: mean over rounds and samples.
        heat: how long they take: messages over the channel's rate, in units of what one message
            takes at the fastest of the hosts' ports; `messages_per_round` where links are alike.
        rate: label of the channel's cable, such as ``4xHDR``; "" where it is not known.
    """

    channel: int
    name: str
    messages_per_round: float
    heat: float
    rate: str


class SimulationJson(msgspec.Struct, frozen=True, kw_only=True):
    """A simulation; only the last four keys depend on how fast the machine is.

    Attributes:
        fabric: what it ran on.
        verdict: what messages get, in a sentence.
        engine: what computed the routes; "" where they were read and their file does not say.
        pattern: the traffic pattern.
        placement: how ranks were placed on hosts.
        ranks: number of ranks.
        samples: number of patterns that were drawn.
        exhaustive: whether every possible pattern was counted once.
        patterns_exist: number of possible patterns; null above 2^63.
        seed: of every random choice.
        scale: what bandwidths may be multiplied by to leave out what a pattern such as
            ``neighbour:6`` does to its own end points; the bandwidths here are not.
        messages: number of messages that were counted.
        links: by their rates, the fastest first.
        weighed_by_rates: whether these differ and were counted so, each message with the least of
            rate over load; false where all links counted alike.
        effective_bandwidth: what messages get.
        rated_bisection: capacity of the narrowest cut found between two halves of the hosts that
            take part, as a fraction of what one half could send; null where it is not known.
        rated_bisection_exact: whether it is proved that no cut is narrower; otherwise the rated
            bisection is at most this; likewise.
        random_pairs_bound: the most that random pairs of the ranks get on average, by what cuts
            carry; likewise.
        congestion: distribution of π.
        rounds: both bounds for patterns of several rounds.
        hottest_channels: the ten channels that need most time, the hottest first.
        heat_unit: rate of the port that heat goes by, such as ``4xHDR``; "" where all links count
            alike, and heat is the number of messages.
        heat_assumes: the rates that links of unknown rate were taken for in heat.
        channels: who loads the channels that --channel asks for.
        counters: comparison with port counters; null without --counters.
        elapsed_s: seconds in all.
        drawing_s: seconds of all cores spent on drawing patterns and placements.
        counting_s: seconds of all cores spent on counting.
        patterns_per_s: samples over `elapsed_s`.
    """

    fabric: FabricJson
    verdict: str
    engine: str
    pattern: str
    placement: str
    ranks: int
    samples: int
    exhaustive: bool
    patterns_exist: int | None
    seed: int
    scale: float
    messages: int
    links: list[LinksJson]
    weighed_by_rates: bool
    effective_bandwidth: BandwidthJson
    rated_bisection: float | None
    rated_bisection_exact: bool | None
    random_pairs_bound: float | None
    congestion: CongestionJson
    rounds: RoundsJson
    hottest_channels: list[ChannelJson]
    heat_unit: str
    heat_assumes: list[str]
    channels: list[ChannelUsersJson]
    counters: CountersJson | None
    elapsed_s: float
    drawing_s: float
    counting_s: float
    patterns_per_s: float


def simulation_json(
    simulation: Simulation,
    fabric: Fabric,
    rated: Bisection | None = None,
    beside: BesideCounters | None = None,
) -> SimulationJson:
    """The result of ``contend simulate --json``.

    Args:
        simulation: the result.
        fabric: what it ran on, for the names of channels.
        rated: the narrowest cut found between halves of the hosts that take part, if it is known.
        beside: what ports have counted.
    """
    low, high = simulation.ci95
    shares, heats = congestion_shares(simulation), simulation.channel_heat
    return filled(
        SimulationJson,
        simulation,
        verdict=simulation_verdict(simulation),
        fabric=filled(FabricJson, simulation, name=simulation.fabric_name),
        patterns_exist=simulation.outcomes,
        links=[
            LinksJson(rate=label, rate_Bps=rate_of(label), links=links)
            for label, links in simulation.links.items()
        ],
        weighed_by_rates=simulation.weighed,
        effective_bandwidth=filled(
            BandwidthJson,
            simulation,
            mean=simulation.effective_bandwidth,
            ci95=(low, high) if math.isfinite(high - low) else None,
            mean_Bps=simulation.effective_rate,
            of_mean_congestion_Bps=simulation.rate(Average.OF_MEAN_CONGESTION),
            of_max_congestion_Bps=simulation.rate(Average.OF_MAX_CONGESTION),
        ),
        rated_bisection=None if rated is None else rated.share,
        rated_bisection_exact=None if rated is None else rated.exact,
        random_pairs_bound=None if rated is None else rated.random_pairs,
        congestion=CongestionJson(
            histogram={str(pi): share for pi, share in shares.items()},
            max=max(shares, default=0),
        ),
        rounds=filled(
            RoundsJson,
            simulation,
            count=simulation.rounds,
            max_by_round=simulation.round_max_congestion.tolist(),
            mean_by_round=simulation.round_mean_congestion.tolist(),
        ),
        hottest_channels=[
            ChannelJson(
                channel=channel,
                name=fabric.channel_name(channel),
                messages_per_round=float(simulation.channel_load[channel]),
                heat=float(heats[channel]),
                rate=fabric.channel_rate(channel),
            )
            for channel in hottest(heats, _HOTTEST)
        ],
        heat_assumes=simulation.assumed_rates,
        channels=users_json(simulation),
        counters=None if beside is None else counters_json(beside),
    )
