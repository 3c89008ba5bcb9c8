"""Jobs on a fabric: the document and its JSON."""

from __future__ import annotations

import msgspec

# What draws is imported when somebody looks.
from contend import report
from contend.cure import Harm, Job, Jobs, Seats
from contend.fabric import Fabric, FabricSize, size_of
from contend.report.document import Document, filled
from contend.report.jobs.tables import (
    jobs_tables,
    jobs_verdict,
    next_verdict,
    nodelist,
    unknown_hosts,
)


class JobJson(msgspec.Struct, frozen=True, kw_only=True):
    """A job that has hosts.

    Attributes:
        job: as its scheduler calls it.
        name: that its user gave it, or "".
        runs: whether it does; one that does not keeps its hosts, but sends nothing.
        servers: that it has.
        hosts: names of their hosts on the fabric.
        unknown: names of its hosts that the fabric does not know.
        leaves: switches that its hosts are attached to.
        fewest_leaves: on which as many of its and the free servers would hang.
        alone: what its messages get without other jobs, as a share of their hosts' ports; null
            where it sends none.
        beside: what they get beside all other jobs.
        beside_Bps: the same in bytes per second; null where rates of links are not known.
        loss: of the one to the other.
        margin: half of the 95 % interval of the loss.
    """

    job: str
    name: str
    runs: bool
    servers: int
    hosts: list[str]
    unknown: list[str]
    leaves: int
    fewest_leaves: int
    alone: float | None
    beside: float | None
    beside_Bps: float | None  # noqa: N815
    loss: float
    margin: float


class LostOnJson(msgspec.Struct, frozen=True, kw_only=True):
    """A channel on which two jobs hurt each other.

    Attributes:
        channel: its number.
        source: where it begins.
        target: where it ends.
        part: of what both lose to each other that is lost here.
    """

    channel: int
    source: str
    target: str
    part: float


class HarmJson(msgspec.Struct, frozen=True, kw_only=True):
    """What two jobs do to each other where nobody else runs.

    Attributes:
        jobs: both.
        losses: what each loses of its mean share.
        margins: half of the 95 % intervals of both.
        channels: on how many channels it is lost.
        most: those on which most of it is lost, ten at most.
    """

    jobs: list[str]
    losses: list[float]
    margins: list[float]
    channels: int
    most: list[LostOnJson]


class SeatsJson(msgspec.Struct, frozen=True, kw_only=True):
    """Servers for the next job.

    Attributes:
        servers: their names.
        nodelist: the same as Slurm takes them.
        hosts: names of their hosts on the fabric.
        leaves: number of switches that they are attached to.
        alone: what its messages get without other jobs, as a share of their hosts' ports.
        beside: what they get beside the others.
        margin: half of the 95 % interval of `beside`.
        cost: what the others lose because of it, averaged over their hosts.
        cost_margin: half of its 95 % interval.
        worst_job: that loses most; null where none loses.
        worst_loss: what that one loses.
    """

    servers: list[str]
    nodelist: str
    hosts: list[str]
    leaves: int
    alone: float
    beside: float
    margin: float
    cost: float
    cost_margin: float
    worst_job: str | None
    worst_loss: float


class NextJobJson(msgspec.Struct, frozen=True, kw_only=True):
    """Where the next job would sit best.

    Attributes:
        verdict: in words.
        fewest_leaves: with as many free servers.
        best: of all choices that were tried.
        first: the first free servers by name.
        gain: what the hosts of all jobs, this one included, get more on average with the best.
        margin: half of its 95 % interval.
        tried: how many choices were tried.
    """

    verdict: str
    fewest_leaves: int
    best: SeatsJson
    first: SeatsJson
    gain: float
    margin: float
    tried: int


class JobsJson(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs that run on a fabric at the same time.

    Attributes:
        fabric: which.
        verdict: one-sentence verdict.
        pattern: that every job sends.
        within_rails: whether it sends it between its servers, every adapter to that on its rail.
        samples: how many were drawn.
        seed: of all random choices.
        free: servers that no job has and that may be taken.
        jobs: in the order in which they were listed.
        pairs: jobs that hurt each other, the worst first: by what their hosts lose in sum.
        next: where the next job would sit best; null where that was not asked.
        seconds: that it took.
    """

    fabric: FabricSize
    verdict: str
    pattern: str
    within_rails: bool
    samples: int
    seed: int
    free: int
    jobs: list[JobJson]
    pairs: list[HarmJson]
    next: NextJobJson | None
    seconds: float


# Channels of a pair in the JSON.
_MOST_CHANNELS = 10


def jobs_document(found: Jobs) -> Document:
    """Who hurts whom, where the next job should go, and hosts that the fabric does not know."""
    verdicts = (jobs_verdict(found), next_verdict(found))
    return Document(
        verdict="\n".join(filter(None, verdicts)),
        tables=jobs_tables(found),
        record=_record(found),
        pictures={"jobs": lambda: report.jobs_figure(found)},
        remarks=unknown_hosts(found),
    )


def _record(found: Jobs) -> JobsJson:
    return filled(
        JobsJson,
        found,
        fabric=size_of(found.fabric),
        verdict=jobs_verdict(found),
        jobs=[_job(found.fabric, job) for job in found.jobs],
        pairs=[_pair(found, harm) for harm in found.pairs],
        next=_next(found),
    )


def _job(fabric: Fabric, job: Job) -> JobJson:
    listed = job.listed
    hosts = [fabric.host_name[host] for host in job.hosts]
    return filled(JobJson, job, job=listed.id, name=listed.name, runs=listed.runs, hosts=hosts)


def _pair(found: Jobs, harm: Harm) -> HarmJson:
    most = []
    for channel, part in harm.channels[:_MOST_CHANNELS]:
        source, target = found.fabric.channel_ends(channel)
        most.append(LostOnJson(channel=channel, source=source, target=target, part=part))
    names = [found.jobs[number].listed.id for number in harm.jobs]
    return filled(HarmJson, harm, jobs=names, channels=len(harm.channels), most=most)


def _next(found: Jobs) -> NextJobJson | None:
    chosen = found.next
    if chosen is None:
        return None
    best, first = (_seats(found, seats) for seats in (chosen.best, chosen.first))
    return filled(NextJobJson, chosen, verdict=next_verdict(found), best=best, first=first)


def _seats(found: Jobs, seats: Seats) -> SeatsJson:
    number, loss = seats.worst or (None, 0.0)
    return filled(
        SeatsJson,
        seats,
        nodelist=nodelist(seats),
        hosts=[found.fabric.host_name[host] for host in seats.hosts],
        worst_job=None if number is None else found.jobs[number].listed.id,
        worst_loss=loss,
    )
