"""Files of messages between ranks: rounds from a ``.csv``, or a matrix of bytes from a ``.npy``."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import InputError, UsageError
from contend.base.files import read_bounded
from contend.traffic.pattern.pattern import Messages, from_columns, messages_of_matrix

_COLUMNS = ("round", "source", "target", "bytes")
# Without such a column all messages are of one round, and weigh alike.
_ABSENT = (0, 0, 0, 1)
_LARGEST_MATRIX = 20_000
_LARGEST_FILE = 1 << 28
_MATRIX = "a numpy array file of a square matrix of numbers"


class _Reader(Protocol):
    """What csv.reader makes."""

    @property
    def line_num(self) -> int: ...
    def __iter__(self) -> Iterator[list[str]]: ...
    def __next__(self) -> list[str]: ...


def read_pattern_file(path: str, ranks: int) -> _core.Pattern:
    """Reads rounds of messages between ranks.

    A ``.csv`` file has a heading that names its columns: ``source`` and ``target`` (ranks from 0),
    and optionally ``round`` (from 0, in any order; without it all messages are one round) and
    ``bytes`` (how much a message counts in the averages; messages of 0 bytes are left out). A
    ``.npy`` file holds a square matrix [source, target] of bytes: one round.

    Raises:
        InputError: something else stands in the file; the error names the line.
    """
    rounds, source, target, size = read_messages(path)
    highest = int(max(source.max(), target.max()))
    if highest >= ranks:
        raise UsageError(
            f"ranks below {ranks}, the number of ranks, got rank {highest}: it needs more ranks "
            "or hosts"
        )
    order = np.argsort(rounds, kind="stable")
    begin = np.concatenate(([0], np.cumsum(np.unique(rounds, return_counts=True)[1])))
    return from_columns(ranks, begin, source[order], target[order], size[order])


def read_messages(path: str) -> tuple[NDArray[np.integer], ...]:
    """Round, source, target and bytes of every message in a file, as `read_pattern_file` reads it.

    Messages of 0 bytes are left out.

    Raises:
        InputError: as of `read_pattern_file`.
    """
    if path.endswith(".npy"):
        source, target, size = _from_matrix(path)
        rounds: NDArray[np.integer] = np.zeros(len(source), dtype=np.int64)
    else:
        rounds, source, target, size = _from_csv(path)
    sent = size > 0
    rounds, source, target, size = (column[sent] for column in (rounds, source, target, size))
    if len(source) == 0:
        raise InputError(path, 0, "at least one message", "none")
    return rounds, source, target, size


def open_matrix(path: str) -> NDArray[Any]:
    """The square matrix of a ``.npy`` file, mapped and not read.

    Raises:
        InputError: the file holds anything else.
    """
    try:
        # What np.load maps a file with, without its ways to archives and pickles.
        matrix = np.lib.format.open_memmap(path, mode="r")
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except Exception as error:
        reason = "something else" if isinstance(error, ValueError) else type(error).__name__
        raise InputError(path, 0, _MATRIX, reason) from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) == 0:
        raise InputError(path, 0, "a square matrix [source, target]", f"shape {matrix.shape}")
    if len(matrix) > _LARGEST_MATRIX:
        raise InputError(path, 0, f"at most {_LARGEST_MATRIX} ranks", str(len(matrix)))
    return matrix


def _from_matrix(path: str) -> Messages:
    matrix = open_matrix(path)
    try:
        return messages_of_matrix(matrix)
    except UsageError as error:
        expected, _, got = str(error).removeprefix("expected ").rpartition(", got ")
        raise InputError(path, 0, expected, got) from None


def _from_csv(path: str) -> tuple[NDArray[np.int64], ...]:
    # Spreadsheets put a mark at the start of UTF-8.
    content = io.BytesIO(read_bounded(path, _LARGEST_FILE))
    text = io.TextIOWrapper(content, newline="", encoding="utf-8-sig", errors="replace")
    reader = csv.reader(text)
    try:
        # Row by row: as numbers they take little more than in the file.
        four: Any = np.dtype((np.int64, 4))
        table = np.fromiter(_rows(path, reader), dtype=four)
    except csv.Error as error:
        raise InputError(path, reader.line_num, "cells of numbers", str(error)) from None
    return tuple(table[:, column] for column in range(4))


def _rows(path: str, reader: _Reader) -> Iterator[tuple[int, int, int, int]]:
    """Round, source, target and bytes of every line below the heading."""
    heading = [name.strip().lower() for name in next(reader, [])]
    if not {"source", "target"} <= set(heading) or not set(heading) <= set(_COLUMNS):
        got = repr(",".join(heading)[:80]) if heading else "an empty line"
        raise InputError(path, 1, "a heading of source,target[,round][,bytes]", got)
    if len(set(heading)) < len(heading):
        raise InputError(path, 1, "each column once", ",".join(heading))
    columns = [heading.index(name) if name in heading else -1 for name in _COLUMNS]
    for cells in reader:
        line = reader.line_num
        if not cells or (len(cells) == 1 and not cells[0].strip()):
            continue
        if len(cells) != len(heading):
            raise InputError(path, line, f"{len(heading)} cells", str(len(cells)))
        values = [
            _number(path, line, cells[column]) if column >= 0 else absent
            for column, absent in zip(columns, _ABSENT, strict=True)
        ]
        yield values[0], values[1], values[2], values[3]


def _number(path: str, line: int, text: str) -> int:
    # Blanks alone: to Python a record separator is white space, but not to int().
    digits = text.strip(" \t")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 15:
        raise InputError(path, line, "a whole number below 10^15", repr(text[:40]))
    return int(digits)
