"""Topology files of every kind: which one it is, by its content, and what it holds; the writers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from contend.errors import InputError
from contend.fabric.assemble import Topology, assemble
from contend.fabric.fabric import Fabric
from contend.fabric.formats import (
    db_csv,
    fabric_file,
    graphml,
    iblinkinfo,
    ibnetdiscover,
    ibsim,
    lldp,
    lst,
    orcs,
    topology_conf,
)
from contend.fabric.subnet import Subnet


class TopologyReader(Protocol):
    """What a module that reads one kind of topology file offers."""

    def recognises(self, head: bytes) -> bool:
        """Whether the first 64 KiB look like this kind of file."""

    def read(self, chunks: Iterable[bytes], source: str) -> Subnet | Topology:
        """Reads the whole file; `source` is its name in messages."""


# In this order: the looser a reader's look at the head, the later it is asked.
READERS: dict[str, TopologyReader] = {
    "contend's .fabric": fabric_file,
    "ibdiagnet .db_csv": db_csv,
    "ibdiagnet .lst": lst,
    "lldpctl -f json": lldp,
    "GraphML": graphml,
    "iblinkinfo": iblinkinfo,
    "Slurm's topology.conf": topology_conf,
    "ORCS .dot": orcs,
    "ibsim net file": ibsim,
    "ibnetdiscover": ibnetdiscover,
}

Writer = Callable[[Fabric], Iterable[str] | Iterable[bytes]]
"""Yields the pieces of a file."""

WRITERS: dict[str, Writer] = {
    "fabric": fabric_file.write,
    "ibnetdiscover": ibnetdiscover.write,
    "ibsim": ibsim.write,
    "orcs": orcs.write,
    "graphml": graphml.write,
    "slurm": topology_conf.write,
}
"""The writers by the names of their formats."""


def recognise(head: bytes, source: str) -> TopologyReader:
    """The reader for a file that begins like this.

    Raises:
        InputError: contend knows no such kind; the message lists those it knows.
    """
    for reader in READERS.values():
        if reader.recognises(head):
            return reader
    kinds = ", ".join(READERS)
    raise InputError(source, 0, f"a topology ({kinds})", _beginning(head))


def _beginning(head: bytes) -> str:
    """How a file begins, for a message."""
    if not head:
        return "an empty file"
    text = head[:200].decode("utf-8", "replace").strip()
    line = text.splitlines()[0][:60] if text else ""
    return f"a file that begins with {line!r}"


def read_folder(folder: str) -> Topology | None:
    """The fabric that a folder of files tells, one for each device; None where it is no such.

    Raises:
        InputError: a file that is not what it should be.
    """
    described = lldp.read_folder(folder)
    return None if described is None else Topology(assemble(described, folder))


def read_topology(reader: TopologyReader, chunks: Iterable[bytes], source: str) -> Topology:
    """Reads a topology with its reader and judges what it says.

    Raises:
        InputError: the file is not what the reader expects, or holds no switch or no host.
    """
    described = reader.read(chunks, source)
    if isinstance(described, Subnet):
        return Topology(assemble(described, source))
    return described
