"""``contend place``: better seats for a program's ranks, beside those that they have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from contend.cli.common import console_for, load, write_json
from contend.cli.option import BytesPerSecond, parsed
from contend.cli.options import (
    FORMAT,
    FORMS,
    PLACEMENT,
    PLACEMENTS,
    RANKS,
    RANKS_PER_HOST,
    RATE,
    FabricArgument,
    HostsOption,
    JsonOption,
    Loading,
    MaybeFileOption,
    RouteOption,
    RoutesOption,
    SeedOption,
)
from contend.cure import better_seats
from contend.errors import UsageError
from contend.files import write_whole
from contend.placement import ListFormat, list_hosts, write_list
from contend.report import (
    better_seats_json,
    better_seats_table,
    better_seats_verdict,
    print_tables,
)
from contend.units import parse_rate

SourceArgument = Annotated[
    str,
    typer.Argument(
        metavar="PROFILE",
        help="What ranks send: the folder that contend profile left, a matrix of bytes from rank "
        "to rank (.npy), or a pattern such as halo:3d.",
    ),
]
OrderOption = Annotated[
    str | None,
    PLACEMENT(
        f"{PLACEMENTS} It is what is to be bettered.",
        default="as --hosts names them; without --hosts as recorded, if the fabric has the hosts",
    ),
]
PatternRanksOption = Annotated[int | None, RANKS("Of a pattern.", min=1, default="one a seat")]
MostRanksOption = Annotated[
    int | None, RANKS_PER_HOST("At most.", min=1, default="as recorded, else 1")
]
RateOption = Annotated[
    BytesPerSecond | None, RATE(default="the fabric's", callback=parsed("--rate", parse_rate))
]
FormatOption = Annotated[ListFormat, FORMAT(FORMS)]


def place(
    loading: Loading,
    profile: SourceArgument,
    fabric: FabricArgument,
    hosts: HostsOption = None,
    placement: OrderOption = None,
    ranks: PatternRanksOption = None,
    ranks_per_host: MostRanksOption = None,
    rate: RateOption = None,
    routes: RoutesOption = None,
    route: RouteOption = None,
    seed: SeedOption = 1,
    form: FormatOption = ListFormat.RANKFILE,
    output: MaybeFileOption = None,
    json: JsonOption = None,
) -> None:
    """Seat a program's ranks on hosts so that their messages meet less.

    Of more hosts than are needed the best are chosen. The seats are never worse than the order that
    was given.

    Example: contend place contend-runs/profile-2026-11-22-1 net.fabric --hosts job.hosts
    -o rankfile
    """
    if output == json == "-":
        raise UsageError("--output and --json cannot both be standard output")
    better = better_seats(
        profile,
        load(fabric, routes, route, loading, need_routes=True),
        hosts=hosts,
        placement=placement,
        ranks=ranks,
        ranks_per_host=ranks_per_host,
        rate=rate,
        seed=seed,
    )
    if output is not None:
        text = write_list(list_hosts(better.fabric, better.placement), form)
        if output == "-":
            print(text, end="")
        else:
            write_whole(Path(output), text.encode())
    console = console_for("-" if output == "-" else json)
    console.print(Text(better_seats_verdict(better)), soft_wrap=True)
    print_tables(console, [better_seats_table(better)])
    if output not in (None, "-"):
        console.print(Text(f"written to {output} as {form}"), soft_wrap=True)
    write_json(json, better_seats_json(better, output or ""))
