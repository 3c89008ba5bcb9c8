from __future__ import annotations

import numpy as np

from contend.fabric import make


def test_adapters_of_a_rail_share_a_leaf(adjacency) -> None:
    """2 units of 3 servers with 4 rails below 2 spines, 2 cables from each leaf to each spine."""
    fabric = make("rails:2,3,4,2;2")
    assert (fabric.hosts, fabric.switches, fabric.cables) == (24, 8 + 2, 8 * 2 * 2)
    assert fabric.host_name[3:5] == ("server 1 rail 4", "server 2 rail 1")
    names = [fabric.switch_name[switch] for switch in fabric.host_switch]
    leaf = dict(zip(fabric.host_name, names, strict=True))
    assert leaf["server 1 rail 3"] == leaf["server 3 rail 3"] == "unit 1 leaf 3"
    assert leaf["server 4 rail 3"] == "unit 2 leaf 3"
    assert fabric.host_port[8] == 3
    assert np.array_equal(adjacency(fabric)[:8, 8:], np.full((8, 2), 2))


def test_rails_of_a_server_have_one_system_guid() -> None:
    fabric = make("rails:2,3,4,2")
    systems, counts = np.unique(fabric.host_system_guid, return_counts=True)
    assert len(systems) == 6
    assert set(counts.tolist()) == {4}
    assert len(set(fabric.host_guid.tolist())) == 24
