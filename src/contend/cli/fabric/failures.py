"""``contend fabric failures``: what each switch and cable would cost if it died."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated

from contend import congestion, cure, report
from contend.cli.common import cost_of_missing, load, told_by_the_first
from contend.cli.options.shared import (
    ENGINES,
    PATTERN,
    ROUTE,
    SAMPLES,
    FabricArgument,
    HostsOption,
    Loading,
    PlacementOption,
    RoutesOption,
    SeedOption,
)
from contend.report import Document

EngineOption = Annotated[
    str | None,
    ROUTE(f"{ENGINES} It also recomputes the tables after the worst failures (default: contend)."),
]
PatternOption = Annotated[str, PATTERN(": the traffic that failures are ranked by.")]
SamplesOption = Annotated[int, SAMPLES("They are the same for each failure.", min=2)]


def failures(
    loading: Loading,
    fabric: FabricArgument,
    routes: RoutesOption = None,
    route: EngineOption = None,
    pattern: PatternOption = "bisect",
    placement: PlacementOption = "random",
    hosts: HostsOption = None,
    samples: SamplesOption = 200,
    seed: SeedOption = 1,
) -> Document:
    """Remove every switch and cable, one at a time, and rank the failures by cost.

    Those that cut hosts off come first, then those that cost the pattern most. Tables are mended
    with as few changes as possible. For the worst failures they are also recomputed, and these
    failures are also tried two at a time. Under mpirun or srun, all processes share the failures.

    Example: contend fabric failures net.ibnetdiscover --routes net.lfts
    """
    world = congestion.launched_communicator()
    with told_by_the_first(world) as first:
        loaded = congestion.agree(
            world,
            partial(load, fabric, routes, route, loading, need_routes=True),
        )
        without = None
        if first:
            without = cost_of_missing(fabric, loaded, loading, pattern, placement)
        found = cure.failures(
            loaded,
            pattern=pattern,
            placement=placement,
            hosts=hosts,
            samples=samples,
            seed=seed,
            engine=route or "contend",
            progress=first,
            communicator=world,
        )
    return replace(report.failures_document(found), without=without)
