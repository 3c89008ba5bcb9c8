"""Contend's .fabric files: their layout, the reader and the writer.

docs/reference/formats.md describes the format.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from contend.base.errors import InputError, UsageError, legible
from contend.fabric.assemble import Topology
from contend.fabric.fabric import NO_SWITCH, Fabric, Finding
from contend.fabric.streams.source import SELF_LIMITED
from contend.fabric.told.told_rails import columns_of, from_columns

MAGIC = SELF_LIMITED
VERSION = 3

# Counts of a file's header, in this order, each an unsigned number of 64 bits, and the most that it
# may claim: enough for any fabric that fits a machine, and checked before memory is asked for.
LIMITS = {
    "hosts": 1 << 22,
    "switches": 1 << 20,
    "cables": 1 << 24,
    "rates": 1 << 12,
    "findings": 1 << 20,
    "addresses": 1 << 24,
    "others": 1 << 22,
    "told_servers": 1 << 22,
    "told_adapters": 1 << 22,
}
COUNTS = tuple(LIMITS)
HEADER = struct.Struct(f"<{len(COUNTS)}Q")
TABLE_ENTRIES = 1 << 30
SWITCH_PORTS = 1 << 28
TEXT_BYTES = 1 << 28
LONGEST_TEXT = 1 << 16


# Columns of numbers, in this order: little-endian type, and the count that is its length.
COLUMNS = {
    "host_guid": ("<u8", "hosts"),
    "host_port_guid": ("<u8", "hosts"),
    "host_adapter_port": ("<u2", "hosts"),
    "host_system_guid": ("<u8", "hosts"),
    "host_lid": ("<u4", "hosts"),
    "host_lmc": ("|u1", "hosts"),
    "host_switch": ("<u4", "hosts"),
    "host_port": ("<u2", "hosts"),
    "host_rate": ("<u2", "hosts"),
    "switch_guid": ("<u8", "switches"),
    "switch_system_guid": ("<u8", "switches"),
    "switch_ports": ("<u2", "switches"),
    "switch_lid": ("<u4", "switches"),
    "cable_from": ("<u4", "cables"),
    "cable_from_port": ("<u2", "cables"),
    "cable_to": ("<u4", "cables"),
    "cable_to_port": ("<u2", "cables"),
    "cable_rate": ("<u2", "cables"),
    "finding_wrong": ("|u1", "findings"),
    "other_lid": ("<u4", "others"),
    "other_guid": ("<u8", "others"),
    "other_switch": ("<u4", "others"),
    "other_port": ("<u2", "others"),
    "told_server": ("<u4", "hosts"),
    "told_rail": ("<u4", "hosts"),
    "told_rails": ("<u2", "told_servers"),
}
# Then columns of texts with the count that is their length, "" for a single text.
TEXTS = {
    "name": "",
    "engine": "",
    "host_name": "hosts",
    "switch_name": "switches",
    "rates": "rates",
    "finding_kind": "findings",
    "finding_message": "findings",
    "other_kind": "others",
    "other_name": "others",
    "told_words": "",
    "told_name": "told_servers",
    "told_adapter": "told_adapters",
}

_VERSION_DIGITS = 8
_FIRST_BYTES = 1 << 20


def recognises(head: bytes) -> bool:
    """Whether the (decompressed) file begins like a .fabric file."""
    return head.startswith(MAGIC)


def read(chunks: Iterable[bytes], source: str) -> Topology:
    """Reads a .fabric file that `open_chunks` has decompressed.

    Every length that the file claims is checked against a limit, and memory is filled only as fast
    as content arrives.

    Raises:
        InputError: the file is cut off, longer than it says, or does not describe a fabric; or a
            newer contend wrote it.
    """
    stream = _Stream(chunks, source)
    _check_version(stream)
    counts = dict(zip(COUNTS, HEADER.unpack(stream.take(HEADER.size)), strict=True))
    _check_counts(counts, source)
    values: dict[str, Any] = {}
    for name, (kind, count) in COLUMNS.items():
        values[name] = stream.numbers(counts[count], kind)
    for name, count in TEXTS.items():
        values[name] = _texts(stream, counts[count] if count else 1, name)
    shape = (counts["switches"], counts["addresses"])
    ports = stream.numbers(shape[0] * shape[1], "<u2").reshape(shape) if shape[1] else None
    stream.expect_end()
    _check_values(values, counts, source)
    return Topology(_fabric(values, source), ports, values["engine"][0])


class _Stream:
    """Content by number of bytes."""

    def __init__(self, chunks: Iterable[bytes], source: str) -> None:
        self._chunks: Iterator[bytes] = iter(chunks)
        self._chunk = memoryview(b"")
        self._source = source
        self._offset = 0

    def bad(self, expected: str, got: str) -> InputError:
        return InputError(self._source, 0, expected, got)

    def _some(self, most: int) -> memoryview:
        while not self._chunk:
            chunk = next(self._chunks, None)
            if chunk is None:
                raise self.bad(
                    f"at least {most} more bytes", f"the end of the file at byte {self._offset}"
                )
            self._chunk = memoryview(chunk)
        piece, self._chunk = self._chunk[:most], self._chunk[most:]
        self._offset += len(piece)
        return piece

    def take(self, size: int) -> bytes:
        """Just as many bytes; the size must have been checked."""
        held = bytearray()
        while len(held) < size:
            held += self._some(size - len(held))
        return bytes(held)

    def numbers(self, count: int, kind: str) -> NDArray[Any]:
        """A column; it grows with the content that arrives, to at most twice that."""
        size = count * np.dtype(kind).itemsize
        raw = np.empty(min(size, _FIRST_BYTES), dtype=np.uint8)
        filled = 0
        while filled < size:
            if filled == len(raw):
                raw.resize(min(size, 2 * len(raw)), refcheck=False)
            piece = self._some(len(raw) - filled)
            raw[filled : filled + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
            filled += len(piece)
        column: NDArray[Any] = raw.view(kind)
        return column.astype(column.dtype.newbyteorder("="), copy=False)

    def expect_end(self) -> None:
        while True:
            if self._chunk:
                raise self.bad(f"the end of the file at byte {self._offset}", "more")
            chunk = next(self._chunks, None)
            if chunk is None:
                return
            self._chunk = memoryview(chunk)


def _check_version(stream: _Stream) -> None:
    if stream.take(len(MAGIC)) != MAGIC:
        raise stream.bad("a .fabric file", "another kind of file")
    digits = b""
    while (byte := stream.take(1)) != b"\n":
        digits += byte
        if len(digits) > _VERSION_DIGITS:
            break
    if not digits.isdigit() or len(digits) > _VERSION_DIGITS:
        raise stream.bad("the version of a .fabric file", repr(digits.decode("latin-1")))
    if int(digits) != VERSION:
        raise stream.bad(f"version {VERSION} of .fabric", f"version {int(digits)}")


def _check_counts(counts: dict[str, int], source: str) -> None:
    for name, count in counts.items():
        if count > LIMITS[name]:
            raise InputError(source, 0, f"at most {LIMITS[name]} {name}", str(count))
    for name in ("hosts", "switches", "rates"):
        if counts[name] == 0:
            raise InputError(source, 0, f"{name}", "none")
    if counts["switches"] * counts["addresses"] > TABLE_ENTRIES:
        entries = f"{counts['switches']} x {counts['addresses']}"
        raise InputError(source, 0, f"at most {TABLE_ENTRIES} table entries", entries)


def _texts(stream: _Stream, count: int, name: str) -> tuple[str, ...]:
    lengths = stream.numbers(count, "<u4")
    size = int(lengths.sum(dtype=np.uint64))
    if size > TEXT_BYTES:
        raise stream.bad(f"at most {TEXT_BYTES} bytes of {name}", str(size))
    if int(lengths.max(initial=0)) > LONGEST_TEXT:
        raise stream.bad(f"at most {LONGEST_TEXT} bytes of one {name}", str(lengths.max()))
    content = stream.take(size)
    ends = np.cumsum(lengths, dtype=np.int64)
    starts = ends - lengths
    try:
        return tuple(
            _text(content[start:end])
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        )
    except UnicodeDecodeError as error:
        raise stream.bad(f"text in UTF-8 as {name}", "other bytes") from error


def _text(content: bytes) -> str:
    """A text; what cannot be shown, such as names read from damaged files, is escaped."""
    return legible(content.decode("utf-8", "surrogatepass"))


def _check_values(values: dict[str, Any], counts: dict[str, int], source: str) -> None:
    """Indices point at something, numbers are possible."""
    below = {
        "host_switch": counts["switches"],
        "cable_from": counts["switches"],
        "cable_to": counts["switches"],
        "host_rate": counts["rates"],
        "cable_rate": counts["rates"],
        "host_lmc": 8,
        "finding_wrong": 2,
    }
    for name, limit in below.items():
        if len(values[name]) and int(values[name].max()) >= limit:
            raise InputError(source, 0, f"{name} below {limit}", str(int(values[name].max())))
    at = values["other_switch"]
    if ((at >= counts["switches"]) & (at != NO_SWITCH)).any():
        limit = counts["switches"]
        raise InputError(source, 0, f"other_switch below {limit}", str(int(at.max())))
    if values["rates"][0] != "":
        raise InputError(source, 0, "an unnamed first rate", repr(values["rates"][0]))
    ports = int(values["switch_ports"].sum(dtype=np.uint64))
    if ports > SWITCH_PORTS:
        raise InputError(source, 0, f"at most {SWITCH_PORTS} switch ports", str(ports))


def _fabric(values: dict[str, Any], source: str) -> Fabric:
    findings = tuple(
        Finding(kind, message, bool(wrong))
        for kind, message, wrong in zip(
            values.pop("finding_kind"),
            values.pop("finding_message"),
            values.pop("finding_wrong").tolist(),
            strict=True,
        )
    )
    name, told = values["name"][0], from_columns(values, source)
    columns = {key: value for key, value in values.items() if key not in ("name", "engine")}
    fabric = Fabric(name=name, findings=findings, told=told, **columns)
    try:
        # Building the graph finds ports that do not exist or hold two cables.
        fabric.core  # noqa: B018
    except UsageError as error:
        raise InputError(source, 0, "cables that fit their switches", str(error)) from error
    return fabric


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
    tables, told = fabric.tables, fabric.told
    counts = {
        "hosts": fabric.hosts,
        "switches": fabric.switches,
        "cables": fabric.cables,
        "rates": len(fabric.rates),
        "findings": len(fabric.findings),
        "addresses": tables.addresses if tables is not None else 0,
        "others": len(fabric.other_lid),
        "told_servers": 0 if told is None else len(told.names),
        "told_adapters": 0 if told is None else int(told.sizes.sum()),
    }
    for name, count in counts.items():
        if count > LIMITS[name]:
            raise UsageError(f"a .fabric file holds at most {LIMITS[name]} {name}, not {count}")
    if counts["switches"] * counts["addresses"] > TABLE_ENTRIES:
        raise UsageError(f"a .fabric file holds at most {TABLE_ENTRIES} table entries")
    yield MAGIC + b"%d\n" % VERSION
    yield HEADER.pack(*(counts[name] for name in COUNTS))
    values: dict[str, Any] = {
        "finding_wrong": np.array([finding.wrong for finding in fabric.findings], dtype=np.uint8),
        "finding_kind": tuple(finding.kind for finding in fabric.findings),
        "finding_message": tuple(finding.message for finding in fabric.findings),
        "name": (fabric.name,),
        "engine": (tables.engine if tables is not None else "",),
    }
    values |= columns_of(told, fabric.hosts)
    for name, (kind, _) in COLUMNS.items():
        numbers = values[name] if name in values else getattr(fabric, name)
        yield np.ascontiguousarray(numbers, dtype=kind).tobytes()
    for name in TEXTS:
        yield from _packed(name, values[name] if name in values else getattr(fabric, name))
    if tables is not None:
        for row in tables.ports:
            yield row.astype("<u2", copy=False).tobytes()


def _packed(name: str, texts: tuple[str, ...]) -> Iterator[bytes]:
    # Names read from damaged files may hold lone surrogates: they come back as they are.
    encoded = [text.encode("utf-8", "surrogatepass")[:LONGEST_TEXT] for text in texts]
    lengths = np.array([len(text) for text in encoded], dtype=np.uint64)
    if lengths.sum() > TEXT_BYTES:
        raise UsageError(f"a .fabric file holds at most {TEXT_BYTES} bytes of {name}")
    yield lengths.astype("<u4").tobytes()
    yield b"".join(encoded)
