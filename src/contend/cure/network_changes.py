"""What changed in a network, and what that did to its bandwidth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.congestion import Simulation, simulate
from contend.fabric import Difference, Fabric, difference
from contend.routes import changed_ports
from contend.shown import Shown


@dataclass(frozen=True, eq=False)
class NetworkChanges(Shown, told="changes_document"):
    """Two states of a network and what differs.

    Attributes:
        old: the earlier state.
        new: the later one.
        difference: of nodes and cables.
        entries: entries of tables for hosts that differ at every switch that both have; None where
            one of them has no tables.
        before: random pairs of hosts by the earlier tables; None likewise.
        after: the same by the later ones.
    """

    old: Fabric
    new: Fabric
    difference: Difference
    entries: NDArray[np.int64] | None
    before: Simulation | None
    after: Simulation | None


def diff(old: Fabric, new: Fabric, *, seed: int = 1) -> NetworkChanges:
    """Says what changed in a network: nodes, cables, speeds, routes and bandwidth.

    Args:
        old: the earlier state.
        new: the later one.
        seed: of the random pairs that are simulated where both have routes.
    """
    found = difference(old, new)
    if old.routes is None or new.routes is None:
        return NetworkChanges(old, new, found, None, None, None)
    return NetworkChanges(
        old,
        new,
        found,
        changed_ports(old, new, found.switches, found.hosts),
        *(simulate(state, "bisect", seed=seed) for state in (old, new)),
    )
