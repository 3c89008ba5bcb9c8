"""Dumps of forwarding tables: every format that contend reads, and those that it writes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import InputError, UsageError
from contend.base.units import counted
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
from contend.routes.dumps.columns import TableColumns
from contend.routes.multipath.adaptive import AdaptiveTables, PortGroups
from contend.routes.routes import routes_of, tables_of, without_tables
from contend.routes.tables import NO_PORT

_LFTS_HEADING = re.compile(rb"^[ \t]*Unicast lids \[", re.MULTILINE)
_FAR_HEADING = re.compile(rb"^[ \t]*Groups Definition:", re.MULTILINE)
_FDBS_HEADING = re.compile(rb"^[ \t]*[a-z_]{0,32}dump_ucast_routes: Switch 0x", re.MULTILINE)


@dataclass(frozen=True)
class TableReader:
    """How one kind of table dump is known and read."""

    heading: re.Pattern[bytes]
    """What stands above every table of this kind, and in no other."""
    parser: Callable[[], _core.LftsParser | _core.FdbsParser | _core.FarParser]
    """Parser of the core, takes the file piece by piece."""

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
            columns = parser.finish()
        groups = columns.pop("groups", None)
        return TableColumns(**columns, groups=None if groups is None else PortGroups(**groups))


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

FAR = TableReader(_FAR_HEADING, _core.FarParser)
"""Tables of adaptive routing as ibdiagnet (.far) writes them.

An entry takes its port alone (``Static``) or any port of a group, which the switch chooses for
every packet (``Free``) or by a hash of the message (``HBF``). The ports of all sub-groups of a
group count alike. Owners of LIDs and private tables are as in fdbs.
"""

_FDBS = "fdbs of OpenSM or ibdiagnet"
TABLE_READERS = {
    "ibdiagnet's tables of adaptive routing (.far)": FAR,
    "dumps of OpenSM, dump_fts or dump_lfts.sh": LFTS,
    _FDBS: FDBS,
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
        tables = replace(tables, notes=(note, *tables.notes))
        if tables.groups is None or _FDBS not in bundle.by_kind:
            return tables
        # Switches without adaptive routing may stand in the other file alone.
        source, chunks, _ = bundle.only(_FDBS)
        return _joined(tables, FDBS.read(chunks, source), source)
    head, chunks = peek(open_chunks(path))
    kind = _kind_of(head)
    if kind is not None:
        return TABLE_READERS[kind].read(chunks, source)
    got = "another kind of file" if head else "an empty file"
    raise InputError(source, 0, f"forwarding tables ({', '.join(TABLE_READERS)})", got)


def _joined(tables: TableColumns, others: TableColumns, source: str) -> TableColumns:
    """Tables with groups, and those of switches that they lack from another file."""
    new = np.flatnonzero(~np.isin(others.switch_guid, tables.switch_guid))
    if not len(new) or tables.groups is None:
        return tables
    known, width = len(tables.switch_guid), max(tables.ports.shape[1], others.ports.shape[1])
    ports = np.full((known + len(new), width), NO_PORT, dtype=np.uint16)
    ports[:known, : tables.ports.shape[1]] = tables.ports
    ports[known:, : others.ports.shape[1]] = others.ports[new]
    of_entry = np.zeros_like(ports)
    of_entry[:known, : tables.ports.shape[1]] = tables.groups.of_entry
    owner = np.zeros(width, dtype=np.uint64)
    for each in (others, tables):
        own = np.flatnonzero(each.owner_guid)
        owner[own] = each.owner_guid[own]
    note = f"read the tables of {counted(len(new), 'further switch')} from {source}"
    return TableColumns(
        np.append(tables.switch_guid, others.switch_guid[new]),
        ports,
        owner,
        notes=(*tables.notes, note, *others.notes),
        groups=replace(tables.groups, of_entry=of_entry),
    )


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
    return np.where(fabric.host_port_guid != 0, fabric.host_port_guid, fabric.host_guid)


def _block(fabric: Fabric, switch: int, row: NDArray[np.uint16], comments: list[str]) -> str:
    lids = np.flatnonzero(row != NO_PORT)
    ports = row[lids]
    _check_largest(fabric, switch, ports)
    entries = zip(lids.tolist(), ports.tolist(), strict=True)
    lines = [f"0x{lid:04x} {port:03d}{comments[lid]}\n" for lid, port in entries if lid]
    return (
        f"Unicast lids [0-{len(row) - 1}] of switch Lid {fabric.switch_lid[switch]} "
        f"guid 0x{int(fabric.switch_guid[switch]):016x} "
        f"('{one_line(fabric.switch_name[switch])}'):\n"
        f"{''.join(lines)}{len(lines)} lids dumped\n"
    )


def _check_largest(fabric: Fabric, switch: int, ports: NDArray[np.uint16]) -> None:
    if len(ports) and int(ports.max()) > _LARGEST_PORT:
        name = fabric.switch_name[switch]
        raise UsageError(
            f'a table dump has ports up to {_LARGEST_PORT}, but switch "{name}" sends through '
            f"port {int(ports.max())}"
        )


def write_far(fabric: Fabric) -> Iterator[str]:
    """One block per switch: the groups that its entries use, then its entries.

    Raises:
        UsageError: the fabric has no routes, or some that no such file says, addresses that are no
            LIDs, or ports above 254.
    """
    routes = routes_of(fabric)
    grouped = routes.in_groups(fabric)
    if grouped is None:
        raise UsageError(f"{without_tables(routes)}, and far files hold tables: give another")
    check_lids(fabric, "a table dump")
    yield "# Tables of adaptive routing, written by contend\nFile version: 1\n"
    for switch in range(fabric.switches):
        yield _far_block(fabric, switch, grouped)


def _far_block(fabric: Fabric, switch: int, grouped: AdaptiveTables) -> str:
    ports = grouped.ports[switch, : LARGEST_LID + 1]
    of_entry, groups = grouped.groups.of_entry[switch, : LARGEST_LID + 1], grouped.groups
    lids = np.flatnonzero((ports != NO_PORT) | (of_entry > 0))
    lids = lids[lids > 0]
    _check_largest(fabric, switch, ports[lids][ports[lids] != NO_PORT])
    state = {0: "Static"}
    rows = []
    used, first = np.unique(of_entry[lids], return_index=True)
    in_turn = [group for group in used[np.argsort(first)].tolist() if group]
    for number, group in enumerate(in_turn, start=1):
        listed = "".join(f"{port}," for port in groups.members(group))
        rows.append(f"{number:<7}{0:<11}{0:<6}{listed}\n")
        state[group] = f"{'HBF' if groups.hashed[group] else 'Free':<11}{number}"
    entries = zip(lids.tolist(), ports[lids].tolist(), of_entry[lids].tolist(), strict=True)
    lines = [
        f"0x{lid:04x}  {min(port, _LARGEST_PORT + 1):<13}{state[group]}\n"
        for lid, port, group in entries
    ]
    top = int(lids[-1]) if len(lids) else 0
    return (
        f"\nSwitch 0x{int(fabric.switch_guid[switch]):016x} LID {fabric.switch_lid[switch]} "
        f'"{one_line(fabric.switch_name[switch])}"\n\n'
        f"Groups Definition:\nGroup  Sub Group  WHBF  Ports\n{'-' * 30}\n{''.join(rows)}\n"
        f"LFT Definition:\nPLFT_NUM: 0, top: 0x{top:04x}\n"
        f"LID     Static Port  Lid State  Group\n{'-' * 37}\n{''.join(lines)}"
    )
