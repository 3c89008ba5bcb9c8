"""The part of the cluster tara that the sorting studies of 2013 used."""

from __future__ import annotations

from contend.fabric.fabric import Fabric
from contend.fabric.generate.family import named
from contend.fabric.generate.plan import Plan
from contend.fabric.generate.xgft import place_tree


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


FAMILIES = (named("tara", "tara 2013: 36 hosts on two leaf modules", tara),)
