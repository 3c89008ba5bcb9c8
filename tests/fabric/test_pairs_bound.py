"""The bound that random pairs have by cuts, against all pairs that can be drawn."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest

import contend
from contend.fabric import Fabric, bisection
from small_fabrics import crossbar, fat_tree, ring


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
    got = contend.simulate(fabric, "bisect", samples=500).effective_bandwidth
    assert found.share < got < found.random_pairs < 0.7


@pytest.mark.parametrize("fabric", [crossbar(9), fat_tree(4, 4, 4), ring(5, 1)], ids=repr)
def test_nothing_is_above_one(fabric: Fabric) -> None:
    assert 0 < bisection(fabric).random_pairs <= 1


def test_a_fabric_in_parts_carries_what_stays_inside() -> None:
    # Two pairs of hosts without a cable between them; a third of the messages stays inside.
    fabric = fat_tree(2, 2, 1)
    apart = fabric.replace(
        **{
            name: getattr(fabric, name)[:0]
            for name in fabric.__dataclass_fields__
            if name.startswith("cable_")
        }
    )
    assert bisection(apart).random_pairs == pytest.approx(1 / 3)
