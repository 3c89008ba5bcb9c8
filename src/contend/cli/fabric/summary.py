"""``contend fabric show``, ``check`` and ``hosts``: what a fabric is made of, and what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from contend import report
from contend.cli.common import console_for, load, write_json
from contend.cli.options import (
    FORMAT,
    FORMS,
    HOSTS,
    FabricArgument,
    FileOption,
    HostsOption,
    JsonOption,
    Loading,
    PlacementOption,
    PlotOption,
    RanksOption,
    RanksPerHostOption,
    RouteOption,
    RoutesOption,
)
from contend.errors import ShortfallError
from contend.fabric import Status, bisection, size_of, structure
from contend.files import write_whole
from contend.placement import ListFormat, list_hosts, parse, write_list
from contend.routes import all_to_all_load, summarise_routes
from contend.routes import check as check_fabric

NoLanesOption = Annotated[
    bool,
    typer.Option(
        "--no-lanes",
        help="Treat a cycle of dependencies between channels as an error; otherwise virtual "
        "lanes, which dumps do not record, may break it.",
    ),
]


RatedHostsOption = Annotated[
    str | None,
    HOSTS(": the rated bisection is that between two halves of them.", default="all"),
]


def show(
    loading: Loading,
    fabric: FabricArgument,
    hosts: RatedHostsOption = None,
    routes: RoutesOption = None,
    route: RouteOption = None,
    json: JsonOption = None,
    plot: PlotOption = None,
) -> None:
    """Show what a fabric is made of, and its rated bisection bandwidth.

    Example: contend fabric show net.ibnetdiscover --routes net.lfts
    """
    if plot is not None:
        report.check_suffix(plot)
    loaded = load(fabric, routes, route, loading)
    chosen = None if hosts is None else parse("linear", loaded, hosts=hosts).hosts
    carried = None if loaded.routes is None else all_to_all_load(loaded)
    summary = report.FabricSummary(
        fabric=size_of(loaded),
        structure=structure(loaded, carried),
        bisection=bisection(loaded, chosen),
        rated_hosts=loaded.hosts if chosen is None else len(chosen),
        routes=None if loaded.routes is None else summarise_routes(loaded),
    )
    tables = report.fabric_tables(summary)
    report.print_tables(console_for(json), tables)
    write_json(json, summary)
    if plot is not None:
        report.save_figure(report.fabric_figure(loaded, carried), plot, tables)


def check(
    loading: Loading,
    fabric: FabricArgument,
    routes: RoutesOption = None,
    route: RouteOption = None,
    no_lanes: NoLanesOption = False,
    json: JsonOption = None,
    plot: PlotOption = None,
) -> None:
    """Check a fabric and its routes; exit status 1 when something is wrong.

    Example: contend fabric check net.ibnetdiscover --routes net.lfts
    """
    if plot is not None:
        report.check_suffix(plot)
    loaded = load(fabric, routes, route, loading)
    checked = check_fabric(loaded, lanes=not no_lanes)
    report.print_checks(console_for(json), checked)
    write_json(json, checked)
    if plot is not None:
        report.save_figure(report.fabric_figure(loaded), plot)
    wrong = [item.name for item in checked.checks if item.status == Status.WRONG]
    if wrong:
        raise ShortfallError(f"{checked.fabric.name}: wrong: {', '.join(wrong)}")


FormatOption = Annotated[ListFormat, FORMAT(FORMS)]


def hosts(
    loading: Loading,
    fabric: FabricArgument,
    placement: PlacementOption = "linear",
    choice: HostsOption = None,
    ranks: RanksOption = None,
    ranks_per_host: RanksPerHostOption = 1,
    form: FormatOption = ListFormat.PLAIN,
    output: FileOption = "-",
    json: JsonOption = None,
) -> None:
    """List hosts by their position in the fabric, for mpirun and Slurm.

    Example: contend fabric hosts net.ibnetdiscover --placement port-group:9 --ranks-per-host 8
    --format openmpi -o hosts
    """
    if output == json == "-":
        # The list is in the JSON too.
        output = ""
    loaded = load(fabric, None, None, loading)
    placed = parse(placement, loaded, ranks_per_host=ranks_per_host, hosts=choice, ranks=ranks)
    entries = list_hosts(loaded, placed, ranks)
    text = write_list(entries, form)
    if output == "-":
        print(text, end="")
    elif output:
        write_whole(Path(output), text.encode())
        line = f"{report.host_list_summary(loaded, entries)}, written to {output}"
        console_for(json).print(line, markup=False, highlight=False, soft_wrap=True)
    write_json(json, report.host_list_json(loaded, placed, entries))
