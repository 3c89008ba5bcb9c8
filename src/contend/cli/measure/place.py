"""Where the command line wants ranks to run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console

from contend.cli.common import load
from contend.cli.measure.options import Common
from contend.cli.options import DEFAULT_BUFFER, DEFAULT_RATE
from contend.emulate import EmulatedHosts, bring_up
from contend.errors import UsageError
from contend.fabric import Fabric
from contend.measurement import Place, RealHosts
from contend.placement import parse, read_host_names
from contend.report import network_line
from contend.units import parse_rate, parse_size

EMULATED = "emulated:"
"""How --on names a fabric that is to be emulated."""


@contextmanager
def find_place(common: Common, console: Console) -> Iterator[Place | None]:
    """The hosts of a host file, an emulated fabric, or this machine.

    None when a run that goes on knows its own. Of an emulated fabric the console is told.

    Raises:
        UsageError: for options that do not fit together.
        InputError: for a host file that is none.
        MissingError: this machine cannot emulate a fabric.
    """
    if is_emulated(common):
        with _emulated(common, console) as place:
            yield place
        return
    for option in ("routes", "route", "rate", "buffer"):
        if getattr(common, option) is not None:
            raise UsageError(f"--{option} belongs to --on emulated:FABRIC")
    if common.placement is not None:
        raise UsageError(
            "--placement belongs to --on emulated:FABRIC; a host file has its own order"
        )
    if common.resume is not None and common.on is None:
        yield None
        return
    slots = () if common.on is None else read_host_names(common.on)
    yield RealHosts(slots=slots, launcher=common.launcher, free_memory=common.memory)


def is_emulated(common: Common) -> bool:
    """Whether ranks are to run on an emulated fabric."""
    return common.on is not None and common.on.startswith(EMULATED)


def emulated_fabric(common: Common) -> Fabric:
    """The fabric that is to be emulated, with its routes."""
    source = (common.on or "").removeprefix(EMULATED)
    return load(source, common.routes, common.route, need_routes=True)


@contextmanager
def _emulated(common: Common, console: Console) -> Iterator[EmulatedHosts]:
    fabric = emulated_fabric(common)
    placed = parse(common.placement or "linear", fabric)
    if placed.random:
        raise UsageError("--placement random: ranks need one placement here; give file:PATH")
    order = list(dict.fromkeys(placed.hosts.tolist()))
    with emulated(fabric, common, console, order=order) as place:
        yield place


@contextmanager
def emulated(
    fabric: Fabric,
    common: Common,
    console: Console,
    *,
    order: Sequence[int],
    hosts: Sequence[int] | None = None,
) -> Iterator[EmulatedHosts]:
    """The hosts of a fabric that is emulated as long as the context lasts; says that it is up.

    Args:
        fabric: with routes.
        common: what its cables carry.
        console: is told.
        order: hosts in the order in which ranks fill them.
        hosts: only these, and what their routes use; None for all.
    """
    if common.launcher:
        raise UsageError("--launcher: an emulated fabric takes the library's own")
    started = time.monotonic()
    rate = parse_rate(DEFAULT_RATE) if common.rate is None else common.rate
    buffer = parse_size(DEFAULT_BUFFER) if common.buffer is None else common.buffer
    with bring_up(fabric, rate, buffer, hosts=hosts) as network:
        line = network_line(network, time.monotonic() - started)
        console.print(line, markup=False, soft_wrap=True)
        yield EmulatedHosts(network, order)
