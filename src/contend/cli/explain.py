"""``contend explain``: which limit a measurement hit, with the evidence and the remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from contend import explanation, report
from contend.cli.common import RoutedLoading
from contend.cli.options.option import Bytes, BytesPerSecond
from contend.cli.options.outputs import TextOutputs
from contend.cli.options.shared import (
    CALIBRATION,
    FABRIC,
    MEMORY,
    WIRE,
)
from contend.report import Document

WhatArgument = Annotated[
    str,
    typer.Argument(
        metavar="RUN|PROFILE|NCCL-TESTS|STUDY",
        help="A run folder or a folder of several, a profile, the output of nccl-tests (text or "
        "JSON) or a folder of such files, one of contend's studies, or a plan. For studies and "
        "plans, contend explains the published figures.",
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
    routed: RoutedLoading,
    outputs: TextOutputs,
    what: WhatArgument,
    fabric: FabricOption = None,
    wire: WireOption = None,
    memory: MemoryOption = None,
    calibration: ExplainedCalibrationOption = None,
) -> Document:
    """Say which limit a measurement or a program hit, with the evidence and the remedy.

    Limits are memory, the injection port, the fabric, latency or software overhead, imbalance,
    time-outs from full buffers and shared processors; for a program also its computation, and a
    hang. If none is proven, contend says so.

    Example: contend explain contend-runs/alltoall-2026-11-21-1 --wire 100Gbit/s
    """
    network = fabric and routed.load(fabric)
    result = explanation.explain(
        what,
        fabric=network,
        routes=routed.routes if fabric is None else None,
        route=routed.route if fabric is None else None,
        wire=wire,
        memory=memory,
        calibration=calibration,
    )
    return report.explanation_document(result)
