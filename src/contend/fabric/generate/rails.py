"""Rail-optimised trees, with or without core switches, and networks of rails alone."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True)
class Cores:
    """What joins the rails where each has spines of its own.

    Attributes:
        switches: core switches; 0 for a network of rails alone.
        groups: of core switches; each joins an equal part of every rail's spines.
        blocks: of units; each has spines of its own.
        links: cables between each spine and each core of its group.
    """

    switches: int
    groups: int = 1
    blocks: int = 1
    links: int = 1


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


def _build_rails(parameters: Parameters) -> Fabric:
    parameters.expect_groups(1, 3)
    units, servers, rails, spines = parameters.integers(0, 4)
    if 0 in (units, servers, rails):
        raise parameters.wrong(f'0 in "{parameters.groups[0]}"')
    groups = len(parameters.groups)
    links = [*(parameters.positive(1, 1, groups - 1) if groups > 1 else []), 1, 1]
    if groups < 3:
        return rail_optimised(units, servers, rails, spines, links[0])
    switches, *more = parameters.integers(2, 1, 3)
    if 0 in more:
        raise parameters.wrong(f'0 in "{parameters.groups[2]}"')
    groups, blocks = [*more, 1, 1][:2]
    cores = Cores(switches, groups, blocks, links[1])
    return rail_optimised(units, servers, rails, spines, links[0], cores)


RAILS = Family(
    "rails",
    "rails:units,servers,rails,spines[;links[,up][;cores[,groups[,blocks]]]]",
    "rail-optimised fat tree: adapter r of every server of a unit on the unit's leaf r; rails with "
    "spines of their own and core switches above, or with 0 cores rails alone",
    "rails:2,4,2,4",
    _build_rails,
)
