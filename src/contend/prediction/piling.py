"""What may wait in front of a channel at once, and whether packets are dropped there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.prediction.conditions import PredictionConditions

_MANY = 3


@dataclass(frozen=True)
class Piling:
    """What may wait in front of a channel at once.

    Attributes:
        channel: its number in the fabric.
        messages: how many messages of a round cross it.
        bytes: of all of them.
        buffer: that the channel has.
    """

    channel: int
    messages: int
    bytes: float
    buffer: float

    @property
    def overflows(self) -> bool:
        """Whether packets may be dropped so often that time-outs rule.

        Two messages share a buffer well enough: each hears of a drop by what follows. From three
        on, what they send before they hear of it does not fit.
        """
        return self.messages >= _MANY and self.bytes > self.buffer

    @property
    def badness(self) -> tuple[bool, float]:
        """What is worse comes after in this order."""
        return self.overflows, self.bytes


def worst_piling(
    messages: NDArray[np.integer] | NDArray[np.float64],
    size: NDArray[np.float64],
    where: PredictionConditions,
) -> Piling | None:
    """The channel of a switch where most may be dropped, or else most waits.

    Hosts do not drop their own.

    Args:
        messages: that meet on every channel, shape [channels].
        size: bytes of all of them, shape [channels].
        where: fabric and buffers.

    Returns:
        None where buffers are not known, or no two messages meet.
    """
    if where.buffer is None:
        return None
    fabric = where.fabric
    counted, waiting = np.array(messages, np.int64), np.array(size, np.float64)
    into_network = slice(2 * fabric.cables, 2 * fabric.cables + fabric.hosts)
    counted[into_network] = 0
    waiting[counted < 2] = 0
    overflows = (counted >= _MANY) & (waiting > where.buffer)
    among = np.flatnonzero(overflows) if overflows.any() else np.arange(len(counted))
    channel = int(among[np.argmax(waiting[among])])
    if counted[channel] < 2:
        return None
    return Piling(channel, int(counted[channel]), float(waiting[channel]), where.buffer)
