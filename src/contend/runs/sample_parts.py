"""What probes time beside or within a sample, such as barriers or the steps of a sort."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from contend.runs.run import Run
from contend.runs.summary import CellSummary

_MOST = 12
_OF_RESULTS = ("agreed_s", "result_s", "late_by_s", "start_s")


@dataclass(frozen=True)
class CellParts:
    """Durations of one cell.

    Attributes:
        cell: its figures.
        seconds: median over the samples that count of the slowest rank's duration, by name without
            its ``_s``.
    """

    cell: CellSummary
    seconds: dict[str, float]


def parts(run: Run) -> tuple[CellParts, ...]:
    """Durations of every cell that has some, in the run's order; at most twelve for each."""
    names = [
        name
        for name in run.results.columns
        if name.endswith("_s") and name not in _OF_RESULTS and run.results[name].dtype.is_float()
    ][:_MOST]
    if not names:
        return ()
    timed = run.results.filter(~pl.col("warmup"))
    medians = timed.group_by("cell").agg(
        pl.col(name).filter(~pl.col("late") | pl.col("late").all()).median() for name in names
    )
    known = {row["cell"]: row for row in medians.iter_rows(named=True)}
    found = []
    for cell in run.summaries:
        row = known[cell.record.cell]
        seconds = {name.removesuffix("_s"): row[name] for name in names if row[name] is not None}
        if seconds:
            found.append(CellParts(cell, seconds))
    return tuple(found)
