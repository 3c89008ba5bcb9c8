"""What channels have carried beside what a pattern would put on them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from contend.base.schema import Share
from contend.base.units import rate_of
from contend.congestion.rates import heat
from contend.fabric import Carried

if TYPE_CHECKING:
    from contend.congestion.simulation.simulation import Simulation


@dataclass(frozen=True, kw_only=True)
class CountedChannel:
    """A channel between switches with counters."""

    channel: int
    """Number of the channel."""
    name: str
    """Both its ends with their ports."""
    bytes: float
    """Bytes that it carried."""
    heat: float
    """Bytes over its rate, in bytes at the fastest of the hosts' ports: how long they take; `bytes`
    where links are alike."""
    rate: str
    """Label of its cable's rate, such as ``4xHDR``; "" if it is not known."""
    busy: Share | None
    """Part of the time between two readings that the bytes took at that rate; null if time or rate
    is not known."""
    waited: float | None
    """Ticks in which its port had something to send and could not; null if they are not known."""
    share: float
    """Share of the bytes of all these channels; 0 where nothing was sent at all."""
    predicted: float
    """Share of the messages of all these channels that the pattern would send across it."""

    @property
    def ratio(self) -> float | None:
        """How many times the share that is predicted it has; None where nothing is."""
        return self.share / self.predicted if self.predicted > 0 else None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BesideCounters(Carried):
    """Port counters, compared with what the pattern predicts."""

    rank_correlation: float | None
    """Spearman's correlation of both shares; null if one of them is the same everywhere."""
    channels: tuple[CountedChannel, ...]
    """Channels between switches that have counters, in the order of their numbers."""

    @classmethod
    def of(cls, simulation: Simulation, carried: Carried) -> BesideCounters:
        """What channels have carried beside a simulation of the same fabric."""
        fabric, channels, seconds = carried.fabric, carried.known, carried.seconds
        share = _shares(carried.sent[channels])
        predicted = _shares(simulation.channel_load[channels])
        correlation = None
        if len(np.unique(share)) > 1 and len(np.unique(predicted)) > 1:
            import scipy.stats

            ranks = [scipy.stats.rankdata(values) for values in (share, predicted)]
            correlation = float(np.corrcoef(*ranks)[0, 1])
        heats = heat(carried.sent, simulation.relative_rates)

        def counted(row: int, channel: int) -> CountedChannel:
            label, sent = fabric.channel_rate(channel), float(carried.sent[channel])
            rate, waited = rate_of(label), float(carried.waited[channel])
            return CountedChannel(
                channel=channel,
                name=fabric.channel_name(channel),
                bytes=sent,
                heat=float(heats[channel]),
                rate=label,
                busy=None if seconds is None or not rate else sent / seconds / rate,
                waited=None if np.isnan(waited) else waited,
                share=float(share[row]),
                predicted=float(predicted[row]),
            )

        return cls(
            **{field.name: getattr(carried, field.name) for field in fields(Carried)},
            rank_correlation=correlation,
            channels=tuple(counted(*each) for each in enumerate(channels.tolist())),
        )


def _shares(values: NDArray[np.floating]) -> NDArray[np.float64]:
    total = float(values.sum())
    return np.asarray(values / total if total > 0 else np.zeros(len(values)), dtype=np.float64)
