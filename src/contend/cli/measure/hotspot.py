"""``contend measure hotspot``: a pair of hosts while others load a channel of its route."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console

from contend import report
from contend.cli.common import load
from contend.cli.measure.command import MeasureRequest, Report, measures
from contend.cli.measure.options import Common, emulated, emulated_fabric, is_emulated
from contend.cli.option import parsed
from contend.cli.options import BYTES, FABRIC
from contend.congestion import HotSpot
from contend.congestion import hotspot as choose
from contend.errors import UsageError
from contend.fabric import Fabric
from contend.measurement import HotspotWork, Place, RealHosts, victim_operations
from contend.runs import Run
from contend.units import counted, parse_numbers, parse_size

RivalsOption = Annotated[
    str,
    typer.Option(
        "--rivals",
        "-k",
        metavar="K,...",
        help="Number of other pairs that send; each number is measured.",
    ),
]
FabricOption = Annotated[
    str | None,
    FABRIC(": the real cluster's, with the host names that the launcher knows."),
]
BytesOption = Annotated[str, BYTES(": those that the measured pair sends.", many=True)]
LoadBytesOption = Annotated[
    str | None,
    typer.Option(
        "--load-bytes",
        metavar="SIZE",
        callback=parsed("--load-bytes", parse_size),
        help="Bytes of the other pairs' messages. "
        "\\[default: what the wire carries in 20 ms, at most 8M]",
    ),
]
LeadOption = Annotated[
    float,
    typer.Option(
        "--lead",
        metavar="SECONDS",
        min=0,
        help="Seconds that the other pairs send before the measured pair begins.",
    ),
]


@measures
def hotspot(
    common: Common,
    rivals: RivalsOption = "0,1,2",
    fabric: FabricOption = None,
    bytes: BytesOption = "1:1M",  # noqa: A002
    load_bytes: LoadBytesOption = None,
    lead: LeadOption = 0.05,
) -> MeasureRequest:
    """Measure a pair of hosts while k other pairs load a channel that it crosses.

    The pairs are chosen from the fabric's routes: they share a channel but no host.

    Example: contend measure hotspot -k 0,1,2,3 --on emulated:fig1 --plot hotspot.png
    """
    if common.ranks is not None:
        raise UsageError(
            "--ranks: a hot spot has two ranks for each pair; give the number of other pairs "
            "with --rivals"
        )
    active = _numbers(rivals)
    network = _fabric(common, fabric)
    spot = choose(network, max(active))
    reachable = tuple(k for k in active if k <= len(spot.rivals))
    work = HotspotWork(reachable, bytes, load_bytes and str(load_bytes), lead)
    most = len(spot.rivals)
    short = f"{network.name} allows {counted(most, 'rival')} at most: no channel carries more pairs"
    return MeasureRequest(
        "hotspot",
        work.workload(len(spot.hosts), {}).options,
        ranks=len(spot.hosts),
        preface=_preface(network, spot),
        place=functools.partial(_place, network, spot),
        report=functools.partial(_report, network, spot),
        shortfall=short if len(reachable) < len(active) else "",
    )


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(sorted(parse_numbers(text, least=0)))
    except UsageError as error:
        raise UsageError(f"--rivals: {error}") from None


def _fabric(common: Common, fabric: str | None) -> Fabric:
    if is_emulated(common) == (fabric is not None):
        raise UsageError("give --on emulated:FABRIC, or --fabric FABRIC for a real cluster")
    if fabric is None:
        return emulated_fabric(common)
    return load(fabric, common.routes, common.route, common.loading, need_routes=True)


@contextmanager
def _place(fabric: Fabric, spot: HotSpot, common: Common, console: Console) -> Iterator[Place]:
    """The hosts of the pairs in their order, one rank each."""
    if is_emulated(common):
        hosts = sorted(spot.hosts)
        with emulated(fabric, common, console, order=spot.hosts, hosts=hosts) as place:
            yield place
        return
    # An adapter's name begins with its server's.
    slots = tuple((str(fabric.host_name[host]).split()[0], 1) for host in spot.hosts)
    yield RealHosts(slots=slots, launcher=common.launcher, free_memory=common.memory)


def _report(fabric: Fabric, spot: HotSpot, runs: Sequence[Run], _: Place | None) -> Report:
    runs = [run for run in runs if not run.samples.is_empty()]
    operations = [victim_operations(run) for run in runs]
    tables = [table for measured in operations for table in report.hotspot_tables(measured)]
    hot = report.hotspot_json(spot, fabric)
    results = [report.measure_json(run, hotspot=hot) for run in runs]

    def draw(path: object) -> list[object]:
        report.save_figure(report.hotspot_figure(operations[0], fabric.name), path, tables)  # type: ignore[arg-type]
        return []

    return Report(tables, results[0] if len(results) == 1 else {"results": results}, draw)  # type: ignore[arg-type]


def _preface(fabric: Fabric, spot: HotSpot) -> str:
    lines = [f"shared channel: {fabric.channel_name(spot.channel)}"]
    names = ["victim", *(f"rival {k}" for k in range(1, len(spot.rivals) + 1))]
    for name, (source, target) in zip(names, [spot.victim, *spot.rivals], strict=True):
        lines.append(f'{name}: "{fabric.host_name[source]}" -> "{fabric.host_name[target]}"')
    return "\n".join(lines)
