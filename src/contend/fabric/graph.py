"""Fabrics as graphs of networkx, and graphs of networkx as fabrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from contend.base.errors import MissingError, UsageError
from contend.fabric.fabric import Fabric, build
from contend.fabric.subnet import FreePorts

_KINDS = ("host", "switch")
_MOST_PORTS = 0xFFFE


def to_networkx(fabric: Fabric) -> Any:
    """A fabric as a `networkx.MultiGraph`, with the attributes that `from_networkx` reads.

    Hosts are the nodes ``h0``.., switches ``s0``..; every cable is an edge. Routes and findings
    are left out.

    Raises:
        MissingError: networkx is not installed.
    """
    try:
        import networkx
    except ModuleNotFoundError:
        raise MissingError("to_networkx needs networkx: pip install networkx") from None
    graph = networkx.MultiGraph(name=fabric.name)
    for switch, name in enumerate(fabric.switch_name):
        graph.add_node(
            f"s{switch}",
            kind="switch",
            name=name,
            ports=int(fabric.switch_ports[switch]),
            guid=int(fabric.switch_guid[switch]),
            lid=int(fabric.switch_lid[switch]),
        )
    for host, name in enumerate(fabric.host_name):
        graph.add_node(
            f"h{host}",
            kind="host",
            name=name,
            guid=int(fabric.host_guid[host]),
            lid=int(fabric.host_lid[host]),
        )
    for number, (near, near_port, far, far_port, rate) in enumerate(_cables(fabric)):
        ports = {near: near_port, far: far_port}
        if near == far:
            ports = {near: (near_port, far_port)}
        graph.add_edge(near, far, ports=ports, rate=fabric.rates[rate], number=number)
    return graph


def _cables(fabric: Fabric) -> Iterator[tuple[str, Any, str, Any, int]]:
    """Every cable: a node, its port, the other node, its port, and the index of the rate."""
    for cable in range(fabric.cables):
        yield (
            f"s{fabric.cable_from[cable]}",
            int(fabric.cable_from_port[cable]),
            f"s{fabric.cable_to[cable]}",
            int(fabric.cable_to_port[cable]),
            int(fabric.cable_rate[cable]),
        )
    for host in range(fabric.hosts):
        yield (
            f"h{host}",
            int(fabric.host_adapter_port[host]),
            f"s{fabric.host_switch[host]}",
            int(fabric.host_port[host]),
            int(fabric.host_rate[host]),
        )


def from_networkx(graph: Any) -> Fabric:
    """A fabric from an undirected graph of networkx, parallel edges included.

    Nodes: ``kind`` is ``host`` or ``switch``; where no node has it, nodes with one edge are hosts.
    ``name``, the node itself if absent; ``ports``, how many a switch has; ``guid`` and ``lid``
    count where all nodes have them. Edges: ``ports``, the port at either end by node, such as
    ``{"leaf": 3, "spine": 1}`` (two numbers for a node that is cabled to itself), lowest free
    ports if absent; ``rate``, such as ``4xHDR``, unknown if absent; ``number``, the cables' order
    where all edges have one. The graph's ``name`` is the fabric's. Hosts and switches are numbered
    in the order of the nodes, and a cable runs from the end that its ``ports`` name first.

    Raises:
        UsageError: no such graph, a host without exactly one cable to a switch, or a port that
            cannot be.
    """
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        got = type(graph).__name__
        raise UsageError(f"expected a file, a generator or a graph of networkx, got {got}")
    if graph.is_directed():
        raise UsageError("expected an undirected graph: a cable carries both directions")
    kinds = _kinds(graph)
    hosts = [node for node, kind in kinds.items() if kind == "host"]
    switches = {node: index for index, node in enumerate(n for n in kinds if kinds[n] == "switch")}
    if not hosts or not switches:
        raise UsageError(f"expected hosts and switches, got {len(hosts)} and {len(switches)}")
    rates = {"": 0}
    at_host: dict[Any, tuple[int, int, int, int]] = {}
    cables: list[tuple[int, int, int, int, int]] = []
    for (near, far, rate), (near_port, far_port) in _with_ports(graph, switches):
        index = rates.setdefault(rate, len(rates))
        if near in switches and far in switches:
            cables.append((switches[near], near_port, switches[far], far_port, index))
            continue
        if near in switches:
            near, near_port, far, far_port = far, far_port, near, near_port
        if far not in switches or near in at_host:
            raise UsageError(f"expected one cable from host {near!r}, and to a switch")
        at_host[near] = (switches[far], far_port, near_port, index)
    if alone := next((host for host in hosts if host not in at_host), None):
        raise UsageError(f"expected a cable from host {alone!r}, got none")
    columns = np.array([at_host[host] for host in hosts], dtype=np.int64)
    ends = np.array(cables, dtype=np.int64).reshape(-1, 5)
    fabric = build(
        str(graph.graph.get("name") or "graph"),
        host_name=[_name(graph, host) for host in hosts],
        host_switch=columns[:, 0],
        host_port=columns[:, 1],
        switch_name=[_name(graph, switch) for switch in switches],
        switch_ports=_switch_ports(graph, switches, columns, ends),
        cables=ends[:, :4],
    ).replace(
        host_adapter_port=columns[:, 2].astype(np.uint16),
        host_rate=columns[:, 3].astype(np.uint16),
        cable_rate=ends[:, 4].astype(np.uint16),
        rates=tuple(rates),
    )
    # Building the core's graph finds ports that hold two cables.
    fabric.core  # noqa: B018
    return _identified(fabric, graph, hosts, list(switches))


def _kinds(graph: Any) -> dict[Any, str]:
    """What every node is, in their order."""
    given = dict(graph.nodes(data="kind"))
    if all(kind is None for kind in given.values()):
        return {node: "host" if graph.degree(node) == 1 else "switch" for node in given}
    for node, kind in given.items():
        if kind not in _KINDS:
            raise UsageError(f"node {node!r}: expected kind host or switch, got {kind!r}")
    return given


def _name(graph: Any, node: Any) -> str:
    name = graph.nodes[node].get("name")
    return str(node) if name is None else str(name)


def _with_ports(
    graph: Any, switches: dict[Any, int]
) -> Iterator[tuple[tuple[Any, Any, str], tuple[int, int]]]:
    """Every cable with its ports; a host's is 1 unless the edge says otherwise."""
    edges = [_directed(*edge) for edge in graph.edges(data=True)]
    if all(isinstance(data.get("number"), int) for *_, data in edges):
        edges.sort(key=lambda edge: edge[2]["number"])
    given = [_given_ports(near, far, data.get("ports")) for near, far, data in edges]
    free = FreePorts(
        end
        for (near, far, _), ports in zip(edges, given, strict=True)
        for end in ((near, ports[0]), (far, ports[1]))
    )

    def port_of(node: Any, port: int) -> int:
        return port or (free.take(node) if node in switches else 1)

    for (near, far, data), ports in zip(edges, given, strict=True):
        rate = str(data.get("rate") or "")
        yield (near, far, rate), (port_of(near, ports[0]), port_of(far, ports[1]))


def _directed(near: Any, far: Any, data: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """An edge from the end that its ports name first; the graph itself does not tell."""
    ports = data.get("ports")
    if isinstance(ports, dict) and next(iter(ports), near) == far:
        return far, near, data
    return near, far, data


def _given_ports(near: Any, far: Any, ports: Any) -> tuple[int, int]:
    """The ports that an edge names at its ends, 0 where it does not."""
    if ports is None:
        return 0, 0
    try:
        pair = tuple(ports[near]) if near == far else (ports.get(near, 0), ports.get(far, 0))
        first, second = (int(port) for port in pair)
    except (AttributeError, KeyError, TypeError, ValueError):
        first, second = -1, -1
    if not (0 <= first <= _MOST_PORTS and 0 <= second <= _MOST_PORTS):
        raise UsageError(
            f"edge {near!r} to {far!r}: expected ports as numbers by node, got {ports!r}"
        )
    return first, second


def _switch_ports(
    graph: Any, switches: dict[Any, int], columns: np.ndarray, ends: np.ndarray
) -> np.ndarray:
    """Number of ports of every switch: as the node says, but at least the highest in use."""
    most = np.array([int(graph.nodes[switch].get("ports") or 0) for switch in switches])
    np.maximum.at(most, columns[:, 0], columns[:, 1])
    np.maximum.at(most, ends[:, 0], ends[:, 1])
    np.maximum.at(most, ends[:, 2], ends[:, 3])
    if most.max() > _MOST_PORTS:
        raise UsageError(f"expected switches of at most {_MOST_PORTS} ports, got {most.max()}")
    return most


def _identified(fabric: Fabric, graph: Any, hosts: list[Any], switches: list[Any]) -> Fabric:
    """The fabric with the GUIDs and LIDs of its nodes, each where all nodes have one."""
    changes: dict[str, np.ndarray] = {}
    for attribute, kind in (("guid", np.uint64), ("lid", np.uint32)):
        values = dict(graph.nodes(data=attribute))
        if any(value is None for value in values.values()):
            continue
        try:
            changes[f"host_{attribute}"] = np.array([values[node] for node in hosts], dtype=kind)
            changes[f"switch_{attribute}"] = np.array(
                [values[node] for node in switches], dtype=kind
            )
        except (OverflowError, TypeError, ValueError) as error:
            raise UsageError(f"{attribute}: expected a number at every node: {error}") from None
    if "host_guid" in changes:
        port = fabric.host_adapter_port.astype(np.uint64)
        changes["host_port_guid"] = changes["host_guid"] + port
        changes["host_system_guid"] = changes["host_guid"]
        changes["switch_system_guid"] = changes["switch_guid"]
    return fabric.replace(**changes)
