"""``contend profile`` and ``emulate``: programs that are recorded, or run on an emulation."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import contend.lab.emulation
from contend import profiling, report
from contend.base.errors import ShortfallError, UsageError
from contend.base.progress import shown_steps, step
from contend.base.units import parse_size
from contend.cli.options.option import Bytes, labels, option
from contend.cli.options.outputs import ProgramOutputs
from contend.cli.options.shared import OUTPUT, FabricArgument, HostsOption, LabelOption
from contend.cli.options.where import CableOptions, CommandArgument, Started, Where
from contend.lab.emulation import Settings

if TYPE_CHECKING:
    from contend.lab.emulation import Network


def profile(
    command: CommandArgument,
    started: Started,
    where: Where,
    outputs: ProgramOutputs,
    output: Annotated[
        Path | None,
        OUTPUT(
            ": a new folder for the profile, which all hosts see.",
            default="contend-runs/profile-DATE-NUMBER",
        ),
    ] = None,
    label: LabelOption = None,
    record: Annotated[
        Bytes | None,
        option(
            "--record",
            takes="SIZE",
            means="Size limit of a rank's record, in memory and on the disk",
            by=parse_size,
        )(
            "16MiB hold 250,000 events: a call is one, and each message that it completes. Of "
            "longer runs the first half of them is kept, and then the longest waits.",
            default="16MiB",
        ),
    ] = None,
) -> None:
    """Record what an MPI program communicates, and show where its time in MPI goes.

    Put this before any command that starts MPI programs; the program stays as it is. With -n,
    contend starts the ranks itself. The exit status is the command's; contend prints its own lines
    to standard error.

    Example: contend profile -- mpirun -n 64 ./app
    """
    started.check(command, where)
    job = profiling.RecordedJob(
        tuple(command), mpi=started.mpi, labels=labels(label), memory=record
    )
    with (
        started.seated(where, outputs.console) as (shape, place),
        merging() as progress,
    ):
        job = replace(job, shape=shape, place=place)
        outcome = profiling.run_recorded(job, output, output=outputs.of_program, progress=progress)
    if outcome.profile is not None:
        outputs.deliver(report.recorded_document([outcome.profile, *outcome.others]))
    _leave(outcome)


@contextmanager
def merging() -> Iterator[Callable[[int, int], None]]:
    """A bar of records that are merged, if that lasts."""
    with shown_steps(), step("merging records") as tell:
        yield lambda done, total: tell(done / max(total, 1))


def _leave(outcome: profiling.RecordingOutcome) -> None:
    """Ends as the command ended.

    Raises:
        ShortfallError: the command was done, but nothing was recorded.
    """
    if outcome.interruption is not None:
        raise outcome.interruption
    if outcome.profile is None:
        if not outcome.status:
            raise ShortfallError(outcome.why)
        print(f"contend: {outcome.why}", file=sys.stderr)
    raise typer.Exit(outcome.status or 0)


def emulate(
    fabric: FabricArgument,
    started: Started,
    cables: CableOptions,
    outputs: ProgramOutputs,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- COMMAND...", help="Command to run, with its arguments."),
    ] = None,
    hosts: HostsOption = None,
    burst: Annotated[
        Bytes | None,
        option(
            "--burst",
            takes="SIZE",
            means="Bytes that a channel may send at once after a pause",
            by=parse_size,
        )(default=f"{Settings().burst // 1024}KiB"),
    ] = None,
    shell: Annotated[
        bool,
        typer.Option("--shell", help="Start a shell in which `on HOST COMMAND` runs on a host."),
    ] = False,
    keep_rate: Annotated[
        bool,
        typer.Option(
            "--keep-rate",
            help="Fail if this machine carries less than the rate, instead of lowering it.",
        ),
    ] = False,
    unchecked: Annotated[
        bool,
        typer.Option("--unchecked", help="Skip the test of the rate that this machine can carry."),
    ] = False,
) -> None:
    """Run a command inside a switched fabric of network namespaces on this machine.

    Needs root. The exit status is the command's; contend prints its own lines to standard error.

    Example: contend emulate fig1 --rate 100Mbit -n 16 -- ./my-mpi-program
    """
    words = _words(command, shell, started.ranks)
    began = time.monotonic()
    loaded = cables.load(fabric)

    def tell(network: Network) -> None:
        lines = (report.network_line(network, time.monotonic() - began), *network.remarks)
        for line in lines:
            outputs.console.print(line, markup=False, soft_wrap=True)

    emulation = contend.lab.emulation.emulate(
        loaded,
        words,
        **cables.settings(),
        burst=burst,
        hosts=hosts,
        placement=cables.placement or "linear",
        ranks=started.ranks,
        ranks_per_host=started.ranks_per_host,
        mpi=started.mpi,
        keep_rate=keep_rate,
        unchecked=unchecked,
        output=outputs.of_program,
        up=tell,
    )
    outputs.deliver(emulation.document())
    raise typer.Exit(emulation.status)


def _words(command: Sequence[str] | None, shell: bool, ranks: int | None) -> list[str]:
    if shell:
        if command or ranks is not None:
            raise UsageError("--shell takes neither a command nor -n")
        return [os.environ.get("SHELL") or "/bin/sh"]
    if not command:
        raise UsageError("give a command after --, or --shell")
    return list(command)
