"""Emulated fabrics on the command line: what their cables are like, and one that is up."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from contend.errors import UsageError
from contend.units import parse_bytes, parse_rate

if TYPE_CHECKING:
    from contend.emulate import EmulatedHosts
    from contend.fabric.fabric import Fabric

DEFAULT_RATE = "100Mbit"
DEFAULT_BUFFER = "200kB"

CableRateOption = Annotated[
    str,
    typer.Option("--rate", metavar="RATE", help="Of every emulated cable in each direction."),
]
BufferOption = Annotated[
    str,
    typer.Option(
        "--buffer", metavar="SIZE", help="Bytes that wait for an emulated channel at most."
    ),
]
# Where the fabric may also be a real one, so that these can be asked for in vain.
OnlyCableRateOption = Annotated[
    str | None,
    typer.Option(
        "--rate",
        metavar="RATE",
        help=f"Of every cable of an emulated fabric each way. \\[default: {DEFAULT_RATE}]",
    ),
]
OnlyBufferOption = Annotated[
    str | None,
    typer.Option(
        "--buffer",
        metavar="SIZE",
        help="Bytes that wait for a channel of an emulated fabric at most. "
        f"\\[default: {DEFAULT_BUFFER}]",
    ),
]


def cable_rate(text: str | None) -> float:
    """Bytes per second of a cable; the default for None.

    Raises:
        UsageError: for what is no rate.
    """
    rate = parse_rate(text or DEFAULT_RATE)
    if rate is None:
        raise UsageError(f"--rate: expected a rate such as 100Mbit or 1Gbit, got {text!r}")
    return rate


def buffer_size(text: str | None, option: str = "--buffer") -> int:
    """Bytes of a buffer or a burst; the default buffer for None.

    Raises:
        UsageError: for what is no size.
    """
    size = parse_bytes(text or DEFAULT_BUFFER)
    if size is None:
        raise UsageError(f"{option}: expected a size such as 200kB or 64KiB, got {text!r}")
    return size


@contextmanager
def emulated_hosts(
    fabric: Fabric,
    rate: float,
    buffer: int,
    console: Console,
    *,
    order: Sequence[int] | None = None,
    hosts: Sequence[int] | None = None,
) -> Iterator[EmulatedHosts]:
    """The hosts of a fabric that is emulated as long as the context lasts; says that it is up.

    Args:
        fabric: with routes.
        rate: of every cable each way, in bytes per second.
        buffer: bytes that wait for a channel at most.
        console: is told.
        order: hosts in the order in which ranks fill them; None for the fabric's.
        hosts: only these, and what their routes use; None for all.
    """
    # Imported here: emulating takes longer to load than other verbs run.
    from contend.emulate import EmulatedHosts, bring_up
    from contend.report.emulate_tables import network_line

    started = time.monotonic()
    with bring_up(fabric, rate, buffer, hosts=hosts) as network:
        line = network_line(network, time.monotonic() - started)
        console.print(line, markup=False, soft_wrap=True)
        yield EmulatedHosts(network, order)
