"""``contend jobs``: how well running jobs sit, whom they hurt, and where the next should go."""

from __future__ import annotations

from typing import Annotated

import typer

from contend import congestion, cure, report
from contend.base.errors import UsageError
from contend.cli.common import RoutedLoading
from contend.cli.options.option import Option
from contend.cli.options.outputs import MetricOutputs
from contend.cli.options.packets import PacketOptions
from contend.cli.options.shared import (
    HOSTS,
    PATTERN,
    SAMPLES,
    FabricArgument,
    SeedOption,
)
from contend.report import Document

JobsArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[JOBS]",
        show_default=False,
        help="What squeue, sacct -P, scontrol show job, qstat -f or -n, bjobs, qhost -j or flux "
        r"jobs prints, or lines such as 1234,node\[01-04]; - for standard input. Without it, "
        "contend asks Slurm.",
    ),
]
NEXT = Option(("--next",), "N", "Choose the best free servers for a job of N")
NextOption = Annotated[int | None, NEXT(min=2)]
PatternOption = Annotated[
    list[str] | None,
    PATTERN(
        ": bisect, shift:3, alltoall or another pattern, which every job sends among its hosts; "
        "repeat it as JOB=PATTERN for jobs whose own pattern is known.",
        default="bisect; rings and all-to-alls within rails where servers have several adapters",
    ),
]
FreeOption = Annotated[
    str | None,
    HOSTS(": for the next job, such as '!node07', which excludes one.", default="all free ones"),
]
SamplesOption = Annotated[int, SAMPLES(min=2)]


def jobs(
    routed: RoutedLoading,
    outputs: MetricOutputs,
    packets: PacketOptions,
    fabric: FabricArgument,
    jobs: JobsArgument = None,
    following: NextOption = None,
    hosts: FreeOption = None,
    pattern: PatternOption = None,
    samples: SamplesOption = 200,
    seed: SeedOption = 1,
) -> Document:
    """Show how well running jobs are placed, which hurt each other, and where to put the next.

    With --model packets, it also says whose packets hold up whose. With --without, it says which
    jobs stop, lose servers or rails, or slow down.

    Example: contend jobs net.ibnetdiscover squeue.json --routes net.lfts --next 16
    """
    if hosts is not None and following is None:
        raise UsageError("--hosts says where the next job may go: give --next too")
    common, own = _patterns(pattern or [])
    if fabric == jobs == "-":
        raise UsageError("the fabric and the jobs cannot both be standard input")
    found = cure.jobs(
        routed.load(fabric),
        jobs,
        following=following,
        hosts=hosts,
        pattern=common,
        patterns=own,
        samples=samples,
        seed=seed,
        progress=True,
        packets=congestion.PacketModel.of(**packets.arguments()) if packets.asked else None,
    )
    return report.jobs_document(found)


def _patterns(given: list[str]) -> tuple[str | None, dict[str, str]]:
    """What all jobs send, and what some send instead: ``JOB=PATTERN``."""
    own: dict[str, str] = {}
    common: list[str] = []
    for each in given:
        job, equals, pattern = each.partition("=")
        # Files and their parameters have such signs behind a colon.
        if not equals or ":" in job:
            common.append(each)
        elif job in own:
            raise UsageError(f"--pattern: job {job} has two patterns, {own[job]} and {pattern}")
        else:
            own[job] = pattern
    if len(common) > 1:
        raise UsageError(
            f"--pattern: expected one for all jobs, got {' and '.join(common)}; JOB=PATTERN says "
            "what one of them sends"
        )
    return (common[0] if common else None), own
