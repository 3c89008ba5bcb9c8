from __future__ import annotations

import numpy as np
import pytest

from contend.fabric import make


@pytest.mark.parametrize("sizes", [(4, 4), (2, 3, 4), (5,)])
def test_lines_are_fully_joined(sizes: tuple[int, ...], adjacency, distances) -> None:
    """Diameter: the number of dimensions. Degree: sum of S - 1 (Ahn et al. 2009)."""
    fabric = make("hyperx:" + "x".join(map(str, sizes)) + ";2")
    switches = int(np.prod(sizes))
    degree = sum(size - 1 for size in sizes)
    assert (fabric.hosts, fabric.switches) == (2 * switches, switches)
    assert set(adjacency(fabric).sum(axis=0).tolist()) == {degree}
    assert set(fabric.switch_ports.tolist()) == {2 + degree}
    place = np.indices(sizes).reshape(len(sizes), -1)
    differing = (place[:, :, None] != place[:, None, :]).sum(axis=0)
    assert np.array_equal(adjacency(fabric), differing == 1)
    assert np.array_equal(distances(fabric), differing)


def test_links_of_each_dimension(adjacency) -> None:
    """Between (0, 0) and (1, 0) three cables, between (0, 0) and (0, 1) two."""
    links = adjacency(make("hyperx:2x3;1;3,2"))
    assert links[0].tolist() == [0, 2, 2, 3, 0, 0]
    assert make("hyperx:3x3;1;2").cables == 2 * make("hyperx:3x3;1").cables


def test_bisection() -> None:
    """Halving 4x4 across a dimension cuts (S / 2)^2 cables in each of 4 lines: 16."""
    fabric = make("hyperx:4x4")
    upper = np.arange(16) >= 8
    assert np.sum(upper[fabric.cable_from] != upper[fabric.cable_to]) == 16
