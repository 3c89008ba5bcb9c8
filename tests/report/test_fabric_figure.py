"""Figures of fabrics: where switches stand, and what colours say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import LineCollection

from contend.fabric import Fabric
from contend.fabric.fabric import build
from contend.report import fabric_figure, save_figure
from contend.report.fabric.layout import place_switches, without_idle
from contend.routes import all_to_all_load
from small_fabrics import (
    crossbar,
    fat_tree,
    ring,
    shortest_path_tables,
    three_level_tree,
    torus,
)


def test_tree_stands_in_levels() -> None:
    layout = place_switches(three_level_tree(4))
    assert layout.height == (0, 1, 2)
    assert layout.y.tolist() == [0] * 8 + [1] * 8 + [2] * 4


def test_pods_stand_together_over_their_leaves() -> None:
    # 8 pods of 4 leaves and 4 middle switches: the same eighth of the width on both levels.
    layout = place_switches(three_level_tree(8))
    pod = np.arange(32) // 4
    for level in (layout.x[:32], layout.x[32:64]):
        assert np.all(level > pod / 8)
        assert np.all(level < (pod + 1) / 8)


def test_pods_are_found_whatever_the_numbering() -> None:
    fabric = three_level_tree(8)
    place = np.random.default_rng(3).permutation(fabric.switches).astype(np.uint32)
    shuffled = fabric.replace(
        host_switch=place[fabric.host_switch],
        cable_from=place[fabric.cable_from],
        cable_to=place[fabric.cable_to],
    )
    x = place_switches(shuffled).x[place]
    for leaves in x[:32].reshape(8, 4):
        assert np.ptp(leaves) < 1 / 8


def test_ring_stands_on_a_circle_in_its_order() -> None:
    fabric = ring(9, 1)
    place = np.array([4, 0, 7, 2, 8, 1, 6, 3, 5], dtype=np.uint32)
    shuffled = fabric.replace(cable_from=place[fabric.cable_from], cable_to=place[fabric.cable_to])
    layout = place_switches(shuffled)
    assert not layout.is_tree
    points = np.stack([layout.x, layout.y], axis=1)
    step = np.linalg.norm(points[shuffled.cable_from] - points[shuffled.cable_to], axis=1)
    # Every cable joins neighbours on the circle: a chord of 1/9 turn.
    assert step == pytest.approx(np.full(9, 2 * np.sin(np.pi / 9)))


@pytest.mark.parametrize(
    "fabric",
    [
        crossbar(1),
        crossbar(40),
        fat_tree(3, 4, 2),
        fat_tree(3, 40, 2, parallel=3),
        ring(3, 1),
        torus((9, 9), 2),
        three_level_tree(12),
    ],
    ids=lambda fabric: f"{fabric.name} of {fabric.hosts}",
)
@pytest.mark.parametrize("loaded", [False, True])
def test_every_fabric_can_be_drawn(fabric: Fabric, loaded: bool, tmp_path: Path) -> None:
    load = None
    if loaded:
        load = all_to_all_load(fabric.replace(routes=shortest_path_tables(fabric)))
    for suffix in (".svg", ".png"):
        path = tmp_path / f"fabric{suffix}"
        save_figure(fabric_figure(fabric, load), path)
        assert path.stat().st_size > 1000


def test_busiest_line_is_drawn_last_in_the_darkest_colour() -> None:
    fabric = fat_tree(4, 2, 2)
    load = np.zeros(2 * fabric.cables, dtype=np.uint64)
    load[3], load[8] = 10, 40  # Cable 1 down, cable 4 up.
    figure = fabric_figure(fabric, load)
    lines = next(c for c in figure.axes[0].collections if isinstance(c, LineCollection))
    colours = lines.get_colors()
    brightness = colours[:, :3].sum(axis=1)
    assert brightness[-1] < brightness[-2] < brightness[0]
    # Cable 4 joins leaf 2 and the first top switch.
    layout = place_switches(fabric)
    ends = lines.get_segments()[-1]
    assert sorted(ends[:, 0].tolist()) == pytest.approx(sorted([layout.x[2], layout.x[4]]))
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["no route"]


def test_idle_switches_are_left_out_unless_used() -> None:
    # Switch 0 of two hosts, and switch 1 behind it that leads nowhere.
    fabric = build(
        "stub",
        host_name=["a", "b"],
        host_switch=np.array([0, 0]),
        host_port=np.array([1, 2]),
        switch_name=["leaf", "stub"],
        switch_ports=3,
        cables=np.array([[0, 3, 1, 1]]),
    )
    load = np.zeros(2, dtype=np.uint64)
    drawn, kept = without_idle(fabric, load)
    assert drawn.switch_name == ("leaf",)
    assert kept is not None
    assert len(kept) == 0
    texts = fabric_figure(fabric).legends[0].get_texts()
    assert [text.get_text() for text in texts] == ["1 idle switch not drawn"]
    load[1] = 1
    assert without_idle(fabric, load)[0].switches == 2


def test_title_says_the_finding() -> None:
    fabric = fat_tree(4, 2, 2)
    load = np.ones(2 * fabric.cables, dtype=np.uint64)
    load[0] = 17  # The mean is (15 + 17) / 16 = 2.
    title = fabric_figure(fabric, load).get_suptitle()
    assert title.replace("\n", " ") == (
        "fat tree: the busiest channel of an all-to-all carries 8.5 times the mean"
    )
    assert "8 hosts, 6 switches" in fabric_figure(fabric).get_suptitle()
