"""Batches of samples: run in the core, shared out over MPI ranks, and summed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.congestion.communicator import Communicator
from contend.congestion.seating import Seating
from contend.pattern import Pattern


class BatchRunner:
    """Runs batches in the core, shared out over MPI ranks when there are several."""

    def __init__(
        self,
        resolver: _core.Resolver,
        pattern: Pattern,
        seating: Seating,
        seed: int,
        enumerate_outcomes: bool,
        threads: int,
        communicator: Communicator | None,
    ) -> None:
        self._resolver = resolver
        self._pattern = pattern
        self._seating = seating
        self._seed = seed
        self._enumerate = enumerate_outcomes
        self._threads = threads
        self._communicator = communicator

    def batch_size(self) -> int:
        """Samples a batch: about a tenth of a second's work, the same on every machine."""
        work = self._pattern.rounds * self._pattern.ranks * self._resolver.stride
        if self._pattern.name == "alltoall":
            work *= self._pattern.ranks
        return min(max((1 << 25) // max(work, 1), 16), 1 << 16)

    def __call__(self, first: int, count: int) -> list[dict[str, Any]]:
        """Results of one batch, in the order of samples."""
        if self._communicator is None:
            return [self._run(first, count)]
        size, rank = self._communicator.size, self._communicator.rank
        bounds = [first + count * k // size for k in range(size + 1)]
        mine = self._run(bounds[rank], bounds[rank + 1] - bounds[rank])
        return self._communicator.allgather(mine)

    def _run(self, first: int, count: int) -> dict[str, Any]:
        result: dict[str, Any] = _core.simulate(
            self._resolver,
            self._pattern.core,
            self._seating.slots,
            self._seating.ranks_per_slot,
            self._seating.random,
            self._seed,
            first,
            count,
            self._enumerate,
            self._threads,
        )
        return result


class Totals:
    """Sums of all batches so far."""

    def __init__(self, rounds: int, channels: int) -> None:
        self.samples = 0
        self._columns: dict[str, list[NDArray[np.float64]]] = {
            name: [] for name in ("bandwidth", "mean_congestion", "max_congestion")
        }
        self.round_mean = np.zeros(rounds, dtype=np.uint64)
        self.round_max = np.zeros(rounds, dtype=np.uint64)
        self.channel_messages = np.zeros(channels, dtype=np.uint64)
        self.histogram = np.zeros(0, dtype=np.uint64)
        self.drawing_s = 0.0
        self.counting_s = 0.0

    def add(self, batches: list[dict[str, Any]]) -> None:
        """Adds batches in the order of their samples."""
        for batch in batches:
            for name, parts in self._columns.items():
                parts.append(batch[name])
            self.samples += len(batch["bandwidth"])
            self.round_mean += batch["round_mean_congestion"]
            self.round_max += batch["round_max_congestion"]
            self.channel_messages += batch["channel_messages"]
            longer = max(len(self.histogram), len(batch["histogram"]))
            self.histogram = np.pad(self.histogram, (0, longer - len(self.histogram)))
            self.histogram[: len(batch["histogram"])] += batch["histogram"]
            self.drawing_s += batch["drawing_seconds"]
            self.counting_s += batch["counting_seconds"]

    def column(self, name: str) -> NDArray[np.float64]:
        """A figure of every sample so far, shape [samples]."""
        parts = self._columns[name]
        if len(parts) > 1:
            parts[:] = [np.concatenate(parts)]
        return parts[0]

    def bandwidth_so_far(self) -> NDArray[np.float64]:
        """Bandwidth of every sample so far, shape [samples]."""
        return self.column("bandwidth")
