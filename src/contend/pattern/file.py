"""A user's own pattern: rounds from a CSV file, or a matrix of bytes from an .npy file."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.errors import InputError, UsageError

_COLUMNS = ("round", "source", "target", "bytes")
_LARGEST_MATRIX = 20_000


def read_pattern_file(path: str, ranks: int) -> _core.Pattern:
    """Reads rounds of messages between ranks.

    A ``.csv`` file has a heading that names its columns: ``source`` and ``target`` (ranks from 0),
    and optionally ``round`` (from 0, in any order; without it all messages are one round) and
    ``bytes`` (how much a message counts in the averages; messages of 0 bytes are left out). A
    ``.npy`` file holds a square matrix [source, target] of bytes: one round.

    Raises:
        InputError: naming the line, when something else stands there.
    """
    columns = _from_matrix(path) if path.endswith(".npy") else _from_csv(path)
    rounds, source, target, weight = columns
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
    return _core.make_rounds(
        ranks,
        begin.astype(np.uint64),
        source[order].astype(np.uint32),
        target[order].astype(np.uint32),
        np.zeros(0, dtype=np.uint64) if alike else weight[order].astype(np.uint64),
    )


def _from_matrix(path: str) -> tuple[NDArray[np.int64], ...]:
    try:
        matrix = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise InputError(path, 0, "a numpy array file", str(error)) from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.dtype.kind not in "iuf":
        got = f"{matrix.dtype} of shape {matrix.shape}"
        raise InputError(path, 0, "a square matrix of numbers [source, target]", got)
    if matrix.shape[0] > _LARGEST_MATRIX:
        raise InputError(path, 0, f"at most {_LARGEST_MATRIX} ranks", str(matrix.shape[0]))
    if not np.isfinite(matrix).all() or (matrix < 0).any() or (matrix >= 2**53).any():
        raise InputError(path, 0, "bytes between 0 and 2^53", "something else")
    source, target = np.nonzero(matrix)
    # Fractions of a byte come from averages; what is sent counts as one byte at least.
    weight = np.maximum(matrix[source, target], 1).astype(np.int64)
    return np.zeros(len(source), dtype=np.int64), source, target, weight


def _from_csv(path: str) -> tuple[NDArray[np.int64], ...]:
    rows: list[tuple[int, int, int, int]] = []
    with Path(path).open(newline="", encoding="utf-8", errors="replace") as file:
        reader = csv.reader(file)
        heading = [name.strip().lower() for name in next(reader, [])]
        if not {"source", "target"} <= set(heading) or not set(heading) <= set(_COLUMNS):
            got = ",".join(heading)[:80] or "an empty file"
            raise InputError(path, 1, "a heading of source,target[,round][,bytes]", got)
        if len(set(heading)) < len(heading):
            raise InputError(path, 1, "each column once", ",".join(heading))
        places = [heading.index(name) if name in heading else -1 for name in _COLUMNS]
        for cells in reader:
            if not cells or (len(cells) == 1 and not cells[0].strip()):
                continue
            if len(cells) != len(heading):
                raise InputError(path, reader.line_num, f"{len(heading)} cells", str(len(cells)))
            values = [_number(path, reader.line_num, cells[at]) if at >= 0 else 0 for at in places]
            if places[3] < 0:
                values[3] = 1
            rows.append((values[0], values[1], values[2], values[3]))
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    return tuple(table[:, column] for column in range(4))


def _number(path: str, line: int, text: str) -> int:
    if not (text.strip().isascii() and text.strip().isdigit()) or len(text.strip()) > 15:
        raise InputError(path, line, "a whole number below 10^15", repr(text[:40]))
    return int(text)
