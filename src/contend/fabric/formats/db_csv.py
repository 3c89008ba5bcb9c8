"""Reads ibdiagnet's .db_csv: many tables in one file, each between START_X and END_X.

The first row of a table names its columns. A topology is in NODES (NodeType 1 adapter, 2 switch,
3 router), LINKS (each cable once) and PORTS (LIDs and rates); the other tables are skipped. A cell
may be ``N/A``.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from contend.base.errors import InputError
from contend.base.units import counted
from contend.fabric.streams.source import lines
from contend.fabric.subnet import MOST_ENDS, MOST_NODES, NodeKind, Subnet, SubnetBuilder, unicast

_HEAD = re.compile(rb"^START_[A-Z][A-Z0-9_]*\r?$", re.MULTILINE)
_NEEDED = {
    "NODES": ("NodeDesc", "NumPorts", "NodeType", "NodeGUID"),
    "PORTS": ("NodeGuid", "PortNum"),
    "LINKS": ("NodeGuid1", "PortNum1", "NodeGuid2", "PortNum2"),
}
# LinkWidthActive likewise, the widest first.
_WIDTHS = {8: "12x", 4: "8x", 2: "4x", 16: "2x", 1: "1x"}
# LinkSpeedActive of PortInfo and its extensions, as one set of bits, the fastest first: where a
# port reports several, as newer firmware does (2052: NDR and QDR), the link runs at the fastest.
_SPEEDS = {
    0x1000000: "XDR",
    0x800: "NDR",
    0x400: "HDR",
    0x200: "EDR",
    0x100: "FDR",
    0x10000: "FDR10",
    0x4: "QDR",
    0x2: "DDR",
    0x1: "SDR",
}
# Columns that are kept beside those that must be there.
_KEPT = {
    "NODES": ("SystemImageGUID", "DeviceID"),
    "PORTS": ("PortGuid", "LID", "LMC", "LinkWidthActv", "LinkSpeedActv"),
    "LINKS": (),
}
_Link = tuple[int, int, int, int]
_GUIDS = (1 << 64) - 1
_PORTS = 0xFF


@dataclass(frozen=True, slots=True)
class _Row:
    """What matters of a row of a table."""

    source: str
    line: int
    columns: dict[str, int]
    cells: tuple[str, ...]

    def text(self, column: str) -> str:
        """A cell, "" where there is no such column."""
        index = self.columns.get(column)
        return "" if index is None else self.cells[index]

    def number(self, column: str, most: int) -> int:
        """A number, decimal or hexadecimal; an absent column or N/A is 0."""
        cell = self.text(column).strip()
        if cell in ("", "N/A"):
            return 0
        try:
            # Python reads numbers of any length, in time that grows with its square.
            value = int(cell, 0) if len(cell) <= 24 else -1
        except ValueError:
            value = int(cell) if cell.isdecimal() and cell.isascii() else -1
        if not 0 <= value <= most:
            raise InputError(self.source, self.line, f"a number as {column}", repr(cell[:40]))
        return value

    def guid(self, column: str) -> int:
        """A GUID, which must be there."""
        guid = self.number(column, _GUIDS)
        if guid == 0:
            got = repr(self.text(column)[:40])
            raise InputError(self.source, self.line, f"a GUID as {column}", got)
        return guid


@dataclass(frozen=True, slots=True)
class _Port:
    port_guid: int
    lid: int
    lmc: int
    rate: str
    unknown: str


def recognises(head: bytes) -> bool:
    """Whether a table starts within the head."""
    return _HEAD.search(head) is not None


def read(chunks: Iterable[bytes], source: str) -> Subnet:
    """Reads the tables of nodes, links and ports, in whatever order they come.

    Raises:
        InputError: a needed table or column is missing, a table does not end, a cell is no number.
    """
    nodes: list[_Row] = []
    # Ends of cables, each once, with its line.
    links: dict[_Link, int] = {}
    ports: dict[tuple[int, int], _Port] = {}
    for table, row in _rows(chunks, source):
        if table == "NODES":
            if len(nodes) == MOST_NODES:
                raise InputError(source, row.line, f"at most {MOST_NODES} nodes", "more")
            nodes.append(row)
        elif table == "LINKS":
            if len(links) == MOST_ENDS:
                raise InputError(source, row.line, f"at most {MOST_ENDS} links", "more")
            near, far = (
                (row.guid(f"NodeGuid{side}"), row.number(f"PortNum{side}", _PORTS)) for side in "12"
            )
            links.setdefault((*near, *far), row.line)
        else:
            key = (row.guid("NodeGuid"), row.number("PortNum", _PORTS))
            ports[key] = _port(row)
    for table, count in (("NODES", len(nodes)), ("LINKS", len(links))):
        if not count:
            raise InputError(source, 0, f"a table {table} with rows", "none")
    return _subnet(nodes, links, ports, source)


def _rows(chunks: Iterable[bytes], source: str) -> Iterator[tuple[str, _Row]]:
    """Rows of the tables that matter."""
    table, columns, start = "", None, 0
    for number, line in lines(chunks, source):
        if not table:
            if line.startswith("START_"):
                table, columns, start = line[len("START_") :].strip(), None, number
            continue
        if line.startswith("END_"):
            if line.strip() != f"END_{table}":
                raise InputError(source, number, f"END_{table}", repr(line[:60]))
            table = ""
        elif table in _NEEDED and line.strip():
            cells = _cells(line, number, source)
            if columns is None:
                columns = _columns(cells, table, number, source)
                kept = [name for name in (*_NEEDED[table], *_KEPT[table]) if name in columns]
                # Of columns of the same name the last counts.
                places = [len(columns) - 1 - columns[::-1].index(name) for name in kept]
                index = {name: place for place, name in enumerate(kept)}
            elif len(cells) != len(columns):
                raise InputError(source, number, f"{len(columns)} cells", str(len(cells)))
            else:
                row = tuple([cells[place] for place in places])
                yield table, _Row(source, number, index, row)
    if table:
        raise InputError(source, start, f"END_{table} after START_{table}", "the end of the file")


def _cells(line: str, number: int, source: str) -> list[str]:
    if '"' not in line:
        return line.split(",")
    try:
        return next(csv.reader([line]))
    except (csv.Error, StopIteration) as error:
        raise InputError(source, number, "comma-separated cells", str(error)) from error


def _columns(cells: list[str], table: str, number: int, source: str) -> list[str]:
    columns = [cell.strip() for cell in cells]
    for name in _NEEDED[table]:
        if name not in columns:
            raise InputError(source, number, f"a column {name} in {table}", "none")
    return columns


def _port(row: _Row) -> _Port:
    width, other_width = _fastest(row.number("LinkWidthActv", 1 << 32), _WIDTHS)
    speed, other_speed = _fastest(row.number("LinkSpeedActv", 1 << 32), _SPEEDS)
    unknown = f"LinkSpeedActv {other_speed:#x}" if other_speed else ""
    if other_width:
        unknown = f"LinkWidthActv {other_width:#x}"
    return _Port(
        row.number("PortGuid", _GUIDS),
        unicast(row.number("LID", 0xFFFF)),
        row.number("LMC", 7),
        width + speed if width and speed and not unknown else "",
        f"{unknown} in line {row.line}" if unknown else "",
    )


def _fastest(bits: int, labels: dict[int, str]) -> tuple[str, int]:
    """The first label whose bit is set, "" for none, and the bits that are not known."""
    label = next((label for bit, label in labels.items() if bits & bit), "")
    return label, bits & ~sum(labels)


def _subnet(
    nodes: list[_Row], links: dict[_Link, int], ports: dict[tuple[int, int], _Port], source: str
) -> Subnet:
    builder = SubnetBuilder(source)
    rows: dict[int, int] = {}
    for node in nodes:
        kind = node.number("NodeType", 0xFF)
        if kind not in tuple(NodeKind):
            got = str(kind)
            raise InputError(node.source, node.line, "1, 2 or 3 as NodeType", got)
        guid = node.guid("NodeGUID")
        management = ports.get((guid, 0)) if kind == NodeKind.SWITCH else None
        row = builder.node(
            NodeKind(kind),
            node.text("NodeDesc"),
            guid=guid,
            system_guid=node.number("SystemImageGUID", _GUIDS),
            device_id=node.number("DeviceID", 0xFFFFFFFF),
            ports=node.number("NumPorts", _PORTS),
            lid=management.lid if management else 0,
            lmc=management.lmc if management else 0,
            line=node.line,
        )
        rows.setdefault(guid, row)
    unknown = _Port(0, 0, 0, "", "")
    for link, line in links.items():
        ends = (link[:2], link[2:])
        for guid, _ in ends:
            if guid not in rows:
                got = f"0x{guid:016x}"
                raise InputError(source, line, "a GUID of the table NODES", got)
        for near, far in (ends, ends[::-1]):
            port = ports.get(near, unknown)
            builder.end(
                rows[near[0]],
                near[1],
                rows[far[0]],
                far[1],
                port_guid=port.port_guid,
                lid=port.lid,
                lmc=port.lmc,
                rate=port.rate,
                line=line,
            )
    return builder.subnet(tuple(_notes(ports)))


def _notes(ports: dict[tuple[int, int], _Port]) -> Iterator[str]:
    unknown = [port.unknown for port in ports.values() if port.unknown]
    if unknown:
        yield (
            f"{counted(len(unknown), 'port')} with a width or speed that contend does not know, "
            f"such as {unknown[0]}"
        )
