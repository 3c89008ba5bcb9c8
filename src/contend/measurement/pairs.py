"""What every pair of ranks got, from a run of bisect patterns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from contend.congestion import DrawnPattern, predict
from contend.errors import InputError, ShortfallError, UsageError
from contend.fabric import Fabric
from contend.measurement.bisect import PATTERNS
from contend.runs import Run


def read_destinations(path: Path) -> list[NDArray[np.int64]]:
    """The rank that every rank sends to, -1 for none, by pattern.

    Raises:
        InputError: naming the line, when it is not what `contend.write_destinations` writes.
    """
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(path), 0, "a file of patterns", str(error)) from None
    patterns: list[NDArray[np.int64]] = []
    for number, line in enumerate(lines, start=1):
        if not line or line.startswith("#"):
            continue
        words = line.split()
        if not all(word == "-" or (word.isdecimal() and len(word) < 10) for word in words):
            raise InputError(str(path), number, "ranks or -", line[:60])
        to = np.array([-1 if word == "-" else int(word) for word in words], dtype=np.int64)
        if (patterns and len(to) != len(patterns[0])) or (to >= len(to)).any():
            raise InputError(str(path), number, "ranks of all other lines", line[:60])
        patterns.append(to)
    return patterns


def patterns_of(run: Run) -> list[NDArray[np.int64]]:
    """The patterns that a run measured.

    Raises:
        UsageError: the run is of another probe.
        InputError: its file of patterns is not there or damaged.
    """
    if run.record.probe != "bisect":
        raise UsageError(f"{run.folder}: expected a run of bisect, got {run.record.probe}")
    near = (run.folder / PATTERNS, run.folder.parent / PATTERNS)
    return read_destinations(next((path for path in near if path.is_file()), near[0]))


def pair_bandwidths(run: Run) -> pl.DataFrame:
    """The bandwidth of every message of a run of bisect patterns.

    Returns:
        One row a message: ``launch``, ``sample`` (from 0, without warm-ups), ``pattern``,
        ``source_rank``, ``target_rank``, ``seconds`` (from the agreed start until the receiver had
        everything), ``bandwidth_Bps`` and ``late`` (a rank of the sample had started late).

    Raises:
        UsageError: the run is of another probe.
        InputError: its file of patterns is not there or damaged.
        ShortfallError: nothing was measured.
    """
    patterns = patterns_of(run)
    if not run.record.cells:
        raise ShortfallError(f"{run.folder}: no sample was written")
    cell = run.record.cells[0]
    repeats, packets = (int(cell.labels[name] or 1) for name in ("repeats", "packets"))
    size = (cell.bytes or 0) * packets
    messages = pl.DataFrame(
        {
            "pattern": np.repeat(np.arange(len(patterns)), [int((p >= 0).sum()) for p in patterns]),
            "source_rank": np.concatenate([np.flatnonzero(p >= 0) for p in patterns]),
            "target_rank": np.concatenate([p[p >= 0] for p in patterns]),
        }
    )
    timed = run.samples.filter(~pl.col("warmup")).with_columns(
        # Warm-ups are counted before: the first sample that is timed is the first pattern's.
        sample=pl.col("repetition").cast(pl.Int64)
        - pl.col("repetition").min().over("launch").cast(pl.Int64)
    )
    received = timed.select(
        "launch",
        "sample",
        "late",
        pattern=(pl.col("sample") // repeats) % len(patterns),
        target_rank=pl.col("rank").cast(pl.Int64),
        seconds=pl.col("received") - pl.col("agreed_s"),
    )
    return (
        received.join(messages, on=["pattern", "target_rank"])
        .with_columns(bandwidth_Bps=size / pl.col("seconds"))
        .sort("launch", "sample", "source_rank")
        .select(
            *("launch", "sample", "pattern", "source_rank", "target_rank"),
            *("seconds", "bandwidth_Bps", "late"),
        )
    )


def beside_predictions(run: Run, fabric: Fabric, hosts: Sequence[int]) -> pl.DataFrame:
    """Measured bandwidths with what the routes predict.

    Args:
        run: of bisect patterns.
        fabric: with routes.
        hosts: number in the fabric of every rank's host.

    Returns:
        `pair_bandwidths` with ``congestion`` (pi) and ``fair_share`` (max-min, of a link's rate).
    """
    placed = np.asarray(hosts, dtype=np.uint32)
    drawn = [_drawn(number, to, placed) for number, to in enumerate(patterns_of(run))]
    foreseen = predict(fabric, drawn).select(
        pl.col("pattern").cast(pl.Int64),
        pl.col("source_rank").cast(pl.Int64),
        pl.col("congestion").cast(pl.Int64),
        "fair_share",
    )
    ends = ["pattern", "source_rank"]
    return pair_bandwidths(run).join(foreseen, on=ends)


def _drawn(number: int, to: NDArray[np.int64], hosts: NDArray[np.uint32]) -> DrawnPattern:
    source = np.flatnonzero(to >= 0)
    messages = (source.astype(np.uint32), to[source].astype(np.uint32))
    return DrawnPattern("bisect", "measured", 0, number, hosts, (messages,))
