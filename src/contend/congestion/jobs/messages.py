"""The messages that jobs send at the same time, sample by sample, and the channels they cross."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import UsageError
from contend.base.units import counted
from contend.congestion.drawing import check_seed
from contend.congestion.jobs.sampled import SampledMessages, Shares
from contend.congestion.rates import LinkRates, cable_seconds, link_rates
from contend.fabric import Fabric, rails_of, servers_of
from contend.routes import Round, Ways, each_alone, make_resolver, routes_of
from contend.traffic.pattern import Pattern
from contend.traffic.pattern import parse as parse_pattern

Hosts = NDArray[np.uint32]

_Ranks = NDArray[np.uint32]
# In place of a host, where a server has none on a rail.
_NONE = np.iinfo(np.uint32).max

ALL_TO_ALLS = "shifts"
"""All-to-alls step by step."""
RAIL_PATTERNS = ("ring", ALL_TO_ALLS)
"""What libraries for GPUs send within rails: rings, and all-to-alls step by step."""

# Channels that messages cross, held at once: some 100 MB with all that is made of them.
_CROSSINGS = 1 << 20
# Far above any machine: an array of jobs on the same hosts would be memory asked for by a file.
_MOST_JOBS = 1 << 14
_MOST_RANKS = 1 << 22
_MOST_MESSAGES = 1 << 22
# Of them all in one sample, where every message crosses hundreds of channels.
_MOST_CROSSINGS = 1 << 25
# Samples of a job are drawn from numbers of its own, so that jobs of one size differ.
_SAMPLES_APART = 1 << 32


class JobMessages:
    """The messages that jobs send: in every sample each is in one round of its pattern.

    Rounds are drawn, as jobs do not wait for each other. Of several patterns a job sends one after
    the other, and each job begins with another by chance. A job has a rank on each of its hosts, in
    the order in which they are given; or within rails a rank on each of its servers, of which every
    adapter on a rail sends to the one on the same, as libraries for GPUs do. The same seed and
    number of a job draw the same messages, whatever the others are.

    Args:
        fabric: with routes.
        jobs: hosts of every job, each once.
        pattern: a specification, for as many ranks as each job has hosts; or several.
        own: patterns that some jobs send instead, by number, with a rank on each of their hosts.
        rails: whether messages stay within rails; a job has then as many ranks as servers.
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
        pattern: str | tuple[str, ...] = "bisect",
        own: Mapping[int, str] | None = None,
        rails: bool = False,
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
        self.patterns = (pattern,) if isinstance(pattern, str) else pattern
        self._own = own or {}
        self._seed = seed
        self._made: dict[tuple[int, str | None], tuple[Pattern, ...]] = {}
        self._server = servers_of(fabric) if rails else None
        self._rail = None if self._server is None else rails_of(fabric, self._server)
        self._jobs = [self._ranks(hosts, job) for job, hosts in enumerate(jobs)]
        self._resolver = make_resolver(
            fabric, self.hosts, follows=Ways.DRAWN | Ways.SPLIT | Ways.SOLVED
        )
        self.rates: LinkRates = link_rates(fabric, self.hosts)
        routes = fabric.routes
        self.together = routes is not None and Ways.TOGETHER in routes.ways
        """Whether how a message splits depends on all others: then `solve` says what it gets."""
        alone = self._resolver
        if self.together:
            alone = make_resolver(each_alone(fabric), self.hosts, follows=Ways.SPLIT)
        self._crossed = alone.crossed

    @property
    def channels(self) -> int:
        """Channels between switches, then injection and ejection by place; the next is padding."""
        return self._resolver.switch_channels + 2 * len(self.hosts)

    @property
    def waits_for_last(self) -> NDArray[np.bool_]:
        """Whether each job is judged by its last message: where ranks have several at once.

        So are rings and all-to-alls within rails, each step of which waits for all of the one
        before. The last is a further job. It is known once messages were sent.
        """
        steps = self._server is not None and set(self.patterns) <= set(RAIL_PATTERNS)
        several = {
            spec: any(one.several_at_once for one in made) for (_, spec), made in self._made.items()
        }
        every = (self._own.get(job) for job in range(len(self._jobs) + 1))
        last = [several.get(spec, False) or (spec is None and steps) for spec in every]
        return np.array(last, dtype=bool)

    def judged(self, sent: SampledMessages, share: Shares, jobs: int, samples: int) -> Shares:
        """What jobs get: the mean over their messages, or until the last one is done.

        Args:
            sent: the messages.
            share: what each gets of the slower of its ports.
            jobs: how many of the jobs, from the first on, and a further one.
            samples: how many samples.

        Returns:
            Shape [jobs, samples].
        """
        last = self.waits_for_last[:jobs, np.newaxis]
        means = sent.means(share, jobs, samples)
        if not last.any():
            return means
        return np.where(last, sent.until_last(share, self.rate, jobs, samples), means)

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

    def sent(self, samples: range) -> SampledMessages:
        """The messages of all jobs in these samples."""
        return self._sent(list(enumerate(self._jobs)), samples)

    def sent_by_next(self, hosts: Hosts, samples: range) -> SampledMessages:
        """The messages of a further job, on hosts that may be any of those known."""
        return self._sent([(len(self._jobs), self._ranks(hosts, len(self._jobs)))], samples)

    @cached_property
    def _rounds_solved(self) -> _core.IdealRounds:
        return _core.IdealRounds(self._resolver, self.rate[:-1])

    def solve(
        self, sent: SampledMessages, key: NDArray[np.int64], *, parts: bool = False
    ) -> tuple[Shares, SampledMessages]:
        """What messages get where those of a key split together as is best for all of these.

        Args:
            sent: the messages.
            key: of every message, shape [messages].
            parts: whether to tell the channels that they cross.

        Returns:
            Shares of the slower of their ports, and the messages with these channels.
        """
        share = np.ones(len(key))
        order = np.argsort(key, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(key[order])) + 1) if len(key) else []
        found = []
        for rows in groups:
            source, target = self._ends(sent.of(rows))
            share[rows], channel, split = self._rounds_solved.solve(
                source, target, self.channels, parts
            )
            found.append((channel, split))
        if not parts:
            return share, sent
        width = max((channel.shape[1] for channel, _ in found), default=0)
        crossed = np.full((len(key), width + 2), self.channels, dtype=np.int64)
        part = np.zeros(crossed.shape)
        crossed[:, width:], part[:, width:] = sent.crossed, 1.0
        for rows, (channel, split) in zip(groups, found, strict=True):
            crossed[rows, : channel.shape[1]] = channel
            part[rows, : channel.shape[1]] = split
        return share, replace(sent, crossed=crossed, part=part)

    def packet_ways(self, sent: SampledMessages, sample: int) -> _core.PacketRoutes:
        """Where the packets of messages of one sample may go."""
        messages = Round(*self._ends(sent), self._draw(sample))
        routes = routes_of(self._fabric)
        return routes.packet_routes(self._fabric, self.hosts, self._resolver, messages)

    def flight(self, latency: float | str, usual: float) -> NDArray[np.float64]:
        """Seconds along the cable of every channel, see `cable_seconds`."""
        return cable_seconds(self._fabric, self.hosts, latency, usual)

    def _ends(self, sent: SampledMessages) -> tuple[Hosts, Hosts]:
        """The places that messages leave and come to."""
        between, places = self._resolver.switch_channels, len(self.hosts)
        ends = (sent.crossed[:, -2:] - np.array([between, between + places])).astype(np.uint32)
        return np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1])

    def _draw(self, sample: int) -> int:
        return (self._seed * _SAMPLES_APART + sample) % (1 << 64)

    def drawn(self, *further: Hosts) -> bool:
        """Whether samples differ, those of further jobs on such hosts included."""
        patterns = self._all_patterns(further)
        by_chance = any(pattern.random or pattern.rounds > 1 for pattern in patterns)
        # Which patterns of several jobs meet.
        by_chance |= len(patterns) > len(self.patterns) > 1
        return by_chance or self._fabric.draws_routes

    def enough(self, samples: int, *further: Hosts) -> int:
        """So many samples, or a few more, in which every pattern comes as often.

        Two of each where all would be alike, with further jobs on such hosts.
        """
        count = len(self.patterns)
        return (
            2 * count if not self.drawn(*further) else max(2 * count, -(-samples // count) * count)
        )

    def pattern_in(self, job: int, samples: range) -> NDArray[np.int64]:
        """Which of the patterns a job sends in every sample, by number, shape [samples].

        In as many samples as there are patterns, from a multiple of their number on, it sends each
        once.
        """
        count = len(self.patterns)
        number = np.arange(samples.start, samples.stop, dtype=np.int64)
        if count == 1 or len(number) == 0:
            return np.zeros(len(number), dtype=np.int64)
        words = np.random.Philox(key=[self._seed, job + _SAMPLES_APART])
        first = words.random_raw(int(number[-1]) // count + 1)[number // count]
        return (number + (first % np.uint64(count)).astype(np.int64)) % count

    def batches(self, samples: int, *further: Hosts) -> Iterator[range]:
        """Samples by as many at a time as memory allows for, with further jobs on such hosts.

        Raises:
            UsageError: the jobs send more messages at once than can be counted so.
        """
        messages = 0.0
        for job, ranks in self._with(further):
            messages += ranks.shape[1] * max(
                pattern.core.messages_expected / pattern.rounds
                for pattern in self._patterns_of(len(ranks), job)
            )
        crossed = self._crossed + 2
        most = min(_MOST_MESSAGES, _MOST_CROSSINGS // crossed)
        if messages > most:
            raise UsageError(
                f"pattern {', '.join(self.patterns)}: expected at most {most:,} messages of all "
                f"jobs at once, got {messages:,.0f}"
            )
        size = max(1, int(_CROSSINGS / (max(messages, 1) * crossed)))
        for first in range(0, samples, size):
            yield range(first, min(first + size, samples))

    def _all_patterns(self, further: Sequence[Hosts]) -> list[Pattern]:
        jobs = self._with(further)
        return [one for job, ranks in jobs for one in self._patterns_of(len(ranks), job)]

    def _with(self, further: Sequence[Hosts]) -> list[tuple[int, _Ranks]]:
        """Jobs that send, by number, further ones included, and their ranks."""
        new = (self._ranks(hosts, len(self._jobs)) for hosts in further)
        return [(job, ranks) for job, ranks in enumerate((*self._jobs, *new)) if len(ranks) > 1]

    def _ranks(self, hosts: Hosts, job: int) -> _Ranks:
        """The places of every rank's hosts by rail, `_NONE` for none, shape [ranks, rails]."""
        places = self.places(hosts)
        if self._server is None or self._rail is None or job in self._own:
            return places[:, np.newaxis]
        _, first, rank = np.unique(self._server[hosts], return_index=True, return_inverse=True)
        # Servers in the order in which they are given.
        number = np.argsort(np.argsort(first))
        rail = self._rail[hosts]
        found = np.full((len(first), int(rail.max(initial=0)) + 1), _NONE, dtype=np.uint32)
        on_rail = rail >= 0
        found[number[rank.reshape(-1)][on_rail], rail[on_rail]] = places[on_rail]
        return found

    def _sent(self, jobs: Sequence[tuple[int, _Ranks]], samples: range) -> SampledMessages:
        parts: list[tuple[NDArray[np.uint32], ...]] = []
        for job, ranks in jobs:
            if len(ranks) < 2:
                continue
            rounds = self._rounds(job, len(ranks), samples)
            for sample, (pattern, number) in zip(samples, rounds, strict=True):
                own = (job * _SAMPLES_APART + sample) % (1 << 64)
                source, target = pattern.messages(number, seed=self._seed, sample=own)
                apart = source != target
                ends = _on_rails(ranks[source[apart]], ranks[target[apart]])
                about = (job, sample - samples.start)
                parts.append((*ends, *(np.full(len(ends[0]), n, np.uint32) for n in about)))
        none = (np.zeros(0, np.uint32),) * 4
        source, target, job_of, sample_of = map(np.concatenate, zip(none, *parts, strict=True))
        route, part = self._routes(source, target, sample_of, samples)
        between, places_known = self._resolver.switch_channels, len(self.hosts)
        route[route >= between] = self.channels
        ports = np.stack((between + source, between + places_known + target), axis=1)
        crossed = np.concatenate((route, ports), axis=1).astype(np.int64)
        if part is not None:
            part = np.concatenate((part, np.ones(ports.shape)), axis=1)
        rate = self.rate
        port = np.minimum(rate[crossed[:, -2]], rate[crossed[:, -1]])
        whose, which = job_of.astype(np.int64), sample_of.astype(np.int64)
        return SampledMessages(crossed, port, whose, which, part)

    def _rounds(self, job: int, ranks: int, samples: range) -> list[tuple[Pattern, int]]:
        """The pattern and its round that a job is in, in every sample."""
        made = self._patterns_of(ranks, job)
        patterns = [made[number] for number in self.pattern_in(job, samples).tolist()]
        if all(pattern.rounds == 1 for pattern in patterns):
            return [(pattern, 0) for pattern in patterns]
        words = np.random.Philox(key=[self._seed, job]).random_raw(samples.stop)
        drawn: list[int] = words[samples.start :].tolist()
        return [
            (pattern, word % pattern.rounds) for pattern, word in zip(patterns, drawn, strict=True)
        ]

    def _patterns_of(self, ranks: int, job: int) -> tuple[Pattern, ...]:
        """Patterns are kept by size: jobs of a few sizes are the rule."""
        own = self._own.get(job)
        if (ranks, own) not in self._made:
            every = self.patterns if own is None else (own,) * len(self.patterns)
            self._made[ranks, own] = tuple(self._make(spec, ranks) for spec in every)
        return self._made[ranks, own]

    def _make(self, spec: str, ranks: int) -> Pattern:
        try:
            made = parse_pattern(spec, ranks)
        except UsageError as error:
            thing = "host" if self._server is None else "server"
            raise UsageError(*error.parts, f" (in a job of {counted(ranks, thing)})") from None
        if made.core.weighted:
            raise UsageError(f"pattern {made.name}: expected one without bytes of messages")
        return made

    def _routes(
        self, source: Hosts, target: Hosts, sample_of: Hosts, samples: range
    ) -> tuple[NDArray[np.uint32], Shares | None]:
        """Channels between switches of every message; drawn anew for each sample where they are.

        With them the part of the message on each, None where that is all of it. None are told
        where messages split together.
        """
        if self.together:
            return np.zeros((len(source), 0), dtype=np.uint32), None
        if self._resolver.splits:
            return self._resolver.parts(source, target)
        if not self._fabric.draws_routes:
            return self._resolver.routes(source, target, 0), None
        routes = np.empty((len(source), self._resolver.stride), dtype=np.uint32)
        for number, sample in enumerate(samples):
            chosen = sample_of == number
            drawn = self._resolver.routes(source[chosen], target[chosen], self._draw(sample))
            routes[chosen] = drawn
        flows = self._resolver.unit
        return routes, None if flows == 1 else np.full(routes.shape, 1 / flows)


def _on_rails(source: _Ranks, target: _Ranks) -> tuple[Hosts, Hosts]:
    """Ends of the messages between ranks whose hosts these are, shape [messages, rails]."""
    both = (source != _NONE) & (target != _NONE)
    # Servers without a rail in common use the first adapter of each.
    apart = np.flatnonzero(~both.any(axis=1))
    first = [rows[apart, (rows[apart] != _NONE).argmax(axis=1)] for rows in (source, target)]
    return np.append(source[both], first[0]), np.append(target[both], first[1])
