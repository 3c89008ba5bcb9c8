"""A user's own pattern: rounds from a CSV file, or a matrix of bytes from an .npy file."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.errors import InputError, UsageError
from contend.pattern.matrix import read_matrix

_COLUMNS = ("round", "source", "target", "bytes")
# Without such a column all messages are of one round, and weigh alike.
_ABSENT = (0, 0, 0, 1)
# Leaves room for 2^23 samples; what it rounds away is below one part in 2^40 a message.
_LARGEST_TOTAL = 2**40


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
        InputError: naming the line, when something else stands there.
    """
    if path.endswith(".npy"):
        source, target, weight = read_matrix(path)
        rounds = np.zeros(len(source), dtype=np.int64)
    else:
        rounds, source, target, weight = _from_csv(path)
    sent = weight > 0
    rounds, source, target, weight = (column[sent] for column in (rounds, source, target, weight))
    if len(source) == 0:
        raise InputError(path, 0, "at least one message", "none")
    highest = int(max(source.max(), target.max()))
    if highest >= ranks:
        raise UsageError(f"ranks below {ranks} (give --ranks or more hosts), got rank {highest}")
    order = np.argsort(rounds, kind="stable")
    begin = np.concatenate(([0], np.cumsum(np.unique(rounds, return_counts=True)[1])))
    alike = bool((weight == weight[0]).all())
    weight = _bounded(weight)
    return _core.make_rounds(
        ranks,
        begin.astype(np.uint64),
        source[order].astype(np.uint32),
        target[order].astype(np.uint32),
        np.zeros(0, dtype=np.uint64) if alike else weight[order].astype(np.uint64),
    )


def _bounded(weight: NDArray[np.int64]) -> NDArray[np.int64]:
    """Scales weights whose sum over messages and samples might not fit 64 bits."""
    total = float(weight.sum(dtype=np.float64))
    if total <= _LARGEST_TOTAL:
        return weight
    scaled: NDArray[np.float64] = np.rint(weight * (_LARGEST_TOTAL / total))
    return np.maximum(scaled, 1).astype(np.int64)


def _from_csv(path: str) -> tuple[NDArray[np.int64], ...]:
    # Spreadsheets put a mark at the start of UTF-8.
    with Path(path).open(newline="", encoding="utf-8-sig", errors="replace") as file:
        reader = csv.reader(file)
        try:
            rows = list(_rows(path, reader))
        except csv.Error as error:
            raise InputError(path, reader.line_num, "cells of numbers", str(error)) from None
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    return tuple(table[:, column] for column in range(4))


def _rows(path: str, reader: _Reader) -> Iterator[tuple[int, int, int, int]]:
    """Round, source, target and bytes of every line below the heading."""
    heading = [name.strip().lower() for name in next(reader, [])]
    if not {"source", "target"} <= set(heading) or not set(heading) <= set(_COLUMNS):
        got = repr(",".join(heading)[:80]) if heading else "an empty line"
        raise InputError(path, 1, "a heading of source,target[,round][,bytes]", got)
    if len(set(heading)) < len(heading):
        raise InputError(path, 1, "each column once", ",".join(heading))
    places = [heading.index(name) if name in heading else -1 for name in _COLUMNS]
    for cells in reader:
        line = reader.line_num
        if not cells or (len(cells) == 1 and not cells[0].strip()):
            continue
        if len(cells) != len(heading):
            raise InputError(path, line, f"{len(heading)} cells", str(len(cells)))
        values = [
            _number(path, line, cells[at]) if at >= 0 else absent
            for at, absent in zip(places, _ABSENT, strict=True)
        ]
        yield values[0], values[1], values[2], values[3]


def _number(path: str, line: int, text: str) -> int:
    if not (text.strip().isascii() and text.strip().isdigit()) or len(text.strip()) > 15:
        raise InputError(path, line, "a whole number below 10^15", repr(text[:40]))
    return int(text)
