"""What a topology file says before it is judged: nodes, their GUIDs, the ends they declare."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from itertools import repeat
from typing import Any, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import InputError

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


def _columns(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    """The columns of some names, of the types that a subnet has them in."""
    hints = get_type_hints(Subnet)
    columns = zip(*rows, strict=True) if rows else repeat((), len(names))
    return {
        name: tuple(values) if hints[name] == tuple[str, ...] else _numbers(values, hints[name])
        for name, values in zip(names, columns, strict=True)
    }


def _numbers(values: Sequence[int], hint: Any) -> NDArray[Any]:
    """An array as ``NDArray[np.uint8]`` says it."""
    [kind] = get_args(get_args(hint)[1])
    return np.array(values, dtype=kind)


class SubnetBuilder:
    """Rows are added one by one; `subnet` makes the columns of them."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._nodes: list[tuple[Any, ...]] = []
        self._ends: list[tuple[Any, ...]] = []
        self._rates: dict[str, int] = {"": 0}
        self._cables: set[tuple[int, int, int, int]] = set()

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
        names = [column.name for column in fields(Subnet)]
        ends, rates = names.index("node"), names.index("rates")
        columns = _columns(names[:ends], self._nodes) | _columns(names[ends:rates], self._ends)
        return Subnet(**columns, rates=tuple(self._rates), notes=notes, undecided=undecided)


class FreePorts:
    """The lowest free ports of nodes, for ends of cables that tell none.

    Args:
        told: nodes with their ports, of ends that tell them.
    """

    def __init__(self, told: Iterable[tuple[Any, int]]) -> None:
        self._used: dict[Any, set[int]] = defaultdict(set)
        self._next: dict[Any, int] = defaultdict(lambda: 1)
        for node, port in told:
            self._used[node].add(port)

    def take(self, node: Any) -> int:
        """A port of a node, which is no longer free."""
        used, port = self._used[node], self._next[node]
        while port in used:
            port += 1
        self._next[node] = port + 1
        return port


def unicast(lid: int) -> int:
    """A LID as read, or 0 where it is none that a port can have (0xFFFF: not yet assigned)."""
    return lid if lid <= LARGEST_LID else 0


# Neither an Ethernet address nor a vendor's GUID has it.
_MADE = 1 << 63


def made_guid(text: str) -> int:
    """A GUID of a name, the same wherever else that name is read."""
    digest = hashlib.blake2b(text.encode("utf-8", "backslashreplace"), digest_size=8).digest()
    return _MADE | int.from_bytes(digest, "big")


def _following(number: int) -> int:
    return _MADE | (number + 1) % _MADE


def with_guids(subnet: Subnet) -> Subnet:
    """The subnet with a GUID for every node that has none, and for the ports of such adapters.

    They are made of names alone, so that they stay the same when other nodes come and go. An
    adapter's first port has the GUID of its node.
    """
    made = subnet.guid == 0
    if not made.any():
        return subnet
    guid, port_guid = subnet.guid.copy(), subnet.port_guid.copy()
    taken = {*guid.tolist(), *port_guid.tolist()}
    # Where the next node of a name goes on: thousands may share one.
    following: dict[str, int] = {}

    def free(text: str) -> int:
        number = following.get(text) or made_guid(text)
        while number in taken:
            number = _following(number)
        taken.add(number)
        following[text] = _following(number)
        return number

    for row in np.flatnonzero(made).tolist():
        guid[row] = free(subnet.name[row])
    of_adapter = (made & (subnet.kind != NodeKind.SWITCH))[subnet.node]
    of_port: dict[tuple[int, int], int] = {}
    for end in np.flatnonzero(of_adapter & (port_guid == 0)).tolist():
        key = row, port = int(subnet.node[end]), int(subnet.port[end])
        if key not in of_port:
            of_port[key] = int(guid[row]) if port == 1 else free(f"{subnet.name[row]}\n{port}")
        port_guid[end] = of_port[key]
    system_guid = np.where(made & (subnet.system_guid == 0), guid, subnet.system_guid)
    return replace(subnet, guid=guid, port_guid=port_guid, system_guid=system_guid)
