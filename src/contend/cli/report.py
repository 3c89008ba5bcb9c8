"""``contend report``: what measured runs say, without measuring again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from contend import report as reports
from contend.cli.common import console_for, write_json, write_text
from contend.cli.option import Bytes, parsed
from contend.cli.options import MATRIX, PICTURE, CsvOption, JsonOption, MarkdownOption, PlotOption
from contend.cli.profile import report_profiles
from contend.errors import UsageError
from contend.profiling import is_profile
from contend.runs import Run, find_runs
from contend.units import parse_size

RunsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN...",
        help="Run folders, folders that hold several, or profiles. Others are compared with the "
        "first.",
    ),
]
PictureOption = Annotated[
    str | None,
    PICTURE(
        ": rates, times, comparison, steps, pingpong, pairs or hotspot; of profiles shares, "
        "matrix, ranks or waits; .html shows all that fit."
    ),
]
AtOption = Annotated[
    Bytes | None,
    typer.Option(
        "--at",
        metavar="SIZE",
        callback=parsed("--at", parse_size),
        help="Message size that --picture times draws.",
    ),
]


MatrixOption = Annotated[Path | None, MATRIX()]


def report(
    runs: RunsArgument,
    plot: PlotOption = None,
    picture: PictureOption = None,
    at: AtOption = None,
    matrix: MatrixOption = None,
    markdown: MarkdownOption = None,
    csv: CsvOption = None,
    json: JsonOption = None,
) -> None:
    """Show the results of measured runs (cells, winners, collapses) or of profiles.

    Further runs are compared with the first.

    Example: contend report contend-runs/alltoall-2026-11-21-1 --plot rates.svg --markdown it.md
    """
    if plot is not None:
        reports.check_suffix(plot)
    elif picture is not None or at is not None:
        raise UsageError("--picture and --at say what --plot FILE draws: give it too")
    printed = [target for target in (markdown, csv, json) if target == "-"]
    if len(printed) > 1:
        raise UsageError("only one of --markdown, --csv and --json can be standard output")
    profiles = [path for path in runs if is_profile(path)]
    if profiles:
        if len(profiles) < len(runs) or at is not None:
            raise UsageError("profiles are reported without runs, and without --at")
        report_profiles(
            profiles,
            plot=plot,
            picture=picture,
            matrix=matrix,
            markdown=markdown,
            csv=csv,
            json=json,
        )
        return
    if matrix is not None:
        raise UsageError("--matrix: only profiles have one")
    loaded = [Run.load(folder) for path in runs for folder in find_runs(path)]
    tables = [table for run in loaded for table in reports.run_tables(run)]
    tables += reports.comparison_tables(loaded)
    reports.print_tables(console_for("-" if printed else None), tables)
    if markdown is not None:
        write_text(markdown, reports.markdown_of(tables))
    if csv is not None:
        write_text(csv, reports.cells_csv(loaded))
    write_json(json, reports.runs_json(loaded))
    if plot is not None:
        wanted = "times" if picture is None and at is not None else picture
        reports.draw_runs(loaded, plot, picture=wanted, size=at, tables=tables)
