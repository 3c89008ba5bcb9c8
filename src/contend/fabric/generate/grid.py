"""Grids: tori, meshes and rings, hypercubes, and HyperX, whose lines are fully joined."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np

from contend.fabric.fabric import Fabric
from contend.fabric.generate.plan import Indices, Plan, alike, require


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
    plan, coordinates = _points(what, sizes, hosts, 2 * len(sizes))
    numbers = np.arange(prod(sizes))
    for dimension, size in enumerate(sizes):
        here = coordinates[dimension]
        last = size if wrap and size > 2 else size - 1
        near = numbers[here < last]
        step = prod(sizes[dimension + 1 :])
        far = near + np.where(here[near] + 1 < size, step, -(size - 1) * step)
        plus = np.array(hosts + 2 * dimension + 1)
        plan.add_cables(near, plus, far, plus + 1)
    return plan.fabric(what)


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
    names = (f"switch {number:0{dimensions}b}" for number in range(count))
    plan, numbers = alike("hypercube", count, hosts, dimensions, names), np.arange(count)
    for bit in range(dimensions):
        near = numbers[numbers >> bit & 1 == 0]
        port = np.array(hosts + bit + 1)
        plan.add_cables(near, port, near | 1 << bit, port)
    return plan.fabric("hypercube")


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
    degrees = [(size - 1) * copies for size, copies in zip(sizes, width, strict=True)]
    plan, coordinates = _points("hyperx", sizes, hosts, sum(degrees))
    first_port = hosts + 1
    for dimension, size in enumerate(sizes):
        step = prod(sizes[dimension + 1 :])
        near, far = np.triu_indices(size, 1)
        line_start = np.flatnonzero(coordinates[dimension] == 0)[:, None, None]
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


def _points(what: str, sizes: Sequence[int], hosts: int, degree: int) -> tuple[Plan, Indices]:
    """Switches at the points of a grid, and their coordinates, shape [dimensions, switches]."""
    points = product(*map(range, sizes))
    names = ("switch " + ",".join(map(str, point)) for point in points)
    plan = alike(what, prod(sizes), hosts, degree, names)
    return plan, np.indices(sizes).reshape(len(sizes), -1)
