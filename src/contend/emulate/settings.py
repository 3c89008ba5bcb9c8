"""What the cables of an emulated fabric are like."""

from __future__ import annotations

from dataclasses import dataclass

from contend.errors import UsageError

# The kernel counts a token bucket's rate in 32 bits, and a bucket must hold a whole packet.
LARGEST_RATE = (1 << 32) - 1
_LARGEST_SIZE = 1 << 30
# The kernel counts buckets in time, which makes them a little smaller than asked for.
_BUCKET = 0.99
PACKET = 1514
"""Bytes of the largest packet on the wire: an Ethernet frame without preamble and checksum."""
SMALLEST_RATE = 125_000.0
"""Bytes per second, 1 Mbit/s: below it a packet takes longer than most messages should."""
SMALLEST_BURST = 1600


@dataclass(frozen=True)
class Settings:
    """Every cable of an emulated fabric, in each direction.

    Attributes:
        rate: bytes per second on the wire, Ethernet headers included.
        buffer: bytes that wait for a channel before it drops packets.
        burst: bytes that may leave at once after a pause.
    """

    rate: float
    buffer: int = 200_000
    burst: int = 16 * 1024

    def __post_init__(self) -> None:
        """Refuses what cannot be emulated.

        Raises:
            UsageError: saying which and why.
        """
        if not SMALLEST_RATE <= self.rate <= LARGEST_RATE:
            raise UsageError("rate: expected 1 Mbit/s to 34 Gbit/s")
        if not SMALLEST_BURST <= self.burst <= _LARGEST_SIZE:
            raise UsageError(f"burst: expected {SMALLEST_BURST} B to 1 GiB, got {self.burst} B")
        if not SMALLEST_BURST <= self.buffer <= _LARGEST_SIZE:
            raise UsageError(f"buffer: expected {SMALLEST_BURST} B to 1 GiB, got {self.buffer} B")

    @property
    def packets_at_once(self) -> int:
        """Packets of a stream that the kernel moves as one piece.

        A piece that does not fit the bucket would be cut into packets on every channel anew, which
        takes the machine several times as long; one that fills much of the buffer would make drops
        coarse.
        """
        return max(int(min(_BUCKET * self.burst, self.buffer / 12)) // PACKET, 1)
