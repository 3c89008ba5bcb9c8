"""``contend fabric make`` and ``convert``: a fabric in, or on paper, and a file out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from contend import fabric as fabrics
from contend import report
from contend import routes as routing
from contend.base.errors import UsageError
from contend.base.units import parse_share
from contend.cli.common import RoutedLoading
from contend.cli.options.option import Option, Share, parsed
from contend.cli.options.outputs import TextOutputs
from contend.cli.options.shared import (
    LIST,
    ROUTE,
    FabricArgument,
    FileOption,
    MaybeFileOption,
    SeedOption,
)
from contend.report import Document

if TYPE_CHECKING:
    from contend.fabric import Fabric

TO = Option(("--to",), "KIND", f"Kind of file to write: {', '.join(routing.KINDS)}")
REMOVE = Option(
    ("--remove",),
    "SHARE",
    "Leave out this share of the cables between switches, chosen at random, such as 5%",
    parsed("--remove", parse_share),
)
REMOVE_SWITCHES = Option(
    ("--remove-switches",),
    "SHARE",
    "Leave out this share of the switches without hosts, such as 5%",
    parsed("--remove-switches", parse_share),
)
ToOption = Annotated[str | None, TO(default="by the ending of FILE")]


def convert(
    routed: RoutedLoading,
    fabric: FabricArgument,
    output: FileOption,
    to: ToOption = None,
) -> None:
    """Write a fabric as a file of another kind.

    Example: contend fabric convert net.ibnetdiscover --routes net.lfts -o net.fabric
    """
    kind = kind_for(to, output)
    write_fabric(routed.load(fabric, need_routes=kind in routing.NEED_ROUTES), output, kind)


def make(
    outputs: TextOutputs,
    fabric: Annotated[
        str | None,
        typer.Argument(
            metavar="[GENERATOR]", help="A generator and its parameters; --list shows them all."
        ),
    ] = None,
    output: MaybeFileOption = None,
    to: ToOption = None,
    parallel_links: Annotated[
        int,
        typer.Option(
            "--parallel-links",
            metavar="N",
            min=1,
            help="Make every cable between switches N parallel cables.",
        ),
    ] = 1,
    remove: Annotated[Share | None, REMOVE()] = None,
    remove_switches: Annotated[Share | None, REMOVE_SWITCHES()] = None,
    route: Annotated[
        str | None,
        ROUTE(": contend, minhop, updn, dor or dmodk, or opensm:NAME. The tables are written too."),
    ] = None,
    seed: SeedOption = 0,
    families: Annotated[bool, LIST()] = False,
) -> Document:
    """Generate a fabric and write it to a file.

    Example: contend fabric make "xgft:2;18,36;1,18" --route minhop -o tree.fabric
    """
    if families:
        return report.generators_document()
    if fabric is None or output is None:
        raise UsageError("make needs a generator and -o FILE, or --list")
    made = _degraded(
        fabrics.make(fabric), parallel_links, remove_switches or 0.0, remove or 0.0, seed
    )
    if route is not None:
        made = routing.compute(made, route)
    kind = kind_for(to, output)
    write_fabric(made, output, kind)
    with_routes = kind in routing.HOLD_ROUTES
    return report.Made(made, fabric, output, seed, with_routes).document()


def kind_for(to: str | None, output: str) -> str:
    """The kind of file to write: what --to says, else by the file's name.

    Raises:
        UsageError: neither tells.
    """
    if to is not None:
        return to
    if output == "-":
        raise UsageError(f"give the kind of file with --to: one of {', '.join(routing.KINDS)}")
    return routing.kind_of(Path(output))


def write_fabric(fabric: Fabric, output: str, kind: str) -> None:
    """Writes a fabric to a file or, for -, to standard output, and warns of what is lost."""
    for sentence in routing.lost(fabric, kind):
        print(f"contend: warning: {sentence}", file=sys.stderr)
    if output == "-":
        routing.save_to(fabric, sys.stdout.buffer, kind)
        sys.stdout.flush()
    else:
        routing.save(fabric, Path(output), kind)


def _degraded(
    fabric: Fabric, parallel_links: int, switches: float, cables: float, seed: int
) -> Fabric:
    """The fabric with parallel links first, then without switches, then without cables."""
    if parallel_links > 1:
        fabric = fabrics.with_parallel_links(fabric, parallel_links)
    if switches > 0:
        fabric = fabrics.remove_switches(fabric, _percent(switches), seed)
    if cables > 0:
        fabric = fabrics.remove_cables(fabric, _percent(cables), seed)
    return fabric


def _percent(share: float) -> float:
    # 0.07 is no binary fraction, but 7 % is a whole number.
    return round(100 * share, 9)
