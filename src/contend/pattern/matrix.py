"""Matrices of bytes in numpy's .npy files, read without trusting their heading."""

from __future__ import annotations

import re
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from contend.errors import InputError

_LARGEST_MATRIX = 20_000
_MAGIC = b"\x93NUMPY"
_KIND = re.compile(rb"'descr'\s*:\s*'([<>|=]?(?:[iu][1248]|f(?:2|4|8|16)))'")
_ORDER = re.compile(rb"'fortran_order'\s*:\s*(True|False)")
_SHAPE = re.compile(rb"'shape'\s*:\s*\(\s*(\d{1,9})\s*,\s*(\d{1,9})\s*,?\s*\)")
_LONGEST_HEADING = 1 << 16


def read_matrix(path: str) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.int64]]:
    """The entries of a square matrix [source, target] of bytes that are not 0.

    Returns:
        Sources, targets and bytes, each of shape [messages]. Fractions of a byte, which averages
        have, are cut off, but what is sent counts as one byte at least.

    Raises:
        InputError: for any other file.
    """
    # numpy's own reader lets a heading raise whatever it likes.
    matrix = _map(path)
    source, target = np.nonzero(matrix)
    with np.errstate(over="ignore"):
        values = matrix[source, target].astype(np.float64)
    if not ((values > 0) & (values < 2**53)).all():
        raise InputError(path, 0, "bytes between 0 and 2^53", "something else")
    return source, target, np.maximum(values, 1).astype(np.int64)


def _map(path: str) -> NDArray[Any]:
    with Path(path).open("rb") as file:
        heading = _heading(file)
        start = file.tell()
    kind, order, shape = (find.search(heading) for find in (_KIND, _ORDER, _SHAPE))
    if kind is None or order is None or shape is None:
        expected = "a numpy array file of a matrix of numbers"
        raise InputError(path, 0, expected, repr(heading[:80])[1:] or "something else")
    rows, columns = int(shape[1]), int(shape[2])
    if rows != columns or rows == 0:
        expected = "a square matrix [source, target]"
        raise InputError(path, 0, expected, f"{rows} rows of {columns}")
    if rows > _LARGEST_MATRIX:
        raise InputError(path, 0, f"at most {_LARGEST_MATRIX} ranks", str(rows))
    numbers = np.dtype(kind[1].decode())
    held = Path(path).stat().st_size - start
    if held < prod((rows, columns, numbers.itemsize)):
        expected = f"{rows * columns * numbers.itemsize} bytes of numbers"
        raise InputError(path, 0, expected, str(held))
    matrix: NDArray[Any] = np.memmap(path, numbers, "r", offset=start, shape=(rows, columns))
    # Stored column by column, the file holds the rows of the transposed matrix.
    return matrix.T if order[1] == b"True" else matrix


def _heading(file: BinaryIO) -> bytes:
    """The text that describes the array, b"" in other files; the file then stands behind it."""
    start = file.read(8)
    if len(start) < 8 or not start.startswith(_MAGIC):
        return b""
    length = int.from_bytes(file.read(2 if start[6] == 1 else 4), "little")
    return file.read(length) if length <= _LONGEST_HEADING else b""
