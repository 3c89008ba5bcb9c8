"""Fat trees: extended generalised ones, k-ary n-trees, and those built from one kind of switch."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from contend.fabric.fabric import Fabric
from contend.fabric.generate.plan import (
    Family,
    Indices,
    Parameters,
    Plan,
    check_size,
    require,
)
from contend.fabric.numbered_names import NumberedNames


def place_tree(
    plan: Plan,
    children: Sequence[int],
    parents: Sequence[int],
    links: Sequence[int],
    *,
    host_names: Sequence[str] | None = None,
    level_names: Sequence[str] | None = None,
    ports: Sequence[int] | None = None,
) -> list[Indices]:
    """Adds a parallel-port generalised fat tree to a plan.

    A node of level l (hosts are level 0) is named by digits x_1 .. x_h with x_i < parents[i] for
    i <= l and x_i < children[i] for i > l; nodes of neighbouring levels l - 1 and l are joined by
    links[l] cables when all their digits but x_l agree. Every switch's ports are numbered down
    first (child by child), then up (parent by parent), parallel cables next to each other.

    Args:
        plan: where it is added.
        children: m_1 .. m_h, children of a node of each level.
        parents: w_1 .. w_h, parents of a node of the level below; w_1 = 1.
        links: p_1 .. p_h, cables between a node and each of its parents; p_1 = 1.
        host_names: of all hosts; ``host 1``... by default.
        level_names: what switches of levels 1 .. h are called.
        ports: of the switches of levels 1 .. h; those in use by default.

    Returns:
        Numbers of the switches of every level, from level 1.

    Source: Öhring, Ibel, Das, Kumar, "On generalized fat trees", IPPS 1995; parallel links as in
    Zahavi, "D-Mod-K routing providing non-blocking traffic for shift permutations on real life
    fat trees", CCIT report 776, Technion 2010.
    """
    height = len(children)
    names = level_names or _level_names(height)
    used = _ports(children, parents, links)
    levels = []
    for level in range(1, height + 1):
        count = prod(children[level:]) * prod(parents[:level])
        width = used[level - 1] if ports is None else ports[level - 1]
        levels.append(plan.add_switches(NumberedNames(names[level - 1], count), width))
    host = np.arange(prod(children))
    plan.add_hosts(
        host_names or NumberedNames("host", len(host)),
        levels[0][host // children[0]],
        host % children[0] + 1,
    )
    for level in range(1, height):
        down = children[level - 1] * links[level - 1]
        siblings, planes, uplinks = children[level], prod(parents[:level]), parents[level]
        subtree, child, plane, parent, copy = np.ogrid[
            : prod(children[level + 1 :]), :siblings, :planes, :uplinks, : links[level]
        ]
        plan.add_cables(
            levels[level - 1][(subtree * siblings + child) * planes + plane],
            down + parent * links[level] + copy + 1,
            levels[level][(subtree * planes + plane) * uplinks + parent],
            child * links[level] + copy + 1,
        )
    return levels


def xgft(
    children: Sequence[int],
    parents: Sequence[int],
    links: Sequence[int] | None = None,
    family: str = "xgft",
) -> Fabric:
    """An extended generalised fat tree of h levels, above hosts, which are level 0.

    Level l has m_(l+1) .. m_h w_1 .. w_l switches. A switch's ports lead down first, child by
    child, then up, parent by parent, with parallel cables next to each other.

    Args:
        children: m_1 .. m_h, children of a node of each level.
        parents: w_1 .. w_h, parents of a node of the level below; w_1 = 1.
        links: p_1 .. p_h, cables between a node and each of its parents; p_1 = 1, and all are 1
            when None.
        family: what errors call it.

    Source: Öhring, Ibel, Das, Kumar, "On generalized fat trees", IPPS 1995; parallel links as in
    Zahavi, "D-Mod-K routing providing non-blocking traffic for shift permutations on real life
    fat trees", CCIT report 776, Technion 2010.

    Raises:
        UsageError: when hosts would have several parents or cables, or the tree is too large.
    """
    links = links or [1] * len(children)
    require(
        parents[0] == 1, family, "w1 = 1 (a host is attached to one switch)", f"w1 = {parents[0]}"
    )
    require(links[0] == 1, family, "p1 = 1 (a host has one cable)", f"p1 = {links[0]}")
    height = len(children)
    sizes = [prod(children[level:]) * prod(parents[:level]) for level in range(height + 1)]
    check_size(
        family,
        hosts=sizes[0],
        switches=sum(sizes[1:]),
        cables=sum(sizes[i] * parents[i] * links[i] for i in range(1, height)),
        ports=max(_ports(children, parents, links)),
    )
    plan = Plan()
    place_tree(plan, children, parents, links)
    return plan.fabric(family)


def kary(arity: int, levels: int) -> Fabric:
    """A k-ary n-tree: k^n hosts under n levels of k^(n-1) switches with k ports down and k up.

    Source: Petrini, Vanneschi, "k-ary n-trees: high performance networks for massively parallel
    architectures", IPPS 1997.
    """
    require(levels <= 20, "kary", "at most 20 levels", levels)
    return xgft([arity] * levels, [1] + [arity] * (levels - 1), family="kary")


def _ports(children: Sequence[int], parents: Sequence[int], links: Sequence[int]) -> list[int]:
    """Ports in use on the switches of each level."""
    up = [parents[i] * links[i] for i in range(1, len(children))] + [0]
    return [children[i] * links[i] + up[i] for i in range(len(children))]


def _level_names(height: int) -> list[str]:
    if height <= 3:
        return [["leaf"], ["leaf", "top"], ["leaf", "middle", "top"]][height - 1]
    return ["leaf", *(f"level {level} switch" for level in range(2, height)), "top"]


def _build_xgft(parameters: Parameters) -> Fabric:
    parameters.expect_groups(3, 4)
    (height,) = parameters.positive(0, 1)
    if height > 20:
        raise parameters.wrong(f"{height} levels (at most 20)")
    children, parents, *links = (
        parameters.positive(group, height) for group in range(1, len(parameters.groups))
    )
    return xgft(children, parents, links[0] if links else None)


def _build_kary(parameters: Parameters) -> Fabric:
    parameters.expect_groups(1, 1)
    return kary(*parameters.positive(0, 2))


def fattree2(radix: int, down: int, up: int, links: int = 1) -> Fabric:
    """Leaves with `down` hosts and `up` uplinks below switches that use all their ports downwards.

    There are radix / links leaves and up / links top switches; `links` cables join each pair.

    Raises:
        UsageError: when the numbers do not fit the switches' ports.
    """
    _check("fattree2", radix, down, up, links)
    return xgft([down, radix // links], [1, up // links], [1, links], "fattree2")


def fattree3(radix: int, down: int, up: int, links: int = 1) -> Fabric:
    """The fat tree of three levels: pods of leaves and middle switches below top switches.

    Middle switches have half their ports down and half up, top switches all ports down; a pod has
    radix / 2 links leaves, there are radix / links pods. With down = up = radix / 2 and one link
    it has radix^3 / 4 hosts.

    Source: Al-Fares, Loukissas, Vahdat, "A scalable, commodity data center network architecture",
    SIGCOMM 2008.

    Raises:
        UsageError: when the numbers do not fit the switches' ports.
    """
    _check("fattree3", radix, down, up, links)
    half = radix // 2
    fits = radix % 2 == 0 and half % links == 0
    require(fits, "fattree3", "a radix that is a multiple of twice the links", radix)
    children = [down, half // links, radix // links]
    parents = [1, up // links, half // links]
    return xgft(children, parents, [1, links, links], "fattree3")


def _check(what: str, radix: int, down: int, up: int, links: int) -> None:
    fits = down + up <= radix
    require(fits, what, f"at most {radix} ports on a leaf", f"{down} down and {up} up")
    fits = radix % links == 0 and up % links == 0
    require(fits, what, f"links that divide {radix} ports and {up} uplinks", links)


def _numbers(parameters: Parameters) -> tuple[int, int, int, int]:
    """Radix, down, up, links; a leaf has as many uplinks as hosts when nothing else is said."""
    parameters.expect_groups(1, 3)
    (radix,) = parameters.positive(0, 1)
    if len(parameters.groups) > 1:
        down, up = parameters.positive(1, 2)
    elif radix % 2:
        raise parameters.wrong(f"an odd radix, {radix}, without down,up")
    else:
        down = up = radix // 2
    return radix, down, up, parameters.optional(2, 1)


FAMILIES = (
    Family(
        "xgft",
        "xgft:h;m1,..,mh;w1,..,wh[;p1,..,ph]",
        "extended generalised fat tree: children, parents and parallel cables of every level",
        "xgft:2;18,36;1,18",
        _build_xgft,
    ),
    Family("kary", "kary:k,n", "k-ary n-tree", "kary:4,3", _build_kary),
    Family(
        "fattree2",
        "fattree2:radix[;down,up][;links]",
        "fat tree of two levels from switches of one radix",
        "fattree2:8",
        lambda parameters: fattree2(*_numbers(parameters)),
    ),
    Family(
        "fattree3",
        "fattree3:radix[;down,up][;links]",
        "fat tree of three levels from switches of one radix",
        "fattree3:4",
        lambda parameters: fattree3(*_numbers(parameters)),
    ),
)
