from __future__ import annotations

from itertools import product
from math import factorial

import numpy as np
import pytest

from contend.fabric import Fabric, make


@pytest.mark.parametrize("n", [2, 4, 8, 32])
def test_stages(n: int) -> None:
    """2 log2(n) - 1 stages of n / 2 switches, n cables between neighbouring stages."""
    fabric = make(f"benes:{n}")
    stages = 2 * (n.bit_length() - 1) - 1
    assert (fabric.hosts, fabric.switches) == (2 * n, stages * n // 2)
    assert fabric.cables == (stages - 1) * n
    assert fabric.switch_name[-1] == f"stage {stages} switch {n // 2}"
    assert np.array_equal(fabric.cable_from // (n // 2) + 1, fabric.cable_to // (n // 2))


def permutation(fabric: Fabric, crossed: tuple[bool, ...]) -> tuple[int, ...]:
    """Where the inputs come out when each switch is set straight or crossed."""
    onward = {}
    for near, near_port, far, far_port in zip(
        fabric.cable_from.tolist(),
        fabric.cable_from_port.tolist(),
        fabric.cable_to.tolist(),
        fabric.cable_to_port.tolist(),
        strict=True,
    ):
        onward[near, near_port] = (far, far_port)
    places = list(zip(fabric.host_switch.tolist(), fabric.host_port.tolist(), strict=True))
    inputs, outputs = places[: len(places) // 2], places[len(places) // 2 :]
    arrived = []
    for switch, port in inputs:
        while True:
            port = 3 + ((port - 1) ^ crossed[switch])
            if (switch, port) not in onward:
                break
            switch, port = onward[switch, port]
        arrived.append(outputs.index((switch, port)))
    return tuple(arrived)


@pytest.mark.parametrize("n", [2, 4])
def test_every_permutation_can_be_set(n: int) -> None:
    """A Beneš network is rearrangeably non-blocking: its settings reach all n! permutations."""
    fabric = make(f"benes:{n}")
    settings = product((False, True), repeat=fabric.switches)
    assert len({permutation(fabric, crossed) for crossed in settings}) == factorial(n)


def test_without_its_outer_stages_it_is_two_of_half_the_size(distances) -> None:
    fabric = make("benes:16")
    inner = np.arange(8, fabric.switches - 8)
    inside = np.isin(fabric.cable_from, inner) & np.isin(fabric.cable_to, inner)
    half = fabric.replace(
        cable_from=fabric.cable_from[inside],
        cable_from_port=fabric.cable_from_port[inside],
        cable_to=fabric.cable_to[inside],
        cable_to_port=fabric.cable_to_port[inside],
    )
    reached = np.isfinite(distances(half))[np.ix_(inner, inner)].sum(axis=1)
    assert set(reached.tolist()) == {make("benes:8").switches}
