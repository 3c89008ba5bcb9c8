"""``contend fabric draw``: the fabric, or the all-to-all connection, as a picture."""

from __future__ import annotations

from typing import Annotated

import typer

from contend import report
from contend import routes as routing
from contend.base.errors import UsageError
from contend.base.units import counted, parse_numbers
from contend.cli.common import RoutedLoading
from contend.cli.options.option import Numbers, parsed
from contend.cli.options.shared import FigureOption
from contend.report import Document

SourceArgument = Annotated[
    str | None,
    typer.Argument(metavar="[FABRIC]", help="The fabric to draw; leave it out with --alltoall."),
]
LoadsOption = Annotated[
    bool,
    typer.Option(
        "--loads",
        help="Colour cables by the routes of an all-to-all that use them, over their rates; needs "
        "routes.",
    ),
]
AllToAllOption = Annotated[
    Numbers | None,
    typer.Option(
        "--alltoall",
        metavar="N,...",
        callback=parsed("--alltoall", parse_numbers),
        help="Draw the connections of an all-to-all of N processes instead, a panel for each N.",
    ),
]


def draw(
    routed: RoutedLoading,
    plot: FigureOption,
    fabric: SourceArgument = None,
    loads: LoadsOption = False,
    alltoall: AllToAllOption = None,
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
