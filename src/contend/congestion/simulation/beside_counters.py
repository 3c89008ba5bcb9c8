"""What channels have carried beside what a pattern would put on them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from contend.congestion.rates import heat
from contend.congestion.simulation.simulation import Simulation
from contend.fabric import Carried
from contend.units import rate_of

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True, eq=False, repr=False)
class BesideCounters:
    """Channels between switches that have counters, each with its share of all that these carry.

    Attributes:
        simulation: what predicts.
        carried: what was counted.
        channels: their numbers, shape [channels].
        share: of the bytes of all of them, shape [channels]; 0 where nothing was sent at all.
        predicted: of the messages of all of them, likewise.
        rank_correlation: Spearman's, of both; None where one of them is the same everywhere.
    """

    simulation: Simulation
    carried: Carried
    channels: NDArray[np.int64]
    share: NDArray[np.float64]
    predicted: NDArray[np.float64]
    rank_correlation: float | None

    @classmethod
    def of(cls, simulation: Simulation, carried: Carried) -> BesideCounters:
        """A simulation of the fabric whose channels were counted."""
        channels = carried.known
        share = _shares(carried.sent[channels])
        predicted = _shares(simulation.channel_load[channels])
        correlation = None
        if len(np.unique(share)) > 1 and len(np.unique(predicted)) > 1:
            import scipy.stats

            ranks = [scipy.stats.rankdata(values) for values in (share, predicted)]
            correlation = float(np.corrcoef(*ranks)[0, 1])
        return cls(simulation, carried, channels, share, predicted, correlation)

    @cached_property
    def sent(self) -> NDArray[np.float64]:
        """Bytes, shape [channels]."""
        return self.carried.sent[self.channels]

    @cached_property
    def waited(self) -> NDArray[np.float64]:
        """Ticks of waiting, NaN where they are not known, shape [channels]."""
        return self.carried.waited[self.channels]

    @cached_property
    def heat(self) -> NDArray[np.float64]:
        """Bytes over rate, in bytes at the fastest port, shape [channels]."""
        return heat(self.carried.sent, self.simulation.relative_rates)[self.channels]

    @cached_property
    def busy(self) -> NDArray[np.float64] | None:
        """Part of the time between two readings that the bytes took, shape [channels].

        NaN where the rate of a channel is not known; None where the time is not.
        """
        fabric, seconds = self.carried.fabric, self.carried.seconds
        if seconds is None:
            return None
        rates = [rate_of(fabric.channel_rate(int(channel))) for channel in self.channels]
        known = np.array([rate or np.nan for rate in rates])
        return np.asarray(self.sent / seconds / known, dtype=np.float64)

    def to_frame(self) -> polars.DataFrame:
        """One row per channel: its number and name, bytes, heat, waiting and both shares."""
        import polars

        return polars.DataFrame(
            {
                "channel": self.channels,
                "name": [self.carried.fabric.channel_name(int(c)) for c in self.channels],
                "bytes": self.sent,
                "heat": self.heat,
                "waited": self.waited,
                "share": self.share,
                "predicted": self.predicted,
            }
        )


def _shares(values: NDArray[np.floating]) -> NDArray[np.float64]:
    total = float(values.sum())
    return np.asarray(values / total if total > 0 else np.zeros(len(values)), dtype=np.float64)
