"""Graphviz' DOT language: tokens, statements, and plain directed graphs as they stand."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import InputError
from contend.fabric.subnet import FreePorts

LONGEST_TOKEN = 1 << 24

_TOKEN = re.compile(
    r"(?P<space>[\s;]+|//[^\n]*\n|\#[^\n]*\n|/\*.*?\*/)"
    r'|"(?P<text>[^"\\]*(?:\\.[^"\\]*)*)"'
    r"|(?P<mark>->|--|[{}\[\]=,:])"
    r"|(?P<word>[A-Za-z0-9_.\x80-\U0010ffff]+)"
    # What goes on in the next chunk; it is no token if nothing follows.
    r'|(?P<open>["/#-])'
    r"|(?P<other>.)",
    re.DOTALL,
)


class Token(NamedTuple):
    """A mark, a word or a quoted text."""

    value: str
    line: int
    is_mark: bool


def tokens(chunks: Iterable[bytes], source: str) -> Iterator[Token]:
    """Tokens with the line they begin on; semicolons are passed over, as they only separate.

    Raises:
        InputError: something that is no token, or a token longer than 16 MiB.
    """
    line, buffer = 1, ""
    carried = b""
    for chunk in chain(chunks, [b"\n"]):
        # A character may be cut by the end of a chunk; a line end never is.
        whole, cut, carried = (carried + chunk).rpartition(b"\n")
        buffer += (whole + cut).decode("utf-8", "surrogateescape")
        position = 0
        for match in _TOKEN.finditer(buffer):
            kind, end = match.lastgroup, match.end()
            if kind == "other":
                expected = "a node, an edge or a quoted text"
                raise InputError(source, line, expected, repr(match[0]))
            # The last token may go on in the next chunk.
            if kind == "open" or (end == len(buffer) and kind != "space"):
                break
            if kind != "space":
                yield Token(_value(match, str(kind)), line, kind == "mark")
            if kind in ("space", "text"):
                line += buffer.count("\n", position, end)
            position = end
        buffer = buffer[position:]
        if max(len(buffer), len(carried)) > LONGEST_TOKEN:
            raise InputError(source, line, f"a token of at most {LONGEST_TOKEN} bytes", "more")
    if buffer:
        raise InputError(source, line, "a closing quote or */", "the end of the file")


def _value(match: re.Match[str], kind: str) -> str:
    return match[0] if kind == "mark" else _legal(_unescaped(match[kind]))


def _legal(text: str) -> str:
    """A text with bytes that are not UTF-8 escaped, as in other files; see `lines`."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    # DOT knows only these two; other sequences are kept for the program that reads them.
    return re.sub(r'\\(?:(["\\])|\n)', lambda match: match[1] or "", text)


_MOST_PORTS = 0xFFFE
_RATE = re.compile(r"\d{1,2}x[A-Z0-9]{1,8}|\d{1,4}(?:\.\d{1,3})?GbE")


@dataclass(slots=True)
class DotEdge:
    """One direction of a cable; ports are 0 until they are numbered."""

    tail: int
    head: int
    line: int
    port: int
    peer_port: int
    rate: str
    takes: NDArray[np.int64] | None
    """Nodes whose traffic takes it, None for all."""


class DotGraph:
    """Nodes and edges as the file names them."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.numbers: dict[str, int] = {}
        self.lines: list[int] = []
        self.labels: dict[int, str] = {}
        self.ports: dict[int, int] = {}
        self.edges: list[DotEdge] = []
        self.mentioned: dict[str, int] = {}

    def node(self, name: str, line: int) -> int:
        """Number of the node of a name, which is added when it is new."""
        number = self.numbers.setdefault(name, len(self.numbers))
        if number == len(self.lines):
            self.lines.append(line)
        return number

    def bad(self, line: int, expected: str, got: str) -> InputError:
        """An error in this file."""
        return InputError(self.source, line, expected, got)


def parse(chunks: Iterable[bytes], source: str) -> DotGraph:
    """Reads a plain directed graph.

    Raises:
        InputError: it is none, or a cable has an edge for one direction only.
    """
    graph = _parse(tokens(chunks, source), DotGraph(source))
    _number_ports(graph)
    return graph


def _parse(stream: Iterator[Token], graph: DotGraph) -> DotGraph:
    for held, attributes in statements(stream, graph.source, "digraph", ("->", "=")):
        _statement(held, attributes, graph)
    return graph


def statements(
    stream: Iterator[Token], source: str, keyword: str, marks: tuple[str, ...]
) -> Iterator[tuple[list[Token], dict[str, str]]]:
    """The statements of a graph, each with its attributes.

    Args:
        stream: the tokens.
        source: the file's name, for errors.
        keyword: ``graph`` or ``digraph``.
        marks: those that may stand between the words of a statement.

    Raises:
        InputError: another kind of graph, one within it, or one that does not end.
    """
    header = []
    for token in stream:
        if token.is_mark and token.value == "{":
            break
        header.append(token.value)
    if keyword not in header[:2]:
        raise InputError(source, 1, f"{keyword} NAME {{ ... }}", repr(" ".join(header)[:60]))
    held: list[Token] = []
    for token in stream:
        if token.is_mark and token.value == "[":
            if not held:
                raise InputError(source, token.line, "a node or an edge before attributes", "[")
            yield held, _attributes(stream, source, token.line)
            held = []
        elif token.is_mark and token.value == "}":
            if held:
                yield held, {}
            for after in stream:
                got = repr(after.value[:60])
                raise InputError(source, after.line, "the end of the file after }", got)
            return
        elif token.is_mark and token.value not in marks:
            raise InputError(source, token.line, "a node or an edge", repr(token.value))
        else:
            # Statements need no separator: a word that follows no mark begins one.
            if held and not token.is_mark and not held[-1].is_mark:
                yield held, {}
                held = []
            held.append(token)
    raise InputError(source, 0, "} at the end of the graph", "the end of the file")


def _attributes(stream: Iterator[Token], source: str, line: int) -> dict[str, str]:
    attributes: dict[str, str] = {}
    parts: list[Token] = []
    for token in stream:
        line = token.line
        closes = token.is_mark and token.value == "]"
        if closes or (token.is_mark and token.value == ","):
            if parts:
                raise InputError(source, line, "name=value", repr(parts[0].value[:60]))
            if closes:
                return attributes
            continue
        parts.append(token)
        if len(parts) == 3:
            name, equals, value = parts
            if name.is_mark or value.is_mark or not equals.is_mark or equals.value != "=":
                raise InputError(source, line, "name=value", repr(name.value[:60]))
            attributes[name.value] = value.value
            parts = []
    raise InputError(source, line, "] after the attributes", "the end of the file")


def _statement(held: list[Token], attributes: dict[str, str], graph: DotGraph) -> None:
    line = held[0].line
    names = [token.value for token in held]
    marks = [token.is_mark for token in held]
    if marks == [False]:
        if names[0] in ("graph", "node", "edge"):
            return
        if names[0] == "subgraph":
            raise graph.bad(line, "a plain graph", "a subgraph")
        _declare(names[0], attributes, graph, line)
    elif marks == [False, True, False] and names[1] == "=":
        return
    elif marks == [False, True, False] and names[1] == "->":
        _connect(names[0], names[2], attributes, graph, line)
    else:
        raise graph.bad(line, "a node or an edge a -> b", repr(" ".join(names)[:60]))


def _declare(name: str, attributes: dict[str, str], graph: DotGraph, line: int) -> None:
    node = graph.node(name, line)
    if "label" in attributes:
        graph.labels[node] = attributes["label"]
    if "ports" in attributes:
        graph.ports[node] = _port(attributes["ports"], graph, line)


def _connect(tail: str, head: str, attributes: dict[str, str], graph: DotGraph, line: int) -> None:
    rate = attributes.get("rate", "")
    edge = DotEdge(
        graph.node(tail, line),
        graph.node(head, line),
        line,
        _port(attributes.get("port", "0"), graph, line),
        _port(attributes.get("peer_port", "0"), graph, line),
        rate if _RATE.fullmatch(rate) else "",
        _takes(attributes.get("comment", ""), graph, line),
    )
    graph.edges.append(edge)


def _port(text: str, graph: DotGraph, line: int) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else -1
    if not 0 <= number <= _MOST_PORTS:
        raise graph.bad(line, f"a port up to {_MOST_PORTS}", repr(text[:60]))
    return number


def _takes(comment: str, graph: DotGraph, line: int) -> NDArray[np.int64] | None:
    """Numbers of the names in a comment, in `mentioned`: nodes may be declared later."""
    if comment.strip() == "*":
        return None
    mentioned = graph.mentioned
    names = comment.replace(",", " ").split()
    for name in names:
        if name not in mentioned:
            mentioned[name] = len(mentioned)
    return np.array([mentioned[name] for name in names], dtype=np.int64)


def _number_ports(graph: DotGraph) -> None:
    """Gives every edge its two ports, where the file does not say them.

    The edges of a cable are matched by ports where given, else in the order of the file: the k-th
    edge from a to b with the k-th from b to a.
    """
    waiting: dict[tuple[int, int, int, int], deque[DotEdge]] = defaultdict(deque)
    pairs: list[tuple[DotEdge, DotEdge]] = []
    for edge in graph.edges:
        back = waiting[edge.head, edge.tail, edge.peer_port, edge.port]
        if back:
            pairs.append((back.popleft(), edge))
        else:
            waiting[edge.tail, edge.head, edge.port, edge.peer_port].append(edge)
    if alone := next((edge for left in waiting.values() for edge in left), None):
        raise graph.bad(alone.line, "an edge for each direction of a cable", "one only")
    free = FreePorts((edge.tail, edge.port) for edge in graph.edges)
    for out, home in pairs:
        for near, far in ((out, home), (home, out)):
            if not near.port:
                near.port = far.peer_port = free.take(near.tail)
            if near.port > _MOST_PORTS:
                raise graph.bad(near.line, f"at most {_MOST_PORTS} cables at a node", "more")
