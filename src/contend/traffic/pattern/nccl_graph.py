"""Rings and trees of GPUs as NCCL writes them (``NCCL_GRAPH_DUMP_FILE``), between servers.

The file has the channels of one server: the adapter by which data comes in, the GPUs that it passes
and the adapter by which it goes out. All servers do the same. Who sends to whom follows from that
as NCCL connects channels (nccl/src/graph/connect.cc and trees.cc).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from contend import _core
from contend.base.errors import InputError, UsageError
from contend.base.files import read_bounded
from contend.base.units import counted
from contend.fabric import XmlReader
from contend.traffic.pattern.pattern import from_columns

_LARGEST_FILE = 1 << 24
_MOST_CHANNELS = 1024
_MOST_ADAPTERS = 256
_MOST_MESSAGES = 1 << 26
# Far beyond any file: a graph is as many elements deep.
_MOST_DEPTH = 16
_BEGINS = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--(?:(?!-->).)*+-->\s*+)*+<graphs\b",
    re.S,
)
_OPTIONS = re.compile(r"(?P<path>.*?)(?P<some>(?:,(?:ring|tree|rails=\d{1,3}))+)")

_TREES = frozenset({"1", "2", "3"})
_RINGS = "4"
_ALONE = "3"


@dataclass(frozen=True)
class NcclChannel:
    """A channel in a server."""

    enters: int
    """Number of the adapter at its first GPU."""
    leaves: int
    """Number of the adapter at its last GPU."""
    gpus: int
    """Number of GPUs that it passes."""


@dataclass(frozen=True)
class NcclGraphs:
    """What rings and trees do in a server."""

    rings: tuple[NcclChannel, ...]
    """Channels of rings."""
    swaps: bool
    """Whether every other server swaps neighbouring channels of rings, which keeps them on their
    rails (``crossnic="2"``)."""
    trees: tuple[NcclChannel, ...]
    """Channels of trees."""
    kind: str
    """Kind of trees: ``1`` where parents and second children are at the first adapter and first
    children at the other, ``2`` where all children are, ``3`` where nobody is there."""

    @property
    def adapters(self) -> int:
        """At least so many adapters has a server."""
        channels = (*self.rings, *self.trees)
        return max(max(channel.enters, channel.leaves) for channel in channels) + 1


def holds_nccl_graphs(path: str) -> bool:
    """Whether a file is one of NCCL's graphs, by its content; `path` may have options behind it."""
    try:
        with open(_parted(path)[0], "rb") as file:
            return _BEGINS.match(file.read(1 << 14)) is not None
    except (OSError, ValueError):
        return False


def rails_of_nccl(path: str) -> int:
    """Adapters of each server in the pattern of such a file; see `nccl_pattern`.

    Raises:
        InputError: as of `read_nccl_graphs`.
    """
    name, options = _parted(path)
    return _rails(read_nccl_graphs(read_bounded(name, _LARGEST_FILE), name), options)


def nccl_pattern(path: str, ranks: int) -> _core.Pattern:
    """Messages between servers, whose ranks are their adapters: numbered server by server.

    A round has the messages of all channels of rings, the next those of all trees, up and down at
    once: every channel carries two, which are NCCL's double binary tree over servers.

    Args:
        path: of the file; ``,ring`` or ``,tree`` behind it takes one of the two rounds, and
            ``,rails=8`` says how many adapters servers have, where the last are in no channel.
        ranks: adapters of all servers.

    Raises:
        UsageError: the ranks are not those of two or more servers, or there is no such graph.
        InputError: as of `read_nccl_graphs`.
    """
    name, options = _parted(path)
    graphs = read_nccl_graphs(read_bounded(name, _LARGEST_FILE), name)
    rails = _rails(graphs, options)
    servers, rest = divmod(ranks, rails)
    if rest or servers < 2:
        raise UsageError(
            f"ranks of two or more servers of {counted(rails, 'adapter')}, got {ranks} "
            "(,rails=8 behind the file says how many adapters servers have)"
        )
    asked = {"ring", "tree"} & set(options) or {"ring", "tree"}
    rounds = []
    if graphs.rings and "ring" in asked:
        rounds.append(_along_rings(graphs, servers, rails))
    if graphs.trees and "tree" in asked:
        rounds.append(_along_trees(graphs, servers, rails))
    if not rounds:
        raise UsageError(f"a graph of a {' or '.join(sorted(asked))} in {name}, got none")
    begin = np.cumsum([0, *(len(each) for each in rounds)])
    every = np.concatenate(rounds)
    return from_columns(ranks, begin, every[:, 0], every[:, 1], None)


def _parted(path: str) -> tuple[str, list[str]]:
    """The path and the options behind it."""
    match = _OPTIONS.fullmatch(path)
    return (path, []) if match is None else (match["path"], match["some"][1:].split(","))


def _rails(graphs: NcclGraphs, options: list[str]) -> int:
    told = [int(option.removeprefix("rails=")) for option in options if option[:6] == "rails="]
    if told and told[-1] < graphs.adapters:
        raise UsageError(f"at least {graphs.adapters} rails, as channels have them, got {told[-1]}")
    return told[-1] if told else graphs.adapters


def _bounded(messages: int) -> None:
    if messages > _MOST_MESSAGES:
        raise UsageError(f"at most {_MOST_MESSAGES:,} messages, got {messages:,}")


def _along_rings(
    graphs: NcclGraphs, servers: int, rails: int
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Source and target of every message: from each server to the next."""
    channels = graphs.rings
    _bounded(len(channels) * servers)
    swaps = graphs.swaps and len(channels) % 2 == 0
    found = []
    for server in range(servers):
        after = (server + 1) % servers
        for number in range(len(channels)):
            out = channels[number ^ 1 if swaps and server % 2 else number].leaves
            into = channels[number ^ 1 if swaps and after % 2 else number].enters
            found.append((server * rails + out, after * rails + into))
    return np.array(found, dtype=np.int64)


def _along_trees(
    graphs: NcclGraphs, servers: int, rails: int
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """The same of both trees of every channel, up and down."""
    _bounded(4 * len(graphs.trees) * servers)
    found = []
    for child, parent, first in (*_tree(servers), *_other_tree(servers)):
        for channel in graphs.trees:
            # Parents are at a channel's first GPU. So are children, but those that its kind says.
            elsewhere = graphs.kind == "2" or (graphs.kind == "1" and first)
            at = channel.leaves if elsewhere and channel.gpus > 1 else channel.enters
            ends = child * rails + channel.enters, parent * rails + at
            found += [ends, ends[::-1]]
    return np.array(found, dtype=np.int64)


def _tree(servers: int) -> Iterator[tuple[int, int, bool]]:
    """Every child with its parent, and whether it is the first of this: a binary tree in order.

    A server's lowest bit says how high it stands; its parent has this bit cleared and the next set,
    or only cleared where that is no server.
    """
    for child in range(1, servers):
        lowest = child & -child
        parent = (child ^ lowest) | (lowest << 1)
        if parent >= servers:
            parent = child ^ lowest
        yield child, parent, child < parent


def _other_tree(servers: int) -> Iterator[tuple[int, int, bool]]:
    """The same tree where leaves of the first are inside: mirrored, or of odd servers shifted."""
    for child, parent, first in _tree(servers):
        if servers % 2:
            yield (child + 1) % servers, (parent + 1) % servers, first
        else:
            yield servers - 1 - child, servers - 1 - parent, first


def read_nccl_graphs(content: bytes, source: str) -> NcclGraphs:
    """The channels of rings and trees in a file of NCCL; others, such as NVLS, are left out.

    Raises:
        InputError: XML that is not well-formed or has a document type, no such graph, or a channel
            without adapters at its ends, as within one server.
    """
    reader = _Reader(source)
    reader.read(content)
    return reader.graphs()


class _Reader(XmlReader):
    def __init__(self, source: str) -> None:
        super().__init__(source, "graphs")
        self._depth = 0
        self._graph: tuple[str, bool] | None = None
        self._said = 0
        self._channel_line = 0
        self._nets: list[int] = []
        self._gpus = 0
        self._before = 0
        self._rings: list[NcclChannel] = []
        self._trees: list[NcclChannel] = []
        self._swaps = False
        self._kind = _ALONE
        self._count = 0

    def graphs(self) -> NcclGraphs:
        if not self._rings and not self._trees:
            raise InputError(self._source, 0, "channels of a ring or tree (pattern 1 to 4)", "none")
        return NcclGraphs(tuple(self._rings), self._swaps, tuple(self._trees), self._kind)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        expected = ("graphs", "graph", "channel")
        if self._depth < 3 and name != expected[self._depth]:
            self._fail(
                f"<{expected[self._depth]}>, as NCCL_GRAPH_DUMP_FILE has it", f"<{name[:40]}>"
            )
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            self._fail(f"at most {_MOST_DEPTH} elements in each other", "more")
        if self._depth == 2:
            self._begin_graph(attributes)
        elif self._depth == 3:
            self._channel_line, self._nets, self._gpus, self._before = (
                self._line,
                [],
                0,
                0,
            )
        elif self._depth == 4 and name == "net":
            self._nets.append(self._device(attributes))
            self._before = self._before or self._gpus + 1
        elif self._depth == 4 and name == "gpu":
            self._gpus += 1

    def _begin_graph(self, attributes: dict[str, str]) -> None:
        self._channel_line = self._line
        self._graph = attributes.get("pattern", ""), attributes.get("crossnic", "") == "2"
        said = attributes.get("nchannels", "")
        if not said.isdecimal() or not said.isascii() or len(said) > 9:
            self._fail("a number as nchannels", repr(said[:40]))
        self._said, self._count = int(said), 0
        self._graph_line = self._line

    def _device(self, attributes: dict[str, str]) -> int:
        """An adapter's number; new versions write it in hexadecimals, with the system in front."""
        text = attributes.get("dev", "")
        if not re.fullmatch(r"0[xX][0-9a-fA-F]{1,16}|[0-9]{1,9}", text):
            self._fail("a number as dev of a <net>", repr(text[:40]))
        number = int(text, 16 if text[:2].lower() == "0x" else 10)
        if number >> 56:
            self._fail("adapters of one server", f"dev={text}, of another system")
        if number >= _MOST_ADAPTERS:
            self._fail(f"adapters below {_MOST_ADAPTERS}", text)
        return number

    def _end(self, name: str) -> None:
        if self._depth == 3:
            self._end_channel()
        elif self._depth == 2 and self._count != self._said:
            self._fail(
                f"{self._said} channels, as nchannels has it", str(self._count), self._graph_line
            )
        self._depth -= 1

    def _end_channel(self) -> None:
        self._count += 1
        assert self._graph is not None
        pattern, swaps = self._graph
        if pattern != _RINGS and pattern not in _TREES:
            return
        if self._gpus == 0:
            self._fail("a <gpu> in every channel", "none", self._channel_line)
        if len(self._nets) != 2 or self._before != 1:
            self._fail(
                "a <net> before and behind the GPUs of every channel, as between servers",
                f"{len(self._nets)} in the channel",
                self._channel_line,
            )
        if len(self._rings) + len(self._trees) == _MOST_CHANNELS:
            self._fail(f"at most {_MOST_CHANNELS:,} channels", "more")
        channel = NcclChannel(self._nets[0], self._nets[1], self._gpus)
        if pattern == _RINGS:
            self._rings.append(channel)
            self._swaps = swaps
        else:
            if self._trees and pattern != self._kind:
                self._fail(f"trees of one pattern, {self._kind}", pattern, self._graph_line)
            self._trees.append(channel)
            self._kind = pattern
