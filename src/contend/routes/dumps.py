"""Dumps of forwarding tables: every format that contend reads, and the one that it writes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.errors import InputError, UsageError
from contend.fabric import (
    LARGEST_LID,
    Fabric,
    check_lids,
    naming,
    one_line,
    open_chunks,
    peek,
    source_name,
    survey,
)
from contend.routes.addresses import others_of
from contend.routes.routes import tables_of
from contend.routes.tables import NO_PORT, TableColumns

_LFTS_HEADING = re.compile(rb"^[ \t]*Unicast lids \[", re.MULTILINE)
_FDBS_HEADING = re.compile(rb"^[ \t]*[a-z_]{0,32}dump_ucast_routes: Switch 0x", re.MULTILINE)


@dataclass(frozen=True)
class TableReader:
    """How one kind of table dump is known and read.

    Attributes:
        heading: stands above every table of this kind, and in no other.
        parser: of the core, takes the file piece by piece.
    """

    heading: re.Pattern[bytes]
    parser: Callable[[], _core.LftsParser | _core.FdbsParser]

    def recognises(self, head: bytes) -> bool:
        """Whether a file whose first 64 KiB are `head` is a dump of this kind."""
        return self.heading.search(head) is not None

    def read(self, chunks: Iterable[bytes], source: str) -> TableColumns:
        """Reads a dump of forwarding tables; multicast tables in it are passed over.

        Args:
            chunks: the file's bytes, cut anywhere.
            source: the file's name, for errors.

        Raises:
            InputError: a row or heading does not read as one, a LID is not unicast, a port is above
                255, two tables of a switch contradict each other, or there is no table at all.
        """
        parser = self.parser()
        with naming(source):
            for chunk in chunks:
                parser.feed(chunk)
            return TableColumns(**parser.finish())


LFTS = TableReader(_LFTS_HEADING, _core.LftsParser)
"""Tables as OpenSM (opensm-lfts.dump), dump_fts, dump_lfts.sh and ibroute print them.

Two faults of dumping tools are told in the notes: the highest LID is missing where it is a multiple
of 64, and after a failed read the block before is printed again. Such blocks are left out where an
error message in the file or the table itself gives them away.
"""

FDBS = TableReader(_FDBS_HEADING, _core.FdbsParser)
"""Tables as OpenSM (opensm.fdbs) and ibdiagnet (.fdbs) write them.

The format names no owners of LIDs, but the LID that leads to port 0 is the switch's own. Of a
switch's private tables (PLFT_NUM) the first counts.
"""

TABLE_READERS = {
    "dumps of OpenSM, dump_fts or dump_lfts.sh": LFTS,
    "fdbs of OpenSM or ibdiagnet": FDBS,
}


def load_tables(path: str) -> TableColumns:
    """Forwarding tables from a file of any kind that contend knows.

    Of a folder or an archive of several files, the one that holds tables is read.

    Raises:
        UsageError: the file cannot be read.
        InputError: a file that is not what it should be, or not one file with tables.
    """
    source = source_name(path)
    bundle = survey(path, _kind_of)
    if bundle is not None:
        best = bundle.best(TABLE_READERS, f"forwarding tables ({', '.join(TABLE_READERS)})")
        source, chunks, note = bundle.only(best)
        tables = TABLE_READERS[best].read(chunks, source)
        return replace(tables, notes=(note, *tables.notes))
    head, chunks = peek(open_chunks(path))
    kind = _kind_of(head)
    if kind is not None:
        return TABLE_READERS[kind].read(chunks, source)
    got = "another kind of file" if head else "an empty file"
    raise InputError(source, 0, f"forwarding tables ({', '.join(TABLE_READERS)})", got)


def recognises_tables(head: bytes) -> bool:
    """Whether a file that begins with `head` is a dump of tables of any kind."""
    return _kind_of(head) is not None


def _kind_of(head: bytes) -> str | None:
    """The kind of dump that begins like this, None for another file."""
    return next((kind for kind, reader in TABLE_READERS.items() if reader.recognises(head)), None)


_LARGEST_PORT = 254


def write(fabric: Fabric) -> Iterator[str]:
    """One block per switch, each entry with the owner of its LID.

    By the owner's GUID OpenSM, which gives out LIDs of its own, finds whose entry it is.

    Raises:
        UsageError: the fabric has no routes, addresses that are no LIDs, or ports above 254.
    """
    ports = tables_of(fabric).ports
    check_lids(fabric, "a table dump")
    tables = ports[:, : LARGEST_LID + 1]
    comments = _comments(fabric, tables.shape[1])
    for switch, row in enumerate(tables):
        yield _block(fabric, switch, row, comments)


def _comments(fabric: Fabric, addresses: int) -> list[str]:
    """What stands behind an entry: the owner of every LID, "" where nobody has it."""
    comments = [""] * addresses
    for lid, guid, name in zip(
        fabric.switch_lid.tolist(), fabric.switch_guid.tolist(), fabric.switch_name, strict=True
    ):
        if 0 < lid < addresses:
            comments[lid] = f" # Switch portguid 0x{guid:016x}: '{one_line(name)}'"
    rows = zip(
        fabric.host_lid.tolist(),
        fabric.host_lmc.tolist(),
        _port_guids(fabric).tolist(),
        fabric.host_name,
        strict=True,
    )
    for lid, lmc, guid, name in rows:
        comment = f" # Channel Adapter portguid 0x{guid:016x}: '{one_line(name)}'"
        for own in range(lid, min(lid + (1 << lmc), addresses)) if lid else ():
            comments[own] = comment
    for other in others_of(fabric).tolist():
        lid, guid = int(fabric.other_lid[other]), int(fabric.other_guid[other])
        if guid and lid < addresses:
            kind, name = one_line(fabric.other_kind[other]), one_line(fabric.other_name[other])
            comments[lid] = f" # {kind or 'Channel Adapter'} portguid 0x{guid:016x}: '{name}'"
    return comments


def _port_guids(fabric: Fabric) -> NDArray[np.uint64]:
    """Port GUIDs, the node's where a file did not tell the port's."""
    guids: NDArray[np.uint64] = np.where(
        fabric.host_port_guid != 0, fabric.host_port_guid, fabric.host_guid
    )
    return guids


def _block(fabric: Fabric, switch: int, row: NDArray[np.uint16], comments: list[str]) -> str:
    lids = np.flatnonzero(row != NO_PORT)
    ports = row[lids]
    if len(ports) and int(ports.max()) > _LARGEST_PORT:
        name = fabric.switch_name[switch]
        raise UsageError(
            f'a table dump has ports up to {_LARGEST_PORT}, but switch "{name}" sends through '
            f"port {int(ports.max())}"
        )
    entries = zip(lids.tolist(), ports.tolist(), strict=True)
    lines = [f"0x{lid:04x} {port:03d}{comments[lid]}\n" for lid, port in entries if lid]
    return (
        f"Unicast lids [0-{len(row) - 1}] of switch Lid {fabric.switch_lid[switch]} "
        f"guid 0x{int(fabric.switch_guid[switch]):016x} "
        f"('{one_line(fabric.switch_name[switch])}'):\n"
        f"{''.join(lines)}{len(lines)} lids dumped\n"
    )
