"""Hosts by where they hang: same leaf, several leaves, spread out, adjacent ports."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from contend.base.errors import UsageError
from contend.congestion import simulate
from contend.fabric import Fabric
from contend.fabric.fabric import build
from contend.routes import load
from contend.traffic import placement
from small_fabrics import fat_tree, three_level_tree


@pytest.fixture(scope="module")
def tara() -> Fabric:
    """Two leaf modules of 18 ports with a host each."""
    return load("tara")


@pytest.fixture(scope="module")
def uneven() -> Fabric:
    """Leaves of 2, 4 and 3 hosts; on the second, port 3 has none."""
    ports = [1, 2, 1, 2, 4, 5, 1, 2, 3]
    return build(
        "uneven",
        host_name=[f"n{h}" for h in range(9)],
        host_switch=np.array([0, 0, 1, 1, 1, 1, 2, 2, 2]),
        host_port=np.array(ports),
        switch_name=["one", "two", "three", "top"],
        switch_ports=8,
        cables=np.array([[leaf, 8, 3, leaf + 1] for leaf in range(3)]),
    )


def chosen(fabric: Fabric, spec: str, ranks: int | None = None, **options: object) -> list[int]:
    placed = placement.parse(spec, fabric, ranks=ranks, **options)  # type: ignore[arg-type]
    assert (placed.name, placed.random) == (spec, False)
    return placed.hosts.tolist()


def leaves(fabric: Fabric, hosts: list[int]) -> list[int]:
    """How many of the hosts are on each leaf, most first."""
    return sorted(Counter(fabric.host_switch[hosts].tolist()).values(), reverse=True)


@pytest.mark.parametrize("size", [3, 9, 18, 36])
def test_choices_of_the_2015_study(tara: Fabric, size: int) -> None:
    """3 adjacent ports, 9, 18 = a leaf module, 36 = two (Mistry et al. 2015, "Leaf modules")."""
    hosts = chosen(tara, f"port-group:{size}")
    on = [(int(tara.host_switch[h]), int(tara.host_port[h])) for h in hosts]
    assert on == [(k // 18, k % 18 + 1) for k in range(size)]


def test_further_port_groups_follow(tara: Fabric) -> None:
    """18 ports hold three groups of five, so that a fourth starts on the other leaf."""
    ports = tara.host_port[chosen(tara, "port-group:5", 20)].tolist()
    assert ports == [*range(1, 16), *range(1, 6)]
    assert chosen(tara, "port-group:3", 9) == chosen(tara, "port-group:9")
    # Two hosts do not fill a group of three.
    assert chosen(tara, "port-group:3", 2) == [0, 1]


def test_port_groups_do_not_bridge_a_port_without_host(uneven: Fabric) -> None:
    assert chosen(uneven, "port-group:2", 8) == [0, 1, 2, 3, 4, 5, 6, 7]
    assert chosen(uneven, "port-group:3") == [6, 7, 8]
    with pytest.raises(UsageError, match="expected 4 hosts in groups of 4 on adjacent ports"):
        chosen(uneven, "port-group:4")


def test_a_group_larger_than_a_leaf_takes_whole_leaves(uneven: Fabric) -> None:
    assert chosen(uneven, "port-group:6") == [0, 1, 2, 3, 4, 5]
    with pytest.raises(UsageError, match=r"port-group:6: .* such groups hold 6"):
        chosen(uneven, "port-group:6", 7)


def test_same_leaf(uneven: Fabric) -> None:
    """The fullest; with a number the first that has as many."""
    assert chosen(uneven, "same-leaf") == [2, 3, 4, 5]
    assert chosen(uneven, "same-leaf", 2) == [0, 1]
    assert chosen(uneven, "same-leaf", 3) == [2, 3, 4]
    with pytest.raises(
        UsageError,
        match="placement same-leaf: expected a leaf with 5 hosts; the fullest has 4, uneven has "
        "9 hosts on 3 leaf switches",
    ):
        chosen(uneven, "same-leaf", 5)


def test_leaves(uneven: Fabric) -> None:
    assert chosen(uneven, "leaves:2", 4) == [0, 1, 2, 3]
    # 5 = 3 + 2, and the first leaf with three is the second.
    assert chosen(uneven, "leaves:2", 5) == [2, 3, 4, 0, 1]
    assert chosen(uneven, "leaves:2", 6) == [2, 3, 4, 6, 7, 8]
    assert chosen(uneven, "leaves:3", 3) == [0, 2, 6]
    # As evenly as the two fullest allow; as the three allow.
    assert chosen(uneven, "leaves:2") == [2, 3, 4, 6, 7, 8]
    assert chosen(uneven, "leaves:3") == [0, 1, 2, 3, 6, 7]


@pytest.mark.parametrize(
    ("spec", "ranks", "complaint"),
    [
        ("leaves:4", None, "expected 4 leaf switches"),
        ("leaves:3", 2, "at least a host for each of 3 leaves, not 2 in all"),
        ("leaves:2", 8, "2 leaf switches of 4 hosts"),
        ("leaves:2", 9, "1 leaf switch of 5 hosts and 1 leaf switch of 4 hosts"),
        ("spread", 10, "expected 10 hosts, uneven has 9 hosts"),
    ],
)
def test_more_than_there_is(uneven: Fabric, spec: str, ranks: int | None, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        chosen(uneven, spec, ranks)


def test_spread_takes_as_few_as_possible_of_each_leaf(uneven: Fabric) -> None:
    assert leaves(uneven, chosen(uneven, "spread", 3)) == [1, 1, 1]
    assert leaves(uneven, chosen(uneven, "spread", 6)) == [2, 2, 2]
    assert leaves(uneven, chosen(uneven, "spread", 7)) == [3, 2, 2]
    assert sorted(chosen(uneven, "spread")) == list(range(9))


def test_spread_takes_leaves_far_apart() -> None:
    """Four pods of two leaves: four hosts are in four pods, where round-robin fills two."""
    fabric = three_level_tree(4)
    pods = {int(fabric.host_switch[h]) // 2 for h in chosen(fabric, "spread", 4)}
    assert pods == {0, 1, 2, 3}


def test_ranks_share_hosts(tara: Fabric) -> None:
    placed = placement.parse("same-leaf", tara, ranks_per_host=8, ranks=20)
    assert placed.hosts.tolist() == [0, 1, 2]
    assert placed.ranks == 24


def test_place_among_some_hosts(tara: Fabric, uneven: Fabric) -> None:
    names = "host [2-4],host [19-22]"
    assert chosen(tara, "same-leaf", hosts=names) == [18, 19, 20, 21]
    assert chosen(tara, "port-group:3", 6, hosts=names) == [1, 2, 3, 18, 19, 20]
    assert chosen(uneven, "spread", 2, hosts="n[2-5]") == [2, 3]


@pytest.mark.parametrize("spec", ["leaves", "leaves:0", "leaves:-1", "port-group:x", "same-leaf:2"])
def test_specifications_that_are_none(tara: Fabric, spec: str) -> None:
    with pytest.raises(UsageError, match=r"expected one of .*leaves:K, spread, port-group:K"):
        chosen(tara, spec)


def test_simulation_of_a_place() -> None:
    """On one leaf no two messages of a bisect meet; over two thin leaves most do."""
    fabric = load("xgft:2;8,4;1,1", route="dmodk")
    same = simulate(fabric, "bisect", placement="same-leaf", ranks=8, samples=50)
    apart = simulate(fabric, "bisect", placement="leaves:2", ranks=8, samples=50)
    assert same.effective_bandwidth.mean == 1
    assert apart.effective_bandwidth.mean < 1
    with pytest.raises(UsageError, match="a leaf with 9 hosts"):
        simulate(fabric, "bisect", placement="same-leaf", ranks=9)


def test_leaf_order_is_by_neighbourhood() -> None:
    """Not by name: the first two leaves of a fat tree's walk are its first."""
    assert chosen(fat_tree(4, 2, 1), "leaves:2", 4) == [0, 1, 2, 3]
