"""``contend fabric diff``: what changed in a network, and what that did to its bandwidth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer

from contend import cure, report
from contend.base.errors import UsageError
from contend.cli.common import cost_of_missing, load
from contend.cli.options.shared import ENGINES, JOBS, ROUTE, ROUTES, Loading, SeedOption
from contend.report import Document

_STATE = "The {} state of the network: a topology file of any kind that contend knows."
OldArgument = Annotated[str, typer.Argument(metavar="OLD", help=_STATE.format("earlier"))]
NewArgument = Annotated[str, typer.Argument(metavar="NEW", help=_STATE.format("later"))]
_EACH = "Give it twice: for OLD, then for NEW. Once is for both."
TablesOption = Annotated[list[str] | None, ROUTES(_EACH)]
EnginesOption = Annotated[list[str] | None, ROUTE(f"{ENGINES} {_EACH}")]
JobsOption = Annotated[str | None, JOBS(": say what each job loses.")]


def diff(
    loading: Loading,
    old: OldArgument,
    new: NewArgument,
    routes: TablesOption = None,
    route: EnginesOption = None,
    jobs: JobsOption = None,
    seed: SeedOption = 1,
) -> Document:
    """Show what changed in a network: nodes, cables, speeds, routes and bandwidth.

    Nodes are recognised by their GUIDs, even if they were renamed or moved.

    Example: contend fabric diff last-week.ibnetdiscover net.ibnetdiscover
    """
    each = zip((old, new), _of_both("--routes", routes), _of_both("--route", route), strict=True)
    before, after = (load(*state, loading, need_routes=jobs is not None) for state in each)
    without = [cost_of_missing(*state, loading) for state in ((old, before), (new, after))]
    document = report.changes_document(cure.diff(before, after, jobs=jobs, seed=seed))
    return replace(document, without=without[-1])


def _of_both(flag: str, given: list[str] | None) -> Sequence[str | None]:
    """What an option says of OLD and of NEW."""
    if given is not None and len(given) > 2:
        raise UsageError(f"{flag} is for OLD and NEW, got {len(given)}")
    return [given[0], given[-1]] if given else [None, None]
