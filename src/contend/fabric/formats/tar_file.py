"""Reads the files of a .tar one after another, as a stream: POSIX' and GNU's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from contend.errors import InputError
from contend.fabric.formats.zip_file import Stream

_BLOCK = 512
_MAGIC = slice(257, 262)
_FILES = (b"0", b"\0", b"7")
_GNU_NAME, _EXTENDED = b"L", b"x"
_LONGEST_NAME = 1 << 16
_PATH = re.compile(rb"\d{1,6} path=([^\n]*)\n")


def is_tar(head: bytes) -> bool:
    """Whether a file that begins like this is a .tar."""
    return len(head) >= _BLOCK and head[_MAGIC] == b"ustar"


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
        if header[_MAGIC] != b"ustar":
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
        if kind in _FILES and not name.endswith(b"/"):
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
