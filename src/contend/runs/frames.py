"""The frames of a file of samples: a byte that says the kind, four of length, the payload.

Frames of samples come by the thousand and are all alike, so they are told in groups: nothing here
runs once for every sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.errors import InputError

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
    """Frames of equal kind and length that follow one another.

    Attributes:
        kind: `JSON` or `SAMPLE`; JSON frames always come alone.
        offset: where the first begins, in bytes from the beginning of the file.
        number: which of the file's frames the first is, from 1.
        length: bytes of each payload.
        count: how many.
    """

    kind: int
    offset: int
    number: int
    length: int
    count: int

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
