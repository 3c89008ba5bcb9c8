"""What fabrics of known make are made of."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from contend.fabric import (
    FabricSize,
    Finding,
    cables_per_pair,
    servers_of,
    size_of,
    structure,
    switch_levels,
)
from contend.fabric.fabric import build
from small_fabrics import by_hand, crossbar, fat_tree, of_cables, ring, three_level_tree

HDR = 25e9  # bytes per second of 4xHDR


def test_half_bisection_tree() -> None:
    # 12 leaves with 16 hosts and 8 cables up: 16 / 8 = 2.
    fabric = fat_tree(12, 16, 8)
    assert size_of(fabric) == FabricSize("fat tree", 192, 20, 2 * (192 + 96))
    found = structure(fabric)
    assert found.cables == 96
    leaf, top = found.levels
    assert (leaf.level, leaf.switches, leaf.hosts) == (1, 12, 192)
    assert (leaf.down, leaf.up, leaf.across) == (192 * HDR, 96 * HDR, 0)
    assert leaf.oversubscription == 2
    assert (top.switches, top.down, top.up, top.oversubscription) == (8, 96 * HDR, 0, None)


def test_three_levels() -> None:
    # Switches with k = 4 ports: k^2/2 leaves, as many in the middle, k^2/4 on top, all ratios 1.
    found = structure(three_level_tree(4))
    assert [level.switches for level in found.levels] == [8, 8, 4]
    assert [level.oversubscription for level in found.levels] == [1, 1, None]


def test_ring_has_one_level_and_cables_across() -> None:
    (level,) = structure(ring(5, 2)).levels
    assert (level.across, level.up, level.oversubscription) == (5 * HDR, 0, None)


def test_unknown_rate_counts_cables() -> None:
    fabric = fat_tree(3, 4, 2)
    rate = fabric.cable_rate.copy()
    rate[0] = 0
    found = structure(fabric.replace(cable_rate=rate))
    assert found.unit == "cables"
    assert found.levels[0].down == 12
    assert found.levels[0].oversubscription == 2
    assert found.switch_links == {"4xHDR": 5, "unknown": 1}


def test_parallel_cables() -> None:
    fabric = fat_tree(3, 4, 2, parallel=2)
    assert structure(fabric).parallel_cables == {2: 6}
    low, high, count = cables_per_pair(fabric)
    assert list(zip(low.tolist(), high.tolist(), count.tolist(), strict=True)) == [
        (leaf, top, 2) for leaf in range(3) for top in (3, 4)
    ]


def test_branch_that_leads_nowhere_stands_in_no_level() -> None:
    # Switch 5 hangs on the top switch 4, and switch 6 on switch 5.
    fabric = fat_tree(3, 2, 2)
    one, port, other, far = (
        np.append(column, more).astype(column.dtype)
        for column, more in (
            (fabric.cable_from, [4, 5]),
            (fabric.cable_from_port, [9, 2]),
            (fabric.cable_to, [5, 6]),
            (fabric.cable_to_port, [1, 1]),
        )
    )
    longer = fabric.replace(
        switch_name=(*fabric.switch_name, "five", "six"),
        switch_guid=np.arange(7, dtype=np.uint64),
        switch_system_guid=np.arange(7, dtype=np.uint64),
        switch_ports=np.full(7, 9, dtype=np.uint16),
        switch_lid=np.arange(50, 57, dtype=np.uint32),
        cable_from=one,
        cable_from_port=port,
        cable_to=other,
        cable_to_port=far,
        cable_rate=np.ones(8, dtype=np.uint16),
    )
    found = structure(longer)
    assert switch_levels(longer).tolist() == [1, 1, 1, 2, 2, 1, 2]
    assert (found.idle_switches, found.unreached_switches) == (2, 0)
    assert [level.oversubscription for level in found.levels] == [1, None]


def test_spare_line_card_of_a_director_is_idle() -> None:
    # Spines 4 and 5 join line cards 2 and 3, each with one leaf; card 6 has spines but no leaf.
    fabric = by_hand(
        "director",
        [["a"], ["b"], [], [], [], [], []],
        [
            (0, 2, 2, 1),
            (1, 2, 3, 1),
            *((card, 2 + k, 4 + k, port) for port, card in enumerate((2, 3, 6), 1) for k in (0, 1)),
        ],
        ports=9,
    )
    found = structure(fabric)
    assert switch_levels(fabric).tolist() == [1, 1, 2, 2, 3, 3, 2]
    assert found.idle_switches == 1
    assert [level.switches for level in found.levels] == [2, 2, 2]
    assert [level.oversubscription for level in found.levels] == [1, 0.5, None]


def test_top_switch_over_leaves_that_are_joined_is_not_idle() -> None:
    fabric = ring(4, 1)
    cables = np.stack(
        [fabric.cable_from, fabric.cable_from_port, fabric.cable_to, fabric.cable_to_port], axis=1
    )
    top = np.array([[s, 4, 4, s + 1] for s in range(4)])
    with_top = build(
        "ring with a top switch",
        host_name=fabric.host_name,
        host_switch=fabric.host_switch,
        host_port=fabric.host_port,
        switch_name=[f"switch {s}" for s in range(5)],
        switch_ports=4,
        cables=np.concatenate([cables, top]),
    )
    assert structure(with_top).idle_switches == 0


def test_parts_and_unreached_switches() -> None:
    fabric = fat_tree(4, 1, 2)
    # Only leaf 0 - top 4 and leaf 1 - top 4 keep their cables; leaves 2 and 3 stand alone.
    found = structure(of_cables(fabric, (fabric.cable_to == 4) & (fabric.cable_from < 2)))
    assert found.parts == 3
    assert found.unreached_switches == 1


def test_left_out_and_json() -> None:
    note = Finding("aggregation node", "7 aggregation nodes are left out", wrong=False)
    wrong = Finding("denied cable", "not here")
    found = structure(crossbar(3).replace(findings=(note, wrong)))
    assert found.left_out == ("7 aggregation nodes are left out",)
    decoded = msgspec.json.decode(msgspec.json.encode(found))
    assert decoded["host_links"] == {"4xHDR": 3}
    assert decoded["levels"][0]["hosts"] == 3
    assert decoded["hosts_per_server"] == {"1": 3}


@pytest.mark.parametrize("radix", [4, 6])
def test_levels_by_breadth_first_search(radix: int) -> None:
    # Leaves come first, then as many middle switches, then the top.
    half = radix * radix // 2
    expected = [1] * half + [2] * half + [3] * (half // 2)
    assert switch_levels(three_level_tree(radix)).tolist() == expected


def _servers(names: list[str], **columns: np.ndarray) -> list[int]:
    fabric = crossbar(len(names)).replace(host_name=tuple(names), **columns)
    return servers_of(fabric).tolist()


def test_descriptions_name_adapters_of_a_server() -> None:
    names = ["luna-1 mlx5_0", "luna-2 mlx5_0 ", "luna-1 mlx5_1 ", "login HCA-2", "luna-2 HCA-1"]
    assert _servers(names) == [0, 1, 0, 2, 1]


def test_generic_descriptions_say_nothing() -> None:
    assert _servers(["localhost mlx5_0"] * 3) == [0, 1, 2]
    assert _servers(["MT25408 ConnectX Mellanox Technologies"] * 3) == [0, 1, 2]
    # One generic whole spoils the server's name for all its adapters.
    assert _servers(["localhost mlx5_0", "localhost mlx5_0", "localhost mlx5_1"]) == [0, 1, 2]


def test_one_word_is_a_server_of_its_own() -> None:
    assert _servers(["mlx5_0", "mlx5_1"]) == [0, 1]


def test_system_guid_joins() -> None:
    system = np.array([7, 8, 7, 0, 0], dtype=np.uint64)
    assert _servers(list("abcde"), host_system_guid=system) == [0, 1, 0, 2, 3]


def test_ports_of_one_adapter_join() -> None:
    guid = np.array([1, 2, 2, 1], dtype=np.uint64)
    system = np.zeros(4, dtype=np.uint64)
    assert _servers(list("abba"), host_guid=guid, host_system_guid=system) == [0, 1, 1, 0]


def test_ways_of_joining_chain() -> None:
    # Host 0 and 1 by name, 1 and 2 by system GUID: one server.
    system = np.array([0, 5, 5, 6], dtype=np.uint64)
    names = ["n1 mlx5_0", "n1 mlx5_1", "other", "n2 mlx5_0"]
    assert _servers(names, host_system_guid=system) == [0, 0, 0, 1]
