"""Messages of several samples, and what every job's come to: means, or until the last one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend import _core

Shares = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SampledMessages:
    """Messages of several samples, a row each.

    Attributes:
        crossed: channels, padded with the number after the last, shape [messages, longest].
        port: rate of the slower of both hosts' ports, shape [messages].
        job: whose, shape [messages].
        sample: in which, counted from the first of them, shape [messages].
        part: of the message on every channel that it crosses, shape [messages, longest]; None where
            that is all of it.
    """

    crossed: NDArray[np.int64]
    port: Shares
    job: NDArray[np.int64]
    sample: NDArray[np.int64]
    part: Shares | None = None

    def of(self, chosen: NDArray[np.int64]) -> SampledMessages:
        """Some of them, by number."""
        return SampledMessages(
            self.crossed[chosen],
            self.port[chosen],
            self.job[chosen],
            self.sample[chosen],
            None if self.part is None else self.part[chosen],
        )

    def load(self, key: NDArray[np.int64], size: int) -> Shares:
        """Messages, or parts of them, by a key for every channel that each crosses.

        Args:
            key: shape [messages, longest].
            size: how many keys there are.
        """
        part = None if self.part is None else self.part.reshape(-1)
        return np.bincount(key.reshape(-1), weights=part, minlength=size).astype(np.float64)

    def shares(self, load: Shares, rate: Shares) -> Shares:
        """What each message gets of the slower of its ports: the least of rate over load.

        Args:
            load: messages on every channel that it crosses, shape [messages, longest].
            rate: of every channel.
        """
        return _core.route_shares(self.crossed.astype(np.uint32), load, rate)

    def until_last(self, share: Shares, rate: Shares, jobs: int, samples: int) -> Shares:
        """What every job's hosts get of what their ports allow, until its last message is done.

        As `EachHost` has it: the time that the job's busiest port needs for the job's own messages,
        over that of its last message; 1 where it sends none.

        Args:
            share: of every message, as `shares` tells it.
            rate: of every channel.
            jobs: how many jobs there are.
            samples: how many samples.

        Returns:
            Shape [jobs, samples].
        """
        slowest, ports = np.zeros(jobs * samples), self.ports_alone(rate, jobs, samples)
        np.maximum.at(slowest, self.job * samples + self.sample, 1 / (share * self.port))
        sends = slowest > 0
        found = np.where(sends, ports / np.where(sends, slowest, 1.0), 1.0)
        return found.reshape(jobs, samples)

    def ports_alone(self, rate: Shares, jobs: int, samples: int) -> Shares:
        """Seconds that each job's busiest port needs for a byte of each of the job's own messages.

        Args:
            rate: of every channel.
            jobs: how many jobs there are.
            samples: how many samples.

        Returns:
            Shape [jobs * samples], sample by sample of each job; 0 where it sends nothing.
        """
        key = self.job * samples + self.sample
        ports = np.zeros(jobs * samples)
        for channel in self.crossed[:, -2:].T:
            at, count = np.unique(key * len(rate) + channel, return_counts=True)
            np.maximum.at(ports, at // len(rate), count / rate[at % len(rate)])
        return ports

    def means(self, share: Shares, jobs: int, samples: int) -> Shares:
        """Mean share of every job's messages, 1 where it sends none, shape [jobs, samples]."""
        key = self.job * samples + self.sample
        count = np.bincount(key, minlength=jobs * samples)
        total = np.bincount(key, weights=share, minlength=jobs * samples)
        return np.where(count > 0, total / np.maximum(count, 1), 1.0).reshape(jobs, samples)
