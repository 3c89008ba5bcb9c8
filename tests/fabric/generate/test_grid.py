from __future__ import annotations

import numpy as np
import pytest

from contend.fabric import make


@pytest.mark.parametrize("sizes", [(5,), (4, 4, 4), (3, 5), (2, 3, 4), (1, 4)])
def test_tori(sizes: tuple[int, ...], distances) -> None:
    """Diameter sum of k div 2; N cables per dimension, N / 2 where k = 2, none where k = 1."""
    fabric = make("torus:" + "x".join(map(str, sizes)))
    switches = int(np.prod(sizes))
    assert fabric.hosts == fabric.switches == switches
    share = {1: 0.0, 2: 0.5}
    assert fabric.cables == sum(share.get(size, 1.0) * switches for size in sizes)
    assert distances(fabric).max() == sum(size // 2 for size in sizes)


@pytest.mark.parametrize("sizes", [(5,), (4, 4), (2, 3, 4)])
def test_meshes(sizes: tuple[int, ...], distances) -> None:
    """Diameter sum of (k - 1); (k - 1) N / k cables per dimension."""
    fabric = make("mesh:" + "x".join(map(str, sizes)) + ";2")
    switches = int(np.prod(sizes))
    assert (fabric.hosts, fabric.switches) == (2 * switches, switches)
    assert fabric.cables == sum((size - 1) * switches // size for size in sizes)
    assert distances(fabric).max() == sum(size - 1 for size in sizes)


def test_neighbours_differ_by_one_in_one_coordinate() -> None:
    """Port 1 + 2 d + 1 leads up dimension d, 1 + 2 d + 2 comes from below, modulo the size."""
    sizes = (3, 4)
    fabric = make("torus:3x4")
    columns = (fabric.cable_from, fabric.cable_from_port, fabric.cable_to, fabric.cable_to_port)
    for near, near_port, far, far_port in zip(*(c.tolist() for c in columns), strict=True):
        here = [int(x) for x in fabric.switch_name[near].split()[1].split(",")]
        dimension = (near_port - 2) // 2
        here[dimension] = (here[dimension] + 1) % sizes[dimension]
        assert fabric.switch_name[far] == f"switch {here[0]},{here[1]}"
        assert (near_port, far_port) == (2 + 2 * dimension, 3 + 2 * dimension)


def test_bisection_of_the_torus() -> None:
    """A k-ary n-cube is halved by cutting 2 k^(n-1) cables: 2 x 16 for 4x4x4."""
    fabric = make("torus:4x4x4")
    upper = np.arange(64) >= 32
    assert np.sum(upper[fabric.cable_from] != upper[fabric.cable_to]) == 32


def test_rings(distances) -> None:
    fabric = make("ring:7;3")
    assert (fabric.hosts, fabric.switches, fabric.cables) == (21, 7, 7)
    assert distances(fabric).max() == 3
    assert make("ring:2").cables == 1
    assert make("ring:1").cables == 0
