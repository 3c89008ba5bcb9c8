"""``contend watch``: what every cable carries now, from port counters that are read again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from contend import congestion, report
from contend.base.files import append_line
from contend.base.units import parse_share
from contend.cli.common import RoutedLoading, write_output
from contend.cli.options.option import Seconds, Share, option, writable
from contend.cli.options.outputs import MetricOutputs
from contend.cli.options.shared import (
    JOBS,
    PATTERN,
    FabricArgument,
)
from contend.cli.simulate import COUNTERS, INTERVAL
from contend.report import Document

BUSY = option("--busy", takes="SHARE", means="Call a channel busy from here on", by=parse_share)


def watch(
    routed: RoutedLoading,
    outputs: MetricOutputs,
    fabric: FabricArgument,
    counters: Annotated[
        list[str],
        COUNTERS(
            ": a file or folder that something renews; command:PROGRAM, such as "
            "'command:ibqueryerrors --counters'; or the address of a Prometheus, http://HOST:9090. "
            "Repeat it for several."
        ),
    ],
    interval: Annotated[Seconds, INTERVAL(default="10 s")] = 10.0,
    count: Annotated[
        int | None, typer.Option("--count", metavar="N", min=1, help="End after N states.")
    ] = None,
    jobs: Annotated[str | None, JOBS(": name the jobs that send over busy channels.")] = None,
    pattern: Annotated[
        str, PATTERN(": it predicts what channels carry, without --jobs.")
    ] = "bisect",
    busy: Annotated[Share, BUSY(default="90 %")] = 0.9,
    log: Annotated[
        Path | None,
        typer.Option(
            "--log",
            metavar="FILE",
            help="Append every state as a line of JSON.",
            callback=writable,
        ),
    ] = None,
) -> Document:
    """Show what every cable carries now, beside what it can and should.

    It reads port counters again and again until Ctrl-C. A page (--plot net.html) renews itself.

    Example: contend watch net.ibnetdiscover --counters "command:ibqueryerrors --counters"
    """
    loaded = routed.load(fabric, need_routes=jobs is not None)
    states = congestion.watch(
        loaded,
        counters,
        interval=interval,
        count=count,
        jobs=jobs,
        pattern=pattern,
        threshold=busy,
    )
    told = Document()
    outputs.console.quiet |= str(log) == "-"
    for seen in states:
        told = report.watched_document(seen, renewed=interval)
        if outputs.console.is_terminal:
            outputs.console.clear()
        else:
            told = replace(told, brief=True)
        told.print_to(outputs.console)
        if str(log) == "-":
            write_output("-", msgspec.json.encode(told.content()) + b"\n")
        elif log is not None:
            append_line(log, msgspec.json.encode(told.content()))
        # A page and metrics are of the present state, a record of the last one.
        replace(outputs, json=None, markdown=None, csv=None).deliver(told, taken=True)
    return replace(told, plain="")
