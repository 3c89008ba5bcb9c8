"""Max-min fair shares of messages that may split over all shortest paths, by linear programmes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array, vstack

from contend.fabric import Fabric, capacities
from several_ways import shortest_hops

_Row = dict[int, float]


def exact_rates(fabric: Fabric, pairs: Sequence[tuple[int, int]]) -> NDArray[np.float64]:
    """What each message between hosts gets, in bytes per second, shape [pairs].

    One programme after the other raises all messages together; those whose rate its dual variables
    prove to be stopped keep it (progressive filling).
    """
    of_cable, of_host = capacities(fabric).cable, capacities(fabric).host
    fastest = float(of_host.max())
    # Variables are the rates of all messages, what flows to each switch over each channel, and the
    # rate of all that are raised.
    columns: dict[tuple[int, int], int] = {}
    conserved: dict[tuple[int, int], _Row] = defaultdict(lambda: defaultdict(float))
    shared: dict[tuple[str, int], _Row] = defaultdict(lambda: defaultdict(float))
    for number, (source, target) in enumerate(pairs):
        shared["out", source][number] += 1
        shared["in", target][number] += 1
        start, end = int(fabric.host_switch[source]), int(fabric.host_switch[target])
        if start != end:
            conserved[end, start][number] -= 1
    for end in {end for end, _ in conserved}:
        hops = shortest_hops(fabric, {end})
        for switch in _on_the_ways(hops, [start for to, start in conserved if to == end]):
            for channel, peer in hops[switch]:
                flow = columns.setdefault((end, channel), len(pairs) + len(columns))
                shared["channel", channel][flow] += 1
                conserved[end, switch][flow] += 1
                if peer != end:
                    conserved[end, peer][flow] -= 1
    level = len(pairs) + len(columns)
    limits = [
        float(of_cable[number // 2] if kind == "channel" else of_host[number]) / fastest
        for kind, number in shared
    ]
    balance, capacity = _matrix(conserved.values(), level + 1), _matrix(shared.values(), level + 1)
    rates = np.zeros(len(pairs))
    free = list(range(len(pairs)))
    while free:
        raised = _matrix([{level: 1.0, number: -1.0} for number in free], level + 1)
        bounds = np.tile([0.0, np.inf], (level + 1, 1))
        for number in set(range(len(pairs))) - set(free):
            bounds[number] = rates[number] * (1 - 1e-9)
        found = linprog(
            -np.eye(level + 1)[level],
            A_ub=vstack([capacity, raised]),
            b_ub=np.concatenate([limits, np.zeros(len(free))]),
            A_eq=balance if conserved else None,
            b_eq=np.zeros(len(conserved)) if conserved else None,
            bounds=bounds,
            method="highs",
        )
        assert found.status == 0, found.message
        stopped = found.ineqlin.marginals[len(limits) :] < -1e-7
        assert stopped.any()
        for number in np.asarray(free)[stopped].tolist():
            rates[number] = -found.fun
            free.remove(number)
    return rates * fastest


def _on_the_ways(hops: dict[int, list[tuple[int, int]]], starts: list[int]) -> list[int]:
    """Switches on the ways from some; the end has no hops."""
    met = list(dict.fromkeys(starts))
    for switch in met:
        met += [peer for _, peer in hops[switch] if peer not in met]
    return met


def _matrix(rows: Collection[_Row], width: int) -> coo_array:
    entries = [(row, *entry) for row, each in enumerate(rows) for entry in each.items()]
    row, column, value = zip(*entries, strict=True) if entries else ((), (), ())
    return coo_array((value, (row, column)), shape=(len(rows), width))
