"""Messages of several samples, and what every job's come to: counted, or solved together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from contend import _core

if TYPE_CHECKING:
    from contend.congestion.jobs.messages import JobMessages


Shares = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SampledMessages:
    """Messages of several samples, a row each."""

    crossed: NDArray[np.int64]
    """Channels, padded with the number after the last, shape [messages, longest]."""
    port: Shares
    """Rate of the slower of both hosts' ports, shape [messages]."""
    job: NDArray[np.int64]
    """Job that a message is of, shape [messages]."""
    sample: NDArray[np.int64]
    """Sample that a message is of, counted from the first of them, shape [messages]."""
    part: Shares | None = None
    """Part of the message on every channel that it crosses, shape [messages, longest]; None where
    that is all of it."""

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

    def rates_alone(self, rate: Shares, jobs: int, samples: int) -> Shares:
        """Bytes per second of a host until its job's busiest port is done, [jobs, samples].

        Hosts that send have as many messages as there are of the job in the mean; 0 where it sends
        nothing.
        """
        key = self.job * samples + self.sample
        senders = np.unique(key * len(rate) + self.crossed[:, -2]) // len(rate)
        each, hosts = (np.bincount(one, minlength=jobs * samples) for one in (key, senders))
        takes = self.ports_alone(rate, jobs, samples) * hosts
        alone = np.divide(each, takes, out=np.zeros(len(takes)), where=takes > 0)
        return alone.reshape(jobs, samples)

    def means(self, share: Shares, jobs: int, samples: int) -> Shares:
        """Mean share of every job's messages, 1 where it sends none, shape [jobs, samples]."""
        key = self.job * samples + self.sample
        count = np.bincount(key, minlength=jobs * samples)
        total = np.bincount(key, weights=share, minlength=jobs * samples)
        return np.where(count > 0, total / np.maximum(count, 1), 1.0).reshape(jobs, samples)


# Solved shares are off by less than this in the mean: no job loses or gains so little.
_NEAR = 0.005
# Less of a message than this on a channel is what averaged splits leave of none.
_SOME = 0.01


def steadied(before: Shares, after: Shares) -> Shares:
    """Shares after a change, those that differ by no more than solving them does as before."""
    return np.where(np.abs(before - after) < _NEAR, before, after)


class SolvedShares:
    """What messages get alone, beside all others, and beside each other job.

    Args:
        sent: messages of some samples.
        messages: that they are of.
        jobs: how many jobs there are.
        samples: how many samples.
    """

    def __init__(
        self, sent: SampledMessages, messages: JobMessages, jobs: int, samples: int
    ) -> None:
        self._sent, self._messages = sent, messages
        self._jobs, self._samples = jobs, samples
        self.alone, _ = messages.solve(sent, sent.sample * jobs + sent.job)
        together, self.on_channels = messages.solve(sent, sent.sample, parts=True)
        self.beside = steadied(self.alone, together)

    def by_rival(self) -> Iterator[tuple[NDArray[Any], ...]]:
        """Messages that lose to a single other job: number, rival, channel, and share lost.

        Two jobs are sent together where one of them loses anything beside all, and both cross a
        channel there. Of the channels that a message then shares with the rival it is the fullest.
        """
        none: NDArray[Any] = np.zeros(0, dtype=np.int64)
        yield none, none, none, none.astype(np.float64)
        for sample in range(self._samples):
            rows = np.flatnonzero(self._sent.sample == sample)
            own = [rows[self._sent.job[rows] == job] for job in range(self._jobs)]
            crossed = [self._channels_of(each) for each in own]
            losing = [bool((self.alone - self.beside)[each].any()) for each in own]
            for pair in combinations(range(self._jobs), 2):
                if not (losing[pair[0]] or losing[pair[1]]):
                    continue
                if len(np.intersect1d(crossed[pair[0]], crossed[pair[1]], assume_unique=True)):
                    yield from self._rows(own, pair)

    def _channels_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        split = self.on_channels.of(rows)
        assert split.part is not None
        return np.unique(split.crossed[split.part > _SOME])

    def _rows(
        self, own: list[NDArray[np.int64]], pair: tuple[int, int]
    ) -> Iterator[tuple[NDArray[Any], ...]]:
        rows = np.concatenate([own[job] for job in pair])
        sent = self._sent.of(rows)
        share, split = self._messages.solve(sent, np.zeros(len(rows), np.int64), parts=True)
        lost = self.alone[rows] - steadied(self.alone[rows], share)
        width = self._messages.channels + 1
        assert split.part is not None
        carried = split.part * (share * sent.port)[:, np.newaxis]
        full = np.zeros(width)
        np.add.at(full, split.crossed, carried)
        full /= self._messages.rate
        some = split.part > _SOME
        for victim, rival in (pair, pair[::-1]):
            theirs = np.zeros(width, dtype=bool)
            theirs[np.unique(split.crossed[sent.job == rival][some[sent.job == rival]])] = True
            theirs[-1] = False
            hit = np.flatnonzero((sent.job == victim) & (lost > 0))
            shared = some[hit] & theirs[split.crossed[hit]]
            # Who makes room for another on other channels shares none with it.
            hit, shared = hit[shared.any(axis=1)], shared[shared.any(axis=1)]
            worst = np.where(shared, full[split.crossed[hit]], -1.0).argmax(axis=1)
            channel = split.crossed[hit, worst]
            yield rows[hit], np.full(len(hit), rival, np.int64), channel, lost[hit]
