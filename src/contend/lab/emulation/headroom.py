"""Whether this machine carries an emulated fabric, or would itself be the bottleneck.

Streams of bytes between emulated hosts, pumped by this process alone, show what it moves.
"""

from __future__ import annotations

import math
import os
import selectors
import socket
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace

from contend.base.errors import MissingError
from contend.base.units import format_link_speed
from contend.lab.emulation.layout import Layout, Way
from contend.lab.emulation.settings import LARGEST_RATE, SMALLEST_RATE, Settings
from contend.lab.emulation.spaces import Spaces

# Of what the machine moves the fabric may need so much; programs need the rest.
_SHARE = 0.6
# Of a cable's rate that a stream by itself gets, headers and all: less, and the machine is slow.
_FULL = 0.85
# Seconds of getting up to speed and of measuring.
_START, _MEASURED = 0.15, 0.4
_MOST_TRIALS = 4
_THREADS_PER_PROCESSOR = 2
_PORT = 7
_PIECE = memoryview(bytes(1 << 16))
_PATIENCE = 5.0


@dataclass(frozen=True)
class Headroom:
    """What the machine moves, whatever else runs on it.

    Bytes are counted on every channel that they cross.
    """

    asked: float
    """Rate of a cable that was asked for, in bytes per second."""
    rate: float
    """Rate that the machine carries, at most the one asked for."""
    moved: float
    """Bytes per second that it moved when it was tried; it may be able to move more when the rate
    was not lowered."""
    needed: float
    """Bytes per second that it takes when all hosts send at once at the rate asked for."""

    @property
    def lowered(self) -> bool:
        """Whether the machine carries less than was asked for."""
        return self.rate < self.asked

    def lowering(self) -> str:
        """What a reader must know when the rate was lowered."""
        return (
            f"cables run at {format_link_speed(self.rate)} instead of "
            f"{format_link_speed(self.asked)}, or this machine would be the bottleneck: {self}"
        )

    def __str__(self) -> str:
        return (
            f"under its present load it moves {format_link_speed(self.moved)} over all cables "
            f"together, of which the fabric may use {100 * _SHARE:.0f} %, but all hosts sending "
            f"at once at {format_link_speed(self.asked)} need {format_link_speed(self.needed)}"
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
    layout = spaces.layout
    pairs, ways = _pairs_apart(layout)
    lengths = [way.length for way in ways]
    streams = connect(spaces, pairs)
    try:

        def trial(tried: Settings) -> float:
            spaces.limit(tried)
            return _moved(streams, lengths)

        tried = sum(_taken(layout, way) for way in ways)
        headroom = judge(settings, tried, _taken_by_all(layout), trial)
    finally:
        for stream in streams:
            stream.close()
    if headroom.rate * layout.slowest < SMALLEST_RATE or (headroom.lowered and not lower):
        raise MissingError(f"this machine would be the bottleneck, not the fabric: {headroom}")
    fitting = replace(settings, rate=headroom.rate)
    spaces.limit(fitting)
    return fitting, headroom


def judge(settings: Settings, tried: float, needed: float, trial: Trial) -> Headroom:
    """The rate that a machine carries, by trials in which it may move as much as it can.

    Args:
        settings: asked for.
        tried: channels that the streams of a trial cross, which share none, each counted with the
            part of the rate that the stream has over it.
        needed: likewise, channels that streams of all hosts cross.
        trial: makes one.
    """
    headroom = Headroom(settings.rate, settings.rate, 0.0, settings.rate * needed)
    for _ in range(_MOST_TRIALS):
        # A rate at which the streams alone take what all hosts do, and the share of programs.
        enough = headroom.rate * needed / _SHARE
        rate = min(enough / tried, LARGEST_RATE)
        moved = trial(replace(settings, rate=rate))
        headroom = replace(headroom, moved=moved)
        if moved >= _FULL * rate * tried:
            return headroom
        # What it moves as one is larger at high rates, so the lower rate has to prove itself.
        headroom = replace(headroom, rate=_rounded(moved * _SHARE / needed))
        if headroom.rate < SMALLEST_RATE:
            break
    return headroom


def _moved(streams: Sequence[Connection], lengths: Sequence[int]) -> float:
    """Bytes per second that streams move together, each counted on every channel it crosses."""
    threads = min(len(streams), _THREADS_PER_PROCESSOR * (os.cpu_count() or 1))
    shares = [streams[at::threads] for at in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda share: pump(share, _START), shares))
        before = [stream.received for stream in streams]
        seconds = max(pool.map(lambda share: pump(share, _MEASURED), shares))
    arrived = (stream.received - sent for stream, sent in zip(streams, before, strict=True))
    return sum(count * length for count, length in zip(arrived, lengths, strict=True)) / seconds


def _pairs_apart(layout: Layout) -> tuple[list[tuple[int, int]], list[Way]]:
    """Pairs of hosts, by their indices, that share no channel however hashes fall; and their ways.

    Greedy, beginning with targets half the hosts away, whose routes tend to be long.
    """
    count = len(layout.hosts)
    taken: set[int] = set()
    pairs, ways = [], []
    for source in range(count):
        for away in (*range(count // 2, count), *range(1, count // 2)):
            target = (source + away) % count
            way = layout.way(source, target)
            if taken.isdisjoint(way.channels):
                taken.update(way.channels)
                pairs.append((source, target))
                ways.append(way)
                break
    return pairs, ways


def _taken(layout: Layout, way: Way) -> float:
    """Channels that a stream crosses, times the part of the rate that it gets by itself."""
    return way.length * layout.part(way)


def _taken_by_all(layout: Layout) -> float:
    """The same of all streams when every host sends to one half the hosts away."""
    count = len(layout.hosts)
    ways = (layout.way(at, (at + count // 2) % count) for at in range(count))
    return sum(_taken(layout, way) for way in ways)


def _rounded(rate: float) -> float:
    """Rounds to two digits, the precision of the measurement."""
    if rate <= 0:
        return 0.0
    bits = 8 * rate
    digit = 10.0 ** (math.floor(math.log10(bits)) - 1)
    return math.floor(bits / digit) * digit / 8


@dataclass
class Connection:
    """A connection from a host to another."""

    sender: socket.socket
    """Socket in the namespace of one host."""
    receiver: socket.socket
    """Socket in that of the other."""
    left: int | None = None
    """Bytes still to be sent; None for as many as go."""
    received: int = 0
    """Bytes that have arrived."""

    def close(self) -> None:
        """Closes both ends."""
        self.sender.close()
        self.receiver.close()


def connect(spaces: Spaces, pairs: Sequence[tuple[int, int]]) -> list[Connection]:
    """A TCP connection for every pair (source, target) of hosts, by their indices in the layout."""
    listening = {
        target: spaces.within(target, _listen) for target in sorted({target for _, target in pairs})
    }
    streams = []
    try:
        for source, target in pairs:
            sender = spaces.within(source, socket.socket)
            sender.settimeout(_PATIENCE)
            # One after the other, so that the next one to be accepted is this one.
            sender.connect((spaces.layout.nodes[target].address, _PORT))
            receiver, _ = listening[target].accept()
            streams.append(Connection(sender, receiver))
            for end in (sender, receiver):
                end.setblocking(False)
    finally:
        for listener in listening.values():
            listener.close()
    return streams


def pump(streams: Sequence[Connection], seconds: float) -> float:
    """Sends over all streams until all that is to be sent has arrived, or time is over.

    Returns:
        The seconds that it took.
    """
    began = time.monotonic()
    deadline = began + seconds
    endless = any(stream.left is None for stream in streams)
    expected = {
        id(stream): stream.received + stream.left for stream in streams if stream.left is not None
    }
    buffer = bytearray(1 << 18)
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            selector.register(stream.sender, selectors.EVENT_WRITE, stream)
            selector.register(stream.receiver, selectors.EVENT_READ, stream)
        while (endless or expected) and (now := time.monotonic()) < deadline:
            for key, events in selector.select(deadline - now):
                moved: Connection = key.data
                if events & selectors.EVENT_WRITE:
                    if not _send(moved):
                        selector.unregister(moved.sender)
                    continue
                moved.received += _receive(moved, buffer)
                if moved.received == expected.get(id(moved)):
                    del expected[id(moved)]
                    selector.unregister(moved.receiver)
    return time.monotonic() - began


def _send(stream: Connection) -> bool:
    """Sends what the socket takes; whether there is more to send."""
    with suppress(BlockingIOError):
        if stream.left is None:
            stream.sender.send(_PIECE)
        else:
            stream.left -= stream.sender.send(_PIECE[: stream.left])
    return stream.left != 0


def _receive(stream: Connection, buffer: bytearray) -> int:
    with suppress(BlockingIOError):
        return stream.receiver.recv_into(buffer)
    return 0


def _listen() -> socket.socket:
    listener = socket.socket()
    listener.settimeout(_PATIENCE)
    listener.bind(("", _PORT))
    listener.listen()
    return listener
