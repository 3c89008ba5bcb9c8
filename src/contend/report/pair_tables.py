"""What pairs of ranks got in bisect patterns, as tables."""

from __future__ import annotations

import numpy as np
import polars as pl

from contend.measurement import agreement, usable
from contend.report.agreement_tables import agreement_tables
from contend.report.measures import percent
from contend.report.result_table import ResultTable
from contend.runs import Run
from contend.units import counted, format_bandwidth

_SHOWN = 32


def pair_tables(run: Run, pairs: pl.DataFrame) -> list[ResultTable]:
    """Bandwidths of pairs; beside predictions where there are any."""
    name = run.record.placement or "the network"
    if "congestion" not in pairs.columns:
        return [_bandwidths(run, pairs)]
    found = agreement(pairs)
    tables = agreement_tables(name, found, run.record.wire_Bps)
    each = _each(pairs, found.gamma)
    return tables if each is None else [*tables, each]


def _each(pairs: pl.DataFrame, gamma: float) -> ResultTable | None:
    """Every message beside its predictions, where they are few."""
    got = pl.col("bandwidth_Bps") / gamma
    messages = (
        usable(pairs)
        .group_by("pattern", "source_rank", "target_rank")
        .agg(
            pl.col("congestion", "fair_share").first(),
            median=got.median(),
            least=got.min(),
            most=got.max(),
            samples=pl.len(),
        )
        .sort("pattern", "congestion", "source_rank", descending=[False, True, False])
    )
    if len(messages) > _SHOWN:
        return None
    predicted = ("γ/π", "fair share")
    return ResultTable(
        title="Every message",
        columns=("ranks", "π", *predicted, "measured", "least to most", "samples"),
        rows=tuple(
            (
                f"{row['source_rank']} -> {row['target_rank']}",
                str(row["congestion"]),
                percent(1 / row["congestion"]),
                percent(row["fair_share"]),
                percent(row["median"]),
                f"{100 * row['least']:.1f} to {percent(row['most'])}",
                str(row["samples"]),
            )
            for row in messages.iter_rows(named=True)
        ),
        numeric=frozenset({"π", *predicted, "measured", "least to most", "samples"}),
        note="In parts of γ; measured is the median of the samples.",
    )


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
