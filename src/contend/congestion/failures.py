"""What the same random pairs of hosts get from a fabric, whole and where parts of it died."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.congestion.drawing import arrange, seat
from contend.congestion.rates import link_rates
from contend.congestion.simulation import Simulation
from contend.fabric import Fabric
from contend.routes import mendable


@dataclass(frozen=True, eq=False)
class FailureCost:
    """What a failure costs the pairs of hosts that it leaves.

    Attributes:
        hosts_left: that are neither gone nor cut off from most others.
        changed: table entries that had to change.
        before: what pairs get on the whole fabric of which both hosts are left, shape [samples];
            1 for a sample without any. No samples where fewer than two hosts are left.
        after: what the same pairs get from what is left of it, shape [samples].
    """

    hosts_left: int
    changed: int
    before: NDArray[np.float64]
    after: NDArray[np.float64]


class FailureJudge:
    """Lets switches and cables of a fabric die, and counts what the same random pairs then get.

    Tables are mended as `contend.routes.mended` mends them. Only what a failure changes is looked
    at anew. Pairs of hosts that are gone are left out before and after, so that the difference is
    the network's. Several threads may ask at once.

    Memory: about 6 bytes for each address and switch, and for each sample 4 a channel and 40 a
    pair; as much again as the pairs take while a failure is judged.

    Args:
        fabric: with routes.
        whole: a simulation of ``bisect`` on it, of all hosts; its samples are counted.

    Raises:
        UsageError: the fabric has no routes, or they do not arrive.
    """

    def __init__(self, fabric: Fabric, whole: Simulation) -> None:
        pattern, placement = arrange(fabric, "bisect", "random", None, 1, None)
        # All seats are taken and all ranks are alike: seats are never shuffled.
        seating = seat(pattern, placement)
        hosts = seating.hosts[seating.slots]
        self._core = _core.make_failure_judge(
            fabric.core,
            *mendable(fabric),
            pattern.core,
            hosts,
            whole.seed,
            whole.samples,
            whole.exhaustive,
            link_rates(fabric, hosts).by_place,
        )

    def judge(self, switches: Sequence[int], cables: Sequence[int]) -> FailureCost:
        """What it costs if switches and cables die together, given by their numbers.

        Raises:
            UsageError: there is no such switch or cable.
        """
        return FailureCost(*self._core.judge(list(switches), list(cables)))
