"""Dumps of forwarding tables in every format that contend reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from contend.errors import InputError
from contend.fabric import open_chunks, peek, source_name
from contend.routes import fdbs, lfts
from contend.routes.tables import TableColumns


class TableReader(Protocol):
    """What a module that reads one kind of table dump offers."""

    def recognises(self, head: bytes) -> bool:
        """Whether the first 64 KiB look like this kind of file."""

    def read(self, chunks: Iterable[bytes], source: str) -> TableColumns:
        """Reads the whole file; `source` is its name in messages."""


TABLE_READERS: dict[str, TableReader] = {
    "dumps of OpenSM, dump_fts or dump_lfts.sh": lfts,
    "fdbs of OpenSM or ibdiagnet": fdbs,
}


def load_tables(path: str) -> TableColumns:
    """Forwarding tables from a file of any kind that contend knows.

    Raises:
        UsageError: the file cannot be read.
        InputError: a file that is not what it should be.
    """
    source = source_name(path)
    head, chunks = peek(open_chunks(path))
    for reader in TABLE_READERS.values():
        if reader.recognises(head):
            return reader.read(chunks, source)
    got = "another kind of file" if head else "an empty file"
    raise InputError(source, 0, f"forwarding tables ({', '.join(TABLE_READERS)})", got)


def recognises_tables(head: bytes) -> bool:
    """Whether a file that begins with `head` is a dump of tables of any kind."""
    return any(reader.recognises(head) for reader in TABLE_READERS.values())
