from __future__ import annotations

import pytest

from contend.fabric import make


@pytest.mark.parametrize("radix", [2, 4, 8, 12])
def test_two_levels(radix: int) -> None:
    """r^2 / 2 hosts, r leaves, r / 2 tops, as many cables as hosts."""
    fabric = make(f"fattree2:{radix}")
    assert (fabric.hosts, fabric.switches) == (radix**2 // 2, 3 * radix // 2)
    assert fabric.cables == fabric.hosts
    assert set(fabric.switch_ports.tolist()) == {radix}


@pytest.mark.parametrize("radix", [2, 4, 8])
def test_three_levels(radix: int) -> None:
    """r^3 / 4 hosts, 5 r^2 / 4 switches, twice as many cables (Al-Fares et al. 2008)."""
    fabric = make(f"fattree3:{radix}")
    assert (fabric.hosts, fabric.switches) == (radix**3 // 4, 5 * radix**2 // 4)
    assert fabric.cables == 2 * fabric.hosts
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
