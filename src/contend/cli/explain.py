"""``contend explain``: which limit a measurement hit, with the evidence and the remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from contend import report as reports
from contend.cli.common import console_for, load, write_json, write_text
from contend.cli.option import Bytes, BytesPerSecond
from contend.cli.options import (
    CALIBRATION,
    FABRIC,
    MEMORY,
    WIRE,
    JsonOption,
    Loading,
    MarkdownOption,
    RouteOption,
    RoutesOption,
)
from contend.errors import UsageError
from contend.explanation import explain as explain_cells

WhatArgument = Annotated[
    str,
    typer.Argument(
        metavar="RUN|PROFILE|STUDY",
        help="A run folder, a folder that holds some, a profile, one of contend's studies or a "
        "plan's file. For studies and plans, contend explains the published figures.",
    ),
]
FabricOption = Annotated[
    str | None,
    FABRIC(": the one that the run was measured on.", default="known if it was emulated"),
]
ExplainedCalibrationOption = Annotated[
    Path | None,
    CALIBRATION(
        ": the folder or file that contend calibrate wrote; for profiles.",
        default="what the profile's small messages took",
    ),
]
WireOption = Annotated[BytesPerSecond | None, WIRE(default="what the run or the study says")]
MemoryOption = Annotated[Bytes | None, MEMORY(default="what the run or the study says")]


def explain(
    loading: Loading,
    what: WhatArgument,
    fabric: FabricOption = None,
    routes: RoutesOption = None,
    route: RouteOption = None,
    wire: WireOption = None,
    memory: MemoryOption = None,
    calibration: ExplainedCalibrationOption = None,
    markdown: MarkdownOption = None,
    json: JsonOption = None,
) -> None:
    """Say which limit a measurement or a program hit, with the evidence and the remedy.

    Limits are memory, the injection port, the fabric, latency or software overhead, imbalance,
    time-outs of full buffers and shared processors; for a program also its computation, and a hang.
    If none is proven, contend says so.

    Example: contend explain contend-runs/alltoall-2026-11-21-1 --wire 100Gbit/s
    """
    if markdown == "-" and json == "-":
        raise UsageError("only one of --markdown and --json can be standard output")
    network = fabric and load(fabric, routes, route, loading, need_routes=True)
    result = explain_cells(
        what,
        fabric=network,
        routes=routes if fabric is None else None,
        route=route if fabric is None else None,
        wire=wire,
        memory=memory,
        calibration=calibration,
    )
    tables = reports.explanation_tables(result)
    sentence = reports.explanation_sentence(result)
    console = console_for("-" if "-" in (markdown, json) else None)
    console.print(sentence, markup=False, highlight=False, soft_wrap=True)
    console.print()
    reports.print_tables(console, tables)
    for remark in result.remarks:
        console.print(remark, markup=False, highlight=False, soft_wrap=True)
    if markdown is not None:
        text = "\n\n".join((sentence, reports.markdown_of(tables), *result.remarks))
        write_text(markdown, f"{text.rstrip()}\n")
    write_json(json, reports.explanation_json(result))
