"""``contend run``: starts an MPI program whose all-to-alls go by rules of ``contend tune``."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from contend.cli.measure.options import Common, find_place
from contend.cli.options import (
    MPI,
    ON,
    RANKS_PER_HOST,
    BufferOption,
    LauncherOption,
    MaybePlacementOption,
    Option,
    RanksOption,
    RateOption,
    RouteOption,
    RoutesOption,
)
from contend.cure import read_rules
from contend.errors import UsageError
from contend.measurement import make_shapes, ready_command
from contend.mpi import Preloaded, carry
from contend.process import run_foreground

CommandArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="-- COMMAND...", help="Command that starts the program, such as mpirun -n 64 ./app."
    ),
]
TUNED = Option(("--tuned",), "RULES", "Carry all-to-alls by these rules")
TunedOption = Annotated[Path, TUNED(": the folder that contend tune wrote, which all hosts see.")]
OnRanksOption = Annotated[
    str | None,
    ON(", or on emulated:FABRIC. With -n.", default="wherever the command starts its ranks"),
]
RunMpiOption = Annotated[
    str | None,
    MPI(
        ": openmpi, mpich-4.0 and the like, a folder with bin/mpicc, or a compiler wrapper.",
        default="the command's",
    ),
]
RanksPerHostOption = Annotated[int | None, RANKS_PER_HOST("With -n.", min=1)]


def run(
    command: CommandArgument,
    tuned: TunedOption,
    mpi: RunMpiOption = None,
    ranks: RanksOption = None,
    ranks_per_host: RanksPerHostOption = None,
    on: OnRanksOption = None,
    routes: RoutesOption = None,
    route: RouteOption = None,
    rate: RateOption = None,
    buffer: BufferOption = None,
    placement: MaybePlacementOption = None,
    launcher: LauncherOption = "",
) -> None:
    """Start an MPI program whose all-to-alls go by rules of contend tune.

    The program is started as it is, by any command that starts MPI programs. With -n contend starts
    the ranks itself. The exit status is the command's.

    Example: contend run --tuned RULES -- mpirun -n 64 ./app
    """
    common = Common(
        on=on,
        routes=routes,
        route=route,
        rate=rate,
        buffer=buffer,
        placement=placement,
        launcher=launcher,
    )
    if ranks is None and (common != Common() or ranks_per_host is not None):
        raise UsageError("--on and --ranks-per-host need -n: contend then starts the ranks")
    if not command[0]:
        raise UsageError("the command after -- is empty")
    if shutil.which(command[0]) is None:
        raise UsageError(f"{command[0]}: no such program")
    read_rules(tuned)
    console = Console(stderr=True, highlight=False)

    def load(library: str | None) -> Preloaded:
        return carry(command, tuned, library)

    if ranks is None:
        with ready_command(command, load, mpi, None, None) as ready:
            status = run_foreground(*ready)
        raise typer.Exit(status)
    with find_place(common, console) as place:
        assert place is not None
        each = () if ranks_per_host is None else (ranks_per_host,)
        [shape] = make_shapes((ranks,), each, place.slots, alone=place.alone)
        with ready_command(command, load, mpi, shape, place) as ready:
            status = run_foreground(*ready)
        if (drops := place.counters().get("drops")) is not None:
            console.print(Text(f"{drops:,} packets dropped"), soft_wrap=True)
    raise typer.Exit(status)
