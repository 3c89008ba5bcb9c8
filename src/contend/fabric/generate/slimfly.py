"""Slim Flies: the graphs of McKay, Miller and Širáň, and the finite fields they are made of."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from contend.errors import UsageError
from contend.fabric.fabric import Fabric
from contend.fabric.generate.plan import (
    Family,
    Indices,
    Parameters,
    Plan,
    add_hosts_per_switch,
    check_size,
    ports_in_order,
)


def slimfly(order: int, hosts: int | None = None) -> Fabric:
    """A Slim Fly: 2 q^2 switches of degree (3 q - delta) / 2 and diameter 2, q = 4 w + delta.

    Switches (0, x, y) and (0, x, y') are joined when y - y' is in the generator set X, (1, m, c)
    and (1, m, c') when c - c' is in X', and (0, x, y) to (1, m, c) when y = m x + c, all in the
    field with q elements. A switch's cables follow its hosts, ordered by the switch they lead to.

    Args:
        order: q, a prime power with delta in {-1, 0, 1}.
        hosts: p, on each switch; half the degree, rounded up, when None.

    Source: Besta, Hoefler, "Slim Fly: a cost effective low-diameter network topology", SC 2014;
    generator sets: Hafner, "Geometric realisation of the graphs of McKay-Miller-Širáň", 2004.

    Raises:
        UsageError: when there is no such graph.
    """
    delta = (order + 1) % 4 - 1
    degree = (3 * order - delta) // 2
    hosts = (degree + 1) // 2 if hosts is None else hosts
    switches = 2 * order * order
    check_size(
        "slimfly",
        hosts=switches * hosts,
        switches=switches,
        cables=switches * degree // 2,
        ports=hosts + degree,
    )
    factors = prime_power(order)
    if factors is None or delta == 2:
        expected = "q a prime power of the form 4w - 1, 4w or 4w + 1"
        raise UsageError(f"slimfly: expected {expected}, got {order}")
    near, far = _edges(galois_field(*factors), delta)
    plan = Plan()
    names = [
        f"switch {part},{x},{y}" for part in range(2) for x in range(order) for y in range(order)
    ]
    add_hosts_per_switch(plan, plan.add_switches(names, hosts + degree), hosts)
    near_port, far_port = ports_in_order(near, far, hosts)
    plan.add_cables(near, near_port, far, far_port)
    return plan.fabric("slimfly")


def _edges(field: GaloisField, delta: int) -> tuple[Indices, Indices]:
    """Both ends of every cable; switch (part, x, y) has the number (part q + x) q + y."""
    q = field.order
    ends = []
    for part, exponents in enumerate(_generator_exponents(q, delta)):
        column, y, generator = np.meshgrid(
            np.arange(q), np.arange(q), field.power[exponents % (q - 1)], indexing="ij"
        )
        first = (part * q + column) * q
        ends.append((first + y, first + field.add[y, generator]))
    x, m, c = np.meshgrid(np.arange(q), np.arange(q), np.arange(q), indexing="ij")
    ends.append((x * q + field.add[field.multiply[m, x], c], (q + m) * q + c))
    near = np.concatenate([a.ravel() for a, _ in ends])
    far = np.concatenate([b.ravel() for _, b in ends])
    # The generator sets hold -g with every g, so each edge within a part comes twice.
    pairs = np.unique(np.stack([np.minimum(near, far), np.maximum(near, far)], axis=1), axis=0)
    return pairs[:, 0], pairs[:, 1]


def _generator_exponents(q: int, delta: int) -> tuple[Indices, Indices]:
    """Exponents of the primitive element in X and X'."""
    if delta >= 0:
        even = np.arange(0, q - 1, 2)
        return even, even + 1
    w = (q + 1) // 4
    low, high = np.arange(0, 2 * w - 1, 2), np.arange(2 * w - 1, 4 * w - 2, 2)
    return np.concatenate([low, high]), np.concatenate([low + 1, high + 1])


def _build(parameters: Parameters) -> Fabric:
    parameters.expect_groups(1, 2)
    (order,) = parameters.positive(0, 1)
    hosts = parameters.positive(1, 1)[0] if len(parameters.groups) > 1 else None
    return slimfly(order, hosts)


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
    unity = (1,) + (0,) * (len(low) - 1)
    element, powers = unity, []
    while any(element):
        powers.append(sum(digit * prime**i for i, digit in enumerate(element)))
        top = element[-1]
        shifted = (0, *element[:-1])
        element = tuple((s + top * c) % prime for s, c in zip(shifted, low, strict=True))
        if element == unity:
            return np.array(powers, dtype=np.int64)
        if len(powers) >= prime ** len(low):
            break
    return np.empty(0, dtype=np.int64)


FAMILIES = (
    Family(
        "slimfly",
        "slimfly:q[;p]",
        "Slim Fly of order q (a prime power) with p hosts a switch",
        "slimfly:5",
        _build,
    ),
)
