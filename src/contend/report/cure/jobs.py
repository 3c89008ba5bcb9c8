"""Jobs on a fabric, whom they hurt, and where the next should go: verdict, tables, figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from contend.base.errors import printable_line
from contend.base.names import shorten
from contend.base.units import counted, format_bytes, verb
from contend.congestion import PacketJobs
from contend.cure import Jobs, NextJob, Seats
from contend.fabric import Fabric
from contend.report.charts import Intervals, charted
from contend.report.cure.running_jobs import (
    PATTERNS,
    ROWS,
    channel_words,
    cost_sentence,
    costs_table,
    gets,
    harms_table,
    hottest_table,
    jobs_table,
    label,
    labels,
    points,
    running_verdict,
    shares_of,
)
from contend.report.document import Document, Metric
from contend.report.page.explorable import explored
from contend.report.series import Axis, Series, Unit, with_interval
from contend.report.style import COLOURS, DOT, RING, wrapped
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import UNKNOWN, first_clause, percent
from contend.routes import Ways

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def jobs_document(found: Jobs) -> Document:
    """Who hurts whom, where the next job should go, and hosts that the fabric does not know."""
    sentences = (cost_sentence, running_verdict, packets_sentence, next_verdict)
    return Document(
        verdict="\n".join(filter(None, (sentence(found) for sentence in sentences))),
        tables=_tables(found),
        record=found,
        pictures={"jobs": lambda: _figure(found)},
        explorable=lambda: explored(
            found.fabric, jobs=_job_of_hosts(found), jobs_on=_jobs_on_channels(found)
        ),
        metrics=_metrics(found),
        remarks=_unknown_hosts(found),
    )


def _unknown_hosts(found: Jobs) -> list[str]:
    """A line about hosts of jobs that the fabric does not know, where there are any."""
    names = list(dict.fromkeys(name for job in found.jobs for name in job.unknown))
    if not names:
        return []
    told = f"{found.fabric.name} does not know {counted(len(names), 'host')} of jobs: "
    return [printable_line(f"{told}{shorten(names)}; they are left out", 200)]


def _metrics(found: Jobs) -> list[Metric]:
    """What each job gets alone and beside the others."""
    metrics = []
    for job in found.jobs:
        of = {"fabric": found.fabric.name, "job": job.job, "name": job.name}
        for state, share in (("alone", job.alone), ("beside", job.beside)):
            if share is not None:
                meaning = "What a job gets, as a share of what its hosts' ports allow."
                told = {**of, "with": state}
                metrics.append(Metric("contend_job_bandwidth_ratio", meaning, share, told))
        meaning = "What a job loses to all others, as a share of what its hosts' ports allow."
        metrics.append(Metric("contend_job_loss_ratio", meaning, job.loss, of))
    return metrics


def _job_of_hosts(found: Jobs) -> list[str]:
    """The name of the job on every host, "" where there is none."""
    names = [""] * found.fabric.hosts
    for job in found.jobs:
        for host in job.numbers.tolist():
            names[host] = label(job)
    return names


def _jobs_on_channels(found: Jobs) -> dict[int, dict[str, float]]:
    """The jobs on every channel between switches, with their heat, the one with most first."""
    on: dict[int, dict[str, float]] = {}
    for channel, place, heat in sorted(found.used.tolist(), key=lambda row: -row[2]):
        on.setdefault(int(channel), {})[label(found.jobs[int(place)])] = heat
    return on


def _tables(found: Jobs) -> list[ResultTable]:
    """Jobs, pairs that hurt each other, and servers for the next job."""
    tables = [costs_table(found.costs)] if found.costs else []
    if found.jobs:
        tables.append(jobs_table(found))
    if found.pairs:
        tables.append(harms_table(found))
    if found.hottest and len(found.jobs) > 1:
        tables.append(hottest_table(found))
    if found.packets is not None:
        tables += packets_tables(found.packets, found.fabric, labels(found))
    if found.next is not None:
        tables.append(next_table(found, found.next))
        if found.rails and found.next.best.order != found.next.best.servers:
            tables.append(order_table(found.next.best))
    return tables


def _figure(found: Jobs) -> Figure:
    """What jobs get alone and beside the others, those that lose most on top."""
    sending = [job for job in found.jobs if job.sends]
    shown = sorted(sending, key=lambda job: -job.loss)[:ROWS]
    beside = np.array([job.beside for job in shown], dtype=float)
    margin = np.array([job.margin for job in shown], dtype=float)
    # Wide enough to be seen around the other where a job loses nothing.
    alone = Series(np.array([job.alone for job in shown], dtype=float), name="alone", mark=RING)
    others = Series(
        beside,
        low=beside - margin,
        high=beside + margin,
        name=with_interval("beside the others", margin, " of the loss"),
        colour=COLOURS[1],
        mark=DOT,
        above=3,
    )
    own = any(job.pattern for job in found.jobs)
    sent = "each job's own pattern" if own else found.traffic
    traffic = wrapped(f"{sent}, as a share of {shares_of(found)}", 46)
    chart = Intervals(
        names=[f"{label(job)} ({job.servers:,})" for job in shown],
        least=3,
        series=[alone, others],
        stems=True,
        x=Axis(traffic, Unit.SHARE, (0, 1.02)),
        y=Axis("job (servers)"),
    )
    height = 1.5 + 0.17 * max(len(shown), 3)
    return charted(first_clause(running_verdict(found)), chart, height=height, width=4.4, legend=2)


def next_verdict(found: Jobs) -> str:
    """Which free hosts the next job should get, and what for; "" where that was not asked."""
    following = found.next
    if following is None:
        return ""
    best, first = following.best, following.first
    if found.rails and following.gain > following.margin:
        own, usual = ((percent(one.rings), percent(one.all_to_alls)) for one in (best, first))
        ranks = "" if best.order == best.servers else ", with their ranks in the order below"
        return (
            f"The best servers for the next job of {len(best.servers):,} are {best.nodelist}"
            f"{ranks}: its rings get {own[0]} of a port's rate beside the others and its "
            f"all-to-alls {own[1]} ({usual[0]} and {usual[1]} on the first free ones by name), and "
            f"the others lose {percent(best.cost, 2)} because of it ({percent(first.cost, 2)})."
        )
    if following.gain <= following.margin:
        # No better than chance: what a scheduler takes anyway will do, if it leaves as much room.
        if best.leaves < first.leaves:
            return (
                f"The best servers for the next job of {len(best.servers):,} are {best.nodelist}: "
                f"{gets(found, best.beside)} beside the others, as on the first free ones, but it "
                f"takes {_leaves(best.leaves)} instead of {first.leaves:,}."
            )
        return (
            f"For the next job, no servers are better than the first {len(first.servers):,} free "
            f"ones, {first.nodelist}: {gets(found, first.beside)} beside the others."
        )
    return (
        f"The best servers for the next job of {len(best.servers):,} are {best.nodelist}: "
        f"{gets(found, best.beside)} beside the others ({percent(first.beside)} on the first free "
        "ones), and the others lose "
        f"{percent(best.cost, 2)} because of it ({percent(first.cost, 2)})."
    )


def _leaves(count: int) -> str:
    return "1 leaf" if count == 1 else f"{count:,} leaves"


def next_table(found: Jobs, following: NextJob) -> ResultTable:
    """The best servers beside the first free ones."""
    called = labels(found)

    def most(seats: Seats) -> str:
        if seats.worst_job is None:
            return UNKNOWN
        return f"{called[seats.worst_job]} ({percent(seats.worst_loss)})"

    gain = f"{100 * following.gain:+.2f} ± {100 * following.margin:.2f}"
    return table_of(
        f"Servers for the next job of {len(following.best.servers):,}",
        (following.best, following.first),
        {
            "servers": lambda seats: "best found" if seats is following.best else "first free",
            "leaves": "leaves",
            "alone": "alone",
            "beside others": Number(lambda seats: f"{points(seats.beside, seats.margin)} %"),
            **(PATTERNS if found.rails else {}),
            "others lose": Number(lambda seats: f"{points(seats.cost, seats.cost_margin, 2)} %"),
            "of them most": most,
        },
        note=f"{_searched(found)}{counted(found.free, 'server')} free, "
        f"{counted(following.tried, 'choice')} tried; the fewest leaves: "
        f"{following.fewest_leaves:,}; the hosts of all jobs get {gain} points more by the best",
    )


def _searched(found: Jobs) -> str:
    routes = found.fabric.routes
    if routes is None or not routes.ways & Ways.TOGETHER:
        return ""
    return f"searched by {routes.each_alone.engine}, judged by {routes.engine}; "


def order_table(seats: Seats) -> ResultTable:
    """Servers in the order of ranks, as many in a row as follow each other by name too."""
    place = {name: number for number, name in enumerate(seats.servers)}
    runs: list[list[str]] = []
    for name in seats.order:
        if runs and place[name] == place[runs[-1][-1]] + 1:
            runs[-1].append(name)
        else:
            runs.append([name])
    rows, first = [], 0
    for run in runs:
        last = first + len(run) - 1
        rows.append((f"{first:,}" if len(run) == 1 else f"{first:,} to {last:,}", shorten(run)))
        first = last + 1
    more = len(rows) - ROWS
    note = "the n-th server, from 0, with all its ranks" + (
        f"; {more:,} more {verb(more, 'is')} in the JSON" if more > 0 else ""
    )
    return ResultTable(
        title="Order of ranks",
        columns=("server", "name"),
        rows=tuple((number, printable_line(name, 1 << 20)) for number, name in rows[:ROWS]),
        numeric=frozenset({"server"}),
        note=note,
    )


def packets_sentence(found: Jobs) -> str:
    """Which job loses most to another one, packet by packet, that counting does not see."""
    if found.packets is None:
        return ""
    unseen = [one for one in found.packets.held_up if one.counted < one.loss / 2]
    if not unseen:
        return "Packet by packet, no job loses more to another one than by counting."
    # Sharing no cable, they look like strangers.
    worst, called = min(unseen, key=lambda one: (one.shares, -one.loss)), labels(found)
    cable = "" if worst.shares else ", with which it never shares a cable"
    return (
        f"Packet by packet, {called[worst.job]} loses {points(worst.loss, worst.margin)} points "
        f"because of {called[worst.by]}{cable}, by counting {100 * worst.counted:.1f}: it waits "
        f"for {channel_words(found.fabric, worst.channel)} ({worst.queues})."
    )


def packets_tables(
    found: PacketJobs, fabric: Fabric, called: Mapping[str, str]
) -> list[ResultTable]:
    """What jobs get packet by packet, and who holds whom up."""
    sends = "hosts send all the time"
    if found.message_bytes is not None:
        sends = f"messages of {format_bytes(found.message_bytes)}"
    tables = [
        table_of(
            "Jobs packet by packet",
            found.jobs[:ROWS],
            {
                "job": lambda job: called[job.job],
                "queues": lambda job: job.queues.value,
                "alone": "alone",
                "beside others": "beside",
                "by counting": "counted",
            },
            note=f"{counted(found.samples, 'sample')}, {sends}, packets of "
            f"{format_bytes(found.mtu)}, buffers of {format_bytes(found.buffer)}",
        )
    ]
    if found.held_up:
        tables.append(
            table_of(
                "Jobs that are held up by packets of another one",
                found.held_up,
                {
                    "job": lambda one: called[one.job],
                    "because of": lambda one: called[one.by],
                    "loses": Number(lambda one: points(one.loss, one.margin)),
                    "by counting": Number(lambda one: f"{100 * one.counted:.1f}"),
                    "queues": lambda one: one.queues.value,
                    "share a cable": lambda one: "yes" if one.shares else "no",
                    "waits for": lambda one: channel_words(fabric, one.channel),
                },
                note="what it gets more where the other one does not run, all others beside both",
            )
        )
    return tables
