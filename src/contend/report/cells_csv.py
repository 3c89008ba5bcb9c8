"""Cells of runs as comma-separated values."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from contend.runs import Run, run_names


def cells_csv(runs: Sequence[Run]) -> str:
    """A row for every cell of every run: the run, its library and folder, then the cell's figures.

    Seconds, bytes and bytes per second; see `contend.runs.Run.cells`.
    """
    tables = [
        run.cells().select(
            pl.lit(name).alias("run"),
            pl.lit(run.record.probe).alias("probe"),
            pl.lit(f"{run.record.library.name} {run.record.library.version}".strip()).alias(
                "library"
            ),
            pl.lit(str(run.folder)).alias("folder"),
            pl.all(),
        )
        for name, run in zip(run_names(runs), runs, strict=True)
    ]
    return pl.concat(tables, how="diagonal").write_csv()
