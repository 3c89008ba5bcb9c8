"""Files of any size as a stream of bytes, compressed or not, and as numbered lines."""

from __future__ import annotations

import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import zstandard

from contend.errors import InputError, UsageError

PIECE = 1 << 20
HEAD = 1 << 16
LONGEST_LINE = 1 << 16
# Zstandard cannot be told how much to hand out at once, but one byte of a block yields at most
# 32 KiB, so that this many bytes of input bound the output.
_ZSTANDARD_INPUT = 1 << 8
_ZSTANDARD_WINDOW = 1 << 27
_XZ_MEMORY = 1 << 28

_Pieces = Iterator[bytes]


def source_name(path: str) -> str:
    """What messages call the source that `path` names."""
    return "standard input" if path == "-" else path


def open_chunks(path: str) -> Iterator[bytes]:
    """The content of a file in pieces of about 1 MiB, decompressed.

    Compression (gzip, xz, Zstandard) is recognised by the first bytes, not by the file's name, and
    several streams one after another are read as one. Never more than a few MiB are held, however
    well the file is compressed.

    Args:
        path: a file, or ``-`` for standard input.

    Raises:
        UsageError: the file is not there, is a folder or cannot be read.
        InputError: a compressed stream is damaged or ends early.
    """
    if path != "-":
        _check(Path(path))
    return _decompressed(_raw(path), source_name(path))


def peek(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first 64 KiB, and an iterator over everything, those included."""
    taken: list[bytes] = []
    size = 0
    for chunk in chunks:
        taken.append(chunk)
        size += len(chunk)
        if size >= HEAD:
            break
    return b"".join(taken)[:HEAD], chain(taken, chunks)


def _check(path: Path) -> None:
    try:
        if path.is_dir():
            raise UsageError(f"{path}: is a folder, not a file")
        path.stat()
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: {getattr(error, 'strerror', None) or error}") from error


def _raw(path: str) -> _Pieces:
    if path == "-":
        yield from _pieces(sys.stdin.buffer)
        return
    try:
        with Path(path).open("rb", buffering=0) as file:
            yield from _pieces(file)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error


def _pieces(file: BinaryIO) -> _Pieces:
    while piece := file.read(PIECE):
        yield piece


def _decompressed(raw: _Pieces, name: str) -> _Pieces:
    first = next(raw, b"")
    # A pipe may hand out less than the longest magic at first.
    while len(first) < 6 and (more := next(raw, b"")):
        first += more
    pieces = chain([first] if first else [], raw)
    for magic, title, decompress in _COMPRESSIONS:
        if first.startswith(magic):
            return _whole(decompress(pieces), name, title)
    return pieces


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
    except (gzip.BadGzipFile, zlib.error, lzma.LZMAError, zstandard.ZstdError) as error:
        raise InputError(name, 0, f"a whole {title} stream", str(error)) from error
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

    Neither the library of xz, with a limit of memory, nor that of Zstandard reads several as one.

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
    (b"\x28\xb5\x2f\xfd", "Zstandard", _zstandard),
)


def lines(chunks: Iterable[bytes], source: str) -> Iterator[tuple[int, str]]:
    """Lines with their number from 1, without their end, whether written by Unix or Windows.

    Bytes that are not UTF-8 are escaped as Python's literals are, so that names keep their
    difference and can be written to any file.

    Raises:
        InputError: a line longer than 64 KiB, which no topology file has.
    """
    number = 0
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            number += 1
            yield number, _text(line, number, source)
        # Only what one line may hold is ever kept between chunks.
        if len(rest) > LONGEST_LINE:
            raise _too_long(number + 1, source)
    if rest:
        yield number + 1, _text(rest, number + 1, source)


def _text(line: bytes, number: int, source: str) -> str:
    if len(line) > LONGEST_LINE:
        raise _too_long(number, source)
    return line.removesuffix(b"\r").decode("utf-8", "backslashreplace")


def _too_long(number: int, source: str) -> InputError:
    return InputError(source, number, f"a line of at most {LONGEST_LINE} bytes", "a longer one")


@contextmanager
def naming(source: str) -> Iterator[None]:
    """Gives the name `source` to every InputError inside that names no source yet."""
    try:
        yield
    except InputError as error:
        if error.source:
            raise
        raise InputError(source, error.line, error.expected, error.got) from None
