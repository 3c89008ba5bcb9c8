"""Jobs on a fabric: how well each sits, whom it hurts, and where the next one would sit best."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from contend.congestion import RAIL_PATTERNS, PairLoss, SideBySide, half_width, judge_jobs
from contend.cure.next_job import NextJob, choose_next
from contend.cure.servers import Servers
from contend.errors import InputError
from contend.fabric import Fabric, count_rails, source_name
from contend.placement import (
    HostChoice,
    HostNames,
    ListedJob,
    choose_hosts,
    jobs_of_slurm,
    read_jobs,
)
from contend.progress import Progress, shown_progress
from contend.shown import Shown
from contend.units import counted

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True, eq=False)
class Job:
    """A job, where it sits, and what its messages get.

    Attributes:
        listed: as its scheduler lists it.
        hosts: that it has on the fabric, shape [hosts].
        servers: how many servers these are.
        unknown: names of its hosts that the fabric does not know.
        leaves: switches that its hosts are attached to.
        fewest_leaves: on which as many of its and the free servers would hang.
        alone: what its messages get without other jobs, as a share of their hosts' ports, in the
            mean; None where it sends none: it has one server, or does not run.
        beside: what they get beside all other jobs.
        loss: of the one to the other.
        margin: half of the 95 % interval of the loss.
        beside_Bps: `beside` as a rate; None where rates of links are not known.
        by_pattern: what messages of each pattern get beside all others.
    """

    listed: ListedJob
    hosts: NDArray[np.uint32]
    servers: int
    unknown: tuple[str, ...]
    leaves: int
    fewest_leaves: int
    alone: float | None = None
    beside: float | None = None
    loss: float = 0.0
    margin: float = 0.0
    beside_Bps: float | None = None
    by_pattern: tuple[float, ...] = ()

    @property
    def loses(self) -> bool:
        """Whether it loses more to others than chance may make it seem."""
        return self.loss > self.margin

    @property
    def sends(self) -> bool:
        """Whether its messages cross the network."""
        return self.alone is not None


@dataclass(frozen=True, eq=False)
class Harm:
    """What two jobs do to each other where nobody else runs.

    Attributes:
        jobs: both, by their place among all.
        losses: what each loses of its mean share.
        margins: half of the 95 % intervals of both.
        channels: on which it is lost, with the part of it that each channel has, the largest first.
    """

    jobs: tuple[int, int]
    losses: tuple[float, float]
    margins: tuple[float, float]
    channels: tuple[tuple[int, float], ...]

    @property
    def hurts(self) -> bool:
        """Whether one of them loses more than chance may make it seem."""
        return any(loss > margin for loss, margin in zip(self.losses, self.margins, strict=True))


@dataclass(frozen=True, eq=False)
class Jobs(Shown, told="jobs_document"):
    """Jobs that run on a fabric at the same time.

    Attributes:
        fabric: which.
        jobs: in the order in which they were listed.
        pairs: those that hurt each other, the worst first: by what their hosts lose in sum.
        free: servers that no job has and that may be taken.
        next: where the next job would sit best; None where that was not asked.
        patterns: that every job sends, one after the other.
        within_rails: whether it sends it between its servers, every adapter to that on its rail.
        rails: of the cluster's servers, where rings and all-to-alls are sent within them; else 0.
        samples: how many were drawn.
        seed: of all random choices.
        seconds: that it took.
    """

    fabric: Fabric
    jobs: tuple[Job, ...]
    pairs: tuple[Harm, ...]
    free: int
    next: NextJob | None
    patterns: tuple[str, ...]
    within_rails: bool
    rails: int
    samples: int
    seed: int
    seconds: float

    @property
    def pattern(self) -> str:
        """What every job sends."""
        return ", ".join(self.patterns)

    @property
    def traffic(self) -> str:
        """The pattern in words."""
        words = "rings and all-to-alls" if self.rails else self.pattern
        return f"{words} within rails" if self.within_rails else words

    def __repr__(self) -> str:
        losing = sum(job.loses for job in self.jobs)
        return f"<Jobs on {self.fabric.name}: {losing} of {counted(len(self.jobs), 'job')} lose>"

    def to_frame(self) -> polars.DataFrame:
        """One row per job: where it sits, and what it gets alone and beside the others."""
        import polars

        jobs = self.jobs
        return polars.DataFrame(
            {
                "job": [job.listed.id for job in jobs],
                "name": [job.listed.name for job in jobs],
                "runs": [job.listed.runs for job in jobs],
                "servers": [job.servers for job in jobs],
                "hosts": [len(job.hosts) for job in jobs],
                "leaves": [job.leaves for job in jobs],
                "fewest_leaves": [job.fewest_leaves for job in jobs],
                "alone": polars.Series([job.alone for job in jobs], dtype=polars.Float64),
                "beside": polars.Series([job.beside for job in jobs], dtype=polars.Float64),
                "loss": [job.loss for job in jobs],
                "margin": [job.margin for job in jobs],
                "bytes_per_second": polars.Series(
                    [job.beside_Bps for job in jobs], dtype=polars.Float64
                ),
            }
        )

    def harms_frame(self) -> polars.DataFrame:
        """One row per pair that hurt each other: what each loses, and on which channel most."""
        import polars

        harms = self.pairs
        return polars.DataFrame(
            {
                "first": [self.jobs[harm.jobs[0]].listed.id for harm in harms],
                "second": [self.jobs[harm.jobs[1]].listed.id for harm in harms],
                "loss_first": [harm.losses[0] for harm in harms],
                "margin_first": [harm.margins[0] for harm in harms],
                "loss_second": [harm.losses[1] for harm in harms],
                "margin_second": [harm.margins[1] for harm in harms],
                "channel": [harm.channels[0][0] for harm in harms],
                "part": [harm.channels[0][1] for harm in harms],
            }
        )


def jobs(
    fabric: Fabric,
    source: str | Path | Mapping[str, Sequence[str]] | Sequence[ListedJob] | None = None,
    *,
    following: int | None = None,
    hosts: HostChoice | None = None,
    pattern: str | None = None,
    samples: int = 200,
    seed: int = 1,
    progress: bool | Progress = False,
) -> Jobs:
    """Says how well running jobs sit, which hurt each other, and where the next should go.

    Every job sends the pattern among its own hosts, a rank on each in the order of their names, all
    jobs at the same time. Where no pattern is given and servers of jobs have several adapters on
    the fabric, messages stay within rails: every adapter sends to the one of the same place, as
    GPUs' libraries do; what adapters of one server have for each other needs no network. If most
    hosts belong to such servers, half of the samples are rings through a job's servers, the others
    steps of its all-to-alls, and the next job gets whole servers in an order that suits its rings;
    else random pairs of servers send.

    Args:
        fabric: with routes.
        source: a file with what ``squeue --json`` or ``scontrol show job`` prints, or of lines with
            a job and its hosts; or names of hosts by job; or listed jobs; None asks the Slurm of
            this machine. Hosts that the fabric does not know are left out.
        following: for how many servers to choose the best free ones; None: for none.
        hosts: that they may be chosen from, as `contend.placement.parse` reads them; None is all.
        pattern: a specification, for as many ranks as each job has hosts; None: see above.
        samples: how many patterns are drawn; a few where all would be alike.
        seed: of all random choices.
        progress: True shows a bar; a function is told how many samples are counted, of how many.

    Returns:
        Its ``to_frame()`` has the jobs, ``harms_frame()`` pairs that hurt each other, and ``next``
        the servers chosen.

    Raises:
        UsageError: there are not enough free servers, or no such pattern for a job.
        InputError: the fabric knows no host of any job, a name is ambiguous, or the file is
            something else.
        MissingError: there is no Slurm to ask.
    """
    started = time.perf_counter()
    servers = Servers(fabric)
    names = HostNames(fabric)
    listed, called = _listed(source)
    seats = [_seats(job, names, called) for job in listed]
    if listed and not any(known for known, _ in seats):
        example = next(unknown[0] for _, unknown in seats if unknown)
        raise InputError(called, 0, f"hosts of {fabric.name}", f'"{example}" and none that it has')
    held = [servers.in_order(known) for known, _ in seats]
    chosen = None if hosts is None else choose_hosts(hosts, fabric, names)
    taken = set(servers.of(np.concatenate([np.zeros(0, np.uint32), *held])))
    free = [number for number in servers.allowed(chosen) if number not in taken]
    several = count_rails(fabric) if pattern is None else 0
    if several:
        free = servers.alike(free)
    found = []
    for job, hosts_of_job, (_, unknown) in zip(listed, held, seats, strict=True):
        own = servers.of(hosts_of_job)
        leaves = len(np.unique(fabric.host_switch[hosts_of_job]))
        fewest = min(leaves, servers.fewest_leaves(len(own), [*own, *free]))
        found.append(Job(job, hosts_of_job, len(own), unknown, leaves, fewest))
    sending = [n for n, job in enumerate(found) if job.listed.runs and job.servers > 1]
    groups = [found[number].hosts for number in sending]
    seen = np.concatenate([*held, servers.hosts([] if following is None else free)])
    within = pattern is None and len(np.unique(seen)) > len(servers.of(seen))
    several = several if within else 0
    patterns = RAIL_PATTERNS if several else ("bisect" if pattern is None else pattern,)
    harms: tuple[Harm, ...] = ()
    if groups:
        with shown_progress(progress, fabric.name, "samples") as tell:
            judged = judge_jobs(
                fabric,
                groups,
                pattern=patterns,
                rails=within,
                samples=samples,
                seed=seed,
                progress=tell,
            )
        samples = judged.alone.shape[1]
        for row, number in enumerate(sending):
            found[number] = _judged(found[number], judged, row, len(patterns))
        harms = _harms(judged.pairs, sending, found)
    chosen_next = None
    if following is not None:
        chosen_next = choose_next(
            fabric, servers, free, groups, following, patterns, samples, seed, rails=within
        ).with_numbers(sending)
    return Jobs(
        fabric=fabric,
        jobs=tuple(found),
        pairs=harms,
        free=len(free),
        next=chosen_next,
        patterns=patterns,
        within_rails=within,
        rails=several,
        samples=samples,
        seed=seed,
        seconds=time.perf_counter() - started,
    )


def _listed(
    source: str | Path | Mapping[str, Sequence[str]] | Sequence[ListedJob] | None,
) -> tuple[Sequence[ListedJob], str]:
    """Jobs that are listed somewhere, and what errors call their list."""
    if source is None:
        return jobs_of_slurm(), "squeue"
    if isinstance(source, Mapping):
        return [ListedJob(job, "", tuple(names)) for job, names in source.items()], "jobs"
    if isinstance(source, str | Path):
        return read_jobs(str(source)), source_name(str(source))
    return source, "jobs"


def _seats(job: ListedJob, names: HostNames, source: str) -> tuple[set[int], tuple[str, ...]]:
    """Hosts of a job, and names that mean none."""
    found: set[int] = set()
    unknown = []
    for node in job.nodes:
        if node in names:
            found.update(names.find(node, source, job.line))
        else:
            unknown.append(node)
    return found, tuple(unknown)


def _judged(job: Job, judged: SideBySide, row: int, patterns: int) -> Job:
    beside, rate = judged.beside[row], judged.bytes_per_second
    lost = judged.alone[row] - beside
    sent = judged.pattern_in[row]
    return replace(
        job,
        alone=float(judged.alone[row].mean()),
        beside=float(beside.mean()),
        loss=float(lost.mean()),
        # Of several patterns one of each is a sample.
        margin=half_width(lost.reshape(-1, patterns).mean(axis=1)),
        beside_Bps=None if rate is None else float(rate[row]),
        by_pattern=tuple(float(beside[sent == number].mean()) for number in range(patterns)),
    )


def _harms(
    pairs: Sequence[PairLoss], sending: Sequence[int], jobs: Sequence[Job]
) -> tuple[Harm, ...]:
    """Both directions of every pair together, the worst first."""
    by_ends = {(pair.victim, pair.rival): pair for pair in pairs}
    harms = []
    for ends in sorted({(min(ends), max(ends)) for ends in by_ends}):
        both = [by_ends[one] for one in (ends, ends[::-1]) if one in by_ends]
        lost: dict[int, float] = {}
        for pair in both:
            weight = len(jobs[sending[pair.victim]].hosts) * pair.loss
            for channel, part in pair.channels:
                lost[channel] = lost.get(channel, 0.0) + part * weight
        total = sum(lost.values())
        order = sorted(lost, key=lambda channel: (-lost[channel], channel))
        of_victim = {pair.victim: pair for pair in both}
        first, second = (of_victim.get(end) for end in ends)
        harm = Harm(
            jobs=(sending[ends[0]], sending[ends[1]]),
            losses=(first.loss if first else 0.0, second.loss if second else 0.0),
            margins=(first.margin if first else 0.0, second.margin if second else 0.0),
            channels=tuple((channel, lost[channel] / total) for channel in order),
        )
        harms.append((-total, harm.jobs, harm))
    return tuple(harm for _, _, harm in sorted(harms, key=lambda one: one[:2]) if harm.hurts)
