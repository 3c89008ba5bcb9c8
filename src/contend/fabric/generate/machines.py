"""Networks known by name: figure 1 and the clusters of the 2008 paper, and tara of 2013."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from contend.fabric.fabric import Fabric
from contend.fabric.generate.clos import ExternalPorts, place_director
from contend.fabric.generate.plan import Family, Parameters, Plan
from contend.fabric.generate.xgft import place_tree
from contend.fabric.numbered_names import NumberedNames

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
    """Leaves with hosts below core switches, the same number of cables from each to each.

    Attributes:
        hosts: all of them.
        leaves: 24-port leaf switches.
        host_ports: ports for hosts on each leaf.
        cores: core switches.
        links: cables from each leaf to each core switch.
        rate: of every cable.
        core: what a core switch is called.
        place_core: adds one to a plan under a name.
    """

    hosts: int
    leaves: int
    host_ports: int
    cores: int
    links: int
    rate: str
    core: str
    place_core: Callable[[Plan, str], ExternalPorts]

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


_CHIC = Machine(528, 44, 12, cores=2, links=6, rate="4xSDR", core="director", place_core=_director)
_ATLAS = Machine(
    1142, 96, 12, cores=4, links=3, rate="4xDDR", core="director", place_core=_director
)
_THUNDERBIRD = Machine(
    4391, 280, 16, cores=8, links=1, rate="4xSDR", core="director", place_core=_director
)
_RANGER = Machine(
    3936, 328, 12, cores=2, links=6, rate="4xSDR", core="magnum", place_core=place_magnum
)


def _build_thunderbird(parameters: Parameters) -> Fabric:
    parameters.expect_groups(0, 1)
    if not parameters.groups:
        return _THUNDERBIRD.build("thunderbird")
    (leaves,) = parameters.positive(0, 1)
    # Every leaf has at least one host, and one port on each of the directors of 288 ports.
    if not 275 <= leaves <= 288:
        raise parameters.wrong(f"{leaves} leaves (275 to 288 hold its hosts)")
    return replace(_THUNDERBIRD, leaves=leaves).build(parameters.spec)


def named(name: str, summary: str, build: Callable[[], Fabric]) -> Family:
    """A family of one: a machine that is known by its name and takes no parameters."""

    def without_parameters(parameters: Parameters) -> Fabric:
        parameters.expect_groups(0, 0)
        return build()

    return Family(name, name, summary, name, without_parameters)


FAMILIES = (
    named("fig1", "16 hosts on 8-port switches, figure 1 of the 2008 paper", fig1),
    named("chic", "CHiC 2008: 528 hosts, 2 directors of 288 ports", lambda: _CHIC.build("chic")),
    named(
        "atlas", "Atlas 2008: 1142 hosts, 4 directors of 288 ports", lambda: _ATLAS.build("atlas")
    ),
    Family(
        "thunderbird",
        "thunderbird[:leaves]",
        "Thunderbird 2008: 4391 hosts, 8 directors of 288 ports, half bisection",
        "thunderbird",
        _build_thunderbird,
    ),
    named(
        "ranger",
        "Ranger 2008: 3936 hosts, 2 switches of 3456 ports",
        lambda: _RANGER.build("ranger"),
    ),
    named("tara", "tara 2013: 36 hosts on two leaf modules", tara),
)
