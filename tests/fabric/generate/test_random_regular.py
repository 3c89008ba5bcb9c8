from __future__ import annotations

import numpy as np
import pytest

from contend.fabric import make


@pytest.mark.parametrize(
    ("switches", "degree"), [(2, 1), (7, 2), (20, 4), (21, 6), (30, 29), (30, 27), (16, 8)]
)
def test_simple_regular_connected(switches: int, degree: int, adjacency, distances) -> None:
    fabric = make(f"random:{switches},{degree},3")
    links = adjacency(fabric)
    assert (fabric.hosts, fabric.switches) == (3 * switches, switches)
    assert fabric.cables == switches * degree // 2
    assert links.max() == 1
    assert np.trace(links) == 0
    assert set(links.sum(axis=0).tolist()) == {degree}
    assert np.isfinite(distances(fabric)).all()


def test_the_seed_decides(adjacency) -> None:
    one, again, other = (adjacency(make(f"random:30,4,1,{s}")) for s in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert np.array_equal(adjacency(make("random:30,4,1")), adjacency(make("random:30,4,1,0")))


def test_the_draw_is_fixed_for_all_time() -> None:
    """Another result would change every figure that was made with this seed."""
    fabric = make("random:6,3,1")
    pairs = [f"{a}{b}" for a, b in zip(fabric.cable_from, fabric.cable_to, strict=True)]
    assert pairs == ["02", "03", "05", "13", "14", "15", "23", "24", "45"]


def test_no_pair_is_favoured(adjacency) -> None:
    """Over many seeds each of the 45 pairs of 10 switches is joined in 4 / 9 of the networks.

    400 networks: the standard deviation of a share is below 0.025.
    """
    share = sum(adjacency(make(f"random:10,4,1,{seed}")) for seed in range(400)) / 400
    pairs = share[np.triu_indices(10, 1)]
    assert np.abs(pairs - 4 / 9).max() < 5 * 0.025
