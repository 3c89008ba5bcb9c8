"""Runs as documents: what was measured, with all pictures that say something of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from contend.congestion import HotSpot
from contend.fabric import Fabric
from contend.lab.measurement import (
    HotspotPairs,
    MeasuredPairs,
    MeasuredRuns,
    Measurement,
    victim_operations,
)
from contend.lab.runs import Run, compared, run_names
from contend.report.document import Document
from contend.report.pairwise.figures import (
    ComparedFabric,
    agreement_figure,
    drawn_figure,
    hotspot_figure,
    pair_figure,
)
from contend.report.pairwise.hotspot import hotspot_finding, hotspot_tables
from contend.report.pairwise.pairs import pair_tables, pairs_verdict
from contend.report.run.figures import run_figures
from contend.report.run.findings import fitting_pictures, run_verdict
from contend.report.run.tables import comparison_tables, measure_tables, run_tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def run_document(run: Run) -> Document:
    """All that is told of a run."""
    return runs_document([run])


def runs_document(
    runs: Sequence[Run],
    *,
    whole: bool = True,
    picture: str | None = None,
    size: int | None = None,
) -> Document:
    """What runs say, the others beside the first.

    Args:
        runs: at least one.
        whole: also how it was measured, and every cell however many there are.
        picture: the only one that is wanted.
        size: of the cells whose times are drawn; None for that with the most to tell.
    """
    tables = run_tables if whole else measure_tables
    return _of_results(
        [Measurement.of(run, run_verdict(run)) for run in runs],
        names=run_names(runs),
        tables=[*(table for run in runs for table in tables(run)), *comparison_tables(runs)],
        pictures={name: partial(run_figures, name, runs, size) for name in fitting_pictures(runs)},
        picture=picture,
    )


def _of_results(
    results: Sequence[Measurement], *, names: Sequence[str] = (), **told: Any
) -> Document:
    """One run, or several beside the first, whose verdicts follow `names` where there are any."""
    verdicts = [result.verdict for result in results]
    runs = [result.measured for result in results]
    record: Measurement | MeasuredRuns = MeasuredRuns(
        verdict="\n".join(verdicts), results=tuple(results), comparison=tuple(compared(runs))
    )
    if len(results) == 1:
        record = results[0]
    elif names:
        named = zip(names, verdicts, strict=True)
        verdicts = [f"{name}: {verdict}" for name, verdict in named]
    return Document(
        verdict="\n".join(verdicts), record=record, rows=partial(cells_csv, runs), **told
    )


def pairs_document(measured: Sequence[MeasuredPairs]) -> Document:
    """What random pairs got, each message beside what the routes predict where they are known.

    Args:
        measured: of one run, or of several libraries in the same place.
    """
    names = [pairs.run.record.library.title for pairs in measured]
    return _of_results(
        [Measurement.of(pairs.run, pairs_verdict(pairs), pairs=pairs) for pairs in measured],
        names=names,
        tables=[
            table
            for pairs in measured
            for table in (*pair_tables(pairs), *measure_tables(pairs.run))
        ],
        pictures={"pairs": partial(_pairs_figure, names, measured)},
    )


def _pairs_figure(names: Sequence[str], measured: Sequence[MeasuredPairs]) -> Figure:
    several = len(measured) > 1
    fabrics, drawn = [], {}
    for name, pairs in zip(names, measured, strict=True):
        if pairs.agreement is not None:
            called = name if several else pairs.run.record.placement
            fabrics.append(ComparedFabric(called, pairs.bandwidths, pairs.agreement))
        elif pairs.draws is not None:
            drawn[name] = pairs.draws
    if len(drawn) == len(measured):
        return drawn_figure(drawn)
    if len(fabrics) == len(measured):
        return agreement_figure(fabrics)
    messages = {name: pairs.bandwidths for name, pairs in zip(names, measured, strict=True)}
    return pair_figure(messages, measured[0].run.record.wire_Bps)


def hotspot_document(runs: Sequence[Run], spot: HotSpot, fabric: Fabric) -> Document:
    """What is left to a pair of hosts whose route others load.

    Args:
        runs: of one library or several.
        spot: the pairs, by numbers of hosts.
        fabric: that they are part of.
    """
    runs = [run for run in runs if not run.samples.is_empty()]
    operations = list(map(victim_operations, runs))
    verdicts = [f"{hotspot_finding(measured, fabric.name)}." for measured in operations]
    pairs = HotspotPairs.of(spot, fabric)
    told = zip(runs, verdicts, strict=True)
    return _of_results(
        [Measurement.of(run, verdict, hotspot=pairs) for run, verdict in told],
        tables=[table for measured in operations for table in hotspot_tables(measured)],
        pictures={"hotspot": lambda: hotspot_figure(operations[0], fabric.name)},
    )


def cells_csv(runs: Sequence[Run]) -> str:
    """A row for every cell of every run: the run, its library and folder, then the cell's figures.

    Seconds, bytes and bytes per second; see `lab.runs.Run.cells`. Texts that a spreadsheet
    would take for a formula have an apostrophe before them.
    """
    tables = [
        run.cells().select(
            pl.lit(name).alias("run"),
            pl.lit(run.record.probe).alias("probe"),
            pl.lit(run.record.library.title).alias("library"),
            pl.lit(str(run.folder)).alias("folder"),
            pl.all(),
        )
        for name, run in zip(run_names(runs), runs, strict=True)
    ]
    texts = pl.col(pl.String)
    harmless = (
        pl.when(texts.str.contains(r"^[=+\-@\t\r]")).then(pl.lit("'") + texts).otherwise(texts)
    )
    return pl.concat(tables, how="diagonal_relaxed").with_columns(harmless.name.keep()).write_csv()
