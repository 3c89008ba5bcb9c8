"""Writes a fabric to a file of any kind that contend writes."""

from __future__ import annotations

import gzip
import lzma
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import zstandard

from contend.base.errors import Argument, UsageError
from contend.base.files import whole_file
from contend.base.units import counted, nearest
from contend.fabric import WRITERS, Fabric, Writer, not_read_by_ibsim
from contend.routes.addresses import others_of
from contend.routes.dumps.readers import write as write_dump
from contend.routes.dumps.readers import write_far
from contend.routes.routes import without_tables

_WRITERS: dict[str, Writer] = {**WRITERS, "lfts": write_dump, "far": write_far}
ENDINGS = {
    ".fabric": "fabric",
    ".ibnetdiscover": "ibnetdiscover",
    ".ibsim": "ibsim",
    ".net": "ibsim",
    ".lfts": "lfts",
    ".dump": "lfts",
    ".far": "far",
    ".dot": "orcs",
    ".graphml": "graphml",
    ".conf": "slurm",
    ".yaml": "slurm-yaml",
}
"""How names of files end that are of a kind."""
_COMPRESSIONS = (".gz", ".xz", ".zst")
# Surrogates that stand for no byte.
_NO_CHARACTER = re.compile("[\ud800-\udc7f\udd00-\udfff]")

KINDS = tuple(_WRITERS)
HOLD_ROUTES = frozenset({"fabric", "lfts", "far", "orcs"})
"""Kinds that hold tables."""
NEED_ROUTES = frozenset({"lfts", "far", "orcs"})
"""Kinds that are nothing without routes."""
# Those whose entries may name groups of ports.
_HOLD_GROUPS = frozenset({"far"})


def save(fabric: Fabric, path: str | Path, kind: str | None = None) -> None:
    """Writes a fabric whole or not at all.

    Args:
        fabric: what to write; kinds that carry routes need them.
        path: where to; ``.gz``, ``.xz`` and ``.zst`` at its end compress.
        kind: one of `KINDS`; None takes the one that the name's suffix stands for.

    Raises:
        UsageError: no such kind, or one that cannot hold this fabric.
    """
    path = Path(path)
    pieces = content(fabric, kind or kind_of(path))
    with whole_file(path) as file, _compressing(file, path) as out:
        _write(pieces, out)


def lost(fabric: Fabric, kind: str) -> tuple[str, ...]:
    """What is known of a fabric and cannot be read back from this kind of file, in sentences."""
    if kind == "ibsim":
        return not_read_by_ibsim(fabric)
    others = len(others_of(fabric))
    if kind == "orcs" and others:
        return (
            f"an ORCS graph holds routes to hosts alone, not to {counted(others, 'other LID')}",
        )
    return ()


def save_to(fabric: Fabric, out: BinaryIO, kind: str) -> None:
    """Writes a fabric to an open stream, such as standard output; see `save`."""
    _write(content(fabric, kind), out)


def kind_of(path: Path) -> str:
    """The kind that a file's name stands for, compressed or not.

    Raises:
        UsageError: the suffix is not one that contend knows.
    """
    suffixes = [suffix for suffix in path.suffixes if suffix.lower() not in _COMPRESSIONS]
    kind = ENDINGS.get(suffixes[-1].lower()) if suffixes else None
    if kind is None:
        known = ", ".join(ENDINGS)
        raise UsageError(
            f"{path}: cannot tell the kind of file by its name ({known}): name one of "
            f"{', '.join(KINDS)}"
        )
    return kind


def content(fabric: Fabric, kind: str) -> Iterator[bytes]:
    """What a file of this kind holds, in pieces.

    Raises:
        UsageError: no such kind, one that cannot say which virtual lanes the routes need, or one
            that holds tables where routes are none.
    """
    write = _WRITERS.get(kind)
    if write is None:
        raise UsageError(f"no kind of file {kind!r} among {', '.join(KINDS)}{nearest(kind, KINDS)}")
    one_port = kind in HOLD_ROUTES - _HOLD_GROUPS
    if fabric.routes is not None and fabric.routes.tables is None and one_port:
        raise UsageError(
            f"{without_tables(fabric.routes)}, and {kind} files hold tables: leave ",
            Argument("route"),
            " out, or give another",
        )
    if fabric.routes is not None and fabric.routes.lanes > 1 and kind in HOLD_ROUTES:
        raise UsageError(
            f"these routes are free of deadlock only on {fabric.routes.lanes} virtual lanes, and "
            f"{kind} files do not say which lane a route keeps to: compute them for one lane"
        )
    return _encoded(write(fabric))


def _encoded(pieces: Iterable[str] | Iterable[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        yield piece if isinstance(piece, bytes) else _utf8(piece)


def _utf8(text: str) -> bytes:
    """Bytes of a text; those that were no UTF-8 when a name was read come out as they were."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return _NO_CHARACTER.sub("\ufffd", text).encode("utf-8", "surrogateescape")


def _write(pieces: Iterable[bytes], out: BinaryIO) -> None:
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= 1 << 20:
            out.write(b"".join(held))
            held, size = [], 0
    out.write(b"".join(held))


@contextmanager
def _compressing(file: BinaryIO, path: Path) -> Iterator[BinaryIO]:
    suffix = path.suffix.lower()
    if suffix == ".gz":
        # No time and no name inside: the same fabric gives the same file.
        with gzip.GzipFile("", "wb", 6, file, mtime=0) as out:
            yield cast(BinaryIO, out)
    elif suffix == ".xz":
        with lzma.open(file, "wb", preset=3) as packed:
            yield cast(BinaryIO, packed)
    elif suffix == ".zst":
        with zstandard.ZstdCompressor(9).stream_writer(file, closefd=False) as stream:
            yield cast(BinaryIO, stream)
    else:
        yield file
