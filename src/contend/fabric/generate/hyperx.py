"""HyperX networks."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from contend.fabric.fabric import Fabric
from contend.fabric.generate.plan import Family, Parameters, Plan, add_hosts_per_switch, check_size


def hyperx(sizes: Sequence[int], hosts: int = 1, links: Sequence[int] = (1,)) -> Fabric:
    """A HyperX: switches at the points of a grid, all those of a line joined to each other.

    Ports: the hosts' first, then for each dimension the other switches of the line in order, with
    parallel cables next to each other. The last coordinate runs fastest.

    Args:
        sizes: S_1 .. S_L of the dimensions.
        hosts: T, on each switch.
        links: K, cables between two switches: one number for all dimensions or one for each.

    Source: Ahn, Binkert, Davis, McLaren, Schreiber, "HyperX: topology, routing, and packaging of
    efficient large-scale networks", SC 2009.
    """
    width = list(links) * len(sizes) if len(links) == 1 else list(links)
    switches = prod(sizes)
    degrees = [(size - 1) * copies for size, copies in zip(sizes, width, strict=True)]
    ports = hosts + sum(degrees)
    cables = switches * sum(degrees) // 2
    check_size("hyperx", hosts=switches * hosts, switches=switches, cables=cables, ports=ports)
    plan = Plan()
    coordinates = np.indices(sizes).reshape(len(sizes), -1)
    names = ["switch " + ",".join(map(str, point)) for point in coordinates.T.tolist()]
    numbers = plan.add_switches(names, ports)
    add_hosts_per_switch(plan, numbers, hosts)
    first_port = hosts + 1
    for dimension, size in enumerate(sizes):
        step = prod(sizes[dimension + 1 :])
        near, far = np.triu_indices(size, 1)
        line_start = numbers[coordinates[dimension] == 0][:, None, None]
        copies = width[dimension]
        copy = np.arange(copies)
        # A switch skips itself when it counts the others of its line.
        plan.add_cables(
            line_start + step * near[:, None],
            first_port + (far[:, None] - 1) * copies + copy,
            line_start + step * far[:, None],
            first_port + near[:, None] * copies + copy,
        )
        first_port += degrees[dimension]
    return plan.fabric("hyperx")


def _build(parameters: Parameters) -> Fabric:
    parameters.expect_groups(1, 3)
    sizes = parameters.dimensions(0)
    links = [1]
    if len(parameters.groups) == 3:
        links = parameters.positive(2, 1, len(sizes))
        if len(links) not in (1, len(sizes)):
            raise parameters.wrong(f"{len(links)} links for {len(sizes)} dimensions")
    return hyperx(sizes, parameters.optional(1, 1), links)


FAMILIES = (
    Family(
        "hyperx",
        "hyperx:AxBx..[;hosts][;links]",
        "HyperX: a grid whose lines are fully joined",
        "hyperx:4x4",
        _build,
    ),
)
