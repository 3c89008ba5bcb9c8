from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

from contend.base.errors import UsageError
from contend.fabric import Status, check_soundness, make


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


@pytest.mark.parametrize(
    ("units", "specification", "switches", "cables"),
    [
        (1, "rails:1,32,8,4;8", (8, 4, 0), (256, 0)),
        (2, "rails:2,32,8,8;4", (16, 8, 0), (512, 0)),
        (3, "rails:3,32,8,16;2", (24, 16, 0), (768, 0)),
        (4, "rails:4,32,8,16;2", (32, 16, 0), (1024, 0)),
        (8, "rails:8,32,8,32", (64, 32, 0), (2048, 0)),
        (16, "rails:16,32,8,128;2;64,2", (128, 128, 64), (4096, 4096)),
        (32, "rails:32,32,8,256;1;128,4", (256, 256, 128), (8192, 8192)),
        (64, "rails:64,32,8,512;1;256,8,2", (512, 512, 256), (16384, 16384)),
    ],
)
def test_superpods_as_they_are_published(
    units: int, specification: str, switches: tuple[int, ...], cables: tuple[int, int]
) -> None:
    """NVIDIA's reference architectures: for DGX H100 up to 4 units, for DGX B200 from 8 on.

    All switches have 64 ports, and all of them are in use but for 16 of spines below three units.
    """
    fabric = make(specification)
    kinds = Counter(re.sub(" ?[0-9]+ ?|unit|rail", "", name) for name in fabric.switch_name)
    assert tuple(kinds[kind] for kind in ("leaf", "spine", "core")) == switches
    assert fabric.hosts == units * 32 * 8
    to_core = sum(fabric.switch_name[end].startswith("core") for end in fabric.cable_to.tolist())
    assert (fabric.cables - to_core, to_core) == cables
    used = np.bincount(fabric.host_switch, minlength=fabric.switches)
    for ends in (fabric.cable_from, fabric.cable_to):
        used += np.bincount(ends, minlength=fabric.switches)
    assert set(used.tolist()) == ({48, 64} if units == 3 else {64})
    assert np.array_equal(used, fabric.switch_ports)
    check = next(each for each in check_soundness(fabric) if each.name == "rails")
    assert check.status is Status.OK


def test_rails_with_spines_of_their_own_meet_in_the_cores(adjacency) -> None:
    """4 units in 2 blocks, 2 rails with 2 spines a block, in 2 groups below one core each."""
    fabric = make("rails:4,2,2,8;2;4,2,2")
    number = {name: switch for switch, name in enumerate(fabric.switch_name)}
    joined = adjacency(fabric)

    def around(name: str) -> dict[str, int]:
        row = joined[number[name]].tolist()
        return {fabric.switch_name[switch]: cables for switch, cables in enumerate(row) if cables}

    assert around("unit 1 leaf 2") == {"rail 2 spine 1": 2, "rail 2 spine 2": 2}
    assert around("unit 4 leaf 2") == {"rail 2 spine 3": 2, "rail 2 spine 4": 2}
    leaves = {"unit 3 leaf 1": 2, "unit 4 leaf 1": 2}
    assert around("rail 1 spine 4") == {**leaves, "core 3": 1, "core 4": 1}
    firsts = [f"rail {rail} spine {number}" for rail in (1, 2) for number in (1, 3)]
    assert around("core 1") == around("core 2") == dict.fromkeys(firsts, 1)


def test_rails_alone_are_joined_by_servers_only() -> None:
    """Each rail is a part of its own: one leaf, or a tree of leaves and spines."""
    alone = make("rails:1,4,2,0")
    assert (alone.hosts, alone.switches, alone.cables) == (8, 2, 0)
    fabric = make("rails:3,4,2,4;1;0")
    assert (fabric.hosts, fabric.switches, fabric.cables) == (24, 6 + 4, 6 * 2)
    for each in (alone, fabric):
        part = each.switch_part[each.host_switch]
        assert np.array_equal(part, np.arange(each.hosts) % 2)


@pytest.mark.parametrize(
    ("specification", "complaint"),
    [
        ("rails:2,4,2,0", "spines, as a leaf joins one unit only, got 0"),
        ("rails:0,4,2,1", 'got 0 in "0,4,2,1"'),
        ("rails:2,4,2,3;1;4", "2 equal parts of the spines, got 3 spines"),
        (
            "rails:2,4,2,6;1;4,2",
            "2 equal parts of the spines, each in 2 equal groups, got 6 spines",
        ),
        ("rails:3,4,2,8;1;4,2,2", "2 equal blocks, got 3 units"),
        ("rails:2,4,2,4;1;3,2", "2 equal groups, got 3 core switches"),
        ("rails:2,4,2,4;1;2,0", 'got 0 in "2,0"'),
        ("rails:1,4,2,0;1;2", "spines below core switches, got 0"),
        ("rails:2,4,2,4;1,2", 'got "1,2"'),
        ("rails:2,4,2,4;1,2,3;1", 'got "1,2,3"'),
        ("rails:1024,1024,8,8;1;1", "hosts"),
    ],
)
def test_what_does_not_come_out_even(specification: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        make(specification)
