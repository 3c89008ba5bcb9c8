"""Congestion counted in the plainest way, to hold the core against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from contend.fabric import Fabric
from small_fabrics import fat_tree, routed, torus

Messages = Sequence[tuple[int, int]]


def route(fabric: Fabric, source: int, target: int) -> list[int]:
    """Channels from a host to another, those of the hosts included, by the forwarding tables."""
    assert fabric.routes is not None
    between = 2 * fabric.cables
    ends = {}
    for cable in range(fabric.cables):
        one = (int(fabric.cable_from[cable]), int(fabric.cable_from_port[cable]))
        other = (int(fabric.cable_to[cable]), int(fabric.cable_to_port[cable]))
        ends[one], ends[other] = (2 * cable, other[0]), (2 * cable + 1, one[0])
    channels = [between + source]
    at, address = int(fabric.host_switch[source]), int(fabric.host_lid[target])
    while True:
        port = int(fabric.routes.ports[at, address])
        if (at, port) == (int(fabric.host_switch[target]), int(fabric.host_port[target])):
            return [*channels, between + fabric.hosts + target]
        channel, at = ends[at, port]
        channels.append(channel)


def congestion(fabric: Fabric, messages: Messages) -> list[int]:
    """pi of every message: the most messages on any channel of its route; 0 to oneself."""
    routes = [route(fabric, s, t) if s != t else [] for s, t in messages]
    usage = Counter(channel for channels in routes for channel in channels)
    return [max((usage[channel] for channel in channels), default=0) for channels in routes]


def bandwidth(fabric: Fabric, messages: Messages) -> float:
    """Mean of 1/pi."""
    pis = congestion(fabric, messages)
    return sum(1 / pi for pi in pis) / len(pis)


def one_way_bisects(hosts: Iterable[int]) -> Iterator[list[tuple[int, int]]]:
    """Every set of (source, target) pairs that uses each of an even number of hosts once."""
    hosts = list(hosts)
    seen = set()
    for order in permutations(hosts):
        pairs = frozenset(zip(order[::2], order[1::2], strict=True))
        if pairs not in seen:
            seen.add(pairs)
            yield sorted(pairs)


@st.composite
def messages_on(draw: Any) -> tuple[Fabric, list[tuple[int, int]]]:
    """Up to 30 messages on a small fabric, some to oneself."""
    shapes = [torus((3, 3), 2), fat_tree(4, 3, 2), torus((5,), 3), fat_tree(3, 4, 2, parallel=2)]
    fabric = draw(st.sampled_from(shapes))
    host = st.integers(0, fabric.hosts - 1)
    return routed(fabric), draw(st.lists(st.tuples(host, host), max_size=30))


# All pairs of hosts up to so many, a sample of them beyond.
_MOST_PAIRS = 1 << 17


def pairs_of(hosts: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Sources and targets that differ."""
    if hosts**2 <= _MOST_PAIRS:
        source, target = np.divmod(np.arange(hosts**2), hosts)
    else:
        source, target = np.random.default_rng(1).integers(0, hosts, (2, _MOST_PAIRS))
    differ = source != target
    return source[differ].astype(np.uint32), target[differ].astype(np.uint32)
