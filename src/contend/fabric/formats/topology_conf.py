"""Slurm's topology.conf, switches or blocks, and what ``scontrol show topology`` prints of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from contend.errors import InputError
from contend.fabric.formats.slurm_tree import SlurmTree
from contend.fabric.formats.source import lines
from contend.fabric.subnet import Subnet
from contend.units import counted

_HEAD = re.compile(
    rb"^[^\S\n]*(?:SwitchName|BlockName|BlockSizes|RingName)[^\S\n]*=", re.MULTILINE | re.IGNORECASE
)
_SETTING = re.compile(r"\s*[A-Za-z]+\s*=")
_PART = re.compile(r"([A-Za-z]+)\s*=\s*(\S*)\s*")
_COMMENT = re.compile(r"(?<!\\)#.*")
_TREE = ("switchname", "nodes", "switches", "linkspeed", "level")
# The second and third are scontrol's.
_BLOCK = ("blockname", "blockindex", "blocksize", "nodes")
_AGGREGATED = ("aggregatedblock", *_BLOCK[1:])
_MOST_SIZES = 16


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
    for number, line in _logical_lines(chunks, source):
        reader.line(number, line)
    return reader.subnet()


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
        size = text.strip()
        if not (size.isascii() and size.isdecimal() and len(size) <= 6 and int(size)):
            raise InputError(self._source, number, "a number of nodes", repr(size[:40]))
        self._sizes.add(int(size))
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
