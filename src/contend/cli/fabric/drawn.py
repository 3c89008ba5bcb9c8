"""``contend fabric draw`` and ``page``: a fabric as a picture, or as a page to look into."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from contend import congestion, cure, report
from contend import fabric as fabric_room
from contend import routes as routing
from contend.base.errors import UsageError
from contend.base.units import counted, parse_numbers
from contend.cli.common import RoutedLoading, cost_of_missing
from contend.cli.options.option import Numbers, drawable, parsed, writing
from contend.cli.options.outputs import TextOutputs
from contend.cli.options.shared import (
    OUTPUT,
    PATTERN,
    PLOT,
    FabricArgument,
    SeedOption,
)
from contend.cli.simulate import COUNTERS
from contend.report import Document


def draw(
    routed: RoutedLoading,
    plot: Annotated[Path, PLOT(callback=drawable)],
    fabric: Annotated[
        str | None,
        typer.Argument(
            metavar="[FABRIC]", help="The fabric to draw; leave it out with --alltoall."
        ),
    ] = None,
    loads: Annotated[
        bool,
        typer.Option(
            "--loads",
            help="Colour cables by the routes of an all-to-all that use them, over their rates; "
            "needs routes.",
        ),
    ] = False,
    alltoall: Annotated[
        Numbers | None,
        typer.Option(
            "--alltoall",
            metavar="N,...",
            callback=parsed("--alltoall", parse_numbers),
            help="Draw the connections of an all-to-all of N processes instead, a panel for each "
            "N.",
        ),
    ] = None,
) -> None:
    """Draw a fabric, or the connections of an all-to-all.

    Examples: contend fabric draw chic --route dmodk --loads --plot chic.svg,
    contend fabric draw --alltoall 9,18,36 --plot alltoall.svg
    """
    if (fabric is None) == (alltoall is None):
        raise UsageError("name a fabric to draw, or give --alltoall N")
    _drawn(routed, fabric, loads, alltoall or ()).draw(plot)


def _drawn(
    routed: RoutedLoading,
    fabric: str | None,
    loads: bool,
    alltoall: Numbers,
) -> Document:
    if fabric is not None:
        loaded = routed.load(fabric, need_routes=loads)
        carried = routing.all_to_all_load(loaded) if loads else None
        size = [(loaded.hosts, "host"), (loaded.switches, "switch"), (loaded.cables, "cable")]
        parts = ", ".join(counted(number, what) for number, what in size)
        return Document(
            verdict=f"{loaded.name}: {parts} between them.",
            pictures={"network": lambda: report.fabric_figure(loaded, carried)},
            explorable=lambda: report.explored(loaded),
        )
    if loads or routed != RoutedLoading():
        raise UsageError("options of a fabric, such as --loads, need a fabric, not --alltoall")
    return Document(pictures={"connections": lambda: report.alltoall_figure(list(alltoall))})


@writing
def _page(path: Path) -> Path:
    if path.suffix.lower() != ".html":
        raise UsageError(f"--output: {path}: expected a name that ends in .html")
    return drawable(path)


def page(
    routed: RoutedLoading,
    outputs: TextOutputs,
    output: Annotated[Path, OUTPUT(": a page, which ends in .html.", callback=_page)],
    fabric: FabricArgument,
    pattern: Annotated[str, PATTERN(": it colours cables by what they carry of it.")] = "bisect",
    counters: Annotated[list[str] | None, COUNTERS(": as simulate reads them; repeat it.")] = None,
    failures: Annotated[
        bool,
        typer.Option(
            "--failures",
            help="Say of every switch and cable what its failure would cost.",
        ),
    ] = False,
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
