"""``contend measure bisect``: effective bisection bandwidth, pair by pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from contend import report
from contend.base.errors import UsageError
from contend.base.files import whole_file
from contend.cli.measure.measuring import Measuring, judged
from contend.cli.options.option import writable
from contend.cli.options.outputs import Outputs
from contend.cli.options.shared import (
    PATTERN,
    BytesOption,
    PacketsOption,
    PatternsOption,
    TwoWayOption,
)
from contend.cli.options.where import Where
from contend.lab import measurement
from contend.lab.measurement import STANDARD
from contend.report import Document

if TYPE_CHECKING:
    from contend.lab.measurement import MeasuredPairs

_USUAL: Mapping[str, Any] = STANDARD["bisect"]
PatternOption = Annotated[
    str,
    PATTERN(
        ": bisect, permutation, shift:K, file:PATH and others in which every rank sends one "
        "message at most. Every round is measured by itself."
    ),
]
RepeatsOption = Annotated[
    int, typer.Option("--repeats", metavar="N", min=1, help="Number of samples of every pattern.")
]
MessagesOption = Annotated[
    Path | None,
    typer.Option(
        "--messages",
        metavar="FILE",
        help="Write a line for every message: .csv or .parquet.",
        callback=writable,
    ),
]


def bisect(
    measuring: Measuring,
    where: Where,
    outputs: Outputs,
    patterns: PatternsOption = int(_USUAL["patterns"]),
    pattern: PatternOption = _USUAL["pattern"],
    two_way: TwoWayOption = bool(_USUAL["two_way"]),
    bytes: BytesOption = _USUAL["bytes"],  # noqa: A002
    packets: PacketsOption = int(_USUAL["packets"]),
    repeats: RepeatsOption = int(_USUAL["repeats"]),
    messages: MessagesOption = None,
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
