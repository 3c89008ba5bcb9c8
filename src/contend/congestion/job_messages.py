"""The messages that jobs send at the same time, sample by sample, and the channels they cross."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from contend.congestion.drawing import check_seed
from contend.congestion.rates import LinkRates, link_rates
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
_MOST_JOBS = 1 << 14
_MOST_RANKS = 1 << 22
_MOST_MESSAGES = 1 << 22
# Samples of a job are drawn from numbers of its own, so that jobs of one size differ.
_SAMPLES_APART = 1 << 32


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
        UsageError: there is no such pattern for a job, messages do not arrive, or there are more
            jobs or hosts than any machine has.
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
        if len(jobs) > _MOST_JOBS:
            raise UsageError(f"expected at most {_MOST_JOBS:,} jobs that send, got {len(jobs):,}")
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
        alike = np.full(self.channels, self.rates.port or 1.0)
        return np.append(alike if len(known) == 0 else known, np.inf)

    @property
    def rated(self) -> bool:
        """Whether rates are in bytes per second; else all are 1."""
        return len(self.rates.by_place) > 0 or self.rates.port is not None

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
            try:
                made = parse_pattern(self._pattern, ranks)
            except UsageError as error:
                raise UsageError(f"{error} (in a job of {counted(ranks, 'host')})") from None
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
