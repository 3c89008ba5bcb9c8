"""What the wire alone allows: every node has one port, and what leaves it goes through there."""

from __future__ import annotations

from contend.measurement import BYTES_OF_DOUBLE, VectorLength
from contend.study.measured.reference import Coordinates


def rate_limit(place: Coordinates, wire: float) -> float | None:
    """Bytes per second of a rank in an all-to-all at which the ports of nodes are full.

    A rank's rate counts all p - 1 messages; of those only p - k leave a node of k ranks, which
    share its port: wire · (p - 1) / (k (p - k)). None where no message leaves a node.
    """
    ranks, each = place.ranks, place.ranks_per_node
    if ranks is None or each is None or each >= ranks:
        return None
    return wire * (ranks - 1) / (each * (ranks - each))


def time_limit(place: Coordinates, wire: float) -> float | None:
    """Seconds that the exchange of a sort takes at least: bytes that leave a node over its wire.

    Each of N nodes sends the share (N - 1) / N of its arrays. None on one node.
    """
    nodes, numbers = place.nodes, place.numbers
    if nodes is None or nodes < 2 or numbers is None or place.doubles is None:
        return None
    vector = BYTES_OF_DOUBLE * VectorLength.parse(place.doubles).at(nodes)
    return numbers / nodes * vector * (nodes - 1) / nodes / wire
