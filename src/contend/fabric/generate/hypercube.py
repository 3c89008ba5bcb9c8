"""Hypercubes."""

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


def hypercube(dimensions: int, hosts: int = 1) -> Fabric:
    """A binary d-cube: 2^d switches, joined when their numbers differ in one bit.

    Ports: the hosts' first, then one for each bit, the lowest first.

    Args:
        dimensions: d.
        hosts: on each switch.

    Source: Dally, Towles, "Principles and practices of interconnection networks", 2004, chapter 5.
    """
    require(dimensions <= 20, "hypercube", "at most 20 dimensions", dimensions)
    count = 1 << dimensions
    check_size(
        "hypercube",
        hosts=count * hosts,
        switches=count,
        cables=dimensions * count // 2,
        ports=hosts + dimensions,
    )
    plan = Plan()
    names = [f"switch {number:0{dimensions}b}" for number in range(count)]
    numbers = plan.add_switches(names, hosts + dimensions)
    add_hosts_per_switch(plan, numbers, hosts)
    for bit in range(dimensions):
        near = numbers[numbers >> bit & 1 == 0]
        port = np.array(hosts + bit + 1)
        plan.add_cables(near, port, near | 1 << bit, port)
    return plan.fabric("hypercube")


def _build(parameters: Parameters) -> Fabric:
    parameters.expect_groups(1, 2)
    (dimensions,) = parameters.positive(0, 1)
    return hypercube(dimensions, parameters.optional(1, 1))


FAMILIES = (
    Family(
        "hypercube",
        "hypercube:d[;hosts]",
        "binary hypercube of d dimensions",
        "hypercube:4",
        _build,
    ),
)
