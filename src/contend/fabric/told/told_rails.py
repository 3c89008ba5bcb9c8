"""Rails that somebody tells: what is told of hosts, and files that tell it.

Files are lines of servers, or GPUs' nearest adapters as nvidia-smi or NCCL know them;
docs/reference/formats.md describes them. What is told are columns of a .fabric file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import InputError
from contend.base.files import LARGEST
from contend.fabric.streams.source import XmlReader, open_chunks, source_name

NONE = "-"
"""Stands for an adapter that a server lacks."""
MOST_RAILS = 256


@dataclass(frozen=True, eq=False)
class ToldRails:
    """Servers and rails that need not be found from names."""

    words: str
    """What is told, in a line."""
    names: tuple[str, ...]
    """Names of the servers; "" for one that is called as its hosts' descriptions say."""
    adapters: tuple[tuple[str, ...], ...]
    """Adapters of every server by rail, as they are told; `NONE` where it should have none."""
    server: NDArray[np.int64]
    """Server of every host by its place among `names`, shape [hosts]; -1 where nothing is told."""
    rail: NDArray[np.int64]
    """Rail of every host, from 0, shape [hosts]; -1 where nothing is told."""

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many rails every server has, shape [servers]."""
        return np.array([len(each) for each in self.adapters], dtype=np.int64)

    def of_hosts(self, hosts: NDArray[Any]) -> ToldRails:
        """What is told of some of the hosts, by their numbers."""
        return replace(self, server=self.server[hosts], rail=self.rail[hosts])


_NOT_TOLD = 0xFFFFFFFF


def columns_of(told: ToldRails | None, hosts: int) -> dict[str, Any]:
    """The columns by name, hosts of which nothing is told marked as such; None tells of none."""
    if told is None:
        nothing = np.full(hosts, _NOT_TOLD)
        columns = {"told_server": nothing, "told_rail": nothing, "told_rails": nothing[:0]}
        return {**columns, "told_words": ("",), "told_name": (), "told_adapter": ()}
    return {
        "told_server": np.where(told.server < 0, _NOT_TOLD, told.server),
        "told_rail": np.where(told.rail < 0, _NOT_TOLD, told.rail),
        "told_rails": told.sizes,
        "told_words": (told.words,),
        "told_name": told.names,
        "told_adapter": tuple(chain.from_iterable(told.adapters)),
    }


def from_columns(values: dict[str, Any], source: str) -> ToldRails | None:
    """Rails that were told when the file was written; takes their columns out of the values.

    None if the file has neither words nor servers.

    Raises:
        InputError: the columns do not fit together.
    """
    server, rail = (values.pop(name).astype(np.int64) for name in ("told_server", "told_rail"))
    sizes = values.pop("told_rails").astype(np.int64)
    (words,), names, adapters = (
        values.pop(name) for name in ("told_words", "told_name", "told_adapter")
    )
    if not words and not names and (server == rail).all() and (server == _NOT_TOLD).all():
        return None
    server[server == _NOT_TOLD] = rail[rail == _NOT_TOLD] = -1
    if int(sizes.sum()) != len(adapters) or int(sizes.max(initial=0)) > MOST_RAILS:
        got = f"{int(sizes.sum())} for {len(adapters)} adapters"
        raise InputError(source, 0, f"at most {MOST_RAILS} rails of a server", got)
    known = server >= 0
    if int(server.max(initial=-1)) >= len(names):
        raise InputError(source, 0, f"told_server below {len(names)}", str(int(server.max())))
    places = np.stack([server[known], rail[known]])
    if ((rail >= 0) != known).any() or (rail[known] >= sizes[server[known]]).any():
        raise InputError(source, 0, "told_rail below the server's rails", "another")
    if np.unique(places, axis=1).shape != places.shape:
        raise InputError(source, 0, "one host on each rail of a server", "several")
    ends = np.cumsum(sizes).tolist()
    each = tuple(adapters[end - size : end] for end, size in zip(ends, sizes.tolist(), strict=True))
    return ToldRails(words, names, each, server, rail)


EVERY = "*"
"""Stands for every server that has the adapters."""

_WORD = re.compile(r'\s*(?:"([^"]*)"|([^\s"]+))(?=\s|$)')


@dataclass(frozen=True)
class RailLine:
    """The adapters of a server, or of all that are alike, in the order of rails."""

    server: str
    """Name of the server, or `EVERY`."""
    adapters: tuple[str, ...]
    """Adapters by name or GUID; `NONE` for one that it has not."""
    line: int
    """Where it stands; 0 where the file as a whole says so."""


def read_rails(path: str) -> list[RailLine]:
    """The lines of a file that tells rails, whichever kind it is.

    Raises:
        UsageError: the file cannot be read.
        InputError: it is none, or larger than 64 MiB.
    """
    source = source_name(path)
    content = bytearray()
    for chunk in open_chunks(path):
        content += chunk
        if len(content) > LARGEST:
            raise InputError(source, 0, f"at most {LARGEST:,} bytes", "more")
    if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return [RailLine(EVERY, tuple(read_nccl_topology(bytes(content), source)), 0)]
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(source, line, "text in UTF-8", "other bytes") from None
    if is_matrix(lines):
        return [RailLine(EVERY, tuple(read_matrix(lines, source)), 0)]
    return _of_servers(lines, source)


def _of_servers(lines: Sequence[str], source: str) -> list[RailLine]:
    """A line for every server: its name, then its adapters."""
    found = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        server, *adapters = _words(text, source, number)
        if not server or not adapters:
            raise InputError(
                source, number, "a server and its adapters in the order of rails", f'"{text}"'
            )
        if len(adapters) > MOST_RAILS:
            got = f"{len(adapters):,}"
            raise InputError(source, number, f"at most {MOST_RAILS} adapters of a server", got)
        found.append(RailLine(server, tuple(adapters), number))
    if not found:
        raise InputError(source, 0, "servers with their adapters", "none")
    return found


def _words(text: str, source: str, line: int) -> list[str]:
    """Words between blanks; those in quotes may hold blanks."""
    words, at = list[str](), 0
    while at < len(text):
        match = _WORD.match(text, at)
        if match is None:
            got = f'"{text[at:].strip()[:40]}"'
            raise InputError(source, line, 'names, those with blanks in "quotes"', got)
        words.append(match[2] if match[1] is None else match[1].strip())
        at = match.end()
    return words


# From near to far; SOC is what older drivers call SYS.
_LINKS = {"PIX": 0, "PXB": 1, "PHB": 2, "NODE": 3, "SYS": 4, "SOC": 4}
_FAR = _LINKS["SYS"]
_MOST = 256
_GPU, _NIC = re.compile(r"GPU\d{1,4}"), re.compile(r"NIC\d{1,4}")
# What follows the columns of devices: CPU Affinity, NUMA Affinity, GPU NUMA ID.
_BEHIND = ("CPU", "NUMA", "GPU")
_NAME = re.compile(r"\s*(NIC\d{1,4}):\s*(\S+)\s*")
# Headings are underlined on a terminal.
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
_FIRST_LINES = 64
# A terminal that wraps lines may have eaten the blanks between these.
_CELL = re.compile(rf"(?:GPU|NIC|NV)\d{{1,4}}|{'|'.join(_LINKS)}|CPU|X")


def nearest_adapters(distances: Sequence[Sequence[int]], far: int) -> list[int]:
    """The nearest adapter of every GPU, each adapter once, in the order of GPUs.

    Where several are as near, a GPU takes the first that no GPU before it has, as pairs of GPUs and
    adapters below one switch are used; where there is none, it shares. A GPU that is far from all
    takes none: those that no GPU is near to, such as the adapters of storage, are no rail.

    Args:
        distances: from every GPU to every adapter.
        far: the distance from which on nothing is near.
    """
    taken: dict[int, None] = {}
    for row in distances:
        if min(row) >= far:
            continue
        near = [adapter for adapter, distance in enumerate(row) if distance == min(row)]
        free = [adapter for adapter in near if adapter not in taken]
        taken |= dict.fromkeys(free[:1])
    return list(taken)


def is_matrix(lines: Sequence[str]) -> bool:
    """Whether a heading of GPUs stands at the beginning."""
    return _heading(lines) is not None


def read_matrix(lines: Sequence[str], source: str) -> list[str]:
    """Names of the adapters of a server in the order of the GPUs that they are nearest to.

    Raises:
        InputError: there is no adapter, a row is cut off, or a link is unknown.
    """
    at = _heading(lines)
    assert at is not None
    columns = _columns(lines[at])
    adapters = [column for column in columns if not _GPU.fullmatch(column)]
    if not adapters:
        raise InputError(source, at + 1, "columns of adapters (NIC0) behind the GPUs", "none")
    if len(columns) > _MOST:
        raise InputError(source, at + 1, f"at most {_MOST} columns", f"{len(columns):,}")
    distances = []
    for number, line in enumerate(lines[at + 1 :], at + 2):
        label, *links = _cells(line) or [""]
        if _GPU.fullmatch(label) and label in columns:
            distances.append(_distances(label, links, columns, source, number))
    if not distances:
        raise InputError(source, at + 1, "a row for every GPU", "none")
    matches = (_NAME.fullmatch(_plain(line)) for line in lines)
    names = {match[1]: match[2] for match in matches if match}
    found = []
    nearest = nearest_adapters(distances, _FAR)
    if not nearest:
        raise InputError(source, at + 1, "an adapter nearer than SYS to a GPU", "none")
    for adapter in (adapters[number] for number in nearest):
        if _NIC.fullmatch(adapter) and adapter not in names:
            raise InputError(source, 0, f"the name of {adapter} in the NIC legend", "none")
        found.append(names.get(adapter, adapter))
    return found


def _distances(
    gpu: str, links: Sequence[str], columns: Sequence[str], source: str, line: int
) -> list[int]:
    if len(links) < len(columns):
        raise InputError(source, line, f"{len(columns)} links of {gpu}", f"{len(links)}")
    distances = []
    for column, link in zip(columns, links, strict=False):
        if _GPU.fullmatch(column):
            continue
        if link not in _LINKS:
            known = "PIX, PXB, PHB, NODE or SYS"
            raise InputError(source, line, f"{known} between {gpu} and {column}", f'"{link}"')
        distances.append(_LINKS[link])
    return distances


def _heading(lines: Sequence[str]) -> int | None:
    """Number of the line that begins with two devices, the first a GPU; comments may come first."""
    for number, line in enumerate(lines[:_FIRST_LINES]):
        words = _cells(line)
        if len(words) > 1 and _GPU.fullmatch(words[0]) and not set(words) & {"X", *_LINKS}:
            return number
    return None


def _columns(heading: str) -> list[str]:
    columns = []
    for word in _cells(heading):
        if word in _BEHIND:
            break
        columns.append(word)
    return columns


def _cells(line: str) -> list[str]:
    words: list[str] = []
    for word in _plain(line).split():
        cells = _CELL.findall(word)
        words += cells if "".join(cells) == word else [word]
    return words


def _plain(line: str) -> str:
    return _ESCAPES.sub("", line)


_MOST_DEPTH = 64


def read_nccl_topology(content: bytes, source: str) -> list[str]:
    """Names of a server's adapters in the order of the GPUs that they are nearest to.

    The nearest adapter is the one that shares most of the way up to the processor. Where several
    servers of one NVLink domain stand in the file, the first counts.

    Raises:
        InputError: XML that is not well-formed or has a document type, no system, no GPU or no
            adapter in it.
    """
    reader = _Reader(source)
    reader.read(content)
    return reader.adapters()


class _Reader(XmlReader):
    def __init__(self, source: str) -> None:
        super().__init__(source, "a topology")
        self._numbers = count()
        self._path: list[int] = []
        self._gpus: list[tuple[int, tuple[int, ...]]] = []
        self._nets: list[tuple[int, str, tuple[int, ...]]] = []
        self._got = "none"
        self._server: str | None = None
        self._elsewhere = 0

    def adapters(self) -> list[str]:
        kinds = ((self._gpus, "a GPU (<gpu dev=...>)"), (self._nets, "an adapter (<net name=...>)"))
        for found, what in kinds:
            if not found:
                expected = f"{what}, as NCCL_TOPO_DUMP_FILE has it"
                raise InputError(self._source, 0, expected, self._got)
        nets = sorted(self._nets)
        shared = [[_shared(path, net) for _, _, net in nets] for _, path in sorted(self._gpus)]
        # Of the ways to both, the system alone is common to everything in a server.
        nearest = nearest_adapters([[-way for way in row] for row in shared], -1)
        if not nearest:
            raise InputError(self._source, 0, "an adapter and a GPU of one <cpu>", "none")
        return [nets[number][1] for number in nearest]

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._path and name != "system":
            self._fail("a <system>, as NCCL_TOPO_DUMP_FILE has it", f"<{name[:40]}>")
        self._path.append(next(self._numbers))
        if len(self._path) > _MOST_DEPTH:
            self._fail(f"at most {_MOST_DEPTH} elements in each other", "more")
        if name == "cpu":
            server = attributes.get("host_hash", "")
            self._server = server if self._server is None else self._server
            self._elsewhere = 0 if server == self._server else len(self._path)
        if self._elsewhere:
            return
        if "class" in attributes:
            self._got = "classes of devices alone, as vendors write them for NCCL_TOPO_FILE"
        if name == "gpu":
            self._take(self._gpus, (self._place(attributes, self._gpus), tuple(self._path)))
        elif name == "net":
            adapter = attributes.get("name", "").strip()
            if not adapter:
                self._fail("the name of every <net>", "none")
            place = self._place(attributes, self._nets)
            self._take(self._nets, (place, adapter, tuple(self._path)))

    def _take(self, found: list[tuple], one: tuple) -> None:  # type: ignore[type-arg]
        if len(found) == _MOST:
            self._fail(f"at most {_MOST} GPUs and as many adapters", "more")
        found.append(one)

    def _place(self, attributes: dict[str, str], before: list) -> int:  # type: ignore[type-arg]
        """Its number as a device; where it has none, its place in the file."""
        text = attributes.get("dev", str(len(before)))
        if not text.isdecimal() or not text.isascii() or len(text) > 9:
            self._fail("a number as dev", repr(text[:40]))
        return int(text)

    def _end(self, name: str) -> None:
        if len(self._path) == self._elsewhere:
            self._elsewhere = 0
        self._path.pop()


def _shared(way: tuple[int, ...], other: tuple[int, ...]) -> int:
    """How many elements two ways down from the system have in common."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(way, other, strict=False)))
