"""A topology as GraphML, which graph tools read and write."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape

from contend.base.errors import InputError
from contend.fabric.assemble import Topology, assemble
from contend.fabric.fabric import Fabric
from contend.fabric.streams.source import XmlReader
from contend.fabric.subnet import FreePorts, NodeKind, Subnet, SubnetBuilder

# Attributes of nodes and edges: name, of what, type.
_KEYS = (
    ("kind", "node", "string"),
    ("name", "node", "string"),
    ("guid", "node", "string"),
    ("port_guid", "node", "string"),
    ("system_guid", "node", "string"),
    ("lid", "node", "long"),
    ("lmc", "node", "int"),
    ("ports", "node", "int"),
    ("source_port", "edge", "int"),
    ("target_port", "edge", "int"),
    ("rate", "edge", "string"),
)
# Characters that XML 1.0 cannot hold, even escaped.
_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")


_HEAD = re.compile(rb"<(?:[A-Za-z]{1,20}:)?graphml[\s>]")
_MOST_LID = (1 << 32) - 1
_KINDS = {"host": NodeKind.ADAPTER, "switch": NodeKind.SWITCH}


def recognises(head: bytes) -> bool:
    """Whether a graph in XML begins within the head."""
    return _HEAD.search(head) is not None


def read(chunks: Iterable[bytes], source: str) -> Topology:
    """Reads an undirected graph, an edge for each cable.

    A graph that contend did not write may lack any attribute, which a note lists: without ``kind``
    nodes with one edge are hosts, without ``name`` their ids are, GUIDs and LIDs are given out
    where not all nodes have one, edges take the lowest free ports, and rates are unknown.

    Raises:
        InputError: not well-formed, directed, an attribute that cannot be, or no host on a switch.
    """
    graph = parse(chunks, source)
    kinds = _kinds(graph)
    fabric = assemble(_subnet(graph, kinds), source)
    return Topology(fabric.replace(name=graph.name or source))


def _kinds(graph: Graph) -> list[NodeKind]:
    """What every node is."""
    if graph.lacks("kind"):
        edges = [0] * len(graph.nodes)
        for edge in graph.edges:
            edges[edge.near] += 1
            edges[edge.far] += 1
        return [NodeKind.ADAPTER if count == 1 else NodeKind.SWITCH for count in edges]
    for node in graph.nodes:
        if node.text("kind") not in _KINDS:
            got = repr(node.text("kind")[:40])
            raise graph.bad(node.line, "host or switch as kind of every node or of none", got)
    return [_KINDS[node.text("kind")] for node in graph.nodes]


def _subnet(graph: Graph, kinds: list[NodeKind]) -> Subnet:
    builder = SubnetBuilder(graph.source)
    is_host = [kind is NodeKind.ADAPTER for kind in kinds]
    given_guids = all(node.number("guid") for node in graph.nodes)
    # A switch may have no address; hosts without any get some.
    given_lids = all(
        node.number("lid", _MOST_LID)
        for node, host in zip(graph.nodes, is_host, strict=True)
        if host
    )
    hosts = sum(is_host)
    next_lid = {True: 1, False: hosts + 1}
    adapters: dict[tuple[int, str], int] = {}
    rows, lids = [], []
    for node, host in zip(graph.nodes, is_host, strict=True):
        guid = node.number("guid") if given_guids else 0
        lid = node.number("lid", _MOST_LID) if given_lids else next_lid[host]
        next_lid[host] += 1
        name = node.text("name") or node.identity
        row = adapters.get((guid, name)) if host and guid else None
        if row is None:
            row = builder.node(
                NodeKind.ADAPTER if host else NodeKind.SWITCH,
                name,
                guid=guid,
                system_guid=node.number("system_guid"),
                ports=0 if host else node.number("ports", MOST_PORTS),
                lid=0 if host else lid,
                line=node.line,
            )
            if host:
                # The ports of an adapter are hosts of their own.
                adapters[guid, name] = row
        rows.append(row)
        lids.append(lid)
    for edge, ports in zip(graph.edges, _ports(graph, rows), strict=True):
        ends = ((edge.near, ports[0]), (edge.far, ports[1]))
        for (near, port), (far, peer_port) in (ends, ends[::-1]):
            node = graph.nodes[near]
            builder.end(
                rows[near],
                port,
                rows[far],
                peer_port,
                port_guid=node.number("port_guid") if is_host[near] else 0,
                lid=lids[near] if is_host[near] else 0,
                lmc=node.number("lmc", 7) if is_host[near] else 0,
                rate=edge.text("rate"),
                line=edge.line,
            )
    return builder.subnet(tuple(_notes(graph, given_guids, given_lids)))


def _ports(graph: Graph, rows: list[int]) -> Iterator[tuple[int, int]]:
    """The ports at both ends of every edge: as given, else the lowest that is free."""
    free = FreePorts(
        end
        for edge in graph.edges
        for end in (
            (rows[edge.near], edge.number("source_port", MOST_PORTS)),
            (rows[edge.far], edge.number("target_port", MOST_PORTS)),
        )
    )

    def port_of(edge: Edge, node: int, given: str) -> int:
        port = edge.number(given, MOST_PORTS) or free.take(rows[node])
        if port > MOST_PORTS:
            raise graph.bad(edge.line, f"at most {MOST_PORTS} ports", "more")
        return port

    for edge in graph.edges:
        yield port_of(edge, edge.near, "source_port"), port_of(edge, edge.far, "target_port")


def _notes(graph: Graph, given_guids: bool, given_lids: bool) -> Iterator[str]:
    """What the graph lacks, and what stands for it."""
    if graph.lacks("kind"):
        yield "no node has a kind: nodes with one edge are hosts, all others switches"
    if graph.lacks("name"):
        yield "no node has a name: their ids are used"
    if not given_guids:
        yield "not all nodes have a guid: GUIDs are made of their names"
    if not given_lids:
        yield "not all hosts have a lid: LIDs are given out"
    without_ports = sum(
        not edge.number("source_port", MOST_PORTS) or not edge.number("target_port", MOST_PORTS)
        for edge in graph.edges
    )
    if without_ports:
        yield f"{without_ports} of {len(graph.edges)} edges lack ports: the lowest free are taken"
    without_rate = sum(not edge.text("rate") for edge in graph.edges)
    if without_rate:
        yield f"{without_rate} of {len(graph.edges)} edges lack a rate, which is unknown"


def write(fabric: Fabric) -> Iterator[str]:
    """An undirected graph: hosts ``h0``.., switches ``s0``.., an edge for each cable.

    Routes are not part of it. Characters that XML forbids become U+FFFD.
    """
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for name, what, kind in _KEYS:
        yield f'<key id="{name}" for="{what}" attr.name="{name}" attr.type="{kind}"/>\n'
    yield '<graph id="fabric" edgedefault="undirected">\n'
    yield f"<desc>{escape(_legal(fabric.name), quote=False)}</desc>\n"
    yield from _nodes(fabric)
    yield from _edges(fabric)
    yield "</graph>\n</graphml>\n"


def _legal(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)


def _nodes(fabric: Fabric) -> Iterator[str]:
    for switch, name in enumerate(fabric.switch_name):
        yield _element(
            f'node id="s{switch}"',
            kind="switch",
            name=name,
            guid=f"0x{int(fabric.switch_guid[switch]):016x}",
            system_guid=f"0x{int(fabric.switch_system_guid[switch]):016x}",
            lid=int(fabric.switch_lid[switch]),
            ports=int(fabric.switch_ports[switch]),
        )
    for host, name in enumerate(fabric.host_name):
        yield _element(
            f'node id="h{host}"',
            kind="host",
            name=name,
            guid=f"0x{int(fabric.host_guid[host]):016x}",
            port_guid=f"0x{int(fabric.host_port_guid[host]):016x}",
            system_guid=f"0x{int(fabric.host_system_guid[host]):016x}",
            lid=int(fabric.host_lid[host]),
            lmc=int(fabric.host_lmc[host]),
        )


def _edges(fabric: Fabric) -> Iterator[str]:
    for host in range(fabric.hosts):
        yield _element(
            f'edge source="h{host}" target="s{fabric.host_switch[host]}"',
            source_port=int(fabric.host_adapter_port[host]),
            target_port=int(fabric.host_port[host]),
            rate=fabric.rates[int(fabric.host_rate[host])],
        )
    for cable in range(fabric.cables):
        yield _element(
            f'edge source="s{fabric.cable_from[cable]}" target="s{fabric.cable_to[cable]}"',
            source_port=int(fabric.cable_from_port[cable]),
            target_port=int(fabric.cable_to_port[cable]),
            rate=fabric.rates[int(fabric.cable_rate[cable])],
        )


def _element(opening: str, **data: str | int) -> str:
    inner = "".join(
        f'<data key="{key}">{escape(_legal(str(value)), quote=False)}</data>'
        for key, value in data.items()
        if value != ""
    )
    return f"<{opening}>{inner}</{opening.split()[0]}>\n"


MOST_PORTS = 0xFFFE
_MOST_NODES = 1 << 20
_MOST_EDGES = 1 << 22
_MOST_DEPTH = 64
_LONGEST_TEXT = 1 << 16
# What expat may have to hold of one tag.
_LONGEST_TAG = 1 << 20
_PIECE = 1 << 16


@dataclass
class _Element:
    source: str
    line: int
    data: dict[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """An attribute, "" where it is absent."""
        return self.data.get(name, "")

    def number(self, name: str, most: int = (1 << 64) - 1) -> int:
        """An attribute that is a number, 0 where it is absent.

        Raises:
            InputError: it is no number, or above `most`.
        """
        text = self.text(name).strip()
        if not text:
            return 0
        try:
            value = int(text, 0) if len(text) <= 24 else -1
        except ValueError:
            value = -1
        if not 0 <= value <= most:
            raise InputError(self.source, self.line, f"a number as {name}", repr(text[:40]))
        return value


@dataclass
class GraphNode(_Element):
    """A node with its id."""

    identity: str = ""


@dataclass
class Edge(_Element):
    """An edge between two nodes, by their numbers."""

    near: int = 0
    far: int = 0


@dataclass(frozen=True)
class Graph:
    """A graph as its file says it."""

    source: str
    name: str
    nodes: list[GraphNode]
    edges: list[Edge]

    def lacks(self, name: str) -> bool:
        """Whether no node has an attribute."""
        return not any(node.text(name) for node in self.nodes)

    def bad(self, line: int, expected: str, got: str) -> InputError:
        """An error of this file."""
        return InputError(self.source, line, expected, got)


def parse(chunks: Iterable[bytes], source: str) -> Graph:
    """Reads the one graph of a file.

    Raises:
        InputError: XML that is not well-formed or has a document type, no graph or several, one
            that is directed or has hyperedges, or an edge whose nodes do not come before it.
    """
    reader = _Reader(source)
    for chunk in chunks:
        for start in range(0, len(chunk), _PIECE):
            reader.read(chunk[start : start + _PIECE])
    return reader.graph()


class _Reader(XmlReader):
    def __init__(self, source: str) -> None:
        # What is not UTF-8 any more, UTF-16, has become it on the way here.
        super().__init__(source, "a graph", " ")
        self._nodes: list[GraphNode] = []
        self._edges: list[Edge] = []
        self._numbers: dict[str, int] = {}
        self._names: dict[str, str] = {}
        self._path: list[str] = []
        self._element: GraphNode | Edge | None = None
        self._text: list[str] | None = None
        self._length = 0
        self._key = ""
        self._name = ""
        self._graphs = 0
        self._waiting = 0
        self._parser.buffer_text = True
        self._parser.CharacterDataHandler = self._characters

    def read(self, piece: bytes, *, last: bool = False) -> None:
        self._waiting += len(piece)
        super().read(piece, last=last)
        if self._waiting > _LONGEST_TAG + _PIECE:
            self._fail(f"a tag of at most {_LONGEST_TAG} bytes", "a longer one")

    def graph(self) -> Graph:
        self.read(b"", last=True)
        if self._graphs == 0:
            raise InputError(self._source, 0, "a graph", "none")
        return Graph(self._source, self._name, self._nodes, self._edges)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._waiting = 0
        name = name.rpartition(" ")[2]
        self._path.append(name)
        if len(self._path) > _MOST_DEPTH:
            self._fail(f"at most {_MOST_DEPTH} elements in each other", "more")
        if name == "key":
            self._names[attributes.get("id", "")] = attributes.get("attr.name", "")
        elif name == "graph":
            self._begin_graph(attributes)
        elif name == "node":
            self._begin_node(attributes)
        elif name == "edge":
            self._begin_edge(attributes)
        elif name == "hyperedge":
            self._fail("edges between two nodes", "a hyperedge")
        elif name == "data" and self._element is not None:
            self._key = self._names.get(attributes.get("key", ""), attributes.get("key", ""))
            self._text, self._length = [], 0
        elif name == "desc" and self._path[-2:-1] == ["graph"]:
            self._text, self._length = [], 0

    def _begin_graph(self, attributes: dict[str, str]) -> None:
        self._graphs += 1
        if self._graphs > 1:
            self._fail("one graph", "another")
        if attributes.get("edgedefault", "undirected") != "undirected":
            self._fail("an undirected graph, as a cable is one edge", "a directed one")

    def _begin_node(self, attributes: dict[str, str]) -> None:
        identity = attributes.get("id", "")
        if not identity or identity in self._numbers:
            self._fail("a node with an id of its own", repr(identity[:40]))
        if len(self._nodes) == _MOST_NODES:
            self._fail(f"at most {_MOST_NODES} nodes", "more")
        node = GraphNode(self._source, self._line, identity=identity)
        self._numbers[identity] = len(self._nodes)
        self._nodes.append(node)
        self._element = node

    def _begin_edge(self, attributes: dict[str, str]) -> None:
        ends = []
        for end in ("source", "target"):
            identity = attributes.get(end, "")
            if identity not in self._numbers:
                self._fail(f"the id of a node above as {end}", repr(identity[:40]))
            ends.append(self._numbers[identity])
        if attributes.get("directed", "false") != "false":
            self._fail("an undirected edge, as a cable is one edge", "a directed one")
        if len(self._edges) == _MOST_EDGES:
            self._fail(f"at most {_MOST_EDGES} edges", "more")
        edge = Edge(self._source, self._line, near=ends[0], far=ends[1])
        self._edges.append(edge)
        self._element = edge

    def _end(self, name: str) -> None:
        self._waiting = 0
        name = self._path.pop()
        if name in ("node", "edge"):
            self._element = None
        elif self._text is not None and name == "data" and self._element is not None:
            self._element.data[self._key] = "".join(self._text)
            self._text = None
        elif self._text is not None and name == "desc":
            self._name = "".join(self._text)
            self._text = None

    def _characters(self, text: str) -> None:
        self._waiting = 0
        if self._text is None:
            return
        self._length += len(text)
        if self._length > _LONGEST_TEXT:
            self._fail(f"a text of at most {_LONGEST_TEXT} characters", "a longer one")
        self._text.append(text)
