"""Emulated fabrics on the command line: options of their cables, and bringing one up."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from contend.cli.numbers import option_value
from contend.units import parse_rate, parse_size

if TYPE_CHECKING:
    from contend.emulate import EmulatedHosts
    from contend.fabric import Fabric

_RATE, _BUFFER = "100Mbit", "200kB"

RateOption = Annotated[
    str | None,
    typer.Option(
        "--rate",
        metavar="RATE",
        help=f"Rate of every emulated cable in each direction. \\[default: {_RATE}]",
    ),
]
BufferOption = Annotated[
    str | None,
    typer.Option(
        "--buffer",
        metavar="SIZE",
        help=f"Buffer of every emulated channel; the excess is dropped. \\[default: {_BUFFER}]",
    ),
]


def cable_rate(text: str | None) -> float:
    """Bytes per second of a cable; the default for None.

    Raises:
        UsageError: the text is not a rate.
    """
    return option_value("--rate", text or _RATE, parse_rate)


def buffer_size(text: str | None, option: str = "--buffer") -> int:
    """Bytes of a buffer or a burst; the default buffer for None.

    Raises:
        UsageError: the text is not a size.
    """
    return option_value(option, text or _BUFFER, parse_size)


@contextmanager
def emulated_hosts(
    fabric: Fabric,
    rate: str | None,
    buffer: str | None,
    console: Console,
    *,
    order: Sequence[int] | None = None,
    hosts: Sequence[int] | None = None,
) -> Iterator[EmulatedHosts]:
    """The hosts of a fabric that is emulated as long as the context lasts; says that it is up.

    Args:
        fabric: with routes.
        rate: of every cable each way, as its option says.
        buffer: of every channel, as its option says.
        console: prints the line.
        order: hosts in the order in which ranks fill them; None for the fabric's.
        hosts: only these, and what their routes use; None for all.
    """
    # Imported here: emulating takes longer to load than other verbs run.
    from contend.emulate import EmulatedHosts, bring_up
    from contend.report.emulate_tables import network_line

    started = time.monotonic()
    with bring_up(fabric, cable_rate(rate), buffer_size(buffer), hosts=hosts) as network:
        line = network_line(network, time.monotonic() - started)
        console.print(line, markup=False, soft_wrap=True)
        yield EmulatedHosts(network, order)
