"""Levels come from what cables are for, whatever hangs on which switch."""

from __future__ import annotations

import numpy as np
import pytest

import contend
from contend.fabric import Fabric, Structure, structure, switch_groups, switch_levels
from contend.report.fabric.bundles import bundled
from contend.routes import all_to_all_load, compute, summarise_routes
from sample_fabrics import two_leaves
from small_fabrics import fat_tree, torus, with_cables, with_hosts_on

# 104 leaves of 12 hosts, 48 middle switches (six to each of eight pods) and 54 on top.
TREE = "xgft:3;12,13,8;1,6,9"
MIDDLE, TOP = 104, 152
ON_SPINES = {
    "one pod": [MIDDLE] * 5 + [MIDDLE + 1] * 5,
    "two pods": [MIDDLE] * 5 + [MIDDLE + 7] * 5,
    "top": [TOP] * 5 + [TOP + 20] * 5,
    "both": [MIDDLE] * 5 + [TOP + 3] * 5,
}


def _switches(found: Structure) -> list[int]:
    return [level.switches for level in found.levels]


@pytest.mark.parametrize("hosts", ON_SPINES.values(), ids=ON_SPINES)
def test_ten_hosts_on_two_spines_change_nothing_else(hosts: list[int]) -> None:
    fabric = with_hosts_on(contend.load(TREE), hosts)
    plain, found = structure(contend.load(TREE)), structure(fabric)
    assert _switches(plain) == _switches(found) == [104, 48, 54]
    # 12 hosts below 6 cables; 13 leaves below 9 cables.
    assert [level.oversubscription for level in plain.levels] == [2, 13 / 9, None]
    below = 13 * 48 + sum(switch < TOP for switch in hosts)
    assert [level.oversubscription for level in found.levels] == [2, below / (9 * 48), None]
    assert sum(level.hosts for level in found.levels[1:]) == 10
    assert (found.shape, found.idle_switches) == ("tree of 3 levels", 0)
    boxes = bundled(fabric, switch_groups(fabric), 7.0).boxes
    assert len({box.y for box in boxes}) == 3


@pytest.mark.parametrize("hosts", ON_SPINES.values(), ids=ON_SPINES)
def test_dmodk_takes_hosts_on_spines(hosts: list[int]) -> None:
    fabric = with_hosts_on(contend.load(TREE), hosts)
    routed = compute(fabric, "dmodk")
    summary = summarise_routes(routed)
    assert (summary.undelivered, summary.dependency_cycle) == (0, ())
    # The other hosts go as they would without.
    plain = compute(contend.load(TREE), "dmodk")
    of_hosts = slice(1, plain.hosts + 1)
    leaves = slice(0, MIDDLE)
    assert np.array_equal(
        routed.routes.ports[leaves, of_hosts], plain.routes.ports[leaves, of_hosts]
    )


def test_every_spine_may_hold_hosts() -> None:
    fabric = with_hosts_on(contend.load("xgft:2;18,36;1,18"), [*range(36, 54)] * 9)
    assert [(level.switches, level.hosts) for level in structure(fabric).levels] == [
        (36, 648),
        (18, 162),
    ]


@pytest.mark.parametrize("spec", [TREE, "kary:2,5", "xgft:3;4,3,2;1,4,1;1,2,3", "crossbar:4"])
def test_levels_of_trees_do_not_depend_on_how_switches_are_numbered(spec: str) -> None:
    fabric = contend.load(spec)
    # The tree is known by its numbers only as generators give them.
    order = np.random.default_rng(2).permutation(fabric.switches)
    changes = {
        name: order[getattr(fabric, name)].astype(np.uint32)
        for name in ("host_switch", "cable_from", "cable_to")
    }
    changes["switch_ports"] = np.full(fabric.switches, 64, dtype=np.uint16)
    mixed = fabric.replace(**changes)
    assert switch_levels(mixed)[order].tolist() == switch_levels(fabric).tolist()
    assert mixed.levels[1][order].tolist() == fabric.levels[1].tolist()


def test_leaf_without_hosts_is_a_leaf() -> None:
    # Leaf 2 of four lost its hosts.
    fabric = fat_tree(4, 3, 2)
    kept = np.flatnonzero(fabric.host_switch != 2)
    without = _with_hosts(fabric, kept)
    assert switch_levels(without).tolist() == switch_levels(fabric).tolist()
    assert structure(without).idle_switches == 1


def _on_four_lines(leaves: int, more: list[tuple[int, int]] | None = None) -> Fabric:
    """Lines 0 to 3, each by two cables to spines 4 and 5; leaf 6 + i by two to lines i and i + 1.

    So short paths from leaf 6 to leaf 8 lead over leaf 9 and over the spines alike.
    """
    up = [(6 + i, line) for i in range(4) for line in (i, (i + 1) % 4) for _ in range(2)]
    lines = with_cables(fat_tree(4, 1, 2, parallel=2), up + (more or []))
    without = _with_hosts(lines, np.zeros(0, dtype=np.int64))
    return with_hosts_on(without, [6 + leaf for leaf in range(leaves) for _ in range(4)])


def test_leaf_without_hosts_between_lines_is_no_spine() -> None:
    full, empty = structure(_on_four_lines(4)), structure(_on_four_lines(3))
    assert _switches(full) == _switches(empty) == [4, 4, 2]
    # Four leaves have as many cables up as four hosts; four lines as many up as down.
    assert [level.oversubscription for level in full.levels] == [1, 1, None]
    assert [level.oversubscription for level in empty.levels] == [3 / 4, 1, None]


def test_spine_that_lost_most_lines_stays_a_spine() -> None:
    # Switch 10 is cabled to two lines, by fewer cables than a leaf is.
    fabric = _on_four_lines(4, [(10, 0), (10, 3)])
    assert switch_levels(fabric)[10] == 3


def test_switch_that_alone_joins_two_halves_is_a_spine() -> None:
    # Two halves of four lines, two spines and two leaves; switch 16 is cabled as a leaf, to both.
    cables = [
        *(
            (line + 6 * half, spine + 6 * half)
            for half in (0, 1)
            for line in range(4)
            for spine in (4, 5)
        ),
        *(
            (leaf, line)
            for leaf, line in zip(
                (12, 12, 13, 13, 14, 14, 15, 15), (0, 1, 2, 3, 6, 7, 8, 9), strict=True
            )
        ),
        *((16, line) for line in (0, 6)),
    ]
    empty = _with_hosts(with_cables(fat_tree(1, 1, 0), cables), np.zeros(0, dtype=np.int64))
    fabric = with_hosts_on(empty, [12, 13, 14, 15] * 2)
    assert switch_levels(fabric)[16] > 2
    # Not so where the halves are joined by others too.
    joined = with_cables(fabric, [(spine, line) for spine in (4, 5) for line in range(6, 10)])
    assert switch_levels(joined)[16] == 1


@pytest.mark.parametrize("machine", ["chic", "ranger", "xgft:3;4,4,4;1,4,2"])
def test_half_of_the_leaves_may_be_without_hosts(machine: str) -> None:
    fabric = contend.load(machine)
    leaves = np.unique(fabric.host_switch)
    for gone in (leaves[::2], leaves[: len(leaves) // 2]):
        kept = np.flatnonzero(~np.isin(fabric.host_switch, gone))
        assert np.array_equal(switch_levels(_with_hosts(fabric, kept)), switch_levels(fabric))


def test_switch_below_a_leaf_changes_nothing_else() -> None:
    # Switch 6 has two hosts and hangs on leaf 0.
    fabric = with_hosts_on(with_cables(fat_tree(4, 4, 2), [(0, 6)]), [6, 6])
    assert switch_levels(fabric).tolist() == [1, 1, 1, 1, 2, 2, 1]


def test_management_switch_between_levels_changes_nothing() -> None:
    # Switch 6 holds nothing and is cabled to a leaf and to a spine.
    fabric = with_cables(fat_tree(4, 4, 2), [(0, 6), (4, 6)])
    found = structure(fabric)
    assert (_switches(found), found.idle_switches) == ([4, 2], 1)
    assert summarise_routes(compute(fabric, "dmodk")).undelivered == 0


def test_spines_that_are_cabled_to_each_other_stay_on_one_level() -> None:
    level = structure(with_cables(fat_tree(12, 16, 8), [(12, 13)])).levels
    assert [item.switches for item in level] == [12, 8]
    assert level[1].across * 96 == level[0].up


def test_torus_has_one_level() -> None:
    assert _switches(structure(torus((5, 6)))) == [30]


def test_idle_is_what_no_route_uses() -> None:
    # Hosts 0-3 go over both spines; without the second one's entries it carries nothing.
    fabric = two_leaves()
    assert structure(fabric, all_to_all_load(fabric)).idle_switches == 0
    ports = fabric.routes.ports.copy()
    ports[:2][ports[:2] == 4] = 3
    over_one = fabric.replace(routes=fabric.routes.__class__(ports, "by hand"))
    found = structure(over_one, all_to_all_load(over_one))
    assert found.idle_switches == 1
    # It stands where it stood.
    assert _switches(found) == [2, 2]


def test_oversubscription_of_every_leaf() -> None:
    # Leaf 0 has three hosts more than the others' four, above two cables.
    found = structure(with_hosts_on(fat_tree(3, 4, 2), [0, 0, 0]))
    assert [(leaf.switch, leaf.hosts, leaf.oversubscription) for leaf in found.leaves] == [
        ("switch 0", 7, 3.5),
        ("switch 1", 4, 2),
        ("switch 2", 4, 2),
    ]
    assert found.leaves[0].guid == "0x0000000200000000"


def _with_hosts(fabric: Fabric, kept: np.ndarray) -> Fabric:
    columns = [name for name in fabric.__dataclass_fields__ if name.startswith("host_")]
    names = tuple(fabric.host_name[host] for host in kept.tolist())
    changes = {name: getattr(fabric, name)[kept] for name in columns if name != "host_name"}
    return fabric.replace(host_name=names, **changes)
