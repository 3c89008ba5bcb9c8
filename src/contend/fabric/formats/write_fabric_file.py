"""Writes contend's .fabric files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import zstandard

from contend.errors import UsageError
from contend.fabric.fabric import Fabric
from contend.fabric.read.fabric_file import (
    COUNTS,
    HEADER,
    LAYOUTS,
    LIMITS,
    MAGIC,
    TABLE_ENTRIES,
    TEXT_BYTES,
    VERSION,
)

_LEVEL = 9


def write(fabric: Fabric) -> Iterator[bytes]:
    """The content of a .fabric file: everything the fabric holds, its routes included.

    Raises:
        UsageError: the fabric is larger than a file may be.
    """
    compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compressobj()
    for piece in _container(fabric):
        if out := compressor.compress(piece):
            yield out
    yield compressor.flush()


def _container(fabric: Fabric) -> Iterator[bytes]:
    """The file before compression."""
    tables = fabric.routes
    counts = {
        "hosts": fabric.hosts,
        "switches": fabric.switches,
        "cables": fabric.cables,
        "rates": len(fabric.rates),
        "findings": len(fabric.findings),
        "addresses": tables.addresses if tables is not None else 0,
    }
    for name, count in counts.items():
        if count > LIMITS[name]:
            raise UsageError(f"a .fabric file holds at most {LIMITS[name]} {name}, not {count}")
    if counts["switches"] * counts["addresses"] > TABLE_ENTRIES:
        raise UsageError(f"a .fabric file holds at most {TABLE_ENTRIES} table entries")
    yield MAGIC + b"%d\n" % VERSION
    yield HEADER.pack(*(counts[name] for name in COUNTS))
    columns, texts = LAYOUTS[VERSION]
    values: dict[str, Any] = {
        "finding_wrong": np.array([finding.wrong for finding in fabric.findings], dtype=np.uint8),
        "finding_kind": tuple(finding.kind for finding in fabric.findings),
        "finding_message": tuple(finding.message for finding in fabric.findings),
        "name": (fabric.name,),
        "engine": (tables.engine if tables is not None else "",),
    }
    for column in columns:
        numbers = values[column.name] if column.name in values else getattr(fabric, column.name)
        yield np.ascontiguousarray(numbers, dtype=column.type).tobytes()
    for text in texts:
        strings = values[text.name] if text.name in values else getattr(fabric, text.name)
        yield from _texts(text.name, strings)
    if tables is not None:
        for row in tables.ports:
            yield row.astype("<u2", copy=False).tobytes()


def _texts(name: str, texts: tuple[str, ...]) -> Iterator[bytes]:
    # Names read from damaged files may hold lone surrogates: they come back as they are.
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    lengths = np.array([len(text) for text in encoded], dtype=np.uint64)
    if lengths.sum() > TEXT_BYTES:
        raise UsageError(f"a .fabric file holds at most {TEXT_BYTES} bytes of {name}")
    yield lengths.astype("<u4").tobytes()
    yield b"".join(encoded)
