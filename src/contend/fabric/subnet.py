"""What a topology file says, before it is judged: nodes and the port ends they declare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend.errors import InputError

SPEEDS = {
    "2.5": "SDR",
    "5": "DDR",
    "10": "QDR",
    "14": "FDR",
    "25": "EDR",
    "50": "HDR",
    "100": "NDR",
    "200": "XDR",
}
"""Names of speeds by the gigabits a second of a lane, as tools write them."""
_WIDTHS = ("1x", "2x", "4x", "8x", "12x")


def rate_label(width: str, speed: str) -> str:
    """``4xHDR`` of ``4x`` and ``50``, as ibdiagnet writes them; "" of what is neither."""
    known = {**SPEEDS, "FDR10": "FDR10"}
    return width + known[speed] if width in _WIDTHS and speed in known else ""


class NodeKind(IntEnum):
    """Kinds of nodes, numbered as in InfiniBand's NodeInfo."""

    ADAPTER = 1
    SWITCH = 2
    ROUTER = 3


@dataclass(frozen=True)
class Subnet:
    """Nodes and declared port ends as columns; every reader of a topology yields one.

    Nodes, one row each: ``kind`` (NodeKind), ``guid``, ``system_guid`` (0: unknown),
    ``device_id`` (0: unknown), ``ports`` (number of ports, 0: unknown), ``lid`` and ``lmc`` (of a
    switch's port 0; 0 where unknown), ``name``, ``node_line`` (line in the file, 0: never declared
    itself, only named by a neighbour).

    Ends, one row for each port that a node declares: ``node`` (row of the node), ``port``,
    ``port_guid`` (0: unknown), ``end_lid``, ``end_lmc`` (of an adapter's port; 0 where unknown),
    ``peer`` (row of the node at the other end, -1: down), ``peer_port``, ``rate`` (index into
    ``rates``), ``end_line``.

    ``rates`` are link rates as written, ``4xHDR``; index 0 is always ``""``, unknown.
    """

    kind: NDArray[np.uint8]
    guid: NDArray[np.uint64]
    system_guid: NDArray[np.uint64]
    device_id: NDArray[np.uint32]
    ports: NDArray[np.uint16]
    lid: NDArray[np.uint32]
    lmc: NDArray[np.uint8]
    name: tuple[str, ...]
    node_line: NDArray[np.uint32]

    node: NDArray[np.int32]
    port: NDArray[np.uint16]
    port_guid: NDArray[np.uint64]
    end_lid: NDArray[np.uint32]
    end_lmc: NDArray[np.uint8]
    peer: NDArray[np.int32]
    peer_port: NDArray[np.uint16]
    rate: NDArray[np.uint16]
    end_line: NDArray[np.uint32]

    rates: tuple[str, ...]
    notes: tuple[str, ...] = ()
    """What the reader passed over and a person should know, such as interleaved error lines."""
    gaps: tuple[str, ...] = ()
    """What says that the file is incomplete, such as that it ends within a line."""
    undecided: tuple[str, ...] = ()
    """Ports of which nothing tells what is at the other end of their cables, each in words."""


LARGEST_LID = 0xBFFF

# Far above any network; a node takes about 300 bytes here, an end 400.
MOST_NODES = 1 << 22
MOST_ENDS = 1 << 24
LONGEST_NAME = 1 << 16


_Types = dict[str, Any]
"""Columns in order, each with the type of its numbers; None for text."""
_OF_NODES: _Types = {
    "kind": np.uint8,
    "guid": np.uint64,
    "system_guid": np.uint64,
    "device_id": np.uint32,
    "ports": np.uint16,
    "lid": np.uint32,
    "lmc": np.uint8,
    "name": None,
    "node_line": np.uint32,
}
_OF_ENDS: _Types = {
    "node": np.int32,
    "port": np.uint16,
    "port_guid": np.uint64,
    "end_lid": np.uint32,
    "end_lmc": np.uint8,
    "peer": np.int32,
    "peer_port": np.uint16,
    "rate": np.uint16,
    "end_line": np.uint32,
}


def _columns(types: _Types, rows: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    columns = zip(*rows, strict=True) if rows else repeat((), len(types))
    return {
        name: tuple(values) if kind is None else np.array(values, dtype=kind)
        for (name, kind), values in zip(types.items(), columns, strict=True)
    }


class SubnetBuilder:
    """Rows are added one by one; `subnet` makes the columns of them."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._nodes: list[tuple[Any, ...]] = []
        self._ends: list[tuple[Any, ...]] = []
        self._rates: dict[str, int] = {"": 0}
        self._cables: set[tuple[int, int, int, int]] = set()

    @property
    def nodes(self) -> int:
        """Number of nodes so far."""
        return len(self._nodes)

    def node(
        self,
        kind: NodeKind,
        name: str,
        *,
        guid: int = 0,
        system_guid: int = 0,
        device_id: int = 0,
        ports: int = 0,
        lid: int = 0,
        lmc: int = 0,
        line: int = 0,
    ) -> int:
        """Adds a node and returns its row.

        Raises:
            InputError: there are too many, or its name is too long.
        """
        if len(self._nodes) == MOST_NODES or len(name) > LONGEST_NAME:
            most = f"at most {MOST_NODES} nodes with names of at most {LONGEST_NAME} characters"
            raise InputError(self._source, line, most, "more")
        self._nodes.append((kind, guid, system_guid, device_id, ports, lid, lmc, name, line))
        return len(self._nodes) - 1

    def end(
        self,
        node: int,
        port: int,
        peer: int,
        peer_port: int,
        *,
        port_guid: int = 0,
        lid: int = 0,
        lmc: int = 0,
        rate: str = "",
        line: int = 0,
    ) -> None:
        """Adds what one end says of its cable; saying the same twice adds nothing.

        Raises:
            InputError: a cable in port 0, which is the node itself, or too many cables.
        """
        if port == 0 or peer_port == 0:
            raise InputError(self._source, line, "a port from 1", "port 0")
        cable = (node, port, peer, peer_port)
        if cable in self._cables:
            return
        if len(self._cables) == MOST_ENDS:
            raise InputError(self._source, line, f"at most {MOST_ENDS} ends of cables", "more")
        self._cables.add(cable)
        number = self._rates.setdefault(rate, len(self._rates))
        self._ends.append((node, port, port_guid, lid, lmc, peer, peer_port, number, line))

    def subnet(self, notes: tuple[str, ...] = (), undecided: tuple[str, ...] = ()) -> Subnet:
        """The columns."""
        columns = _columns(_OF_NODES, self._nodes) | _columns(_OF_ENDS, self._ends)
        return Subnet(**columns, rates=tuple(self._rates), notes=notes, undecided=undecided)


def unicast(lid: int) -> int:
    """A LID as read, or 0 where it is none that a port can have (0xFFFF: not yet assigned)."""
    return lid if lid <= LARGEST_LID else 0
