"""Slurm's topology.conf, or what ``scontrol show topology`` prints; what any of its files names."""

from __future__ import annotations

import itertools
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median_high

from contend.base.errors import InputError
from contend.base.names import expand, split_list
from contend.base.units import counted
from contend.fabric.streams.source import lines, open_chunks
from contend.fabric.subnet import NodeKind, Subnet, SubnetBuilder

# Slurm itself counts nodes in 16 bits.
_MOST_NODES = 65_533
_MOST_CABLES = 1 << 20
_MOST_PORTS = 0xFFFE
ONE_CABLE = "topology files have no ports, rates or parallel cables: each pair has one cable here"
"""A note."""


@dataclass(frozen=True)
class _Switch:
    line: int
    nodes: list[str]
    below: list[str]


class SlurmTree:
    """Switches with their nodes and the switches below them; each pair is joined by one cable."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._switches: dict[str, _Switch] = {}
        self._nodes: dict[str, int] = {}
        self._cables = 0

    def switch(self, name: str, line: int, *, nodes: str = "", below: str = "") -> None:
        """Adds a switch with the nodes and switches of two lists.

        Raises:
            InputError: a name that is empty or comes twice, or more names, cables or ports than
                there can be.
        """
        self._add(name, _Switch(line, self._names(nodes, line), self._names(below, line)))

    def size(self, text: str, line: int) -> int:
        """Reads the size of a block.

        Raises:
            InputError: it is no number of nodes.
        """
        if not (text.isascii() and text.isdecimal() and len(text) <= 6 and int(text)):
            raise InputError(self._source, line, "a number of nodes", repr(text[:40]))
        return int(text)

    def join_blocks(self, sizes: Sequence[int], line: int) -> str:
        """Joins what was added so far, as blocks, by switches above them; returns a note.

        Args:
            sizes: nodes of a block as planned, and of the larger ones that each so many in a row
                make up.
            line: where the sizes stand.

        Raises:
            InputError: a size that is not the one before times a power of two.
        """
        below = list(self._switches)
        for before, size in pairwise(sizes):
            each = size // before
            if size != each * before or each < 2 or each & (each - 1):
                expected = "block sizes that each are the one before times a power of two"
                raise InputError(self._source, line, expected, f"{size} after {before}")
            if len(below) == 1:
                break
            larger = {
                f"blocks of {size}, from {below[at]}": below[at : at + each]
                for at in range(0, len(below), each)
            }
            for name, part in larger.items():
                self._add(name, _Switch(line, [], part))
            below = list(larger)
        if len(below) > 1:
            self._add("all blocks", _Switch(line, [], below))
        return (
            "blocks say which nodes are near each other but name no switches: each counts as a "
            "switch here"
        )

    def _add(self, name: str, switch: _Switch) -> None:
        if not name or name in self._switches:
            got = f'"{name}" again' if name else "an empty one"
            raise InputError(self._source, switch.line, "the name of another switch or block", got)
        for node in switch.nodes:
            self._nodes.setdefault(node, switch.line)
        ports = len(switch.nodes) + len(switch.below)
        self._cables += ports
        for count, most, what in (
            (len(self._nodes), _MOST_NODES, "nodes"),
            (self._cables, _MOST_CABLES, "cables"),
            (ports, _MOST_PORTS, "ports of a switch"),
        ):
            if count > most:
                raise InputError(self._source, switch.line, f"at most {most} {what}", str(count))
        self._switches[name] = switch

    def _names(self, text: str, number: int) -> list[str]:
        if text.lower() in ("", "(null)"):
            return []
        names: dict[str, None] = {}
        for item in split_list(text):
            if item.count("[") != item.count("]"):
                raise InputError(self._source, number, "a bracket that ends", repr(item[:60]))
            names |= dict.fromkeys(expand(item, self._source, number))
            if len(names) > _MOST_NODES:
                raise InputError(self._source, number, f"at most {_MOST_NODES} names", item[:60])
        return list(names)

    def subnet(self, notes: Sequence[str]) -> Subnet:
        """What the file says, with further notes.

        Raises:
            InputError: a switch that is never declared, or too many ports.
        """
        builder = SubnetBuilder(self._source)
        rows: dict[str, int] = {}
        lid = len(self._nodes)
        for name, line in self._nodes.items():
            builder.node(NodeKind.ADAPTER, name, line=line)
        for name, switch in self._switches.items():
            lid += 1
            rows[name] = builder.node(NodeKind.SWITCH, name, lid=lid, line=switch.line)
        further = itertools.count(lid + 1)
        node_rows = {name: row for row, name in enumerate(self._nodes)}
        used: dict[int, int] = defaultdict(int)

        def join(near: int, far: int, line: int, lid: int) -> None:
            used[near] += 1
            used[far] += 1
            if max(used[near], used[far]) > _MOST_PORTS:
                raise InputError(self._source, line, f"at most {_MOST_PORTS} ports", "more")
            ends = ((near, used[near]), (far, used[far]))
            # A node on several leaves has a port on each, and each port an address.
            own = lid if lid == 0 or used[near] == 1 else next(further)
            for (one, port), (other, peer_port), address in (
                (*ends, own),
                (*ends[::-1], 0),
            ):
                builder.end(one, port, other, peer_port, lid=address, line=line)

        for name, switch in self._switches.items():
            for node in switch.nodes:
                row = node_rows[node]
                join(row, rows[name], switch.line, row + 1)
        for name, switch in self._switches.items():
            for below in switch.below:
                if below not in rows or below == name:
                    expected = "another switch of this file below"
                    raise InputError(self._source, switch.line, expected, f'"{below}"')
                join(rows[below], rows[name], switch.line, 0)
        leaves = defaultdict[str, list[str]](list)
        for name, switch in self._switches.items():
            for node in switch.nodes:
                leaves[node].append(f"{name} (line {switch.line})")
        # With rails all nodes are on several leaves; where few are, those were moved or misspelled.
        usual = median_high(map(len, leaves.values())) if leaves else 0
        doubtful = (
            f"node {node} is on {' and on '.join(on)}"
            for node, on in leaves.items()
            if len(on) > usual
        )
        on_several = sum(map(len, leaves.values())) - len(leaves)
        if on_several:
            several = f"{counted(on_several, 'further port')} of nodes that several switches name"
            notes = (*notes, several)
        return builder.subnet((ONE_CABLE, *notes), tuple(doubtful))


_HEAD = re.compile(
    rb"^[^\S\n]*(?:(?:SwitchName|BlockName|BlockSizes|RingName)[^\S\n]*="
    rb"|include[^\S\n]+\S{1,4096}\.conf[^\S\n]*$)",
    re.MULTILINE | re.IGNORECASE,
)
_SETTING = re.compile(r"\s*[A-Za-z]+\s*=")
_PART = re.compile(r"([A-Za-z]+)\s*=\s*(\S*)\s*")
_COMMENT = re.compile(r"(?<!\\)#.*")
_TREE = ("switchname", "nodes", "switches", "linkspeed", "level")
# The second and third are scontrol's.
_BLOCK = ("blockname", "blockindex", "blocksize", "nodes")
_AGGREGATED = ("aggregatedblock", *_BLOCK[1:])
_MOST_SIZES = 16
_INCLUDE = re.compile(r"include\s+(\S.*)", re.IGNORECASE)
_MOST_FILES = 256


def recognises(head: bytes) -> bool:
    """Whether a line within the head names a switch or a block."""
    return _HEAD.search(head) is not None


def read(chunks: Iterable[bytes], source: str) -> Subnet:
    """Reads switches with their nodes and the switches below them, or blocks with their nodes.

    Lines that set nothing, such as prompts in a capture, are passed over and counted in a note.

    Raises:
        InputError: a setting that is not of ``topology/tree`` or ``topology/block``, a switch that
            comes twice or is never declared, or more nodes, cables or ports than there can be.
    """
    reader = _Reader(source)
    _read_into(reader, chunks, source, [os.path.realpath(source)], itertools.count(1))
    return reader.subnet()


def _read_into(
    reader: _Reader, chunks: Iterable[bytes], source: str, way: list[str], files: Iterator[int]
) -> None:
    """Reads a file and those that it includes, whose names are relative to its folder.

    Args:
        reader: takes the lines.
        chunks: the file's content.
        source: its name.
        way: the files that led to it, itself included.
        files: counts them all.
    """
    for number, line in _logical_lines(chunks, source):
        include = _INCLUDE.fullmatch(line.strip())
        if include is None:
            try:
                reader.line(number, line)
            except InputError as error:
                raise InputError(source, error.line, error.expected, error.got) from None
            continue
        path = os.path.join(os.path.dirname(source), include[1].strip("\"'"))
        # No path holds a null byte, and realpath() knows none that does.
        if not os.path.isfile(path):
            raise InputError(source, number, "the file that is included here", f"no {path}")
        real = os.path.realpath(path)
        if real in way:
            raise InputError(source, number, "a file that does not lead back to this one", path)
        if next(files) > _MOST_FILES:
            raise InputError(source, number, f"at most {_MOST_FILES} included files", "more")
        _read_into(reader, open_chunks(path), path, [*way, real], files)


def _logical_lines(chunks: Iterable[bytes], source: str) -> Iterator[tuple[int, str]]:
    """Lines without comments; a backslash at the end joins the next one."""
    start, held = 0, ""
    for number, line in lines(chunks, source):
        text = _COMMENT.sub("", line).rstrip()
        start = start or number
        held += text.removesuffix("\\")
        if len(held) > 1 << 20:
            raise InputError(source, start, "a setting of at most 1 MiB", "a longer one")
        if not text.endswith("\\"):
            yield start, held
            start, held = 0, ""
    if held:
        yield start, held


class _Reader:
    def __init__(self, source: str) -> None:
        self._source = source
        self._tree = SlurmTree(source)
        self._kind = ""
        self._sizes: set[int] = set()
        self._line_of_sizes = 0
        self._other_lines = 0
        self._with_speed = 0

    def line(self, number: int, line: str) -> None:
        match = _SETTING.match(line)
        if not match:
            self._other_lines += bool(line.strip())
            return
        key = match[0].strip().rstrip("=").strip().lower()
        kind = {"switchname": "SwitchName"}.get(key, "BlockName")
        if key not in ("switchname", "blockname", "blocksizes", "aggregatedblock") or (
            self._kind not in ("", kind)
        ):
            expected = f"{self._kind}= as before" if self._kind else "SwitchName= or BlockName="
            if key == "ringname":
                expected = "SwitchName= or BlockName=, as a ring names no switches"
            raise InputError(self._source, number, expected, repr(line.strip()[:60]))
        self._kind = kind
        if key == "switchname":
            self._switch(number, self._settings(number, line, _TREE))
        elif key == "blocksizes":
            settings = self._settings(number, line, ("blocksizes",))
            for size in settings["blocksizes"].split(","):
                self._size(number, size)
        else:
            settings = self._settings(number, line, _BLOCK if key == "blockname" else _AGGREGATED)
            # scontrol prints the larger blocks too, older ones by the same key.
            if key == "blockname" and "[" not in settings["blockname"]:
                self._tree.switch(settings["blockname"], number, nodes=settings.get("nodes", ""))
            if "blocksize" in settings:
                self._size(number, settings["blocksize"])

    def _switch(self, number: int, settings: dict[str, str]) -> None:
        self._with_speed += settings.get("linkspeed", "1") != "1"
        # Above the leaves scontrol names all nodes that are somewhere below.
        is_leaf = settings.get("level", "0") == "0"
        self._tree.switch(
            settings["switchname"],
            number,
            nodes=settings.get("nodes", "") if is_leaf else "",
            below=settings.get("switches", ""),
        )

    def _size(self, number: int, text: str) -> None:
        self._sizes.add(self._tree.size(text.strip(), number))
        self._line_of_sizes = number
        if len(self._sizes) > _MOST_SIZES:
            raise InputError(self._source, number, f"at most {_MOST_SIZES} block sizes", "more")

    def _settings(self, number: int, line: str, keys: tuple[str, ...]) -> dict[str, str]:
        settings: dict[str, str] = {}
        at = len(line) - len(line.lstrip())
        while at < len(line):
            part = _PART.match(line, at)
            if part is None or part[1].lower() not in keys or part[1].lower() in settings:
                expected = "SwitchName=, Nodes=, Switches= and LinkSpeed=, each once"
                if keys != _TREE:
                    expected = "BlockName= and Nodes=, each once, or BlockSizes= alone"
                raise InputError(self._source, number, expected, repr(line[at : at + 60]))
            settings[part[1].lower()] = part[2].strip('"')
            at = part.end()
        return settings

    def subnet(self) -> Subnet:
        notes = []
        if self._kind == "BlockName":
            notes.append(self._tree.join_blocks(sorted(self._sizes), self._line_of_sizes))
        if self._with_speed:
            notes.append("LinkSpeed, whose unit Slurm leaves open, is not used")
        if self._other_lines:
            notes.append(f"skipped {counted(self._other_lines, 'line')} without a setting")
        return self._tree.subnet(notes)
