"""``contend place``: better seats for a program's ranks, beside those that they have."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from contend import cure, report
from contend.base.errors import UsageError
from contend.base.units import parse_rate
from contend.cli.common import RoutedLoading, attempt, cost_of_missing, write_output
from contend.cli.options.option import BytesPerSecond, parsed
from contend.cli.options.outputs import Outputs
from contend.cli.options.shared import (
    FABRIC_HELP,
    FORMAT,
    FORMS,
    PICTURE,
    PLACEMENT,
    PLACEMENTS,
    RANKS,
    RANKS_PER_HOST,
    RATE,
    HostsOption,
    MaybeFileOption,
    SeedOption,
)
from contend.report import Document
from contend.traffic import placement as seating
from contend.traffic.placement import ListFormat

SourceArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[PROFILE]",
        show_default=False,
        help="What ranks send: a folder of contend profile, a matrix of bytes from rank "
        "to rank (.npy), or a pattern such as halo:3d. Without it, rings and all-to-alls within "
        "rails, where servers have several adapters.",
    ),
]
PlacedFabricArgument = Annotated[
    str | None, typer.Argument(metavar="FABRIC", show_default=False, help=FABRIC_HELP)
]
OrderOption = Annotated[
    str | None,
    PLACEMENT(
        f"{PLACEMENTS} The result is compared with it.",
        default="as --hosts names them; without --hosts as recorded, if the fabric has the hosts",
    ),
]
PatternRanksOption = Annotated[
    int | None, RANKS("Only for a pattern.", min=1, default="one on each host")
]
MostRanksOption = Annotated[
    int | None, RANKS_PER_HOST("It is the maximum.", min=1, default="as recorded, else 1")
]
RateOption = Annotated[
    BytesPerSecond | None, RATE(default="the fabric's", callback=parsed("--rate", parse_rate))
]
FormatOption = Annotated[ListFormat, FORMAT(FORMS)]
PictureOption = Annotated[
    str | None,
    PICTURE(": network, channels or seats. A page (.html) shows all unless one is named."),
]


def place(
    routed: RoutedLoading,
    outputs: Outputs,
    profile: SourceArgument = None,
    fabric: PlacedFabricArgument = None,
    hosts: HostsOption = None,
    placement: OrderOption = None,
    ranks: PatternRanksOption = None,
    ranks_per_host: MostRanksOption = None,
    rate: RateOption = None,
    seed: SeedOption = 1,
    form: FormatOption = ListFormat.RANKFILE,
    output: MaybeFileOption = None,
    picture: PictureOption = None,
) -> Document:
    """Place a program's ranks on hosts so that fewer messages share a link.

    If there are more hosts than needed, contend chooses the best ones. The result is never worse
    than the given order. On servers with several adapters, it moves whole servers.

    Example: contend place contend-runs/profile-2026-11-22-1 net.fabric --hosts job.hosts
    -o rankfile
    """
    # One argument is the fabric, as of cp the last is the target.
    source, network = (None, profile) if fabric is None else (profile, fabric)
    if network is None:
        raise UsageError("place needs a fabric, and before it what ranks send")
    loaded = routed.load(network)
    without = cost_of_missing(network, loaded, routed.loading, source or "bisect")
    better = cure.place(
        source,
        loaded,
        hosts=hosts,
        placement=placement,
        ranks=ranks,
        ranks_per_host=ranks_per_host,
        rate=rate,
        seed=seed,
    )
    failure, how = None, str(form)
    if output is not None:
        entries = seating.list_hosts(better.fabric, better.placement)
        how += seating.renamed(entries, form)
        failure = attempt(lambda: write_output(output, seating.write_list(entries, form).encode()))
    better = replace(better, file="" if failure else output or "")
    document = report.better_seats_document(better, how)
    return replace(document, picture=picture, failure=failure, without=without)
