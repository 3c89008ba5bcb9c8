"""``contend fabric page``: a fabric as a page to look into."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from contend import congestion, cure, report
from contend import fabric as fabric_room
from contend import routes as routing
from contend.base.errors import UsageError
from contend.cli.common import RoutedLoading, cost_of_missing
from contend.cli.options.option import drawable, writing
from contend.cli.options.outputs import TextOutputs
from contend.cli.options.shared import (
    OUTPUT,
    PATTERN,
    FabricArgument,
    SeedOption,
)
from contend.cli.simulate import COUNTERS
from contend.report import Document


@writing
def _page(path: Path) -> Path:
    if path.suffix.lower() != ".html":
        raise UsageError(f"--output: {path}: expected a name that ends in .html")
    return drawable(path)


PageOption = Annotated[Path, OUTPUT(": a page, which ends in .html.", callback=_page)]
PatternOption = Annotated[str, PATTERN(": it colours cables by what they carry of it.")]
CountersOption = Annotated[list[str] | None, COUNTERS(": as simulate reads them; repeat it.")]
FailuresOption = Annotated[
    bool,
    typer.Option(
        "--failures",
        help="Say of every switch and cable what its failure would cost.",
    ),
]


def page(
    routed: RoutedLoading,
    outputs: TextOutputs,
    output: PageOption,
    fabric: FabricArgument,
    pattern: PatternOption = "bisect",
    counters: CountersOption = None,
    failures: FailuresOption = False,
    seed: SeedOption = 1,
) -> Document:
    """Write a fabric as a page to look into: search it, click its parts.

    The page is one file that loads nothing, so that it opens offline and can be sent to others.

    Example: contend fabric page net.ibnetdiscover --routes net.lfts -o net.html
    """
    loaded = routed.load(fabric, need_routes=bool(counters) or failures)
    without = cost_of_missing(fabric, loaded, routed.loading, pattern)
    shown = report.fabric_document(congestion.show(loaded))
    checked = report.check_document(routing.check(loaded))
    simulated = failed = None
    if loaded.routes is not None:
        simulation = congestion.simulate(loaded, pattern=pattern, seed=seed, progress=True)
        if counters:
            carried = fabric_room.carried(loaded, counters)
            beside = congestion.BesideCounters.of(simulation, carried)
            simulation = replace(simulation, counters=beside)
        simulated = report.simulation_document(simulation)
    if failures:
        found = cure.failures(loaded, seed=seed, progress=True)
        failed = report.failures_document(found)
    document = replace(
        report.page_document(shown, checked, simulated, failed, file=str(output)), without=without
    )
    document.draw(output)
    return document
