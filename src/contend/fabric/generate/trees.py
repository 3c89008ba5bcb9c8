"""Fat trees: generalised ones, k-ary n-trees, those from one kind of switch, and of rails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from contend.fabric.fabric import Fabric, NumberedNames
from contend.fabric.generate.plan import (
    Indices,
    Plan,
    check_size,
    require,
)


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


@dataclass(frozen=True)
class Cores:
    """What joins the rails where each has spines of its own."""

    switches: int
    """Number of core switches; 0 for a network of rails alone."""
    groups: int = 1
    """Number of groups of core switches; each joins an equal part of every rail's spines."""
    blocks: int = 1
    """Number of blocks of units; each has spines of its own."""
    links: int = 1
    """Number of cables between each spine and each core of its group."""


def rail_optimised(
    units: int, servers: int, rails: int, spines: int, links: int = 1, cores: Cores | None = None
) -> Fabric:
    """Units of servers whose adapters of the same rail share a leaf, all leaves below the spines.

    A host is one adapter: ``server 3 rail 2`` is on port 3 of the unit's leaf for rail 2. Hosts are
    numbered server by server; those of a server have its system GUID. Leaf ports: hosts first,
    then spine by spine, parallel cables next to each other. A single unit needs no spines.

    With `cores` every rail has an equal part of the spines for itself, or of those of each block of
    units, and spines of different rails meet in core switches alone. Core switches come in groups:
    with 2 groups the first half of each rail's spines is below the first, the rest below the
    second. With 0 core switches only servers join the rails: a rail-only network.

    Args:
        units: scalable units.
        servers: in each unit.
        rails: adapters of each server, leaves of each unit.
        spines: switches above the leaves.
        links: cables between each leaf and each of its spines.
        cores: core switches, groups of them, blocks of units, and `up`, the cables between each
            spine and each of its core switches.

    Source: NVIDIA, "DGX SuperPOD reference architecture", compute fabric; Wang, Ghobadi, Shakeri,
    Zhang, Hasani, "Rail-only: a low-cost high-performance network for training LLMs with trillion
    parameters", 2023, for networks without core switches.
    """
    split = rails * (cores.blocks if cores else 1)
    groups = cores.groups if cores else 1
    own = spines // split if cores else spines
    what = "rails"
    require(spines > 0 or units == 1, what, "spines, as a leaf joins one unit only", spines)
    if cores is not None:
        parts = f"{split} equal parts of the spines"
        parts += f", each in {groups} equal groups" if groups > 1 else ""
        require(own * split == spines and own % groups == 0, what, parts, f"{spines} spines")
        require(units % cores.blocks == 0, what, f"{cores.blocks} equal blocks", f"{units} units")
        even = cores.switches % groups == 0
        require(even, what, f"{groups} equal groups", f"{cores.switches} core switches")
        require(spines > 0 or not cores.switches, what, "spines below core switches", spines)
    above = cores.switches // groups if cores else 0
    joined = units if cores is None else units // cores.blocks
    leaves, hosts = units * rails, units * servers * rails
    below = joined if cores else leaves
    to_cores = above * (cores.links if cores else 1)
    spine_ports = below * links + to_cores
    core_ports = split * own // groups * cores.links if cores else 0
    check_size(
        what,
        hosts=hosts,
        switches=leaves + spines + (cores.switches if cores else 0),
        cables=leaves * own * links + spines * to_cores,
        ports=max(servers + own * links, spine_ports, core_ports),
    )
    plan = Plan()
    names = [f"unit {u} leaf {r}" for u in range(1, units + 1) for r in range(1, rails + 1)]
    leaf = plan.add_switches(names, servers + own * links)
    if cores is None:
        spine = plan.add_switches(NumberedNames("spine", spines), spine_ports).reshape(1, 1, own)
    else:
        each = [
            f"rail {rail} spine {block * own + number}"
            for block in range(cores.blocks)
            for rail in range(1, rails + 1)
            for number in range(1, own + 1)
        ]
        spine = plan.add_switches(each, spine_ports).reshape(cores.blocks, rails, own)
    server, rail = np.divmod(np.arange(hosts), rails)
    host_names = [
        f"server {s} rail {r}" for s in range(1, units * servers + 1) for r in range(1, rails + 1)
    ]
    plan.add_hosts(host_names, leaf[server // servers * rails + rail], server % servers + 1)
    _join_leaves(plan, leaf.reshape(units, rails), spine, servers, links)
    if cores is not None and cores.switches:
        core = plan.add_switches(NumberedNames("core", cores.switches), core_ports)
        _join_cores(plan, spine, core.reshape(groups, above), below * links, cores.links)
    fabric = plan.fabric("rails")
    return fabric.replace(host_system_guid=fabric.host_guid[server * rails])


def _join_leaves(plan: Plan, leaf: Indices, spine: Indices, servers: int, links: int) -> None:
    """Cables between leaves [units, rails] and spines [blocks, rails, own], or [1, 1, own]."""
    blocks, of_rails, own = spine.shape
    units, rails = leaf.shape
    unit, rail, at, copy = np.ogrid[:units, :rails, :own, :links]
    in_block = unit % (units // blocks)
    place = in_block if of_rails > 1 or blocks > 1 else unit * rails + rail
    plan.add_cables(
        leaf[unit, rail],
        servers + at * links + copy + 1,
        spine[unit // (units // blocks), rail % of_rails, at],
        place * links + copy + 1,
    )


def _join_cores(plan: Plan, spine: Indices, core: Indices, down: int, links: int) -> None:
    """Cables between spines [blocks, rails, own] and core switches [groups, of each]."""
    blocks, rails, own = spine.shape
    groups, each = core.shape
    share = own // groups
    block, rail, at, up, copy = np.ogrid[:blocks, :rails, :own, :each, :links]
    place = (block * rails + rail) * share + at % share
    plan.add_cables(
        spine[block, rail, at],
        down + up * links + copy + 1,
        core[at // share, up],
        place * links + copy + 1,
    )
