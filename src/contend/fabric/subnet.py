"""What a topology file says, before it is judged: nodes and the port ends they declare."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from contend.errors import InputError


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


LARGEST_LID = 0xBFFF


@dataclass
class _Nodes:
    kind: list[int] = field(default_factory=list)
    guid: list[int] = field(default_factory=list)
    system_guid: list[int] = field(default_factory=list)
    device_id: list[int] = field(default_factory=list)
    ports: list[int] = field(default_factory=list)
    lid: list[int] = field(default_factory=list)
    lmc: list[int] = field(default_factory=list)
    name: list[str] = field(default_factory=list)
    line: list[int] = field(default_factory=list)


@dataclass
class _Ends:
    node: list[int] = field(default_factory=list)
    port: list[int] = field(default_factory=list)
    port_guid: list[int] = field(default_factory=list)
    lid: list[int] = field(default_factory=list)
    lmc: list[int] = field(default_factory=list)
    peer: list[int] = field(default_factory=list)
    peer_port: list[int] = field(default_factory=list)
    rate: list[int] = field(default_factory=list)
    line: list[int] = field(default_factory=list)


class SubnetBuilder:
    """Rows are added one by one; `subnet` makes the columns of them."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._nodes = _Nodes()
        self._ends = _Ends()
        self._rates: dict[str, int] = {"": 0}
        self._cables: set[tuple[int, int, int, int]] = set()

    @property
    def nodes(self) -> int:
        """Number of nodes so far."""
        return len(self._nodes.kind)

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
        """Adds a node and returns its row."""
        nodes = self._nodes
        nodes.kind.append(kind)
        nodes.name.append(name)
        nodes.guid.append(guid)
        nodes.system_guid.append(system_guid)
        nodes.device_id.append(device_id)
        nodes.ports.append(ports)
        nodes.lid.append(lid)
        nodes.lmc.append(lmc)
        nodes.line.append(line)
        return len(nodes.kind) - 1

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
            InputError: a cable in port 0, which is the node itself.
        """
        if port == 0 or peer_port == 0:
            raise InputError(self._source, line, "a port from 1", "port 0")
        cable = (node, port, peer, peer_port)
        if cable in self._cables:
            return
        self._cables.add(cable)
        ends = self._ends
        ends.node.append(node)
        ends.port.append(port)
        ends.port_guid.append(port_guid)
        ends.lid.append(lid)
        ends.lmc.append(lmc)
        ends.peer.append(peer)
        ends.peer_port.append(peer_port)
        ends.rate.append(self._rates.setdefault(rate, len(self._rates)))
        ends.line.append(line)

    def subnet(self, notes: tuple[str, ...] = ()) -> Subnet:
        """The columns."""
        nodes, ends = self._nodes, self._ends
        return Subnet(
            kind=np.array(nodes.kind, dtype=np.uint8),
            guid=np.array(nodes.guid, dtype=np.uint64),
            system_guid=np.array(nodes.system_guid, dtype=np.uint64),
            device_id=np.array(nodes.device_id, dtype=np.uint32),
            ports=np.array(nodes.ports, dtype=np.uint16),
            lid=np.array(nodes.lid, dtype=np.uint32),
            lmc=np.array(nodes.lmc, dtype=np.uint8),
            name=tuple(nodes.name),
            node_line=np.array(nodes.line, dtype=np.uint32),
            node=np.array(ends.node, dtype=np.int32),
            port=np.array(ends.port, dtype=np.uint16),
            port_guid=np.array(ends.port_guid, dtype=np.uint64),
            end_lid=np.array(ends.lid, dtype=np.uint32),
            end_lmc=np.array(ends.lmc, dtype=np.uint8),
            peer=np.array(ends.peer, dtype=np.int32),
            peer_port=np.array(ends.peer_port, dtype=np.uint16),
            rate=np.array(ends.rate, dtype=np.uint16),
            end_line=np.array(ends.line, dtype=np.uint32),
            rates=tuple(self._rates),
            notes=notes,
        )


def unicast(lid: int) -> int:
    """A LID as read, or 0 where it is none that a port can have (0xFFFF: not yet assigned)."""
    return lid if lid <= LARGEST_LID else 0
