"""Rail-optimised fat trees: every adapter of a server on a leaf of its own."""

from __future__ import annotations

import numpy as np

from contend.fabric.fabric import Fabric
from contend.fabric.generate.plan import Family, Parameters, Plan, check_size, numbered


def rail_optimised(units: int, servers: int, rails: int, spines: int, links: int = 1) -> Fabric:
    """Units of servers whose adapters of the same rail share a leaf, all leaves below the spines.

    A host is one adapter: ``server 3 rail 2`` is on port 3 of the unit's leaf for rail 2. Hosts are
    numbered server by server; those of a server have its system GUID. Leaf ports: hosts first,
    then spine by spine, parallel cables next to each other.

    Args:
        units: scalable units.
        servers: in each unit.
        rails: adapters of each server, leaves of each unit.
        spines: switches above.
        links: cables between each leaf and each spine.

    Source: NVIDIA, "DGX SuperPOD reference architecture", compute fabric.
    """
    leaves, hosts = units * rails, units * servers * rails
    cables = leaves * spines * links
    down, up = servers, spines * links
    ports = max(down + up, leaves * links)
    check_size("rails", hosts=hosts, switches=leaves + spines, cables=cables, ports=ports)
    plan = Plan()
    names = [f"unit {u} leaf {r}" for u in range(1, units + 1) for r in range(1, rails + 1)]
    leaf = plan.add_switches(names, down + up)
    spine = plan.add_switches(numbered("spine", spines), leaves * links)
    server, rail = np.divmod(np.arange(hosts), rails)
    host_names = [
        f"server {s} rail {r}" for s in range(1, units * servers + 1) for r in range(1, rails + 1)
    ]
    plan.add_hosts(host_names, leaf[server // servers * rails + rail], server % servers + 1)
    from_leaf, to_spine, copy = np.ogrid[:leaves, :spines, :links]
    plan.add_cables(
        leaf[from_leaf],
        down + to_spine * links + copy + 1,
        spine[to_spine],
        from_leaf * links + copy + 1,
    )
    fabric = plan.fabric("rails")
    return fabric.replace(host_system_guid=fabric.host_guid[server * rails])


def _build(parameters: Parameters) -> Fabric:
    parameters.expect_groups(1, 2)
    units, servers, rails, spines = parameters.positive(0, 4)
    return rail_optimised(units, servers, rails, spines, parameters.optional(1, 1))


FAMILIES = (
    Family(
        "rails",
        "rails:units,servers,rails,spines[;links]",
        "rail-optimised fat tree: adapter r of every server of a unit on the unit's leaf r",
        "rails:2,4,2,4",
        _build,
    ),
)
