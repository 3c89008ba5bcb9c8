"""Finite fields of prime power order, as tables."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class GaloisField:
    """The field with q = p^n elements, numbered 0 .. q - 1 by their base-p digits.

    Attributes:
        add: sums, shape [q, q].
        multiply: products, shape [q, q].
        power: powers of a primitive element, exponents 0 .. q - 2, shape [q - 1].
    """

    add: NDArray[np.int64]
    multiply: NDArray[np.int64]
    power: NDArray[np.int64]

    @property
    def order(self) -> int:
        """Number of elements."""
        return len(self.add)


def prime_power(order: int) -> tuple[int, int] | None:
    """The prime p and exponent n with p^n = order, or None."""
    prime = next((p for p in range(2, order + 1) if order % p == 0), 0)
    exponent, rest = 0, order
    while prime and rest % prime == 0:
        rest //= prime
        exponent += 1
    return (prime, exponent) if prime and rest == 1 else None


def galois_field(prime: int, exponent: int) -> GaloisField:
    """The field of order prime^exponent.

    An element is a polynomial in x over the integers modulo p; the polynomial that reduces them is
    the first for which x is primitive, so that powers of x are all elements but 0. Every finite
    field has one (Lidl, Niederreiter, "Finite fields", 1997, theorem 2.8). Time O(q^2).
    """
    order = prime**exponent
    power = next(
        powers
        for low in product(range(prime), repeat=exponent)
        if len(powers := _powers_of_x(prime, low)) == order - 1
    )
    logarithm = np.zeros(order, dtype=np.int64)
    logarithm[power] = np.arange(order - 1)
    multiply = power[(logarithm[:, None] + logarithm) % (order - 1)]
    multiply[0, :] = 0
    multiply[:, 0] = 0
    weight = prime ** np.arange(exponent)
    digits = np.arange(order)[:, None] // weight % prime
    add = (digits[:, None, :] + digits) % prime @ weight
    return GaloisField(add=add, multiply=multiply, power=power)


def _powers_of_x(prime: int, low: tuple[int, ...]) -> NDArray[np.int64]:
    """1, x, x^2... until one returns, where x^n = low[0] + low[1] x + ...; empty if 0 is met."""
    one = (1,) + (0,) * (len(low) - 1)
    element, powers = one, []
    while any(element):
        powers.append(sum(digit * prime**i for i, digit in enumerate(element)))
        top = element[-1]
        shifted = (0, *element[:-1])
        element = tuple((s + top * c) % prime for s, c in zip(shifted, low, strict=True))
        if element == one:
            return np.array(powers, dtype=np.int64)
        if len(powers) >= prime ** len(low):
            break
    return np.empty(0, dtype=np.int64)
