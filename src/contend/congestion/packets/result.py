"""What packets under way together come to: shares, victims, blocked channels, circles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import UsageError
from contend.base.schema import PythonOnly, Rate, Seconds, Share, Shown, Size
from contend.congestion.packets.held_up import VICTIM, HeldMessage, Victim, worst_victims
from contend.congestion.packets.model import PacketModel, Queues
from contend.congestion.packets.rounds import PacketSample
from contend.congestion.rates import hottest
from contend.congestion.simulation.averages import SampleMean, half_width
from contend.fabric import Fabric, FabricSize
from contend.traffic.pattern import Pattern
from contend.traffic.placement import Placement

_HALVED = 0.5
_MOST_CHANNELS = 8


@dataclass(frozen=True, kw_only=True)
class QueuedMessages:
    """What messages get with one kind of queues."""

    queues: Queues
    """How switches keep packets: ``fifo`` or ``voq``."""
    bandwidth: SampleMean
    """Share of a port's rate that messages get, the mean over a sample's messages."""
    mean_Bps: Rate | None
    """Mean share in bytes per second; null if the rate of links is not known."""
    victims: Share
    """Share of the messages that get less than 0.9 of what counting gives them."""
    halved: Share
    """Share of the messages that get less than half of what counting gives them."""
    locked: int
    """Number of samples in which packets wait for each other in a circle for ever."""


@dataclass(frozen=True, kw_only=True)
class MessagesByCongestion:
    """Messages of one congestion."""

    congestion: float
    """Number of messages on the fullest channel of their route, π."""
    messages: Share
    """Share of all messages."""
    counted: Share
    """Share of a port's rate by counting."""
    received: dict[Queues, Share]
    """Share of a port's rate that their packets get, by kind of queues."""


@dataclass(frozen=True, kw_only=True)
class BlockedChannel:
    """A channel on which packets wait for room."""

    channel: int
    """Number of the channel."""
    name: str
    """Both its ends with their ports."""
    queues: Queues
    """How switches keep packets."""
    blocked: Share
    """Share of the time in which packets wait for it and it stands still for want of room at its
    far end, in the mean over samples."""
    busy: Share
    """Share of the time in which it carries packets."""


@dataclass(frozen=True, kw_only=True)
class ChannelWaits(BlockedChannel):
    """A channel that was asked for, and who waits there for what."""

    held: tuple[HeldMessage, ...]
    """Messages whose packets wait for it and, having crossed it, at its far end, those with most
    packets first, in the sample in which it is blocked most."""
    cause: str
    """Channel at which the waiting begins in that sample: it is busy all the time, and others wait
    for it."""
    filled_by: tuple[str, ...]
    """Messages across the cause, those that get most of it first: ``source -> target``."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PacketSimulation(Shown, told="packets_document"):
    """Samples of a pattern carried out packet by packet on a network that loses none."""

    fabric: Fabric | FabricSize
    """What it ran on."""
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
    seed: int
    """Seed of every random choice."""
    messages: int
    """Number of messages between hosts."""
    buffer: Size
    """Bytes that the far end of every channel holds on each lane; 0 if there is no limit."""
    mtu: Size
    """Bytes of a packet."""
    message_bytes: Size | None
    """Bytes of a message; null if hosts send all the time."""
    lanes: int
    """Number of virtual lanes, each with a buffer of its own at the far end of every channel."""
    switch_latency_s: Seconds
    """Time from a packet's first bit at a switch until it can leave it."""
    cable_latency_s: Seconds
    """Time that bits take along the longest cable, and word of room back."""
    covered: Share
    """Share of a link's rate that buffers allow: what they hold over what comes in a round trip,
    where that is least; at most 1."""
    counted: SampleMean
    """Share of a port's rate that messages get by counting: 1/π if links are alike. Of pairs that
    exchange messages of a length, what their slower direction gets."""
    fair: SampleMean
    """Share of a port's rate that messages would get if channels were shared max-min fairly."""
    queues: tuple[QueuedMessages, ...]
    """What packets get, by kind of queues."""
    by_congestion: tuple[MessagesByCongestion, ...]
    """Messages by their congestion, ascending."""
    victims: tuple[Victim, ...]
    """The messages that lose most against counting."""
    channels: tuple[BlockedChannel, ...]
    """The channels that are blocked most."""
    watched: tuple[ChannelWaits, ...]
    """Who waits at the channels that --channel asks for, by kind of queues."""
    circle: tuple[str, ...]
    """Channels whose packets wait for each other for ever, each for the next; empty if none do."""
    hops: int
    """Number of channels that packets crossed, one by one."""
    elapsed_s: PythonOnly[float]
    """What it took."""
    blocked: PythonOnly[dict[Queues, NDArray[np.float64]]]
    """Share of the time that every channel is blocked, in the mean over samples, shape [channels],
    by kind of queues."""


def packet_simulation(
    fabric: Fabric,
    pattern: Pattern,
    placement: Placement,
    model: PacketModel,
    seed: int,
    done: Sequence[PacketSample],
    watched: Sequence[int],
    elapsed_s: float,
) -> PacketSimulation:
    """What all samples come to."""
    pi, counted = (
        np.concatenate([part for one in done for part in getattr(one, name)])
        for name in ("pi", "counted")
    )
    if not len(pi):
        raise UsageError(f"{pattern.name}: no message leaves its host, so there are no packets")
    received = {
        queues: np.concatenate([part for one in done for part in one.queued[queues].received])
        for queues in model.queues
    }
    port = done[0].port_Bps
    found = []
    for queues, shares in received.items():
        bandwidth = _mean(sample_means(done, queues))
        found.append(
            QueuedMessages(
                queues=queues,
                bandwidth=bandwidth,
                mean_Bps=None if port is None else bandwidth.mean * port,
                victims=float((shares < VICTIM * counted).mean()),
                halved=float((shares < _HALVED * counted).mean()),
                locked=sum(bool(one.queued[queues].circle) for one in done),
            )
        )
    by_pi = []
    for value in np.unique(pi).tolist():
        of_it = pi == value
        by_pi.append(
            MessagesByCongestion(
                congestion=value,
                messages=float(of_it.mean()),
                counted=float(counted[of_it].mean()),
                received={queues: float(each[of_it].mean()) for queues, each in received.items()},
            )
        )
    blocked = blocked_by_channel(model, done)
    victims = [victim for one in done for each in one.queued.values() for victim in each.victims]
    circles = [each.circle for one in done for each in one.queued.values() if each.circle]
    return PacketSimulation(
        fabric=fabric,
        engine=fabric.routes.engine if fabric.routes is not None else "",
        pattern=pattern.name,
        placement=placement.name,
        ranks=pattern.ranks,
        samples=len(done),
        seed=seed,
        messages=len(pi),
        buffer=model.buffer,
        mtu=model.mtu,
        message_bytes=model.message_bytes,
        lanes=max(one.lanes for one in done),
        switch_latency_s=model.switch_latency_s,
        cable_latency_s=max(one.cable_latency_s for one in done),
        covered=min(one.covered for one in done),
        counted=_mean(np.array([_mean_of(one.counted) for one in done])),
        fair=_mean(np.array([_mean_of(one.fair) for one in done])),
        queues=tuple(found),
        by_congestion=tuple(by_pi),
        victims=tuple(worst_victims(victims)),
        channels=tuple(
            _standing(fabric, done, blocked, channel, model.queues[0])
            for channel in hottest(blocked[model.queues[0]][: 2 * fabric.cables], _MOST_CHANNELS)
        ),
        watched=tuple(
            _watched(_standing(fabric, done, blocked, channel, queues), done)
            for channel in watched
            for queues in model.queues
        ),
        circle=tuple(map(fabric.channel_name, circles[0])) if circles else (),
        hops=sum(one.hops for one in done),
        elapsed_s=elapsed_s,
        blocked=blocked,
    )


def blocked_by_channel(
    model: PacketModel, done: Sequence[PacketSample]
) -> dict[Queues, NDArray[np.float64]]:
    """Share of the time that every channel is blocked, shape [channels], by kind of queues."""
    return {
        queues: np.mean([one.queued[queues].blocked for one in done], axis=0)
        for queues in model.queues
    }


def _standing(
    fabric: Fabric,
    done: Sequence[PacketSample],
    blocked: dict[Queues, NDArray[np.float64]],
    channel: int,
    queues: Queues,
) -> BlockedChannel:
    """How long a channel stands still and carries."""
    return BlockedChannel(
        channel=channel,
        name=fabric.channel_name(channel),
        queues=queues,
        blocked=float(blocked[queues][channel]),
        busy=float(np.mean([one.queued[queues].busy[channel] for one in done])),
    )


def _watched(standing: BlockedChannel, done: Sequence[PacketSample]) -> ChannelWaits:
    """Who waits there in the sample in which most is blocked; nobody where no packets come."""
    samples = (one.queued[standing.queues].watched.get(standing.channel, ()) for one in done)
    rounds = [seen for sample in samples for seen in sample]
    worst = max(rounds, key=lambda seen: (seen.blocked, len(seen.held)), default=None)
    return ChannelWaits(
        **vars(standing),
        held=worst.held if worst else (),
        cause=worst.cause if worst else standing.name,
        filled_by=worst.filled_by if worst else (),
    )


def _mean_of(rounds: Sequence[NDArray[np.float64]]) -> float:
    """Mean share of a sample's messages; 1 where none leaves its host, as counting has it."""
    shares = np.concatenate(rounds)
    return float(shares.mean()) if len(shares) else 1.0


def sample_means(done: Sequence[PacketSample], queues: Queues) -> NDArray[np.float64]:
    """Mean share of the messages of every sample, shape [samples]."""
    return np.array([_mean_of(one.queued[queues].received) for one in done])


def _mean(values: NDArray[np.float64]) -> SampleMean:
    mean, width = float(values.mean()), half_width(values)
    return (
        SampleMean(mean, None, None)
        if len(values) < 2
        else SampleMean(mean, mean - width, mean + width)
    )
