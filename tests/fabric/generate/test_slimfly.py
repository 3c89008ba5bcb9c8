from __future__ import annotations

import numpy as np
import pytest

from contend.fabric import make
from contend.fabric.generate.low_diameter import galois_field, prime_power


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


@pytest.mark.parametrize(
    ("order", "factors"),
    [(1, None), (2, (2, 1)), (6, None), (8, (2, 3)), (9, (3, 2)), (12, None), (121, (11, 2))],
)
def test_prime_powers(order: int, factors: tuple[int, int] | None) -> None:
    assert prime_power(order) == factors


@pytest.mark.parametrize(("p", "n"), [(2, 1), (5, 1), (13, 1), (2, 2), (2, 3), (3, 2), (5, 2)])
def test_it_is_a_field(p: int, n: int) -> None:
    """Addition and multiplication are commutative groups, and one distributes over the other."""
    field = galois_field(p, n)
    q = p**n
    everything = np.arange(q)
    for table, members in ((field.add, everything), (field.multiply, everything[1:])):
        square = table[np.ix_(members, members)]
        assert np.array_equal(square, square.T)
        assert np.array_equal(np.sort(square, axis=1), np.broadcast_to(members, square.shape))
    a, b, c = np.ix_(everything, everything, everything)
    add, times = field.add, field.multiply
    assert np.array_equal(add[add[a, b], c], add[a, add[b, c]])
    assert np.array_equal(times[times[a, b], c], times[a, times[b, c]])
    assert np.array_equal(times[a, add[b, c]], add[times[a, b], times[a, c]])
    assert np.array_equal(add[0], everything)
    assert np.array_equal(times[1], everything)
    assert np.array_equal(np.sort(field.power), everything[1:])
    assert np.array_equal(times[field.power[:-1], field.power[1 % (q - 1)]], field.power[1:])
