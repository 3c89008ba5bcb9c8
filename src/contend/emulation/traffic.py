"""What crossed every channel of an emulated fabric, as the kernel's queues counted it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from contend.emulation.spaces import Spaces
from contend.fabric import Fabric

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True, eq=False)
class Traffic:
    """Counts of every channel, all of shape [channels].

    Attributes:
        channel: numbers of the channels that are emulated, ascending.
        bytes: sent on the wire, Ethernet headers (14 B a packet) included.
        packets: sent.
        drops: packets that found the buffer full.
        elapsed_s: seconds in which that happened; a moment's when it was counted.
    """

    channel: NDArray[np.uint32]
    bytes: NDArray[np.uint64]
    packets: NDArray[np.uint64]
    drops: NDArray[np.uint64]
    elapsed_s: float

    def __sub__(self, before: Traffic) -> Traffic:
        """What was sent since an earlier count."""
        return Traffic(
            self.channel,
            self.bytes - before.bytes,
            self.packets - before.packets,
            self.drops - before.drops,
            self.elapsed_s - before.elapsed_s,
        )

    def frame(self, fabric: Fabric) -> polars.DataFrame:
        """One row per channel: channel, source, target (as `simulate` names them), counts."""
        import polars

        ends = [fabric.channel_ends(channel) for channel in self.channel.tolist()]
        return polars.DataFrame(
            {
                "channel": self.channel,
                "source": [source for source, _ in ends],
                "target": [target for _, target in ends],
                "bytes": self.bytes,
                "packets": self.packets,
                "drops": self.drops,
            }
        )

    def json(self, fabric: Fabric) -> dict[str, Any]:
        """The same for a file: seconds, sums, and a list of channels."""
        return {
            "elapsed_s": self.elapsed_s,
            "bytes": int(self.bytes.sum()),
            "packets": int(self.packets.sum()),
            "drops": int(self.drops.sum()),
            "channels": self.frame(fabric).to_dicts(),
        }


def count(spaces: Spaces, clock: Callable[[], float] = time.monotonic) -> Traffic:
    """What all channels have sent since they were made or limited anew."""
    ends = spaces.layout.ends
    row = {(end.node, end.index): index for index, end in enumerate(ends)}
    columns = np.zeros((3, len(ends)), dtype=np.uint64)
    now = clock()
    for node, counted in spaces.counts():
        columns[:, row[node, counted.index]] = counted.bytes, counted.packets, counted.drops
    channel = np.array([end.channel for end in ends], dtype=np.uint32)
    bytes_, packets, drops = columns
    return Traffic(channel, bytes_, packets, drops, now)
