"""Crossbars, folded Clos networks and directors, Beneš networks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contend.fabric.fabric import Fabric
from contend.fabric.generate.plan import (
    Family,
    Indices,
    Parameters,
    Plan,
    add_hosts_per_switch,
    check_size,
    require,
)
from contend.fabric.generate.xgft import place_tree
from contend.fabric.numbered_names import NumberedNames


@dataclass(frozen=True)
class ExternalPorts:
    """A director's ports to the outside, in the order they are labelled, shape [ports]."""

    switch: Indices
    port: Indices


def clos(hosts: int, middle: int, leaves: int) -> Fabric:
    """The Clos network C(n, m, r), folded: r leaves with n hosts, one cable to each of m spines.

    It is rearrangeably non-blocking when m >= n.

    Source: Clos, "A study of non-blocking switching networks", Bell System Technical Journal 1953.
    """
    check_size(
        "clos",
        hosts=hosts * leaves,
        switches=leaves + middle,
        cables=leaves * middle,
        ports=max(hosts + middle, leaves),
    )
    plan = Plan()
    place_tree(plan, [hosts, leaves], [1, middle], [1, 1], level_names=["leaf", "spine"])
    return plan.fabric("clos")


def place_director(plan: Plan, name: str, ports: int, radix: int = 24) -> ExternalPorts:
    """Adds a director switch: line chips with half their ports outside, joined by spine chips.

    With L = ports / (radix / 2) line chips, each line chip has radix / L cables to each spine
    chip: 288 ports of 24-port chips are 24 line chips (12 ports outside, 12 inside) by 12 spine
    chips with one cable between each pair. External port e (from 0) is port e mod (radix / 2) + 1
    of line chip e div (radix / 2).

    Raises:
        UsageError: when the chips do not come out even.
    """
    half = radix // 2
    lines = ports // half if half else 0
    fits = radix % 2 == 0 and lines * half == ports and lines > 0 and radix % lines == 0
    links = radix // lines if fits else 1
    require(
        fits and half % links == 0,
        name,
        f"whole line chips of {half} external ports whose cables spread evenly over spine chips",
        f"{ports} ports",
    )
    spines = half // links
    line_chips = plan.add_switches(NumberedNames(f"{name} line", lines), radix)
    spine_chips = plan.add_switches(NumberedNames(f"{name} spine", spines), radix)
    line, spine, copy = np.ogrid[:lines, :spines, :links]
    inside = spine * links + copy
    plan.add_cables(
        line_chips[line], half + inside + 1, spine_chips[spine], line * links + copy + 1
    )
    external = np.arange(ports)
    return ExternalPorts(line_chips[external // half], external % half + 1)


def director(ports: int, radix: int = 24) -> Fabric:
    """A director switch by itself, a host on every external port."""
    check_size("director", hosts=ports, switches=2 * ports, cables=ports, ports=radix)
    plan = Plan()
    external = place_director(plan, "director", ports, radix)
    plan.add_hosts(NumberedNames("host", ports), external.switch, external.port)
    return plan.fabric("director")


def _build_clos(parameters: Parameters) -> Fabric:
    parameters.expect_groups(1, 1)
    return clos(*parameters.positive(0, 3))


def _build_director(parameters: Parameters) -> Fabric:
    parameters.expect_groups(1, 2)
    (ports,) = parameters.positive(0, 1)
    return director(ports, parameters.optional(1, 24))


def crossbar(hosts: int) -> Fabric:
    """One switch with a host on every port; nothing but the hosts' own channels is shared."""
    check_size("crossbar", hosts=hosts, switches=1, cables=0, ports=hosts)
    plan = Plan()
    add_hosts_per_switch(plan, plan.add_switches(["crossbar"], hosts), hosts)
    return plan.fabric("crossbar")


def _build_crossbar(parameters: Parameters) -> Fabric:
    parameters.expect_groups(1, 1)
    return crossbar(*parameters.positive(0, 1))


CROSSBAR = Family(
    "crossbar",
    "crossbar:n",
    "one switch with n hosts, the reference without congestion",
    "crossbar:16",
    _build_crossbar,
)


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
    plan.add_hosts(NumberedNames("input", size), switch[0], side[0] + 1)
    plan.add_hosts(NumberedNames("output", size), switch[-1], side[-1] + 3)
    for stage in range(stages - 1):
        left, right = stage, stage + 1
        plan.add_cables(switch[left], side[left] + 3, switch[right], side[right] + 1)
    return plan.fabric("benes")


def _build_benes(parameters: Parameters) -> Fabric:
    parameters.expect_groups(1, 1)
    return benes(*parameters.positive(0, 1))


BENES = Family(
    "benes",
    "benes:n",
    "Beneš network with n inputs and n outputs, hosts on both sides",
    "benes:8",
    _build_benes,
)

FAMILIES = (
    Family(
        "clos",
        "clos:n,m,r",
        "folded Clos network: r leaves with n hosts each, m spines",
        "clos:4,4,8",
        _build_clos,
    ),
    Family(
        "director",
        "director:ports[;radix]",
        "one director switch of line and spine chips, a host on every port",
        "director:288",
        _build_director,
    ),
)
