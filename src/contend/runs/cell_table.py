"""Figures of cells as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from contend.runs.summary import CellSummary

_COLUMNS: dict[str, pl.DataType] = {
    "cell": pl.UInt32(),
    "algorithm": pl.String(),
    "schedule": pl.String(),
    "bytes": pl.Int64(),
    "ranks": pl.UInt32(),
    "hosts": pl.UInt32(),
    "n": pl.UInt32(),
    "used": pl.UInt32(),
    "late": pl.UInt32(),
    "launches": pl.UInt32(),
    "median_s": pl.Float64(),
    "ci95_low_s": pl.Float64(),
    "ci95_high_s": pl.Float64(),
    "p99_s": pl.Float64(),
    "max_s": pl.Float64(),
    "mean_s": pl.Float64(),
    "rate_Bps_per_rank": pl.Float64(),
    "mean_rate_Bps_per_rank": pl.Float64(),
    "slow_share": pl.Float64(),
    "slow_s": pl.Float64(),
    "verified": pl.Boolean(),
    "reasons": pl.String(),
}


def cell_table(cells: Sequence[CellSummary]) -> pl.DataFrame:
    """One row for every cell.

    Times are of one operation, in seconds; rates are bytes per second that a rank sends, at the
    median and (``mean_rate``) as the harmonic mean over samples. ``used`` counts the samples that
    the figures rest on. ``slow_share`` and ``slow_s`` speak of the slower of two kinds of samples,
    where there are two. The cells' other labels follow as text; one that is called like a column
    gets ``label_`` before its name.
    """
    rows = [_row(cell) for cell in cells]
    labels = dict.fromkeys(name for cell in cells for name in cell.record.labels)
    for name in labels:
        column = f"label_{name}" if name in _COLUMNS else name
        for row, cell in zip(rows, cells, strict=True):
            value = cell.record.labels.get(name)
            row[column] = None if value is None else str(value)
    names = [f"label_{name}" if name in _COLUMNS else name for name in labels]
    return pl.DataFrame(rows, schema={**_COLUMNS, **dict.fromkeys(names, pl.String())})


def _row(cell: CellSummary) -> dict[str, Any]:
    rate, modes = cell.rate, cell.modes
    return {
        "cell": cell.record.cell,
        "algorithm": cell.record.algorithm,
        "schedule": cell.schedule,
        "bytes": cell.record.bytes,
        "ranks": cell.record.ranks,
        "hosts": cell.record.hosts,
        "n": cell.n,
        "used": len(cell.used),
        "late": cell.late,
        "launches": len(cell.launches),
        "median_s": cell.median.value,
        "ci95_low_s": cell.median.low,
        "ci95_high_s": cell.median.high,
        "p99_s": cell.p99_s,
        "max_s": cell.max_s,
        "mean_s": cell.mean_s,
        "rate_Bps_per_rank": None if rate is None else rate.value,
        "mean_rate_Bps_per_rank": cell.mean_rate,
        "slow_share": None if modes is None else modes.slow_share,
        "slow_s": None if modes is None else modes.slow_s,
        "verified": cell.verified,
        "reasons": ", ".join(dict.fromkeys(cell.reasons)),
    }
