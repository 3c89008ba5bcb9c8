"""How much longer rounds of messages take packet by packet than by counting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from contend.congestion.drawing import draw_patterns
from contend.congestion.packets.model import PacketModel, Queues
from contend.congestion.packets.rounds import carry_sample
from contend.congestion.rates import rated
from contend.fabric import Fabric
from contend.traffic.placement import Placement

Slowdown = Mapping[Queues, float]
"""By kind of queues; infinite where packets lock up."""


@dataclass(frozen=True)
class RoundsByPackets:
    """Carries patterns out, each round after all of the one before has come."""

    model: PacketModel
    """How switches keep packets."""
    spread: bool
    """Whether all addresses of hosts with LMC > 0 are used in turn."""
    rate: float | str | None
    """Rate of links, as in `contend.simulate`."""
    equal_rates: bool
    """Whether all links count alike."""
    seed: int
    """Seed of all random choices."""
    circle: list[str] = field(default_factory=list)
    """Channels whose packets wait for each other for ever, in the first pattern that locks up."""

    def slowdown(
        self,
        fabric: Fabric,
        pattern: str,
        *,
        placement: Placement,
        ranks: int | None = None,
        message_bytes: int,
    ) -> Slowdown:
        """Time of all rounds over the time by counting, in which each waits for its slowest.

        Args:
            fabric: with routes.
            pattern: whose rounds these are; of what is drawn, the first draw.
            placement: which rank runs on which host.
            ranks: how many; None fills the placement.
            message_bytes: bytes of every message.

        Raises:
            UsageError: they do not fit together.
        """
        (drawn,) = draw_patterns(fabric, pattern, placement=placement, ranks=ranks, seed=self.seed)
        rated_fabric, rate = rated(fabric, self.rate)
        sample = carry_sample(
            rated_fabric,
            drawn,
            replace(self.model, message_bytes=message_bytes),
            exchanges=False,
            spread=self.spread,
            rate=rate,
            equal=self.equal_rates,
        )
        for one in sample.queued.values():
            if not self.circle:
                self.circle.extend(map(fabric.channel_name, one.circle))
        counted = _seconds(sample.counted, sample.port)
        return {
            queues: float("inf") if one.circle else _seconds(one.received, sample.port) / counted
            for queues, one in sample.queued.items()
        }


def _seconds(shares: Sequence[NDArray[np.float64]], ports: Sequence[NDArray[np.float64]]) -> float:
    """Sum over the rounds of what the slowest message takes for a byte."""
    rates = (share * port for share, port in zip(shares, ports, strict=True))
    return sum(1 / float(each.min()) for each in rates if len(each))
