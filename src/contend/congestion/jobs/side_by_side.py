"""Jobs that run side by side: what each gets alone, beside all others, and beside each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import UsageError
from contend.base.units import counted
from contend.congestion.jobs.messages import Hosts, JobMessages
from contend.congestion.jobs.sampled import SampledMessages, Shares, SolvedShares, steadied
from contend.congestion.simulation.averages import normal_half_width
from contend.fabric import Fabric

# Messages and other jobs on their channels: looked at together, and at most in a sample.
_LOOKS = 1 << 20
_MOST_LOOKS = 1 << 24
# Channels that are told apart.
_HOTTEST = 10


@dataclass(frozen=True, eq=False)
class PairLoss:
    """What a job loses where one other runs beside it and nobody else does."""

    victim: int
    """Number of the job that loses."""
    rival: int
    """Number of the other job."""
    loss: float
    """Loss of the mean share of the victim's messages."""
    margin: float
    """Half of its 95 % interval."""
    channels: tuple[tuple[int, float], ...]
    """Channels on which the victim's messages lose it, with the part of the loss that each has, the
    largest first: of every message the channel that gives it least beside the rival."""


@dataclass(frozen=True, eq=False)
class SideBySide:
    """What the messages of jobs get that run at the same time.

    The share of a message is that of a simulation: the least, over the channels of its route, of
    rate over the number of messages there, in parts of the slower of its two hosts' ports; 1/pi
    where all links are alike. What a job gets is the mean over its messages; where ranks have
    several messages at once, and within rails, what its hosts get of what their ports allow until
    the last message is done, see `EachHost`.
    """

    alone: Shares
    """What its own messages get by themselves, shape [jobs, samples]; 1 where it sends none."""
    beside: Shares
    """What they get beside the messages of all jobs, shape [jobs, samples]."""
    bytes_per_second: Shares | None
    """What they get beside all others, in the mean, shape [jobs]; None where the rates of links are
    not known."""
    pairs: tuple[PairLoss, ...]
    """Pairs of which one job loses anything to the other."""
    pattern_in: NDArray[np.int64]
    """Number of the pattern that each sends in, shape [jobs, samples]."""
    waits_for_last: NDArray[np.bool_]
    """Whether each job gets what its hosts get until its last message is done."""
    hottest: tuple[tuple[int, float, tuple[tuple[int, float], ...]], ...]
    """Channels between switches that need most time for the messages of all jobs, the hottest
    first: number, mean heat over the samples, in messages at the fastest port, and the part of it
    that each job has, by number, the largest first."""
    used: tuple[NDArray[np.int64], NDArray[np.int64], Shares]
    """Of every channel between switches and job on it the channel, the job, by number, and the heat
    of its messages, each of shape [pairs]."""


def judge_jobs(
    fabric: Fabric,
    jobs: Sequence[Hosts],
    *,
    pattern: str | tuple[str, ...] = "bisect",
    own: Mapping[int, str] | None = None,
    rails: bool = False,
    samples: int = 200,
    seed: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> SideBySide:
    """Counts what the messages of jobs get alone, beside all others, and beside each of them.

    All are judged by the same samples, so that differences are exact to less than the figures are.
    Cost: as the messages' routes, and for every channel that several jobs share one look at each
    pair of a message and another job there.

    Args:
        fabric: with routes.
        jobs: hosts of every job, each once.
        pattern: a specification, for as many ranks as each job has hosts; or several, of which
            every job sends each in as many samples.
        own: patterns that some jobs send instead, by number, with a rank on each of their hosts.
        rails: whether messages stay within rails; a job has then as many ranks as servers.
        samples: how many are drawn, or a few more for several patterns; two of each pattern where
            all would be alike.
        seed: of all random choices.
        progress: told how many samples are counted, of how many.

    Raises:
        UsageError: a number is out of range, there is no such pattern for a job, or messages do not
            arrive.
    """
    if samples < 2:
        raise UsageError(f"expected at least 2 samples, got {counted(samples, 'sample')}")
    messages = JobMessages(fabric, jobs, pattern=pattern, own=own, rails=rails, seed=seed)
    samples = messages.enough(samples)
    alone, beside, carried = (np.ones((len(jobs), samples)) for _ in range(3))
    losses, used = _Losses(len(jobs), messages.channels + 1), _Used(messages)
    for batch in messages.batches(samples):
        sent = messages.sent(batch)
        judge = SolvedShares if messages.together else _Shared
        shared = judge(sent, messages, len(jobs), len(batch))
        here = slice(batch.start, batch.stop)
        for found, shares in ((alone, shared.alone), (beside, shared.beside)):
            found[:, here] = messages.judged(sent, shares, len(jobs), len(batch))
        carried[:, here] = np.where(
            messages.waits_for_last[:-1, np.newaxis],
            beside[:, here] * sent.rates_alone(messages.rate, len(jobs), len(batch)),
            sent.means(shared.beside * sent.port, len(jobs), len(batch)),
        )
        used.add(shared.on_channels)
        losses.add(sent, shared, len(batch), messages)
        if progress is not None:
            progress(batch.stop, samples)
    rate = carried.mean(axis=1) if messages.rated else None
    sent_in = [messages.pattern_in(job, range(samples)) for job in range(len(jobs))]
    return SideBySide(
        alone,
        beside,
        rate,
        losses.pairs(samples, messages),
        np.array(sent_in, dtype=np.int64).reshape(len(jobs), samples),
        messages.waits_for_last[:-1],
        used.hottest(samples),
        used.heats(samples),
    )


class _Shared:
    """Who else is on the channels that messages cross."""

    def __init__(
        self, sent: SampledMessages, messages: JobMessages, jobs: int, samples: int
    ) -> None:
        width = messages.channels + 1
        self._jobs = jobs
        self._samples = samples
        self._rate = messages.rate
        self._sent = self.on_channels = sent
        at = sent.sample[:, np.newaxis] * width + sent.crossed
        # Sorted by sample, channel and job: who shares a channel stands side by side.
        self._load, own = np.unique(at * jobs + sent.job[:, np.newaxis], return_inverse=True)
        self._own = own.reshape(at.shape)
        self._own_load = sent.load(self._own, len(self._load))
        all_load = sent.load(at, samples * width)
        self.alone = sent.shares(self._own_load[self._own], self._rate)
        self.beside = sent.shares(all_load[at], self._rate)

    def by_rival(self) -> Iterator[tuple[NDArray[np.int64], ...]]:
        """Messages that lose to a single other job: number, rival, channel, and share lost.

        A row for each such message and rival, some messages at a time.

        Raises:
            UsageError: more jobs share channels than can be looked at in pairs.
        """
        group = self._load // self._jobs
        first = np.flatnonzero(np.r_[True, group[1:] != group[:-1]]) if len(group) else group
        size = np.diff(np.r_[first, len(group)])
        of_group = np.repeat(np.arange(len(first)), size)
        message, place = np.nonzero(
            (size[of_group[self._own]] > 1) & np.isfinite(self._rate[self._sent.crossed])
        )
        own = self._own[message, place]
        others = size[of_group[own]]
        if others.sum() > _MOST_LOOKS * self._samples:
            raise UsageError(
                f"expected at most {_MOST_LOOKS:,} messages and other jobs on their channels, got "
                f"{others.sum() // self._samples:,}: too many jobs share hosts"
            )
        # A message's own rows stay together.
        part = np.cumsum(others) // _LOOKS
        starts = np.r_[True, message[1:] != message[:-1]]
        part = np.maximum.accumulate(np.where(starts, part, 0)) if len(part) else part
        for here in np.split(np.arange(len(own)), np.flatnonzero(np.diff(part)) + 1):
            yield self._rows(message[here], place[here], first[of_group[own[here]]], others[here])

    def _rows(
        self,
        message: NDArray[np.int64],
        place: NDArray[np.int64],
        first: NDArray[np.int64],
        others: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], ...]:
        """The same for channels of some messages; jobs there are `others` from `first` on."""
        own = self._own[message, place]
        row = np.repeat(np.arange(len(own)), others)
        nth = np.arange(len(row)) - np.repeat(np.cumsum(others) - others, others)
        entry = first[row] + nth
        apart = entry != own[row]
        row, entry = row[apart], entry[apart]
        of_message, channel = message[row], self._sent.crossed[message[row], place[row]]
        load = self._own_load[own[row]] + self._own_load[entry]
        lost = self.alone[of_message] - self._rate[channel] / load / self._sent.port[of_message]
        some = lost > 1e-12
        rival = self._load[entry[some]] % self._jobs
        of_message, channel, lost = of_message[some], channel[some], lost[some]
        # Of the channels that a message shares with a rival the one that costs it most.
        order = np.lexsort((channel, -lost, rival, of_message))
        pair = of_message[order] * self._jobs + rival[order]
        worst = order[np.r_[True, pair[1:] != pair[:-1]]] if len(order) else order
        return of_message[worst], rival[worst], channel[worst], lost[worst]


class _Losses:
    """Sums of what jobs lose to each other, over all samples so far."""

    def __init__(self, jobs: int, width: int) -> None:
        self._jobs, self._width = jobs, width
        self._none = np.zeros(0, dtype=np.int64)
        self._pair, self._sum, self._square = self._none, np.zeros(0), np.zeros(0)
        self._place, self._there = self._none, np.zeros(0)

    def add(
        self,
        sent: SampledMessages,
        shared: _Shared | SolvedShares,
        samples: int,
        messages: JobMessages,
    ) -> None:
        """Adds what is lost in some further samples."""
        own = sent.job * samples + sent.sample
        rows = [np.concatenate(column) for column in zip(*shared.by_rival(), strict=True)]
        message, rival, channel, lost = rows
        waits = messages.waits_for_last[sent.job[message]]
        means = (message[~waits], rival[~waits], channel[~waits], lost[~waits])
        # Parts of the mean over the job's messages.
        count = np.bincount(own, minlength=self._jobs * samples)
        means = (*means[:3], means[3] / count[own[means[0]]])
        message, rival, channel, lost = (row[waits] for row in rows)
        if len(message):
            # Beside each rival the job waits for one of its messages: that has all of the loss.
            slowest = np.zeros(self._jobs * samples)
            np.maximum.at(slowest, own, 1 / (shared.alone * sent.port))
            takes = 1 / ((shared.alone[message] - lost) * sent.port[message])
            group = own[message] * self._jobs + rival
            order = np.lexsort((channel, -takes, group))
            last = order[np.r_[True, np.diff(group[order]) > 0]] if len(order) else order
            last = last[takes[last] > slowest[own[message[last]]] * (1 + 1e-12)]
            message, rival, channel, takes = (row[last] for row in (message, rival, channel, takes))
            ports = sent.ports_alone(messages.rate, self._jobs, samples)[own[message]]
            lost = ports / slowest[own[message]] - ports / takes
        both = zip(means, (message, rival, channel, lost), strict=True)
        message, rival, channel, lost = (np.concatenate(columns) for columns in both)
        job, sample = sent.job[message], sent.sample[message]
        pair = job * self._jobs + rival
        each, loss = _summed(pair * samples + sample, lost)
        pairs = np.concatenate((self._pair, each // samples))
        self._pair, self._sum = _summed(pairs, np.concatenate((self._sum, loss)))
        _, self._square = _summed(pairs, np.concatenate((self._square, loss * loss)))
        places = np.concatenate((self._place, pair * self._width + channel))
        self._place, self._there = _summed(places, np.concatenate((self._there, lost)))

    def pairs(self, samples: int, messages: JobMessages) -> tuple[PairLoss, ...]:
        """Those that lose anything, in the order of jobs."""
        mean = self._sum / samples
        spread = np.maximum(self._square / samples - mean**2, 0) * samples / (samples - 1)
        begin = np.searchsorted(self._place, self._pair * self._width)
        end = np.searchsorted(self._place, (self._pair + 1) * self._width)
        found = []
        for number, pair in enumerate(self._pair.tolist()):
            here = slice(begin[number], end[number])
            places = self._place[here] - pair * self._width
            parts = self._there[here] / self._sum[number]
            order = np.lexsort((places, -parts)).tolist()
            channels = tuple(
                (messages.channel_of_fabric(int(places[k])), float(parts[k])) for k in order
            )
            margin = normal_half_width(float(np.sqrt(spread[number])), samples)
            victim, rival = divmod(pair, self._jobs)
            found.append(PairLoss(victim, rival, float(mean[number]), margin, channels))
        return tuple(found)


class _Used:
    """Messages of each job on channels between switches, over all samples so far."""

    def __init__(self, messages: JobMessages) -> None:
        self._messages = messages
        self._width = messages.channels + 1
        self._key, self._load = np.zeros(0, dtype=np.int64), np.zeros(0)

    def add(self, sent: SampledMessages) -> None:
        """Adds the messages of some further samples."""
        key = (sent.job[:, np.newaxis] * self._width + sent.crossed)[:, :-2]
        part = np.ones(key.shape) if sent.part is None else sent.part[:, :-2]
        here = sent.crossed[:, :-2] < self._width - 1
        keys = np.concatenate((self._key, key[here]))
        self._key, self._load = _summed(keys, np.concatenate((self._load, part[here])))

    def heats(self, samples: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Shares]:
        """Channels, jobs on them, and their mean heat; see `SideBySide.used`."""
        job, channel = np.divmod(self._key, self._width)
        rate, ports = self._messages.rate, 2 * len(self._messages.hosts)
        heat = self._load / samples * rate[-1 - ports : -1].max(initial=0) / rate[channel]
        return channel, job, heat

    def hottest(self, samples: int) -> tuple[tuple[int, float, tuple[tuple[int, float], ...]], ...]:
        """The channels that need most time, and whose messages these are; see `SideBySide`."""
        channel, job, heat = self.heats(samples)
        total = np.bincount(channel, heat, self._width)
        order = np.lexsort((np.arange(len(total)), -total))[:_HOTTEST]
        return tuple(
            (
                self._messages.channel_of_fabric(hot),
                float(total[hot]),
                tuple(
                    (int(job[row]), float(heat[row] / total[hot]))
                    for row in sorted(np.flatnonzero(channel == hot), key=lambda at: -heat[at])
                ),
            )
            for hot in order.tolist()
            if total[hot] > 0
        )


def _summed(key: NDArray[np.int64], values: Shares) -> tuple[NDArray[np.int64], Shares]:
    """Keys, each once and sorted, and the sums of their values."""
    each, place = np.unique(key, return_inverse=True)
    sums = np.bincount(place.reshape(-1), weights=values, minlength=len(each))
    return each, sums.astype(np.float64)


class Newcomer:
    """Judges where a further job could run, beside those that do: always by the same samples.

    Args:
        messages: of the jobs that run, with all hosts that may be taken as its others.
        jobs: how many they are.
        samples: which are drawn.
    """

    def __init__(self, messages: JobMessages, jobs: int, samples: range) -> None:
        self._messages = messages
        self._jobs = jobs
        self._samples = samples
        self._width = messages.channels + 1
        self._others = messages.sent(samples)
        self._load = self._others.load(self._at(self._others), self._size)
        if messages.together:
            self._share, _ = messages.solve(self._others, self._others.sample)
        else:
            self._share = self._shares(self._others, self._load)
        count = np.bincount(self._key(self._others), minlength=jobs * len(samples))
        self._part = 1 / count[self._key(self._others)]
        self.before = messages.judged(self._others, self._share, jobs, len(samples))

    @property
    def _size(self) -> int:
        return len(self._samples) * self._width

    def _key(self, sent: SampledMessages) -> NDArray[np.int64]:
        return sent.job * len(self._samples) + sent.sample

    def _at(self, sent: SampledMessages) -> NDArray[np.int64]:
        return sent.sample[:, np.newaxis] * self._width + sent.crossed

    def _shares(self, sent: SampledMessages, load: Shares) -> Shares:
        return sent.shares(load[self._at(sent)], self._messages.rate)

    def judge(self, hosts: Hosts) -> tuple[Shares, Shares, Shares]:
        """What a job on these hosts gets alone and beside the others, and what these then lose.

        Returns:
            Shapes [samples], [samples] and [jobs, samples].
        """
        sent = self._messages.sent_by_next(hosts, self._samples)
        if self._messages.together:
            return self._solved(sent)
        own = sent.load(self._at(sent), self._size)
        alone, beside = self._shares(sent, own), self._shares(sent, self._load + own)
        # Only those that meet the new messages get less.
        own[self._width - 1 :: self._width] = 0
        met = np.flatnonzero(own[self._at(self._others)].any(axis=1))
        others = self._others.of(met)
        lost = self._share[met] - self._shares(others, self._load + own)
        return self._means(sent, alone, beside, met, lost)

    def _solved(self, sent: SampledMessages) -> tuple[Shares, Shares, Shares]:
        """The same where all messages of a sample split together."""
        alone, _ = self._messages.solve(sent, sent.sample)
        both = (self._others, sent)
        names = ("crossed", "port", "job", "sample")
        columns = (np.concatenate([getattr(one, name) for one in both]) for name in names)
        every = SampledMessages(*columns)
        share, _ = self._messages.solve(every, every.sample)
        others = np.arange(len(self._share))
        lost = self._share - steadied(self._share, share[others])
        beside = steadied(alone, share[len(others) :])
        return self._means(sent, alone, beside, others, lost)

    def _means(
        self,
        sent: SampledMessages,
        alone: Shares,
        beside: Shares,
        met: NDArray[np.int64],
        lost: Shares,
    ) -> tuple[Shares, Shares, Shares]:
        """Of what the new messages get, and of what some of the others lose."""
        count, judged = len(self._samples), self._messages.judged
        if self._messages.waits_for_last[:-1].any():
            share = self._share.copy()
            share[met] -= lost
            losses = self.before - judged(self._others, share, self._jobs, count)
        else:
            key = self._key(self._others.of(met))
            summed = np.bincount(key, lost * self._part[met], self._jobs * count)
            losses = summed.astype(np.float64).reshape(self._jobs, count)
        own = (judged(sent, shares, self._jobs + 1, count)[-1] for shares in (alone, beside))
        return *own, losses
