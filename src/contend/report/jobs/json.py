"""Jobs on a fabric: the document and its JSON."""

from __future__ import annotations

from typing import Annotated

import msgspec

# What draws is imported when somebody looks.
from contend import report
from contend.cure import Harm, Job, Jobs, Seats
from contend.fabric import FabricSize, size_of
from contend.report.document import Document, filled
from contend.report.jobs.tables import (
    jobs_tables,
    jobs_verdict,
    label,
    next_verdict,
    nodelist,
    unknown_hosts,
)
from contend.report.metrics import Metric


class JobJson(msgspec.Struct, frozen=True, kw_only=True):
    """A job that has hosts."""

    job: Annotated[str, "as its scheduler calls it."]
    name: Annotated[str, 'that its user gave it, or "".']
    runs: Annotated[bool, "whether it does; one that does not keeps its hosts, but sends nothing."]
    servers: Annotated[int, "that it has."]
    hosts: Annotated[list[str], "names of their hosts on the fabric."]
    unknown: Annotated[list[str], "names of its hosts that the fabric does not know."]
    leaves: Annotated[int, "switches that its hosts are attached to."]
    fewest_leaves: Annotated[int, "how many leaves would do, with its own and the free servers."]
    alone: Annotated[
        float | None,
        "what its messages get without other jobs, as a share of their hosts' ports; null "
        "where it sends none.",
    ]
    beside: Annotated[float | None, "what they get beside all other jobs."]
    beside_Bps: Annotated[
        float | None, "the same in bytes per second; null where rates of links are not known."
    ]
    loss: Annotated[float, "of the one to the other."]
    margin: Annotated[float, "half of the 95 % interval of the loss."]
    rings: Annotated[
        float | None, "what its rings get beside all others; null where it sends none."
    ]
    all_to_alls: Annotated[float | None, "what its all-to-alls within rails get; null likewise."]


class LostOnJson(msgspec.Struct, frozen=True, kw_only=True):
    """A channel on which two jobs hurt each other."""

    channel: Annotated[int, "its number."]
    source: Annotated[str, "where it begins."]
    target: Annotated[str, "where it ends."]
    part: Annotated[float, "of what both lose to each other that is lost here."]


class HarmJson(msgspec.Struct, frozen=True, kw_only=True):
    """What two jobs do to each other where nobody else runs."""

    jobs: Annotated[list[str], "both."]
    losses: Annotated[list[float], "what each loses of its mean share."]
    margins: Annotated[list[float], "half of the 95 % intervals of both."]
    channels: Annotated[int, "on how many channels it is lost."]
    most: Annotated[list[LostOnJson], "those on which most of it is lost, ten at most."]


class SeatsJson(msgspec.Struct, frozen=True, kw_only=True):
    """Servers for the next job."""

    servers: Annotated[list[str], "their names."]
    order: Annotated[list[str], "the same in the order of ranks."]
    nodelist: Annotated[str, "the same as Slurm takes them."]
    hosts: Annotated[list[str], "names of their hosts on the fabric."]
    leaves: Annotated[int, "number of switches that they are attached to."]
    alone: Annotated[
        float, "what its messages get without other jobs, as a share of their hosts' ports."
    ]
    beside: Annotated[float, "what they get beside the others."]
    margin: Annotated[float, "half of the 95 % interval of `beside`."]
    cost: Annotated[float, "what the others lose because of it, averaged over their hosts."]
    cost_margin: Annotated[float, "half of its 95 % interval."]
    worst_job: Annotated[str | None, "that loses most; null where none loses."]
    worst_loss: Annotated[float, "what that one loses."]
    rings: Annotated[float | None, "what rings get beside the others; null where it sends none."]
    all_to_alls: Annotated[float | None, "what all-to-alls within rails get; null likewise."]


class NextJobJson(msgspec.Struct, frozen=True, kw_only=True):
    """The best servers for the next job."""

    verdict: Annotated[str, "in words."]
    fewest_leaves: Annotated[int, "with as many free servers."]
    best: Annotated[SeatsJson, "of all choices that were tried."]
    first: Annotated[SeatsJson, "the first free servers by name."]
    gain: Annotated[
        float, "what the hosts of all jobs, this one included, get more on average with the best."
    ]
    margin: Annotated[float, "half of its 95 % interval."]
    tried: Annotated[int, "how many choices were tried."]


class JobsJson(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs that run on a fabric at the same time."""

    fabric: Annotated[FabricSize, "which."]
    verdict: Annotated[str, "one-sentence verdict."]
    pattern: Annotated[str, "that every job sends."]
    within_rails: Annotated[
        bool, "whether it sends it between its servers, every adapter to that on its rail."
    ]
    rails: Annotated[
        int, "of the servers, where rings and all-to-alls are sent within them; else 0."
    ]
    samples: Annotated[int, "how many were drawn."]
    seed: Annotated[int, "of all random choices."]
    free: Annotated[int, "servers that no job has and that may be taken."]
    jobs: Annotated[list[JobJson], "in the order in which they were listed."]
    pairs: Annotated[
        list[HarmJson],
        "jobs that hurt each other, the worst first: by what their hosts lose in sum.",
    ]
    next: Annotated[
        NextJobJson | None, "the best servers for the next job; null where that was not asked."
    ]
    seconds: Annotated[float, "that it took."]


# Channels of a pair in the JSON.
_MOST_CHANNELS = 10


def jobs_document(found: Jobs) -> Document:
    """Who hurts whom, where the next job should go, and hosts that the fabric does not know."""
    verdicts = (jobs_verdict(found), next_verdict(found))
    return Document(
        verdict="\n".join(filter(None, verdicts)),
        tables=jobs_tables(found),
        record=filled(
            JobsJson,
            found,
            fabric=size_of(found.fabric),
            verdict=jobs_verdict(found),
            jobs=[_job(found, job) for job in found.jobs],
            pairs=[_pair(found, harm) for harm in found.pairs],
            next=_next(found),
        ),
        pictures={"jobs": lambda: report.jobs_figure(found)},
        explorable=lambda: report.explored(found.fabric, jobs=_job_of_hosts(found)),
        metrics=_metrics(found),
        remarks=unknown_hosts(found),
    )


def _metrics(found: Jobs) -> list[Metric]:
    """What each job gets alone and beside the others."""
    metrics = []
    for job in found.jobs:
        of = {"fabric": found.fabric.name, "job": job.listed.id, "name": job.listed.name}
        for state, share in (("alone", job.alone), ("beside", job.beside)):
            if share is not None:
                meaning = "What a job's messages get, as a share of the rate of its ports."
                told = {**of, "with": state}
                metrics.append(Metric("contend_job_bandwidth_ratio", meaning, share, told))
        meaning = "What a job loses to all others, as a share of the rate of its ports."
        metrics.append(Metric("contend_job_loss_ratio", meaning, job.loss, of))
    return metrics


def _job_of_hosts(found: Jobs) -> list[str]:
    """The name of the job on every host, "" where there is none."""
    names = [""] * found.fabric.hosts
    for job in found.jobs:
        for host in job.hosts.tolist():
            names[host] = label(job)
    return names


def _job(found: Jobs, job: Job) -> JobJson:
    listed = job.listed
    hosts = [found.fabric.host_name[host] for host in job.hosts]
    rings, all_to_alls = _by_pattern(found, job.by_pattern)
    return filled(
        JobJson,
        job,
        job=listed.id,
        name=listed.name,
        runs=listed.runs,
        hosts=hosts,
        rings=rings,
        all_to_alls=all_to_alls,
    )


def _by_pattern(found: Jobs, shares: tuple[float, ...]) -> tuple[float | None, float | None]:
    return (shares[0], shares[1]) if found.rails and shares else (None, None)


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
    rings, all_to_alls = _by_pattern(found, seats.by_pattern)
    return filled(
        SeatsJson,
        seats,
        nodelist=nodelist(seats),
        hosts=[found.fabric.host_name[host] for host in seats.hosts],
        worst_job=None if number is None else found.jobs[number].listed.id,
        worst_loss=loss,
        rings=rings,
        all_to_alls=all_to_alls,
    )
