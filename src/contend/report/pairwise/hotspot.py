"""A pair's latency and bandwidth while others load its route, as tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from contend.base.units import counted, format_bytes, format_rate, format_seconds
from contend.lab.measurement import ROUND_TRIP, STREAM, are_beyond_wire, victim_samples
from contend.lab.runs import median_interval, modes_of
from contend.report.table import ResultTable
from contend.report.words import BEYOND_WIRE, BEYOND_WIRE_NOTE, modes_words, percent


def hotspot_tables(operations: pl.DataFrame) -> list[ResultTable]:
    """Time one way by message size and rivals; bandwidth beside γ/(k + 1)."""
    tables = []
    trips = operations.filter(pl.col("algorithm") == ROUND_TRIP)
    if not trips.is_empty():
        tables.append(_latency(trips))
    streams = operations.filter((pl.col("algorithm") == STREAM) & (pl.col("bytes") > 0))
    if not streams.is_empty():
        tables.append(_bandwidth(streams))
    return tables


def at_compared_size(operations: pl.DataFrame) -> pl.DataFrame:
    """Operations of the largest message that was measured alone and beside rivals.

    A budget may have left the largest of all without one of these; where no size has both, it
    stands for itself.
    """
    alone = pl.col("rivals") == 0
    compared = operations.filter((alone.any() & (~alone).any()).over("bytes"))
    return operations.filter(
        pl.col("bytes") == (operations if compared.is_empty() else compared)["bytes"].max()
    )


def hotspot_finding(operations: pl.DataFrame, name: str) -> str:
    """What is left to the pair, at its largest compared message, of what it gets alone."""
    sized = operations.filter(pl.col("bytes") > 0)
    streams = sized.filter(pl.col("algorithm") == STREAM)
    trips = sized.filter(pl.col("algorithm") == ROUND_TRIP)
    operations, column = (streams, "bandwidth_Bps") if len(streams) else (trips, "seconds")
    largest = at_compared_size(operations)
    medians = dict(largest.group_by("rivals").agg(pl.col(column).median()).iter_rows())
    # A budget may have ended before the largest message was measured beside all rivals.
    most = max(medians)
    others = counted(most, "other pair")
    if most == 0:
        return f"{name}: a pair that shares its route with no other"
    if 0 not in medians:
        return f"{name}: a pair with {others} on its route"
    ratio = medians[most] / medians[0]
    where = f"{name}: a pair with {others} on its route"
    if column == "seconds":
        return f"{where} takes {ratio:.1f} times as long for a message"
    return f"{where} gets {percent(ratio)} of its bandwidth"


def _latency(trips: pl.DataFrame) -> ResultTable:
    rivals = trips["rivals"].unique().sort().to_list()
    rows = []
    for size in trips["bytes"].unique().sort().to_list():
        words, told = [format_bytes(size)], []
        for k in rivals:
            beside = trips.filter((pl.col("bytes") == size) & (pl.col("rivals") == k))
            seconds = beside["seconds"].to_numpy()
            words.append(format_seconds(float(np.median(seconds))) if len(seconds) else "-")
            told += [f"k = {k}: {text}" for text in _remarks(beside, beside)]
        rows.append((*words, "; ".join(told)))
    columns = ("bytes", *(f"k = {k}" for k in rivals), "")
    return ResultTable(
        title="The victim's one-way time while k other pairs send",
        columns=columns,
        rows=tuple(rows),
        numeric=frozenset(columns[:-1]),
        note="Medians of single round trips, halved." + _why(rows),
    )


def _bandwidth(streams: pl.DataFrame) -> ResultTable:
    # The largest messages show the channel's share; small ones show the software.
    streams = at_compared_size(streams)
    shown = victim_samples(streams)
    alone = shown.filter(pl.col("rivals") == 0)["bandwidth_Bps"]
    gamma = float(alone.median()) if len(alone) else None  # type: ignore[arg-type]
    rows = []
    for k in shown["rivals"].unique().sort().to_list():
        beside = pl.col("rivals") == k
        samples = shown.filter(beside)
        bandwidth = samples["bandwidth_Bps"].to_numpy()
        operations = streams.filter(beside)
        median = median_interval(bandwidth)
        interval = "-"
        if median.low is not None and median.high is not None:
            interval = f"{format_rate(median.low)} to {format_rate(median.high)}"
        rows.append(
            (
                str(k),
                format_rate(median.value),
                interval,
                "-" if gamma is None else percent(median.value / gamma),
                percent(1 / (k + 1)),
                "; ".join(_remarks(operations, samples)),
            )
        )
    return ResultTable(
        title=(
            "The victim's bandwidth while k other pairs send, messages of "
            + format_bytes(streams["bytes"][0])
        ),
        columns=("k", "bandwidth", "95 % interval", "of γ", "1/(k + 1)", ""),
        rows=tuple(rows),
        numeric=frozenset({"k", "bandwidth", "of γ", "1/(k + 1)"}),
        note=(
            "Medians over samples of several operations in a row, with 95 % intervals. γ is its "
            "bandwidth alone; 1/(k + 1) is its share of the channel."
        )
        + _why(rows),
    )


def _why(rows: Sequence[tuple[str, ...]]) -> str:
    """What the mark means where there is one."""
    return f" {BEYOND_WIRE_NOTE}" if any(BEYOND_WIRE in row[-1] for row in rows) else ""


def _remarks(operations: pl.DataFrame, samples: pl.DataFrame) -> list[str]:
    """What is to be told of a median, and of the kinds of samples that it is of."""
    texts = [BEYOND_WIRE] if are_beyond_wire(operations) else []
    modes = modes_of([part["seconds"].to_numpy() for part in samples.partition_by("launch")])
    return texts if modes is None else [*texts, modes_words(modes)]
