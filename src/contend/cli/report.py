"""``contend report``: what measured runs say, without measuring again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from contend import profiling
from contend import report as reports
from contend.base.errors import UsageError
from contend.base.files import whole_file
from contend.base.units import parse_size
from contend.cli.options.option import Bytes, parsed, writable
from contend.cli.options.outputs import Outputs
from contend.cli.options.shared import MATRIX, PICTURE
from contend.cli.profile import merging
from contend.lab import runs as kept
from contend.report import Document

RunsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN...",
        help="Run folders, folders that hold several, or profiles. Others are compared with the "
        "first.",
    ),
]
PictureOption = Annotated[
    str | None,
    PICTURE(
        ": rates, times, comparison, steps, pingpong, pairs or hotspot; of profiles shares, "
        "matrix, ranks or waits; .html shows all that fit."
    ),
]
AtOption = Annotated[
    Bytes | None,
    typer.Option(
        "--at",
        metavar="SIZE",
        callback=parsed("--at", parse_size),
        help="Message size that --picture times draws.",
    ),
]
MatrixOption = Annotated[Path | None, MATRIX(callback=writable)]


def report(
    runs: RunsArgument,
    outputs: Outputs,
    picture: PictureOption = None,
    at: AtOption = None,
    matrix: MatrixOption = None,
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
