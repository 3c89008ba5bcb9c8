"""Reads and writes Parquet files; one that somebody else wrote is judged before it is decoded.

A few hundred kilobytes of Parquet can claim any number of rows, and what is damaged makes polars'
decoder panic. So the footer and the headers of all pages are read here first (Thrift's compact
protocol, as the Parquet format specifies it): what decoding will need is known before memory is
asked for. Files are opened here, and polars is never given a path: it would take some for patterns,
for home folders or for addresses.
"""

from __future__ import annotations

import errno
import mmap
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import polars as pl

from contend.errors import InputError
from contend.files import whole_file

_MAGIC = b"PAR1"
_TAIL = 8
# Tables that contend writes need 5 to 10 times their size; times compress badly.
_MOST_GROWTH = 64
_ALWAYS_ALLOWED = 1 << 26
_BYTES_OF_A_VALUE = 16
_DEEPEST = 32
# Thrift's compact types.
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_NUMBERS = (4, 5, 6)


class _DamagedError(ValueError):
    """The metadata are impossible; the text says why."""


def write_table(path: Path, table: pl.DataFrame) -> None:
    """Writes a table whole or not at all.

    Raises:
        OSError: the disk is full.
    """
    try:
        with whole_file(path) as file:
            table.write_parquet(file, compression="zstd")
    except pl.exceptions.PolarsError as error:
        # Faults of the file system are hidden in errors of its own.
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path)) from error


def read_table(
    path: Path,
    schema: Mapping[str, pl.DataType],
    *,
    what: str = "a table of samples",
    room: int = _ALWAYS_ALLOWED,
) -> pl.DataFrame:
    """Reads a table whose columns are known.

    Args:
        path: of the file; every character of it stands for itself.
        schema: columns that must be there; all others must be 64-bit floats.
        what: the table is, for errors.
        room: bytes that it may become however small the file is.

    Raises:
        InputError: it is damaged, or has other columns, or would need memory out of proportion.
    """
    if not path.is_file():
        raise InputError(str(path), 0, what, "no file")
    try:
        with path.open("rb") as file:
            _check_sizes(file, room)
            file.seek(0)
            with _panics_unprinted():
                _check_schema(path, pl.read_parquet_schema(file), schema)
                file.seek(0)
                table = pl.read_parquet(file)
    except _DamagedError as error:
        raise InputError(str(path), 0, what, str(error)) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = (str(error).splitlines() or ["damaged"])[0]
        raise InputError(str(path), 0, what, reason[:200]) from None
    _check_schema(path, table.schema, schema)
    return table


def _check_schema(
    path: Path, columns: Mapping[str, pl.DataType], schema: Mapping[str, pl.DataType]
) -> None:
    for name, kind in {**dict.fromkeys(columns, pl.Float64()), **schema}.items():
        got = columns.get(name)
        if got != kind:
            raise InputError(str(path), 0, f"column {name[:50]} of {kind}", str(got or "none")[:50])


@contextmanager
def _panics_unprinted() -> Iterator[None]:
    """Keeps what polars prints of its panics off the terminal; all else is printed afterwards."""
    try:
        kept = os.dup(2)
    except OSError:
        yield
        return
    panicked = False
    with os.fdopen(os.memfd_create("standard-error"), "w+b", buffering=0) as printed:
        os.dup2(printed.fileno(), 2)
        try:
            yield
        except pl.exceptions.PanicException:
            panicked = True
            raise
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            printed.seek(0)
            text = b"" if panicked else printed.read()
            if text:
                os.write(2, text)


@dataclass
class _Chunk:
    """A column's part of a group of rows, as the footer describes it."""

    values: int = 0
    bytes: int = 0
    first_page: int = -1
    dictionary: int = -1

    @property
    def start(self) -> int:
        """Where its first page begins in the file."""
        return self.dictionary if 0 <= self.dictionary < self.first_page else self.first_page


def _check_sizes(file: BinaryIO, always: int) -> None:
    """Refuses a file whose decoding would need memory out of proportion to its size.

    Raises:
        _DamagedError: for this, and where the metadata contradict themselves.
    """
    size = os.fstat(file.fileno()).st_size
    if size < 2 * _TAIL:
        raise _DamagedError(f"{size} bytes")
    room = always + _MOST_GROWTH * size
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data[:4] != _MAGIC or data[-4:] != _MAGIC:
            raise _DamagedError("another kind of file")
        footer = size - _TAIL - int.from_bytes(data[-_TAIL:-4], "little")
        if footer < 4:
            raise _DamagedError("a footer longer than the file")
        needed = 0
        for rows, chunks in _row_groups(_Reader(data, footer, size - _TAIL)):
            needed += _BYTES_OF_A_VALUE * rows * len(chunks)
            for chunk in chunks:
                needed += _unpacked(data, chunk, rows, footer)
            if needed > room:
                raise _DamagedError(f"{size:,} bytes that would become more than {room:,}")


def _row_groups(reader: _Reader) -> Iterator[tuple[int, list[_Chunk]]]:
    """Rows and columns of every group; FileMetaData.row_groups is field 4."""
    for field, kind in reader.fields():
        if (field, kind) != (4, _LIST):
            reader.skip(kind)
            continue
        for _ in reader.elements(_STRUCT):
            rows, chunks = 0, []
            for inner, inner_kind in reader.fields():
                if (inner, inner_kind) == (1, _LIST):
                    chunks = [_chunk(reader) for _ in reader.elements(_STRUCT)]
                elif inner == 3 and inner_kind in _NUMBERS:
                    rows = reader.number()
                else:
                    reader.skip(inner_kind)
            if rows < 0:
                raise _DamagedError(f"{rows} rows")
            yield rows, chunks


def _chunk(reader: _Reader) -> _Chunk:
    """A ColumnChunk, whose field 3 is its ColumnMetaData."""
    chunk = _Chunk()
    names = {5: "values", 7: "bytes", 9: "first_page", 11: "dictionary"}
    for field, kind in reader.fields():
        if (field, kind) != (3, _STRUCT):
            reader.skip(kind)
            continue
        for inner, inner_kind in reader.fields():
            if inner in names and inner_kind in _NUMBERS:
                setattr(chunk, names[inner], reader.number())
            else:
                reader.skip(inner_kind)
    return chunk


def _unpacked(data: mmap.mmap, chunk: _Chunk, rows: int, footer: int) -> int:
    """Bytes of a chunk's pages when they are no longer compressed; walks their headers."""
    at, end = chunk.start, chunk.start + chunk.bytes
    if not 4 <= at <= end <= footer or chunk.values != rows:
        raise _DamagedError("columns that lie outside or have other numbers of rows")
    unpacked = values = 0
    while at < end:
        page = _Page.read(reader := _Reader(data, at, end))
        at = reader.at + page.packed
        if page.packed < 0 or page.unpacked < 0 or page.values < 0 or at > end:
            raise _DamagedError("pages that lie outside their columns")
        unpacked += page.unpacked
        values += page.values
    if values != rows:
        raise _DamagedError("pages with other numbers of rows")
    return unpacked


@dataclass
class _Page:
    """Sizes in a PageHeader."""

    unpacked: int = -1
    packed: int = -1
    values: int = 0

    @classmethod
    def read(cls, reader: _Reader) -> _Page:
        """Fields 2 and 3 are its sizes; 5 and 8 its data's header, whose field 1 counts values."""
        page = cls()
        for field, kind in reader.fields():
            if field == 2 and kind in _NUMBERS:
                page.unpacked = reader.number()
            elif field == 3 and kind in _NUMBERS:
                page.packed = reader.number()
            elif field in (5, 8) and kind == _STRUCT:
                for inner, inner_kind in reader.fields():
                    if inner == 1 and inner_kind in _NUMBERS:
                        page.values = reader.number()
                    else:
                        reader.skip(inner_kind)
            else:
                reader.skip(kind)
        return page


class _Reader:
    """Thrift's compact protocol: fields one after the other, each to be read or skipped."""

    def __init__(self, data: mmap.mmap, at: int, end: int) -> None:
        self._data = data
        self._end = end
        self.at = at

    def fields(self) -> Iterator[tuple[int, int]]:
        """Number and type of every field of a struct."""
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self.number()
            yield number, head & 15

    def elements(self, kind: int) -> Iterator[int]:
        """As many numbers as a list has elements, which must be of this type."""
        head = self._byte()
        if head & 15 != kind:
            raise _DamagedError("a list of another type")
        count = head >> 4 if head >> 4 < 15 else self._varint()
        yield from range(count)

    def number(self) -> int:
        """A whole number."""
        coded = self._varint()
        return (coded >> 1) ^ -(coded & 1)

    def skip(self, kind: int, depth: int = 0) -> None:
        """Passes over a value."""
        if depth > _DEEPEST:
            raise _DamagedError("nesting too deep")
        if kind in (_TRUE, _FALSE):
            return
        if kind in _NUMBERS:
            self._varint()
        elif kind in (_BYTE, _DOUBLE):
            self._pass(1 if kind == _BYTE else 8)
        elif kind == _BINARY:
            self._pass(self._varint())
        elif kind in (_LIST, _SET):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._varint()
            for _ in range(count):
                self._skip_element(head & 15, depth)
        elif kind == _MAP:
            count = self._varint()
            kinds = self._byte() if count else 0
            for _ in range(count):
                self._skip_element(kinds >> 4, depth)
                self._skip_element(kinds & 15, depth)
        elif kind == _STRUCT:
            for _, inner in self.fields():
                self.skip(inner, depth + 1)
        else:
            raise _DamagedError(f"a value of type {kind}")

    def _skip_element(self, kind: int, depth: int) -> None:
        # Outside of fields a truth value takes a byte.
        self.skip(_BYTE if kind in (_TRUE, _FALSE) else kind, depth + 1)

    def _pass(self, count: int) -> None:
        self.at += count
        if self.at > self._end:
            raise _DamagedError("metadata that end too early")

    def _byte(self) -> int:
        self._pass(1)
        return self._data[self.at - 1]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise _DamagedError("a number of more than 64 bits")
