"""Compressed files as a stream of bytes, never more of them than a few MiB at once."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any, Protocol

import zstandard

from contend.errors import InputError
from contend.fabric.streams.archives import is_tar, tarred_files, zipped_files

PIECE = 1 << 20
# The second begins an archive of no file.
_ZIP = (b"PK\3\4", b"PK\5\6")
# Zstandard cannot be told how much to hand out at once, but one byte of a block yields at most
# 32 KiB, so that this many bytes of input bound the output.
_ZSTANDARD_INPUT = 1 << 8
_ZSTANDARD_WINDOW = 1 << 27
_XZ_MEMORY = 1 << 28

_Pieces = Iterator[bytes]


def decompressed(raw: _Pieces, name: str) -> _Pieces:
    """The content of a file in pieces, whatever packed or compressed it, or if nothing did.

    Args:
        raw: the file's bytes, cut anywhere.
        name: the file's name, for errors.

    Raises:
        InputError: while it is read: a compressed stream is damaged or ends early, or an archive
            holds not one file.
    """
    first, pieces = _begun(raw, 6)
    if first.startswith(_ZIP):
        return _whole(_only(zipped_files(pieces, PIECE), "zip"), name, "zip")
    head, pieces = _begun(_unpacked(first, pieces, name), 512)
    return _whole(_only(tarred_files(pieces), "tar"), name, "tar") if is_tar(head) else pieces


def archived(raw: _Pieces, name: str) -> Iterator[tuple[str, _Pieces]] | None:
    """Names and contents of the files in a .zip or a .tar; None where it is neither.

    The .tar may be compressed, and so may be the files. Each is to be read before the next.

    Raises:
        InputError: while it is read: the archive is damaged or ends early.
    """
    first, pieces = _begun(raw, 6)
    if first.startswith(_ZIP):
        return _each_whole(zipped_files(pieces, PIECE), name, "zip")
    head, pieces = _begun(_unpacked(first, pieces, name), 512)
    return _each_whole(tarred_files(pieces), name, "tar") if is_tar(head) else None


def _unpacked(first: bytes, pieces: _Pieces, name: str) -> _Pieces:
    """The content of a compressed file that begins with `first`, or of another as it is."""
    for magic, title, decompress in _COMPRESSIONS:
        if first.startswith(magic):
            return _whole(decompress(pieces), name, title)
    return pieces


def _only(files: Iterator[tuple[str, _Pieces]], title: str) -> _Pieces:
    """The content of the one file of an archive.

    Raises:
        InputError: while it is read: there is none, or several.
    """
    first = ""
    for name, content in files:
        if first:
            raise InputError("", 0, f"one file in the .{title}", f"{first!r} and {name!r}")
        first = name
        yield from content
    if not first:
        raise InputError("", 0, f"one file in the .{title}", "none")


def _begun(raw: _Pieces, size: int) -> tuple[bytes, _Pieces]:
    """The first so many bytes or more, and all of them; a pipe may hand out less at first."""
    first = next(raw, b"")
    while len(first) < size and (more := next(raw, b"")):
        first += more
    return first, chain([first] if first else [], raw)


# Of bzip2's library, damage is an OSError, as gzip.BadGzipFile is.
_DAMAGE = (OSError, zlib.error, lzma.LZMAError, zstandard.ZstdError)


@contextmanager
def _damage_of(name: str, title: str) -> Iterator[None]:
    """Turns what a damaged stream raises into an error of its file."""
    try:
        yield
    except EOFError:
        got = "its first part only: the file is cut off"
        raise InputError(name, 0, f"a whole {title} stream", got) from None
    except _DAMAGE as error:
        raise InputError(name, 0, f"a whole {title} stream", str(error)) from error
    except InputError as error:
        raise InputError(error.source or name, error.line, error.expected, error.got) from None


def _each_whole(
    files: Iterator[tuple[str, _Pieces]], name: str, title: str
) -> Iterator[tuple[str, _Pieces]]:
    with _damage_of(name, title):
        for file, content in files:
            whole = _whole(content, f"{name}/{file}", title)
            yield file, decompressed(whole, f"{name}/{file}")


def _whole(pieces: _Pieces, name: str, title: str) -> _Pieces:
    """The content of a compressed file in large pieces; damage becomes an error of that file."""
    held: list[bytes] = []
    size = 0
    with _damage_of(name, title):
        for piece in pieces:
            held.append(piece)
            size += len(piece)
            if size >= PIECE:
                yield b"".join(held)
                held, size = [], 0
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
    (b"\x28\xb5\x2f\xfd", "Zstandard", _zstandard),
)
