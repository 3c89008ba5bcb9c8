"""Reads a launch's file of samples, also one that is still being written or was cut off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from contend.base.errors import InputError
from contend.lab.runs.frames import (
    HEAD,
    JSON,
    MAGIC,
    SAMPLE,
    Bytes,
    CellEnd,
    CellFrame,
    ClockFrame,
    DoneFrame,
    Frame,
    Frames,
    NotBegunError,
    ProbeFrame,
    RanksFrame,
    check_beginning,
    decode,
    malformed,
    walk,
)

# A table has all columns for all rows; where cells' columns differ it grows beyond the file.
_MOST_GROWTH = 16
_ALWAYS_ALLOWED = 1 << 26
SAMPLE_HEAD = 24
"""Bytes of a sample before its times."""
_WARM_UP, _VERIFIED = 1, 2
# Seconds; far from where sums of times overflow.
_LATEST = 1e12
_LATE_SHARE = 0.05
_LATE_SECONDS = 10e-6

Times = NDArray[np.float64]


@dataclass(frozen=True)
class RawSamples:
    """One launch of a probe as it wrote itself down."""

    source: str
    """Name of the file."""
    probe: ProbeFrame
    """What ran."""
    ranks: RanksFrame | None
    """Where its ranks ran; None when the file ends before that."""
    clocks: tuple[ClockFrame, ...]
    """Every synchronisation of the clocks, in order."""
    cells: Mapping[int, CellFrame]
    """Every cell that began, by number."""
    ends: Mapping[int, CellEnd]
    """How cells ended, by number; a cell without an end was cut short."""
    frame: pl.DataFrame
    """One row for every rank that took part in a sample, in the order of time: ``cell``,
    ``repetition``, ``warmup``, ``late``, ``verified``, ``rank``, ``agreed_s``, ``start_s``,
    ``end_s`` and further columns of the probe. Times are seconds since
    `ProbeFrame.epoch_unix_s`."""
    torn: int
    """Bytes of a last frame that is cut off; 0 when there is none."""
    done: DoneFrame | None
    """Last words of the probe; None when it did not come to its end."""


def read_samples(path: Path) -> RawSamples:
    """Reads a file of samples.

    Memory is a small multiple of the file's size, whatever it claims.

    Raises:
        NotBegunError: nothing of a probe is in it yet.
        InputError: it is damaged; says at which byte and frame.
    """
    if not path.is_file():
        raise InputError(str(path), 0, "a file of samples", "no such file")
    try:
        data = np.fromfile(path, np.uint8)
    except OSError as error:
        raise InputError(str(path), 0, "a file of samples", str(error.strerror)) from None
    return parse(data, str(path))


def parse(data: Bytes, source: str) -> RawSamples:
    """The samples of a whole file's bytes; errors as of `read_samples`."""
    check_beginning(data, source)
    parser = _Parser(data, source)
    end = len(MAGIC)
    for frames in walk(data[end:], source, end):
        parser.take(frames)
        end = frames.end
    parser.check_torn(end)
    return parser.finished(len(data) - end)


class _Parser:
    """Collects what the frames say."""

    def __init__(self, data: Bytes, source: str) -> None:
        self._data = data
        self._source = source
        self._probe: ProbeFrame | None = None
        self._ranks: RanksFrame | None = None
        self._clocks: list[ClockFrame] = []
        self._cells: dict[int, CellFrame] = {}
        self._ends: dict[int, CellEnd] = {}
        self._blocks: list[Block] = []
        self._columns = {"start", "end"}
        self._last_repetition: dict[int, int] = {}
        self._done: DoneFrame | None = None
        self._frames = 0

    def take(self, frames: Frames) -> None:
        """Takes frames in the order of the file."""
        self._frames = frames.number + frames.count - 1
        if frames.kind == SAMPLE:
            self._samples(frames)
            return
        try:
            frame = decode(frames.payloads(self._data).tobytes())
            self._json(frame)
        except ValueError as error:
            raise self._wrong(frames, "what a probe writes in JSON", str(error)) from None

    def _json(self, frame: Frame | None) -> None:
        if self._probe is None and not isinstance(frame, ProbeFrame):
            raise ValueError("no probe before it")
        match frame:
            case ProbeFrame():
                if self._probe is not None:
                    raise ValueError("a second probe")
                self._probe = frame
            case RanksFrame():
                self._check_ranks(len(frame.host))
                self._ranks = frame
            case ClockFrame():
                self._check_ranks(len(frame.residual_s or frame.offset_s))
                self._clocks.append(frame)
            case CellFrame():
                if self._cells.setdefault(frame.cell, frame) != frame:
                    raise ValueError(f"cell {frame.cell} a second time, but different")
                self._columns.update(frame.columns)
            case CellEnd():
                if frame.cell not in self._cells:
                    raise ValueError(f"the end of cell {frame.cell}, which did not begin")
                self._ends[frame.cell] = frame
            case DoneFrame():
                self._done = frame

    def _check_ranks(self, values: int) -> None:
        assert self._probe is not None
        if values not in (0, self._probe.ranks):
            raise ValueError(f"values of {values} ranks instead of {self._probe.ranks}")

    def _samples(self, frames: Frames) -> None:
        if frames.length < SAMPLE_HEAD:
            raise self._wrong(
                frames, f"a sample of at least {SAMPLE_HEAD} bytes", f"{frames.length}"
            )
        payloads = frames.payloads(self._data)
        numbers = payloads[:, :4].copy().view("<u4")[:, 0]
        # Where the cell changes: a group is of one cell.
        first = np.flatnonzero(np.diff(numbers, prepend=numbers[0] ^ np.uint32(1)))
        for start, stop in zip(first, [*first[1:], frames.count], strict=True):
            group = Frames(
                SAMPLE,
                frames.offset + int(start) * (HEAD + frames.length),
                frames.number + int(start),
                frames.length,
                int(stop - start),
            )
            cell = self._cell_of(group, int(numbers[start]))
            block = Block(cell, payloads[start:stop])
            if not block.sound():
                raise self._wrong(group, "times such as a clock shows, or not-a-number", "others")
            self._check_repetitions(group, block)
            self._blocks.append(block)

    def _check_repetitions(self, group: Frames, block: Block) -> None:
        """A repetition that comes twice would be taken for one long sample."""
        repetitions = block.words()[:, 1].astype(np.int64)
        last = self._last_repetition.get(block.cell.cell, -1)
        if (np.diff(repetitions, prepend=last) <= 0).any():
            raise self._wrong(group, "repetitions that count up", "others")
        self._last_repetition[block.cell.cell] = int(repetitions[-1])

    def _cell_of(self, frames: Frames, number: int) -> CellFrame:
        cell = self._cells.get(number)
        if cell is None or self._probe is None:
            raise self._wrong(frames, f"cell {number} before its samples", "none")
        expected = SAMPLE_HEAD + 8 * self._probe.ranks * len(cell.columns)
        if frames.length != expected:
            words = f"a sample of cell {number} with {expected:,} bytes"
            raise self._wrong(frames, words, f"{frames.length:,}")
        return cell

    def check_torn(self, offset: int) -> None:
        """Refuses a last frame that cannot be the beginning of what a probe writes."""
        torn = self._data[offset:]
        if len(torn) < HEAD + 4 or torn[0] == JSON:
            return
        length = int.from_bytes(torn[1:HEAD].tobytes(), "little")
        number = int.from_bytes(torn[HEAD : HEAD + 4].tobytes(), "little")
        self._cell_of(Frames(SAMPLE, offset, self._frames + 1, length, 1), number)

    def finished(self, torn: int) -> RawSamples:
        """Everything that was found."""
        if self._probe is None:
            raise NotBegunError(self._source, 0, "a probe's name", "the end of the file")
        rows = self._probe.ranks * sum(len(block.payloads) for block in self._blocks)
        room = _ALWAYS_ALLOWED + _MOST_GROWTH * len(self._data)
        if 8 * rows * len(self._columns) > room:
            got = f"{len(self._columns):,} for {rows:,} rows"
            raise InputError(self._source, 0, "cells with much the same columns", got)
        return RawSamples(
            source=self._source,
            probe=self._probe,
            ranks=self._ranks,
            clocks=tuple(self._clocks),
            cells=self._cells,
            ends=self._ends,
            frame=sample_table(self._blocks, self._probe.ranks),
            torn=torn,
            done=self._done,
        )

    def _wrong(self, frames: Frames, expected: str, got: str) -> InputError:
        return malformed(self._source, frames.offset, frames.number, expected, got)


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
    """All samples, in the order of the blocks; see `RawSamples.frame`."""
    # Blocks of cells with the same columns become arrays together: there may be thousands.
    alike: dict[tuple[str, ...], list[int]] = {}
    for index, block in enumerate(blocks):
        alike.setdefault(block.cell.columns, []).append(index)
    order = np.cumsum([0, *(len(block.payloads) for block in blocks)])
    tables = [
        _table([blocks[i] for i in indices], [int(order[i]) for i in indices], columns)
        for columns, indices in alike.items()
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
                column_name(name): np.ascontiguousarray(times[:, :, index]).ravel()
                for index, name in enumerate(columns)
            },
        }
    )
    took_part = table.filter(pl.col("start_s").is_not_nan() & pl.col("end_s").is_not_nan())
    return took_part.with_columns(
        pl.col(column_name(name)).fill_nan(None) for name in columns if name not in ("start", "end")
    )


def late_samples(start: Times, end: Times, agreed: Times) -> NDArray[np.bool_]:
    """Whether some rank of a sample started too late for the sample to count.

    Too late is more than 5 % of the result and more than 10 µs after the agreed instant. The result
    is the latest end minus the earliest start.

    Args:
        start: instants [samples, ranks]; not-a-number for ranks that take no part.
        end: likewise.
        agreed: instants at which all were to start [samples].
    """
    results = np.fmax.reduce(end, axis=1) - np.fmin.reduce(start, axis=1)
    behind = np.fmax.reduce(start, axis=1) - agreed
    late: NDArray[np.bool_] = behind > np.maximum(_LATE_SHARE * results, _LATE_SECONDS)
    return late
