"""Fabrics on paper, small enough for OpenSM to route each in a fraction of a second."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from contend.fabric import Fabric, make
from small_fabrics import Plan, three_level_tree


def _parallel_tree() -> Fabric:
    """Six leaves with three hosts, two or three parallel cables to each of three tops."""
    plan = Plan(9)
    for leaf in range(6):
        for top in range(6, 9):
            for _ in range(3 if (leaf + top) % 3 == 0 else 2):
                plan.cable(leaf, top)
    return plan.build("parallel tree", [leaf for leaf in range(6) for _ in range(3)])


def _torus() -> Fabric:
    """4 x 5 switches with two hosts; the shorter dimension has two cables for each step."""
    plan = Plan(20)
    for row in range(4):
        for column in range(5):
            plan.cable(5 * row + column, 5 * row + (column + 1) % 5)
            for _ in range(2):
                plan.cable(5 * row + column, 5 * ((row + 1) % 4) + column)
    return plan.build("torus", [host // 2 for host in range(40)])


def _random(seed: int) -> Fabric:
    """Connected at random, hosts strewn at random, GUIDs at random, two switches in a box."""
    random = np.random.default_rng(seed)
    switches, hosts = 15 + 5 * seed, 50 + 10 * seed
    plan = Plan(switches)
    order = random.permutation(switches).tolist()
    for place in range(1, switches):
        plan.cable(order[place], order[int(random.integers(place))])
    for _ in range(2 * switches):
        near, far = random.choice(switches, size=2, replace=False).tolist()
        plan.cable(near, far)
    fabric = plan.build(f"random {seed}", random.integers(switches, size=hosts).tolist())
    guids = random.choice(1 << 40, size=switches + hosts, replace=False).astype(np.uint64)
    guids = guids * np.uint64(1 << 22) + np.uint64(1 << 32)
    return fabric.replace(
        switch_guid=guids[:switches],
        switch_system_guid=guids[np.arange(switches) // 2 * 2],
        host_port_guid=guids[switches:],
    )


_PAPER: dict[str, Callable[[], Fabric]] = {
    "figure": lambda: make("fig1"),
    "parallel tree": _parallel_tree,
    "three levels": lambda: three_level_tree(4),
    "torus": _torus,
    "random 1": lambda: _random(1),
    "random 2": lambda: _random(2),
}


@pytest.fixture(scope="session")
def paper() -> Callable[[str], Fabric]:
    """`paper("torus")` makes that fabric."""
    return lambda name: _PAPER[name]()


@pytest.fixture(params=sorted(_PAPER))
def any_paper(request: pytest.FixtureRequest) -> Fabric:
    """Each of the fabrics in turn."""
    return _PAPER[request.param]()


@pytest.fixture(params=["figure", "parallel tree", "three levels"])
def any_tree(request: pytest.FixtureRequest) -> Fabric:
    """Those of the fabrics that are trees in turn."""
    return _PAPER[request.param]()
