"""``contend fabric show`` and ``check``: what a fabric is made of, and what is wrong with it."""

from __future__ import annotations

from typing import Annotated

import typer

from contend.cli.common import console_for, load, write_json
from contend.cli.options import FabricArgument, JsonOption, RouteOption, RoutesOption
from contend.errors import ShortfallError
from contend.fabric import Status, bisection, size_of, structure
from contend.report import FabricSummary, fabric_tables, print_checks, print_tables
from contend.routes import check as check_fabric
from contend.routes import summarise_routes

LanesOption = Annotated[
    bool,
    typer.Option(
        "--lanes/--no-lanes",
        help="Whether virtual lanes may break cycles of dependencies between channels; dumps do "
        "not say. With --no-lanes a cycle is an error.",
    ),
]


def show(
    fabric: FabricArgument,
    routes: RoutesOption = None,
    route: RouteOption = None,
    json: JsonOption = None,
) -> None:
    """Show what a fabric is made of, and its rated bisection bandwidth.

    Example: contend fabric show net.ibnetdiscover --routes net.lfts
    """
    loaded = load(fabric, routes, route)
    summary = FabricSummary(
        fabric=size_of(loaded),
        structure=structure(loaded),
        bisection=bisection(loaded),
        routes=None if loaded.routes is None else summarise_routes(loaded),
    )
    print_tables(console_for(json), fabric_tables(summary))
    write_json(json, summary)


def check(
    fabric: FabricArgument,
    routes: RoutesOption = None,
    route: RouteOption = None,
    lanes: LanesOption = True,
    json: JsonOption = None,
) -> None:
    """Check a fabric and its routes; exit status 1 when something is wrong.

    Example: contend fabric check net.ibnetdiscover --routes net.lfts
    """
    report = check_fabric(load(fabric, routes, route), lanes=lanes)
    print_checks(console_for(json), report)
    write_json(json, report)
    wrong = [item.name for item in report.checks if item.status == Status.WRONG]
    if wrong:
        raise ShortfallError(f"{report.fabric.name}: wrong: {', '.join(wrong)}")
