"""``contend fabric check``: what is wrong with a fabric and its routes."""

from __future__ import annotations

from typing import Annotated

import typer

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
from contend.errors import ShortfallError
from contend.fabric import Status
from contend.report import print_checks
from contend.routes import check as check_fabric

LanesOption = Annotated[
    bool,
    typer.Option(
        "--lanes/--no-lanes",
        help="Whether virtual lanes may keep a dependency cycle from locking up; dumps do not "
        "tell. With --no-lanes a cycle is wrong.",
    ),
]


@fabric_app.command()
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
