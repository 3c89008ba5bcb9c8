"""Jobs on a fabric, whom they hurt, and where the next should go: verdict, tables, figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

# What draws is imported when somebody looks.
from contend import report
from contend.base.errors import printable_line
from contend.base.names import shorten
from contend.base.units import counted
from contend.cure import Jobs
from contend.report.document import Document
from contend.report.jobs.next_job import next_table, next_verdict, order_table
from contend.report.jobs.packets import packets_sentence, packets_tables
from contend.report.jobs.running import (
    cost_sentence,
    costs_table,
    harms_table,
    hottest_table,
    jobs_table,
    running_verdict,
)
from contend.report.jobs.words import ROWS, label, labels, shares_of
from contend.report.metrics import Metric
from contend.report.table import ResultTable
from contend.report.words import first_clause

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
        explorable=lambda: report.explored(found.fabric, jobs=_job_of_hosts(found)),
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
    # Imported here: only figures need it, and loading takes a while.
    from contend.report.charts import Intervals, charted
    from contend.report.series import Axis, Series, Unit, with_interval
    from contend.report.style import COLOURS, DOT, RING, wrapped

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
