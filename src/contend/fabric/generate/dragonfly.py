"""Dragonflies."""

from __future__ import annotations

import numpy as np

from contend.fabric.fabric import Fabric
from contend.fabric.generate.plan import (
    Family,
    Parameters,
    Plan,
    add_hosts_per_switch,
    check_size,
    require,
)


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
    ports = hosts + switches - 1 + uplinks
    check_size(
        "dragonfly",
        hosts=hosts * switches * groups,
        switches=switches * groups,
        cables=switches * groups * (switches - 1 + uplinks) // 2,
        ports=ports,
    )
    plan = Plan()
    names = [
        f"group {group} switch {switch}"
        for group in range(1, groups + 1)
        for switch in range(1, switches + 1)
    ]
    numbers = plan.add_switches(names, ports)
    add_hosts_per_switch(plan, numbers, hosts)
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


def _build(parameters: Parameters) -> Fabric:
    parameters.expect_groups(1, 1)
    return dragonfly(*parameters.positive(0, 3, 4))


FAMILIES = (
    Family(
        "dragonfly",
        "dragonfly:p,a,h[,g]",
        "dragonfly: p hosts a switch, a switches a group, h global cables a switch, g groups",
        "dragonfly:2,4,2",
        _build,
    ),
)
