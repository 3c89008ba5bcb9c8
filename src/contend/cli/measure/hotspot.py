"""``contend measure hotspot``: a pair of hosts while others load a channel of its route."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from contend import report
from contend.cli.common import console_for, load, write_json
from contend.cli.emulated import emulated_hosts
from contend.cli.measure.command import measured_command
from contend.cli.measure.options import Common
from contend.cli.measure.place import EMULATED
from contend.cli.measure.watch import watching
from contend.cli.numbers import option_value
from contend.congestion import HotSpot
from contend.congestion import hotspot as choose
from contend.errors import ShortfallError, UsageError
from contend.fabric import Fabric
from contend.units import parse_numbers

if TYPE_CHECKING:
    from contend.measurement import Place

RivalsOption = Annotated[
    str,
    typer.Option("--rivals", "-k", metavar="K,...", help="How many others send: each is measured."),
]
FabricOption = Annotated[
    str | None,
    typer.Option(
        "--fabric",
        metavar="FABRIC",
        help="The real cluster's fabric, whose host names are those that the launcher knows.",
    ),
]
BytesOption = Annotated[
    str, typer.Option("--bytes", metavar="SIZE,...", help="Bytes of the victim's messages.")
]
LoadBytesOption = Annotated[
    str | None,
    typer.Option(
        "--load-bytes",
        metavar="SIZE",
        help="Bytes of the others' messages. \\[default: 20 ms of the wire, at most 8M]",
    ),
]
LeadOption = Annotated[
    float,
    typer.Option("--lead", metavar="SECONDS", min=0, help="The others begin so much earlier."),
]


@measured_command
def hotspot(
    common: Common,
    rivals: RivalsOption = "0,1,2",
    fabric: FabricOption = None,
    bytes: BytesOption = "1:1M",  # noqa: A002
    load_bytes: LoadBytesOption = None,
    lead: LeadOption = 0.05,
) -> None:
    """Measure a pair of hosts while k other pairs load a channel that it crosses.

    The pairs are chosen from the fabric's routes: they share a channel but no host.

    Example: contend measure hotspot -k 0,1,2,3 --on emulated:fig1 --plot hotspot.png
    """
    # Imported here: reports take longer to load than other verbs run.
    from contend.measurement import HotspotWork, measure_hotspot, victim_operations

    if common.resume is not None or common.ranks is not None:
        raise UsageError("hotspot chooses its ranks from -k, and cannot be resumed")
    if common.plot is not None:
        report.check_suffix(common.plot)
    active = _numbers(rivals)
    loaded = _fabric(common, fabric)
    spot = choose(loaded, max(active))
    console = console_for(common.json)
    _tell(console, loaded, spot)
    reachable = tuple(k for k in active if k <= len(spot.rivals))
    work = HotspotWork(reachable, bytes, load_bytes, lead)
    with watching(console) as observer, _place(common, loaded, spot, console) as place:
        conditions = replace(common, ranks=str(len(spot.hosts))).conditions()
        runs = measure_hotspot(
            work,
            conditions,
            common.of_probe(),
            libraries=common.mpi or (None,),
            place=place,
            folder=common.output,
            observer=observer,
        )
    operations = [victim_operations(run) for run in runs]
    tables = [table for found in operations for table in report.hotspot_tables(found)]
    report.print_tables(console, tables)
    written = [report.measure_json(run, hotspot=report.hotspot_json(spot, loaded)) for run in runs]
    write_json(common.json, written[0] if len(written) == 1 else {"results": written})
    if common.plot is not None:
        report.save_figure(report.hotspot_figure(operations[0], loaded.name), common.plot, tables)
    if len(reachable) < len(active):
        most = len(spot.rivals)
        raise ShortfallError(f"{loaded.name} allows {most} rivals at most: no channel carries more")


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(sorted(option_value("-k", text, lambda said: parse_numbers(said, least=0))))


def _fabric(common: Common, fabric: str | None) -> Fabric:
    emulated = common.on is not None and common.on.startswith(EMULATED)
    if emulated == (fabric is not None):
        raise UsageError("give --on emulated:FABRIC, or --fabric FABRIC for a real cluster's")
    source = fabric or (common.on or "").removeprefix(EMULATED)
    return load(source, common.routes, common.route, need_routes=True)


@contextmanager
def _place(common: Common, fabric: Fabric, spot: HotSpot, console: Console) -> Iterator[Place]:
    """The hosts of the pairs in their order, one rank each."""
    from contend.measurement import RealHosts

    if common.on is not None and common.on.startswith(EMULATED):
        asked = (fabric, common.rate, common.buffer, console)
        with emulated_hosts(*asked, order=spot.hosts, hosts=sorted(spot.hosts)) as place:
            yield place
        return
    # An adapter's name begins with its server's.
    slots = tuple((str(fabric.host_name[host]).split()[0], 1) for host in spot.hosts)
    yield RealHosts(slots=slots, launcher=common.launcher, host_memory=common.memory())


def _tell(console: Console, fabric: Fabric, spot: HotSpot) -> None:
    lines = [f"shared channel: {fabric.channel_name(spot.channel)}"]
    for name, (source, target) in zip(
        ["victim", *(f"rival {k}" for k in range(1, len(spot.rivals) + 1))],
        [spot.victim, *spot.rivals],
        strict=True,
    ):
        ends = f'"{fabric.host_name[source]}" -> "{fabric.host_name[target]}"'
        lines.append(f"{name}: {ends}")
    console.print(Text("\n".join(lines)))
