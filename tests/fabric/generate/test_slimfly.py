from __future__ import annotations

import numpy as np
import pytest

from contend.fabric import make


@pytest.mark.parametrize(
    ("q", "delta"), [(3, -1), (4, 0), (5, 1), (7, -1), (8, 0), (9, 1), (11, -1), (13, 1)]
)
def test_degree_and_diameter(q: int, delta: int, adjacency, distances) -> None:
    """2 q^2 switches, degree (3 q - delta) / 2, diameter 2, half the degree in hosts each."""
    fabric = make(f"slimfly:{q}")
    degree = (3 * q - delta) // 2
    assert fabric.switches == 2 * q * q
    assert fabric.hosts == fabric.switches * ((degree + 1) // 2)
    links = adjacency(fabric)
    assert links.max() == 1
    assert set(links.sum(axis=0).tolist()) == {degree}
    assert distances(fabric).max() == 2


def test_order_5_is_the_hoffman_singleton_graph(adjacency) -> None:
    """50 switches of degree 7, and A^2 + A - 6 I = J: no triangles, no squares, diameter 2."""
    fabric = make("slimfly:5")
    links = adjacency(fabric)
    assert (fabric.switches, fabric.hosts, fabric.cables) == (50, 200, 175)
    assert np.array_equal(links @ links + links - 6 * np.eye(50), np.ones((50, 50)))


def test_hosts_per_switch() -> None:
    assert make("slimfly:5;3").hosts == 150
