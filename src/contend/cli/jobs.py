"""``contend jobs``: how well running jobs sit, whom they hurt, and where the next should go."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.text import Text

from contend import report
from contend.cli.common import console_for, load, write_json
from contend.cli.option import Option
from contend.cli.options import (
    HOSTS,
    PATTERN,
    SAMPLES,
    FabricArgument,
    JsonOption,
    Loading,
    PlotOption,
    RouteOption,
    RoutesOption,
    SeedOption,
)
from contend.cure import Jobs, look_at_jobs
from contend.errors import UsageError, printable_line
from contend.fabric import source_name
from contend.names import shorten
from contend.placement import jobs_of_slurm, read_jobs
from contend.units import counted

JobsArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[JOBS]",
        show_default=False,
        help="What squeue --json or scontrol show job prints, or lines such as "
        r"1234,node\[01-04]; - for standard input. Without it Slurm is asked.",
    ),
]
NEXT = Option(("--next",), "N", "Choose the best free servers for a job of N")
NextOption = Annotated[int | None, NEXT(min=2)]
PatternOption = Annotated[
    str | None,
    PATTERN(
        ": every job sends bisect, shift:3, alltoall and more among its hosts.",
        default="bisect, within rails where servers have several adapters",
    ),
]
FreeOption = Annotated[
    str | None,
    HOSTS(": for the next job, such as '!node07', which excludes one.", default="all free ones"),
]
SamplesOption = Annotated[int, SAMPLES(min=2)]


def jobs(
    loading: Loading,
    fabric: FabricArgument,
    jobs: JobsArgument = None,
    following: NextOption = None,
    hosts: FreeOption = None,
    pattern: PatternOption = None,
    routes: RoutesOption = None,
    route: RouteOption = None,
    samples: SamplesOption = 200,
    seed: SeedOption = 1,
    json: JsonOption = None,
    plot: PlotOption = None,
) -> None:
    """Say how well running jobs sit, which of them hurt each other, and where the next should go.

    Example: contend jobs net.ibnetdiscover squeue.json --routes net.lfts --next 16
    """
    if plot is not None:
        report.check_suffix(plot)
    if hosts is not None and following is None:
        raise UsageError("--hosts says where the next job may go: give --next too")
    if fabric == jobs == "-":
        raise UsageError("the fabric and the jobs cannot both be standard input")
    listed = jobs_of_slurm() if jobs is None else read_jobs(jobs)
    source = "squeue" if jobs is None else source_name(jobs)
    loaded = load(fabric, routes, route, loading, need_routes=True)
    with report.progress_bar(loaded.name, "samples") as bar:
        task = bar.add_task("", total=None)
        found = look_at_jobs(
            loaded,
            listed,
            source=source,
            next_servers=following,
            hosts=hosts,
            pattern=pattern,
            samples=samples,
            seed=seed,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    if line := _unknown(found):
        print(f"{source}: {line}", file=sys.stderr)
    console = console_for(json)
    console.print(Text(report.jobs_verdict(found), style="bold"), soft_wrap=True)
    if following is not None:
        console.print(Text(report.next_verdict(found), style="bold"), soft_wrap=True)
    tables = report.jobs_tables(found)
    report.print_tables(console, tables)
    write_json(json, report.jobs_json(found))
    if plot is not None:
        report.save_figure(report.jobs_figure(found), plot, tables)


def _unknown(found: Jobs) -> str:
    """A line about hosts that the fabric does not know, "" for none."""
    names = list(dict.fromkeys(name for job in found.jobs for name in job.unknown))
    if not names:
        return ""
    told = f"{found.fabric.name} does not know {counted(len(names), 'host')} of jobs: "
    return printable_line(f"{told}{shorten(names)}; they are left out", 200)
