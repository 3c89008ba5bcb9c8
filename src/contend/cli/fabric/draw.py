"""``contend fabric draw``: the fabric, or the all-to-all connection, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from contend.cli.common import RouteOption, RoutesOption, load, writable
from contend.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SourceArgument = Annotated[
    str | None,
    typer.Argument(metavar="[FABRIC]", help="The fabric to draw; none with --alltoall."),
]
FigureOption = Annotated[
    Path,
    typer.Option(
        "--plot",
        metavar="FILE",
        callback=writable,
        help="The figure: .svg, .png, .pdf or .html.",
    ),
]
LoadsOption = Annotated[
    bool,
    typer.Option(
        "--loads", help="Colour cables by how many routes of an all-to-all use them; needs routes."
    ),
]
AllToAllOption = Annotated[
    str | None,
    typer.Option(
        "--alltoall",
        metavar="N[,N...]",
        help="Draw the connections of an all-to-all of N processes instead, a panel for each N.",
    ),
]


def draw(
    plot: FigureOption,
    fabric: SourceArgument = None,
    routes: RoutesOption = None,
    route: RouteOption = None,
    loads: LoadsOption = False,
    alltoall: AllToAllOption = None,
) -> None:
    """Draw a fabric, or the connections of an all-to-all.

    Examples: contend fabric draw chic --route dmodk --loads --plot chic.svg,
    contend fabric draw --alltoall 9,18,36 --plot alltoall.svg
    """
    # Imported here, as below: matplotlib takes longer to load than other verbs run.
    from contend.report import check_suffix, save_figure

    check_suffix(plot)
    if (fabric is None) == (alltoall is None):
        raise UsageError("name a fabric to draw, or give --alltoall N")
    save_figure(_figure(fabric, routes, route, loads, alltoall), plot)


def _figure(
    fabric: str | None, routes: str | None, route: str | None, loads: bool, alltoall: str | None
) -> Figure:
    if fabric is not None:
        from contend.report import fabric_figure
        from contend.routes import all_to_all_load

        whole = load(fabric, routes, route, need_routes=loads)
        return fabric_figure(whole, all_to_all_load(whole) if loads else None)
    from contend.report import alltoall_figure

    if loads or routes or route:
        raise UsageError("--loads, --routes and --route need a fabric, not --alltoall")
    return alltoall_figure(_counts(alltoall or ""))


def _counts(text: str) -> list[int]:
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise UsageError(f"--alltoall {text}: expected numbers such as 9,18,36") from None
