"""Messages that take several ways at once, by the definition and slowly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from contend.fabric import Fabric
from contend.pattern import Pattern

# As the core keeps parts of messages that are sprayed.
PART = 1 / 1024


def sprayed(
    fabric: Fabric, source: int, target: int, *, cables: Iterable[int] | None = None
) -> dict[int, float]:
    """What a message puts on every channel by the definition: evenly at every switch.

    Args:
        cables: that are left, by number; None is all.
    """
    end = int(fabric.host_switch[target])
    out: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for cable in range(fabric.cables) if cables is None else cables:
        near, far = int(fabric.cable_from[cable]), int(fabric.cable_to[cable])
        out[near].append((2 * cable, far))
        out[far].append((2 * cable + 1, near))
    distance, waiting = {end: 0}, [end]
    for switch in waiting:
        for _, peer in out[switch]:
            if peer not in distance:
                distance[peer] = distance[switch] + 1
                waiting.append(peer)
    load: dict[int, float] = defaultdict(float)

    def split(switch: int, share: float) -> None:
        nearer = [hop for hop in out[switch] if distance[hop[1]] == distance[switch] - 1]
        for channel, peer in nearer:
            load[channel] += share / len(nearer)
            split(peer, share / len(nearer))

    split(int(fabric.host_switch[source]), 1.0)
    return load


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
