"""Writes the graphs of ORCS, topology and routes in one DOT file; see the reader for them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from contend.errors import UsageError
from contend.fabric.fabric import Fabric


def write(fabric: Fabric) -> Iterator[str]:
    """The graph, an edge's comment listing the hosts whose traffic takes it.

    Hosts that share a GUID, as the ports of an adapter may, are told apart by their port GUIDs or,
    where that fails too, by numbers given out here.

    Raises:
        UsageError: the fabric has no routes, or hosts with several addresses (LMC): a graph holds
            one route to a host.
    """
    if fabric.routes is None:
        raise UsageError("an ORCS graph carries routes: give routes=FILE or route=ENGINE")
    if fabric.host_lmc.any():
        raise UsageError("an ORCS graph holds one route to a host, but hosts have several LIDs")
    hosts, switches = _host_nodes(fabric), _switch_nodes(fabric)
    yield f"digraph {_quoted(fabric.name)} {{\n"
    for node, name in zip(hosts, fabric.host_name, strict=True):
        yield f"{node} [label={_quoted(name)}];\n"
    ports = fabric.switch_ports.tolist()
    for node, name, count in zip(switches, fabric.switch_name, ports, strict=True):
        yield f"{node} [label={_quoted(name)}, ports={count}];\n"
    yield from _host_edges(fabric, hosts, switches)
    yield from _switch_edges(fabric, hosts, switches)
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
        assert fabric.routes is not None
        tables = fabric.routes
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
