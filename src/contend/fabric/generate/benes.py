"""Beneš networks."""

from __future__ import annotations

import numpy as np

from contend.fabric.fabric import Fabric
from contend.fabric.generate.plan import Family, Parameters, Plan, check_size, numbered, require


def benes(size: int) -> Fabric:
    """A Beneš network: 2 log2(n) - 1 stages of n / 2 switches with two ports on each side.

    The n inputs are hosts on the left side of the first stage, the n outputs hosts on the right
    side of the last, so the fabric has 2 n hosts. Stage s (from 0) joins the rows that differ in
    bit min(s, 2 log2(n) - 2 - s); without its outer stages it is two Beneš networks of half the
    size. Ports 1 and 2 are on the left, 3 and 4 on the right.

    Args:
        size: n, a power of two, at least 2.

    Source: Beneš, "Mathematical theory of connecting networks and telephone traffic", 1965.
    """
    power = size >= 2 and size & (size - 1) == 0
    require(power, "benes", "a power of two, at least 2", size)
    bits = size.bit_length() - 1
    stages = 2 * bits - 1
    switches = stages * size // 2
    check_size("benes", hosts=2 * size, switches=switches, cables=size * (stages - 1), ports=4)
    plan = Plan()
    names = [f"stage {s} switch {i}" for s in range(1, stages + 1) for i in range(1, size // 2 + 1)]
    number = plan.add_switches(names, 4).reshape(stages, -1)
    row = np.arange(size)
    side, switch = [], []
    for stage in range(stages):
        bit = min(stage, stages - 1 - stage)
        side.append(row >> bit & 1)
        switch.append(number[stage, row >> bit + 1 << bit | row & (1 << bit) - 1])
    plan.add_hosts(numbered("input", size), switch[0], side[0] + 1)
    plan.add_hosts(numbered("output", size), switch[-1], side[-1] + 3)
    for stage in range(stages - 1):
        left, right = stage, stage + 1
        plan.add_cables(switch[left], side[left] + 3, switch[right], side[right] + 1)
    return plan.fabric("benes")


def _build(parameters: Parameters) -> Fabric:
    parameters.expect_groups(1, 1)
    return benes(*parameters.positive(0, 1))


FAMILIES = (
    Family(
        "benes",
        "benes:n",
        "Beneš network with n inputs and n outputs, hosts on both sides",
        "benes:8",
        _build,
    ),
)
