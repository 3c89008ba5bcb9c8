"""``contend fabric make``, ``convert``, ``improve`` and ``extend``: what is written as a file."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from contend import congestion, cure, report
from contend import fabric as fabrics
from contend import routes as routing
from contend.base.errors import UsageError
from contend.base.units import parse_share
from contend.cli.common import RoutedLoading, attempt, cost_of_missing, load, told_by_the_first
from contend.cli.options.option import Share, option
from contend.cli.options.outputs import TextOutputs
from contend.cli.options.shared import (
    ENGINES,
    LIST,
    PATTERN,
    PLACEMENT,
    PLACEMENTS,
    ROUTE,
    SAMPLES,
    FabricArgument,
    FileOption,
    Loading,
    MaybeFileOption,
    RoutesOption,
    SeedOption,
)
from contend.report import Document

if TYPE_CHECKING:
    from contend.fabric import Fabric

TO = option("--to", takes="KIND", means=f"Kind of file to write: {', '.join(routing.KINDS)}")
REMOVE = option(
    "--remove",
    takes="SHARE",
    means="Leave out this share of the cables between switches, chosen at random, such as 5%",
    by=parse_share,
)
REMOVE_SWITCHES = option(
    "--remove-switches",
    takes="SHARE",
    means="Leave out this share of the switches without hosts, such as 5%",
    by=parse_share,
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


DEFAULT = "contend; on Ethernet ecmp"
CABLES = option("--cables", takes="N", means="Number of cables to add")
PORTS = option("--ports", takes="N", means="Assume that every switch has at least this many ports")
PortsOption = Annotated[
    int | None,
    PORTS("For files that do not say.", default="what the file says", min=1, max=254),
]


def improve(
    loading: Loading,
    fabric: FabricArgument,
    cables: Annotated[int, CABLES(min=1)] = 4,
    ports: PortsOption = None,
    routes: RoutesOption = None,
    route: Annotated[
        str | None,
        ROUTE(
            f"{ENGINES} It routes the fabric both with and without the new cables.", default=DEFAULT
        ),
    ] = None,
    pattern: Annotated[
        str | None,
        PATTERN(
            ": the traffic that should get more bandwidth.",
            default="all-to-alls of GPUs where servers have rails, else bisect",
        ),
    ] = None,
    placement: Annotated[str | None, PLACEMENT(PLACEMENTS, default="random")] = None,
    samples: Annotated[
        int | None,
        SAMPLES("The gains shown come from them.", default="as many as simulate needs", min=2),
    ] = None,
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


SERVERS = option(
    "--servers", takes="N", means="Number of servers to add, like those that are there"
)
SPINES = option("--spines", takes="N", means="Number of switches to add above others")
UNITS = option(
    "--units",
    takes="N",
    means="Number of units to add: leaves of all rails, or pods, full of servers",
)
UPLINKS = option(
    "--uplinks",
    takes="RATE",
    means="Replace all cables between switches by faster ones, such as 4xNDR",
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
        str | None,
        ROUTE(f"{ENGINES} It routes the fabric as it is and extended.", default=DEFAULT),
    ] = None,
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
        progress=True,
    )
    failure = None
    if output is not None and kind is not None:
        failure = attempt(partial(write_fabric, growth.fabric, output, kind))
    document = report.growth_document(growth, "" if failure else output or "")
    return replace(document, failure=failure, without=without)
