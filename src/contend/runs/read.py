"""Reads a file of samples, also one that is still being written or was cut off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from contend.errors import InputError
from contend.runs.frames import (
    HEAD,
    JSON,
    MAGIC,
    SAMPLE,
    Bytes,
    Frames,
    NotBegunError,
    check_beginning,
    malformed,
    walk,
)
from contend.runs.metadata import (
    CellFrame,
    ClockFrame,
    DoneFrame,
    EndFrame,
    Frame,
    ProbeFrame,
    RanksFrame,
    decode,
)
from contend.runs.sample_table import SAMPLE_HEAD, Block, sample_length, sample_table

# A table has all columns for all rows; where cells' columns differ it grows beyond the file.
_MOST_GROWTH = 16
_ALWAYS_ALLOWED = 1 << 26


@dataclass(frozen=True)
class RawSamples:
    """One launch of a probe as it wrote itself down.

    Attributes:
        source: name of the file.
        probe: what ran.
        ranks: where its ranks ran; None when the file ends before that.
        clocks: every synchronisation of the clocks, in order.
        cells: every cell that began, by number.
        ends: how cells ended, by number; a cell without an end was cut short.
        frame: one row for every rank that took part in a sample, in the order of time: ``cell``,
            ``repetition``, ``warmup``, ``late``, ``verified``, ``rank``, ``agreed_s``, ``start_s``,
            ``end_s`` and further columns of the probe. Times are seconds since
            `ProbeFrame.epoch_unix_s`.
        torn: bytes of a last frame that is cut off; 0 when there is none.
        done: the probe's last words; None when it did not come to its end.
    """

    source: str
    probe: ProbeFrame
    ranks: RanksFrame | None
    clocks: tuple[ClockFrame, ...]
    cells: Mapping[int, CellFrame]
    ends: Mapping[int, EndFrame]
    frame: pl.DataFrame
    torn: int
    done: DoneFrame | None


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
        self._ends: dict[int, EndFrame] = {}
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
                    raise ValueError(f"cell {frame.cell} a second time, and otherwise")
                self._columns.update(frame.columns)
            case EndFrame():
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
        expected = sample_length(self._probe.ranks, len(cell.columns))
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
