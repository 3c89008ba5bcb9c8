"""Plans of cables by the names of devices and ports: who is to be plugged in where.

PTM's topology.dot, which NVIDIA Air takes too, is an undirected graph of ``"leaf1":"swp1" --
"server1":"eth0"``; the .ndt files that UFM compares a network with, and SONiC's lists of links, are
CSV with the columns StartDevice, StartPort, EndDevice and EndPort.
"""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from contend.base.errors import InputError
from contend.base.units import counted
from contend.fabric.formats.dot import Token, statements, tokens
from contend.fabric.formats.lldp_devices import Heard
from contend.fabric.formats.lldp_network import subnet_of
from contend.fabric.streams.source import lines, peek
from contend.fabric.subnet import Subnet

_GRAPH = re.compile(rb"^[^\S\n]*(?:strict\s+)?graph\b[^{\n]{0,300}\{", re.MULTILINE)
_COLUMNS = re.compile(
    rb"^[^\n]{0,200}Start ?Device\b[^\n]{0,200}\bEnd ?Device\b", re.MULTILINE | re.IGNORECASE
)
_NEEDED = ("startdevice", "startport", "enddevice", "endport")
_HOST_PORT = re.compile(
    r"(?:eth|em|ib|rail|nic|net|bond)\d+|en[opsx]\S{1,16}|ib[ps]\d\S{0,16}|"
    r"mlx\d_\d+\S{0,8}|HCA-\d\S{0,8}",
    re.IGNORECASE,
)
_HOST_NAME = re.compile(r".*\b(?:mlx\d_\d+|HCA-\d+)", re.IGNORECASE)
_HOSTS = ("host", "server")
_LONGEST_NAME = 256
# An edge, its names and ports each an x.
_EDGE = re.compile(r"x(?::x)?(?:--x(?::x)?)*")
# A plan is of one network, and takes some 4 KiB for each cable.
_MOST_CABLES = 1 << 17


@dataclass(frozen=True, slots=True)
class _Cable:
    line: int
    near: tuple[str, str]
    far: tuple[str, str]
    rate: str = ""


def recognises(head: bytes) -> bool:
    """Whether an undirected graph or the columns of such a list begin within the head."""
    return _GRAPH.search(head) is not None or _COLUMNS.search(head) is not None


def read(chunks: Iterable[bytes], source: str) -> Subnet:
    """Reads the cables of a plan.

    A node's ``function`` says what is a host; otherwise what its ports or itself are called like,
    such as eth0, ibp1s0 or mlx5_0, and what has one cable only.

    Raises:
        InputError: not such a file, or two cables in a port.
    """
    head, chunks = peek(iter(chunks))
    if _GRAPH.search(head):
        return _Graph(source).read(chunks)
    return _listed(chunks, source)


def _subnet(
    cables: Iterable[_Cable], functions: dict[str, str], source: str, notes: list[str]
) -> Subnet:
    """Puts a network together from cables; `functions` are those that devices are said to have."""
    at: dict[tuple[str, str], tuple[tuple[str, str], int]] = {}
    kept: list[_Cable] = []
    ports: dict[str, list[str]] = defaultdict(list)
    for cable in cables:
        if len(kept) == _MOST_CABLES:
            raise InputError(source, cable.line, f"at most {_MOST_CABLES} cables", "more")
        for near, far in ((cable.near, cable.far), (cable.far, cable.near)):
            other, line = at.setdefault(near, (far, cable.line))
            if other != far:
                got = f'"{near[0]}" port "{near[1]}" has one on line {line}'
                raise InputError(source, cable.line, "one cable at a port", got)
            ports[near[0]].append(near[1])
        kept.append(cable)
    at.clear()
    forwards = {name: not _is_host(name, of, functions) for name, of in ports.items()}
    heard: dict[str, list[Heard]] = defaultdict(list)
    while kept:
        cable = kept.pop()
        for (name, port), (peer, peer_port) in (
            (cable.near, cable.far),
            (cable.far, cable.near),
        ):
            entry = Heard(port, peer, 0, forwards[peer], (peer_port,), cable.rate, line=cable.line)
            heard[name].append(entry)
    return subnet_of(heard, source, "the plan", notes)


def _is_host(name: str, ports: list[str], functions: dict[str, str]) -> bool:
    if name in functions:
        return functions[name].lower() in _HOSTS
    return _HOST_NAME.fullmatch(name) is not None or all(map(_HOST_PORT.fullmatch, ports))


class _Graph:
    """Nodes with their functions, and edges, of a graph in the DOT language."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._functions: dict[str, str] = {}
        self._cables: list[_Cable] = []
        self._unnamed: Counter[str] = Counter()

    def read(self, chunks: Iterable[bytes]) -> Subnet:
        stream = tokens(chunks, self._source)
        for held, attributes in statements(stream, self._source, "graph", ("--", "=", ":")):
            self._statement(held, attributes)
        # The network by which devices are managed is none that carries traffic.
        aside = {
            name
            for cable in self._cables
            for name, _ in (cable.near, cable.far)
            if name.startswith("oob-mgmt")
            or self._functions.get(name, "").startswith(("oob", "fake"))
        }
        kept = [cable for cable in self._cables if not {cable.near[0], cable.far[0]} & aside]
        left = len(self._cables) - len(kept)
        notes = [f"{counted(left, 'cable')} of the management network left out"] if left else []
        return _subnet(kept, self._functions, self._source, notes)

    def _statement(self, held: list[Token], attributes: dict[str, str]) -> None:
        line = held[0].line
        first, *rest = held
        if first.value in ("graph", "node", "edge") and not rest and not first.is_mark:
            return
        if first.value == "subgraph":
            raise InputError(self._source, line, "a plain graph", "a subgraph")
        if len(held) == 3 and held[1].value == "=" and held[1].is_mark:
            return
        named = [*self._ends(held)]
        if len(named) == 1 and "function" in attributes:
            self._functions[named[0][0]] = attributes["function"]
        for near, far in pairwise(named):
            self._cables.append(_Cable(line, self._port(*near), self._port(*far)))

    def _ends(self, held: list[Token]) -> Iterator[tuple[str, str]]:
        """Devices between dashes, each with its port, "" where it is not told."""
        values = [token.value for token in held]
        marks = "".join(token.value if token.is_mark else "x" for token in held)
        if not _EDGE.fullmatch(marks):
            got = repr(" ".join(values)[:60])
            raise InputError(self._source, held[0].line, "a node or an edge a:port -- b:port", got)
        at = 0
        for end in marks.split("--"):
            yield values[at], values[at + 2] if ":" in end else ""
            at += len(end) + 1

    def _port(self, name: str, port: str) -> tuple[str, str]:
        """A device and its port, which is made up where it is not told."""
        if not port:
            self._unnamed[name] += 1
            port = f"cable {self._unnamed[name]}"
        return name, port


def _listed(chunks: Iterable[bytes], source: str) -> Subnet:
    cables: list[_Cable] = []
    skipped = 0
    for cable in _rows(chunks, source):
        if cable is None:
            skipped += 1
        else:
            cables.append(cable)
    rows = f"skipped {counted(skipped, 'row')} without a cable that is in use"
    return _subnet(cables, {}, source, [rows] if skipped else [])


def _rows(chunks: Iterable[bytes], source: str) -> Iterator[_Cable | None]:
    """The cable of every row, None of one that is down, missing or no network's."""
    columns: dict[str, int] | None = None
    for number, line in lines(chunks, source):
        if not line.strip():
            continue
        if columns is None:
            if _COLUMNS.match(line.encode("utf-8", "backslashreplace")):
                columns = _columns(_cells(line, number, source), number, source)
            continue
        cells = _cells(line, number, source)
        row = {
            name: cells[place].strip() if place < len(cells) else ""
            for name, place in columns.items()
        }
        near, far = (row["startdevice"], row["startport"]), (row["enddevice"], row["endport"])
        if (
            not all((*near, *far))
            or row.get("linktype", "").lower() not in ("", "data")
            or row.get("state", "").lower() == "disabled"
        ):
            yield None
            continue
        if max(map(len, (*near, *far))) > _LONGEST_NAME:
            most = f"names of at most {_LONGEST_NAME} characters"
            raise InputError(source, number, most, "a longer one")
        megabits = row.get("bandwidth", "")
        plain = megabits.isascii() and megabits.isdecimal() and 4 <= len(megabits) <= 7
        yield _Cable(number, near, far, f"{int(megabits) / 1000:g}GbE" if plain else "")


def _cells(line: str, number: int, source: str) -> list[str]:
    try:
        return next(csv.reader([line], strict=True))
    except (csv.Error, StopIteration) as error:
        raise InputError(source, number, "comma-separated cells", str(error)) from error


def _columns(cells: list[str], number: int, source: str) -> dict[str, int]:
    """Places of the columns, whose first name a mark for a comment may precede."""
    names = [cell.rpartition(":")[2].replace(" ", "").lower() for cell in cells]
    for name in _NEEDED:
        if name not in names:
            raise InputError(source, number, f"a column {name}", "none")
    return {name: names.index(name) for name in names}
