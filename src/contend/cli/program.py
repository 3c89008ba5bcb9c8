"""A program that contend starts, by its command alone or rank by rank on named hosts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from contend.cli.measure.options import Common, find_place
from contend.cli.options import MPI, ON, RANKS_PER_HOST
from contend.errors import UsageError
from contend.measurement import make_shapes

if TYPE_CHECKING:
    from contend.measurement import Place, Shape

CommandArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="-- COMMAND...", help="Command that starts the program, such as mpirun -n 64 ./app."
    ),
]
ProgramOnOption = Annotated[
    str | None,
    ON(", or on emulated:FABRIC. With -n.", default="wherever the command starts its ranks"),
]
ProgramMpiOption = Annotated[
    str | None,
    MPI(
        ": openmpi, mpich-4.0 and the like, a folder with bin/mpicc, or a compiler wrapper.",
        default="the command's",
    ),
]
ProgramRanksPerHostOption = Annotated[int | None, RANKS_PER_HOST("With -n.", min=1)]


def check_command(
    command: Sequence[str], common: Common, ranks: int | None, ranks_per_host: int | None
) -> None:
    """Refuses what cannot be started, before anything is.

    Raises:
        UsageError: there is no such command, or a place without a number of ranks.
    """
    if not command[0]:
        raise UsageError("the command after -- is empty")
    if shutil.which(command[0]) is None:
        raise UsageError(f"{command[0]}: no such program")
    if ranks is None and (common != Common() or ranks_per_host is not None):
        raise UsageError("--on and --ranks-per-host need -n: contend then starts the ranks")


@contextmanager
def seated(
    common: Common, ranks: int | None, ranks_per_host: int | None, console: Console
) -> Iterator[tuple[Shape | None, Place | None]]:
    """Where contend starts ranks, while an emulated place lasts; nowhere without a number."""
    if ranks is None:
        yield None, None
        return
    with find_place(common, console) as place:
        assert place is not None
        each = () if ranks_per_host is None else (ranks_per_host,)
        [shape] = make_shapes((ranks,), each, place.slots, alone=place.alone)
        yield shape, place
