"""Where the command line wants ranks to run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console

from contend.cli.common import load
from contend.cli.emulated import emulated_hosts
from contend.cli.measure.options import Common
from contend.errors import UsageError
from contend.placement import parse, read_host_names

if TYPE_CHECKING:
    from contend.emulate import EmulatedHosts
    from contend.measurement import Place

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
    if common.on is not None and common.on.startswith(EMULATED):
        with _emulated(common, common.on.removeprefix(EMULATED), console) as place:
            yield place
        return
    for option in ("routes", "route", "rate", "buffer"):
        if getattr(common, option) is not None:
            raise UsageError(f"--{option} belongs to --on emulated:FABRIC")
    if common.placement is not None:
        raise UsageError("--placement belongs to --on emulated:FABRIC; a host file has an order")
    if common.resume is not None and common.on is None:
        yield None
        return
    # Imported here, as in all of this verb: measuring takes longer to load than other verbs run.
    from contend.measurement import RealHosts

    slots = () if common.on is None else read_host_names(common.on)
    yield RealHosts(slots=slots, launcher=common.launcher, host_memory=common.memory())


@contextmanager
def _emulated(common: Common, source: str, console: Console) -> Iterator[EmulatedHosts]:
    if common.launcher:
        raise UsageError("--launcher: an emulated fabric takes the library's own")
    fabric = load(source, common.routes, common.route, need_routes=True)
    placed = parse(common.placement or "linear", fabric)
    if placed.random:
        raise UsageError("--placement random: ranks need one placement here; give file:PATH")
    order = list(dict.fromkeys(placed.hosts.tolist()))
    with emulated_hosts(fabric, common.rate, common.buffer, console, order=order) as place:
        yield place
