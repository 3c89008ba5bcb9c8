"""``contend measure bisect`` and ``hotspot``: pairs of hosts that send at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from contend import congestion, report
from contend.base.errors import UsageError
from contend.base.files import whole_file
from contend.base.units import counted, parse_numbers, parse_size
from contend.cli.measure.measuring import Measuring, judged
from contend.cli.options.option import parsed, writable
from contend.cli.options.outputs import Outputs
from contend.cli.options.shared import (
    BYTES,
    FABRIC,
    PACKETS,
    PATTERN,
    PATTERNS,
    TWO_WAY,
    BytesOption,
)
from contend.cli.options.where import Where
from contend.lab import measurement
from contend.lab.measurement import STANDARD
from contend.report import Document

if TYPE_CHECKING:
    from contend.congestion import HotSpot
    from contend.fabric import Fabric
    from contend.lab.measurement import MeasuredPairs, Place

_OF_BISECT: Mapping[str, Any] = STANDARD["bisect"]


def bisect(
    measuring: Measuring,
    where: Where,
    outputs: Outputs,
    patterns: Annotated[int, PATTERNS(min=1)] = int(_OF_BISECT["patterns"]),
    pattern: Annotated[
        str,
        PATTERN(
            ": bisect, permutation, shift:K, file:PATH and others in which every rank sends one "
            "message at most. Every round is measured by itself."
        ),
    ] = _OF_BISECT["pattern"],
    two_way: Annotated[bool, TWO_WAY()] = bool(_OF_BISECT["two_way"]),
    bytes: BytesOption = _OF_BISECT["bytes"],  # noqa: A002
    packets: Annotated[int, PACKETS(min=1)] = int(_OF_BISECT["packets"]),
    repeats: Annotated[
        int,
        typer.Option("--repeats", metavar="N", min=1, help="Number of samples of every pattern."),
    ] = int(_OF_BISECT["repeats"]),
    messages: Annotated[
        Path | None,
        typer.Option(
            "--messages",
            metavar="FILE",
            help="Write a line for every message: .csv or .parquet.",
            callback=writable,
        ),
    ] = None,
) -> Document:
    """Measure random pairs of ranks that all send at once.

    The pairs are those that contend simulate draws for the same --seed and number of ranks. On an
    emulated fabric, contend compares every pair's bandwidth with the prediction.

    Example: contend measure bisect -n 16 --on emulated:fig1 --patterns 20 --plot bisect.png
    """
    if messages is not None and messages.suffix not in (".csv", ".parquet"):
        raise UsageError(
            f"--messages: expected a name that ends in .csv or .parquet, got {messages}"
        )
    for option in ("repetitions", "precision"):
        if getattr(measuring, option) is not None:
            raise UsageError(f"--{option}: a bisect has samples of --patterns times --repeats")
    options = measurement.bisect_options(
        patterns=patterns,
        pattern=pattern,
        two_way=two_way,
        bytes=bytes,
        packets=packets,
        repeats=repeats,
    )
    with measuring.place(where, outputs.console) as place:
        runs = measuring.runs("bisect", options, where, place, outputs.console)
        pairs = [
            measurement.measured_pairs(run, place) for run in runs if not run.samples.is_empty()
        ]
    if messages is not None:
        _write_messages(messages, pairs)
    return judged(report.pairs_document(pairs), runs)


def _write_messages(path: Path, measured: Sequence[MeasuredPairs]) -> None:
    """Writes every message, with the library's name where there are several."""
    import polars as pl

    whole = pl.concat(
        pairs.bandwidths.with_columns(library=pl.lit(pairs.run.record.library.title))
        for pairs in measured
    )
    with whole_file(path) as file:
        if path.suffix == ".csv":
            whole.write_csv(file)
        else:
            whole.write_parquet(file)


_OF_HOTSPOT = STANDARD["hotspot"]


def hotspot(
    measuring: Measuring,
    where: Where,
    outputs: Outputs,
    rivals: Annotated[
        str,
        typer.Option(
            "--rivals",
            "-k",
            metavar="K,...",
            help="Number of other pairs that send; each number is measured.",
        ),
    ] = _OF_HOTSPOT["rivals_active"] or "",
    fabric: Annotated[
        str | None,
        FABRIC(": the real cluster's, with the host names that the launcher knows."),
    ] = None,
    bytes: Annotated[  # noqa: A002
        str, BYTES(": those that the measured pair sends.", many=True)
    ] = _OF_HOTSPOT["bytes"] or "",
    load_bytes: Annotated[
        str | None,
        typer.Option(
            "--load-bytes",
            metavar="SIZE",
            callback=parsed("--load-bytes", parse_size),
            help="Bytes of the other pairs' messages. "
            "\\[default: what the wire carries in 20 ms, at most 8M]",
        ),
    ] = None,
    lead: Annotated[
        float,
        typer.Option(
            "--lead",
            metavar="SECONDS",
            min=0,
            help="Seconds that the other pairs send before the measured pair begins.",
        ),
    ] = float(_OF_HOTSPOT["lead"] or 0),
) -> Document:
    """Measure a pair of hosts while k other pairs load a channel that it crosses.

    The pairs are chosen from the fabric's routes: they share a channel but no host.

    Example: contend measure hotspot -k 0,1,2,3 --on emulated:fig1 --plot hotspot.png
    """
    if measuring.ranks is not None:
        raise UsageError(
            "--ranks: a hot spot has two ranks for each pair; give the number of other pairs "
            "with --rivals"
        )
    active = sorted(parsed("--rivals", partial(parse_numbers, least=0))(rivals) or ())
    network = _fabric(where, fabric)
    spot = congestion.hotspot(network, max(active))
    reachable = tuple(k for k in active if k <= len(spot.rivals))
    ranks = len(spot.hosts)
    options = measurement.hotspot_options(
        ranks, reachable, bytes=bytes, load_bytes=load_bytes, lead=lead
    )
    measuring = replace(measuring, ranks=(ranks,))
    outputs.console.print(Text(_preface(network, spot)))
    with _place(network, spot, measuring, where, outputs.console) as place:
        runs = measuring.runs("hotspot", options, where, place, outputs.console)
    # Of a run that goes on, the options of this command do not count.
    enough = measuring.resume is not None or len(reachable) == len(active)
    short = "" if enough else _shortfall(network, spot)
    return judged(report.hotspot_document(runs, spot, network), runs, short)


def _fabric(where: Where, fabric: str | None) -> Fabric:
    if where.is_emulated == (fabric is not None):
        raise UsageError("give --on emulated:FABRIC, or --fabric FABRIC for a real cluster")
    return where.fabric() if fabric is None else where.cables.load(fabric)


@contextmanager
def _place(
    fabric: Fabric, spot: HotSpot, measuring: Measuring, where: Where, console: Console
) -> Iterator[Place]:
    """The hosts of the pairs in their order, one rank each."""
    if where.is_emulated:
        hosts = sorted(spot.hosts)
        with where.emulated(fabric, console, order=spot.hosts, hosts=hosts) as place:
            yield place
        return
    # An adapter's name begins with its server's.
    slots = tuple((str(fabric.host_name[host]).split()[0], 1) for host in spot.hosts)
    yield measurement.RealHosts(slots=slots, launcher=where.launcher, free_memory=measuring.memory)


def _shortfall(fabric: Fabric, spot: HotSpot) -> str:
    most = counted(len(spot.rivals), "rival")
    return f"{fabric.name} allows {most} at most: no channel carries more pairs"


def _preface(fabric: Fabric, spot: HotSpot) -> str:
    lines = [f"shared channel: {fabric.channel_name(spot.channel)}"]
    names = ["victim", *(f"rival {k}" for k in range(1, len(spot.rivals) + 1))]
    for name, (source, target) in zip(names, [spot.victim, *spot.rivals], strict=True):
        lines.append(f'{name}: "{fabric.host_name[source]}" -> "{fabric.host_name[target]}"')
    return "\n".join(lines)
