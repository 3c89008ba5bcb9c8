"""Jobs side by side, packet by packet: which job's traffic holds another up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import UsageError
from contend.base.progress import Progress, shown_progress
from contend.base.schema import Share, Size
from contend.congestion.jobs.messages import Hosts, JobMessages
from contend.congestion.jobs.sampled import SampledMessages, Shares
from contend.congestion.packets.model import CABLE_LATENCY_S, PacketModel, Queues
from contend.congestion.processes import Workers, core_threads
from contend.congestion.simulation.averages import half_width
from contend.fabric import Fabric

# Counting is cheap and takes more. Where patterns are alike, when hosts start differs.
_LEAST_SAMPLES, _SAMPLES = 4, 8
_MOST_JOBS = 1 << 10
# Bytes of a message where jobs wait for their last one and nobody says.
_WHOLE = 1 << 18
# Jobs of which it is tried what the others get without them.
_TRIED = 8
# Less lost to a single job is not told, nor more of them than so many.
_LEAST, _TOLD = 0.01, 16
_NOBODY = np.zeros(0, np.uint32)


@dataclass(frozen=True, kw_only=True)
class QueuedJob:
    """What a job's packets get, as shares of its hosts' ports like those by counting."""

    job: str
    """The job."""
    queues: Queues
    """How switches keep packets: ``fifo`` or ``voq``."""
    alone: Share
    """Share that it gets without other jobs."""
    beside: Share
    """Share that it gets beside all other jobs."""
    counted: Share
    """Share that it gets beside all others by counting, in the same samples."""


@dataclass(frozen=True, kw_only=True)
class JobHeldUp:
    """A job that gets more where another does not run, all others beside both."""

    job: str
    """The job."""
    by: str
    """The other one."""
    queues: Queues
    """How switches keep packets."""
    loss: Share
    """Difference that the other one makes."""
    margin: Share
    """Half of the 95 % interval of the loss."""
    counted: Share
    """The same difference by counting."""
    shares: bool
    """Whether messages of both ever cross one channel."""
    channel: int
    """Number of the channel on the job's routes that is blocked for most more time because of the
    other one."""
    name: str
    """Both ends of that channel with their ports."""


@dataclass(frozen=True, kw_only=True)
class PacketJobs:
    """Jobs side by side, packet by packet."""

    samples: int
    """Number of patterns that were carried out."""
    buffer: Size
    """Bytes that the far end of every channel holds; 0 if there is no limit."""
    mtu: Size
    """Bytes of a packet."""
    message_bytes: Size | None
    """Bytes of a message; null if hosts send all the time."""
    jobs: tuple[QueuedJob, ...]
    """What jobs get, by kind of queues."""
    held_up: tuple[JobHeldUp, ...]
    """Which job holds which up, those first whose hosts lose most in sum."""


class _Carried:
    """What jobs get where some messages are sent, by counting (None) and by kind of queues."""

    def __init__(
        self, messages: JobMessages, model: PacketModel, jobs: int, samples: int, seed: int
    ) -> None:
        self._messages, self._model, self._seed = messages, model, seed
        self._flight = messages.flight(model.cable_latency, CABLE_LATENCY_S)
        self._shape = (jobs, samples)
        self.got = {kind: np.ones(self._shape) for kind in (None, *model.queues)}
        self.blocked = {kind: np.zeros(messages.channels) for kind in model.queues}

    def add(self, sent: SampledMessages, batch: range, workers: Workers) -> None:
        """Sends messages of some samples."""
        messages, width = self._messages, self._messages.channels + 1
        if messages.together:
            counted, _ = messages.solve(sent, sent.sample)
        else:
            at = sent.sample[:, np.newaxis] * width + sent.crossed
            counted = sent.shares(sent.load(at, len(batch) * width)[at], messages.rate)
        self._judge(None, sent, counted, batch)
        received = {kind: np.ones(len(sent.job)) for kind in self.blocked}
        in_sample = [np.flatnonzero(sent.sample == number) for number in range(len(batch))]

        def carry(number: int) -> dict[Queues, dict[str, Any]]:
            ways = messages.packet_ways(sent.of(in_sample[number]), batch[number])
            rates, seed = messages.rate[:-1], self._seed + batch[number]
            return self._model.carry(ways, rates, False, seed, _NOBODY, self._flight)

        for rows, carried in zip(in_sample, workers.map(carry, range(len(batch))), strict=True):
            for kind, found in carried.items():
                received[kind][rows] = found["share"]
                self.blocked[kind] += found["blocked"] / self._shape[1]
        for kind, share in received.items():
            self._judge(kind, sent, share, batch)

    def _judge(
        self, kind: Queues | None, sent: SampledMessages, share: Shares, batch: range
    ) -> None:
        judged = self._messages.judged(sent, share, self._shape[0], len(batch))
        self.got[kind][:, batch.start : batch.stop] = judged


def carry_jobs(
    fabric: Fabric,
    jobs: Sequence[Hosts],
    names: Sequence[str],
    model: PacketModel,
    *,
    pattern: str | tuple[str, ...],
    own: Mapping[int, str],
    rails: bool,
    samples: int,
    seed: int,
    progress: bool | Progress = False,
) -> PacketJobs:
    """Carries out what jobs send: each alone, all together, and all but each of some.

    A job is held up by another one's traffic also where they share no channel: its packets wait
    behind a third one's. Only what becomes of it without the other one tells.

    Args:
        fabric: with routes that packets can follow.
        jobs: hosts of every job.
        names: what jobs are called.
        model: how packets are kept.
        pattern: as of `judge_jobs`, and so are the following.
        own: see there.
        rails: see there.
        samples: how many at most; packets take longer than counting.
        seed: of all random choices.
        progress: True shows a bar.

    Raises:
        UsageError: packets cannot be followed, or there are too many jobs.
    """
    if len(jobs) > _MOST_JOBS:
        raise UsageError(f"packets: expected at most {_MOST_JOBS:,} jobs, got {len(jobs):,}")
    messages = JobMessages(fabric, jobs, pattern=pattern, own=own, rails=rails, seed=seed)
    samples = max(messages.enough(min(samples, _SAMPLES)), _LEAST_SAMPLES)
    batches = [(batch, messages.sent(batch)) for batch in messages.batches(samples)]
    if messages.waits_for_last.any() and model.message_bytes is None:
        model = replace(model, message_bytes=_WHOLE)
    count, runs = len(jobs), len(jobs) + 1 + min(len(jobs), _TRIED)
    crosses = np.zeros((count, messages.channels + 1), bool)
    for _, sent in batches:
        crosses[sent.job[:, np.newaxis], sent.crossed] = True
    crosses = crosses[:, :-1]

    with (
        core_threads(None) as workers,
        shown_progress(progress, fabric.name, "runs of all jobs") as tell,
    ):

        def sent_by(chosen: NDArray[np.int64]) -> _Carried:
            carried = _Carried(messages, model, count, samples, seed)
            for batch, sent in batches:
                carried.add(sent.of(np.flatnonzero(np.isin(sent.job, chosen))), batch, workers)
            return carried

        every = np.arange(count)
        beside = sent_by(every)
        alone = []
        for job in range(count):
            alone.append(sent_by(every[job : job + 1]))
            tell(job + 1, runs)
        # Those first whose messages cross what is blocked.
        stuck = np.max(list(beside.blocked.values()), axis=0)
        tried = np.argsort(-(crosses @ stuck), kind="stable")[:_TRIED]
        found = []
        for number, job in enumerate(tried.tolist() if count > 1 else []):
            without = sent_by(np.delete(every, job))
            tell(count + 1 + number, runs)
            for queues in model.queues:
                longer = beside.blocked[queues] - without.blocked[queues]
                # What a host cannot send waits for what follows.
                longer[-2 * len(messages.hosts) : -len(messages.hosts)] = -1
                lost, counted = (without.got[of] - beside.got[of] for of in (queues, None))
                for victim in np.flatnonzero(lost.mean(axis=1) > _LEAST).tolist():
                    if victim == job or lost[victim].mean() <= half_width(lost[victim]):
                        continue
                    where = int(np.where(crosses[victim], longer, -1).argmax())
                    where = messages.channel_of_fabric(where)
                    told = JobHeldUp(
                        job=names[victim],
                        by=names[job],
                        queues=queues,
                        loss=float(lost[victim].mean()),
                        margin=half_width(lost[victim]),
                        counted=float(counted[victim].mean()),
                        shares=bool((crosses[victim] & crosses[job]).any()),
                        channel=where,
                        name=fabric.channel_name(where),
                    )
                    found.append((-told.loss * len(jobs[victim]), told))
    return PacketJobs(
        samples=samples,
        buffer=model.buffer,
        mtu=model.mtu,
        message_bytes=model.message_bytes,
        jobs=tuple(
            QueuedJob(
                job=names[job],
                queues=queues,
                alone=float(alone[job].got[queues][job].mean()),
                beside=float(beside.got[queues][job].mean()),
                counted=float(beside.got[None][job].mean()),
            )
            for job in range(count)
            for queues in model.queues
        ),
        held_up=tuple(told for _, told in sorted(found, key=lambda one: one[0])[:_TOLD]),
    )
