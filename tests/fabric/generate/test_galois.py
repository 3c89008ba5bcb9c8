from __future__ import annotations

import numpy as np
import pytest

from contend.fabric.generate.galois import galois_field, prime_power


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
