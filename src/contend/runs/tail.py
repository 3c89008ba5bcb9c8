"""How far a probe has come, told from its file of samples while that grows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from contend.errors import InputError
from contend.runs.frames import JSON, MAGIC, SAMPLE, Bytes, Frames, check_beginning, walk
from contend.runs.metadata import CellFrame, EndFrame, Label, ProbeFrame, decode

_PIECE = 1 << 24


@dataclass(frozen=True)
class Progress:
    """Where a probe is.

    Attributes:
        probe: what runs; None before its first words.
        cells: cells to be measured; 0 while that is not known.
        ended: cells that have ended, skipped and failed ones too.
        samples: samples made, warm-ups too.
        labels: of the cell that began last.
        seconds: agreed start of the last sample, since the probe's epoch.
        last: the end of the cell that ended last.
    """

    probe: ProbeFrame | None = None
    cells: int = 0
    ended: int = 0
    samples: int = 0
    labels: Mapping[str, Label] = field(default_factory=dict)
    seconds: float = 0.0
    last: EndFrame | None = None


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
            case CellFrame():
                self._progress = replace(now, labels=frame.labels)
            case EndFrame():
                self._progress = replace(now, ended=now.ended + 1, last=frame)
