"""Messages that take several ways at once, by the definition and slowly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from contend.fabric import Fabric
from contend.traffic.pattern import Pattern

# As the core keeps parts of messages that are sprayed.
PART = 1 / 1024


def sprayed(
    fabric: Fabric,
    source: int,
    target: int,
    *,
    cables: Iterable[int] | None = None,
    group: NDArray[np.int64] | None = None,
) -> dict[int, float]:
    """What a message puts on every channel by the definition: evenly at every switch.

    Args:
        cables: that are left, by number; None is all.
        group: of every switch; ways are short that cross few cables between groups.
    """
    start, end = (int(fabric.host_switch[host]) for host in (source, target))
    return _spread(fabric, start, {end}, cables, group)[0]


def by_any_switch(fabric: Fabric, source: int, target: int) -> dict[int, float]:
    """The same by way of every switch with hosts, all alike; within a switch straight."""
    start, end = (int(fabric.host_switch[host]) for host in (source, target))
    return _around(fabric, start, end, [{stop} for stop in set(fabric.host_switch.tolist())], None)


def by_any_group(group: NDArray[np.int64]) -> Callable[[Fabric, int, int], dict[int, float]]:
    """The same by way of every group of switches, from where a packet enters it."""

    def ways(fabric: Fabric, source: int, target: int) -> dict[int, float]:
        start, end = (int(fabric.host_switch[host]) for host in (source, target))
        stops = [set(np.flatnonzero(group == number).tolist()) for number in set(group.tolist())]
        return _around(fabric, start, end, stops, group)

    return ways


def _around(
    fabric: Fabric,
    start: int,
    end: int,
    stops: Sequence[set[int]],
    group: NDArray[np.int64] | None,
) -> dict[int, float]:
    load: dict[int, float] = defaultdict(float)
    for stop in stops if start != end else ():
        there, entered = _spread(fabric, start, stop, None, group)
        halves = [(there, 1.0)]
        halves += [
            (_spread(fabric, at, {end}, None, group)[0], part) for at, part in entered.items()
        ]
        for half, part in halves:
            for channel, share in half.items():
                load[channel] += share * part / len(stops)
    return load


def shortest_hops(
    fabric: Fabric,
    ends: set[int],
    cables: Iterable[int] | None = None,
    group: NDArray[np.int64] | None = None,
) -> dict[int, list[tuple[int, int]]]:
    """By switch, the channels that begin a shortest way to any of the ends, and where they lead."""
    out: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for cable in range(fabric.cables) if cables is None else cables:
        near, far = int(fabric.cable_from[cable]), int(fabric.cable_to[cable])
        # Between groups counts more than all cables within.
        length = 1 if group is None or group[near] == group[far] else fabric.switches
        out[near].append((2 * cable, far, length))
        out[far].append((2 * cable + 1, near, length))
    distance = dict.fromkeys(ends, 0)
    changed = True
    while changed:
        changed = False
        for switch, hops in list(out.items()):
            for _, peer, length in hops:
                if peer in distance and distance[peer] + length < distance.get(switch, 1 << 30):
                    distance[switch] = distance[peer] + length
                    changed = True
    return {
        switch: [
            (channel, peer)
            for channel, peer, length in out[switch]
            if distance[peer] + length == distance[switch]
        ]
        for switch in distance
    }


def _spread(
    fabric: Fabric,
    start: int,
    ends: set[int],
    cables: Iterable[int] | None,
    group: NDArray[np.int64] | None,
) -> tuple[dict[int, float], dict[int, float]]:
    """What is on channels, and what arrives at each of the ends."""
    nearer = shortest_hops(fabric, ends, cables, group)
    load: dict[int, float] = defaultdict(float)
    arrived: dict[int, float] = defaultdict(float)

    def split(switch: int, share: float) -> None:
        if switch in ends:
            arrived[switch] += share
            return
        for channel, peer in nearer[switch]:
            load[channel] += share / len(nearer[switch])
            split(peer, share / len(nearer[switch]))

    split(start, 1.0)
    return load, arrived


def counted(
    fabric: Fabric,
    pairs: Sequence[tuple[int, int]],
    ways: Callable[[Fabric, int, int], dict[int, float]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What messages between hosts load every channel between switches with, and pi of each.

    Args:
        ways: what a message puts on every channel, as `sprayed` tells it.
    """
    crossed = [ways(fabric, *pair) for pair in pairs]
    load = np.zeros(2 * fabric.cables)
    sent, received = np.zeros(fabric.hosts), np.zeros(fabric.hosts)
    for (source, target), each in zip(pairs, crossed, strict=True):
        sent[source] += 1
        received[target] += 1
        for channel, share in each.items():
            load[channel] += share
    pi = [
        max([sent[source], received[target], *(load[channel] for channel in each)])
        for (source, target), each in zip(pairs, crossed, strict=True)
    ]
    return load, np.array(pi)


def drawn_pairs(pattern: Pattern, number: int, *, seed: int, sample: int) -> list[tuple[int, int]]:
    """Who sends to whom in one round of a sample; messages to oneself are left out."""
    source, target = pattern.messages(number, seed=seed, sample=sample)
    both = zip(source.tolist(), target.tolist(), strict=True)
    return [(a, b) for a, b in both if a != b]
