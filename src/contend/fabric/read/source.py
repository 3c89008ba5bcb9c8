"""Files of any size as a stream of bytes, compressed or not."""

from __future__ import annotations

import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import zstandard

from contend.errors import InputError, UsageError

PIECE = 1 << 20
HEAD = 1 << 16
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
            return _gathered(decompress(pieces, _damage(name, title)))
    return pieces


def _gathered(pieces: _Pieces) -> _Pieces:
    """Small pieces joined to large ones."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= PIECE:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)


_Damage = Callable[[str], InputError]


def _damage(name: str, title: str) -> _Damage:
    return lambda got: InputError(name, 0, f"a whole {title} stream", got)


def _gzip(pieces: _Pieces, damage: _Damage) -> _Pieces:
    stream = None
    for piece in pieces:
        rest = piece
        while rest:
            if stream is None:
                # Padding between and after streams is allowed.
                rest = rest.lstrip(b"\0")
                if not rest:
                    break
                stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
            try:
                out = stream.decompress(rest, PIECE)
            except zlib.error as error:
                raise damage(str(error)) from error
            if out:
                yield out
            rest = stream.unconsumed_tail
            if stream.eof:
                rest, stream = stream.unused_data, None
    if stream is not None:
        # Output may still be held back when the last piece of input has been taken in.
        if out := stream.flush():
            yield out
        if not stream.eof:
            raise damage("its first part only: the file is cut off")


def _xz(pieces: _Pieces, damage: _Damage) -> _Pieces:
    stream = None
    for piece in pieces:
        rest = piece
        while True:
            if stream is None:
                rest = rest.lstrip(b"\0")
                if not rest:
                    break
                stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
            try:
                out = stream.decompress(rest, PIECE)
            except lzma.LZMAError as error:
                raise damage(str(error)) from error
            if out:
                yield out
            rest = b""
            if stream.eof:
                rest, stream = stream.unused_data, None
            elif stream.needs_input:
                break
    if stream is not None:
        raise damage("its first part only: the file is cut off")


def _zstandard(pieces: _Pieces, damage: _Damage) -> _Pieces:
    context = zstandard.ZstdDecompressor(max_window_size=_ZSTANDARD_WINDOW)
    stream = None
    for piece in pieces:
        for start in range(0, len(piece), _ZSTANDARD_INPUT):
            rest = piece[start : start + _ZSTANDARD_INPUT]
            while rest:
                if stream is None:
                    rest = rest.lstrip(b"\0")
                    if not rest:
                        break
                    stream = context.decompressobj()
                try:
                    out = stream.decompress(rest)
                except zstandard.ZstdError as error:
                    raise damage(str(error)) from error
                if out:
                    yield out
                rest = b""
                if stream.eof:
                    rest, stream = stream.unused_data, None
    if stream is not None:
        raise damage("its first part only: the file is cut off")


_COMPRESSIONS: tuple[tuple[bytes, str, Callable[[_Pieces, _Damage], _Pieces]], ...] = (
    (b"\x1f\x8b", "gzip", _gzip),
    (b"\xfd7zXZ\0", "xz", _xz),
    (b"\x28\xb5\x2f\xfd", "Zstandard", _zstandard),
)
