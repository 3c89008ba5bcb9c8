"""``contend fabric engines``: which routing engine serves a fabric best."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from contend import cure, report
from contend.base.units import parse_seconds
from contend.cli.common import cost_of_missing, load
from contend.cli.options.option import Option, Seconds, in_options, parsed
from contend.cli.options.shared import (
    ROUTE,
    FabricArgument,
    HostsOption,
    Loading,
    RoutesOption,
    SeedOption,
)
from contend.report import Document

LIMIT = Option(
    ("--limit",),
    "TIME",
    "Stop an OpenSM engine after this time",
    parsed("--limit", parse_seconds),
)
LimitOption = Annotated[Seconds | None, LIMIT(default="60 s")]
EnginesOption = Annotated[
    list[str] | None,
    ROUTE("Repeat it for several engines.", default="all, OpenSM's too"),
]


def engines(
    loading: Loading,
    fabric: FabricArgument,
    routes: RoutesOption = None,
    route: EnginesOption = None,
    hosts: HostsOption = None,
    limit: LimitOption = None,
    seed: SeedOption = 1,
) -> Document:
    """Route a fabric with every engine, and rank the results.

    Tables from --routes or from the file are ranked with them.

    Example: contend fabric engines net.ibnetdiscover --routes net.lfts
    """
    loaded = load(fabric, routes, None, loading)
    without = cost_of_missing(fabric, loaded, loading)
    found = cure.engines(
        loaded,
        route or (),
        hosts=hosts,
        limit=60.0 if limit is None else limit,
        seed=seed,
        progress=True,
    )
    judged = (
        one if one.error is None else replace(one, refusal=in_options(one.error))
        for one in found.engines
    )
    document = report.engines_document(replace(found, engines=tuple(judged)))
    return replace(document, without=without)
