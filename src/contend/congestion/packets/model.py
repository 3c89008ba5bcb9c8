"""How switches keep packets, what hosts send, and how long bits are under way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import ArgumentError
from contend.base.units import parse_seconds, parse_size, valued

SWITCH_LATENCY_S, CABLE_LATENCY_S = 130e-9, 20e-9
"""From a packet's first bit at a switch until it can leave it, which is below 130 ns port to port
by the vendor (Mellanox, QM8790 HDR InfiniBand switch, product brief); and along four metres of
cable, at two thirds of the speed of light."""
# Steady is what has lasted so many round trips of the longest cable.
_TRIPS = 32
# Steady state is measured from so many bytes of the slowest port on until three times as many: what
# fills buffers is bytes. Packets are as many as these, but neither fewer nor more.
_FROM, _PACKETS_FROM = 1 << 20, (64.0, 256.0)
# Of pairs that exchange messages, in messages.
_EXCHANGED_FROM, _EXCHANGED_UNTIL = 2.0, 26.0
_MOST_PACKETS = 1 << 24


class Queues(StrEnum):
    """How switches keep the packets that come over one channel."""

    FIFO = "fifo"
    """One queue: the first packet holds up all behind it."""
    VOQ = "voq"
    """One queue for each channel out of the switch, in one buffer (virtual output queues)."""


@dataclass(frozen=True)
class PacketModel:
    """How switches keep packets, and what hosts send."""

    queues: tuple[Queues, ...]
    buffer: int
    """Bytes that the far end of every channel holds; 0 for no limit."""
    mtu: int
    message_bytes: int | None
    """None for hosts that send all the time."""
    switch_latency_s: float
    cable_latency: float | str
    """Seconds, or in words; by kind of cable, too."""

    @classmethod
    def of(
        cls,
        queues: Sequence[Queues | str] = tuple(Queues),
        buffer: int | str = "64KiB",
        mtu: int | str = "4KiB",
        message_bytes: int | str | None = None,
        switch_latency: float | str = SWITCH_LATENCY_S,
        cable_latency: float | str = CABLE_LATENCY_S,
    ) -> PacketModel:
        """The model by sizes in bytes or in words.

        Raises:
            UsageError: no such queues, or a size that does not fit.
        """
        known = list(Queues)
        if not queues or any(one not in known for one in queues):
            raise ArgumentError("queues", f"expected {' or '.join(known)}, got {list(queues)}")
        room, packet, length = (
            parse_size(size) if isinstance(size, str) else size
            for size in (buffer, mtu, message_bytes)
        )
        assert room is not None
        assert packet is not None
        for name, size in (("mtu", packet), ("bytes", length)):
            if size is not None and size < 1:
                raise ArgumentError(name, f"expected at least 1 byte, got {size}")
        if 0 < room < packet:
            raise ArgumentError(
                "buffer", f"expected room for a packet, {packet:,} bytes, got {room:,}"
            )
        for name, size in (("buffer", room), ("bytes", length or 0)):
            if size // packet > _MOST_PACKETS:
                raise ArgumentError(
                    name, f"expected at most {_MOST_PACKETS:,} packets, got {size // packet:,}"
                )
        kinds = tuple(dict.fromkeys(map(Queues, queues)))
        return cls(
            kinds, room, packet, length, valued(switch_latency, parse_seconds) or 0.0, cable_latency
        )

    def round_trips(
        self, flight: NDArray[np.float64], rates: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Packets that go in the time from when one is sent until word comes of its room.

        Along the cable, through the switch, all of it out, and the word back; by channel.
        """
        return np.asarray((2 * flight + self.switch_latency_s) * rates / self.mtu + 1)

    def carry(
        self,
        routes: _core.PacketRoutes,
        rates: NDArray[np.float64],
        exchanges: bool,
        seed: int,
        watched: NDArray[np.uint32],
        flight: NDArray[np.float64],
    ) -> dict[Queues, dict[str, Any]]:
        """What becomes of messages with each kind of queues.

        Args:
            routes: where their packets may go.
            rates: bytes per second of every channel.
            exchanges: whether messages of a length are exchanged again and again by pairs.
            seed: of all random choices.
            watched: channels of which every wait is told.
            flight: seconds that bits take along the cable of every channel.
        """
        exchanges = exchanges and self.message_bytes is not None
        room, length = self.buffer // self.mtu, -(-(self.message_bytes or 0) // self.mtu)
        start = float(np.clip(_FROM / self.mtu, *_PACKETS_FROM))
        start, end = (_EXCHANGED_FROM, _EXCHANGED_UNTIL) if exchanges else (start, 3 * start)
        # What buffers hold comes in bursts, one a round trip, of which there must be whole ones.
        slowest = rates[len(rates) - 2 * routes.places :].min()
        trip = float((self.round_trips(flight, rates) / rates).max() * slowest)
        if not exchanges and _TRIPS * trip > start:
            start, end = _TRIPS * trip, (_TRIPS + np.ceil((end - start) / trip)) * trip
        span = (start, end)
        sizes = (room, self.mtu, self.switch_latency_s, length, exchanges, *span)
        return {
            queues: routes.carry(rates, queues == Queues.VOQ, *sizes, seed, watched, flight)
            for queues in self.queues
        }
