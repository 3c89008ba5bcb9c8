"""The clusters of the 2008 paper, rebuilt: leaves below a few very large core switches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from contend.fabric.fabric import Fabric
from contend.fabric.generate.clos import ExternalPorts, place_director
from contend.fabric.generate.family import Family, Parameters, named
from contend.fabric.generate.magnum import place_magnum
from contend.fabric.generate.plan import Plan, numbered


@dataclass(frozen=True)
class Machine:
    """Leaves with hosts below core switches, the same number of cables from each to each.

    Attributes:
        hosts: all of them.
        leaves: 24-port leaf switches.
        places: ports for hosts on each leaf.
        cores: core switches.
        links: cables from each leaf to each core switch.
        rate: of every cable.
        core: what a core switch is called.
        place_core: adds one to a plan under a name.
    """

    hosts: int
    leaves: int
    places: int
    cores: int
    links: int
    rate: str
    core: str
    place_core: Callable[[Plan, str], ExternalPorts]

    def build(self, name: str) -> Fabric:
        """Cable j (from 0) between leaf i and core switch c, all from 0, joins two ports.

        On the leaf it is port places + links c + j + 1, on the core switch the external port
        links i + j (from 0), so that neighbouring leaves are on neighbouring ports. Hosts fill the
        leaves in order; places that are left stay empty, spread evenly over the last leaves.

        Source: sizes from Hoefler, Schneider, Lumsdaine, "Multistage switches are not crossbars",
        CLUSTER 2008, section 3.2; the cabling is not published and chosen here.
        """
        plan = Plan()
        leaf = plan.add_switches(numbered("leaf", self.leaves), 24)
        self._add_hosts(plan)
        i, j = np.ogrid[: self.leaves, : self.links]
        for c in range(self.cores):
            core = self.place_core(plan, f"{self.core} {c + 1}")
            external = self.links * i + j
            plan.add_cables(
                leaf[i],
                self.places + self.links * c + j + 1,
                core.switch[external],
                core.port[external],
            )
        return plan.fabric(name, rate=self.rate)

    def _add_hosts(self, plan: Plan) -> None:
        empty = self.leaves * self.places - self.hosts
        every, more = divmod(empty, self.leaves)
        per_leaf = np.full(self.leaves, self.places - every)
        per_leaf[self.leaves - more :] -= 1
        on = np.repeat(np.arange(self.leaves), per_leaf)
        first = np.cumsum(per_leaf) - per_leaf
        port = np.arange(self.hosts) - first[on] + 1
        plan.add_hosts(numbered("host", self.hosts), on, port)


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


FAMILIES = (
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
)
