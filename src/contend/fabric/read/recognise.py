"""Which kind of topology file it is, by its content."""

from __future__ import annotations

from contend.errors import InputError
from contend.fabric.read import db_csv, fabric_file, ibnetdiscover, ibsim, lst, orcs
from contend.fabric.read.topology import TopologyReader

# In this order: the looser a reader's look at the head, the later it is asked.
READERS: dict[str, TopologyReader] = {
    "contend's .fabric": fabric_file,
    "ibdiagnet .db_csv": db_csv,
    "ibdiagnet .lst": lst,
    "ORCS .dot": orcs,
    "ibsim net file": ibsim,
    "ibnetdiscover": ibnetdiscover,
}


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
