from __future__ import annotations

import numpy as np
import pytest

from contend.base.errors import UsageError
from contend.fabric import make


@pytest.mark.parametrize(
    ("name", "hosts", "leaves", "switches", "uplinks", "rate"),
    [
        ("chic", 528, 44, 44 + 2 * 36, 12, "4xSDR"),
        ("atlas", 1142, 96, 96 + 4 * 36, 12, "4xDDR"),
        ("thunderbird", 4391, 280, 280 + 8 * 36, 8, "4xSDR"),
        ("ranger", 3936, 328, 328 + 2 * (24 * 24 + 144), 12, "4xSDR"),
    ],
)
def test_sizes(name, hosts, leaves, switches, uplinks, rate, adjacency) -> None:
    fabric = make(name)
    assert (fabric.hosts, fabric.switches) == (hosts, switches)
    assert fabric.rates[fabric.cable_rate[0]] == rate
    assert set(fabric.switch_ports.tolist()) == {24}
    assert fabric.core.hosts == hosts
    assert set(adjacency(fabric)[:leaves].sum(axis=1).tolist()) == {uplinks}


@pytest.mark.parametrize(
    ("name", "cables"),
    [
        # Uplinks of half the leaves; with 12 up for 12 hosts that is full bisection,
        # with 8 up for 16 hosts half.
        ("chic", 22 * 12),
        ("thunderbird", 140 * 8),
        ("ranger", 164 * 12),
    ],
)
def test_rated_bisection(name: str, cables: int, flow_between_halves) -> None:
    assert flow_between_halves(make(name)) == cables


def test_rated_bisection_of_atlas(flow_between_halves) -> None:
    """The first half's 576 hosts send, but the other half has only 566 to receive."""
    assert flow_between_halves(make("atlas")) == 1142 - 576


def test_places_left_over_are_the_last_of_the_last_leaves() -> None:
    """Atlas: 1152 - 1142 = 10 leaves have 11 hosts; Thunderbird: 4480 - 4391 = 89 have 15."""
    for name, leaves, places, short in (("atlas", 96, 12, 10), ("thunderbird", 280, 16, 89)):
        fabric = make(name)
        expected = [places] * (leaves - short) + [places - 1] * short
        assert np.bincount(fabric.host_switch)[:leaves].tolist() == expected
        first = np.flatnonzero(np.diff(fabric.host_switch, prepend=-1))
        assert set(fabric.host_port[first].tolist()) == {1}


def test_cabling_of_chic() -> None:
    """Leaf 3's fourth cable to director 2: 6 x 2 + 3 = external port 15, line 2's port 4."""
    fabric = make("chic")
    leaf = fabric.switch_name.index("leaf 3")
    cable = np.flatnonzero((fabric.cable_from == leaf) & (fabric.cable_from_port == 12 + 6 + 4))
    assert fabric.channel_ends(2 * int(cable[0]))[1] == 'switch "director 2 line 2" port 4'


def test_cabling_of_ranger() -> None:
    """Leaf 30's first cable to magnum 1: external port 174, that is chip 14, port 7 (from 0)."""
    fabric = make("ranger")
    leaf = fabric.switch_name.index("leaf 30")
    cable = np.flatnonzero((fabric.cable_from == leaf) & (fabric.cable_from_port == 13))
    assert fabric.channel_ends(2 * int(cable[0]))[1] == 'switch "magnum 1 card 2 leaf 3" port 7'


def test_inside_of_a_magnum(adjacency) -> None:
    """Cards are full meshes of 12 leaf by 12 middle chips; a spine chip meets every card once."""
    fabric = make("ranger")
    links = adjacency(fabric)
    name = np.array(fabric.switch_name)
    of = {n: i for i, n in enumerate(fabric.switch_name)}
    spine = links[of["magnum 2 spine 144"]]
    assert sorted(name[spine > 0]) == sorted(f"magnum 2 card {c} middle 12" for c in range(1, 25))
    middle = links[of["magnum 1 card 7 middle 5"]]
    assert set(name[middle > 0]) == {f"magnum 1 card 7 leaf {i}" for i in range(1, 13)} | {
        f"magnum 1 spine {i}" for i in range(49, 61)
    }


def test_fig1() -> None:
    """Leaves hold 1-4, 5-8, 9-12, 13-16; uplinks 1, 2 go to top 1, 3, 4 to top 2."""
    fabric = make("fig1")
    assert fabric.host_name == tuple(str(number) for number in range(1, 17))
    assert fabric.host_switch.tolist() == [(number - 1) // 4 for number in range(1, 17)]
    assert fabric.switch_ports.tolist() == [8] * 6
    tops = [fabric.switch_name[switch] for switch in fabric.cable_to]
    assert tops == ["top 1", "top 1", "top 2", "top 2"] * 4
    assert fabric.cable_from_port.tolist() == [5, 6, 7, 8] * 4
    assert fabric.cable_to_port.tolist() == [1, 2, 1, 2, 3, 4, 3, 4, 5, 6, 5, 6, 7, 8, 7, 8]


def test_tara(adjacency, flow_between_halves) -> None:
    """18 hosts on ports 1-18 of each of two leaf modules, nine spines with two cables to each."""
    fabric = make("tara")
    assert (fabric.hosts, fabric.switches, fabric.cables) == (36, 2 + 9, 36)
    assert fabric.host_port.tolist() == 2 * list(range(1, 19))
    assert set(fabric.switch_ports.tolist()) == {36}
    assert np.array_equal(adjacency(fabric)[:2, 2:], np.full((2, 9), 2))
    assert flow_between_halves(fabric) == 18
    assert fabric.rates[fabric.cable_rate[0]] == "4xQDR"


def test_thunderbird_on_more_leaves_keeps_its_hosts_and_fills_its_directors() -> None:
    fabric = make("thunderbird:288")
    assert (fabric.hosts, fabric.switches) == (4391, 288 + 8 * 36)
    assert fabric.cables == 8 * (288 + 288)
    per_leaf = np.bincount(fabric.host_switch, minlength=288)[:288]
    # 288 * 16 places, 217 of them empty: one on each of the last leaves.
    assert per_leaf.tolist() == [16] * 71 + [15] * 217


@pytest.mark.parametrize("leaves", ["274", "289", "x", "280,1"])
def test_thunderbird_has_between_275_and_288_leaves(leaves: str) -> None:
    with pytest.raises(UsageError, match="thunderbird"):
        make(f"thunderbird:{leaves}")
