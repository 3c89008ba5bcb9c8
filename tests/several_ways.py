"""Messages that take several ways at once, by the definition and slowly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from contend.fabric import Fabric

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
