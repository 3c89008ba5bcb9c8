"""Reads ibdiagnet's .net_dump: every switch with a row for each of its ports.

    "leaf", Mellanox, 0x0c42a103, LID 12
      #   : IB# : Sta : LWA : LSA : ... : Neighbor Guid : N# : NLID : Neighbor Description
      1/1 : 1   : ACT : 4x  : 50  : ... : 0x98039b03    : 1  : 7    : "node1 HCA-1"

Columns are known by their names, as they differ between versions. Ports have the labels of the
switch's face beside their numbers; of a neighbour only the label is told.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from contend.base.errors import InputError
from contend.base.units import counted
from contend.fabric.streams.source import lines
from contend.fabric.subnet import NodeKind, Subnet, SubnetBuilder, rate_label, unicast

_HEAD = re.compile(rb"^[^\S\n]*#[^\S\n]*:[^\S\n]*IB#[^\S\n]*:", re.MULTILINE)
_SWITCH = re.compile(r'\s*"(.{0,256})",[^,"]{1,64},\s*0x([0-9A-Fa-f]{1,16}),\s*LID\s+(\d{1,5})\s*')
_COLUMNS = re.compile(r"\s*#\s*:\s*IB#\s*:")
_ROW = re.compile(r"\s*[A-Za-z0-9/]{1,24}\s*:\s*\d{1,3}\s*:")
_NEEDED = ("#", "IB#", "Sta", "Neighbor Guid", "N#", "Neighbor Description")
_GUID = re.compile(r"0x([0-9A-Fa-f]{1,16})")
_NUMBER = re.compile(r"(?:^|\D)(\d{1,3})$")
_UP = ("INI", "ARM", "ACT")


@dataclass(frozen=True)
class _Port:
    """A port of a switch with what it says of its neighbour."""

    line: int
    switch: int
    port: int
    rate: str
    guid: int
    peer_label: str
    peer_lid: int
    name: str


def recognises(head: bytes) -> bool:
    """Whether the names of the columns stand within the head."""
    return _HEAD.search(head) is not None


def read(chunks: Iterable[bytes], source: str) -> Subnet:
    """Reads the switches' ports that are up; adapters are only named at their other ends.

    Raises:
        InputError: a row that does not fit the columns above it, or before any switch.
    """
    reader = _Reader(source)
    for number, line in lines(chunks, source):
        reader.line(number, line)
    return reader.subnet()


class _Reader:
    def __init__(self, source: str) -> None:
        self._source = source
        self._builder = SubnetBuilder(source)
        self._columns: list[str] = []
        self._switches: dict[int, int] = {}
        self._by_lid: dict[int, int] = {}
        self._labels: dict[tuple[int, str], int] = {}
        self._ports: list[_Port] = []
        self._current = -1
        self._other_lines = self._without_neighbour = 0

    def line(self, number: int, line: str) -> None:
        if match := _SWITCH.fullmatch(line):
            self._switch(match[1], int(match[2], 16), int(match[3]), number)
        elif _COLUMNS.match(line):
            self._columns = [name.strip() for name in line.split(":")]
            for name in _NEEDED:
                if name not in self._columns:
                    raise InputError(self._source, number, f"a column {name}", "none")
        elif _ROW.match(line):
            self._row(number, line)
        elif line.strip() and not line.lstrip().startswith("#"):
            self._other_lines += 1

    def _switch(self, name: str, guid: int, lid: int, number: int) -> None:
        if guid == 0 or guid in self._switches:
            got = f"0x{guid:x}" + (" again" if guid else "")
            raise InputError(self._source, number, "the GUID of another switch", got)
        lid = unicast(lid)
        row = self._builder.node(
            NodeKind.SWITCH, name, guid=guid, system_guid=guid, lid=lid, line=number
        )
        self._switches[guid] = self._current = row
        if lid:
            self._by_lid.setdefault(lid, row)

    def _row(self, number: int, line: str) -> None:
        cells = [cell.strip() for cell in line.split(":", max(len(self._columns) - 1, 0))]
        if self._current < 0 or len(cells) != len(self._columns):
            expected = f"{len(self._columns)} cells" if self._current >= 0 else "a switch before"
            raise InputError(self._source, number, expected, repr(line.strip()[:60]))
        row = dict(zip(self._columns, cells, strict=True))
        port = int(row["IB#"]) if row["IB#"].isdecimal() else 0
        self._labels[self._current, row["#"]] = port
        if row["Sta"].upper() not in _UP:
            return
        guid = _GUID.fullmatch(row["Neighbor Guid"])
        name = row["Neighbor Description"].strip('"')
        if guid is None or not int(guid[1], 16) or not row["N#"]:
            self._without_neighbour += 1
            return
        rate = rate_label(row.get("LWA", ""), row.get("LSA", ""))
        lid = row.get("NLID", "")
        peer_lid = unicast(int(lid)) if lid.isascii() and lid.isdecimal() and len(lid) < 6 else 0
        self._ports.append(
            _Port(number, self._current, port, rate, int(guid[1], 16), row["N#"], peer_lid, name)
        )

    def subnet(self) -> Subnet:
        if not self._ports:
            raise InputError(self._source, 0, "a row for each port that is up", "none")
        rows: dict[int, int] = {}
        # The ports of an adapter may share its GUID, which is that of none of them then.
        named = Counter(port.guid for port in self._ports)
        for port in self._ports:
            switch = self._switches.get(port.guid, self._by_lid.get(port.peer_lid, -1))
            if switch >= 0:
                peer_port = self._labels.get((switch, port.peer_label), 0) or self._port(port)
                self._end(port, (port.switch, port.port, switch, peer_port))
                continue
            if port.guid not in rows:
                rows[port.guid] = self._builder.node(
                    NodeKind.ADAPTER,
                    port.name,
                    guid=port.guid,
                    system_guid=port.guid,
                    line=port.line,
                )
            adapter, peer_port = rows[port.guid], self._port(port)
            self._end(port, (port.switch, port.port, adapter, peer_port))
            # Of an adapter there are no rows of its own.
            own = port.guid if named[port.guid] == 1 else 0
            end = (adapter, peer_port, port.switch, port.port)
            self._end(port, end, port_guid=own, lid=port.peer_lid)
        return self._builder.subnet(tuple(self._notes()))

    def _end(
        self, port: _Port, end: tuple[int, int, int, int], *, port_guid: int = 0, lid: int = 0
    ) -> None:
        self._builder.end(*end, port_guid=port_guid, lid=lid, rate=port.rate, line=port.line)

    def _port(self, port: _Port) -> int:
        """The number of a neighbour's port by its label alone."""
        match = _NUMBER.search(port.peer_label)
        if match is None:
            raise InputError(self._source, port.line, "a port as N#", repr(port.peer_label))
        return int(match[1])

    def _notes(self) -> Iterator[str]:
        if self._other_lines:
            yield f"skipped {counted(self._other_lines, 'line')} without a port"
        if self._without_neighbour:
            yield f"skipped {counted(self._without_neighbour, 'port')} without a known neighbour"
