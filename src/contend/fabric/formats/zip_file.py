"""Reads a .zip that holds one file, as a stream: standard input may be one."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from contend.errors import InputError

_MEMBER = b"PK\3\4"
_DIRECTORY = b"PK\1\2"
_END = (b"PK\5\6", b"PK\6\6")
_DESCRIPTOR = b"PK\7\x08"
_HEADER = struct.Struct("<HHHHHIIIHH")
_ENCRYPTED, _SIZES_FOLLOW = 0x1, 0x8
_STORED, _DEFLATED = 0, 8
_LARGER = 0xFFFFFFFF


def unzipped(pieces: Iterator[bytes], most: int) -> Iterator[bytes]:
    """The content of the one file of a .zip.

    Folders do not count, nor what macOS keeps beside a file in ``__MACOSX``.

    Args:
        pieces: the .zip's bytes, cut anywhere.
        most: how many bytes to hand out at once.

    Raises:
        InputError: while it is read, without the name of the .zip: no file in it or several, one
            with a password or packed by another method than deflate, damage.
        EOFError: it is cut off.
    """
    stream = _Stream(pieces)
    file = ""
    while (signature := stream.take(4)) == _MEMBER:
        member = _member(stream)
        content = _content(stream, member, most)
        if member.name.endswith("/") or member.name.startswith("__MACOSX/"):
            for _ in content:
                pass
            continue
        if file:
            raise InputError("", 0, "one file in the .zip", f"{file!r} and {member.name!r}")
        file = member.name
        yield from content
    if signature != _DIRECTORY and signature not in _END:
        raise _damaged("no directory behind its files")
    if not file:
        raise InputError("", 0, "one file in the .zip", "none")


@dataclass(frozen=True)
class _Member:
    name: str
    flags: int
    method: int
    checksum: int
    packed: int


class _Stream:
    """Bytes in a row, some of which may be given back."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = b""

    def some(self) -> bytes:
        """Whatever comes next, at least one byte."""
        piece, self._rest = self._rest or next(self._pieces, b""), b""
        if not piece:
            raise EOFError
        return piece

    def take(self, size: int) -> bytes:
        """Exactly so many bytes."""
        taken = b""
        while len(taken) < size:
            taken += self.some()
        self.give_back(taken[size:])
        return taken[:size]

    def give_back(self, piece: bytes) -> None:
        self._rest = piece + self._rest


def _member(stream: _Stream) -> _Member:
    header = _HEADER.unpack(stream.take(_HEADER.size))
    _, flags, method, _, _, checksum, packed, _, name_size, extra_size = header
    name = stream.take(name_size).decode("utf-8", "replace")
    stream.take(extra_size)
    if flags & _ENCRYPTED:
        raise InputError("", 0, "a .zip without a password", f"{name!r}, which has one")
    sizeless = bool(flags & _SIZES_FOLLOW) or packed == _LARGER
    if method not in (_STORED, _DEFLATED):
        raise InputError("", 0, "a .zip packed by deflate", f"{name!r} by method {method}")
    if method == _STORED and sizeless and not name.endswith("/"):
        raise InputError("", 0, "a .zip packed by deflate", f"{name!r} unpacked, without its size")
    return _Member(name, flags, method, checksum, packed)


def _content(stream: _Stream, member: _Member, most: int) -> Iterator[bytes]:
    """A member's content; its checksum is looked at where it ends."""
    pieces = _inflated(stream, most) if member.method == _DEFLATED else _stored(stream, member)
    checksum = 0
    for piece in pieces:
        checksum = zlib.crc32(piece, checksum)
        yield piece
    expected = member.checksum
    if member.flags & _SIZES_FOLLOW:
        expected = _descriptor(stream)
    if checksum != expected:
        raise _damaged(f"{member.name!r} with another checksum than it should have")


def _stored(stream: _Stream, member: _Member) -> Iterator[bytes]:
    left = member.packed
    while left:
        piece = stream.some()
        stream.give_back(piece[left:])
        yield piece[:left]
        left -= min(left, len(piece))


def _inflated(stream: _Stream, most: int) -> Iterator[bytes]:
    inflating = zlib.decompressobj(-zlib.MAX_WBITS)
    while not inflating.eof:
        if piece := inflating.decompress(inflating.unconsumed_tail or stream.some(), most):
            yield piece
    stream.give_back(inflating.unused_data)


def _descriptor(stream: _Stream) -> int:
    """The checksum that stands behind a member, with or without a mark, before its sizes."""
    checksum = stream.take(4)
    if checksum == _DESCRIPTOR:
        checksum = stream.take(4)
    # Two sizes of four bytes each, or of eight; what follows tells which.
    sizes = stream.take(8)
    following = stream.take(4)
    stream.give_back(following)
    if following not in (_MEMBER, _DIRECTORY):
        sizes += stream.take(8)
    return int.from_bytes(checksum, "little")


def _damaged(got: str) -> InputError:
    return InputError("", 0, "a whole zip stream", got)
