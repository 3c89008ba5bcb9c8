"""``contend fabric extend``: more servers and switches, cabled as the fabric is."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated

from contend import cure, report
from contend.cli.common import attempt, cost_of_missing, load
from contend.cli.fabric.files import ToOption, kind_for, write_fabric
from contend.cli.fabric.improve import PortsOption
from contend.cli.options.option import Option
from contend.cli.options.shared import (
    ENGINES,
    ROUTE,
    FabricArgument,
    Loading,
    MaybeFileOption,
    SeedOption,
)
from contend.report import Document

SERVERS = Option(("--servers",), "N", "Number of servers to add, like those that are there")
SPINES = Option(("--spines",), "N", "Number of switches to add above others")
UNITS = Option(
    ("--units",), "N", "Number of units to add: leaves of all rails, or pods, full of servers"
)
UPLINKS = Option(
    ("--uplinks",), "RATE", "Replace all cables between switches by faster ones, such as 4xNDR"
)


def extend(
    loading: Loading,
    fabric: FabricArgument,
    servers: Annotated[int, SERVERS(min=0)] = 0,
    spines: Annotated[int, SPINES(min=0)] = 0,
    units: Annotated[int, UNITS(min=0)] = 0,
    uplinks: Annotated[str | None, UPLINKS(default="as they are")] = None,
    ports: PortsOption = None,
    route: Annotated[
        str, ROUTE(f"{ENGINES} It routes the fabric as it is and extended.")
    ] = "contend",
    seed: SeedOption = 1,
    output: MaybeFileOption = None,
    to: ToOption = None,
) -> Document:
    """Add servers, switches or faster uplinks to a fabric, cabled by its own rule.

    It lists the cables to lay, or says why the rule has no room.

    Example: contend fabric extend net.ibnetdiscover --servers 36 --ports 48 -o larger.fabric
    """
    kind = None if output is None else kind_for(to, output)
    loaded = load(fabric, None, None, loading)
    without = cost_of_missing(fabric, loaded, loading, engine=route)
    growth = cure.extend(
        loaded,
        servers=servers,
        spines=spines,
        units=units,
        uplinks=uplinks,
        ports=ports,
        engine=route,
        seed=seed,
    )
    failure = None
    if output is not None and kind is not None:
        failure = attempt(partial(write_fabric, growth.fabric, output, kind))
    document = report.growth_document(growth, "" if failure else output or "")
    return replace(document, failure=failure, without=without)
