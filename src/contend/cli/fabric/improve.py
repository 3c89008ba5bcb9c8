"""``contend fabric improve``: which free ports to join."""

from __future__ import annotations

import sys
from typing import Annotated

from rich.text import Text

from contend import report
from contend.cli.common import console_for, load, write_json
from contend.cli.fabric.files import ToOption, kind_for, write_fabric
from contend.cli.option import Option
from contend.cli.options import (
    ENGINES,
    PATTERN,
    PLACEMENT,
    PLACEMENTS,
    ROUTE,
    SAMPLES,
    FabricArgument,
    JsonOption,
    Loading,
    MaybeFileOption,
    PlotOption,
    RoutesOption,
    SeedOption,
)
from contend.cure import improve as find_cables
from contend.errors import UsageError
from contend.routes import HOLD_ROUTES

CABLES = Option(("--cables",), "N", "How many cables there are to add")
PORTS = Option(("--ports",), "N", "Take every switch to have at least so many ports")
CablesOption = Annotated[int, CABLES(min=1)]
PortsOption = Annotated[
    int | None,
    PORTS("For files that do not tell.", default="what the file says", min=1, max=254),
]
EngineOption = Annotated[
    str,
    ROUTE(f"{ENGINES} With the new cables and without."),
]
PatternOption = Annotated[str, PATTERN(": what is to get more bandwidth.")]
PlacementOption = Annotated[str, PLACEMENT(PLACEMENTS)]
SamplesOption = Annotated[
    int | None, SAMPLES(" for the figures.", default="as many as simulate needs", min=2)
]


def improve(
    loading: Loading,
    fabric: FabricArgument,
    cables: CablesOption = 4,
    ports: PortsOption = None,
    routes: RoutesOption = None,
    route: EngineOption = "contend",
    pattern: PatternOption = "bisect",
    placement: PlacementOption = "random",
    samples: SamplesOption = None,
    seed: SeedOption = 1,
    output: MaybeFileOption = None,
    to: ToOption = None,
    json: JsonOption = None,
    plot: PlotOption = None,
) -> None:
    """Say which free ports to join by cables, and what each of them gains.

    Routes are computed with the new cables and without, and the same patterns simulated by both.

    Example: contend fabric improve net.ibnetdiscover --cables 4 -o improved.fabric
    """
    if plot is not None:
        report.check_suffix(plot)
    kind = None if output is None else kind_for(to, output)
    if output is not None and output == json == "-":
        raise UsageError("--output and --json cannot both be standard output")
    loaded = load(fabric, routes, None, loading)
    with report.progress_bar(loaded.name, "fabrics") as bar:
        task = bar.add_task("", total=None)
        found = find_cables(
            loaded,
            cables=cables,
            pattern=pattern,
            placement=placement,
            engine=route,
            ports=ports,
            samples=samples,
            seed=seed,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    if output is not None and kind is not None:
        write_fabric(found.fabric, output, kind)
        if kind not in HOLD_ROUTES:
            where = "standard output" if output == "-" else output
            print(
                f"contend: warning: {where}: {kind} files hold no tables: by others than "
                "those found here the figures differ; .fabric and .lfts files hold them",
                file=sys.stderr,
            )
    console = console_for("-" if output == "-" else json)
    console.print(Text(report.improvement_verdict(found), style="bold"), soft_wrap=True)
    tables = report.improvement_tables(found)
    report.print_tables(console, tables)
    write_json(json, report.improvement_json(found))
    if plot is not None:
        report.save_figure(report.improvement_figure(found), plot, tables)
