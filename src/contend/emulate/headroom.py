"""Whether this machine carries an emulated fabric, or would itself be the bottleneck."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from contend.emulate.construct import Spaces
from contend.emulate.extent import Walks
from contend.emulate.load import Stream, connect, pump
from contend.emulate.plan import Plan
from contend.emulate.settings import LARGEST_RATE, SMALLEST_RATE, Settings
from contend.errors import MissingError
from contend.units import format_bandwidth

# Of what the machine moves the fabric may need so much; programs need the rest.
_SHARE = 0.6
# Of a cable's rate that a stream by itself gets, headers and all: less, and the machine is slow.
_FULL = 0.85
# Seconds of getting up to speed and of measuring.
_START, _MEASURED = 0.15, 0.4
_MOST_TRIALS = 4
_THREADS_PER_PROCESSOR = 2


@dataclass(frozen=True)
class Headroom:
    """What the machine moves, whatever else runs on it.

    Bytes are counted on every channel that they cross.

    Attributes:
        asked: rate of a cable that was asked for, in bytes per second.
        rate: rate that the machine carries, at most the one asked for.
        moved: bytes per second that it moved when it was tried; it may be able to move more when
            the rate was not lowered.
        needed: bytes per second that it takes when all hosts send at once at the rate asked for.
    """

    asked: float
    rate: float
    moved: float
    needed: float

    @property
    def lowered(self) -> bool:
        """Whether the machine carries less than was asked for."""
        return self.rate < self.asked

    def lowering(self) -> str:
        """What a reader must know when the rate was lowered."""
        return (
            f"cables have {format_bandwidth(self.rate)}, lowered from "
            f"{format_bandwidth(self.asked)}, or this machine would be the bottleneck: {self}"
        )

    def __str__(self) -> str:
        return (
            f"with what else runs here it moves {format_bandwidth(self.moved)} over all cables "
            f"together, and all hosts sending at once at {format_bandwidth(self.asked)} take "
            f"{format_bandwidth(self.needed)}, of which programs must leave it {_SHARE:.0%}"
        )


Trial = Callable[[Settings], float]
"""Moves as much as it can under these settings: bytes per second, counted on every channel."""


def fit(spaces: Spaces, settings: Settings, *, lower: bool = True) -> tuple[Settings, Headroom]:
    """Lowers the rate of a fabric until this machine carries it, whatever else runs here.

    Args:
        spaces: the fabric, built with these settings.
        settings: asked for.
        lower: False refuses instead.

    Returns:
        The settings that are in force now, and why.

    Raises:
        MissingError: when not even the smallest rate goes, or `lower` is False and the rate asked
            for does not.
    """
    pairs, lengths = _pairs_apart(spaces.plan)
    streams = connect(spaces, pairs)
    try:

        def trial(tried: Settings) -> float:
            spaces.limit(tried)
            return _moved(streams, lengths)

        found = judge(settings, sum(lengths), _all_lengths(spaces.plan), trial)
    finally:
        for stream in streams:
            stream.close()
    if found.rate < SMALLEST_RATE or (found.lowered and not lower):
        raise MissingError(f"this machine would be the bottleneck, not the fabric: {found}")
    fitting = replace(settings, rate=found.rate)
    spaces.limit(fitting)
    return fitting, found


def judge(settings: Settings, tried: int, needed: int, trial: Trial) -> Headroom:
    """The rate that a machine carries, by trials in which it may move as much as it can.

    Args:
        settings: asked for.
        tried: channels that the streams of a trial cross, which share none.
        needed: channels that streams of all hosts cross.
        trial: makes one.
    """
    asked = Headroom(settings.rate, settings.rate, 0.0, settings.rate * needed)
    found = asked
    for _ in range(_MOST_TRIALS):
        # A rate at which the streams alone take what all hosts do, and the share of programs.
        enough = found.rate * needed / _SHARE
        rate = min(enough / tried, LARGEST_RATE)
        moved = trial(replace(settings, rate=rate))
        found = replace(found, moved=moved)
        if moved >= _FULL * rate * tried:
            return found
        # What it moves as one is larger at high rates, so the lower rate has to prove itself.
        found = replace(found, rate=_rounded(moved * _SHARE / needed))
        if found.rate < SMALLEST_RATE:
            break
    return found


def _moved(streams: Sequence[Stream], lengths: Sequence[int]) -> float:
    """Bytes per second that streams move together, each counted on every channel it crosses."""
    threads = min(len(streams), _THREADS_PER_PROCESSOR * (os.cpu_count() or 1))
    shares = [streams[at::threads] for at in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda share: pump(share, _START), shares))
        before = [stream.received for stream in streams]
        seconds = max(pool.map(lambda share: pump(share, _MEASURED), shares))
    arrived = (stream.received - sent for stream, sent in zip(streams, before, strict=True))
    return sum(count * length for count, length in zip(arrived, lengths, strict=True)) / seconds


def _pairs_apart(plan: Plan) -> tuple[list[tuple[int, int]], list[int]]:
    """Pairs of hosts, by their places, that share no channel; and the lengths of their routes.

    Greedy, beginning with targets half the hosts away, whose routes tend to be long.
    """
    assert plan.fabric.routes is not None
    walks = Walks(plan.fabric, plan.fabric.routes)
    count = len(plan.hosts)
    taken: set[int] = set()
    pairs, lengths = [], []
    for source in range(count):
        for away in (*range(count // 2, count), *range(1, count // 2)):
            target = (source + away) % count
            route = walks.route(plan.hosts[source], plan.hosts[target])
            if taken.isdisjoint(route):
                taken.update(route)
                pairs.append((source, target))
                lengths.append(len(route))
                break
    return pairs, lengths


def _all_lengths(plan: Plan) -> int:
    """Channels that streams cross when every host sends to one half the hosts away."""
    assert plan.fabric.routes is not None
    walks = Walks(plan.fabric, plan.fabric.routes)
    count = len(plan.hosts)
    return sum(
        len(walks.route(plan.hosts[at], plan.hosts[(at + count // 2) % count]))
        for at in range(count)
    )


def _rounded(rate: float) -> float:
    """Two digits are what the measurement is worth."""
    if rate <= 0:
        return 0.0
    bits = 8 * rate
    digit = 10.0 ** (math.floor(math.log10(bits)) - 1)
    return math.floor(bits / digit) * digit / 8
