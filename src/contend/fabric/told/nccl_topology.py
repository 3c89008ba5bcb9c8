"""The GPUs and adapters of a server as NCCL writes them (``NCCL_TOPO_DUMP_FILE``)."""

from __future__ import annotations

from itertools import count, takewhile

from contend.errors import InputError
from contend.fabric.streams.xml_reader import XmlReader
from contend.fabric.told.topology_matrix import nearest_adapters

_MOST = 256
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
