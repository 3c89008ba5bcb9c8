"""``contend fabric show``, ``check`` and ``hosts``: what a fabric is made of, and what is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from contend import congestion, cure, report
from contend import fabric as fabrics
from contend import routes as routing
from contend.cli.common import RoutedLoading, load, write_output
from contend.cli.options.outputs import MetricOutputs, TextOutputs
from contend.cli.options.shared import (
    FORMAT,
    FORMS,
    HOSTS,
    PLACEMENT,
    PLACEMENTS,
    FabricArgument,
    HostsOption,
    Loading,
    MaybeFileOption,
    RanksOption,
    RanksPerHostOption,
)
from contend.report import Document
from contend.traffic import placement as seating
from contend.traffic.placement import ListFormat

NoLanesOption = Annotated[
    bool,
    typer.Option(
        "--no-lanes",
        help="Treat a cycle of dependencies between channels as an error; otherwise virtual "
        "lanes, which dumps do not record, may break it.",
    ),
]


RatedHostsOption = Annotated[
    str | None,
    HOSTS(": the rated bisection is that between two halves of them.", default="all"),
]


def show(
    routed: RoutedLoading,
    fabric: FabricArgument,
    hosts: RatedHostsOption = None,
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
    no_lanes: NoLanesOption = False,
) -> Document:
    """Check a fabric and its routes; exit status 1 when something is wrong.

    Example: contend fabric check net.ibnetdiscover --routes net.lfts
    """
    loaded = routed.load(fabric, need_routes=False)
    checked = routing.check(loaded, lanes=not no_lanes)
    return report.check_document(replace(checked, repair=cure.gain_of_repair(loaded)))


FormatOption = Annotated[ListFormat, FORMAT(FORMS)]
OrderOption = Annotated[
    str | None,
    PLACEMENT(
        PLACEMENTS, default="linear; rings if most hosts are adapters of servers that have several"
    ),
]


def hosts(
    loading: Loading,
    outputs: TextOutputs,
    fabric: FabricArgument,
    placement: OrderOption = None,
    choice: HostsOption = None,
    ranks: RanksOption = None,
    ranks_per_host: RanksPerHostOption = 1,
    form: FormatOption = ListFormat.PLAIN,
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
