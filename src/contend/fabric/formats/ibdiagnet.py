"""What ibdiagnet writes as .lst and as .net_dump, line by line.

A .lst, which OpenSM writes too as opensm-subnet.lst, has one line for a cable end:

    { CA Ports:02 SystemGUID:.. NodeGUID:.. PortGUID:.. VenID:.. DevID:.. Rev:.. {name} LID:0035
    PN:01 } { SW ... } PHY=4x LOG=ACT SPD=10

all on one line, numbers in hexadecimal but for the link's speed in gigabits per lane. The first
versions wrote no speed.

A .net_dump has every switch with a row for each of its ports:

    "leaf", Mellanox, 0x0c42a103, LID 12
      #   : IB# : Sta : LWA : LSA : ... : Neighbor Guid : N# : NLID : Neighbor Description
      1/1 : 1   : ACT : 4x  : 50  : ... : 0x98039b03    : 1  : 7    : "node1 HCA-1"

Columns are known by their names, as they differ between versions. Ports have the labels of the
switch's face beside their numbers; of a neighbour only the label is told.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from contend.base.errors import InputError
from contend.base.units import counted
from contend.fabric.streams.source import lines
from contend.fabric.subnet import NodeKind, Subnet, SubnetBuilder, rate_label, unicast

_UP = ("INI", "ARM", "ACT")


class _Reader(ABC):
    """Reads a file line by line."""

    head: ClassVar[re.Pattern[bytes]]
    """What stands within the head of such a file, and of no other."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._builder = SubnetBuilder(source)
        self._other_lines = 0

    @classmethod
    def recognises(cls, head: bytes) -> bool:
        """Whether a file that begins with `head` is of this kind."""
        return cls.head.search(head) is not None

    @classmethod
    def read(cls, chunks: Iterable[bytes], source: str) -> Subnet:
        """Reads the cables; lines that are none are counted in a note.

        Raises:
            InputError: no line tells a cable, or one begins as if it did and goes on differently.
        """
        reader = cls(source)
        for number, line in lines(chunks, source):
            reader._line(number, line)
        return reader._subnet()

    @abstractmethod
    def _line(self, number: int, line: str) -> None:
        """Takes the next line."""

    @abstractmethod
    def _subnet(self) -> Subnet:
        """All that the lines told."""


_HEX = r"([0-9A-Fa-f]{1,16})"
# The name is the one part without bounds: what may follow it ends it.
_END = (
    rf"\{{ (\S{{2,8}}) Ports:([0-9A-Fa-f]{{1,2}}) SystemGUID:{_HEX} NodeGUID:{_HEX} "
    rf"PortGUID:{_HEX} VenID:{_HEX} DevID:([0-9A-Fa-f]{{1,8}}) Rev:{_HEX} +"
    r"(?:\{(.{0,256}?)\} +)?LID:([0-9A-Fa-f]{1,4}) PN:([0-9A-Fa-f]{1,2}) \}"
)
_CABLE = re.compile(
    rf"\s*{_END}\s+{_END}\s+PHY=(\S{{1,8}})\s+LOG=(\S{{1,8}})(?:\s+SPD=(\S{{1,8}}))?\s*"
)
_KINDS = {"CA": NodeKind.ADAPTER, "SW": NodeKind.SWITCH, "RT": NodeKind.ROUTER}
_DOWN = "DWN"
_STATES = {*_UP, _DOWN}


class LstReader(_Reader):
    """A line for each cable end."""

    head = re.compile(rb"^[^\S\n]*\{ \S{2,8} Ports:[0-9A-Fa-f]{1,2} SystemGUID:", re.MULTILINE)

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self._rows: dict[tuple[int, NodeKind], int] = {}
        self._unknown_kinds = 0
        self._down = 0
        self._with_speed = self._without_speed = 0

    def _line(self, number: int, line: str) -> None:
        if not line.strip() or line.lstrip().startswith("#"):
            return
        match = _CABLE.fullmatch(line)
        if match is None or self._is_cut(*match.groups()[23:]):
            if line.lstrip().startswith("{ "):
                expected = "{ end } { end } PHY=.. LOG=.. SPD=.."
                raise InputError(self._source, number, expected, repr(line.strip()[:80]))
            self._other_lines += 1
            return
        fields = match.groups()
        near = self._node(fields[:11], number)
        far = self._node(fields[11:22], number)
        if near < 0 or far < 0:
            self._unknown_kinds += 1
            return
        width, state, speed = fields[22:]
        if state == _DOWN:
            self._down += 1
            return
        self._with_speed += speed is not None
        self._without_speed += speed is None
        rate = rate_label(width, speed or "")
        self._end(near, fields[:11], far, fields[11:22], rate, number)
        self._end(far, fields[11:22], near, fields[:11], rate, number)

    def _is_cut(self, state: str, speed: str | None) -> bool:
        """Whether a line without a speed once had one: all lines of a file are alike."""
        return speed is None and (state not in _STATES or self._with_speed > 0)

    def _node(self, fields: tuple[str, ...], number: int) -> int:
        """Row of the node that an end belongs to, -1 when it is of no known kind."""
        # A subnet manager's port is marked, such as CA-SM.
        kind = _KINDS.get(fields[0].split("-")[0].upper())
        if kind is None:
            return -1
        guid = int(fields[3], 16)
        row = self._rows.get((guid, kind))
        if row is None:
            row = self._builder.node(
                kind,
                fields[8] or "",
                guid=guid,
                system_guid=int(fields[2], 16),
                device_id=int(fields[6], 16),
                ports=int(fields[1], 16),
                # A switch has one LID, whatever the port.
                lid=unicast(int(fields[9], 16)) if kind is NodeKind.SWITCH else 0,
                line=number,
            )
            self._rows[guid, kind] = row
        return row

    def _end(
        self,
        node: int,
        fields: tuple[str, ...],
        peer: int,
        peer_fields: tuple[str, ...],
        rate: str,
        number: int,
    ) -> None:
        self._builder.end(
            node,
            int(fields[10], 16),
            peer,
            int(peer_fields[10], 16),
            port_guid=int(fields[4], 16),
            lid=unicast(int(fields[9], 16)),
            rate=rate,
            line=number,
        )

    def _subnet(self) -> Subnet:
        if not self._rows:
            raise InputError(self._source, 0, "a line for each cable end", "none")
        notes = []
        if self._other_lines:
            notes.append(f"skipped {counted(self._other_lines, 'line')} without a cable")
        if self._unknown_kinds:
            notes.append(
                f"skipped {counted(self._unknown_kinds, 'cable')} of nodes of unknown kind"
            )
        if self._down:
            notes.append(f"skipped {counted(self._down, 'link')} marked as down")
        if self._without_speed:
            notes.append(f"{counted(self._without_speed, 'link')} without a speed")
        return self._builder.subnet(tuple(notes))


_SWITCH = re.compile(r'\s*"(.{0,256})",[^,"]{1,64},\s*0x([0-9A-Fa-f]{1,16}),\s*LID\s+(\d{1,5})\s*')
_COLUMNS = re.compile(r"\s*#\s*:\s*IB#\s*:")
_ROW = re.compile(r"\s*[A-Za-z0-9/]{1,24}\s*:\s*\d{1,3}\s*:")
_NEEDED = ("#", "IB#", "Sta", "Neighbor Guid", "N#", "Neighbor Description")
_GUID = re.compile(r"0x([0-9A-Fa-f]{1,16})")
_NUMBER = re.compile(r"(?:^|\D)(\d{1,3})$")


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


class NetDumpReader(_Reader):
    """A row for each port of a switch that is up; adapters are only named at their other ends."""

    head = re.compile(rb"^[^\S\n]*#[^\S\n]*:[^\S\n]*IB#[^\S\n]*:", re.MULTILINE)

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self._columns: list[str] = []
        self._switches: dict[int, int] = {}
        self._by_lid: dict[int, int] = {}
        self._labels: dict[tuple[int, str], int] = {}
        self._ports: list[_Port] = []
        self._current = -1
        self._without_neighbour = 0

    def _line(self, number: int, line: str) -> None:
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

    def _subnet(self) -> Subnet:
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
