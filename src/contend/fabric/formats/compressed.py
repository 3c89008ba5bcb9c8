"""Compressed files as a stream of bytes, never more of them than a few MiB at once."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, Protocol

import zstandard

from contend.errors import InputError
from contend.fabric.formats.zip_file import unzipped

PIECE = 1 << 20
# Zstandard cannot be told how much to hand out at once, but one byte of a block yields at most
# 32 KiB, so that this many bytes of input bound the output.
_ZSTANDARD_INPUT = 1 << 8
_ZSTANDARD_WINDOW = 1 << 27
_XZ_MEMORY = 1 << 28

_Pieces = Iterator[bytes]


def decompressed(raw: _Pieces, name: str) -> _Pieces:
    """The content of a file in pieces, whatever compressed it, or if nothing did.

    Args:
        raw: the file's bytes, cut anywhere.
        name: the file's name, for errors.

    Raises:
        InputError: while it is read: a compressed stream is damaged or ends early.
    """
    first = next(raw, b"")
    # A pipe may hand out less than the longest magic at first.
    while len(first) < 6 and (more := next(raw, b"")):
        first += more
    pieces = chain([first] if first else [], raw)
    for magic, title, decompress in _COMPRESSIONS:
        if first.startswith(magic):
            return _whole(decompress(pieces), name, title)
    return pieces


# Of bzip2's library, damage is an OSError, as gzip.BadGzipFile is.
_DAMAGE = (OSError, zlib.error, lzma.LZMAError, zstandard.ZstdError)


def _whole(pieces: _Pieces, name: str, title: str) -> _Pieces:
    """The content of a compressed file in large pieces; damage becomes an error of that file."""
    held: list[bytes] = []
    size = 0
    try:
        for piece in pieces:
            held.append(piece)
            size += len(piece)
            if size >= PIECE:
                yield b"".join(held)
                held, size = [], 0
    except EOFError:
        got = "its first part only: the file is cut off"
        raise InputError(name, 0, f"a whole {title} stream", got) from None
    except _DAMAGE as error:
        raise InputError(name, 0, f"a whole {title} stream", str(error)) from error
    except InputError as error:
        raise InputError(name, error.line, error.expected, error.got) from None
    if held:
        yield b"".join(held)


def _gzip(pieces: _Pieces) -> _Pieces:
    with gzip.GzipFile(fileobj=io.BufferedReader(_AsFile(pieces), PIECE)) as file:
        while piece := file.read(PIECE):
            yield piece


class _AsFile(io.RawIOBase):
    """Pieces as a file that can be read once."""

    def __init__(self, pieces: _Pieces) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._rest = self._rest or memoryview(next(self._pieces, b""))
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


def _xz(pieces: _Pieces) -> _Pieces:
    return _streams(pieces, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY))


def _bzip2(pieces: _Pieces) -> _Pieces:
    return _streams(pieces, bz2.BZ2Decompressor)


def _zip(pieces: _Pieces) -> _Pieces:
    return unzipped(pieces, PIECE)


def _zstandard(pieces: _Pieces) -> _Pieces:
    context = zstandard.ZstdDecompressor(max_window_size=_ZSTANDARD_WINDOW)
    parts = (
        piece[start : start + _ZSTANDARD_INPUT]
        for piece in pieces
        for start in range(0, len(piece), _ZSTANDARD_INPUT)
    )
    return _streams(parts, lambda: _ZstandardStream(context.decompressobj()))


class _Stream(Protocol):
    """A stream being decompressed, as `lzma.LZMADecompressor` is."""

    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _ZstandardStream:
    """A Zstandard stream; it always hands out all that its input holds.

    The library's file object is of no use here: it takes a stream that is cut off for a whole one.
    """

    needs_input = True

    def __init__(self, stream: zstandard.ZstdDecompressionObj) -> None:
        self._stream = stream

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return self._stream.decompress(data)


def _streams(pieces: _Pieces, begin: Callable[[], _Stream]) -> _Pieces:
    """Streams one after another, with zeros between and after them for padding.

    The libraries of bzip2, of xz with a limit of memory, and of Zstandard end with the first.

    Raises:
        EOFError: the last one is cut off.
    """
    stream = None
    for rest in pieces:
        while stream is not None or (rest := rest.lstrip(b"\0")):
            stream = stream or begin()
            if out := stream.decompress(rest, PIECE):
                yield out
            if stream.eof:
                rest, stream = stream.unused_data, None
            elif stream.needs_input:
                break
            else:
                rest = b""
    if stream is not None:
        raise EOFError


_COMPRESSIONS: tuple[tuple[bytes, str, Callable[[_Pieces], _Pieces]], ...] = (
    (b"\x1f\x8b", "gzip", _gzip),
    (b"\xfd7zXZ\0", "xz", _xz),
    (b"BZh", "bzip2", _bzip2),
    (b"PK\3\4", "zip", _zip),
    (b"PK\5\6", "zip", _zip),
    (b"\x28\xb5\x2f\xfd", "Zstandard", _zstandard),
)
