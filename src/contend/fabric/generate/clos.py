"""Clos networks: crossbars, directors, Beneš networks, and machines known by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from contend.fabric.fabric import Fabric, NumberedNames
from contend.fabric.generate.plan import Indices, Plan, alike, check_size, require
from contend.fabric.generate.trees import place_tree


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


def crossbar(hosts: int) -> Fabric:
    """One switch with a host on every port; nothing but the hosts' own channels is shared."""
    return alike("crossbar", 1, hosts, 0, ["crossbar"]).fabric("crossbar")


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


# Chips in a switch of 3,456 ports.
_CARDS = 24
_CHIPS = 12


def fig1() -> Fabric:
    """Four leaves with hosts 1-4, 5-8, 9-12, 13-16 below two top switches, all with 8 ports.

    Ports 5 and 6 of leaf i (from 0) lead to ports 2 i + 1 and 2 i + 2 of top 1, ports 7 and 8 to
    those of top 2.

    Source: Hoefler, Schneider, Lumsdaine, "Multistage switches are not crossbars: effects of
    static routing in high-performance networks", CLUSTER 2008, figure 1.
    """
    plan = Plan()
    names = [str(number) for number in range(1, 17)]
    place_tree(plan, [4, 4], [1, 2], [1, 2], host_names=names)
    return plan.fabric("fig1", rate="4xSDR")


def tara() -> Fabric:
    """36 hosts on two leaf modules of an InfiniBand director with 36-port chips.

    Hosts 1-18 are on ports 1-18 of leaf module 1, hosts 19-36 on those of leaf module 2; three
    neighbouring ports are a port group, nine a row. The inside is not published: as in directors of
    324 ports, nine spine chips with two cables to each leaf module; cable j of leaf module i and
    spine s (all from 0) joins port 18 + 2 s + j + 1 to port 2 i + j + 1.

    Source: Mistry, Ramsey, Wiley, Yanchuck, Huang, Gobbert, "Throughput studies on an InfiniBand
    interconnect via all-to-all communications", HPC 2015, section "Leaf modules".
    """
    plan = Plan()
    place_tree(plan, [18, 2], [1, 9], [1, 2], level_names=["leaf module", "spine"], ports=[36, 36])
    return plan.fabric("tara", rate="4xQDR")


def place_magnum(plan: Plan, name: str) -> ExternalPorts:
    """Adds a 3,456-port switch of 24-port chips: 24 line cards and 144 spine chips.

    A line card has 12 leaf chips and 12 middle chips, one cable between each pair. Leaf chip l
    has its external ports on 1 .. 12 and middle chip m on port 13 + m; middle chip m has leaf chip
    l on port 1 + l and spine chip 12 m + t on port 13 + t; a spine chip has line card c on port
    1 + c (all but ports counted from 0). External port e is port e mod 12 + 1 of leaf chip
    (e div 12) mod 12 of line card e div 144.
    """
    leaves, middles = [], []
    for number in range(1, _CARDS + 1):
        card_name = f"{name} card {number}"
        leaves.append(plan.add_switches(NumberedNames(f"{card_name} leaf", _CHIPS), 2 * _CHIPS))
        middles.append(plan.add_switches(NumberedNames(f"{card_name} middle", _CHIPS), 2 * _CHIPS))
    leaf_chips, middle_chips = np.stack(leaves), np.stack(middles)
    spine_chips = plan.add_switches(NumberedNames(f"{name} spine", _CHIPS * _CHIPS), _CARDS)
    card, leaf, middle = np.ogrid[:_CARDS, :_CHIPS, :_CHIPS]
    plan.add_cables(
        leaf_chips[card, leaf], _CHIPS + middle + 1, middle_chips[card, middle], leaf + 1
    )
    card, middle, up = np.ogrid[:_CARDS, :_CHIPS, :_CHIPS]
    plan.add_cables(
        middle_chips[card, middle], _CHIPS + up + 1, spine_chips[middle * _CHIPS + up], card + 1
    )
    external = np.arange(_CARDS * _CHIPS * _CHIPS)
    return ExternalPorts(leaf_chips.ravel()[external // _CHIPS], external % _CHIPS + 1)


@dataclass(frozen=True)
class Machine:
    """Leaves with hosts below core switches, the same number of cables from each to each."""

    hosts: int
    """Number of hosts."""
    leaves: int
    """Number of 24-port leaf switches."""
    host_ports: int
    """Number of ports for hosts on each leaf."""
    cores: int
    """Number of core switches."""
    links: int
    """Number of cables from each leaf to each core switch."""
    rate: str
    """Rate of every cable."""
    core: str
    """What a core switch is called."""
    place_core: Callable[[Plan, str], ExternalPorts]
    """What adds a core switch to a plan under a name."""

    def build(self, name: str) -> Fabric:
        """Cable j (from 0) between leaf i and core switch c, all from 0, joins two ports.

        On the leaf it is port host_ports + links c + j + 1, on the core switch the external port
        links i + j (from 0), so that neighbouring leaves are on neighbouring ports. Hosts fill the
        leaves in order; places that are left stay empty, spread evenly over the last leaves.

        Source: hosts, the switches of CHiC and the core of Ranger from Hoefler, Schneider,
        Lumsdaine, "Multistage switches are not crossbars", CLUSTER 2008, section 3.2.2; it has no
        others and no cabling, which is chosen here.
        """
        plan = Plan()
        leaf = plan.add_switches(NumberedNames("leaf", self.leaves), 24)
        self._add_hosts(plan)
        i, j = np.ogrid[: self.leaves, : self.links]
        for c in range(self.cores):
            core = self.place_core(plan, f"{self.core} {c + 1}")
            external = self.links * i + j
            plan.add_cables(
                leaf[i],
                self.host_ports + self.links * c + j + 1,
                core.switch[external],
                core.port[external],
            )
        return plan.fabric(name, rate=self.rate)

    def _add_hosts(self, plan: Plan) -> None:
        empty = self.leaves * self.host_ports - self.hosts
        every, more = divmod(empty, self.leaves)
        per_leaf = np.full(self.leaves, self.host_ports - every)
        per_leaf[self.leaves - more :] -= 1
        on = np.repeat(np.arange(self.leaves), per_leaf)
        first = np.cumsum(per_leaf) - per_leaf
        port = np.arange(self.hosts) - first[on] + 1
        plan.add_hosts(NumberedNames("host", self.hosts), on, port)


def _director(plan: Plan, name: str) -> ExternalPorts:
    return place_director(plan, name, ports=288)


CHIC = Machine(528, 44, 12, cores=2, links=6, rate="4xSDR", core="director", place_core=_director)
ATLAS = Machine(1142, 96, 12, cores=4, links=3, rate="4xDDR", core="director", place_core=_director)
THUNDERBIRD = Machine(
    4391, 280, 16, cores=8, links=1, rate="4xSDR", core="director", place_core=_director
)
RANGER = Machine(
    3936, 328, 12, cores=2, links=6, rate="4xSDR", core="magnum", place_core=place_magnum
)
