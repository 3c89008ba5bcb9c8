"""Jobs that run side by side: what each gets alone, beside all others, and beside each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from contend.congestion.drawing import check_seed
from contend.congestion.rates import LinkRates, link_rates
from contend.congestion.simulation import normal_half_width
from contend.errors import UsageError
from contend.fabric import Fabric
from contend.pattern import Pattern
from contend.pattern import parse as parse_pattern
from contend.routes import make_resolver
from contend.units import counted

Hosts = NDArray[np.uint32]
Shares = NDArray[np.float64]

# Channels that messages cross, held at once: some 100 MB with all that is made of them.
_CROSSINGS = 1 << 20
# Far above any machine: an array of jobs on the same hosts would be memory asked for by a file.
_MOST_RANKS = 1 << 22
_MOST_MESSAGES = 1 << 22
# Samples of a job are drawn from numbers of its own, so that jobs of one size differ.
_SAMPLES_APART = 1 << 32


@dataclass(frozen=True, eq=False)
class PairLoss:
    """What a job loses where one other runs beside it and nobody else does.

    Attributes:
        victim: the job that loses, by its number.
        rival: the other.
        loss: of the mean share of the victim's messages.
        margin: half of its 95 % interval.
        channels: on which the victim's messages lose it, with the part of the loss that each has,
            the largest first: of every message the channel that gives it least beside the rival.
    """

    victim: int
    rival: int
    loss: float
    margin: float
    channels: tuple[tuple[int, float], ...]


@dataclass(frozen=True, eq=False)
class SideBySide:
    """What the messages of jobs get that run at the same time.

    The share of a message is that of a simulation: the least, over the channels of its route, of
    rate over the number of messages there, in parts of the slower of its two hosts' ports; 1/pi
    where all links are alike. What a job gets is the mean over its messages.

    Attributes:
        alone: by the job's own messages only, shape [jobs, samples]; 1 where it sends none.
        beside: by the messages of all jobs, shape [jobs, samples].
        pairs: those that lose anything to one other job.
    """

    alone: Shares
    beside: Shares
    pairs: tuple[PairLoss, ...]


class JobMessages:
    """The messages that jobs send: in every sample each is in one round of its pattern.

    Rounds are drawn, as jobs do not wait for each other. A job has a rank on each of its hosts, in
    the order in which they are given. The same seed and number of a job draw the same messages,
    whatever the others are.

    Args:
        fabric: with routes.
        jobs: hosts of every job, each once.
        pattern: a specification, for as many ranks as each job has hosts.
        seed: of all random choices.
        others: further hosts between which messages may be asked for.

    Raises:
        UsageError: there is no such pattern for a job, or messages do not arrive.
    """

    def __init__(
        self,
        fabric: Fabric,
        jobs: Sequence[Hosts],
        *,
        pattern: str = "bisect",
        seed: int = 1,
        others: Hosts | None = None,
    ) -> None:
        check_seed(seed)
        ranks = sum(map(len, jobs))
        if ranks > _MOST_RANKS:
            raise UsageError(f"expected at most {_MOST_RANKS:,} hosts of all jobs, got {ranks:,}")
        every = [*jobs, np.zeros(0, np.uint32) if others is None else others]
        self.hosts = np.unique(np.concatenate(every)).astype(np.uint32)
        self._fabric = fabric
        self._pattern = pattern
        self._seed = seed
        self._patterns: dict[int, Pattern] = {}
        self._jobs = [self.places(hosts) for hosts in jobs]
        self._resolver = make_resolver(fabric, self.hosts)
        self.rates: LinkRates = link_rates(fabric, self.hosts)

    @property
    def channels(self) -> int:
        """Channels between switches, then injection and ejection by place; the next is padding."""
        return self._resolver.switch_channels + 2 * len(self.hosts)

    @cached_property
    def rate(self) -> Shares:
        """Rate of every channel, the padding's without bound, shape [channels + 1]."""
        known = self.rates.by_place
        rate = np.ones(self.channels) if len(known) == 0 else known
        return np.append(rate, np.inf)

    def channel_of_fabric(self, channel: int) -> int:
        """The fabric's number of a channel."""
        kind, place = divmod(channel - self._resolver.switch_channels, len(self.hosts))
        if kind < 0:
            return channel
        return int(2 * self._fabric.cables + kind * self._fabric.hosts + self.hosts[place])

    def places(self, hosts: Hosts) -> Hosts:
        """The numbers that hosts have here."""
        return np.searchsorted(self.hosts, hosts).astype(np.uint32)

    def sent(self, samples: range) -> Sent:
        """The messages of all jobs in these samples."""
        return self._sent(list(enumerate(self._jobs)), samples)

    def sent_by_next(self, hosts: Hosts, samples: range) -> Sent:
        """The messages of a further job, on hosts that may be any of those known."""
        return self._sent([(len(self._jobs), self.places(hosts))], samples)

    def drawn(self, *further: int) -> bool:
        """Whether samples differ, those of further jobs with so many hosts included."""
        patterns = self._patterns_of(further)
        by_chance = any(pattern.random or pattern.rounds > 1 for pattern in patterns)
        return by_chance or self._fabric.tables is None

    def batches(self, samples: int, *further: int) -> Iterator[range]:
        """Samples by as many at a time as memory allows for, with further jobs of so many hosts.

        Raises:
            UsageError: the jobs send more messages at once than can be counted so.
        """
        patterns = self._patterns_of(further)
        messages = sum(pattern.core.messages_expected / pattern.rounds for pattern in patterns)
        if messages > _MOST_MESSAGES:
            raise UsageError(
                f"pattern {self._pattern}: expected at most {_MOST_MESSAGES:,} messages of all "
                f"jobs at once, got {messages:,.0f}"
            )
        size = max(1, int(_CROSSINGS / (max(messages, 1) * (self._resolver.stride + 2))))
        for first in range(0, samples, size):
            yield range(first, min(first + size, samples))

    def _patterns_of(self, further: Sequence[int]) -> list[Pattern]:
        sizes = [*map(len, self._jobs), *further]
        return [self._pattern_of(ranks) for ranks in sizes if ranks > 1]

    def _sent(self, jobs: Sequence[tuple[int, Hosts]], samples: range) -> Sent:
        parts: list[tuple[NDArray[np.uint32], ...]] = []
        for job, places in jobs:
            if len(places) < 2:
                continue
            rounds = self._rounds(job, len(places), samples)
            for sample, number in zip(samples, rounds, strict=True):
                source, target = self._drawn(job, len(places), sample, number)
                apart = source != target
                ends = places[source[apart]], places[target[apart]]
                about = (job, sample - samples.start)
                parts.append((*ends, *(np.full(len(ends[0]), n, np.uint32) for n in about)))
        none = (np.zeros(0, np.uint32),) * 4
        source, target, job_of, sample_of = map(np.concatenate, zip(none, *parts, strict=True))
        route = self._routes(source, target, sample_of, samples)
        between, places_known = self._resolver.switch_channels, len(self.hosts)
        route[route >= between] = self.channels
        ports = np.stack((between + source, between + places_known + target), axis=1)
        crossed = np.concatenate((route, ports), axis=1).astype(np.int64)
        rate = self.rate
        port = np.minimum(rate[crossed[:, -2]], rate[crossed[:, -1]])
        return Sent(crossed, port, job_of.astype(np.int64), sample_of.astype(np.int64))

    def _rounds(self, job: int, ranks: int, samples: range) -> list[int]:
        """The round that a job is in, in every sample."""
        rounds = self._pattern_of(ranks).rounds
        if rounds == 1:
            return [0] * len(samples)
        words = np.random.Philox(key=[self._seed, job]).random_raw(samples.stop)
        chosen: list[int] = (words[samples.start :] % np.uint64(rounds)).tolist()
        return chosen

    def _drawn(self, job: int, ranks: int, sample: int, number: int) -> tuple[Hosts, Hosts]:
        own = (job * _SAMPLES_APART + sample) % (1 << 64)
        return self._pattern_of(ranks).messages(number, seed=self._seed, sample=own)

    def _pattern_of(self, ranks: int) -> Pattern:
        """Patterns are kept by size: jobs of a few sizes are the rule."""
        if ranks not in self._patterns:
            made = parse_pattern(self._pattern, ranks)
            if made.core.weighted:
                raise UsageError(f"pattern {made.name}: expected one without bytes of messages")
            self._patterns[ranks] = made
        return self._patterns[ranks]

    def _routes(
        self, source: Hosts, target: Hosts, sample_of: Hosts, samples: range
    ) -> NDArray[np.uint32]:
        """Channels between switches of every message; drawn anew for each sample where they are."""
        if self._fabric.tables is not None:
            return self._resolver.routes(source, target, 0)
        routes = np.empty((len(source), self._resolver.stride), dtype=np.uint32)
        for number, sample in enumerate(samples):
            chosen = sample_of == number
            draw = (self._seed * _SAMPLES_APART + sample) % (1 << 64)
            routes[chosen] = self._resolver.routes(source[chosen], target[chosen], draw)
        return routes


@dataclass(frozen=True, eq=False)
class Sent:
    """Messages of several samples, a row each.

    Attributes:
        crossed: channels, padded with the number after the last, shape [messages, longest].
        port: rate of the slower of both hosts' ports, shape [messages].
        job: whose, shape [messages].
        sample: in which, counted from the first of them, shape [messages].
    """

    crossed: NDArray[np.int64]
    port: Shares
    job: NDArray[np.int64]
    sample: NDArray[np.int64]

    def means(self, share: Shares, jobs: int, samples: int) -> Shares:
        """Mean share of every job's messages, 1 where it sends none, shape [jobs, samples]."""
        key = self.job * samples + self.sample
        count = np.bincount(key, minlength=jobs * samples)
        total = np.bincount(key, weights=share, minlength=jobs * samples)
        return np.where(count > 0, total / np.maximum(count, 1), 1.0).reshape(jobs, samples)


def judge_jobs(
    fabric: Fabric,
    jobs: Sequence[Hosts],
    *,
    pattern: str = "bisect",
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
        pattern: a specification, for as many ranks as each job has hosts.
        samples: how many are drawn; two where all would be alike.
        seed: of all random choices.
        progress: told how many samples are counted, of how many.

    Raises:
        UsageError: a number is out of range, there is no such pattern for a job, or messages do not
            arrive.
    """
    if samples < 2:
        raise UsageError(f"expected at least 2 samples, got {counted(samples, 'sample')}")
    messages = JobMessages(fabric, jobs, pattern=pattern, seed=seed)
    if not messages.drawn():
        samples = 2
    alone, beside = (np.ones((len(jobs), samples)) for _ in range(2))
    losses = _Losses(len(jobs), messages.channels + 1)
    for batch in messages.batches(samples):
        sent = messages.sent(batch)
        shared = _Shared(sent, messages, len(jobs), len(batch))
        alone[:, batch.start : batch.stop] = sent.means(shared.alone, len(jobs), len(batch))
        beside[:, batch.start : batch.stop] = sent.means(shared.beside, len(jobs), len(batch))
        losses.add(sent, shared, len(batch))
        if progress is not None:
            progress(batch.stop, samples)
    return SideBySide(alone, beside, losses.pairs(samples, messages))


class _Shared:
    """Who else is on the channels that messages cross."""

    def __init__(self, sent: Sent, messages: JobMessages, jobs: int, samples: int) -> None:
        width = messages.channels + 1
        self._jobs = jobs
        self._rate = messages.rate
        self._sent = sent
        at = sent.sample[:, np.newaxis] * width + sent.crossed
        # Sorted by sample, channel and job: who shares a channel stands side by side.
        self._load, own, self._own_load = np.unique(
            at * jobs + sent.job[:, np.newaxis], return_inverse=True, return_counts=True
        )
        self._own = own.reshape(at.shape)
        all_load = np.bincount(at.reshape(-1), minlength=samples * width)
        rate = self._rate[sent.crossed]
        port = sent.port
        self.alone: Shares = (rate / self._own_load[self._own]).min(axis=1) / port
        self.beside: Shares = (rate / all_load[at]).min(axis=1) / port

    def by_rival(self) -> tuple[NDArray[np.int64], ...]:
        """Messages that lose to a single other job: number, rival, channel, and share lost.

        A row for each such message and rival.
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
        row = np.repeat(np.arange(len(own)), others)
        nth = np.arange(len(row)) - np.repeat(np.cumsum(others) - others, others)
        rival_entry = first[of_group[own]][row] + nth
        apart = rival_entry != own[row]
        row, rival_entry = row[apart], rival_entry[apart]
        of_message, channel = message[row], self._sent.crossed[message[row], place[row]]
        load = self._own_load[own[row]] + self._own_load[rival_entry]
        lost = self.alone[of_message] - self._rate[channel] / load / self._sent.port[of_message]
        some = lost > 1e-12
        rival = self._load[rival_entry[some]] % self._jobs
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

    def add(self, sent: Sent, shared: _Shared, samples: int) -> None:
        message, rival, channel, lost = shared.by_rival()
        count = np.bincount(sent.job * samples + sent.sample, minlength=self._jobs * samples)
        job, sample = sent.job[message], sent.sample[message]
        # Parts of the mean over the job's messages.
        lost = lost / count[job * samples + sample]
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
        self._load = np.bincount(self._at(self._others).reshape(-1), minlength=self._size)
        self._share = self._shares(self._others, self._load)
        count = np.bincount(self._key(self._others), minlength=jobs * len(samples))
        self._part = 1 / count[self._key(self._others)]
        self.before = self._others.means(self._share, jobs, len(samples))

    @property
    def _size(self) -> int:
        return len(self._samples) * self._width

    def _key(self, sent: Sent) -> NDArray[np.int64]:
        return sent.job * len(self._samples) + sent.sample

    def _at(self, sent: Sent) -> NDArray[np.int64]:
        return sent.sample[:, np.newaxis] * self._width + sent.crossed

    def _shares(self, sent: Sent, load: NDArray[np.int64]) -> Shares:
        rate = self._messages.rate[sent.crossed]
        found: Shares = (rate / load[self._at(sent)]).min(axis=1) / sent.port
        return found

    def judge(self, hosts: Hosts) -> tuple[Shares, Shares, Shares]:
        """What a job on these hosts gets alone and beside the others, and what these then lose.

        Returns:
            Shapes [samples], [samples] and [jobs, samples].
        """
        count = len(self._samples)
        sent = self._messages.sent_by_next(hosts, self._samples)
        own = np.bincount(self._at(sent).reshape(-1), minlength=self._size)
        alone, beside = self._shares(sent, own), self._shares(sent, self._load + own)
        # Only those that meet the new messages get less.
        own[self._width - 1 :: self._width] = 0
        met = np.flatnonzero(own[self._at(self._others)].any(axis=1))
        others = Sent(
            self._others.crossed[met],
            self._others.port[met],
            self._others.job[met],
            self._others.sample[met],
        )
        lost = self._share[met] - self._shares(others, self._load + own)
        losses = np.bincount(
            self._key(others), weights=lost * self._part[met], minlength=self._jobs * count
        ).astype(np.float64)
        mine = Sent(sent.crossed, sent.port, np.zeros_like(sent.job), sent.sample)
        return (
            mine.means(alone, 1, count)[0],
            mine.means(beside, 1, count)[0],
            losses.reshape(self._jobs, -1),
        )
