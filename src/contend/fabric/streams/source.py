"""Files of any size as bytes, numbered lines and elements of XML; folders and archives of them."""

from __future__ import annotations

import codecs
import os
import sys
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NoReturn
from xml.parsers import expat

from contend.base.errors import InputError, UsageError
from contend.base.units import counted
from contend.fabric.streams.compressed import PIECE, archived, decompressed

HEAD = 1 << 16
LONGEST_LINE = 1 << 16
SELF_LIMITED = b"contend fabric "
"""The beginning of files whose reader knows from their head how much they hold."""
_ALWAYS = 1 << 26
_MOST_GROWTH = 1000

_Pieces = Iterator[bytes]


def source_name(path: str) -> str:
    """What messages call the source that `path` names."""
    return "standard input" if path == "-" else path


def open_chunks(path: str) -> Iterator[bytes]:
    """The content of a file in pieces of about 1 MiB, decompressed.

    Compression (gzip, bzip2, xz, Zstandard, a .zip of one file) is recognised by the first bytes,
    not by the file's name, and several streams one after another are read as one. Never more than a
    few MiB are held, or 64 of a .zip, however well the file is compressed. UTF-16, which Windows'
    shells write, becomes UTF-8.

    Args:
        path: a file, or ``-`` for standard input.

    Raises:
        UsageError: the file is not there, is a folder or cannot be read.
        InputError: a compressed stream is damaged or ends early, or holds more than 64 MiB and
            1,000 times as much as it is large; .fabric files, which say at their beginning how much
            is in them, may hold as much as they say.
    """
    if path != "-":
        _check(Path(path))
    raw, name = _Counted(_raw(path)), source_name(path)
    # Twice: a .fabric file, which is compressed itself, may have been compressed.
    pieces = decompressed(decompressed(raw, name), name)
    return _as_utf8(_in_proportion(pieces, raw, name))


def open_archive(path: str) -> Iterator[tuple[str, _Pieces]] | None:
    """Name and content of each file of an archive, as `open_chunks`; None where it is no archive.

    Raises:
        UsageError: the file is not there or cannot be read.
        InputError: as `open_chunks`, for the archive as a whole.
    """
    _check(Path(path))
    raw = _Counted(_raw(path))
    files = archived(raw, path)
    if files is None:
        return None
    return (
        (name, _as_utf8(_in_proportion(content, raw, f"{path}/{name}"))) for name, content in files
    )


class _Counted:
    """Pieces, and how many bytes of them have been taken."""

    def __init__(self, pieces: _Pieces) -> None:
        self._pieces = pieces
        self.bytes = 0

    def __iter__(self) -> _Pieces:
        return self

    def __next__(self) -> bytes:
        piece = next(self._pieces)
        self.bytes += len(piece)
        return piece


def _in_proportion(pieces: _Pieces, raw: _Counted, source: str) -> _Pieces:
    """The same pieces, unless there is far more in a file than texts can be compressed to."""
    size = 0
    own = False
    for piece in pieces:
        own = own or (size == 0 and piece.startswith(SELF_LIMITED))
        size += len(piece)
        if size > _ALWAYS + _MOST_GROWTH * raw.bytes and not own:
            most = f"at most {_MOST_GROWTH} bytes for each of a compressed file above 64 MiB"
            raise InputError(source, 0, most, "more")
        yield piece


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


def _as_utf8(pieces: _Pieces) -> _Pieces:
    """The same text in UTF-8 where it is UTF-16, else the same bytes."""
    first = next(pieces, b"")
    while len(first) < 4 and (more := next(pieces, b"")):
        first += more
    encoding = _utf16(first)
    if first and not encoding:
        yield first
        yield from pieces
    if not encoding:
        return
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for piece in chain([first], pieces):
        yield decoder.decode(piece).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")


def _utf16(first: bytes) -> str:
    """Which UTF-16 a file is that begins with these four bytes or more, "" if none.

    Without a byte order mark two characters of ASCII tell.
    """
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    low, high = first[0:4:2], first[1:4:2]
    if len(high) == 2 and not any(high) and low.isascii() and all(low):
        return "utf-16-le"
    if len(high) == 2 and not any(low) and high.isascii() and all(high):
        return "utf-16-be"
    return ""


def _pieces(file: BinaryIO) -> _Pieces:
    while piece := file.read(PIECE):
        yield piece


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


_MOST_FILES = 1 << 16

_File = tuple[str, Iterator[bytes]]


@dataclass(frozen=True)
class Bundle:
    """What kinds of files lie in a folder or archive."""

    path: str
    """Folder or archive."""
    names: tuple[str, ...]
    """Names of all files, in its order."""
    by_kind: dict[str, list[str]]
    """Names of the files of every kind that is known."""

    def best(self, order: Iterable[str], what: str) -> str:
        """The first kind in this order that there is.

        Raises:
            InputError: there is none.
        """
        for kind in order:
            if kind in self.by_kind:
                return kind
        got = f"none in {counted(len(self.names), 'file')}"
        raise InputError(self.path, 0, f"a file with {what}", got)

    def only(self, kind: str) -> tuple[str, Iterator[bytes], str]:
        """Name and content of the one file of a kind, and a note that says which was read.

        Raises:
            InputError: there are several.
        """
        names = self.by_kind[kind]
        if len(names) > 1:
            got = f"{names[0]} and {names[1]}: give one of them"
            raise InputError(self.path, 0, f"one file of the kind {kind}", got)
        source, chunks = next(self.open(names))
        return source, chunks, f"read {names[0]} of {counted(len(self.names), 'file')}"

    def open(self, names: Container[str]) -> Iterator[_File]:
        """The content of the files of these names, each to be read before the next."""
        for name, chunks in _files(self.path) or ():
            if name in names:
                yield f"{self.path}/{name}", chunks
            for _ in () if os.path.isdir(self.path) else chunks:
                pass


def survey(path: str, kind_of: Callable[[bytes], str | None]) -> Bundle | None:
    """What files a folder or archive holds; None where `path` is one file, or an archive of one.

    Args:
        path: a folder or file; standard input is one file.
        kind_of: the kind of a file that begins like this, None: of none that is known.

    Raises:
        UsageError: the path cannot be read.
        InputError: a damaged archive, one with more than 65,536 files, or one that holds far more
            than its size lets expect.
    """
    # A pipe can be read once only, so it is one file.
    files = _files(path) if os.path.isdir(path) or os.path.isfile(path) else None
    if files is None:
        return None
    names: list[str] = []
    by_kind: dict[str, list[str]] = defaultdict(list)
    is_folder = os.path.isdir(path)
    for name, chunks in files:
        if len(names) == _MOST_FILES:
            raise InputError(path, 0, f"at most {_MOST_FILES} files", "more")
        names.append(name)
        kind = _kind(chunks, kind_of, is_folder)
        if kind is not None:
            by_kind[kind].append(name)
    if len(names) == 1 and not is_folder:
        return None
    return Bundle(path, tuple(names), dict(by_kind))


def _kind(
    chunks: Iterator[bytes], kind_of: Callable[[bytes], str | None], is_folder: bool
) -> str | None:
    """The kind of a file, whose rest is passed over."""
    try:
        head, rest = peek(chunks)
    except (InputError, UsageError):
        if is_folder:
            return None
        raise
    for _ in () if is_folder else rest:
        pass
    return kind_of(head)


def _files(path: str) -> Iterator[_File] | None:
    if not os.path.isdir(path):
        return open_archive(path)
    names = sorted(entry.name for entry in os.scandir(path) if entry.is_file())
    return ((name, open_chunks(os.path.join(path, name))) for name in names)


class XmlReader(ABC):
    """Reads XML without a document type, in which nothing expands.

    Args:
        source: what errors call the text.
        what: what the text should be, in the plural or with an article.
        separator: stands between the namespace of a name and the name; None leaves prefixes.
    """

    def __init__(self, source: str, what: str, separator: str | None = None) -> None:
        self._source, self._what = source, what
        self._parser = expat.ParserCreate("utf-8", separator)
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = self._document_type

    def read(self, piece: bytes, *, last: bool = True) -> None:
        """Reads all of it, or one piece after the other.

        Raises:
            InputError: it is not well-formed, has a document type, or `_start` refuses an element.
        """
        try:
            self._parser.Parse(piece, last)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise InputError(self._source, error.lineno, "well-formed XML", reason) from None

    @abstractmethod
    def _start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""

    @abstractmethod
    def _end(self, name: str) -> None:
        """It ends."""

    @property
    def _line(self) -> int:
        return self._parser.CurrentLineNumber

    def _fail(self, expected: str, got: str, line: int = 0) -> NoReturn:
        raise InputError(self._source, line or self._line, expected, got)

    def _document_type(self, *_: object) -> None:
        self._fail(f"{self._what} without a document type", "<!DOCTYPE")
