"""Watches port counters: a state after every interval, until somebody ends it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import ArgumentError, ContendError, UsageError
from contend.base.schema import PythonOnly, Rate, Seconds, Share, Shown, told, told_once
from contend.base.units import rate_of
from contend.congestion.messages import channel_bytes
from contend.congestion.simulation.counting import simulate
from contend.fabric import (
    Carried,
    CounterSource,
    Fabric,
    PortCount,
    Reading,
    Samples,
    carried_between,
    counter_source,
)
from contend.traffic.placement import HostNames, ListedJob, read_jobs

# After so many readings there is a state, even if nobody has renewed the counters yet.
_PATIENCE = 12
# Shifts of a job's all-to-all that stand for all of them.
_SHIFTS = 16


@dataclass(frozen=True, eq=False)
class JobLoads:
    """What jobs send over channels, if the hosts of each send to each other."""

    names: tuple[str, ...]
    """Names of the jobs that run on at least two hosts of the fabric."""
    load: NDArray[np.float32]
    """Messages of each in a step of its all-to-all, on average, shape [jobs, channels]."""
    hosts: tuple[NDArray[np.int64], ...]
    """Numbers of the hosts of each."""

    def crossing(self, channel: int) -> list[str]:
        """Jobs that send over a channel, those that send most first."""
        load = self.load[:, channel]
        order = np.argsort(-load, kind="stable")
        return [self.names[job] for job in order.tolist() if load[job] > 0]


@dataclass(frozen=True, kw_only=True)
class WatchedChannel:
    """A channel between switches with counters, as it is now."""

    channel: int
    """Number of the channel."""
    name: str
    """Both its ends with their ports."""
    sent_Bps: Rate
    """Bytes per second that it carries."""
    age: Seconds
    """Seconds since the counters were so."""
    busy: Share | None
    """Part of its time that these bytes take; null if its rate is not known."""
    since: float | None
    """Seconds since 1970 from which on it is as busy as told; null if it is not."""
    waited: float | None
    """Ticks in which its port could not send; null if not known."""
    predicted: Share | None
    """Share of all messages that it should carry; null if not known."""
    discards: float | None
    """Packets discarded since watching began; null if not known."""
    errors: float | None
    """Errors at its end since watching began; null if not known."""
    downs: float | None
    """Times that its link went down since watching began; null if not known."""
    jobs: tuple[str, ...]
    """Running jobs that send over it, most first."""


@dataclass(frozen=True, eq=False)
class Watched(Shown, told="watched_document"):
    """What the channels of a fabric do now."""

    fabric: Fabric
    """The fabric."""
    time: float
    """Seconds since 1970 of the last reading."""
    carried: PythonOnly[Carried]
    """What every channel carried between its last two samples."""
    busy: PythonOnly[NDArray[np.float64]]
    """Part of the time that the bytes took at the link's rate, NaN if not known; [channels]."""
    since: PythonOnly[NDArray[np.float64]]
    """Seconds since 1970 from which on a channel has been as busy as `threshold`, NaN for those
    that are not; [channels]."""
    threshold: Share
    """Part of its time from which on a channel is told as busy."""
    faults: PythonOnly[dict[str, NDArray[np.float64]]]
    """What went wrong since watching began, by kind; [channels] each."""
    predicted: PythonOnly[NDArray[np.float64] | None]
    """Share of all messages that every channel should carry, [channels]; None where routes or jobs
    are not known."""
    predicted_by: str
    """What predicts: a pattern, or the running jobs."""
    jobs: PythonOnly[JobLoads | None]
    """Jobs that run; None where nobody asked."""
    missed: tuple[str, ...] = ()
    """Why sources could not be read, once for each loss."""
    returned: tuple[float, ...] = ()
    """Seconds after which sources can be read again, once for each return."""

    @told
    def seconds(self) -> Seconds | None:
        """Seconds between the last two samples of a channel, the median; null if none has two."""
        return self.carried.seconds

    @told_once
    def channels(self) -> tuple[WatchedChannel, ...]:
        """Channels between switches with counters, in the order of their numbers."""
        return tuple(map(self._channel, self.carried.known.tolist()))

    def _channel(self, channel: int) -> WatchedChannel:
        def known(values: NDArray[np.float64] | None) -> float | None:
            return None if values is None or np.isnan(values[channel]) else float(values[channel])

        carried = self.carried
        assert carried.apart is not None
        assert carried.at is not None
        return WatchedChannel(
            channel=channel,
            name=self.fabric.channel_name(channel),
            sent_Bps=float(carried.sent[channel] / carried.apart[channel]),
            age=max(0.0, self.time - float(carried.at[channel])),
            busy=known(self.busy),
            since=known(self.since),
            waited=known(carried.waited),
            predicted=known(self.predicted),
            discards=known(self.faults.get("discards")),
            errors=known(self.faults.get("errors")),
            downs=known(self.faults.get("downs")),
            jobs=() if self.jobs is None else tuple(self.jobs.crossing(channel)),
        )


def watch(
    fabric: Fabric,
    counters: Sequence[str | Path],
    *,
    interval: float = 10.0,
    count: int | None = None,
    jobs: str | Path | Sequence[ListedJob] | None = None,
    pattern: str = "bisect",
    threshold: float = 0.9,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Watched]:
    """Reads counters again and again, and says what channels have carried in between.

    A state follows every reading once a channel has two samples. What has no new sample keeps its
    last figure, with its time.

    Args:
        fabric: whose counters; with routes, for what should cross its channels.
        counters: files or folders that somebody renews, ``command:PROGRAM ...``, or the address of
            a Prometheus; see `contend.fabric.counter_source`.
        interval: seconds between two readings.
        count: how many states to give; None: one after the other for ever.
        jobs: that run, as `contend.jobs` takes them; None: the pattern predicts.
        pattern: that predicts where no jobs are given.
        threshold: part of its time from which on a channel is told as busy.
        clock: seconds since 1970.
        sleep: waits so many seconds.

    Raises:
        UsageError: the first reading tells nothing of the fabric, or the interval is not above 0.
        InputError: the first reading is something else. A source that fails later is told.
    """
    if interval <= 0:
        raise ArgumentError("interval", f"expected a time above 0, got {interval:g} s")
    sources = [_Source(counter_source(str(one)), clock) for one in counters]
    predicted, loads = _predicted(fabric, jobs, pattern)
    due = clock()
    for source in sources:
        source.read()
    first = Reading(fabric, chain.from_iterable(source.counts for source in sources))
    if not first.between:
        names = ", ".join(map(str, counters))
        raise UsageError(f"{names}: no counter is of a cable between switches of {fabric.name}")
    samples = Samples(first)
    since = np.full(fabric.channels, np.nan)
    missed: list[str] = []
    returned: list[float] = []
    given = readings = 0
    while count is None or given < count:
        # What took longer than the interval is not caught up with.
        due = max(due + interval, clock())
        sleep(max(0.0, due - clock()))
        for source in sources:
            try:
                returned += source.read()
            except ContendError as error:
                # Once for each loss.
                missed += [str(error)] if source.lost() else []
        then = max(source.at for source in sources)
        now = Reading(fabric, chain.from_iterable(source.counts for source in sources))
        carried = samples.add(now)
        readings += 1
        if not len(carried.known) and readings < _PATIENCE:
            continue
        assert carried.apart is not None
        assert carried.at is not None
        busy = _busy(fabric, carried)
        began = carried.at - carried.apart
        since = np.where(busy >= threshold, np.where(np.isnan(since), began, since), np.nan)
        yield Watched(
            fabric=fabric,
            time=then,
            carried=carried,
            busy=busy,
            since=since,
            threshold=threshold,
            faults=dict(carried_between(first, now).faults),
            predicted=predicted,
            predicted_by=pattern if loads is None else "the running jobs",
            jobs=loads,
            missed=tuple(missed),
            returned=tuple(returned),
        )
        given, missed, returned = given + 1, [], []


class _Source:
    """A source with what it told last."""

    def __init__(self, read: CounterSource, clock: Callable[[], float]) -> None:
        self._read, self._clock = read, clock
        self._told: list[PortCount] | None = None
        self._lost_at: float | None = None
        self.counts: list[PortCount] = []
        """All counts with a time: their own, or that of the middle of a reading, which may take
        seconds."""
        self.at = 0.0
        """Seconds since 1970 of the last reading."""

    def read(self) -> list[float]:
        """Reads it; for how long it could not be read before, if it could not."""
        begun = self._clock()
        try:
            told = self._read()
        finally:
            self.at = (begun + self._clock()) / 2
        if told is not self._told:
            self._told = told
            self.counts = [c if c.time is not None else replace(c, time=self.at) for c in told]
        lost, self._lost_at = self._lost_at, None
        return [] if lost is None else [self.at - lost]

    def lost(self) -> bool:
        """Whether it is lost since this reading."""
        if self._lost_at is not None:
            return False
        self._lost_at = self.at
        return True


def _busy(fabric: Fabric, carried: Carried) -> NDArray[np.float64]:
    rates = np.array([rate_of(label) or np.nan for label in fabric.rates])
    hosts = rates[fabric.host_rate]
    rate = np.concatenate([np.repeat(rates[fabric.cable_rate], 2), hosts, hosts])
    return carried.sent / (rate * carried.apart)


def _predicted(
    fabric: Fabric, jobs: str | Path | Sequence[ListedJob] | None, pattern: str
) -> tuple[NDArray[np.float64] | None, JobLoads | None]:
    """Share of all messages that every channel should carry, and the jobs that send them."""
    if jobs is not None:
        listed = read_jobs(str(jobs)) if isinstance(jobs, str | Path) else jobs
        loads = job_loads(fabric, listed, str(jobs) if isinstance(jobs, str | Path) else "")
        load = loads.load.sum(axis=0, dtype=np.float64)
    elif fabric.routes is None:
        return None, None
    else:
        loads = None
        load = np.asarray(simulate(fabric, pattern=pattern, samples=100).channel_load)
    between = load[: 2 * fabric.cables].sum()
    return load / between if between else load, loads


def job_loads(
    fabric: Fabric, listed: Sequence[ListedJob], source: str = "", seed: int = 1
) -> JobLoads:
    """The jobs that run, and what each sends where.

    Args:
        fabric: with routes by tables.
        listed: as a scheduler lists them; hosts that the fabric does not know are left out.
        source: what errors call their list.
        seed: of the choice of steps.

    Raises:
        UsageError: the fabric has no routes.
        InputError: a name means several hosts.
    """
    names, random = HostNames(fabric), np.random.default_rng(seed)
    told, loads, places = [], [], []
    for job in listed:
        known = [node for node in job.nodes if node in names]
        found = [host for node in known for host in names.find(node, source, job.line)]
        hosts = np.unique(np.array(found, dtype=np.int64))
        if not job.runs or len(hosts) < 2:
            continue
        steps = np.arange(1, len(hosts))
        if len(steps) > _SHIFTS:
            steps = random.choice(steps, _SHIFTS, replace=False)
        senders = np.tile(hosts, len(steps))
        receivers = np.concatenate([np.roll(hosts, -step) for step in steps.tolist()])
        sent = channel_bytes(fabric, senders, receivers, np.ones(len(senders), dtype=np.int64))
        told.append(job.id)
        loads.append((sent / len(steps)).astype(np.float32))
        places.append(hosts)
    load = np.stack(loads) if loads else np.zeros((0, fabric.channels), dtype=np.float32)
    return JobLoads(tuple(told), load, tuple(places))
