from __future__ import annotations

import numpy as np
import pytest

from contend.fabric import make


def test_every_leaf_meets_every_spine_once(adjacency) -> None:
    """C(3, 5, 4): 4 leaves with 3 hosts and 5 uplinks, 5 spines with 4 ports."""
    fabric = make("clos:3,5,4")
    assert (fabric.hosts, fabric.switches, fabric.cables) == (12, 4 + 5, 20)
    assert np.array_equal(adjacency(fabric)[:4, 4:], np.ones((4, 5)))
    assert fabric.switch_ports.tolist() == [8] * 4 + [4] * 5


def test_the_director_of_288_ports(adjacency, flow_between_halves) -> None:
    """24 line chips by 12 spine chips of 24 ports, one cable between each pair."""
    fabric = make("director:288")
    assert (fabric.hosts, fabric.switches, fabric.cables) == (288, 24 + 12, 288)
    assert set(fabric.switch_ports.tolist()) == {24}
    assert np.array_equal(adjacency(fabric)[:24, 24:], np.ones((24, 12)))
    assert fabric.switch_name[4] == "director line 5"
    assert flow_between_halves(fabric) == 144


@pytest.mark.parametrize(("ports", "lines", "spines"), [(144, 12, 6), (96, 8, 4), (24, 2, 1)])
def test_smaller_directors_have_parallel_cables(ports, lines, spines, adjacency) -> None:
    """ports / 12 line chips, each with 24 / lines cables to every spine chip."""
    fabric = make(f"director:{ports}")
    assert (fabric.hosts, fabric.switches) == (ports, lines + spines)
    assert set(adjacency(fabric)[:lines, lines:].ravel().tolist()) == {24 // lines}
