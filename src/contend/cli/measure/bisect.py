"""``contend measure bisect``: effective bisection bandwidth, pair by pair."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from contend import report
from contend.cli.measure.command import MeasureRequest, Report, measures
from contend.cli.options import PATTERN, BytesOption, PacketsOption, PatternsOption, TwoWayOption
from contend.emulate import EmulatedHosts
from contend.errors import ShortfallError, UsageError
from contend.files import check_place, whole_file
from contend.measurement import (
    Agreement,
    BisectWork,
    DrawnAgreement,
    Place,
    agreement,
    beside_predictions,
    drawn_agreement,
    measured_patterns,
    pair_bandwidths,
)
from contend.runs import Run

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
        "--messages", metavar="FILE", help="Write a line for every message: .csv or .parquet."
    ),
]


@measures
def bisect(
    patterns: PatternsOption = 100,
    pattern: PatternOption = "bisect",
    two_way: TwoWayOption = False,
    bytes: BytesOption = "1M",  # type: ignore[assignment]  # noqa: A002
    packets: PacketsOption = 10,
    repeats: RepeatsOption = 1,
    messages: MessagesOption = None,
) -> MeasureRequest:
    """Measure random pairs of ranks that all send at once.

    The pairs are those that contend simulate draws for the same --seed and number of ranks. On an
    emulated fabric, contend compares every pair's bandwidth with the prediction.

    Example: contend measure bisect -n 16 --on emulated:fig1 --patterns 20 --plot bisect.png
    """
    if messages is not None:
        if messages.suffix not in (".csv", ".parquet"):
            raise UsageError(
                f"--messages: expected a name that ends in .csv or .parquet, got {messages}"
            )
        check_place(messages)
    work = BisectWork(patterns, pattern, two_way, bytes, packets, repeats)
    return MeasureRequest(
        "bisect", work.workload.options, report=functools.partial(_report, messages_file=messages)
    )


def _report(runs: Sequence[Run], place: Place | None, *, messages_file: Path | None) -> Report:
    runs = [run for run in runs if not run.samples.is_empty()]
    pairs = [_pairs(run, place) for run in runs]
    agreements = [
        _agreement(run, messages, place) for run, messages in zip(runs, pairs, strict=True)
    ]
    tables: list[report.ResultTable] = []
    results = []
    for run, messages, agreed in zip(runs, pairs, agreements, strict=True):
        tables += [*report.pair_tables(run, messages, agreed), *report.measure_tables(run)]
        results.append(report.measure_json(run, pairs=report.pair_json(messages, agreed)))
    return Report(
        tables,
        results[0] if len(results) == 1 else {"results": results},
        draw=functools.partial(_draw, runs, pairs, agreements, tables),
        keep=functools.partial(_keep, runs, pairs, messages_file),
    )


def _pairs(run: Run, place: Place | None) -> pl.DataFrame:
    """Every message's bandwidth; with predictions where the routes are known."""
    hosts = _hosts(run, place)
    if isinstance(place, EmulatedHosts) and hosts and not _hashed(place):
        return beside_predictions(run, place.fabric, hosts)
    return pair_bandwidths(run)


def _hosts(run: Run, place: Place | None) -> list[int]:
    """Number in the emulated fabric of every rank's host; none elsewhere."""
    measured = run.record.measured
    if not isinstance(place, EmulatedHosts) or not measured:
        return []
    return place.numbers_of(measured[0].rank_hosts)


def _hashed(place: EmulatedHosts) -> bool:
    return place.fabric.draws_routes


def _agreement(
    run: Run, pairs: pl.DataFrame, place: Place | None
) -> Agreement | DrawnAgreement | None:
    """How well models agree; None without predictions, or with too little to compare."""
    hosts = _hosts(run, place)
    if not isinstance(place, EmulatedHosts) or not hosts:
        return None
    try:
        if _hashed(place):
            return drawn_agreement(pairs, place.fabric, measured_patterns(run, hosts))
        return agreement(pairs)
    except ShortfallError:
        return None


def _keep(runs: Sequence[Run], pairs: Sequence[pl.DataFrame], path: Path | None) -> None:
    """Writes every message, with the library's name where there are several."""
    if path is None:
        return
    whole = pl.concat(
        messages.with_columns(library=pl.lit(name))
        for name, messages in zip(_names(runs), pairs, strict=True)
    )
    with whole_file(path) as file:
        if path.suffix == ".csv":
            whole.write_csv(file)
        else:
            whole.write_parquet(file)


def _draw(
    runs: Sequence[Run],
    pairs: Sequence[pl.DataFrame],
    agreements: Sequence[Agreement | DrawnAgreement | None],
    tables: Sequence[report.ResultTable],
    path: Path,
) -> list[Path]:
    names = _names(runs)
    compared = [
        report.ComparedFabric(name if len(runs) > 1 else run.record.placement, messages, agreed)
        for name, run, messages, agreed in zip(names, runs, pairs, agreements, strict=True)
        if isinstance(agreed, Agreement)
    ]
    drawn = [agreed for agreed in agreements if isinstance(agreed, DrawnAgreement)]
    if len(drawn) == len(runs):
        figure = report.drawn_figure(dict(zip(names, drawn, strict=True)))
    elif len(compared) == len(runs):
        figure = report.agreement_figure(compared)
    else:
        figure = report.pair_figure(dict(zip(names, pairs, strict=True)), runs[0].record.wire_Bps)
    report.save_figure(figure, path, list(tables))
    return []


def _names(runs: Sequence[Run]) -> list[str]:
    return [f"{run.record.library.name} {run.record.library.version}" for run in runs]
