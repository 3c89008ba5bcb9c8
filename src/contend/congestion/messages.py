"""Congestion of given messages between hosts, one by one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.congestion.placed import Hosts, place_messages
from contend.fabric import Fabric


@dataclass(frozen=True, eq=False)
class MessageCongestion:
    """The congestion that simultaneous messages give each other.

    Attributes:
        congestion: pi of every message, shape [messages], uint32: the largest number of messages on
            any channel of its route, its hosts' channels included; 0 from a host to itself.
        channel_messages: messages on every channel, shape [channels], uint64.
    """

    congestion: NDArray[np.uint32]
    channel_messages: NDArray[np.uint64]

    @property
    def bandwidth(self) -> NDArray[np.float64]:
        """Share of a link's rate that every message gets, 1/pi, shape [messages]."""
        return 1.0 / np.maximum(self.congestion, 1)


def message_congestion(
    fabric: Fabric,
    source: Hosts,
    target: Hosts,
    *,
    spread: bool = False,
) -> MessageCongestion:
    """Counts simultaneous messages from hosts `source` to hosts `target` (Hoefler 2008, 3.1).

    Args:
        fabric: with routes.
        source: host numbers, shape [messages].
        target: host numbers, shape [messages].
        spread: use all addresses of hosts with LMC > 0 in turn instead of the first.

    Raises:
        UsageError: when a host does not exist, or there is no route.
    """
    placed = place_messages(fabric, [(source, target)], spread=spread)
    congestion, counted = _core.message_congestion(placed.resolver, *placed.rounds[0])
    return MessageCongestion(congestion, channels_of_fabric(fabric, placed.hosts, counted))


def channels_of_fabric(
    fabric: Fabric, hosts: NDArray[np.integer], counted: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """Spreads counts by place over the fabric's channels, those of other hosts being 0.

    Args:
        fabric: whose channels.
        hosts: host of every place, shape [places].
        counted: channels between switches, then injection and ejection by place.
    """
    between = 2 * fabric.cables
    channels = np.zeros(fabric.channels, dtype=np.uint64)
    channels[:between] = counted[:between]
    channels[between + hosts] = counted[between : between + len(hosts)]
    channels[between + fabric.hosts + hosts] = counted[between + len(hosts) :]
    return channels
