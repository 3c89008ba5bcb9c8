"""The most that random pairs of ranks can get, by what cuts between parts of a fabric carry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from contend.fabric.composition import Capacities
from contend.fabric.cuts.cut_graph import metis_parts
from contend.fabric.fabric import Fabric, connected_parts
from contend.fabric.levels import switch_levels

# A fabric is also taken to pieces of equal size, twice as many each time.
_MOST_PIECES = 64


def pairs_bound(
    fabric: Fabric,
    capacity: Capacities,
    halves: NDArray[np.bool_],
    seats: NDArray[np.int64],
    ranks: int | None = None,
) -> float:
    """The most that messages of random pairs get on average, as a share of their hosts' links.

    Half of the ranks send, each to one of the other half, drawn at random. However routes run, the
    messages that leave a part of the fabric get no more together than the cables out of it carry,
    and no message more than its hosts' links. How many leave a part with s of n seats is a number
    drawn twice without putting back: who of them send, and whom these meet; the mean of its lesser
    with the cables is summed over parts. The least of several ways to part the fabric counts: by
    hosts, by leaves, by pods of each level, into equal pieces, and into the two sides of the
    narrowest cut found.

    Args:
        fabric: the fabric.
        capacity: of its cables. Where hosts' rates differ, the slowest is what a share is of.
        halves: switches on one side of the narrowest cut, shape [switches].
        seats: host of every rank that may take part, shape [seats].
        ranks: how many ranks are drawn from these; None: all take part.
    """
    messages = (len(seats) if ranks is None else ranks) // 2
    if messages == 0:
        return 1.0
    slowest = float(capacity.host[seats].min())
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, len(seats) + 1)))])

    def bound(seated: NDArray[np.int64], cables: NDArray[np.float64]) -> float:
        kinds = Counter(zip(seated.tolist(), (cables / slowest).tolist(), strict=True))
        held_back = sum(
            times * _held_back(seats_in, cables_out, messages, log_factorial)
            for (seats_in, cables_out), times in kinds.items()
        )
        return max(0.0, 1 - held_back / messages)

    by_host = np.bincount(seats, minlength=fabric.hosts)
    by_switch = np.bincount(fabric.host_switch, by_host, fabric.switches).astype(np.int64)
    bounds = [bound(by_host, capacity.host)]
    for part in _parts(fabric, halves, by_switch):
        size = int(part.max()) + 1
        near, far = part[fabric.cable_from], part[fabric.cable_to]
        cables = np.zeros(size)
        for ends in (near, far):
            cables += np.bincount(ends, capacity.cable * (near != far), size)
        bounds.append(bound(np.bincount(part, by_switch, size).astype(np.int64), cables))
    return min(bounds)


def _held_back(
    part: int, cables: float, messages: int, log_factorial: NDArray[np.float64]
) -> float:
    """The mean number of messages that leave a part of so many seats beyond what cables carry."""
    seats = len(log_factorial) - 1
    if part == 0 or part == seats or cables >= min(part, messages):
        return 0.0

    def ways(total: int, chosen: NDArray[np.int64] | int) -> NDArray[np.float64]:
        return np.asarray(
            log_factorial[total] - log_factorial[chosen] - log_factorial[total - chosen]
        )

    total = 0.0
    # Numbers of senders and of pairs in the part, as far from their means as ever matters: twelve
    # standard deviations.
    far = 1 + int(6 * np.sqrt(part))
    middle = part * messages // seats
    first, last = max(0, middle - far, part - (seats - messages)), min(part, middle + far)
    for senders in range(first, min(last, messages) + 1):
        # Of all others, from whom receivers are drawn, so many are in the part.
        others, within = seats - messages, part - senders
        mean = senders * within // others
        fewest = max(0, senders + within - others, mean - far)
        if senders - fewest <= cables:
            continue
        likely = (
            ways(part, senders) + ways(seats - part, messages - senders) - ways(seats, messages)
        )
        meet = np.arange(fewest, min(senders, within, mean + far) + 1)
        chance = np.exp(
            likely
            + ways(within, meet)
            + ways(others - within, senders - meet)
            - ways(others, senders)
        )
        total += float((chance * np.maximum(senders - meet - cables, 0)).sum())
    return total


def _parts(
    fabric: Fabric, halves: NDArray[np.bool_], weight: NDArray[np.int64]
) -> Iterator[NDArray[np.int64]]:
    """Ways to part the switches, each the number of every switch's part, shape [switches]."""
    yield halves.astype(np.int64)
    level = switch_levels(fabric)
    near, far = fabric.cable_from.astype(np.int64), fabric.cable_to.astype(np.int64)
    for top in range(int(level.max(initial=0))):
        below = (level[near] <= top) & (level[far] <= top)
        yield connected_parts(fabric.switches, near[below], far[below])
    most = min(_MOST_PIECES, int(np.count_nonzero(weight)))
    if most >= 4:
        yield from _pieces(fabric, near, far, weight, most)


def _pieces(
    fabric: Fabric,
    near: NDArray[np.int64],
    far: NDArray[np.int64],
    weight: NDArray[np.int64],
    most: int,
) -> Iterator[NDArray[np.int64]]:
    """The switches in 4, 8, ... pieces of about as many hosts, with few cables between them."""
    joins = near != far
    ends = np.concatenate([near[joins], far[joins]]), np.concatenate([far[joins], near[joins]])
    pairs, cables = np.unique(ends[0] * fabric.switches + ends[1], return_counts=True)
    start = np.searchsorted(pairs // fabric.switches, np.arange(fabric.switches + 1))
    far_switch = pairs % fabric.switches
    count = 4
    while count <= most:
        yield metis_parts(count, start, far_switch, weight=weight, edge_weight=cables)
        count *= 2
