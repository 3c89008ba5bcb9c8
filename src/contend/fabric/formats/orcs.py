"""The graphs of ORCS, a simulator of 2009: topology and routes in one DOT file.

Nodes named H<guid> are hosts, all others switches. A cable is two edges, one for each direction,
and an edge's comment lists the hosts whose traffic takes it; ``*`` stands for all. The attributes
label, port, peer_port and rate are contend's own and may be absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import ROUTE, ROUTES, UsageError
from contend.base.progress import step
from contend.base.units import counted
from contend.fabric.assemble import Topology, assemble
from contend.fabric.fabric import Fabric, Finding
from contend.fabric.formats.dot import DotGraph, parse
from contend.fabric.subnet import NodeKind, SubnetBuilder

NO_PORT = 0xFFFF
_MOST_ENTRIES = 1 << 30
_HEAD = re.compile(rb"^[^\S\n]*(?:strict\s+)?digraph\b[^{]{0,300}\{", re.MULTILINE)
_GUID = re.compile(r"[A-Za-z]-?(?:0x)?([0-9A-Fa-f]{1,16})")


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


def _fabric(graph: DotGraph) -> tuple[Fabric, list[int]]:
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
    """GUIDs from the names, 0 where a name holds none of its own."""
    guids: list[int] = []
    taken: set[int] = set()
    for name in names:
        match = _GUID.fullmatch(name)
        guid = int(match[1], 16) if match else 0
        guids.append(0 if guid in taken else guid)
        taken.add(guid)
    return guids


def _with_tables(graph: DotGraph, fabric: Fabric, node_of_switch: list[int]) -> Topology:
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
            # Hosts have the addresses from 1.
            hosts = row[1 : sum(map(_is_host, graph.numbers)) + 1]
            hosts[hosts == NO_PORT] = edge.port
    for switch, lid in enumerate(fabric.switch_lid.tolist()):
        ports[switch, lid] = 0
    if twice:
        text = (
            f"{counted(twice, 'route')} listed on two edges that leave a switch; the first counts"
        )
        fabric = fabric.replace(findings=(*fabric.findings, Finding("two routes", text)))
    return Topology(fabric, ports)


def _addresses(graph: DotGraph) -> NDArray[np.int64]:
    """Address of every host by its number in `mentioned`."""
    hosts = [name for name in graph.numbers if _is_host(name)]
    by_name = {name: address for address, name in enumerate(hosts, start=1)}
    for name in graph.mentioned:
        if name not in by_name:
            raise graph.bad(0, "hosts of the graph in comments", repr(name[:60]))
    return np.array([by_name[name] for name in graph.mentioned], dtype=np.int64)


def write(fabric: Fabric) -> Iterator[str]:
    """The graph, an edge's comment listing the hosts whose traffic takes it.

    Hosts that share a GUID, as the ports of an adapter may, are told apart by their port GUIDs or,
    where that fails too, by numbers given out here.

    Raises:
        UsageError: the fabric has no routes, or hosts with several addresses (LMC): a graph holds
            one route to a host.
    """
    if fabric.tables is None:
        raise UsageError("an ORCS graph carries routes: give ", ROUTES, " or ", ROUTE)
    if fabric.host_lmc.any():
        raise UsageError("an ORCS graph holds one route to a host, but hosts have several LIDs")
    hosts, switches = _host_nodes(fabric), _switch_nodes(fabric)
    yield f"digraph {_quoted(fabric.name)} {{\n"
    for node, name in zip(hosts, fabric.host_name, strict=True):
        yield f"{node} [label={_quoted(name)}];\n"
    ports = fabric.switch_ports.tolist()
    for node, name, count in zip(switches, fabric.switch_name, ports, strict=True):
        yield f"{node} [label={_quoted(name)}, ports={count}];\n"
    edges = chain(_host_edges(fabric, hosts, switches), _switch_edges(fabric, hosts, switches))
    with step(f"edges of {fabric.name}") as tell:
        for done, edge in enumerate(edges, start=1):
            yield edge
            tell(done / (2 * (fabric.hosts + fabric.cables)))
    yield "}\n"


def _host_nodes(fabric: Fabric) -> list[str]:
    for column in (fabric.host_guid, fabric.host_port_guid):
        if len(np.unique(column)) == len(column) and column.all():
            return [f"H{guid:016x}" for guid in column.tolist()]
    return [f"H{host + 1:016x}" for host in range(fabric.hosts)]


def _switch_nodes(fabric: Fabric) -> list[str]:
    guids = fabric.switch_guid
    if len(np.unique(guids)) == len(guids) and guids.all():
        return [f"S{guid:016x}" for guid in guids.tolist()]
    return [f"S{switch + 1:016x}" for switch in range(fabric.switches)]


def _host_edges(fabric: Fabric, hosts: list[str], switches: list[str]) -> Iterator[str]:
    taken = _Taken(fabric, hosts)
    rows = zip(
        hosts,
        fabric.host_adapter_port.tolist(),
        fabric.host_switch.tolist(),
        fabric.host_port.tolist(),
        fabric.host_rate.tolist(),
        strict=True,
    )
    for host, adapter_port, switch, port, rate in rows:
        rated = _rate(fabric, rate)
        # A port of 0 is one that the reader may choose.
        near, far = f"port={adapter_port}", f"peer_port={adapter_port}"
        takes = taken.by(switch, port)
        yield f'{host} -> {switches[switch]} [comment="*", {near}, peer_port={port}{rated}];\n'
        yield f'{switches[switch]} -> {host} [comment="{takes}", port={port}, {far}{rated}];\n'


def _switch_edges(fabric: Fabric, hosts: list[str], switches: list[str]) -> Iterator[str]:
    """The two directions of every cable, each with the hosts that the tables send over it."""
    taken = _Taken(fabric, hosts)
    columns = (
        (fabric.cable_from, fabric.cable_from_port, fabric.cable_to, fabric.cable_to_port),
        (fabric.cable_to, fabric.cable_to_port, fabric.cable_from, fabric.cable_from_port),
    )
    for direction in columns:
        rows = zip(*(column.tolist() for column in (*direction, fabric.cable_rate)), strict=True)
        for tail, port, head, peer_port, rate in rows:
            yield (
                f'{switches[tail]} -> {switches[head]} [comment="{taken.by(tail, port)}", '
                f"port={port}, peer_port={peer_port}{_rate(fabric, rate)}];\n"
            )


class _Taken:
    """Which hosts the tables send through which port."""

    def __init__(self, fabric: Fabric, hosts: list[str]) -> None:
        assert fabric.tables is not None
        tables = fabric.tables
        # A host without an address has no entry either.
        reachable = (fabric.host_lid > 0) & (fabric.host_lid < tables.addresses)
        self._names = np.array(hosts, dtype=object)[reachable]
        self._lids = fabric.host_lid[reachable]
        self._ports = tables.ports

    def by(self, switch: int, port: int) -> str:
        """Nodes of the hosts, for a comment."""
        return ", ".join(self._names[self._ports[switch, self._lids] == port])


def _rate(fabric: Fabric, rate: int) -> str:
    return f", rate={_quoted(fabric.rates[rate])}" if fabric.rates[rate] else ""


def _quoted(text: str) -> str:
    """A quoted text of DOT."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
