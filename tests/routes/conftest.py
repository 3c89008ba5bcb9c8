"""Fabrics on paper, small enough for OpenSM to route each in a fraction of a second."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from contend.fabric import Fabric
from contend.fabric.fabric import build


class _Wiring:
    """Gives out ports one after the other."""

    def __init__(self, switches: int) -> None:
        self.used = [0] * switches
        self.cables: list[tuple[int, int, int, int]] = []

    def port(self, switch: int) -> int:
        self.used[switch] += 1
        return self.used[switch]

    def cable(self, near: int, far: int) -> None:
        self.cables.append((near, self.port(near), far, self.port(far)))

    def build(self, name: str, host_switch: list[int]) -> Fabric:
        host_port = [self.port(switch) for switch in host_switch]
        return build(
            name,
            host_name=[f"h{k}" for k in range(len(host_switch))],
            host_switch=np.array(host_switch),
            host_port=np.array(host_port),
            switch_name=[f"s{k}" for k in range(len(self.used))],
            switch_ports=max(self.used),
            cables=np.array(self.cables),
        )


def _figure() -> Fabric:
    """Hoefler et al. 2008: leaves with hosts on 1-4, uplinks 5, 6 to one top, 7, 8 to the other."""
    cables = [
        (leaf, 5 + up, 4 + up // 2, 1 + 2 * leaf + up % 2) for leaf in range(4) for up in range(4)
    ]
    return build(
        "figure",
        host_name=[f"n{k}" for k in range(1, 17)],
        host_switch=np.arange(16) // 4,
        host_port=np.arange(16) % 4 + 1,
        switch_name=[f"s{k}" for k in range(6)],
        switch_ports=8,
        cables=np.array(cables),
    )


def _parallel_tree() -> Fabric:
    """Six leaves with three hosts, two or three parallel cables to each of three tops."""
    wiring = _Wiring(9)
    for leaf in range(6):
        for top in range(6, 9):
            for _ in range(3 if (leaf + top) % 3 == 0 else 2):
                wiring.cable(leaf, top)
    return wiring.build("parallel tree", [leaf for leaf in range(6) for _ in range(3)])


def _three_levels() -> Fabric:
    """A tree of four-port switches: eight leaves in four pods, 16 hosts."""
    wiring = _Wiring(20)
    for pod in range(4):
        for leaf in range(2):
            for middle in range(2):
                wiring.cable(2 * pod + leaf, 8 + 2 * pod + middle)
    for middle in range(8):
        for top in range(2):
            wiring.cable(8 + middle, 16 + 2 * (middle % 2) + top)
    return wiring.build("three levels", [host // 2 for host in range(16)])


def _torus() -> Fabric:
    """4 x 5 switches with two hosts; the shorter dimension has two cables for each step."""
    wiring = _Wiring(20)
    for row in range(4):
        for column in range(5):
            wiring.cable(5 * row + column, 5 * row + (column + 1) % 5)
            for _ in range(2):
                wiring.cable(5 * row + column, 5 * ((row + 1) % 4) + column)
    return wiring.build("torus", [host // 2 for host in range(40)])


def _random(seed: int) -> Fabric:
    """Connected at random, hosts strewn at random, GUIDs at random, two switches in a box."""
    random = np.random.default_rng(seed)
    switches, hosts = 15 + 5 * seed, 50 + 10 * seed
    wiring = _Wiring(switches)
    order = random.permutation(switches).tolist()
    for place in range(1, switches):
        wiring.cable(order[place], order[int(random.integers(place))])
    for _ in range(2 * switches):
        near, far = random.choice(switches, size=2, replace=False).tolist()
        wiring.cable(near, far)
    fabric = wiring.build(f"random {seed}", random.integers(switches, size=hosts).tolist())
    guids = random.choice(1 << 40, size=switches + hosts, replace=False).astype(np.uint64)
    guids = guids * np.uint64(1 << 22) + np.uint64(1 << 32)
    return fabric.replace(
        switch_guid=guids[:switches],
        switch_system_guid=guids[np.arange(switches) // 2 * 2],
        host_port_guid=guids[switches:],
    )


_PAPER: dict[str, Callable[[], Fabric]] = {
    "figure": _figure,
    "parallel tree": _parallel_tree,
    "three levels": _three_levels,
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
