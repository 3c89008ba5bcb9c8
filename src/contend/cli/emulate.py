"""``contend emulate``: any command inside an emulated fabric."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console

from contend.cli.option import Bytes, Option, parsed
from contend.cli.options import FabricArgument, HostsOption
from contend.cli.outputs import ProgramOutputs
from contend.cli.where import CableOptions, Started
from contend.emulation import Network, Settings, bring_up
from contend.errors import UsageError
from contend.mpi import Launch, launch_folder, prepare, select
from contend.process import run_foreground
from contend.report import emulation_document, network_line
from contend.units import parse_size

CommandArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="-- COMMAND...", help="Command to run, with its arguments."),
]
BurstOption = Annotated[
    Bytes | None,
    Option(
        ("--burst",),
        "SIZE",
        "Bytes that a channel may send at once after a pause",
        parsed("--burst", parse_size),
    )(default=f"{Settings().burst // 1024}KiB"),
]
ShellOption = Annotated[
    bool, typer.Option("--shell", help="Start a shell in which `on HOST COMMAND` runs on a host.")
]
KeepRateOption = Annotated[
    bool,
    typer.Option(
        "--keep-rate",
        help="Fail if this machine carries less than the rate, instead of lowering it.",
    ),
]
UncheckedOption = Annotated[
    bool, typer.Option("--unchecked", help="Skip the test of the rate that this machine can carry.")
]


def emulate(
    fabric: FabricArgument,
    started: Started,
    cables: CableOptions,
    outputs: ProgramOutputs,
    command: CommandArgument = None,
    hosts: HostsOption = None,
    burst: BurstOption = None,
    shell: ShellOption = False,
    keep_rate: KeepRateOption = False,
    unchecked: UncheckedOption = False,
) -> None:
    """Run a command inside a switched fabric of network namespaces on this machine.

    Needs root. The exit status is the command's; contend prints its own lines to standard error.

    Example: contend emulate fig1 --rate 100Mbit -n 16 -- ./my-mpi-program
    """
    words = _words(command, shell, started.ranks)
    if started.ranks is None and (started.ranks_per_host is not None or started.mpi is not None):
        raise UsageError("--ranks-per-host and --mpi need -n")
    began = time.monotonic()
    loaded = cables.load(fabric)
    order = cables.order(loaded, hosts)
    with bring_up(
        loaded,
        **cables.settings(),
        burst=Settings().burst if burst is None else burst,
        hosts=sorted(order) if hosts is not None else None,
        check=not unchecked,
        lower=not keep_rate,
    ) as network:
        _tell(outputs.console, network, time.monotonic() - began)
        before = network.counters()
        with _prepared(network, words, started, order) as ready:
            status = run_foreground(*ready, output=outputs.of_program)
        traffic = network.counters() - before
        outputs.deliver(emulation_document(network, words, status, traffic))
    raise typer.Exit(status)


def _words(command: Sequence[str] | None, shell: bool, ranks: int | None) -> list[str]:
    if shell:
        if command or ranks is not None:
            raise UsageError("--shell takes neither a command nor -n")
        return [os.environ.get("SHELL") or "/bin/sh"]
    if not command:
        raise UsageError("give a command after --, or --shell")
    if not command[0]:
        raise UsageError("the command after -- is empty")
    return list(command)


@contextmanager
def _prepared(
    network: Network, words: list[str], started: Started, order: list[int]
) -> Iterator[tuple[list[str], dict[str, str]]]:
    """The command line and the environment of what is to run."""
    if started.ranks is None:
        yield network.inside(words), network.environment()
        return
    if shutil.which(words[0]) is None:
        raise UsageError(f"{words[0]}: no such program")
    request = Launch(select(started.mpi), started.ranks, ranks_per_host=started.ranks_per_host)
    with launch_folder() as folder:
        _, launched, environment = prepare(network.on_hosts(request, order), folder)
        yield [*launched, *words], environment


def _tell(console: Console, network: Network, seconds: float) -> None:
    console.print(network_line(network, seconds), markup=False, soft_wrap=True)
    for remark in network.remarks:
        console.print(remark, markup=False, soft_wrap=True)
