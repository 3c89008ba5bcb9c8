"""What crossed the channels of an emulated fabric, and where packets were dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from contend.base.schema import Seconds, Size
from contend.base.units import counted, verb
from contend.fabric import Fabric


@dataclass(frozen=True)
class Drops:
    """Packets that found a queue full, by where it was."""

    in_hosts: int = 0
    """Number of them in the queue of a host's own port."""
    between_switches: int = 0
    """Number of them in a switch's queue for another switch."""
    before_hosts: int = 0
    """Number of them in a switch's queue for the host that was to receive them."""

    @property
    def total(self) -> int:
        """All of them."""
        return self.in_hosts + self.between_switches + self.before_hosts

    def __str__(self) -> str:
        """How many there were and where, as a clause."""
        places = {
            "in the hosts' own queues": self.in_hosts,
            "between switches": self.between_switches,
            "in switches before receiving hosts": self.before_hosts,
        }
        told = [f"{count:,} {place}" for place, count in places.items() if count]
        if not told:
            return "no packet was dropped"
        dropped = f"{counted(self.total, 'packet')} {verb(self.total, 'was')} dropped"
        return (
            f"{dropped} {told[0].partition(' ')[2]}"
            if len(told) == 1
            else (f"{dropped} ({', '.join(told)})")
        )


@dataclass(frozen=True)
class ChannelTraffic:
    """What crossed a channel."""

    channel: int
    """Number of the channel in the fabric."""
    source: str
    """What sends on it."""
    target: str
    """What receives from it."""
    bytes: Size
    """Bytes sent on the wire, Ethernet headers included."""
    packets: int
    """Number of packets sent."""
    drops: int
    """Number of packets that found its queue full."""


@dataclass(frozen=True)
class CountedTraffic:
    """What crossed the fabric."""

    elapsed_s: Seconds
    """Seconds in which it did."""
    bytes: Size
    """Bytes over all channels."""
    packets: int
    """Packets over all channels."""
    drops: int
    """Packets that found a queue full, over all channels."""
    drops_by_place: Drops
    """The same by where the full queue was."""
    channels: tuple[ChannelTraffic, ...]
    """The same for every channel."""


def drops_of(counters: Mapping[str, Any]) -> Drops | None:
    """What `CountedTraffic` said of places; None where it does not."""
    try:
        return msgspec.convert(counters.get("drops_by_place"), Drops | None)
    except msgspec.ValidationError:
        return None


def counted_together(kept: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Two counts of the same channels as `CountedTraffic` tells them, as one."""
    if not kept:
        return dict(more)
    sums = ("elapsed_s", "bytes", "packets", "drops", *asdict(Drops()))

    def joined(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
        return {k: one.get(k, 0) + value if k in sums else value for k, value in other.items()}

    return {
        **joined(kept, more),
        "drops_by_place": joined(kept.get("drops_by_place", {}), more["drops_by_place"]),
        "channels": list(map(joined, kept["channels"], more["channels"])),
    }


@dataclass(frozen=True, eq=False)
class Traffic:
    """Counts of every channel, all of shape [channels]."""

    channel: NDArray[np.uint32]
    """Numbers of the channels that are emulated, ascending."""
    bytes: NDArray[np.uint64]
    """Bytes sent on the wire, Ethernet headers (14 B a packet) included."""
    packets: NDArray[np.uint64]
    """Packets sent."""
    drops: NDArray[np.uint64]
    """Packets that found the buffer full."""
    elapsed_s: float
    """Seconds in which that happened; a moment's when it was counted."""

    def __sub__(self, before: Traffic) -> Traffic:
        """What was sent since an earlier count."""
        return Traffic(
            self.channel,
            self.bytes - before.bytes,
            self.packets - before.packets,
            self.drops - before.drops,
            self.elapsed_s - before.elapsed_s,
        )

    def dropped(self, fabric: Fabric) -> Drops:
        """Where packets were dropped."""
        # Channels of hosts follow those between switches: first all out of hosts, then into them.
        first = 2 * fabric.cables
        hosts, receivers = np.searchsorted(self.channel, (first, first + fabric.hosts))
        parts = np.split(self.drops, (hosts, receivers))
        between_switches, in_hosts, before_hosts = (int(part.sum()) for part in parts)
        return Drops(in_hosts, between_switches, before_hosts)

    def of(self, fabric: Fabric) -> CountedTraffic:
        """The same with its sums, places by name and a list of channels."""
        counts = zip(
            self.channel.tolist(),
            self.bytes.tolist(),
            self.packets.tolist(),
            self.drops.tolist(),
            strict=True,
        )
        return CountedTraffic(
            elapsed_s=self.elapsed_s,
            bytes=int(self.bytes.sum()),
            packets=int(self.packets.sum()),
            drops=int(self.drops.sum()),
            drops_by_place=self.dropped(fabric),
            channels=tuple(
                ChannelTraffic(channel, *fabric.channel_ends(channel), *counted)
                for channel, *counted in counts
            ),
        )
