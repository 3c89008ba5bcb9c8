"""``contend report`` and ``explain``: what was measured or recorded, and which limit it hit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from contend import explanation, profiling
from contend import report as reports
from contend.base.errors import UsageError
from contend.base.files import whole_file
from contend.base.units import parse_size
from contend.cli.common import RoutedLoading
from contend.cli.options.option import Bytes, BytesPerSecond, parsed, writable
from contend.cli.options.outputs import Outputs, TextOutputs
from contend.cli.options.shared import (
    CALIBRATION,
    FABRIC,
    MATRIX,
    MEMORY,
    PICTURE,
    WIRE,
)
from contend.cli.programs import merging
from contend.lab import runs as kept
from contend.report import Document


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            help="Run folders, folders that hold several, or profiles. Others are compared with "
            "the first.",
        ),
    ],
    outputs: Outputs,
    picture: Annotated[
        str | None,
        PICTURE(
            ": rates, times, comparison, steps, pingpong, pairs or hotspot; of profiles shares, "
            "matrix, ranks or waits; .html shows all that fit."
        ),
    ] = None,
    at: Annotated[
        Bytes | None,
        typer.Option(
            "--at",
            metavar="SIZE",
            callback=parsed("--at", parse_size),
            help="Message size that --picture times draws.",
        ),
    ] = None,
    matrix: Annotated[Path | None, MATRIX(callback=writable)] = None,
) -> Document:
    """Show the results of measured runs (cells, winners, collapses) or of profiles.

    Further runs are compared with the first.

    Example: contend report contend-runs/alltoall-2026-11-21-1 --plot rates.svg --markdown it.md
    """
    if at is not None and outputs.plot is None:
        raise UsageError("--at says what --plot FILE draws: give both")
    profiles = [path for path in runs if profiling.is_profile(path)]
    if not profiles:
        if matrix is not None:
            raise UsageError("--matrix: only profiles have one")
        loaded = [kept.Run.load(folder) for path in runs for folder in kept.find_runs(path)]
        wanted = "times" if picture is None and at is not None else picture
        return reports.runs_document(loaded, picture=wanted, size=at)
    if len(profiles) < len(runs) or at is not None:
        raise UsageError("profiles are reported without runs, and without --at")
    return _profiles(profiles, picture, matrix)


def _profiles(folders: Sequence[Path], picture: str | None, matrix: Path | None) -> Document:
    """Profiles, the others beside the first.

    Raises:
        UsageError: a matrix of several profiles is asked for.
    """
    if matrix is not None and len(folders) > 1:
        raise UsageError("--matrix takes one profile")
    with merging() as progress:
        profiles = [profiling.load_profile(folder, progress=progress) for folder in folders]
    if matrix is not None:
        import numpy as np

        with whole_file(matrix) as file:
            np.save(file, profiles[0].matrix(), allow_pickle=False)
    return reports.profiles_document(profiles, picture)


def explain(
    routed: RoutedLoading,
    outputs: TextOutputs,
    what: Annotated[
        str,
        typer.Argument(
            metavar="RUN|PROFILE|NCCL-TESTS|STUDY",
            help="A run folder or a folder of several, a profile, the output of nccl-tests (text "
            "or JSON) or a folder of such files, one of contend's studies, or a plan. For studies "
            "and plans, contend explains the published figures.",
        ),
    ],
    fabric: Annotated[
        str | None,
        FABRIC(": the one that the run was measured on.", default="known if it was emulated"),
    ] = None,
    wire: Annotated[BytesPerSecond | None, WIRE(default="what the run or the study says")] = None,
    memory: Annotated[Bytes | None, MEMORY(default="what the run or the study says")] = None,
    calibration: Annotated[
        Path | None,
        CALIBRATION(
            ": the folder or file that contend calibrate wrote; for profiles.",
            default="what the profile's small messages took",
        ),
    ] = None,
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
    return reports.explanation_document(result)
