"""Compressed files and archives as streams of bytes, of which a few MiB are held at once."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

import zstandard

from contend.base.errors import InputError

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
        return _whole(_only(_zipped_files(pieces), "zip"), name, "zip")
    head, pieces = _begun(_unpacked(first, pieces, name), 512)
    return _whole(_only(_tarred_files(pieces), "tar"), name, "tar") if _is_tar(head) else pieces


def archived(raw: _Pieces, name: str) -> Iterator[tuple[str, _Pieces]] | None:
    """Names and contents of the files in a .zip or a .tar; None where it is neither.

    The .tar may be compressed, and so may be the files. Each is to be read before the next.

    Raises:
        InputError: while it is read: the archive is damaged or ends early.
    """
    first, pieces = _begun(raw, 6)
    if first.startswith(_ZIP):
        return _each_whole(_zipped_files(pieces), name, "zip")
    head, pieces = _begun(_unpacked(first, pieces, name), 512)
    return _each_whole(_tarred_files(pieces), name, "tar") if _is_tar(head) else None


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


def _zstandard(pieces: _Pieces) -> _Pieces:
    context = zstandard.ZstdDecompressor(max_window_size=_ZSTANDARD_WINDOW)
    parts = (
        piece[start : start + _ZSTANDARD_INPUT]
        for piece in pieces
        for start in range(0, len(piece), _ZSTANDARD_INPUT)
    )
    return _streams(parts, lambda: _ZstandardStream(context.decompressobj()))


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


_Stream = bz2.BZ2Decompressor | lzma.LZMADecompressor | _ZstandardStream


def _streams(pieces: _Pieces, begin: Callable[[], _Stream]) -> _Pieces:
    """Streams one after another, with zeros between and after them for padding.

    The libraries of bzip2, of xz with a limit of memory, and of Zstandard end with the first.

    Raises:
        EOFError: the last one is cut off.
    """
    stream: _Stream | None = None
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
    (
        b"\xfd7zXZ\0",
        "xz",
        lambda pieces: _streams(
            pieces, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
        ),
    ),
    (b"BZh", "bzip2", lambda pieces: _streams(pieces, bz2.BZ2Decompressor)),
    (b"\x28\xb5\x2f\xfd", "Zstandard", _zstandard),
)


# What of a .zip is held in memory; the rest is laid down in a file.
_HELD_OF_ZIP, _LARGEST_ZIP = 1 << 26, 1 << 32
_ENCRYPTED = 0x1
# What the library raises of a directory or a header that is damaged.
_DAMAGE_OF_ZIP = (zipfile.BadZipFile, struct.error, ValueError, OverflowError, NotImplementedError)


def _zipped_files(pieces: _Pieces) -> Iterator[tuple[str, _Pieces]]:
    """Name and content of each file of a .zip, which is laid down: its directory is at its end.

    Folders do not count, nor what macOS keeps beside a file in ``__MACOSX``.

    Raises:
        InputError: while it is read, without the name of the .zip: a file with a password or packed
            by another method than deflate, damage.
    """
    with tempfile.SpooledTemporaryFile(_HELD_OF_ZIP) as file:
        for piece in pieces:
            file.write(piece)
            if file.tell() > _LARGEST_ZIP:
                raise InputError("", 0, f"a .zip of at most {_LARGEST_ZIP:,} bytes", "more")
        with _damage_of_zip():
            archive = zipfile.ZipFile(file)
        end = 0
        for entry in sorted(archive.infolist(), key=lambda entry: entry.header_offset):
            # A small .zip whose files share bytes may stand for an endless one.
            if entry.header_offset < end:
                raise InputError("", 0, "a whole zip stream", "files that overlap")
            end = entry.header_offset + entry.compress_size
            if not entry.filename:
                raise InputError("", 0, "a whole zip stream", "a file without a name")
            if entry.is_dir() or entry.filename.startswith("__MACOSX/"):
                continue
            if entry.flag_bits & _ENCRYPTED:
                got = f"{entry.filename!r}, which has one"
                raise InputError("", 0, "a .zip without a password", got)
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                got = f"{entry.filename!r} by method {entry.compress_type}"
                raise InputError("", 0, "a .zip packed by deflate", got)
            yield entry.filename, _unzipped(archive, entry)


def _unzipped(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> _Pieces:
    with _damage_of_zip(), archive.open(entry) as content:
        while piece := content.read(PIECE):
            yield piece


@contextmanager
def _damage_of_zip() -> Iterator[None]:
    try:
        yield
    except _DAMAGE_OF_ZIP as error:
        raise InputError("", 0, "a whole zip stream", str(error)) from None


_BLOCK = 512
_TAR_MAGIC = slice(257, 262)
_TAR_FILES = (b"0", b"\0", b"7")
_GNU_NAME, _EXTENDED = b"L", b"x"
_LONGEST_NAME = 1 << 16
_PATH = re.compile(rb"\d{1,6} path=([^\n]*)\n")


def _is_tar(head: bytes) -> bool:
    """Whether a file that begins like this is a .tar."""
    return len(head) >= _BLOCK and head[_TAR_MAGIC] == b"ustar"


def _tarred_files(pieces: _Pieces) -> Iterator[tuple[str, _Pieces]]:
    """Name and content of each file of a .tar; what of a content is left unread is passed over.

    Folders, links and devices do not count.

    Raises:
        InputError: while it is read, without the name of the .tar: damage.
        EOFError: it is cut off.
    """
    stream = io.BufferedReader(_AsFile(pieces), PIECE)
    longer = b""
    while any(header := _taken(stream, _BLOCK)):
        if header[_TAR_MAGIC] != b"ustar":
            raise InputError("", 0, "a whole tar archive", "no header behind a file")
        size, kind = _number(header[124:136]), header[156:157]
        if kind in (_GNU_NAME, _EXTENDED):
            if size > _LONGEST_NAME:
                most = f"a name of at most {_LONGEST_NAME} bytes in a tar archive"
                raise InputError("", 0, most, f"{size} bytes")
            text = _taken(stream, size)
            path = _PATH.search(text)
            longer = text.rstrip(b"\0") if kind == _GNU_NAME else path[1] if path else longer
            _taken(stream, -size % _BLOCK)
            continue
        prefix, name = (header[place].split(b"\0")[0] for place in (slice(345, 500), slice(0, 100)))
        name = longer or (prefix + b"/" + name if prefix and header[262:263] != b" " else name)
        longer = b""
        content = _part(stream, size)
        if kind in _TAR_FILES and not name.endswith(b"/"):
            yield name.decode("utf-8", "backslashreplace"), content
        for _ in content:
            pass
        _taken(stream, -size % _BLOCK)


def _taken(stream: io.BufferedReader[_AsFile], size: int) -> bytes:
    """Exactly so many bytes."""
    taken = stream.read(size)
    if len(taken) < size:
        raise EOFError
    return taken


def _part(stream: io.BufferedReader[_AsFile], size: int) -> _Pieces:
    """So many bytes, a piece at a time."""
    while size:
        piece = _taken(stream, min(size, PIECE))
        size -= len(piece)
        yield piece


def _number(field: bytes) -> int:
    """A size: octal digits, or of large files a number of 64 bits behind a mark."""
    if field[0] == 0x80:
        return int.from_bytes(field[4:], "big")
    digits = field.strip(b" \0")
    if not re.fullmatch(rb"[0-7]{0,11}", digits):
        raise InputError("", 0, "a whole tar archive", f"the size {digits[:20]!r} of a file")
    return int(digits or b"0", 8)
