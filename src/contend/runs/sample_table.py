"""Frames of samples as one table: a row for every rank that took part in a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from contend.runs.frames import Bytes
from contend.runs.late import late_samples
from contend.runs.metadata import CellFrame

SAMPLE_HEAD = 24
"""Bytes of a sample before its times."""
_WARM_UP, _VERIFIED = 1, 2
# Seconds; far from where sums of times overflow.
_LATEST = 1e12

Times = NDArray[np.float64]


def sample_length(ranks: int, columns: int) -> int:
    """Bytes of a sample's payload."""
    return SAMPLE_HEAD + 8 * ranks * columns


def column_name(name: str) -> str:
    """What a probe's column is called in tables: ``start_s``, ``end_s``, others as they are."""
    return f"{name}_s" if name in ("start", "end") else name


@dataclass(frozen=True)
class Block:
    """Samples of one cell that follow one another: their frames' payloads, a row each."""

    cell: CellFrame
    payloads: Bytes

    def words(self) -> NDArray[np.uint32]:
        """Cell, repetition, flags and a reserved word of every sample."""
        return np.ascontiguousarray(self.payloads[:, :16]).view("<u4").astype(np.uint32)

    def agreed(self) -> Times:
        """Instants at which all ranks were to start."""
        return np.ascontiguousarray(self.payloads[:, 16:24]).view("<f8")[:, 0].astype(np.float64)

    def times(self) -> Times:
        """Values by sample, rank and column; not-a-number where a rank takes no part."""
        flat = np.ascontiguousarray(self.payloads[:, SAMPLE_HEAD:]).view("<f8").astype(np.float64)
        return flat.reshape(len(flat), -1, len(self.cell.columns))

    def sound(self) -> bool:
        """Whether all times are such as a clock shows."""
        times = np.abs(self.times())
        known = (times < _LATEST) | np.isnan(times)
        return bool(known.all() and (np.abs(self.agreed()) < _LATEST).all())


def sample_table(blocks: Sequence[Block], ranks: int) -> pl.DataFrame:
    """All samples, in the order of the blocks; see `contend.runs.read.RawSamples.frame`."""
    # Blocks of cells with the same columns become arrays together: there may be thousands.
    alike: dict[tuple[str, ...], list[int]] = {}
    for place, block in enumerate(blocks):
        alike.setdefault(block.cell.columns, []).append(place)
    order = np.cumsum([0, *(len(block.payloads) for block in blocks)])
    tables = [
        _table([blocks[i] for i in places], [int(order[i]) for i in places], columns)
        for columns, places in alike.items()
    ]
    if not tables:
        return _table([], [], ("start", "end")).drop("sample")
    if len(tables) == 1:
        return tables[0].drop("sample")
    joined = pl.concat(tables, how="diagonal")
    return joined.sort("sample", "rank", maintain_order=True).drop("sample")


def _table(blocks: Sequence[Block], first: Sequence[int], columns: tuple[str, ...]) -> pl.DataFrame:
    """Table of blocks with these columns; `first` numbers each block's first sample in the file."""
    empty = np.empty((0, 1, len(columns)))
    times = np.concatenate([block.times() for block in blocks]) if blocks else empty
    words = np.concatenate([np.empty((0, 4), np.uint32), *(block.words() for block in blocks)])
    agreed = np.concatenate([np.empty(0), *(block.agreed() for block in blocks)])
    numbers = [np.arange(at, at + len(b.payloads)) for at, b in zip(first, blocks, strict=True)]
    sample = np.concatenate([np.empty(0, np.int64), *numbers]).astype(np.int64)
    start, end = times[:, :, 0], times[:, :, columns.index("end")]
    late = late_samples(start, end, agreed)
    ranks = times.shape[1]

    def each(values: NDArray[np.generic]) -> NDArray[np.generic]:
        return np.repeat(values, ranks)

    table = pl.DataFrame(
        {
            "sample": each(sample),
            "cell": each(words[:, 0]),
            "repetition": each(words[:, 1]),
            "warmup": each((words[:, 2] & _WARM_UP) != 0),
            "late": each(late),
            "verified": each((words[:, 2] & _VERIFIED) != 0),
            "rank": np.tile(np.arange(ranks, dtype=np.uint32), len(sample)),
            "agreed_s": each(agreed),
            **{
                column_name(name): np.ascontiguousarray(times[:, :, place]).ravel()
                for place, name in enumerate(columns)
            },
        }
    )
    took_part = table.filter(pl.col("start_s").is_not_nan() & pl.col("end_s").is_not_nan())
    return took_part.with_columns(
        pl.col(column_name(name)).fill_nan(None) for name in columns if name not in ("start", "end")
    )
