"""Reads the graphs of ORCS, the simulator of 2008: topology and routes in one DOT file.

Nodes named H<guid> are hosts, all others switches. A cable is two edges, one for each direction,
and an edge's comment lists the hosts whose traffic takes it; ``*`` stands for all. The attributes
label, port, peer_port and rate are contend's own and may be absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from contend.fabric.assemble import Topology, assemble
from contend.fabric.fabric import Fabric, Finding
from contend.fabric.read.dot import Graph, parse
from contend.fabric.subnet import NodeKind, SubnetBuilder
from contend.units import counted

NO_PORT = 0xFFFF
_MOST_ENTRIES = 1 << 30
_HEAD = re.compile(rb"^[^\S\n]*(?:strict\s+)?digraph\b[^{]{0,300}\{", re.MULTILINE)
_GUID = re.compile(r"[A-Za-z]-?(?:0x)?([0-9A-Fa-f]{1,16})")
_NAMED_GUIDS = 0x3_0000_0000


def recognises(head: bytes) -> bool:
    """Whether a directed graph begins within the head."""
    return _HEAD.search(head) is not None


def read(chunks: Iterable[bytes], source: str) -> Topology:
    """Reads the graph; hosts get the addresses 1 .. hosts, switches those that follow.

    Raises:
        InputError: not a plain directed graph, an edge without its way back, a host with more
            than one cable, a comment that names no host of the graph.
    """
    graph = parse(chunks, source)
    fabric, node_of_switch = _fabric(graph)
    return _with_tables(graph, fabric, node_of_switch)


def _is_host(name: str) -> bool:
    return name.startswith("H")


def _fabric(graph: Graph) -> tuple[Fabric, list[int]]:
    """The fabric, and the node that every switch is."""
    names = list(graph.numbers)
    builder = SubnetBuilder(graph.source)
    guids = _guids(names)
    hosts = sum(map(_is_host, names))
    next_lid = {True: 1, False: hosts + 1}
    lids, switches = [], []
    for node, name in enumerate(names):
        is_host = _is_host(name)
        lids.append(next_lid[is_host])
        next_lid[is_host] += 1
        if not is_host:
            switches.append(node)
        builder.node(
            NodeKind.ADAPTER if is_host else NodeKind.SWITCH,
            graph.labels.get(node, name),
            guid=guids[node],
            system_guid=guids[node],
            ports=graph.ports.get(node, 0),
            lid=0 if is_host else lids[node],
            line=graph.lines[node],
        )
    cabled: set[int] = set()
    for edge in graph.edges:
        if _is_host(names[edge.tail]):
            if edge.tail in cabled:
                raise graph.bad(edge.line, "one cable at a host", f"another at {names[edge.tail]}")
            cabled.add(edge.tail)
        builder.end(
            edge.tail,
            edge.port,
            edge.head,
            edge.peer_port,
            port_guid=guids[edge.tail],
            lid=lids[edge.tail] if _is_host(names[edge.tail]) else 0,
            rate=edge.rate,
            line=edge.line,
        )
    return assemble(builder.subnet(), graph.source), switches


def _guids(names: list[str]) -> list[int]:
    """GUIDs from the names, or given out where a name holds none."""
    guids: list[int] = []
    taken: set[int] = set()
    for number, name in enumerate(names):
        match = _GUID.fullmatch(name)
        guid = int(match[1], 16) if match else 0
        if guid == 0 or guid in taken:
            guid = _NAMED_GUIDS + number
        taken.add(guid)
        guids.append(guid)
    return guids


def _with_tables(graph: Graph, fabric: Fabric, node_of_switch: list[int]) -> Topology:
    """Tables from the comments; none where no edge has one."""
    if all(edge.takes is not None and len(edge.takes) == 0 for edge in graph.edges):
        return Topology(fabric)
    addresses = len(graph.numbers) + 1
    if len(node_of_switch) * addresses > _MOST_ENTRIES:
        entries = f"{len(node_of_switch)} x {addresses}"
        raise graph.bad(0, f"at most {_MOST_ENTRIES} table entries", entries)
    ports = np.full((len(node_of_switch), addresses), NO_PORT, dtype=np.uint16)
    address_of = _addresses(graph)
    switch_of = {node: switch for switch, node in enumerate(node_of_switch)}
    routed = [edge for edge in graph.edges if edge.tail in switch_of]
    twice = 0
    for edge in routed:
        if edge.takes is None:
            continue
        row = ports[switch_of[edge.tail]]
        addresses_taken = address_of[edge.takes]
        fresh = row[addresses_taken] == NO_PORT
        twice += int(np.count_nonzero(~fresh))
        row[addresses_taken[fresh]] = edge.port
    for edge in routed:
        if edge.takes is None:
            # What no comment names goes where everything goes.
            row = ports[switch_of[edge.tail]]
            hosts = row[1 : _host_addresses(graph)]
            hosts[hosts == NO_PORT] = edge.port
    for switch, lid in enumerate(fabric.switch_lid.tolist()):
        ports[switch, lid] = 0
    if twice:
        text = (
            f"{counted(twice, 'route')} listed on two edges that leave a switch; the first counts"
        )
        fabric = fabric.replace(findings=(*fabric.findings, Finding("two routes", text)))
    return Topology(fabric, ports)


def _host_addresses(graph: Graph) -> int:
    """One more than the largest address of a host."""
    return sum(map(_is_host, graph.numbers)) + 1


def _addresses(graph: Graph) -> NDArray[np.int64]:
    """Address of every host by its number in `mentioned`."""
    hosts = [name for name in graph.numbers if _is_host(name)]
    by_name = {name: address for address, name in enumerate(hosts, start=1)}
    for name in graph.mentioned:
        if name not in by_name:
            raise graph.bad(0, "hosts of the graph in comments", repr(name[:60]))
    return np.array([by_name[name] for name in graph.mentioned], dtype=np.int64)
