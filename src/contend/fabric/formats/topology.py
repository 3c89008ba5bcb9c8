"""Topology files of every kind: which one it is, by its content, and what it holds; the writers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

from contend.base.errors import InputError
from contend.fabric.assemble import Topology, assemble
from contend.fabric.fabric import Fabric, Finding
from contend.fabric.formats import (
    cable_plan,
    db_csv,
    fabric_file,
    graphml,
    ibdiagnet,
    ibnetdiscover,
    ibsim,
    lldp,
    orcs,
    slurm_files,
    topology_conf,
    topology_yaml,
)
from contend.fabric.streams.source import survey
from contend.fabric.subnet import Subnet


class TopologyReader(Protocol):
    """What reads one kind of topology file, as a module or an object."""

    def recognises(self, head: bytes) -> bool:
        """Whether the first 64 KiB look like this kind of file."""

    def read(self, chunks: Iterable[bytes], source: str) -> Subnet | Topology:
        """Reads the whole file; `source` is its name in messages."""


# In this order: the looser a reader's look at the head, the later it is asked.
READERS: dict[str, TopologyReader] = {
    "contend's .fabric": fabric_file,
    "ibdiagnet .db_csv": db_csv,
    "ibdiagnet .lst": ibdiagnet.LstReader,
    "LLDP output": lldp,
    "GraphML": graphml,
    "iblinkinfo": ibnetdiscover.IBLINKINFO,
    "Slurm's topology.conf": topology_conf,
    "Slurm's topology.yaml": topology_yaml,
    "ORCS .dot": orcs,
    "plan of cables": cable_plan,
    "ibdiagnet .net_dump": ibdiagnet.NetDumpReader,
    "ibsim net file": ibsim,
    "ibnetdiscover": ibnetdiscover.IBNETDISCOVER,
}

Writer = Callable[[Fabric], Iterable[str] | Iterable[bytes]]
"""Yields the pieces of a file."""

WRITERS: dict[str, Writer] = {
    "fabric": fabric_file.write,
    "ibnetdiscover": ibnetdiscover.write,
    "ibsim": ibsim.write,
    "orcs": orcs.write,
    "graphml": graphml.write,
    "slurm": slurm_files.write_tree,
    "slurm-block": slurm_files.write_blocks,
    "slurm-yaml": slurm_files.write_yaml,
}
"""The writers by the names of their formats."""


def recognise(head: bytes, source: str) -> TopologyReader:
    """The reader for a file that begins like this.

    Raises:
        InputError: contend knows no such kind; the message lists those it knows.
    """
    kind = _kind_of(head)
    if kind is not None:
        return READERS[kind]
    if (other := _other(head)) is not None:
        raise _not_read(source, *other)
    if (failed := _FAILED.search(head)) is not None:
        got = f"an error in its place: {failed[0].decode('utf-8', 'replace').strip()[:100]!r}"
        raise InputError(source, 0, "a topology", got)
    kinds = ", ".join(READERS)
    raise InputError(source, 0, f"a topology ({kinds})", _beginning(head))


def _other(head: bytes) -> tuple[str, str] | None:
    """What a file is that tells no cables, and what tells them; None for another file."""
    return next(((what, readable) for other, what, readable in _OTHERS if other.search(head)), None)


def _not_read(source: str, what: str, readable: str) -> InputError:
    return InputError(source, 0, f"a topology, such as {readable}", what)


# Of so many characters of a text at most one is not to be shown, such as of an older encoding.
_SHOWN = 4


def _beginning(head: bytes) -> str:
    """How a file begins, for a message."""
    if not head:
        return "an empty file"
    text = head[:200].decode("utf-8", "replace").strip()
    unshown = sum(one == "\ufffd" or not (one.isprintable() or one.isspace()) for one in text)
    if _SHOWN * unshown > len(text):
        return "a file that is no text"
    line = text.splitlines()[0][:60] if text else ""
    return f"a file that begins with {line!r}"


# What commands say instead of a topology, and shells, and sudo.
_FAILED = re.compile(
    rb"^[^\n]*(?:\b(?:ibpanic|ibwarn|iberror|[Ee]rror|ERROR):|_\w+ error: |command not found"
    rb"|[Pp]ermission denied|not permitted|sudoers|[Cc]annot connect|No such file)[^\n]*",
    re.MULTILINE,
)
_LOG = "ibdiagnet's messages"
_ELSEWHERE = "what lldpctl -f json prints on the servers, or a plan of the cables"
# What people have at hand that tells no cables, and what does tell them.
_OTHERS = tuple(
    (re.compile(pattern, re.MULTILINE), what, readable)
    for pattern, what, readable in (
        (
            rb"^[^\S\n]*Ty[^\S\n]*:[^\S\n]*#[^\S\n]*:",
            "ibdiagnet's .net_dump_ext, which names no neighbours",
            "the .db_csv, .lst or .net_dump beside it",
        ),
        (
            rb"^-[IWE]-[^\S\n]",
            _LOG,
            "the .db_csv, .lst or .net_dump in the folder that it wrote",
        ),
        (
            rb"^(?:Ca|Switch|Router)[^\S\n]*:[^\S\n]*0x[0-9A-Fa-f]{1,16} ports ",
            "a list of nodes without their cables",
            "ibnetdiscover prints without an option",
        ),
        (
            rb"^Interface[^\S\n]+Speed[^\S\n]+Type[^\S\n]+Remote Host",
            "the table of nv show interface lldp",
            "nv show interface lldp -o json prints",
        ),
        (
            rb'[<"]lldp-neighbors-information|^Local Interface[^\S\n]+Parent Interface',
            "show lldp neighbors of Junos",
            _ELSEWHERE,
        ),
        (
            rb"^LocalPort[^\S\n]+RemoteDevice[^\S\n]+RemotePortID",
            "the table of show lldp table",
            "lldpctl -f json prints",
        ),
        (
            rb"^Port[^\S\n]+Neighbor Device ID[^\S\n]+Neighbor Port ID",
            "the table of show lldp neighbors",
            "show lldp neighbors detail | json prints",
        ),
        (
            rb"^Interface \S+ detected \d+ LLDP neighbors",
            "show lldp neighbors detail in words",
            "show lldp neighbors detail | json prints",
        ),
        (
            rb"^lldp\.\S+\.(?:via|rid|chassis)|<lldp[ >]",
            "lldpctl's keys or XML",
            "lldpctl -f json prints",
        ),
        (
            rb"^Device ID[^\S\n]+Local[^\S\n]+Proto[^\S\n]",
            "VyOS's table",
            "lldpctl -f json prints",
        ),
        (
            rb"^(?:LocalPort|Interface)[^\S\n].*[^\S\n]Remote ?Host[^\S\n]+Remote ?Port",
            "Cumulus's table",
            "lldpctl -f json prints",
        ),
        (
            rb"^CA '[^'\n]+'|^hca_id:|^Infiniband device '|^0x[0-9a-f]{16} +\d+ +\d+ ",
            "the state of one host's adapters",
            "ibnetdiscover prints",
        ),
        (
            rb"^PARTITION[^\S\n]|^NODELIST[^\S\n]|^NodeName=\S+ (?:Arch|CPUs|NodeAddr)",
            "Slurm's list of nodes, which names no switches",
            "scontrol show topology prints",
        ),
        (
            rb"^No topology information",
            "word of Slurm that it knows no switches",
            "ibnetdiscover or lldpctl -f json prints",
        ),
        (
            rb"(?i:chassis[ _-]?(?:id|type)|^[^\S\n]*device[- ]id\b|device id.*port id"
            rb"|neighbou?r (?:interface|intf|dev)|remote system name|ldp neighbor"
            rb"|\b(?:lldp|cdp)\b.*(?:neighbou?r|agent|information))",
            "LLDP or CDP neighbours as another maker's switch prints them",
            _ELSEWHERE,
        ),
    )
)

# Of several descriptions of a network the first of these is read; others in the order of READERS.
_TELLING = ("contend's .fabric", "ibdiagnet .db_csv", "ibnetdiscover", "ibdiagnet .lst")
_LLDP = "LLDP output"


def read_bundle(path: str) -> Topology | None:
    """The fabric that the files of a folder or archive tell; None where `path` is one file.

    Of files by different tools, as ibdiagnet leaves them, the one that tells most is read; of what
    devices hear by LLDP all are.

    Raises:
        UsageError: the path cannot be read.
        InputError: no topology among the files, two of the same kind, or a file that is not what it
            should be.
    """
    bundle = survey(path, lambda head: _kind_of(head) or (_other(head) or ("", ""))[0] or None)
    if bundle is None:
        return None
    if not bundle.by_kind.keys() & READERS.keys():
        for _, what, readable in _OTHERS:
            # The log lies in every folder of ibdiagnet's, and tells of nothing else there.
            for name in bundle.by_kind.get(what, ())[: what != _LOG]:
                raise _not_read(f"{path}/{name}", what, readable)
    order = dict.fromkeys((*_TELLING, *READERS))
    kind = bundle.best(order, f"a topology ({', '.join(READERS)})")
    if kind == _LLDP:
        # A device's file that is damaged is not passed over.
        names = {*bundle.by_kind[kind], *(name for name in bundle.names if lldp.is_named(name))}
        others = [name for name in bundle.names if name not in names]
        return Topology(assemble(lldp.read_files(bundle.open(names), path, others), path))
    source, chunks, note = bundle.only(kind)
    topology = read_topology(READERS[kind], chunks, source)
    findings = (Finding("reader's note", note, wrong=False), *topology.fabric.findings)
    fabric = topology.fabric.replace(findings=findings)
    return replace(topology, fabric=fabric.replace(name=path) if fabric.name == source else fabric)


def _kind_of(head: bytes) -> str | None:
    """The kind of topology that begins like this, None for another file."""
    return next((kind for kind, reader in READERS.items() if reader.recognises(head)), None)


def read_topology(reader: TopologyReader, chunks: Iterable[bytes], source: str) -> Topology:
    """Reads a topology with its reader and judges what it says.

    Raises:
        InputError: the file is not what the reader expects, or holds no switch or no host.
    """
    described = reader.read(chunks, source)
    if isinstance(described, Subnet):
        return Topology(assemble(described, source))
    return described
