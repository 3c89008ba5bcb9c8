"""Random regular networks (Jellyfish)."""

from __future__ import annotations

import numpy as np

from contend.errors import UsageError
from contend.fabric.fabric import Fabric, connected_parts
from contend.fabric.generate.plan import (
    Draw,
    Family,
    Indices,
    Parameters,
    Plan,
    add_hosts_per_switch,
    check_size,
    ports_in_order,
    require,
)
from contend.fabric.numbered_names import NumberedNames

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
    cables = switches * degree // 2
    check_size(
        "random", hosts=switches * hosts, switches=switches, cables=cables, ports=hosts + degree
    )
    near, far = _connected(switches, degree, Draw(seed))
    plan = Plan()
    add_hosts_per_switch(
        plan, plan.add_switches(NumberedNames("switch", switches), hosts + degree), hosts
    )
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


def _build(parameters: Parameters) -> Fabric:
    parameters.expect_groups(1, 1)
    switches, degree, hosts, *seed = parameters.integers(0, 3, 4)
    if 0 in (switches, degree, hosts):
        raise parameters.wrong(f'0 in "{parameters.text}"')
    return random_regular(switches, degree, hosts, *seed)


FAMILIES = (
    Family(
        "random",
        "random:switches,degree,hosts[,seed]",
        "random regular network (Jellyfish), hosts counted per switch",
        "random:20,4,2",
        _build,
    ),
)
