"""What is told of jobs on a fabric: each job, whom it hurts, and the hottest channels of all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.base.schema import PythonOnly, Rate, Share, Shown
from contend.base.units import counted
from contend.congestion import PacketJobs
from contend.cure.running.next_job import NextJob
from contend.cure.servers import JobCost
from contend.fabric import Fabric


@dataclass(frozen=True, eq=False, kw_only=True)
class Job:
    """A job that has hosts."""

    job: str
    """Its number or name at its scheduler."""
    name: str
    """Name that its user gave it, or ""."""
    runs: bool
    """Whether it runs; one that does not keeps its hosts, but sends nothing."""
    servers: int
    """Number of its servers that the fabric has."""
    hosts: tuple[str, ...]
    """Names of their hosts on the fabric."""
    numbers: PythonOnly[NDArray[np.uint32]]
    """Numbers of these hosts, shape [hosts]."""
    unknown: tuple[str, ...]
    """Names of its hosts that the fabric does not know."""
    leaves: int
    """Number of switches that its hosts are attached to."""
    fewest_leaves: int
    """Number of leaves that would do, with its own and the free servers."""
    alone: Share | None = None
    """Share of its hosts' ports that it gets without other jobs: the mean over its messages, or,
    with `waits_for_last`, until the last one is done; null if it sends none."""
    beside: Share | None = None
    """Share that it gets beside all other jobs; null if it sends none."""
    beside_Bps: Rate | None = None
    """Bytes per second that it gets beside all others; null if rates of links are not known."""
    loss: Share = 0.0
    """Difference between both shares."""
    margin: Share = 0.0
    """Half of the 95 % interval of the loss."""
    rings: Share | None = None
    """Share that its rings get beside all others; null if it sends none."""
    all_to_alls: Share | None = None
    """Share that its all-to-alls within rails get beside all others; null if it sends none."""
    all_at_once: Share | None = None
    """Share that an all-to-all, step by step, gets while all others carry one out, too; null if it
    sends none."""
    pattern: str = ""
    """Pattern of its own; "" if it sends what all jobs send."""
    waits_for_last: bool = False
    """Whether its shares are what its hosts get until its last message is done, as where ranks have
    several messages at once and in the steps of rings and all-to-alls; else means over messages."""

    @property
    def loses(self) -> bool:
        """Whether it loses more to others than chance may make it seem."""
        return self.loss > self.margin

    @property
    def sends(self) -> bool:
        """Whether its messages cross the network."""
        return self.alone is not None


@dataclass(frozen=True)
class UsedBy:
    """A job on a channel."""

    job: str
    """Its number or name at its scheduler."""
    part: Share
    """Part of the channel's heat that is its messages'."""


@dataclass(frozen=True)
class SharedChannel:
    """A channel between switches that the messages of all jobs need."""

    channel: int
    """Number of the channel."""
    source: str
    """Where it begins."""
    target: str
    """Where it ends."""
    heat: float
    """Number of messages at once, in the mean over samples; of a channel slower than the fastest
    port so many more as it needs longer for each."""
    jobs: tuple[UsedBy, ...]
    """Jobs whose messages these are, the one with most first."""


@dataclass(frozen=True)
class LostOn:
    """A channel on which two jobs hurt each other."""

    channel: int
    """Number of the channel."""
    source: str
    """Where it begins."""
    target: str
    """Where it ends."""
    part: Share
    """Part of what both lose to each other that is lost here."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Harm:
    """What two jobs do to each other where nobody else runs."""

    jobs: tuple[str, str]
    """Both jobs."""
    places: PythonOnly[tuple[int, int]]
    """Places of both among all jobs."""
    losses: tuple[Share, Share]
    """What each loses of its mean share."""
    margins: tuple[Share, Share]
    """Half of the 95 % intervals of both losses."""
    channels: int
    """Number of channels on which it is lost."""
    most: tuple[LostOn, ...]
    """Channels on which most of it is lost, ten at most, the worst first."""

    @property
    def hurts(self) -> bool:
        """Whether one of them loses more than chance may make it seem."""
        return any(loss > margin for loss, margin in zip(self.losses, self.margins, strict=True))


@dataclass(frozen=True, eq=False, kw_only=True)
class Jobs(Shown, told="jobs_document"):
    """Jobs that run on a fabric at the same time."""

    fabric: Fabric
    """The fabric."""
    pattern: str
    """What every job sends."""
    patterns: PythonOnly[tuple[str, ...]]
    """Patterns that every job sends, one after the other."""
    within_rails: bool
    """Whether servers send from every adapter to the one on its rail."""
    rails: int
    """Number of the servers' rails if rings and all-to-alls are sent within them, else 0."""
    waits_for_last: bool
    """Whether all jobs that send wait for their last message, as their own field says."""
    samples: int
    """Number of patterns that were drawn."""
    seed: int
    """Seed of all random choices."""
    free: int
    """Number of servers that no job has and that may be taken."""
    jobs: tuple[Job, ...]
    """Jobs in the order in which they were listed."""
    pairs: tuple[Harm, ...]
    """Jobs that hurt each other, those first whose hosts lose most in sum."""
    hottest: tuple[SharedChannel, ...] = ()
    """The ten channels between switches that need most time while all jobs send, the hottest
    first."""
    used: PythonOnly[NDArray[np.float64]]
    """Every channel between switches with every job on it, by its place among all, and the heat of
    its messages, shape [pairs, 3]."""
    next: NextJob | None
    """Best servers for the next job; null if that was not asked."""
    seconds: float
    """Seconds that it took."""
    packets: PacketJobs | None = None
    """The same packet by packet; null unless that was asked."""
    costs: tuple[JobCost, ...] = ()
    """What each job loses with the parts that are gone; none where nothing is."""

    @property
    def traffic(self) -> str:
        """The pattern in words."""
        words = "rings and all-to-alls" if self.rails else self.pattern
        return f"{words} within rails" if self.within_rails else words

    def __repr__(self) -> str:
        losing = sum(job.loses for job in self.jobs)
        return f"<Jobs on {self.fabric.name}: {losing} of {counted(len(self.jobs), 'job')} lose>"
