"""``contend fabric improve``: which free ports to join."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from typing import Annotated

from contend import congestion, cure, report
from contend import routes as routing
from contend.cli.common import attempt, cost_of_missing, load, told_by_the_first
from contend.cli.fabric.files import ToOption, kind_for, write_fabric
from contend.cli.options.option import Option
from contend.cli.options.shared import (
    ENGINES,
    PATTERN,
    PLACEMENT,
    PLACEMENTS,
    ROUTE,
    SAMPLES,
    FabricArgument,
    Loading,
    MaybeFileOption,
    RoutesOption,
    SeedOption,
)
from contend.report import Document

CABLES = Option(("--cables",), "N", "Number of cables to add")
PORTS = Option(("--ports",), "N", "Assume that every switch has at least this many ports")
CablesOption = Annotated[int, CABLES(min=1)]
PortsOption = Annotated[
    int | None,
    PORTS("For files that do not say.", default="what the file says", min=1, max=254),
]
EngineOption = Annotated[
    str,
    ROUTE(f"{ENGINES} It routes the fabric both with and without the new cables."),
]
PatternOption = Annotated[
    str | None,
    PATTERN(
        ": the traffic that should get more bandwidth.",
        default="all-to-alls of GPUs where servers have rails, else bisect",
    ),
]
PlacementOption = Annotated[str | None, PLACEMENT(PLACEMENTS, default="random")]
SamplesOption = Annotated[
    int | None,
    SAMPLES("The gains shown come from them.", default="as many as simulate needs", min=2),
]


def improve(
    loading: Loading,
    fabric: FabricArgument,
    cables: CablesOption = 4,
    ports: PortsOption = None,
    routes: RoutesOption = None,
    route: EngineOption = "contend",
    pattern: PatternOption = None,
    placement: PlacementOption = None,
    samples: SamplesOption = None,
    seed: SeedOption = 1,
    output: MaybeFileOption = None,
    to: ToOption = None,
) -> Document:
    """Find free ports to connect with new cables, and what each cable gains.

    Missing cables, which similar switches have, come first. The fabric is routed with and without
    the new cables; both get the same patterns. Under mpirun or srun, all processes share what is
    tried.

    Example: contend fabric improve net.ibnetdiscover --cables 4 -o improved.fabric
    """
    world = congestion.launched_communicator()
    with told_by_the_first(world) as first:
        kind = None if output is None else kind_for(to, output)
        loaded = congestion.agree(world, partial(load, fabric, routes, None, loading))
        without = None
        if first:
            traffic = (pattern or "bisect", placement or "random")
            without = cost_of_missing(fabric, loaded, loading, *traffic, engine=route)
        found = cure.improve(
            loaded,
            cables=cables,
            pattern=pattern,
            placement=placement,
            engine=route,
            ports=ports,
            samples=samples,
            seed=seed,
            progress=first,
            communicator=world,
        )
    failure = None
    if output is not None and kind is not None:
        failure = attempt(partial(write_fabric, found.fabric, output, kind))
        if failure is None and kind not in routing.HOLD_ROUTES:
            where = "standard output" if output == "-" else output
            print(
                f"contend: warning: {where}: {kind} files hold no tables, and with others than "
                "those found here the figures differ; .fabric and .lfts files hold them",
                file=sys.stderr,
            )
    document = report.improvement_document(found, "" if failure else output or "")
    return replace(document, failure=failure, without=without)
