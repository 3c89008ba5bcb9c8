"""A launch's file of samples: its frames, the words in them, and how far a probe has come.

A frame is a byte that says its kind, four with the length of what follows, and that payload: words
in JSON, or a sample. Frames of samples come by the thousand and are all alike, so they are handled
in groups: nothing here runs once for every sample. The page "Samples" of the documentation has the
whole format.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from contend.base.errors import InputError

MAGIC = b"contend-samples 1\n"
JSON, SAMPLE = b"J"[0], b"S"[0]
HEAD = 5
"""Bytes before a frame's payload."""
_LONGEST_JSON = 1 << 26

Bytes = NDArray[np.uint8]


class NotBegunError(InputError):
    """A file of samples to which nothing was written yet, or only its first words."""


@dataclass(frozen=True)
class Frames:
    """Frames of equal kind and length that follow one another."""

    kind: int
    """Kind, `JSON` or `SAMPLE`; JSON frames always come alone."""
    offset: int
    """Where the first begins, in bytes from the beginning of the file."""
    number: int
    """Which of the file's frames the first is, from 1."""
    length: int
    """Bytes of each payload."""
    count: int
    """Number of frames."""

    @property
    def end(self) -> int:
        """First byte behind them."""
        return self.offset + self.count * (HEAD + self.length)

    def payloads(self, data: Bytes, base: int = 0) -> Bytes:
        """The payloads, a row each; `data` is the file from byte `base` on."""
        block = data[self.offset - base : self.end - base]
        return block.reshape(self.count, HEAD + self.length)[:, HEAD:]


def check_beginning(data: Bytes, source: str) -> None:
    """Refuses what is no file of samples.

    Raises:
        NotBegunError: the file ends within its first line.
        InputError: it begins otherwise.
    """
    start = data[: len(MAGIC)].tobytes()
    expected = MAGIC.decode().strip()
    if start == MAGIC:
        return
    if MAGIC.startswith(start):
        raise NotBegunError(source, 0, expected, f"{len(start)} bytes")
    raise InputError(source, 1, expected, _shown(start))


def walk(data: Bytes, source: str, base: int = 0, number: int = 1) -> Iterator[Frames]:
    """All whole frames, in order; a last one that is cut off is left out.

    Args:
        data: the file from byte `base` on, where a frame begins.
        source: its name.
        base: see `data`.
        number: of the first frame, from 1.

    Raises:
        InputError: for a frame of no known kind or of absurd length.
    """
    at = 0
    while at + HEAD <= len(data):
        kind = int(data[at])
        length = int.from_bytes(data[at + 1 : at + HEAD].tobytes(), "little")
        if kind not in (JSON, SAMPLE):
            got = _shown(data[at : at + 1].tobytes())
            raise malformed(source, base + at, number, "a frame of kind J or S", got)
        if kind == JSON and length > _LONGEST_JSON:
            expected = f"at most {_LONGEST_JSON:,} bytes of JSON"
            raise malformed(source, base + at, number, expected, f"{length:,}")
        if at + HEAD + length > len(data):
            return
        count = _alike(data[at:], HEAD + length) if kind == SAMPLE else 1
        frames = Frames(kind, base + at, number, length, count)
        yield frames
        at, number = frames.end - base, number + count


def malformed(source: str, offset: int, number: int, expected: str, got: str) -> InputError:
    """The error of a frame that is not what it should be."""
    return InputError(source, 0, f"{expected} at byte {offset} (frame {number})", got)


def _alike(data: Bytes, size: int) -> int:
    """How many whole frames of `size` bytes follow one another that have the first one's head."""
    whole, count, step = len(data) // size, 1, 1
    while count < whole:
        # In doubling steps: a file whose frames all differ costs no more than a walk.
        step = min(2 * step, whole - count)
        block = data[count * size : (count + step) * size].reshape(step, size)[:, :HEAD]
        same = (block == data[:HEAD]).all(axis=1)
        if not same.all():
            return count + int(same.argmin())
        count += step
    return count


def _shown(some: bytes) -> str:
    return repr(some)[1:] if some else "nothing"


Count = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]
CellNumber = Annotated[int, Meta(ge=0, lt=1 << 32)]
Ranks = Annotated[int, Meta(ge=1, le=1 << 24)]
Label: TypeAlias = str | int | float | bool | None

Numbers: TypeAlias = tuple[float | None, ...]

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_MOST_COLUMNS = 4096
_LONGEST_LABEL = 200
# Names that tables of samples give to columns of their own.
RESERVED = frozenset(
    (
        *("launch", "cell", "algorithm", "bytes", "ranks", "hosts", "repetition", "warmup"),
        *("late", "verified", "rank", "agreed_s", "start_s", "end_s", "result_s", "late_by_s"),
        "sample",
    )
)


class ProbeFrame(msgspec.Struct, frozen=True):
    """What ran: the first frame of a file."""

    probe: str
    ranks: Ranks
    version: str = ""
    library: str = ""
    standard: str = ""
    arguments: tuple[str, ...] = ()
    budget_s: float | None = None
    precision: float | None = None
    repetitions: tuple[int, int] | None = None
    warmups: int | None = None
    pause_s: float = 0.0
    verify: bool = False
    seed: int | None = None
    epoch_unix_s: float = 0.0
    timer_s: float | None = None
    cells: Count = 0


class RanksFrame(msgspec.Struct, frozen=True):
    """Where the ranks ran; one value for every rank."""

    host: tuple[str, ...]
    pid: tuple[int, ...] = ()
    cpus: tuple[str, ...] = ()
    host_cpus: tuple[Count, ...] = ()
    oversubscribed: bool = False


class ClockFrame(msgspec.Struct, frozen=True):
    """One synchronisation of the clocks; one value for every rank."""

    at_s: float
    offset_s: Numbers = ()
    drift: Numbers = ()
    round_trip_s: Numbers = ()
    residual_s: Numbers = ()


class CellFrame(msgspec.Struct, frozen=True):
    """A cell begins: what its samples measure and which columns they have."""

    cell: CellNumber
    columns: tuple[str, ...]
    labels: dict[str, Label]


class CellEnd(msgspec.Struct, frozen=True):
    """How a cell ended in a launch."""

    cell: CellNumber
    """Number of the cell, in a launch's file the probe's own, else the run's."""
    reason: str
    """Word ``precision``, ``repetitions``, ``budget``, ``skipped``, ``failed`` or ``cut``: the
    launch ended before the cell did."""
    verified: bool | None = None
    """Whether its data were right; None if that was not checked."""
    said: str = ""
    """What the probe said about it."""

    @property
    def is_sampled(self) -> bool:
        """Whether sampling came to an end of its own, as that of cells with figures does."""
        return self.reason in ("precision", "repetitions", "budget")


class DoneFrame(msgspec.Struct, frozen=True):
    """The run is complete."""

    overhead_s: float | None = None
    """Median time between samples that the probe itself took."""
    overhead_p99_s: float | None = None
    """What 99 % of those times do not exceed."""


Frame = ProbeFrame | RanksFrame | ClockFrame | CellFrame | CellEnd | DoneFrame

_KINDS: dict[str, type[Frame]] = {
    "probe": ProbeFrame,
    "ranks": RanksFrame,
    "clock": ClockFrame,
    "end": CellEnd,
    "done": DoneFrame,
}


def decode(payload: bytes) -> Frame | None:
    """A JSON frame; None for one of a kind that this version does not know.

    Raises:
        ValueError: it is no JSON object, or not what its kind must have; says what is wrong.
    """
    try:
        content = msgspec.json.decode(payload, type=dict[str, Any])
        kind = content.pop("kind", None)
        if not isinstance(kind, str):
            raise ValueError("no kind")
        if kind == "cell":
            return _cell(content)
        known = _KINDS.get(kind)
        return None if known is None else msgspec.convert(content, known)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(str(error) or "nesting too deep") from None


def _cell(content: dict[str, Any]) -> CellFrame:
    number, columns = content.pop("cell", None), content.pop("columns", None)
    frame = msgspec.convert({"cell": number, "columns": columns, "labels": content}, CellFrame)
    _check_columns(frame.columns)
    for name, value in frame.labels.items():
        _check_label(name, value)
    return frame


def _check_columns(columns: tuple[str, ...]) -> None:
    if len(columns) > _MOST_COLUMNS or len(set(columns)) < len(columns):
        raise ValueError(f"there must be at most {_MOST_COLUMNS} columns, all different")
    if columns[:1] != ("start",) or "end" not in columns:
        raise ValueError("the first column must be start, and another one end")
    for name in columns:
        if not _NAME.fullmatch(name) or name in RESERVED:
            raise ValueError(f"{name[:50]!r} is not a valid name of a column")


def _check_label(name: str, value: Label) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name[:50]!r} is not a valid name of a label")
    if name == "bytes" and (type(value) is not int or value < 0):
        raise ValueError("bytes must be a whole number")
    if name == "algorithm" and not isinstance(value, str):
        raise ValueError("algorithm must be text")
    if isinstance(value, str) and (len(value) > _LONGEST_LABEL or not value.isprintable()):
        raise ValueError(f"{name} must have at most {_LONGEST_LABEL} printable characters")
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        raise ValueError(f"{name} must fit in 64 bits")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} must be finite")


_PIECE = 1 << 24


@dataclass(frozen=True)
class Progress:
    """Where a probe is."""

    probe: ProbeFrame | None = None
    """What runs; None before its first words."""
    ranks: RanksFrame | None = None
    """Where the ranks said that they are; None before they did."""
    cells: int = 0
    """Cells to be measured; 0 while that is not known."""
    ended: int = 0
    """Cells that have ended, skipped and failed ones too."""
    skipped: int = 0
    """Those of the ended cells that have no sample, as no time was left or they do not fit."""
    samples: int = 0
    """Samples made, warm-ups too."""
    labels: Mapping[str, Label] = field(default_factory=dict)
    """Labels of the cell that began last."""
    seconds: float = 0.0
    """Agreed start of the last sample, since the probe's epoch."""
    last: CellEnd | None = None
    """How the cell ended that ended last."""


class SampleTail:
    """Follows a file of samples; each look reads only what is new.

    A file that is not there yet has no progress; one that is damaged makes none any more: whoever
    reads the whole file says what is wrong.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._number = 1
        self._damaged = False
        self._progress = Progress()

    def poll(self) -> Progress:
        """Looks what has been written since the last look."""
        while not self._damaged:
            try:
                piece = self._piece()
                if not self._take(piece):
                    break
            except InputError:
                self._damaged = True
        return self._progress

    def _piece(self) -> Bytes:
        try:
            return np.fromfile(self._path, np.uint8, _PIECE, offset=self._offset)
        except OSError:
            return np.empty(0, np.uint8)

    def _take(self, piece: Bytes) -> bool:
        """Takes what is whole; whether more of the file may be there to take."""
        source, begun = str(self._path), self._offset
        if self._offset == 0:
            if len(piece) < len(MAGIC):
                return False
            check_beginning(piece, source)
            self._offset = len(MAGIC)
        for frames in walk(piece[self._offset - begun :], source, self._offset, self._number):
            self._frames(frames, piece, begun)
            self._offset, self._number = frames.end, frames.number + frames.count
        return self._offset > begun and len(piece) == _PIECE

    def _frames(self, frames: Frames, piece: Bytes, base: int) -> None:
        payloads = frames.payloads(piece, base)
        if frames.kind == SAMPLE and frames.length >= 24:
            seconds = float(payloads[-1, 16:24].copy().view("<f8")[0])
            samples = self._progress.samples + frames.count
            self._progress = replace(self._progress, samples=samples, seconds=seconds)
        elif frames.kind == JSON:
            self._json(payloads.tobytes())

    def _json(self, payload: bytes) -> None:
        now = self._progress
        try:
            frame = decode(payload)
        except ValueError as error:
            raise InputError(str(self._path), 0, "what a probe writes", str(error)) from None
        match frame:
            case ProbeFrame():
                self._progress = replace(now, probe=frame, cells=frame.cells)
            case RanksFrame():
                self._progress = replace(now, ranks=frame)
            case CellFrame():
                self._progress = replace(now, labels=frame.labels)
            case CellEnd():
                skipped = now.skipped + (frame.reason == "skipped")
                self._progress = replace(now, ended=now.ended + 1, skipped=skipped, last=frame)
