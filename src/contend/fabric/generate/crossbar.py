"""The crossbar: one switch, the reference that every other network is measured by."""

from __future__ import annotations

from contend.fabric.fabric import Fabric
from contend.fabric.generate.plan import Family, Parameters, Plan, add_hosts_per_switch, check_size


def crossbar(hosts: int) -> Fabric:
    """One switch with a host on every port; nothing but the hosts' own channels is shared."""
    check_size("crossbar", hosts=hosts, switches=1, cables=0, ports=hosts)
    plan = Plan()
    add_hosts_per_switch(plan, plan.add_switches(["crossbar"], hosts), hosts)
    return plan.fabric("crossbar")


def _build(parameters: Parameters) -> Fabric:
    parameters.expect_groups(1, 1)
    return crossbar(*parameters.positive(0, 1))


FAMILIES = (
    Family(
        "crossbar",
        "crossbar:n",
        "one switch with n hosts, the reference without congestion",
        "crossbar:16",
        _build,
    ),
)
