"""What cables carry: in bytes per second when every rate is known, else each cable counts 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.fabric.fabric import Fabric
from contend.units import rate_of


@dataclass(frozen=True, eq=False)
class Capacities:
    """Capacity of every cable in one direction.

    Attributes:
        cable: of the cables between switches, shape [cables].
        host: of the cables to hosts, shape [hosts].
        unit: ``bytes/s``, or ``cables`` where a rate is unknown and each cable counts 1.
    """

    cable: NDArray[np.float64]
    host: NDArray[np.float64]
    unit: str


def capacities(fabric: Fabric) -> Capacities:
    """Capacity of every cable; one unknown rate makes all count 1, as sums need one unit."""
    rate = np.array([rate_of(label) or 0.0 for label in fabric.rates])
    cable, host = rate[fabric.cable_rate], rate[fabric.host_rate]
    if bool(np.all(cable > 0)) and bool(np.all(host > 0)):
        return Capacities(cable, host, "bytes/s")
    return Capacities(np.ones(fabric.cables), np.ones(fabric.hosts), "cables")
