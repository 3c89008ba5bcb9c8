"""The 16-node fat tree by which the 2008 paper explains congestion."""

from __future__ import annotations

from contend.fabric.fabric import Fabric
from contend.fabric.generate.family import named
from contend.fabric.generate.plan import Plan
from contend.fabric.generate.xgft import place_tree


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


FAMILIES = (named("fig1", "16 hosts on 8-port switches, figure 1 of the 2008 paper", fig1),)
