"""What jobs get where all their messages split together as is best: rounds that are solved."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend.congestion.jobs.messages import JobMessages
from contend.congestion.jobs.sampled import SampledMessages, Shares

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
        together, self._split = messages.solve(sent, sent.sample, parts=True)
        self.beside = steadied(self.alone, together)

    @property
    def on_channels(self) -> SampledMessages:
        """The messages, with the channels that they cross."""
        return self._split

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
        split = self._split.of(rows)
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
