"""The nodes and edges of a graph in GraphML, as they stand there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from contend.errors import InputError

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
            reader.feed(chunk[start : start + _PIECE])
    return reader.graph()


class _Reader:
    def __init__(self, source: str) -> None:
        self._source = source
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
        # What is not UTF-8 any more, UTF-16, has become it on the way here.
        self._parser = expat.ParserCreate("utf-8", " ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._document_type

    def feed(self, piece: bytes, *, last: bool = False) -> None:
        self._waiting += len(piece)
        try:
            self._parser.Parse(piece, last)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise InputError(self._source, error.lineno, "well-formed XML", reason) from None
        if self._waiting > _LONGEST_TAG + _PIECE:
            self._fail(f"a tag of at most {_LONGEST_TAG} bytes", "a longer one")

    def graph(self) -> Graph:
        self.feed(b"", last=True)
        if self._graphs == 0:
            raise InputError(self._source, 0, "a graph", "none")
        return Graph(self._source, self._name, self._nodes, self._edges)

    def _fail(self, expected: str, got: str) -> NoReturn:
        raise InputError(self._source, self._parser.CurrentLineNumber, expected, got)

    def _document_type(self, *_: object) -> None:
        self._fail("a graph without a document type", "<!DOCTYPE")

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
        node = GraphNode(self._source, self._parser.CurrentLineNumber, identity=identity)
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
        edge = Edge(self._source, self._parser.CurrentLineNumber, near=ends[0], far=ends[1])
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
