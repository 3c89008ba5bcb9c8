"""``contend measure bisect``: effective bisection bandwidth, pair by pair."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from contend import report
from contend.cli.common import console_for, write_json
from contend.cli.measure.command import measured_command
from contend.cli.measure.options import Common
from contend.cli.measure.place import find_place
from contend.cli.measure.watch import watching
from contend.errors import ShortfallError, UsageError
from contend.files import whole_file
from contend.units import parse_size

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from contend.runs import Run
    from contend.study import Agreement

PatternsOption = Annotated[
    int, typer.Option("--patterns", metavar="N", min=1, help="Random patterns to measure.")
]
PatternOption = Annotated[
    str,
    typer.Option(
        "--pattern",
        metavar="P",
        help="What is drawn, as in simulate, where every rank sends one message at most: bisect, "
        "permutation, shift:K, file:PATH ...; every round is measured by itself.",
    ),
]
TwoWayOption = Annotated[bool, typer.Option("--two-way", help="Both of each pair send.")]
BytesOption = Annotated[str, typer.Option("--bytes", metavar="SIZE", help="Bytes of a packet.")]
PacketsOption = Annotated[
    int, typer.Option("--packets", metavar="R", min=1, help="Packets that make up a message.")
]
RepeatsOption = Annotated[
    int, typer.Option("--repeats", metavar="N", min=1, help="Samples of every pattern.")
]
PairsOption = Annotated[
    Path | None,
    typer.Option("--pairs", metavar="FILE", help="Write every message: .csv or .parquet."),
]


@measured_command
def bisect(
    common: Common,
    patterns: PatternsOption = 100,
    pattern: PatternOption = "bisect",
    two_way: TwoWayOption = False,
    bytes: BytesOption = "1M",  # noqa: A002
    packets: PacketsOption = 10,
    repeats: RepeatsOption = 1,
    pairs: PairsOption = None,
) -> None:
    """Measure random pairs of ranks that all send at once.

    The pairs are those that contend simulate draws for the same --seed and number of ranks. On an
    emulated fabric every pair's bandwidth stands beside what its routes predict.

    Example: contend measure bisect -n 16 --on emulated:fig1 --patterns 20 --plot bisect.png
    """
    # Imported here: measuring and reports take longer to load than other verbs run.
    from contend.measurement import BisectWork, measure_bisect
    from contend.study import agreement

    if common.resume is not None:
        raise UsageError("--resume: bisect patterns are measured in one launch")
    if common.plot is not None:
        report.check_suffix(common.plot)
    if pairs is not None and pairs.suffix not in (".csv", ".parquet"):
        raise UsageError(f"--pairs: expected a name that ends in .csv or .parquet, got {pairs}")
    console = console_for(common.json)
    work = BisectWork(patterns, pattern, two_way, parse_size(bytes), packets, repeats)
    with watching(console) as observer, find_place(common, console) as place:
        runs = measure_bisect(
            work,
            common.conditions(),
            libraries=common.mpi or (None,),
            place=place,
            folder=common.output,
            observer=observer,
        )
        messages = [_messages(run, place) for run in runs]
    agreements = [agreement(pairs) if "congestion" in pairs else None for pairs in messages]
    tables = list(map(report.pair_tables, runs, messages, agreements))
    for run, of_pairs in zip(runs, tables, strict=True):
        report.print_tables(console, [*of_pairs, *report.measure_tables(run)])
    written = [
        report.measure_json(run, pairs=report.pair_json(of_run, compared))
        for run, of_run, compared in zip(runs, messages, agreements, strict=True)
    ]
    write_json(common.json, written[0] if len(written) == 1 else {"results": written})
    _keep(messages, runs, pairs)
    if common.plot is not None:
        shown = [table for of_pairs in tables for table in of_pairs]
        report.save_figure(_figure(runs, messages, agreements), common.plot, shown)
    failed = [launch.why for run in runs for launch in run.record.launches if launch.why]
    if failed:
        raise ShortfallError(failed[0])


def _messages(run: Run, place: object) -> pl.DataFrame:
    """Every message's bandwidth; with predictions where the routes are known."""
    from contend.emulate import EmulatedHosts
    from contend.measurement import beside_predictions, pair_bandwidths

    if isinstance(place, EmulatedHosts):
        first = run.record.launches[0].measured
        if first is not None:
            return beside_predictions(run, place.fabric, place.numbers_of(first.rank_hosts))
    return pair_bandwidths(run)


def _keep(messages: Sequence[pl.DataFrame], runs: Sequence[Run], path: Path | None) -> None:
    """Writes every message, with the library's name where there are several."""
    if path is None:
        return
    import polars as pl

    whole = pl.concat(
        found.with_columns(
            library=pl.lit(f"{run.record.library.name} {run.record.library.version}")
        )
        for run, found in zip(runs, messages, strict=True)
    )
    with whole_file(path) as file:
        if path.suffix == ".csv":
            whole.write_csv(file)
        else:
            whole.write_parquet(file)


def _figure(
    runs: Sequence[Run],
    messages: Sequence[pl.DataFrame],
    agreements: Sequence[Agreement | None],
) -> Figure:
    """Measured against predicted where every run has predictions, else what pairs got."""
    names = _names(runs)
    compared = [
        report.Compared(name if len(runs) > 1 else run.record.placement, pairs, agreement)
        for name, run, pairs, agreement in zip(names, runs, messages, agreements, strict=True)
        if agreement is not None
    ]
    if len(compared) == len(runs):
        return report.agreement_figure(compared)
    return report.pair_figure(dict(zip(names, messages, strict=True)), runs[0].record.wire_Bps)


def _names(runs: Sequence[Run]) -> list[str]:
    return [f"{run.record.library.name} {run.record.library.version}" for run in runs]
