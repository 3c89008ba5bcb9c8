"""``contend fabric show``: what a fabric is made of."""

from __future__ import annotations

from contend.cli.common import (
    FabricArgument,
    JsonOption,
    RouteOption,
    RoutesOption,
    console_for,
    load,
    write_json,
)
from contend.cli.fabric import fabric_app
from contend.fabric import bisection, size_of, structure
from contend.report import FabricSummary, fabric_tables, print_tables
from contend.routes import summarise_routes


@fabric_app.command()
def show(
    fabric: FabricArgument,
    routes: RoutesOption = None,
    route: RouteOption = None,
    json: JsonOption = None,
) -> None:
    """Show what a fabric is made of, and its rated bisection bandwidth.

    Example: contend fabric show net.ibnetdiscover --routes net.lfts
    """
    whole = load(fabric, routes, route)
    summary = FabricSummary(
        fabric=size_of(whole),
        structure=structure(whole),
        bisection=bisection(whole),
        routes=None if whole.routes is None else summarise_routes(whole),
    )
    print_tables(console_for(json), fabric_tables(summary))
    write_json(json, summary)
