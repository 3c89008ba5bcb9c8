"""``contend report``: what measured runs say, without measuring again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from contend import report as reports
from contend.cli.common import (
    JsonOption,
    PlotOption,
    console_for,
    writable,
    write_json,
    write_text,
)
from contend.errors import UsageError

RunsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN...",
        help="Folders of runs, or folders that hold some; the first is what others are compared "
        "with.",
    ),
]
PictureOption = Annotated[
    str | None,
    typer.Option(
        "--picture",
        metavar="NAME",
        help="What --plot draws: rates, times, comparison, steps or pingpong; .html shows all "
        "that fit.",
    ),
]
AtOption = Annotated[
    str | None,
    typer.Option("--at", metavar="SIZE", help="Bytes of the cells that --picture times draws."),
]
MarkdownOption = Annotated[
    str | None,
    typer.Option(
        "--markdown",
        metavar="FILE",
        callback=writable,
        help="Write the tables as Markdown; - is standard output.",
    ),
]
CsvOption = Annotated[
    str | None,
    typer.Option(
        "--csv",
        metavar="FILE",
        callback=writable,
        help="Write all cells as comma-separated values; - is standard output.",
    ),
]


def report(
    runs: RunsArgument,
    plot: PlotOption = None,
    picture: PictureOption = None,
    at: AtOption = None,
    markdown: MarkdownOption = None,
    csv: CsvOption = None,
    json: JsonOption = None,
) -> None:
    """Show what was measured: cells, winners, collapses, how it was measured.

    Several runs are compared with the first: libraries, machines or days.

    Example: contend report contend-runs/alltoall-2026-11-21-1 --plot rates.svg --markdown it.md
    """
    # Imported here: what reads tables of samples takes longer to load than other verbs run.
    from contend.runs import Run, find_runs
    from contend.units import parse_size

    if plot is not None:
        reports.check_suffix(plot)
    elif picture is not None or at is not None:
        raise UsageError("--picture and --at say what --plot FILE draws: give it too")
    printed = [target for target in (markdown, csv, json) if target == "-"]
    if len(printed) > 1:
        raise UsageError("only one of --markdown, --csv and --json can be standard output")
    size = None if at is None else parse_size(at)
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
        wanted = "times" if picture is None and size is not None else picture
        reports.draw_runs(loaded, plot, picture=wanted, size=size, tables=tables)
