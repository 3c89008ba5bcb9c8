"""Reads ibdiagnet's .lst, which OpenSM writes too as opensm-subnet.lst: one line for a cable end.

    { CA Ports:02 SystemGUID:.. NodeGUID:.. PortGUID:.. VenID:.. DevID:.. Rev:.. {name} LID:0035
    PN:01 } { SW ... } PHY=4x LOG=ACT SPD=10

all on one line, numbers in hexadecimal but for the link's speed in gigabits per lane. The first
versions wrote no speed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from contend.base.errors import InputError
from contend.base.units import counted
from contend.fabric.streams.source import lines
from contend.fabric.subnet import NodeKind, Subnet, SubnetBuilder, rate_label, unicast

_HEX = r"([0-9A-Fa-f]{1,16})"
# The name is the one part without bounds: what may follow it ends it.
_END = (
    rf"\{{ (\S{{2,8}}) Ports:([0-9A-Fa-f]{{1,2}}) SystemGUID:{_HEX} NodeGUID:{_HEX} "
    rf"PortGUID:{_HEX} VenID:{_HEX} DevID:([0-9A-Fa-f]{{1,8}}) Rev:{_HEX} +"
    r"(?:\{(.{0,256}?)\} +)?LID:([0-9A-Fa-f]{1,4}) PN:([0-9A-Fa-f]{1,2}) \}"
)
_LINE = re.compile(
    rf"\s*{_END}\s+{_END}\s+PHY=(\S{{1,8}})\s+LOG=(\S{{1,8}})(?:\s+SPD=(\S{{1,8}}))?\s*"
)
_HEAD = re.compile(rb"^[^\S\n]*\{ \S{2,8} Ports:[0-9A-Fa-f]{1,2} SystemGUID:", re.MULTILINE)
_KINDS = {"CA": NodeKind.ADAPTER, "SW": NodeKind.SWITCH, "RT": NodeKind.ROUTER}
_DOWN = "DWN"
_STATES = {"INI", "ARM", "ACT", _DOWN}


def recognises(head: bytes) -> bool:
    """Whether a line of the head begins like a cable end."""
    return _HEAD.search(head) is not None


def read(chunks: Iterable[bytes], source: str) -> Subnet:
    """Reads the cables; lines that are none are counted in a note.

    Raises:
        InputError: no line is a cable, or a line begins like one and goes on differently.
    """
    reader = _Reader(source)
    for number, line in lines(chunks, source):
        reader.line(number, line)
    return reader.subnet()


class _Reader:
    def __init__(self, source: str) -> None:
        self._source = source
        self._builder = SubnetBuilder(source)
        self._rows: dict[tuple[int, NodeKind], int] = {}
        self._other_lines = 0
        self._unknown_kinds = 0
        self._down = 0
        self._with_speed = self._without_speed = 0

    def line(self, number: int, line: str) -> None:
        if not line.strip() or line.lstrip().startswith("#"):
            return
        match = _LINE.fullmatch(line)
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

    def subnet(self) -> Subnet:
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
