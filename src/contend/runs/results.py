"""One result for every sample, from what each rank's clock showed."""

from __future__ import annotations

import polars as pl

from contend.runs.fold import SCHEMA

_OF_SAMPLE = ("launch", "cell", "algorithm", "bytes", "ranks", "hosts", "repetition")


def results(samples: pl.DataFrame) -> pl.DataFrame:
    """One row for every sample.

    Args:
        samples: rows by rank, as `contend.runs.run.Run.samples`.

    Returns:
        The columns that say which sample it is, ``warmup``, ``late``, ``verified``, ``agreed_s``,
        and ``result_s``: the latest end minus the earliest start; ``late_by_s``: how long after the
        agreed instant the last rank started; ``start_s``: the earliest start. A column of the
        probe's own that is a duration becomes its largest value over ranks; one that is an instant
        becomes the time from the earliest start to the latest such instant. In order of time.
    """
    first, last = pl.col("start_s").min(), pl.col("end_s").max()
    own = [name for name in samples.columns if name not in SCHEMA]
    return samples.group_by(*_OF_SAMPLE, maintain_order=True).agg(
        pl.col("warmup", "late", "verified", "agreed_s").first(),
        (last - first).alias("result_s"),
        (pl.col("start_s").max() - pl.col("agreed_s").first()).alias("late_by_s"),
        first.alias("start_s"),
        *(
            pl.col(name).max() if name.endswith("_s") else pl.col(name).max() - first
            for name in own
        ),
    )
