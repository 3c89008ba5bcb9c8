"""``contend profile``: records what an MPI program communicates, and says where its time goes."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.text import Text

from contend import report as reports
from contend.cli.common import console_for, write_json, write_text
from contend.cli.measure.options import Common
from contend.cli.option import Bytes, Option, labels, parsed
from contend.cli.options import (
    OUTPUT,
    BufferOption,
    JsonOption,
    LabelOption,
    LauncherOption,
    Loading,
    MaybePlacementOption,
    PlotOption,
    RanksOption,
    RateOption,
    RouteOption,
    RoutesOption,
    RtoMinOption,
)
from contend.cli.program import (
    CommandArgument,
    ProgramMpiOption,
    ProgramOnOption,
    ProgramRanksPerHostOption,
    check_command,
    seated,
)
from contend.errors import ShortfallError, UsageError
from contend.files import whole_file
from contend.profiling import (
    ProgramProfile,
    RecordedJob,
    RecordingOutcome,
    load_profile,
    run_recorded,
)
from contend.units import counted, parse_size

ProfileFolderOption = Annotated[
    Path | None,
    OUTPUT(
        ": a new folder for the profile, which all hosts see.",
        default="contend-runs/profile-DATE-NUMBER",
    ),
]
RecordOption = Annotated[
    Bytes | None,
    Option(
        ("--record",),
        "SIZE",
        "Size limit of a rank's record, in memory and on the disk",
        parsed("--record", parse_size),
    )("What does not fit is counted.", default="16MiB"),
]

# Programs of one command; test suites start hundreds.
_MOST_TOLD = 8


def profile(
    loading: Loading,
    command: CommandArgument,
    output: ProfileFolderOption = None,
    label: LabelOption = None,
    mpi: ProgramMpiOption = None,
    record: RecordOption = None,
    ranks: RanksOption = None,
    ranks_per_host: ProgramRanksPerHostOption = None,
    on: ProgramOnOption = None,
    routes: RoutesOption = None,
    route: RouteOption = None,
    rate: RateOption = None,
    buffer: BufferOption = None,
    rto_min: RtoMinOption = None,
    placement: MaybePlacementOption = None,
    launcher: LauncherOption = "",
    json: JsonOption = None,
    plot: PlotOption = None,
) -> None:
    """Record what an MPI program communicates, and show where its time in MPI goes.

    Put this before any command that starts MPI programs; the program stays as it is. With -n,
    contend starts the ranks itself. The exit status is the command's; contend prints its own lines
    to standard error.

    Example: contend profile -- mpirun -n 64 ./app
    """
    if plot is not None:
        reports.check_suffix(plot)
    common = Common(
        on=on,
        routes=routes,
        route=route,
        loading=loading,
        rate=rate,
        buffer=buffer,
        rto_min=rto_min,
        placement=placement,
        launcher=launcher,
    )
    check_command(command, common, ranks, ranks_per_host)
    console = Console(stderr=True, highlight=False)
    asked = RecordedJob(tuple(command), mpi=mpi, labels=labels(label), memory=record)
    # Standard output is for the JSON alone.
    target = sys.stderr if json == "-" else None
    with (
        seated(common, ranks, ranks_per_host, console) as (shape, place),
        _merging() as progress,
    ):
        job = replace(asked, shape=shape, place=place)
        outcome = run_recorded(job, output, output=target, progress=progress)
    if outcome.profile is not None:
        profiles = [outcome.profile, *outcome.others]
        for told in profiles[:_MOST_TOLD]:
            _tell(console, told)
        if len(profiles) > _MOST_TOLD:
            more = counted(len(profiles) - _MOST_TOLD, "more program")
            last = shlex.quote(str(profiles[-1].folder))
            console.print(Text(f"{more}, up to: contend report {last}"), soft_wrap=True)
        write_json(json, reports.profiles_json(profiles))
        if plot is not None:
            tables = reports.profile_tables(outcome.profile)
            for path in reports.draw_profiles([outcome.profile], plot, tables=tables):
                console.print(Text(str(path)), soft_wrap=True)
    _leave(outcome)


@contextmanager
def _merging() -> Iterator[Callable[[int, int], None]]:
    """A bar of records that are merged, which nobody sees before it begins."""
    with reports.progress_bar("merging", "records") as bar:
        task = bar.add_task("", total=None, visible=False)
        yield lambda done, total: bar.update(task, completed=done, total=total, visible=True)


def _tell(console: Console, profile: ProgramProfile) -> None:
    if profile.record.origin:
        names = " and ".join(sorted({Path(file).name for file in profile.record.programs}))
        console.print(Text(f"{names}, {profile.record.origin}:"), soft_wrap=True)
    console.print(Text(profile.findings.verdict, style="bold"), soft_wrap=True)
    for warning in profile.record.missing:
        console.print(Text(f"missing: {warning.text}"), soft_wrap=True)
    folder = shlex.quote(str(profile.folder))
    console.print(Text(f"all of it: contend report {folder}"), soft_wrap=True)


def _leave(outcome: RecordingOutcome) -> None:
    """Ends as the command ended.

    Raises:
        ShortfallError: the command was done, but nothing was recorded.
    """
    if outcome.interruption is not None:
        raise outcome.interruption
    if outcome.profile is None:
        if not outcome.status:
            raise ShortfallError(outcome.why)
        print(f"contend: {outcome.why}", file=sys.stderr)
    raise typer.Exit(outcome.status or 0)


def report_profiles(
    folders: Sequence[Path],
    *,
    plot: Path | None,
    picture: str | None,
    matrix: Path | None,
    markdown: str | None,
    csv: str | None,
    json: str | None,
) -> None:
    """``contend report`` of profiles: the first, and the others beside it.

    Raises:
        UsageError: a matrix of several profiles is asked for.
    """
    if matrix is not None and len(folders) > 1:
        raise UsageError("--matrix takes one profile")
    with _merging() as progress:
        profiles = [load_profile(folder, progress=progress) for folder in folders]
    tables = [table for profile in profiles for table in reports.profile_tables(profile)]
    tables += [reports.profile_comparison_table(profiles[0], other) for other in profiles[1:]]
    console = console_for("-" if "-" in (markdown, csv, json) else None)
    for table in tables:
        # A verdict stands by itself: as the head of a table it would be as narrow as that.
        if table.columns:
            reports.print_tables(console, [table])
        else:
            console.print(Text(table.title, style="bold"), soft_wrap=True)
            console.print()
    if markdown is not None:
        write_text(markdown, reports.markdown_of(tables))
    if csv is not None:
        write_text(csv, reports.calls_csv(profiles))
    if matrix is not None:
        with whole_file(matrix) as file:
            np.save(file, profiles[0].matrix(), allow_pickle=False)
    write_json(json, reports.profiles_json(profiles))
    if plot is not None:
        reports.draw_profiles(profiles, plot, picture=picture, tables=tables)
