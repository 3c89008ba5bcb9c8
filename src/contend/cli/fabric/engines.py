"""``contend fabric engines``: which routing engine serves a fabric best."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from rich.text import Text

from contend import report
from contend.cli.common import console_for, load, write_json
from contend.cli.option import Option, Seconds, in_options, parsed
from contend.cli.options import (
    ROUTE,
    FabricArgument,
    HostsOption,
    JsonOption,
    Loading,
    PlotOption,
    RoutesOption,
    SeedOption,
)
from contend.cure import compare_engines
from contend.errors import ShortfallError
from contend.units import parse_seconds

LIMIT = Option(
    ("--limit",),
    "TIME",
    "Give up an engine of OpenSM after this time",
    parsed("--limit", parse_seconds),
)
LimitOption = Annotated[Seconds | None, LIMIT(default="60 s")]
EnginesOption = Annotated[
    list[str] | None,
    ROUTE(". Repeat it for several.", default="all that there are, OpenSM's too"),
]


def engines(
    loading: Loading,
    fabric: FabricArgument,
    routes: RoutesOption = None,
    route: EnginesOption = None,
    hosts: HostsOption = None,
    limit: LimitOption = None,
    seed: SeedOption = 1,
    json: JsonOption = None,
    plot: PlotOption = None,
) -> None:
    """Route a fabric by every engine, and say which serves it best.

    Tables given with --routes, or that the file holds, are judged with them.

    Example: contend fabric engines net.ibnetdiscover --routes net.lfts
    """
    if plot is not None:
        report.check_suffix(plot)
    loaded = load(fabric, routes, None, loading)
    with report.progress_bar(f"routing {loaded.name}", "engines") as bar:
        task = bar.add_task("", total=None)
        judged = compare_engines(
            loaded,
            route or (),
            hosts=hosts,
            limit=60.0 if limit is None else limit,
            seed=seed,
            progress=lambda name: bar.update(task, advance=1, description=name),
        )
    judged = [replace(one, refusal=in_options(one.refusal)) for one in judged]
    console = console_for(json)
    console.print(Text(report.engines_verdict(judged), style="bold"), soft_wrap=True)
    tables = report.engines_tables(loaded, judged)
    report.print_tables(console, tables)
    write_json(json, report.engines_json(loaded, judged))
    if all(one.refusal for one in judged):
        raise ShortfallError(f"{loaded.name}: no engine routes it")
    if plot is not None:
        report.save_figure(report.engines_figure(loaded, judged), plot, tables)
