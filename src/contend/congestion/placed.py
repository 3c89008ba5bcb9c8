"""Messages between hosts in the core's terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.errors import UsageError
from contend.fabric import Fabric
from contend.routes import make_resolver

Hosts = Sequence[int] | NDArray[np.integer]
"""Host numbers, shape [messages]."""


@dataclass(frozen=True, eq=False)
class PlacedMessages:
    """Messages between places, which are the hosts that send or receive any.

    Attributes:
        resolver: the routes between the places.
        hosts: host of every place, shape [places].
        rounds: source and target places of the messages of every round, shape [messages] each.
    """

    resolver: _core.Resolver
    hosts: NDArray[np.int64]
    rounds: tuple[tuple[NDArray[np.uint32], NDArray[np.uint32]], ...]


def place_messages(
    fabric: Fabric, rounds: Sequence[tuple[Hosts, Hosts]], *, spread: bool = False
) -> PlacedMessages:
    """Prepares the routes of messages, given as source and target hosts of every round.

    Raises:
        UsageError: when a host does not exist, there is no route, or not as many targets as
            sources.
    """
    ends = [tuple(np.asarray(end, dtype=np.int64) for end in messages) for messages in rounds]
    for source, target in ends:
        if len(source) != len(target):
            raise UsageError(f"as many targets as sources, got {len(target)} and {len(source)}")
    everyone = np.concatenate([np.zeros(0, np.int64), *(end for both in ends for end in both)])
    hosts = np.unique(everyone)
    if len(hosts) and not 0 <= hosts[0] <= hosts[-1] < fabric.hosts:
        raise UsageError(f"hosts 0 .. {fabric.hosts - 1}, got {hosts[0]} .. {hosts[-1]}")
    resolver = make_resolver(
        fabric, hosts.astype(np.uint32), spread=spread, messages=len(everyone) // 2
    )
    place = np.zeros(fabric.hosts, dtype=np.uint32)
    place[hosts] = np.arange(len(hosts), dtype=np.uint32)
    return PlacedMessages(
        resolver, hosts, tuple((place[source], place[target]) for source, target in ends)
    )
