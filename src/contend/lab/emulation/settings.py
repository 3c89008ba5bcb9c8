"""What the cables of an emulated fabric are like, and which of them this machine can stand for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from contend.base.errors import ArgumentError

# The kernel counts a token bucket's rate in 32 bits, and a bucket must hold a whole packet.
LARGEST_RATE = (1 << 32) - 1
_LARGEST_SIZE = 1 << 30
SMALLEST_RATE = 125_000.0
"""Bytes per second, 1 Mbit/s: below it a packet takes longer than most messages should."""
SMALLEST_BURST = 1600
HOST_PACKETS = 1000
"""Packets that wait at the port of a Linux host, whose driver does not say otherwise
(``txqueuelen``)."""
RTO_MIN = 0.2
"""Seconds after which Linux sends at the earliest again what nobody has acknowledged."""
_SMALLEST_RTO, _LARGEST_RTO = 0.001, 60.0


@dataclass(frozen=True)
class Settings:
    """What the cables are like: every cable of an emulated fabric, in each direction.

    The defaults are the same everywhere: on the command line, in Python and in help texts.
    """

    rate: float = 12_500_000.0
    """Bytes per second on the wire, Ethernet headers included, of the fastest host's port; all
    other cables have it in proportion to their own rates."""
    buffer: int = 200_000
    """Bytes that wait for a switch's channel before it drops packets."""
    burst: int = 16 * 1024
    """Bytes that may leave at once after a pause."""
    rto_min: float = RTO_MIN
    """Seconds of the shortest time-out of TCP. At a tenth of a network's rate, a time-out costs
    what it costs there if it is ten times as long."""
    host_queue: int | None = None
    """Bytes that wait at a host's own port before it drops packets; null for the 1,000 packets of a
    Linux host."""

    def __post_init__(self) -> None:
        """Refuses what cannot be emulated.

        Raises:
            UsageError: saying which and why.
        """
        if not SMALLEST_RATE <= self.rate <= LARGEST_RATE:
            raise ArgumentError("rate", "expected 1 Mbit/s to 34 Gbit/s")
        if not SMALLEST_BURST <= self.burst <= _LARGEST_SIZE:
            raise ArgumentError(
                "burst", f"expected {SMALLEST_BURST} B to 1 GiB, got {self.burst} B"
            )
        for queue, size in (("buffer", self.buffer), ("host_queue", self.host_queue)):
            if size is not None and not SMALLEST_BURST <= size <= _LARGEST_SIZE:
                raise ArgumentError(queue, f"expected {SMALLEST_BURST} B to 1 GiB, got {size} B")
        if not _SMALLEST_RTO <= self.rto_min <= _LARGEST_RTO:
            raise ArgumentError("rto_min", f"expected 1 ms to 60 s, got {self.rto_min:g} s")

    def of(self, part: float) -> Settings:
        """The same of a cable that carries another part of the rate."""
        return replace(self, rate=min(part * self.rate, LARGEST_RATE))
