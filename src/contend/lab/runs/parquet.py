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
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from contend.base.errors import InputError
from contend.base.files import whole_file

_MAGIC = b"PAR1"
_TAIL = 8
# Tables that contend writes need 5 to 10 times their size; times compress badly.
_MOST_GROWTH = 64
_ALWAYS_ALLOWED = 1 << 26
_BYTES_OF_A_VALUE = 16
_DEEPEST = 32
# What the footer is held in takes up to 72 times its size.
_LARGEST_FOOTER = 1 << 24
# Thrift's compact types.
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_NUMBERS = (4, 5, 6)
# Fields of the structs of Parquet's format, by their names there: of FileMetaData, of a row group,
# of a column chunk and its metadata, of a page's header and those of its data.
_ROW_GROUPS = 4
_COLUMNS, _NUM_ROWS = 1, 3
_META_DATA = 3
_VALUES, _COMPRESSED, _FIRST_PAGE, _DICTIONARY = 5, 7, 9, 11
_UNCOMPRESSED_SIZE, _COMPRESSED_SIZE, _DATA_PAGES, _NUM_VALUES = 2, 3, (5, 8), 1


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
        if size - footer > _LARGEST_FOOTER:
            raise _DamagedError(f"a footer of more than {_LARGEST_FOOTER:,} bytes")
        needed = 0
        for group in _structs(_Reader(data, footer, size - _TAIL).struct(), _ROW_GROUPS):
            rows, columns = _whole(group, _NUM_ROWS, 0), _structs(group, _COLUMNS)
            if rows < 0:
                raise _DamagedError(f"{rows} rows")
            needed += _BYTES_OF_A_VALUE * rows * len(columns)
            for column in columns:
                needed += _unpacked(data, _struct(column, _META_DATA), rows, footer)
            if needed > room:
                raise _DamagedError(f"{size:,} bytes that would become more than {room:,}")


def _unpacked(data: mmap.mmap, chunk: _Struct, rows: int, footer: int) -> int:
    """Bytes of a chunk's pages when they are no longer compressed; walks their headers."""
    first, dictionary = _whole(chunk, _FIRST_PAGE), _whole(chunk, _DICTIONARY)
    at = dictionary if 0 <= dictionary < first else first
    end = at + _whole(chunk, _COMPRESSED, 0)
    if not 4 <= at <= end <= footer or _whole(chunk, _VALUES, 0) != rows:
        raise _DamagedError("columns that lie outside or have other numbers of rows")
    unpacked = values = 0
    while at < end:
        page = (reader := _Reader(data, at, end)).struct()
        whole, packed = _whole(page, _UNCOMPRESSED_SIZE), _whole(page, _COMPRESSED_SIZE)
        count = sum(_whole(_struct(page, kind), _NUM_VALUES, 0) for kind in _DATA_PAGES)
        at = reader.at + packed
        if min(whole, packed, count) < 0 or at > end:
            raise _DamagedError("pages that lie outside their columns")
        unpacked += whole
        values += count
    if values != rows:
        raise _DamagedError("pages with other numbers of rows")
    return unpacked


_Struct = dict[int, Any]
"""Values by the numbers of their fields."""


def _whole(struct: _Struct, field: int, default: int = -1) -> int:
    value = struct.get(field)
    return value if type(value) is int else default


def _struct(struct: _Struct, field: int) -> _Struct:
    value = struct.get(field)
    return value if isinstance(value, dict) else {}


def _structs(struct: _Struct, field: int) -> list[_Struct]:
    values = struct.get(field, [])
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise _DamagedError("a list of another type")
    return values


class _Reader:
    """Thrift's compact protocol; values of which nothing is needed are None."""

    def __init__(self, data: mmap.mmap, at: int, end: int) -> None:
        self._data = data
        self._end = end
        self.at = at

    def struct(self, depth: int = 0) -> _Struct:
        """The struct that begins here."""
        if depth > _DEEPEST:
            raise _DamagedError("nesting too deep")
        fields: _Struct = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._number()
            fields[number] = self._value(head & 15, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in _NUMBERS:
            return self._number()
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_LIST, _SET):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._varint()
            return [self._element(head & 15, depth) for _ in range(count)]
        if kind == _MAP:
            count = self._varint()
            kinds = self._byte() if count else 0
            for _ in range(count):
                self._element(kinds >> 4, depth)
                self._element(kinds & 15, depth)
        elif kind == _BINARY:
            self._pass(self._varint())
        elif kind in (_BYTE, _DOUBLE):
            self._pass(1 if kind == _BYTE else 8)
        elif kind not in (_TRUE, _FALSE):
            raise _DamagedError(f"a value of type {kind}")
        return None

    def _element(self, kind: int, depth: int) -> Any:
        if depth > _DEEPEST:
            raise _DamagedError("nesting too deep")
        # Outside of fields a truth value takes a byte.
        return self._value(_BYTE if kind in (_TRUE, _FALSE) else kind, depth + 1)

    def _pass(self, count: int) -> None:
        self.at += count
        if self.at > self._end:
            raise _DamagedError("metadata that end too early")

    def _byte(self) -> int:
        self._pass(1)
        return self._data[self.at - 1]

    def _number(self) -> int:
        coded = self._varint()
        return (coded >> 1) ^ -(coded & 1)

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
