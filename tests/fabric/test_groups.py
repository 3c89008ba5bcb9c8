"""Groups of switches, and coordinates of those without levels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import contend
from contend.fabric import Fabric, grid_coordinates, group_circle, make, short_names, switch_groups
from contend.fabric.fabric import build
from contend.fabric.groups import MOST_GROUPS
from small_fabrics import fat_tree, three_level_tree


def _groups(fabric: Fabric) -> dict[str, int]:
    groups = switch_groups(fabric)
    sizes = np.bincount(groups.number[groups.number >= 0])
    return dict(zip(groups.name, sizes.tolist(), strict=True))


def test_chic_has_two_directors_of_24_line_and_12_spine_chips() -> None:
    assert _groups(make("chic")) == {
        "leaf": 44,
        "director 1 line": 24,
        "director 2 line": 24,
        "director 1 spine": 12,
        "director 2 spine": 12,
    }
    assert switch_groups(make("chic")).rule == "names"


def test_chips_of_one_system_guid_are_a_chassis_whatever_their_names() -> None:
    fabric = make("chic")
    system = fabric.switch_system_guid.copy()
    for director in (1, 2):
        for switch, name in enumerate(fabric.switch_name):
            if name.startswith(f"director {director}"):
                system[switch] = 0x7000 + director
    nameless = fabric.replace(switch_name=("switch",) * fabric.switches, switch_system_guid=system)
    groups = switch_groups(nameless)
    assert groups.rule == "chassis"
    assert sorted(np.bincount(groups.number).tolist()) == [12, 12, 24, 24, 44]


def test_pods_are_found_by_cables_where_names_say_nothing() -> None:
    groups = switch_groups(make("xgft:3;12,13,8;1,6,9"))
    assert groups.rule == "cables"
    sizes = np.bincount(groups.number)
    level = np.array(groups.level)
    # 8 pods of 13 leaves and 6 middle switches, 6 planes of 9 top switches.
    assert [sizes[level == at].tolist() for at in (1, 2, 3)] == [[13] * 8, [6] * 8, [9] * 6]
    assert groups.name[0] == "leaf 1-13"
    assert groups.name[-1] == "top 46-54"


def test_leaves_that_names_do_not_tell_apart_are_named_by_their_rail() -> None:
    """Two rails of six leaves and three spines, joined by two cores; servers hang on both."""
    ends = [(leaf, 12 + 3 * (leaf // 6) + spine) for leaf in range(12) for spine in range(3)]
    ends += [(12 + spine, 18 + core) for spine in range(6) for core in range(2)]
    names = [*(f"lf{n}.cn.a" for n in range(12)), *(f"sp{n}" for n in range(6)), "co1", "co2"]
    fabric = build(
        "two rails",
        host_name=[f"server {n // 2} rail {n % 2 + 1}" for n in range(48)],
        host_switch=np.array([6 * (n % 2) + n // 8 for n in range(48)]),
        host_port=np.array([1 + n // 2 % 4 for n in range(48)]),
        switch_name=names,
        switch_ports=60,
        cables=np.array([[one, 5 + k, other, 5 + k] for k, (one, other) in enumerate(ends)]),
    )
    assert switch_groups(fabric).name == ("rail 1", "rail 2", "sp 0-2", "sp 3-5", "co")


def test_numbers_far_apart_are_no_range() -> None:
    fabric = make("xgft:3;12,13,8;1,6,9")
    names = tuple(f"switch {10**12 * number}" for number in range(fabric.switches))
    assert (
        switch_groups(fabric.replace(switch_name=names)).name[0] == "level 1 0, 1000000000000, ..."
    )


def test_selene_by_names(shared_data: Path) -> None:
    sizes = _groups(contend.load(shared_data / "selene.compute.ibnetdiscover.xz"))
    assert {name: size for name, size in sizes.items() if not name.startswith("LG")} == {
        "MLG01": 4,
        "CSPINE1": 80,
        "CSPINE2": 80,
        "CSPINE3": 80,
        "CSPINE4": 80,
        "MSPINE3-01": 1,
        "MSPINE4-01": 1,
        "CCORE1": 70,
        "CCORE2": 70,
    }
    pods = [size for name, size in sizes.items() if name.startswith("LG")]
    assert pods == [8] * 25
    storage = _groups(contend.load(shared_data / "selene.storage.ibnetdiscover.xz"))
    assert [storage[f"SSPINE{pod}"] for pod in (1, 2, 3, 4)] == [16] * 4


def test_two_levels_without_names_are_two_groups() -> None:
    groups = switch_groups(fat_tree(5, 2, 3))
    assert groups.rule == "levels"
    assert groups.number.tolist() == [0] * 5 + [1] * 3


def test_a_level_has_no_more_groups_than_have_room() -> None:
    fabric = make("xgft:3;2,2,90;1,2,2")
    groups = switch_groups(fabric)
    counts = np.bincount(groups.level)[1:]
    assert counts.max() <= MOST_GROUPS
    assert int(np.count_nonzero(groups.number >= 0)) == fabric.switches
    # Every group lies within one level, and neighbouring pods are joined, three at a time.
    assert counts.tolist()[:2] == [30, 30]


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["MF0;LG01-01:MQM8700/U1", "MF0;CORE2:CS7520/U1"], ["LG01-01", "CORE2"]),
        (["MF0;dir:CS7520/L01/U1", "MF0;dir:CS7520/S02/U1"], ["dir L01", "dir S02"]),
        (["switch 0,1", "switch 1,0"], ["0,1", "1,0"]),
        (["group 1 switch 1", "group 2 switch 3"], ["group 1 switch 1", "group 2 switch 3"]),
        (["site-a-sw1.x.org", "site-a-sw2.x.org"], ["sw1", "sw2"]),
        (["same", "same"], ["same number 0", "same number 1"]),
        (["", "x"], ["", "x"]),
    ],
)
def test_short_names(names: list[str], short: list[str]) -> None:
    fabric = fat_tree(1, 1, 1).replace(
        switch_name=tuple(names), switch_guid=np.zeros(2, dtype=np.uint64)
    )
    found = short_names(fabric)
    assert len(set(found)) == 2
    if names[0] != "same":
        assert list(found) == short


@pytest.mark.parametrize(
    ("spec", "sizes"),
    [
        ("torus:5x6", [5, 6]),
        ("torus:4x4", [4, 4]),
        ("mesh:3x4", [3, 4]),
        ("hyperx:4x5", [4, 5]),
        ("torus:5x5x3", [5, 5, 3]),
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_coordinates(spec: str, sizes: list[int], named: bool) -> None:
    fabric = make(spec)
    if not named:
        fabric = fabric.replace(switch_name=("x",) * fabric.switches)
    place = grid_coordinates(fabric)
    assert sorted((place.max(axis=0) + 1).tolist()) == sorted(sizes)
    assert len(np.unique(place, axis=0)) == fabric.switches
    changed = np.count_nonzero(place[fabric.cable_from] != place[fabric.cable_to], axis=1)
    assert changed.tolist() == [1] * fabric.cables


def test_what_is_no_grid_has_no_coordinates() -> None:
    assert grid_coordinates(make("slimfly:5")) is None
    assert grid_coordinates(three_level_tree(4)) is None
    assert grid_coordinates(make("random:20,4,2")) is None


@pytest.mark.parametrize("named", [True, False])
def test_groups_of_a_dragonfly(named: bool) -> None:
    fabric = make("dragonfly:3,6,3")
    if not named:
        fabric = fabric.replace(switch_name=("x",) * fabric.switches)
    group = group_circle(fabric)
    assert group.tolist() == (np.arange(114) // 6).tolist()
    assert group_circle(make("random:20,4,2")) is None


def test_names_tell_groups_of_any_size() -> None:
    # 121,380 joined pairs of switches.
    group = group_circle(make("dragonfly:1,24,12"))
    assert group.tolist() == (np.arange(289 * 24) // 24).tolist()
