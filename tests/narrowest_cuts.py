"""Rated bisections of random trees beside all cuts, tried one after the other.

    python tests/narrowest_cuts.py [--trees 1000] [--seed 1]

prints for how many of them the rated bisection is the least of all cuts, above it and below it, by
whether contend calls it exact. The cuts are enumerated here, by other code: every way to put the
switches on two sides.
"""

from __future__ import annotations

import argparse
from collections import Counter
from itertools import combinations

import networkx
import numpy as np

from contend.base.units import rate_of
from contend.fabric import Fabric, bisection
from contend.fabric.fabric import build

RATES = ("4xHDR", "2xHDR", "4xEDR", "4xFDR", "1xHDR")


def random_tree(draw: np.random.Generator, levels: int, most_hosts: int = 6) -> Fabric:
    """A tree of two or three levels, with links of one to five rates; cables are missing."""
    leaves = int(draw.integers(2, 8))
    sizes = draw.integers(0, most_hosts + 1, leaves)
    sizes[0] += 2
    above = [int(draw.integers(1, 4)), int(draw.integers(1, 3))][: levels - 1]
    first = np.cumsum([0, leaves, *above])
    cables = []
    used = np.full(first[-1], int(sizes.max()))
    for low, middle, high in zip(first, first[1:], first[2:], strict=False):
        for one in range(low, middle):
            for other in range(middle, high):
                for _ in range(int(draw.integers(0, 3))):
                    used[[one, other]] += 1
                    cables.append((one, used[one], other, used[other]))
    host_switch = np.repeat(np.arange(leaves), sizes)
    fabric = build(
        "random tree",
        host_name=[f"host {host}" for host in range(len(host_switch))],
        host_switch=host_switch,
        host_port=np.concatenate([np.arange(1, size + 1) for size in sizes]),
        switch_name=[f"switch {switch}" for switch in range(first[-1])],
        switch_ports=int(used.max()),
        cables=np.array(cables, dtype=np.uint32).reshape(-1, 4),
    )
    of_hosts, of_cables = draw.integers(1, len(RATES) + 1, 2)
    return fabric.replace(
        rates=("", *RATES),
        host_rate=draw.integers(1, of_hosts + 1, fabric.hosts).astype(np.uint16),
        cable_rate=draw.integers(1, of_cables + 1, fabric.cables).astype(np.uint16),
    )


def least_of_all_sides(fabric: Fabric, hosts: np.ndarray | None = None) -> float:
    """Bytes per second of the narrowest cut, over all sides of the switches.

    Of the hosts on the side that has too many, the slowest are cut off.
    """
    carried = np.array([rate_of(label) or 0.0 for label in fabric.rates])
    cable, host = carried[fabric.cable_rate], carried[fabric.host_rate]
    hosts = np.arange(fabric.hosts) if hosts is None else hosts
    least = np.inf
    for number in range(1 << max(0, fabric.switches - 1)):
        side = number >> np.arange(fabric.switches) & 1
        apart = side[fabric.cable_from] != side[fabric.cable_to]
        inside = side[fabric.host_switch[hosts]]
        many = hosts[inside == int(2 * inside.sum() > len(hosts))]
        surplus = len(many) - (len(hosts) + 1) // 2
        cut_off = np.sort(host[many])[: max(0, surplus)]
        least = min(least, float(cable[apart].sum() + cut_off.sum()))
    return least


def least_of_all_halves(fabric: Fabric) -> float:
    """The same over all halves of the hosts, each with its minimum cut by maximum flow."""
    carried = [rate_of(label) or 0.0 for label in fabric.rates]
    least = float("inf")
    for half in combinations(range(fabric.hosts), fabric.hosts // 2):
        network = networkx.Graph()
        network.add_nodes_from(["half", "others"])
        ends = [
            *zip(
                fabric.cable_from.tolist(),
                fabric.cable_to.tolist(),
                fabric.cable_rate.tolist(),
                strict=True,
            ),
            *(
                ("half" if host in half else "others", switch, rate)
                for host, (switch, rate) in enumerate(
                    zip(fabric.host_switch.tolist(), fabric.host_rate.tolist(), strict=True)
                )
            ),
        ]
        for one, other, rate in ends:
            before = network.get_edge_data(one, other, {"capacity": 0.0})["capacity"]
            network.add_edge(one, other, capacity=before + carried[rate])
        least = min(least, networkx.minimum_cut_value(network, "half", "others"))
    return least


def main() -> None:
    """Prints how rated bisections compare with the least of all cuts."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trees", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    outcomes: Counter[str] = Counter()
    for number in range(asked.trees):
        draw = np.random.default_rng((asked.seed, number))
        fabric = random_tree(draw, 2 + number % 2)
        found, least = bisection(fabric), least_of_all_sides(fabric)
        equal = abs(found.capacity - least) <= 1e-9 * least
        relation = "equal" if equal else "above" if found.capacity > least else "below"
        outcomes[f"{'exact' if found.exact else 'at most'}, {relation}"] += 1
        outcomes["odd number of hosts"] += fabric.hosts % 2
        outcomes["hosts of several rates"] += len(set(fabric.host_rate.tolist())) > 1
    for outcome, count in sorted(outcomes.items()):
        print(f"{count:6}  {outcome}")


if __name__ == "__main__":
    main()
