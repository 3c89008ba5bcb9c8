from __future__ import annotations

import numpy as np
import pytest

from contend.fabric import make


@pytest.mark.parametrize(("p", "a", "h"), [(2, 4, 2), (1, 2, 1), (3, 3, 2), (1, 1, 3)])
def test_the_largest_has_one_cable_between_each_pair_of_groups(p, a, h, adjacency, distances):
    """g = a h + 1 groups, p a g hosts, diameter 3 (local, global, local)."""
    fabric = make(f"dragonfly:{p},{a},{h}")
    g = a * h + 1
    assert (fabric.hosts, fabric.switches) == (p * a * g, a * g)
    assert fabric.cables == g * a * (a - 1) // 2 + g * (g - 1) // 2
    between = adjacency(fabric).reshape(g, a, g, a).sum(axis=(1, 3))
    assert np.array_equal(between - np.diag(np.diag(between)), 1 - np.eye(g))
    assert set(np.diag(between).tolist()) == {a * (a - 1)}
    assert distances(fabric).max() == (3 if a > 1 else 1)
    assert set(fabric.switch_ports.tolist()) == {p + a - 1 + h}


def test_switches_of_a_group_are_all_joined(adjacency) -> None:
    links = adjacency(make("dragonfly:1,4,2")).reshape(9, 4, 9, 4)
    for group in range(9):
        assert np.array_equal(links[group, :, group], 1 - np.eye(4))


def test_fewer_groups_share_the_global_channels(adjacency) -> None:
    """4 x 2 channels for 2 other groups: 4 cables between each pair, h = 2 on every switch."""
    links = adjacency(make("dragonfly:2,4,2,3")).reshape(3, 4, 3, 4)
    between = links.sum(axis=(1, 3))
    assert between[0, 1] == between[0, 2] == between[1, 2] == 4
    for group in range(3):
        others = [other for other in range(3) if other != group]
        assert links[group][:, others].sum(axis=(1, 2)).tolist() == [2, 2, 2, 2]


def test_channels_left_over_stay_empty() -> None:
    """4 x 1 channels for 3 other groups: one cable between each pair, one channel empty."""
    fabric = make("dragonfly:1,4,1,4")
    assert fabric.cables == 4 * 6 + 6


def test_one_group_is_a_full_mesh() -> None:
    assert make("dragonfly:1,4,2,1").cables == 6
