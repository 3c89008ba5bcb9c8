"""Reads the files of a .zip or a .tar one after another, as a stream: standard input may be one."""

from __future__ import annotations

import re
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
_STEP = 1 << 16


def zipped_files(pieces: Iterator[bytes], most: int) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Name and content of each file of a .zip; what of a content is left unread is passed over.

    Folders do not count, nor what macOS keeps beside a file in ``__MACOSX``.

    Args:
        pieces: the .zip's bytes, cut anywhere.
        most: how many bytes to hand out at once.

    Raises:
        InputError: while it is read, without the name of the .zip: a file with a password or packed
            by another method than deflate, damage.
        EOFError: it is cut off.
    """
    stream = Stream(pieces)
    while (signature := stream.take(4)) == _MEMBER:
        member = _member(stream)
        content = _content(stream, member, most)
        if not member.name.endswith("/") and not member.name.startswith("__MACOSX/"):
            yield member.name, content
        for _ in content:
            pass
    if signature != _DIRECTORY and signature not in _END:
        raise _damaged("no directory behind its files")


@dataclass(frozen=True)
class _Member:
    name: str
    flags: int
    method: int
    checksum: int
    packed: int


class Stream:
    """Bytes in a row, some of which may be given back."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._piece = b""
        self._at = 0

    def some(self, most: int = _STEP) -> bytes:
        """What comes next, at least one byte and at most so many."""
        if self._at == len(self._piece):
            self._piece, self._at = next(self._pieces, b""), 0
            if not self._piece:
                raise EOFError
        some = self._piece[self._at : self._at + most]
        self._at += len(some)
        return some

    def take(self, size: int) -> bytes:
        """Exactly so many bytes."""
        taken = b""
        while len(taken) < size:
            taken += self.some(size - len(taken))
        return taken

    def give_back(self, piece: bytes) -> None:
        """Takes back what was handed out last."""
        if len(piece) <= self._at:
            self._at -= len(piece)
        else:
            self._piece, self._at = piece + self._piece[self._at :], 0

    def part(self, size: int) -> Iterator[bytes]:
        """So many bytes, a piece at a time."""
        while size:
            piece = self.some(min(size, _STEP))
            size -= len(piece)
            yield piece


def _member(stream: Stream) -> _Member:
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


def _content(stream: Stream, member: _Member, most: int) -> Iterator[bytes]:
    """A member's content; its checksum is looked at where it ends."""
    pieces = _inflated(stream, most) if member.method == _DEFLATED else stream.part(member.packed)
    checksum = 0
    for piece in pieces:
        checksum = zlib.crc32(piece, checksum)
        yield piece
    expected = member.checksum
    if member.flags & _SIZES_FOLLOW:
        expected = _descriptor(stream)
    if checksum != expected:
        raise _damaged(f"{member.name!r} with another checksum than it should have")


def _inflated(stream: Stream, most: int) -> Iterator[bytes]:
    inflating = zlib.decompressobj(-zlib.MAX_WBITS)
    while not inflating.eof:
        if piece := inflating.decompress(inflating.unconsumed_tail or stream.some(), most):
            yield piece
    stream.give_back(inflating.unused_data)


def _descriptor(stream: Stream) -> int:
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


_BLOCK = 512
_TAR_MAGIC = slice(257, 262)
_TAR_FILES = (b"0", b"\0", b"7")
_GNU_NAME, _EXTENDED = b"L", b"x"
_LONGEST_NAME = 1 << 16
_PATH = re.compile(rb"\d{1,6} path=([^\n]*)\n")


def is_tar(head: bytes) -> bool:
    """Whether a file that begins like this is a .tar."""
    return len(head) >= _BLOCK and head[_TAR_MAGIC] == b"ustar"


def tarred_files(pieces: Iterator[bytes]) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Name and content of each file of a .tar; what of a content is left unread is passed over.

    Folders, links and devices do not count.

    Raises:
        InputError: while it is read, without the name of the .tar: damage.
        EOFError: it is cut off.
    """
    stream = Stream(pieces)
    longer = b""
    while any(header := stream.take(_BLOCK)):
        if header[_TAR_MAGIC] != b"ustar":
            raise InputError("", 0, "a whole tar archive", "no header behind a file")
        size, kind = _number(header[124:136]), header[156:157]
        if kind in (_GNU_NAME, _EXTENDED):
            if size > _LONGEST_NAME:
                most = f"a name of at most {_LONGEST_NAME} bytes in a tar archive"
                raise InputError("", 0, most, f"{size} bytes")
            text = stream.take(size)
            path = _PATH.search(text)
            longer = text.rstrip(b"\0") if kind == _GNU_NAME else path[1] if path else longer
            stream.take(-size % _BLOCK)
            continue
        prefix, name = (header[place].split(b"\0")[0] for place in (slice(345, 500), slice(0, 100)))
        name = longer or (prefix + b"/" + name if prefix and header[262:263] != b" " else name)
        longer = b""
        content = stream.part(size)
        if kind in _TAR_FILES and not name.endswith(b"/"):
            yield name.decode("utf-8", "backslashreplace"), content
        for _ in content:
            pass
        stream.take(-size % _BLOCK)


def _number(field: bytes) -> int:
    """A size: octal digits, or of large files a number of 64 bits behind a mark."""
    if field[0] == 0x80:
        return int.from_bytes(field[4:], "big")
    digits = field.strip(b" \0")
    if not re.fullmatch(rb"[0-7]{0,11}", digits):
        raise InputError("", 0, "a whole tar archive", f"the size {digits[:20]!r} of a file")
    return int(digits or b"0", 8)
