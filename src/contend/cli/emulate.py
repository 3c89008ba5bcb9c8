"""``contend emulate``: any command inside an emulated fabric."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.console import Console

from contend.cli.common import load, write_json
from contend.cli.option import Bytes, Option, parsed
from contend.cli.options import (
    RANKS_PER_HOST,
    BufferOption,
    FabricArgument,
    HostsOption,
    JsonOption,
    Loading,
    MpiOption,
    PlacementOption,
    RanksOption,
    RateOption,
    RouteOption,
    RoutesOption,
    RtoMinOption,
    cable_settings,
)
from contend.emulate import Network, bring_up
from contend.errors import UsageError
from contend.fabric import Fabric
from contend.mpi import Launch, launch_folder, prepare, select
from contend.placement import parse
from contend.process import run_foreground
from contend.report import emulate_json, network_line, print_tables, traffic_table
from contend.units import parse_size

CommandArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="-- COMMAND...", help="Command to run, with its arguments."),
]
_BURST = "16KiB"
BurstOption = Annotated[
    Bytes | None,
    Option(
        ("--burst",),
        "SIZE",
        "Bytes that a channel may send at once after a pause",
        parsed("--burst", parse_size),
    )(default=_BURST),
]
RanksPerHostOption = Annotated[int | None, RANKS_PER_HOST("With -n.", min=1)]
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


@dataclass(frozen=True)
class _Ranks:
    """What -n and the options that go with it say."""

    count: int | None
    per_host: int | None
    library: str | None


def emulate(
    loading: Loading,
    fabric: FabricArgument,
    command: CommandArgument = None,
    routes: RoutesOption = None,
    route: RouteOption = None,
    hosts: HostsOption = None,
    rate: RateOption = None,
    buffer: BufferOption = None,
    rto_min: RtoMinOption = None,
    burst: BurstOption = None,
    ranks: RanksOption = None,
    ranks_per_host: RanksPerHostOption = None,
    placement: PlacementOption = "linear",
    mpi: MpiOption = None,
    shell: ShellOption = False,
    keep_rate: KeepRateOption = False,
    unchecked: UncheckedOption = False,
    json: JsonOption = None,
) -> None:
    """Run a command inside a switched fabric of network namespaces on this machine.

    Needs root. The exit status is the command's; contend prints its own lines to standard error.

    Example: contend emulate fig1 --rate 100Mbit -n 16 -- ./my-mpi-program
    """
    words = _words(command, shell, ranks)
    if ranks is None and (ranks_per_host is not None or mpi is not None):
        raise UsageError("--ranks-per-host and --mpi need -n")
    started = time.monotonic()
    loaded = load(fabric, routes, route, loading, need_routes=True)
    order = _order(loaded, placement, hosts)
    with bring_up(
        loaded,
        **cable_settings(rate, buffer, rto_min),
        burst=parse_size(_BURST) if burst is None else burst,
        hosts=sorted(order) if hosts is not None else None,
        check=not unchecked,
        lower=not keep_rate,
    ) as network:
        console = Console(stderr=True, highlight=False)
        _tell(console, network, time.monotonic() - started)
        before = network.counters()
        with _prepared(network, words, _Ranks(ranks, ranks_per_host, mpi), order) as ready:
            # Standard output is for the JSON alone.
            output = sys.stderr if json == "-" else None
            status = run_foreground(*ready, output=output)
        traffic = network.counters() - before
        print_tables(console, [traffic_table(traffic, network)])
        write_json(json, emulate_json(network, words, status, traffic))
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


def _order(fabric: Fabric, placement: str, hosts: str | None) -> list[int]:
    """The chosen hosts in the order in which ranks fill them."""
    placed = parse(placement, fabric, hosts=hosts)
    if placed.random:
        raise UsageError(
            "--placement random: emulated hosts need a fixed order, such as linear or file:PATH"
        )
    return list(dict.fromkeys(placed.hosts.tolist()))


@contextmanager
def _prepared(
    network: Network, words: list[str], ranks: _Ranks, order: list[int]
) -> Iterator[tuple[list[str], dict[str, str]]]:
    """The command line and the environment of what is to run."""
    if ranks.count is None:
        yield network.inside(words), network.environment()
        return
    if shutil.which(words[0]) is None:
        raise UsageError(f"{words[0]}: no such program")
    request = Launch(select(ranks.library), ranks.count, ranks_per_host=ranks.per_host)
    with launch_folder() as folder:
        _, started, environment = prepare(network.on_hosts(request, order), folder)
        yield [*started, *words], environment


def _tell(console: Console, network: Network, seconds: float) -> None:
    console.print(network_line(network, seconds), markup=False, soft_wrap=True)
    for remark in network.remarks:
        console.print(remark, markup=False, soft_wrap=True)
