"""What a fabric is made of, what its narrowest cut carries, and how its routes spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.base.schema import PythonOnly, Shown
from contend.fabric import Bisection, Fabric, Structure, bisection, structure
from contend.routes import RoutesSummary, all_to_all_load, summarise_routes
from contend.traffic.placement import HostChoice, HostNames, choose_hosts


@dataclass(frozen=True, eq=False)
class FabricSummary(Shown, told="fabric_document"):
    """A fabric in figures."""

    fabric: Fabric
    """The fabric."""
    structure: Structure
    """What it is made of."""
    bisection: Bisection
    """Narrowest cut bisection."""
    rated_hosts: int
    """Number of hosts that the bisection divides."""
    routes: RoutesSummary | None
    """What following every route found; null if the fabric has no routes."""
    carried: PythonOnly[NDArray[np.uint64] | None]
    """Routes of an all-to-all on every channel, shape [channels]; None without routes."""


def show(fabric: Fabric, *, hosts: HostChoice | None = None) -> FabricSummary:
    """Shows what a fabric is made of, and its rated bisection bandwidth.

    Args:
        fabric: with routes or without.
        hosts: that the rated bisection parts into halves, whatever others there are; None is all.

    Raises:
        UsageError: there are no such hosts.
    """
    chosen = None
    if hosts is not None:
        chosen = np.asarray(choose_hosts(hosts, fabric, HostNames(fabric)), dtype=np.uint32)
    carried = None if fabric.routes is None else all_to_all_load(fabric)
    return FabricSummary(
        fabric=fabric,
        structure=structure(fabric, carried),
        bisection=bisection(fabric, chosen),
        rated_hosts=fabric.hosts if chosen is None else len(chosen),
        routes=None if fabric.routes is None else summarise_routes(fabric),
        carried=carried,
    )
