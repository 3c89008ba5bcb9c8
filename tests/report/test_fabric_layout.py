"""Where switches stand in drawings of networks."""

from __future__ import annotations

import numpy as np
import pytest

from contend.fabric import Fabric, make, switch_groups, switch_levels
from contend.report.fabric.bundles import bundled
from contend.report.fabric.flat_layout import without_levels
from contend.report.fabric.layout import leveled
from contend.report.fabric.painting import fitting_labels
from contend.report.fabric.scene import Label, Scene, text_size
from small_fabrics import (
    by_hand,
    fat_tree,
    of_cables,
    ring,
    three_level_tree,
)

_RIGHT = 7.0


def _levels(fabric: Fabric) -> Scene:
    return leveled(fabric, np.maximum(switch_levels(fabric), 1), _RIGHT)


def test_tree_stands_in_levels() -> None:
    scene = _levels(three_level_tree(4))
    beside = [label.text for label in scene.labels if label.across == "right"]
    assert beside == ["8 switches", "16 hosts", "8 switches", "4 switches"]
    y = scene.place[:, 1]
    heights = np.unique(y)
    assert len(heights) == 3
    assert np.searchsorted(heights, y).tolist() == [0] * 8 + [1] * 8 + [2] * 4


def test_pods_stand_together_over_their_leaves() -> None:
    # 8 pods of 4 leaves and 4 middle switches: the same eighth of the width on both levels.
    x = _levels(three_level_tree(8)).place[:, 0]
    for pod in range(8):
        leaves, middle = x[:32].reshape(8, 4)[pod], x[32:64].reshape(8, 4)[pod]
        others = np.delete(x[:32].reshape(8, 4), pod, axis=0)
        assert not np.any((others > leaves.min()) & (others < leaves.max()))
        assert leaves.min() - 0.1 < middle.min() <= middle.max() < leaves.max() + 0.1


def test_pods_are_found_whatever_the_numbering() -> None:
    fabric = three_level_tree(8)
    place = np.random.default_rng(3).permutation(fabric.switches).astype(np.uint32)
    shuffled = fabric.replace(
        host_switch=place[fabric.host_switch],
        cable_from=place[fabric.cable_from],
        cable_to=place[fabric.cable_to],
    )
    x = _levels(shuffled).place[place, 0]
    for leaves in x[:32].reshape(8, 4):
        assert np.ptp(leaves) < _RIGHT / 8


def test_leaves_stand_in_the_order_of_their_names() -> None:
    fabric = fat_tree(11, 2, 2)
    names = [f"leaf {number}" for number in range(11, 0, -1)] + ["top 1", "top 2"]
    x = _levels(fabric.replace(switch_name=tuple(names))).place[:11, 0]
    assert np.all(np.diff(x) < 0)


def test_hosts_on_spines_are_counted_where_they_are() -> None:
    fabric = make("xgft:3;12,13,8;1,6,9")
    tops = np.flatnonzero(switch_levels(fabric) == 3)
    on, port = fabric.host_switch.copy(), fabric.host_port.copy()
    for index, host in enumerate(range(0, 1000, 100)):
        on[host], port[host] = tops[index % 2], 30 + index
    changed = fabric.replace(
        host_switch=on, host_port=port, switch_ports=np.full(fabric.switches, 64, dtype=np.uint16)
    )
    scene = bundled(changed, switch_groups(changed), _RIGHT)
    assert len(np.unique([box.y for box in scene.boxes])) == 3
    assert sum(label.text == "10 hosts" for label in scene.labels) == 2  # of the row and the group


def test_groups_of_many_switches_are_no_taller_than_a_page_holds() -> None:
    fabric = make("xgft:3;1,144,32;1,144,144")
    scene = bundled(fabric, switch_groups(fabric), _RIGHT)
    assert max(box.height for box in scene.boxes) < 6
    # Every switch stands within its frame, and on no other.
    for box in scene.boxes:
        x, y = scene.place[scene.box_of == box.group].T
        assert box.x < x.min() <= x.max() < box.x + box.width
        assert box.y < y.min() <= y.max() < box.y + box.height
    assert len(np.unique(np.round(scene.place, 6), axis=0)) == fabric.switches


def test_torus_is_a_grid_with_loose_ends() -> None:
    scene = without_levels(make("torus:5x6"), _RIGHT)
    x, y = (np.unique(np.round(column, 6)) for column in scene.place.T)
    assert (len(x), len(y)) == (5, 6)
    # Each of the 6 rows and 5 columns has one cable that leaves at an edge.
    assert sum(len(line) == 4 for line in scene.lines) == 11
    assert scene.ring_ends


def test_torus_with_dead_cables_is_still_a_grid() -> None:
    fabric = make("torus:5x6")
    degraded = of_cables(fabric, np.arange(fabric.cables) % 12 != 0)
    x, y = (np.unique(np.round(column, 6)) for column in without_levels(degraded, _RIGHT).place.T)
    assert (len(x), len(y)) == (5, 6)


def test_grid_is_found_by_cables_where_names_say_nothing() -> None:
    fabric = make("torus:5x6")
    place = np.random.default_rng(5).permutation(30).astype(np.uint32)
    shuffled = fabric.replace(
        switch_name=tuple(f"sw{number}" for number in range(30)),
        host_switch=place[fabric.host_switch],
        cable_from=place[fabric.cable_from],
        cable_to=place[fabric.cable_to],
    )
    scene = without_levels(shuffled, _RIGHT)
    columns = sorted(len(np.unique(np.round(column, 6))) for column in scene.place.T)
    assert columns == [5, 6]
    assert sum(len(line) == 4 for line in scene.lines) == 11


def test_dragonfly_is_a_circle_of_groups() -> None:
    fabric = make("dragonfly:3,6,3")
    scene = without_levels(fabric.replace(switch_name=("sw",) * fabric.switches), _RIGHT)
    centres = scene.place.reshape(19, 6, 2).mean(axis=1)
    middle = centres.mean(axis=0)
    radius = np.linalg.norm(centres - middle, axis=1)
    assert radius == pytest.approx(np.full(19, radius.mean()))
    spread = np.linalg.norm(scene.place.reshape(19, 6, 2) - centres[:, None], axis=2)
    assert spread.max() < 0.5 * np.linalg.norm(centres[0] - centres[1])


def test_parts_joined_by_few_cables_stand_apart() -> None:
    # Two full meshes of eight, joined by one cable.
    pairs = [(a, b) for part in (0, 8) for a in range(part, part + 8) for b in range(part, a)]
    pairs.append((0, 8))
    port = np.ones(16, dtype=int)
    cables = []
    for a, b in pairs:
        port[a] += 1
        port[b] += 1
        cables.append((a, port[a], b, port[b]))
    fabric = by_hand("two parts", [[f"h{n}"] for n in range(16)], cables)
    place = without_levels(fabric, _RIGHT).place
    one, other = place[:8].mean(axis=0), place[8:].mean(axis=0)
    widest = max(np.linalg.norm(place[:8] - one, axis=1).max(), 1e-9)
    assert np.linalg.norm(one - other) > 2 * widest


def test_labels_side_by_side_keep_apart() -> None:
    """The second would follow the first within a hundredth of an inch: 4 and 159 read as 4159."""
    width = text_size("159", 7.0)[0]
    close = [Label(0, 0, "159", size=7.0), Label(width + 0.01, 0, "159", size=7.0)]
    apart = [Label(0, 0, "159", size=7.0), Label(width + 0.05, 0, "159", size=7.0)]
    assert len(list(fitting_labels(close, []))) == 1
    assert len(list(fitting_labels(apart, []))) == 2


def test_ring_stands_on_a_circle_in_its_order() -> None:
    fabric = ring(9, 1)
    place = np.array([4, 0, 7, 2, 8, 1, 6, 3, 5], dtype=np.uint32)
    shuffled = fabric.replace(cable_from=place[fabric.cable_from], cable_to=place[fabric.cable_to])
    points = without_levels(shuffled, _RIGHT).place
    step = np.linalg.norm(points[shuffled.cable_from] - points[shuffled.cable_to], axis=1)
    # Every cable joins neighbours on the circle.
    assert step == pytest.approx(np.full(9, step.mean()), rel=0.02)
    longest = np.linalg.norm(points[:, None] - points[None], axis=2).max()
    assert longest > 2.5 * step.mean()
