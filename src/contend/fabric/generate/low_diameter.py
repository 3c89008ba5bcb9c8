"""Networks of low diameter: dragonflies, Slim Flies, and random regular ones (Jellyfish)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import UsageError
from contend.fabric.fabric import Fabric, NumberedNames, connected_parts
from contend.fabric.generate.plan import Draw, Indices, alike, ports_in_order, require


def dragonfly(hosts: int, switches: int, uplinks: int, groups: int | None = None) -> Fabric:
    """A dragonfly: groups of switches that are all joined, and global cables between the groups.

    A group's global channels are numbered switch by switch; channel c leads to the group that is
    number c mod (g - 1) among the others. So every pair of groups gets a h div (g - 1) cables; the
    largest, g = a h + 1, has one between each pair. What is left over stays empty.

    Ports: hosts, then the other switches of the group in order, then global channels.

    Args:
        hosts: p, on each switch.
        switches: a, in each group.
        uplinks: h, global channels of each switch.
        groups: g; a h + 1 when None.

    Source: Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology",
    ISCA 2008; the order of the global channels is the absolute arrangement of Hastings et al.,
    "Comparing global link arrangements for dragonfly networks", CLUSTER 2015.

    Raises:
        UsageError: when a group has too few channels to reach every other one.
    """
    channels = switches * uplinks
    groups = channels + 1 if groups is None else groups
    fits = groups <= channels + 1
    require(fits, "dragonfly", f"at most a h + 1 = {channels + 1} groups", groups)
    names = (
        f"group {group} switch {switch}"
        for group in range(1, groups + 1)
        for switch in range(1, switches + 1)
    )
    plan = alike("dragonfly", switches * groups, hosts, switches - 1 + uplinks, names)
    group, near, far = np.nonzero(
        np.broadcast_to(
            np.triu(np.ones((switches, switches), bool), 1), (groups, switches, switches)
        )
    )
    first = group * switches
    # A switch skips itself when it counts the others of its group.
    plan.add_cables(first + near, hosts + far, first + far, hosts + near + 1)
    if groups > 1:
        near, far = np.triu_indices(groups, 1)
        copies = np.arange(channels // (groups - 1))[:, None] * (groups - 1)
        near_channel, far_channel = copies + far - 1, copies + near
        base = hosts + switches
        plan.add_cables(
            near * switches + near_channel // uplinks,
            base + near_channel % uplinks,
            far * switches + far_channel // uplinks,
            base + far_channel % uplinks,
        )
    return plan.fabric("dragonfly")


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
    names = (
        f"switch {part},{x},{y}" for part in range(2) for x in range(order) for y in range(order)
    )
    plan = alike("slimfly", 2 * order * order, hosts, degree, names)
    factors = prime_power(order)
    if factors is None or delta == 2:
        expected = "q a prime power of the form 4w - 1, 4w or 4w + 1"
        raise UsageError(f"slimfly: expected {expected}, got {order}")
    near, far = _edges(galois_field(*factors), delta)
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


@dataclass(frozen=True)
class GaloisField:
    """The field with q = p^n elements, numbered 0 .. q - 1 by their base-p digits."""

    add: NDArray[np.int64]
    """Sums, shape [q, q]."""
    multiply: NDArray[np.int64]
    """Products, shape [q, q]."""
    power: NDArray[np.int64]
    """Powers of a primitive element, exponents 0 .. q - 2, shape [q - 1]."""

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


_ATTEMPTS = 200
# Cables tried as the partner of a swap.
_PARTNERS = 100


def random_regular(switches: int, degree: int, hosts: int, seed: int = 0) -> Fabric:
    """A random simple connected network in which every switch has the same number of cables.

    Ends are paired at random; a cable that joins a switch to itself or a pair twice swaps an end
    with a random other cable such that both are right; networks in several pieces are drawn again.
    Above half of all possible cables it is the absent ones that are drawn. A switch's cables follow
    its hosts, ordered by the switch they lead to.

    Args:
        switches: how many.
        degree: cables of each switch.
        hosts: on each switch.
        seed: of the random choices.

    Source: Singla, Hong, Popa, Godfrey, "Jellyfish: networking data centers randomly", NSDI 2012.

    Raises:
        UsageError: when no such network exists.
    """
    even = switches * degree % 2 == 0
    require(even, "random", "an even number of cable ends (switches x degree)", switches * degree)
    require(degree < switches, "random", f"a degree below the {switches} switches", degree)
    lonely = degree == 1 and switches > 2
    require(not lonely, "random", "a degree of at least 2 to connect the switches", degree)
    plan = alike("random", switches, hosts, degree, NumberedNames("switch", switches))
    near, far = _connected(switches, degree, Draw(seed))
    near_port, far_port = ports_in_order(near, far, hosts)
    plan.add_cables(near, near_port, far, far_port)
    return plan.fabric("random")


def _connected(switches: int, degree: int, draw: Draw) -> tuple[Indices, Indices]:
    """Both ends of every cable, near < far, ordered."""
    if degree == 2:
        return _ring(draw.order(switches))
    for _ in range(_ATTEMPTS):
        if degree > switches // 2:
            near, far = _complement(switches, *_simple(switches, switches - 1 - degree, draw))
        else:
            near, far = _simple(switches, degree, draw)
        parts = connected_parts(switches, near, far)
        if len(near) == switches * degree // 2 and not parts.any():
            return near, far
    raise UsageError(f"random: expected a connected network of degree {degree}, got none")


def _ring(order: Indices) -> tuple[Indices, Indices]:
    """Connected and of degree 2, that is one ring; pairing at random would rarely give one."""
    return _sorted(np.stack([order, np.roll(order, 1)], axis=1))


def _simple(switches: int, degree: int, draw: Draw) -> tuple[Indices, Indices]:
    """A random simple network of the degree; no cables when a wrong one found no partner."""
    ends = np.repeat(np.arange(switches), degree)[draw.order(switches * degree)].reshape(-1, 2)
    key = ends.min(axis=1) * switches + ends.max(axis=1)
    wrong = ends[:, 0] == ends[:, 1]
    repeated = np.ones(len(ends), dtype=bool)
    repeated[np.unique(key, return_index=True)[1]] = False
    wrong |= repeated
    joined = set(key[~wrong].tolist())

    def key_of(first: int, second: int) -> int:
        return min(first, second) * switches + max(first, second)

    for cable in np.flatnonzero(wrong).tolist():
        near, far = ends[cable].tolist()
        for other in draw.below(len(ends), _PARTNERS).tolist():
            other_near, other_far = ends[other].tolist()
            near_key, far_key = key_of(near, other_far), key_of(other_near, far)
            simple = near != other_far and other_near != far and near_key != far_key
            if simple and not wrong[other] and near_key not in joined and far_key not in joined:
                joined.remove(key_of(other_near, other_far))
                joined |= {near_key, far_key}
                ends[cable, 1], ends[other, 1] = other_far, far
                wrong[cable] = False
                break
        else:
            empty = np.empty(0, dtype=np.int64)
            return empty, empty
    return _sorted(ends)


def _complement(switches: int, near: Indices, far: Indices) -> tuple[Indices, Indices]:
    """The cables that are absent."""
    absent = np.triu(np.ones((switches, switches), dtype=bool), 1)
    absent[near, far] = False
    first, second = np.nonzero(absent)
    return first, second


def _sorted(ends: Indices) -> tuple[Indices, Indices]:
    ordered = np.sort(ends, axis=1)
    ordered = ordered[np.lexsort((ordered[:, 1], ordered[:, 0]))]
    return ordered[:, 0], ordered[:, 1]
