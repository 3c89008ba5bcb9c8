"""``contend run``: starts an MPI program whose all-to-alls go by rules of ``contend tune``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from contend import cure
from contend.base import process
from contend.cli.options.option import Option
from contend.cli.options.where import CommandArgument, Started, Where
from contend.lab import emulation, measurement
from contend.lab import mpi as mpis

if TYPE_CHECKING:
    from contend.lab.mpi import Preloaded

_NEEDED = ("LD_PRELOAD", "CONTEND_TUNED", "CONTEND_TUNED_RUN", "CONTEND_TUNED_SIGN_IN")
TUNED = Option(("--tuned",), "RULES", "Follow these rules for all-to-alls")
TunedOption = Annotated[Path, TUNED(": the folder that contend tune wrote, which all hosts see.")]


def run(command: CommandArgument, tuned: TunedOption, started: Started, where: Where) -> None:
    """Start an MPI program whose all-to-alls follow rules from contend tune.

    Put this before any command that starts MPI programs; the program stays as it is. With -n,
    contend starts the ranks itself. The exit status is the command's.

    Example: contend run --tuned RULES -- mpirun -n 64 ./app
    """
    started.check(command, where)
    cure.read_rules(tuned)
    console = Console(stderr=True, highlight=False)

    carried: list[Preloaded] = []

    def load(library: str | None) -> Preloaded:
        carried.append(mpis.carry(command, tuned, library))
        return carried[-1]

    with (
        started.seated(where, console) as (shape, place),
        measurement.ready_command(command, load, started.mpi, shape, place) as ready,
    ):
        status = process.run_foreground(*ready)
        if place is not None and (drops := emulation.drops_of(place.counters())) is not None:
            dropped = f"{drops}."
            console.print(Text(dropped[:1].upper() + dropped[1:]), soft_wrap=True)
    if not carried[-1].took() and status == 0:
        lost = mpis.lost_on_the_way(
            command, [name for name in _NEEDED if name in carried[-1].variables]
        )
        why = lost or (
            "no MPI program started, it uses another library (name it with --mpi), or its ranks "
            "lack the variables LD_PRELOAD and CONTEND_TUNED of this command"
        )
        console.print(Text(f"contend: no all-to-all followed the rules: {why}"), soft_wrap=True)
    raise typer.Exit(status)
