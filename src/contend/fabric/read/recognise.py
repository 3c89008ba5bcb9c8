"""Which kind of topology file it is, by its content."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from contend.errors import InputError
from contend.fabric.read.topology import TopologyReader

# Modules of this package, in this order: the looser a look at the head, the later it is asked.
READERS = {
    "contend's .fabric": "fabric_file",
    "ibdiagnet .db_csv": "db_csv",
    "ibdiagnet .lst": "lst",
    "ORCS .dot": "orcs",
    "ibsim net file": "ibsim",
    "ibnetdiscover": "ibnetdiscover",
}


def reader(module: str) -> TopologyReader:
    """A reader by the name of its module."""
    return cast(TopologyReader, import_module(f"contend.fabric.read.{module}"))


def recognise(head: bytes, source: str) -> TopologyReader:
    """The reader for a file that begins like this.

    Raises:
        InputError: contend knows no such kind; the message lists those it knows.
    """
    for module in READERS.values():
        candidate = reader(module)
        if candidate.recognises(head):
            return candidate
    kinds = ", ".join(READERS)
    raise InputError(source, 0, f"a topology ({kinds})", _beginning(head))


def _beginning(head: bytes) -> str:
    """How a file begins, for a message."""
    if not head:
        return "an empty file"
    text = head[:200].decode("utf-8", "replace").strip()
    line = text.splitlines()[0][:60] if text else ""
    return f"a file that begins with {line!r}"
