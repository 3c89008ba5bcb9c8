"""What given messages get when those held back elsewhere leave their part to the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.congestion.placed import Hosts, place_messages
from contend.fabric import Fabric


def fair_share(
    fabric: Fabric, source: Hosts, target: Hosts, *, spread: bool = False
) -> NDArray[np.float64]:
    """The max-min fair share of a link's rate that each of simultaneous messages gets.

    No message could get more without taking from one that has no more than itself (Bertsekas and
    Gallager, Data Networks, 1992, section 6.5.2). It is never less than the 1/pi of
    `message_congestion`, and more where rivals are held back on other channels.

    Args:
        fabric: with routes; every channel has rate 1, those of hosts included.
        source: host numbers, shape [messages].
        target: host numbers, shape [messages].
        spread: use all addresses of hosts with LMC > 0 in turn instead of the first.

    Returns:
        Shape [messages]; 1 from a host to itself.

    Raises:
        UsageError: when a host does not exist, or there is no route.
    """
    placed = place_messages(fabric, [(source, target)], spread=spread)
    return _core.fair_share(placed.resolver, *placed.rounds[0])


def fluid_times(
    fabric: Fabric,
    source: Hosts,
    target: Hosts,
    *,
    size: Sequence[float] | NDArray[np.floating] | None = None,
    spread: bool = False,
) -> NDArray[np.float64]:
    """When messages that start together end, each getting its max-min fair share all the time.

    A message that ends leaves its share to the others from then on. The mean bandwidth of a message
    over its whole transfer is its size over its time. Messages of equal size end at one over their
    `fair_share`: on the channel that holds a message back no other is faster, so none ends before
    it and makes room.

    Args:
        fabric: with routes; every channel has rate 1, those of hosts included.
        source: host numbers, shape [messages].
        target: host numbers, shape [messages].
        size: of every message, above 0, shape [messages]; None: all have size 1.
        spread: use all addresses of hosts with LMC > 0 in turn instead of the first.

    Returns:
        Shape [messages], in units of what size 1 takes on an empty fabric; its size for a message
        from a host to itself.

    Raises:
        UsageError: when a host does not exist, there is no route, or a size is none.
    """
    placed = place_messages(fabric, [(source, target)], spread=spread)
    sizes = np.array([] if size is None else size, dtype=np.float64)
    return _core.fluid_times(placed.resolver, *placed.rounds[0], sizes)
