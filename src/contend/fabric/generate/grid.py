"""Tori, meshes and rings."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from contend.fabric.fabric import Fabric
from contend.fabric.generate.plan import Family, Parameters, Plan, add_hosts_per_switch, check_size


def grid(sizes: Sequence[int], hosts: int = 1, *, wrap: bool) -> Fabric:
    """A torus (`wrap`) or mesh: switches at the points of a grid, neighbours joined by one cable.

    Ports: the hosts' first, then for each dimension the one to the next switch (+) and the one to
    the previous (-); at the border of a mesh they stay empty. Switches and hosts are numbered with
    the last coordinate running fastest. A dimension of size 2 has one cable between its two
    switches, wrapped or not.

    Args:
        sizes: of the dimensions.
        hosts: on each switch.
        wrap: whether the last switch of a line is joined to the first.

    Source: Dally, Towles, "Principles and practices of interconnection networks", 2004, chapter 5.
    """
    what = "torus" if wrap else "mesh"
    switches, ports = prod(sizes), hosts + 2 * len(sizes)
    cables = len(sizes) * switches
    check_size(what, hosts=switches * hosts, switches=switches, cables=cables, ports=ports)
    coordinates = np.indices(sizes).reshape(len(sizes), -1)
    plan = Plan()
    names = ["switch " + ",".join(map(str, point)) for point in coordinates.T.tolist()]
    numbers = plan.add_switches(names, ports)
    add_hosts_per_switch(plan, numbers, hosts)
    for dimension, size in enumerate(sizes):
        here = coordinates[dimension]
        last = size if wrap and size > 2 else size - 1
        near = numbers[here < last]
        step = prod(sizes[dimension + 1 :])
        far = near + np.where(here[near] + 1 < size, step, -(size - 1) * step)
        plus = np.array(hosts + 2 * dimension + 1)
        plan.add_cables(near, plus, far, plus + 1)
    return plan.fabric(what)


def _build(parameters: Parameters, wrap: bool) -> Fabric:
    parameters.expect_groups(1, 2)
    return grid(parameters.dimensions(0), parameters.optional(1, 1), wrap=wrap)


def _build_ring(parameters: Parameters) -> Fabric:
    parameters.expect_groups(1, 2)
    return grid(parameters.positive(0, 1), parameters.optional(1, 1), wrap=True)


FAMILIES = (
    Family(
        "torus",
        "torus:AxBx..[;hosts]",
        "torus with any number of dimensions",
        "torus:4x4x4",
        lambda parameters: _build(parameters, wrap=True),
    ),
    Family(
        "mesh",
        "mesh:AxBx..[;hosts]",
        "mesh with any number of dimensions",
        "mesh:4x4",
        lambda parameters: _build(parameters, wrap=False),
    ),
    Family("ring", "ring:n[;hosts]", "ring of n switches", "ring:8", _build_ring),
)
