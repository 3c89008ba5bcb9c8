"""What a topology file says, before it is judged: nodes and the port ends they declare."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray


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
