"""``contend emulate``: any command inside an emulated fabric."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

import contend.lab.emulation
from contend import report
from contend.base.errors import UsageError
from contend.base.units import parse_size
from contend.cli.options.option import Bytes, Option, parsed
from contend.cli.options.outputs import ProgramOutputs
from contend.cli.options.shared import FabricArgument, HostsOption
from contend.cli.options.where import CableOptions, Started
from contend.lab.emulation import Settings

if TYPE_CHECKING:
    from contend.lab.emulation import Network


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
        Option(
            ("--burst",),
            "SIZE",
            "Bytes that a channel may send at once after a pause",
            parsed("--burst", parse_size),
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
