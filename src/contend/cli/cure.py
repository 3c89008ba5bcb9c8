"""Verbs that cure: better seats, rules for all-to-alls, and where jobs go."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from contend import congestion, cure, report
from contend.base import process
from contend.base.errors import UsageError
from contend.base.units import parse_rate
from contend.cli.common import RoutedLoading, attempt, cost_of_missing, write_output
from contend.cli.options.option import BytesPerSecond, option, parsed
from contend.cli.options.outputs import MetricOutputs, Outputs, TextOutputs
from contend.cli.options.shared import (
    FABRIC_HELP,
    FORMAT,
    FORMS,
    HOSTS,
    OUTPUT,
    PATTERN,
    PICTURE,
    PLACEMENT,
    PLACEMENTS,
    RANKS,
    RANKS_PER_HOST,
    RATE,
    SAMPLES,
    FabricArgument,
    HostsOption,
    MaybeFileOption,
    PacketOptions,
    SeedOption,
)
from contend.cli.options.where import CommandArgument, Started, Where
from contend.lab import emulation, measurement
from contend.lab import mpi as mpis
from contend.report import Document
from contend.traffic import placement as seating
from contend.traffic.placement import ListFormat

if TYPE_CHECKING:
    from contend.lab.mpi import Preloaded


def place(
    routed: RoutedLoading,
    outputs: Outputs,
    profile: Annotated[
        str | None,
        typer.Argument(
            metavar="[PROFILE]",
            show_default=False,
            help="What ranks send: a folder of contend profile, a matrix of bytes from rank to "
            "rank (.npy), or a pattern such as halo:3d. Without it, rings and all-to-alls within "
            "rails, where servers have several adapters.",
        ),
    ] = None,
    fabric: Annotated[
        str | None, typer.Argument(metavar="FABRIC", show_default=False, help=FABRIC_HELP)
    ] = None,
    hosts: HostsOption = None,
    placement: Annotated[
        str | None,
        PLACEMENT(
            f"{PLACEMENTS} The result is compared with it.",
            default="as --hosts names them; without --hosts as recorded, if the fabric has the "
            "hosts",
        ),
    ] = None,
    ranks: Annotated[
        int | None, RANKS("Only for a pattern.", min=1, default="one on each host")
    ] = None,
    ranks_per_host: Annotated[
        int | None, RANKS_PER_HOST("It is the maximum.", min=1, default="as recorded, else 1")
    ] = None,
    rate: Annotated[
        BytesPerSecond | None, RATE(default="the fabric's", callback=parsed("--rate", parse_rate))
    ] = None,
    seed: SeedOption = 1,
    form: Annotated[ListFormat, FORMAT(FORMS)] = ListFormat.RANKFILE,
    output: MaybeFileOption = None,
    picture: Annotated[
        str | None,
        PICTURE(": network, channels or seats. A page (.html) shows all unless one is named."),
    ] = None,
) -> Document:
    """Place a program's ranks on hosts so that fewer messages share a link.

    If there are more hosts than needed, contend chooses the best ones. The result is never worse
    than the given order. On servers with several adapters, it moves whole servers.

    Example: contend place contend-runs/profile-2026-11-22-1 net.fabric --hosts job.hosts
    -o rankfile
    """
    # One argument is the fabric, as of cp the last is the target.
    source, network = (None, profile) if fabric is None else (profile, fabric)
    if network is None:
        raise UsageError("place needs a fabric, and before it what ranks send")
    loaded = routed.load(network)
    without = cost_of_missing(network, loaded, routed.loading, source or "bisect")
    better = cure.place(
        source,
        loaded,
        hosts=hosts,
        placement=placement,
        ranks=ranks,
        ranks_per_host=ranks_per_host,
        rate=rate,
        seed=seed,
    )
    failure, how = None, str(form)
    if output is not None:
        entries = seating.list_hosts(better.fabric, better.placement)
        how += seating.renamed(entries, form)
        failure = attempt(lambda: write_output(output, seating.write_list(entries, form).encode()))
    better = replace(better, file="" if failure else output or "")
    document = report.better_seats_document(better, how)
    return replace(document, picture=picture, failure=failure, without=without)


NEXT = option("--next", takes="N", means="Choose the best free servers for a job of N")


def jobs(
    routed: RoutedLoading,
    outputs: MetricOutputs,
    packets: PacketOptions,
    fabric: FabricArgument,
    jobs: Annotated[
        str | None,
        typer.Argument(
            metavar="[JOBS]",
            show_default=False,
            help="What squeue, sacct -P, scontrol show job, qstat -f or -n, bjobs, qhost -j or "
            "flux "
            r"jobs prints, or lines such as 1234,node\[01-04]; - for standard input. Without it, "
            "contend asks Slurm.",
        ),
    ] = None,
    following: Annotated[int | None, NEXT(min=2)] = None,
    hosts: Annotated[
        str | None,
        HOSTS(
            ": for the next job, such as '!node07', which excludes one.", default="all free ones"
        ),
    ] = None,
    pattern: Annotated[
        list[str] | None,
        PATTERN(
            ": bisect, shift:3, alltoall or another pattern, which every job sends among its "
            "hosts; repeat it as JOB=PATTERN for jobs whose own pattern is known.",
            default="bisect; rings and all-to-alls within rails where servers have several "
            "adapters",
        ),
    ] = None,
    samples: Annotated[int, SAMPLES(min=2)] = 200,
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


RunsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN...",
        help="Runs of contend measure alltoall, or folders of several runs, such as studies.",
    ),
]
RulesFolderOption = Annotated[
    Path | None, OUTPUT(": the folder of the rules, which all hosts of a job must see.")
]


def tune(runs: RunsArgument, outputs: TextOutputs, output: RulesFolderOption = None) -> Document:
    """Learn which all-to-all is fastest for which ranks and sizes, and write rules for it.

    A rule is written only if a schedule is proven faster than the MPI library's own choice. Use the
    rules with contend run --tuned RULES or, within limits, with the library's own options.

    Example: contend tune contend-runs/alltoall-2026-11-21-1 -o rules
    """
    return report.tuning_document(cure.tune(runs, output=output))


_NEEDED = ("LD_PRELOAD", "CONTEND_TUNED", "CONTEND_TUNED_RUN", "CONTEND_TUNED_SIGN_IN")
TUNED = option("--tuned", takes="RULES", means="Follow these rules for all-to-alls")
TunedOption = Annotated[Path, TUNED(": the folder that contend tune wrote, which all hosts see.")]


def run(command: CommandArgument, tuned: TunedOption, started: Started, where: Where) -> None:
    """Start an MPI program whose all-to-alls follow rules from contend tune.

    Put this before any command that starts MPI programs; the program stays as it is. With -n,
    contend starts the ranks itself. The exit status is the command's.

    Example: contend run --tuned RULES -- mpirun -n 64 ./app
    """
    started.check(command, where)
    cure.read_rules(tuned)
    console = Console(stderr=True, highlight=False)

    carried: list[Preloaded] = []

    def load(library: str | None) -> Preloaded:
        carried.append(mpis.carry(command, tuned, library))
        return carried[-1]

    with (
        started.seated(where, console) as (shape, place),
        measurement.ready_command(command, load, started.mpi, shape, place) as ready,
    ):
        status = process.run_foreground(*ready)
        if place is not None and (drops := emulation.drops_of(place.counters())) is not None:
            dropped = f"{drops}."
            console.print(Text(dropped[:1].upper() + dropped[1:]), soft_wrap=True)
    if not carried[-1].took() and status == 0:
        lost = mpis.lost_on_the_way(
            command, [name for name in _NEEDED if name in carried[-1].variables]
        )
        why = lost or (
            "no MPI program started, it uses another library (name it with --mpi), or its ranks "
            "lack the variables LD_PRELOAD and CONTEND_TUNED of this command"
        )
        console.print(Text(f"contend: no all-to-all followed the rules: {why}"), soft_wrap=True)
    raise typer.Exit(status)
