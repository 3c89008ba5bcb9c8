"""Where communication is predicted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from contend.errors import UsageError
from contend.fabric import Fabric, capacities, relative_rates
from contend.prediction.calibration import Calibration
from contend.schedule import Cables, Phases, phases_by_routes


def fastest_port(fabric: Fabric, calibration: Calibration, rate: float | None = None) -> float:
    """Bytes per second of the fastest host's port, which all cables are in proportion to.

    Args:
        fabric: where messages go.
        calibration: whose rate it is, unless it is assumed: then the fabric's own counts.
        rate: that is asked for; it has the last word.

    Raises:
        UsageError: nothing tells it.
    """
    if rate is not None:
        return rate
    if not calibration.assumed:
        return calibration.wire_Bps
    capacity = capacities(fabric)
    if capacity.unit != "bytes/s":
        raise UsageError(
            f"{fabric.name}: not all of its links have a known rate: give --rate, or --calibration"
        )
    return float(capacity.host.max())


@dataclass(frozen=True)
class PredictionConditions:
    """Where communication is predicted.

    Attributes:
        fabric: with routes.
        hosts: number of each rank's host, shape [ranks].
        calibration: what messages cost.
        rate: bytes per second of the fastest host's port; all cables have it in proportion to their
            own rates.
        buffer: bytes that wait for a channel at most; None where nobody knows.
    """

    fabric: Fabric
    hosts: Sequence[int] | NDArray[np.integer]
    calibration: Calibration
    rate: float
    buffer: float | None = None

    @cached_property
    def rates(self) -> NDArray[np.float64]:
        """Bytes per second of every channel, shape [channels]."""
        return self.rate * relative_rates(self.fabric)

    @cached_property
    def cables(self) -> Cables:
        """What all channels are like."""
        return self.calibration.cables(self.rates, buffer=self.buffer)

    @cached_property
    def phases(self) -> Phases:
        """An all-to-all of all ranks in phases that know the routes.

        Raises:
            UsageError: no route between two hosts.
        """
        return phases_by_routes(self.fabric, self.hosts)
