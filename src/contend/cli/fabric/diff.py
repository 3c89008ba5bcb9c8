"""``contend fabric diff``: what changed in a network, and what that did to its bandwidth."""

from __future__ import annotations

from typing import Annotated

import typer

from contend import cure, report
from contend.cli.common import load
from contend.cli.options.shared import ROUTES, Loading, RouteOption, SeedOption
from contend.errors import UsageError
from contend.report import Document

_STATE = "The {} state of the network: a topology file of any kind that contend knows."
OldArgument = Annotated[str, typer.Argument(metavar="OLD", help=_STATE.format("earlier"))]
NewArgument = Annotated[str, typer.Argument(metavar="NEW", help=_STATE.format("later"))]
TablesOption = Annotated[
    list[str] | None, ROUTES("Give it twice: for OLD, then for NEW. Once is for both.")
]


def diff(
    loading: Loading,
    old: OldArgument,
    new: NewArgument,
    routes: TablesOption = None,
    route: RouteOption = None,
    seed: SeedOption = 1,
) -> Document:
    """Show what changed in a network: nodes, cables, speeds, routes and bandwidth.

    Nodes are recognised by their GUIDs, even if they were renamed or moved.

    Example: contend fabric diff last-week.ibnetdiscover net.ibnetdiscover
    """
    tables = [None, None] if routes is None else [routes[0], routes[-1]]
    if routes is not None and len(routes) > 2:
        raise UsageError(f"--routes is for OLD and NEW, got {len(routes)}")
    before, after = (
        load(state, of, route, loading) for state, of in zip((old, new), tables, strict=True)
    )
    return report.changes_document(cure.diff(before, after, seed=seed))
