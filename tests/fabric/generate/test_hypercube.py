from __future__ import annotations

import numpy as np
import pytest

from contend.fabric import make


@pytest.mark.parametrize("d", [1, 3, 5])
def test_cubes(d: int, distances) -> None:
    """2^d switches, d 2^(d-1) cables; the distance is the number of bits that differ."""
    fabric = make(f"hypercube:{d};2")
    assert (fabric.hosts, fabric.switches, fabric.cables) == (2 ** (d + 1), 2**d, d * 2 ** (d - 1))
    expected = np.array([[(a ^ b).bit_count() for b in range(2**d)] for a in range(2**d)])
    assert np.array_equal(distances(fabric), expected)


def test_a_port_is_a_bit() -> None:
    fabric = make("hypercube:3")
    differs = fabric.cable_from ^ fabric.cable_to
    assert np.array_equal(differs, 1 << (fabric.cable_from_port - 2))
    assert np.array_equal(fabric.cable_from_port, fabric.cable_to_port)
    assert fabric.switch_name[3] == "switch 011"
