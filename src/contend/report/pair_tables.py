"""What pairs of ranks got in bisect patterns, as tables."""

from __future__ import annotations

import numpy as np
import polars as pl

from contend.report.agreement_tables import agreement_tables
from contend.report.measures import percent
from contend.report.result_table import ResultTable
from contend.samples import Run
from contend.study.agreement import agreement, usable
from contend.units import counted, format_bandwidth


def pair_tables(run: Run, pairs: pl.DataFrame) -> list[ResultTable]:
    """Bandwidths of pairs; beside predictions where there are any."""
    name = run.record.placement or "the network"
    if "congestion" in pairs.columns:
        return agreement_tables(name, agreement(pairs), run.record.wire_Bps)
    return [_bandwidths(run, pairs)]


def _bandwidths(run: Run, pairs: pl.DataFrame) -> ResultTable:
    used = usable(pairs)
    got = used["bandwidth_Bps"].to_numpy()
    wire = run.record.wire_Bps
    rows = [
        (
            name,
            format_bandwidth(value),
            "" if wire is None else f"{percent(value / wire)} of a link",
        )
        for name, value in (
            ("mean, the effective bisection bandwidth", float(got.mean())),
            ("median", float(np.median(got))),
            ("a tenth got less than", float(np.quantile(got, 0.1))),
            ("a tenth got more than", float(np.quantile(got, 0.9))),
            ("least", float(got.min())),
            ("most", float(got.max())),
        )
    ]
    late = len(pairs) - len(used)
    left_out = f", {late:,} of late starts left out" if late else ""
    return ResultTable(
        title="Bandwidth of a pair",
        columns=("pairs", "bandwidth", ""),
        rows=tuple(rows),
        numeric=frozenset({"bandwidth"}),
        note=f"{counted(len(used), 'message')} of {counted(used['pattern'].n_unique(), 'pattern')}"
        + left_out,
    )
