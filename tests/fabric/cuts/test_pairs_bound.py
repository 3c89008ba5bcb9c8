"""The bound that random pairs have by cuts, against all pairs that can be drawn."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest

import contend
from contend.fabric import Fabric, bisection
from small_fabrics import crossbar, fat_tree, of_cables, ring


def _by_hand(fabric: Fabric, cables: float) -> float:
    """The mean, over all ways to draw pairs, of what messages get that leave either switch."""
    hosts = range(fabric.hosts)
    place = fabric.host_switch.tolist()
    shares = []
    for senders in combinations(hosts, fabric.hosts // 2):
        others = [host for host in hosts if host not in senders]
        for receivers in permutations(others, len(senders)):
            pairs = list(zip(senders, receivers, strict=True))
            got = 0.0
            for switch in (0, 1):
                leaving = sum(place[s] == switch != place[r] for s, r in pairs)
                got += min(leaving, cables)
            got += sum(place[s] == place[r] for s, r in pairs)
            shares.append(got / len(pairs))
    return sum(shares) / len(shares)


@pytest.mark.parametrize("cables", [1, 2])
@pytest.mark.parametrize("hosts", [2, 3])
def test_two_switches_against_all_pairs(hosts: int, cables: int) -> None:
    """Two leaves with so many cables up to one spine between them."""
    fabric = fat_tree(2, hosts, 1, parallel=cables)
    found = bisection(fabric)
    assert found.random_pairs == pytest.approx(_by_hand(fabric, cables))


def test_random_pairs_get_more_than_the_narrowest_cut_and_less_than_the_bound() -> None:
    fabric = contend.load("ring:16;2", route="minhop")
    found = bisection(fabric)
    assert found.share == 0.125
    got = contend.simulate(fabric, "bisect", samples=500).effective_bandwidth.mean
    assert found.share < got < found.random_pairs < 0.7


@pytest.mark.parametrize("fabric", [crossbar(9), fat_tree(4, 4, 4), ring(5, 1)], ids=repr)
def test_nothing_is_above_one(fabric: Fabric) -> None:
    assert 0 < bisection(fabric).random_pairs <= 1


@pytest.mark.parametrize(
    "asked",
    [
        {"hosts": "host 1,host 2,host 9,host 10"},
        {"ranks": 16},
        {"ranks": 16, "placement": "linear"},
        {"ranks_per_host": 3},
        {"ranks_per_host": 3, "ranks": 31},
        {"placement": "same-leaf"},
        {"rate": 1e9},
        {"equal_rates": True},
    ],
    ids=str,
)
def test_nothing_is_above_the_bound_of_the_ranks_that_take_part(asked: dict[str, Any]) -> None:
    fabric = contend.load("xgft:2;8,8;1,4", route="minhop")
    slow = np.where(np.arange(fabric.cables) % 2, 1, 2).astype(np.uint16)
    mixed = fabric.replace(rates=("", "4xHDR", "4xEDR"), cable_rate=slow)
    for network in (fabric, mixed):
        simulation = contend.simulate(network, "bisect", samples=500, **asked)
        bound = simulation.bisection.random_pairs
        assert simulation.effective_bandwidth.ci95[0] <= bound * (1 + 1e-9)
        hosts = np.unique(simulation.taking_part)
        if len(hosts) < fabric.hosts:
            assert bound > bisection(network).random_pairs


def test_ranks_that_share_a_host_share_its_cable() -> None:
    # Four ranks on two hosts: of three ways to pair them, one stays on hosts. In the other two both
    # messages leave; both from one host with chance 1/3, when they share its cable.
    fabric = crossbar(2)
    expected = 1 - 2 * (1 / 6) / 2
    assert bisection(fabric, np.array([0, 0, 1, 1])).random_pairs == pytest.approx(expected)


def test_a_fabric_in_parts_carries_what_stays_inside() -> None:
    # Two pairs of hosts without a cable between them; a third of the messages stays inside.
    apart = of_cables(fat_tree(2, 2, 1), slice(0))
    assert bisection(apart).random_pairs == pytest.approx(1 / 3)
