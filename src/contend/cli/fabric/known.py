"""What is known of a fabric: ``contend fabric show``, ``check``, ``hosts``, ``diff`` and others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated

import typer

from contend import congestion, cure, report
from contend import fabric as fabrics
from contend.base.errors import UsageError
from contend.base.units import parse_seconds
from contend.cli.common import RoutedLoading, cost_of_missing, load, told_by_the_first, write_output
from contend.cli.options.option import Seconds, in_options, option
from contend.cli.options.outputs import MetricOutputs, TextOutputs
from contend.cli.options.shared import (
    ENGINES,
    FORMAT,
    FORMS,
    HOSTS,
    JOBS,
    PATTERN,
    PLACEMENT,
    PLACEMENTS,
    ROUTE,
    ROUTES,
    SAMPLES,
    FabricArgument,
    HostsOption,
    Loading,
    MaybeFileOption,
    PlacementOption,
    RanksOption,
    RanksPerHostOption,
    RoutesOption,
    SeedOption,
)
from contend.report import Document
from contend.traffic import placement as seating
from contend.traffic.placement import ListFormat


def show(
    routed: RoutedLoading,
    fabric: FabricArgument,
    hosts: Annotated[
        str | None,
        HOSTS(": the rated bisection is that between two halves of them.", default="all"),
    ] = None,
) -> Document:
    """Show what a fabric is made of, and its rated bisection bandwidth.

    Example: contend fabric show net.ibnetdiscover --routes net.lfts
    """
    return report.fabric_document(
        congestion.show(routed.load(fabric, need_routes=False), hosts=hosts)
    )


def check(
    routed: RoutedLoading,
    outputs: MetricOutputs,
    fabric: FabricArgument,
    no_lanes: Annotated[
        bool,
        typer.Option(
            "--no-lanes",
            help="Treat a cycle of dependencies between channels as an error; otherwise virtual "
            "lanes, which dumps do not record, may break it.",
        ),
    ] = False,
) -> Document:
    """Check a fabric and its routes; exit status 1 when something is wrong.

    Example: contend fabric check net.ibnetdiscover --routes net.lfts
    """
    loaded = routed.load(fabric, need_routes=False)
    return report.check_document(cure.check(loaded, lanes=not no_lanes))


def hosts(
    loading: Loading,
    outputs: TextOutputs,
    fabric: FabricArgument,
    placement: Annotated[
        str | None,
        PLACEMENT(
            PLACEMENTS,
            default="linear; rings if most hosts are adapters of servers that have several",
        ),
    ] = None,
    choice: HostsOption = None,
    ranks: RanksOption = None,
    ranks_per_host: RanksPerHostOption = 1,
    form: Annotated[ListFormat, FORMAT(FORMS)] = ListFormat.PLAIN,
    output: MaybeFileOption = None,
) -> Document:
    """List hosts by their position in the fabric, for mpirun and Slurm.

    Example: contend fabric hosts net.ibnetdiscover --placement port-group:9 --ranks-per-host 8
    --format openmpi -o hosts
    """
    loaded = load(fabric, None, None, loading)
    rails = fabrics.count_rails(loaded) if placement is None else 0
    placement = placement or ("rings" if rails else "linear")
    placed = seating.parse(
        placement, loaded, ranks_per_host=ranks_per_host, hosts=choice, ranks=ranks
    )
    entries = seating.list_hosts(loaded, placed, ranks)
    text = seating.write_list(entries, form)
    if output is None:
        return report.list_of_hosts(loaded, placed, entries, text=text, rails=rails).document()
    write_output(output, text.encode())
    renaming = seating.renamed(entries, form)
    written = {"file": output, "renaming": renaming}
    return report.list_of_hosts(loaded, placed, entries, rails=rails, **written).document()


_STATE = "The {} state of the network: a topology file of any kind that contend knows."
_EACH = "Give it twice: for OLD, then for NEW. Once is for both."


def diff(
    loading: Loading,
    old: Annotated[str, typer.Argument(metavar="OLD", help=_STATE.format("earlier"))],
    new: Annotated[str, typer.Argument(metavar="NEW", help=_STATE.format("later"))],
    routes: Annotated[list[str] | None, ROUTES(_EACH)] = None,
    route: Annotated[list[str] | None, ROUTE(f"{ENGINES} {_EACH}")] = None,
    jobs: Annotated[str | None, JOBS(": say what each job loses.")] = None,
    seed: SeedOption = 1,
) -> Document:
    """Show what changed in a network: nodes, cables, speeds, routes and bandwidth.

    Nodes are recognised by their GUIDs, even if they were renamed or moved.

    Example: contend fabric diff last-week.ibnetdiscover net.ibnetdiscover
    """
    each = zip((old, new), _of_both("--routes", routes), _of_both("--route", route), strict=True)
    before, after = (load(*state, loading, need_routes=jobs is not None) for state in each)
    without = [cost_of_missing(*state, loading) for state in ((old, before), (new, after))]
    document = report.changes_document(cure.diff(before, after, jobs=jobs, seed=seed))
    return replace(document, without=without[-1])


def _of_both(flag: str, given: list[str] | None) -> Sequence[str | None]:
    """What an option says of OLD and of NEW."""
    if given is not None and len(given) > 2:
        raise UsageError(f"{flag} is for OLD and NEW, got {len(given)}")
    return [given[0], given[-1]] if given else [None, None]


LIMIT = option(
    "--limit", takes="TIME", means="Stop an OpenSM engine after this time", by=parse_seconds
)


def engines(
    loading: Loading,
    fabric: FabricArgument,
    routes: RoutesOption = None,
    route: Annotated[
        list[str] | None,
        ROUTE("Repeat it for several engines.", default="all, OpenSM's too"),
    ] = None,
    hosts: HostsOption = None,
    limit: Annotated[Seconds | None, LIMIT(default="60 s")] = None,
    seed: SeedOption = 1,
) -> Document:
    """Route a fabric with every engine, and rank the results.

    Tables from --routes or from the file are ranked with them.

    Example: contend fabric engines net.ibnetdiscover --routes net.lfts
    """
    loaded = load(fabric, routes, None, loading)
    without = cost_of_missing(fabric, loaded, loading)
    found = cure.engines(
        loaded,
        route or (),
        hosts=hosts,
        limit=60.0 if limit is None else limit,
        seed=seed,
        progress=True,
    )
    judged = (
        one if one.error is None else replace(one, refusal=in_options(one.error))
        for one in found.engines
    )
    document = report.engines_document(replace(found, engines=tuple(judged)))
    return replace(document, without=without)


def failures(
    loading: Loading,
    fabric: FabricArgument,
    routes: RoutesOption = None,
    route: Annotated[
        str | None,
        ROUTE(
            f"{ENGINES} It also recomputes the tables after the worst failures (default: "
            "contend, on Ethernet ecmp)."
        ),
    ] = None,
    pattern: Annotated[str, PATTERN(": the traffic that failures are ranked by.")] = "bisect",
    placement: PlacementOption = "random",
    hosts: HostsOption = None,
    samples: Annotated[int, SAMPLES("They are the same for each failure.", min=2)] = 200,
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
            engine=route,
            progress=first,
            communicator=world,
        )
    return replace(report.failures_document(found), without=without)
