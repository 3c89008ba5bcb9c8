"""The front door: a fabric from a file or by name, with its routes from a file or computed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from contend.errors import InputError, UsageError
from contend.fabric import (
    Fabric,
    is_generator,
    make,
    open_chunks,
    peek,
    read_topology,
    recognise,
    source_name,
)
from contend.routes.adopt import adopt
from contend.routes.engines import compute
from contend.routes.forwarding import ForwardingTables
from contend.routes.read import fdbs, lfts
from contend.routes.read.columns import TableColumns

_OWN_ENGINES = {"fig1": "fig1"}
_DEFAULT_ENGINE = "minhop"


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


def load_fabric(
    source: str,
    *,
    routes: str | None = None,
    route: str | None = None,
    need_routes: bool = False,
) -> Fabric:
    """Loads a fabric, and its routes where they are given, asked for or part of the file.

    Args:
        source: a generator with its parameters (``thunderbird``, ``xgft:2;18,36;1,18``), a
            topology file of any kind that contend knows, or ``-`` for standard input. A file that
            is called like a generator is named by a path, ``./thunderbird``.
        routes: a file of forwarding tables.
        route: an engine that computes them, such as ``minhop`` or ``opensm:ftree``.
        need_routes: whether the caller cannot do without: generated fabrics are routed with
            ``minhop`` (``fig1`` with its own routes) when nothing else is said.

    Raises:
        UsageError: both `routes` and `route` given; routes needed but none given.
        InputError: a file that is not what it should be.
    """
    if routes is not None and route is not None:
        raise UsageError("give either --routes FILE or --route ENGINE, not both")
    if source == "-" and routes == "-":
        raise UsageError("the topology and the tables cannot both come from standard input")
    generator = is_generator(source)
    fabric = make(source) if generator else load_topology(source)
    if routes is not None:
        return adopt(fabric, load_tables(routes), source_name(routes))
    if route is None and need_routes and fabric.routes is None:
        if not generator:
            name = source_name(source)
            raise UsageError(f"{name} holds no routes: give --routes FILE or --route ENGINE")
        route = _OWN_ENGINES.get(source.partition(":")[0], _DEFAULT_ENGINE)
    return fabric if route is None else compute(fabric, route)


def load_topology(path: str) -> Fabric:
    """A fabric from a topology file, with routes only where the file itself carries them.

    Raises:
        UsageError: the file cannot be read, or holds tables instead of a topology.
        InputError: a file that is not what it should be.
    """
    source = source_name(path)
    head, chunks = peek(open_chunks(path))
    try:
        reader = recognise(head, source)
    except InputError:
        if _table_reader(head) is not None:
            text = "holds forwarding tables, not a topology: give it with --routes"
            raise UsageError(f"{source} {text}") from None
        raise
    topology = read_topology(reader, chunks, source)
    fabric = topology.fabric
    if fabric.name == source:
        fabric = fabric.replace(name=_short_name(source))
    if topology.ports is None:
        return fabric
    return fabric.replace(routes=ForwardingTables(topology.ports, topology.engine))


def _short_name(source: str) -> str:
    """What tables and figures call a fabric that has no name of its own: its file's, bare."""
    name = re.sub(r"\.(gz|xz|zst)$", "", Path(source).name)
    return re.sub(r"(?<=.)\.[A-Za-z_]+$", "", name)


def load_tables(path: str) -> TableColumns:
    """Forwarding tables from a file of any kind that contend knows.

    Raises:
        UsageError: the file cannot be read.
        InputError: a file that is not what it should be.
    """
    source = source_name(path)
    head, chunks = peek(open_chunks(path))
    reader = _table_reader(head)
    if reader is None:
        got = "another kind of file" if head else "an empty file"
        raise InputError(source, 0, f"forwarding tables ({', '.join(TABLE_READERS)})", got)
    return reader.read(chunks, source)


def _table_reader(head: bytes) -> TableReader | None:
    """The reader of tables that begin like this."""
    for reader in TABLE_READERS.values():
        if reader.recognises(head):
            return reader
    return None
