from __future__ import annotations

from math import prod

import numpy as np
import pytest

from contend.fabric import make


@pytest.mark.parametrize(
    ("children", "parents"),
    [((4,), (1,)), ((18, 36), (1, 18)), ((2, 3, 4), (1, 3, 2)), ((2, 2, 3, 2), (1, 2, 1, 3))],
)
def test_sizes_of_generalised_trees(children: tuple[int, ...], parents: tuple[int, ...]) -> None:
    """Level l has m_(l+1) .. m_h w_1 .. w_l nodes (Öhring et al. 1995)."""
    height = len(children)
    texts = [",".join(map(str, numbers)) for numbers in (children, parents)]
    fabric = make(f"xgft:{height};{texts[0]};{texts[1]}")
    size = [prod(children[level:]) * prod(parents[:level]) for level in range(height + 1)]
    assert fabric.hosts == size[0]
    assert fabric.switches == sum(size[1:])
    assert fabric.cables == sum(size[level] * parents[level] for level in range(1, height))


@pytest.mark.parametrize(("k", "n"), [(2, 1), (2, 4), (3, 3), (4, 2)])
def test_k_ary_n_trees(k: int, n: int, distances) -> None:
    """k^n hosts, n k^(n-1) switches, (n-1) k^n cables; leaves are up to 2 (n-1) cables apart."""
    fabric = make(f"kary:{k},{n}")
    assert (fabric.hosts, fabric.switches) == (k**n, n * k ** (n - 1))
    assert fabric.cables == (n - 1) * k**n
    leaves = np.unique(fabric.host_switch)
    assert distances(fabric)[np.ix_(leaves, leaves)].max() == 2 * (n - 1)


@pytest.mark.parametrize("spec", ["kary:2,4", "kary:3,3", "fattree3:8", "xgft:3;4,4,4;1,2,8;1,2,1"])
def test_trees_with_as_much_up_as_down_have_full_bisection(spec: str, flow_between_halves) -> None:
    """All hosts on half the leaves can send to the others at full rate."""
    fabric = make(spec)
    leaves = np.unique(fabric.host_switch)
    senders = np.isin(fabric.host_switch, leaves[: len(leaves) // 2]).sum()
    assert flow_between_halves(fabric) == senders


def test_ports_go_down_first_and_parallel_cables_side_by_side() -> None:
    """Leaf ports 1-2 hosts, 3-4 to top 1, 5-6 to top 2; top ports 2 i + 1, 2 i + 2 to leaf i."""
    fabric = make("xgft:2;2,3;1,2;1,2")
    assert fabric.switch_name == ("leaf 1", "leaf 2", "leaf 3", "top 1", "top 2")
    assert fabric.host_name == tuple(f"host {number}" for number in range(1, 7))
    assert fabric.host_switch.tolist() == [0, 0, 1, 1, 2, 2]
    assert fabric.host_port.tolist() == [1, 2, 1, 2, 1, 2]
    assert fabric.switch_ports.tolist() == [6, 6, 6, 6, 6]
    cables = np.stack(
        [fabric.cable_from, fabric.cable_from_port, fabric.cable_to, fabric.cable_to_port], axis=1
    )
    assert cables[4:8].tolist() == [[1, 3, 3, 3], [1, 4, 3, 4], [1, 5, 4, 3], [1, 6, 4, 4]]


def test_neighbours_share_all_digits_but_one() -> None:
    """In the 2-ary 3-tree, middle (x3, y2) meets the leaves (x3, *) and the tops (y2, *)."""
    fabric = make("kary:2,3")
    met = {name: set() for name in fabric.switch_name}
    for near, far in zip(fabric.cable_from.tolist(), fabric.cable_to.tolist(), strict=True):
        met[fabric.switch_name[far]].add(fabric.switch_name[near])
    assert met["middle 1"] == met["middle 2"] == {"leaf 1", "leaf 2"}
    assert met["middle 3"] == met["middle 4"] == {"leaf 3", "leaf 4"}
    assert met["top 1"] == met["top 2"] == {"middle 1", "middle 3"}
    assert met["top 3"] == met["top 4"] == {"middle 2", "middle 4"}


@pytest.mark.parametrize("radix", [2, 4, 8, 12])
def test_full_trees_of_one_kind_of_switch(radix: int) -> None:
    """r^2 / 2 hosts, r leaves, r / 2 tops, as many cables as hosts; of three levels r^3 / 4 hosts,
    5 r^2 / 4 switches, twice as many cables (Al-Fares et al. 2008)."""
    for levels, hosts, switches in (
        (2, radix**2 // 2, 3 * radix // 2),
        (3, radix**3 // 4, 5 * radix**2 // 4),
    ):
        fabric = make(f"fattree{levels}:{radix}")
        assert (fabric.hosts, fabric.switches) == (hosts, switches)
        assert fabric.cables == (levels - 1) * hosts
        assert set(fabric.switch_ports.tolist()) == {radix}


def test_parallel_links_need_fewer_switches(flow_between_halves) -> None:
    """With 2 cables per pair: 8 / 2 leaves, 4 / 2 tops; still full bisection."""
    fabric = make("fattree2:8;4,4;2")
    assert (fabric.hosts, fabric.switches, fabric.cables) == (16, 4 + 2, 16)
    assert flow_between_halves(fabric) == 8
    # Pods of 2 leaves and 2 middles, 4 pods, 2 x 2 tops.
    fabric = make("fattree3:8;4,4;2")
    assert (fabric.hosts, fabric.switches, fabric.cables) == (32, 8 + 8 + 4, 64)
    assert set(fabric.switch_ports.tolist()) == {8}


def test_oversubscribed_leaves(flow_between_halves) -> None:
    """36-port leaves with 24 hosts and 12 uplinks: half bisection."""
    fabric = make("fattree2:36;24,12")
    assert (fabric.hosts, fabric.switches, fabric.cables) == (36 * 24, 36 + 12, 36 * 12)
    assert flow_between_halves(fabric) == 18 * 12


def test_the_largest_tree_of_64_port_switches() -> None:
    fabric = make("fattree3:64")
    assert (fabric.hosts, fabric.switches, fabric.cables) == (65536, 5120, 131072)
    assert fabric.core.channels == 2 * (65536 + 131072)
