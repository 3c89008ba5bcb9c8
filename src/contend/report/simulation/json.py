"""A simulation as JSON: the keys that scripts rely on."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from contend.congestion import Average, BesideCounters, Simulation, hottest
from contend.fabric import Bisection, Fabric, FabricSize
from contend.report.document import filled
from contend.report.simulation.counters import CountersJson, counters_json
from contend.report.simulation.tables import congestion_shares, simulation_verdict
from contend.report.simulation.users import ChannelUsersJson, users_json
from contend.units import rate_of

_HOTTEST = 10


class BandwidthJson(msgspec.Struct, frozen=True, kw_only=True):
    """Averages of the bandwidth that messages get, as fractions of the link speed.

    Where links differ in rate, fractions of what the slower of a message's two hosts' ports
    carries: the least, over its channels, of rate over load; and 1 over that instead of π.
    """

    mean: Annotated[float, "of 1/π over the messages of a round, then over rounds and samples."]
    ci95: Annotated[
        tuple[float, float] | None, "both ends of its 95 % interval; null for a single sample."
    ]
    at_most: Annotated[
        float | None,
        "bound of `mean` by `adaptive`, where that was solved only nearly; null elsewhere.",
    ]
    of_mean_congestion: Annotated[
        float, "of 1 over the mean π of a sample: no waiting between rounds."
    ]
    of_max_congestion: Annotated[
        float,
        "of 1 over the mean of the rounds' largest π: every round waits for its slowest message.",
    ]
    mean_Bps: Annotated[
        float | None, "`mean` in bytes per second; null where the rate of links is not known."
    ]
    of_mean_congestion_Bps: Annotated[float | None, "likewise."]
    of_max_congestion_Bps: Annotated[float | None, "likewise."]


class SlowerDirectionJson(msgspec.Struct, frozen=True, kw_only=True):
    """What pairs of ranks that exchange both ways get, each by the slower of its two directions.

    This is what a benchmark of `MPI_Sendrecv` measures: a pair has ended when both messages have.
    """

    mean: Annotated[
        float,
        "of the smaller of a pair's two shares, as in `effective_bandwidth`, over the pairs of a "
        "round, then over rounds and samples.",
    ]
    ci95: Annotated[
        tuple[float, float] | None, "both ends of its 95 % interval; null for a single sample."
    ]
    mean_Bps: Annotated[
        float | None, "`mean` in bytes per second; null where the rate of links is not known."
    ]


class LinksJson(msgspec.Struct, frozen=True, kw_only=True):
    """Links of one rate."""

    rate: Annotated[str, 'its label, such as ``4xHDR``; "" where it is not known.']
    rate_Bps: Annotated[
        float | None, "bytes per second each way after line coding; null where it is not known."
    ]
    links: Annotated[
        int, "cables to the hosts that take part, and between switches that these can reach."
    ]


class CongestionJson(msgspec.Struct, frozen=True, kw_only=True):
    """How many messages share a channel."""

    histogram: Annotated[
        dict[str, float],
        'fraction of the messages by π; "0" are those between ranks of one host. π is whole unless '
        "messages split.",
    ]
    max: Annotated[float, "the largest π that occurred."]


class RoundsJson(msgspec.Struct, frozen=True, kw_only=True):
    """The rounds of the pattern."""

    count: Annotated[int, "how many."]
    mean_max: Annotated[float, "mean over rounds and samples of a round's largest π."]
    mean_mean: Annotated[float, "mean over rounds and samples of a round's mean π."]
    max_by_round: Annotated[list[float], "`mean_max` of every round."]
    mean_by_round: Annotated[list[float], "`mean_mean` of every round."]


class ChannelJson(msgspec.Struct, frozen=True, kw_only=True):
    """A channel and what it carries."""

    channel: Annotated[int, "its number."]
    name: Annotated[str, "both its ends with their ports."]
    messages_per_round: Annotated[float, "mean over rounds and samples."]
    heat: Annotated[
        float,
        "how long they take: messages over the channel's rate, in units of what one message "
        "takes at the fastest of the hosts' ports; `messages_per_round` where links are "
        "alike.",
    ]
    rate: Annotated[
        str, 'label of the channel\'s cable, such as ``4xHDR``; "" where it is not known.'
    ]


class SimulationJson(msgspec.Struct, frozen=True, kw_only=True):
    """A simulation; only the last four keys depend on how fast the machine is."""

    fabric: Annotated[FabricSize, "what it ran on."]
    verdict: Annotated[str, "what messages get, in a sentence."]
    engine: Annotated[
        str, 'what computed the routes; "" where they were read and their file does not say.'
    ]
    pattern: Annotated[str, "the traffic pattern."]
    placement: Annotated[str, "how ranks were placed on hosts."]
    ranks: Annotated[int, "number of ranks."]
    samples: Annotated[int, "number of patterns that were drawn."]
    exhaustive: Annotated[bool, "whether every possible pattern was counted once."]
    patterns_exist: Annotated[int | None, "number of possible patterns; null above 2^63."]
    seed: Annotated[int, "of every random choice."]
    scale: Annotated[
        float,
        "what bandwidths may be multiplied by to leave out what a pattern such as "
        "``neighbour:6`` does to its own end points; the bandwidths here are not.",
    ]
    messages: Annotated[int, "number of messages that were counted."]
    links: Annotated[list[LinksJson], "by their rates, the fastest first."]
    weighed_by_rates: Annotated[
        bool,
        "whether their rates differ and each message got the least of rate over load; false "
        "where all links counted alike.",
    ]
    effective_bandwidth: Annotated[BandwidthJson, "what messages get."]
    slower_direction: Annotated[
        SlowerDirectionJson | None,
        "what pairs that exchange both ways get, such as those of ``bisect:two-way``; null unless "
        "every rank of a round sends to the one that it receives from, and as much.",
    ]
    rated_bisection: Annotated[
        float | None,
        "capacity of the narrowest cut found between two halves of the hosts that take part, "
        "as a fraction of what one half could send; null where it is not known.",
    ]
    rated_bisection_exact: Annotated[
        bool | None,
        "whether it is proved that no cut is narrower; otherwise the rated bisection is at "
        "most this; likewise.",
    ]
    random_pairs_bound: Annotated[
        float | None,
        "an upper bound, from cuts, for what random pairs of the ranks get on average; likewise.",
    ]
    congestion: Annotated[CongestionJson, "distribution of π."]
    rounds: Annotated[RoundsJson, "both bounds for patterns of several rounds."]
    hottest_channels: Annotated[
        list[ChannelJson], "the ten channels that need most time, the hottest first."
    ]
    heat_unit: Annotated[
        str,
        'rate of the port that one unit of heat refers to, such as ``4xHDR``; "" where all links '
        "count alike, and heat is the number of messages.",
    ]
    heat_assumes: Annotated[list[str], "the rates that heat assumes for links of unknown rate."]
    channels: Annotated[list[ChannelUsersJson], "who loads the channels that --channel asks for."]
    counters: Annotated[
        CountersJson | None, "comparison with port counters; null without --counters."
    ]
    elapsed_s: Annotated[float, "seconds in all."]
    drawing_s: Annotated[float, "seconds of all cores spent on drawing patterns and placements."]
    counting_s: Annotated[float, "seconds of all cores spent on counting."]
    patterns_per_s: Annotated[float, "samples over `elapsed_s`."]


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
        fabric=FabricSize(
            simulation.fabric_name, simulation.hosts, simulation.switches, simulation.channels
        ),
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
            at_most=(
                min(simulation.effective_bandwidth * simulation.gap, 1)
                if simulation.gap > 1
                else None
            ),
            ci95=(low, high) if math.isfinite(high - low) else None,
            mean_Bps=simulation.effective_rate,
            of_mean_congestion_Bps=simulation.rate(Average.OF_MEAN_CONGESTION),
            of_max_congestion_Bps=simulation.rate(Average.OF_MAX_CONGESTION),
        ),
        slower_direction=_slower_direction(simulation),
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


def _slower_direction(simulation: Simulation) -> SlowerDirectionJson | None:
    slower = simulation.slower_direction
    if slower is None:
        return None
    ends = None if slower.low is None or slower.high is None else (slower.low, slower.high)
    return SlowerDirectionJson(
        mean=slower.mean, ci95=ends, mean_Bps=simulation.slower_direction_rate
    )
