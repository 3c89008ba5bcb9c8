"""Sums of a simulation's batches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# What the core says of every sample where links differ in rate.
_WEIGHED = (
    *("share", "mean_slowdown", "max_slowdown"),
    *("bytes_per_second", "mean_seconds_per_byte", "max_seconds_per_byte"),
    "port_seconds_per_byte",
)
_PLAIN = ("bandwidth", "mean_congestion", "max_congestion", "port_congestion")
# Of pairs that exchange both ways, where rounds consist of these; the second as those above.
_OF_PAIRS = ("pair_bandwidth", "pair_bytes_per_second")


class Totals:
    """Sums of all batches so far."""

    def __init__(self, rounds: int, channels: int) -> None:
        self.samples = 0
        self._columns: dict[str, list[NDArray[np.float64]]] = {
            name: [] for name in (*_PLAIN, *_WEIGHED, *_OF_PAIRS)
        }
        self.round_mean = np.zeros(rounds, dtype=np.uint64)
        self.round_max = np.zeros(rounds, dtype=np.uint64)
        self.round_samples = np.zeros(rounds, dtype=np.uint64)
        self.round_max_time = np.zeros(rounds, dtype=np.uint64)
        self.channel_messages = np.zeros(channels, dtype=np.uint64)
        self.histogram = np.zeros(0, dtype=np.uint64)
        self.gap = 1.0
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
            self.round_samples += batch["round_samples"]
            if len(batch["round_max_time"]):
                self.round_max_time += batch["round_max_time"]
            self.channel_messages += batch["channel_messages"]
            longer = max(len(self.histogram), len(batch["histogram"]))
            self.histogram = np.pad(self.histogram, (0, longer - len(self.histogram)))
            self.histogram[: len(batch["histogram"])] += batch["histogram"]
            self.gap = max(self.gap, batch["gap"])
            self.drawing_s += batch["drawing_seconds"]
            self.counting_s += batch["counting_seconds"]

    @property
    def bandwidth(self) -> NDArray[np.float64]:
        """What messages get, by the rates of links where these differ, shape [samples]."""
        share = self.column("share")
        return share if len(share) else self.column("bandwidth")

    def further(self) -> dict[str, Any]:
        """The figures beside it that not all fabrics and patterns have."""
        beside = ("share", "port_seconds_per_byte")
        named = {n: self.column(n) for n in (*_WEIGHED, *_OF_PAIRS) if n not in beside}
        return {name: values for name, values in named.items() if len(values)}

    @property
    def of_hosts(self) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """What hosts get until the last message of a round is done; see `EachHost`.

        Shares of what their ports allow, and by the rates of links where these differ bytes per
        second, both of shape [samples].
        """
        messages, seconds = self.column("port_congestion"), self.column("port_seconds_per_byte")
        if len(seconds) == 0:
            return messages / self.column("max_congestion"), None
        slowest = self.column("max_seconds_per_byte")
        return seconds / slowest, messages / slowest

    def column(self, name: str) -> NDArray[np.float64]:
        """A figure of every sample so far, shape [samples]."""
        parts = self._columns[name]
        if len(parts) > 1:
            parts[:] = [np.concatenate(parts)]
        return parts[0]
