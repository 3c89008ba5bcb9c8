"""What holds for every reader of the core, whatever the file: no crash, no wrong data."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contend.base.errors import ContendError, InputError
from contend.fabric.formats.ibnetdiscover import IBNETDISCOVER
from contend.fabric.subnet import Subnet
from contend.routes.dumps.columns import TableColumns
from contend.routes.dumps.readers import FAR, FDBS, LFTS

DATA = Path(__file__).resolve().parents[1] / "data" / "ibsim"

Read = Callable[[Iterable[bytes], str], Any]

READERS: dict[str, Read] = {
    ".ibnetdiscover": IBNETDISCOVER.read,
    ".dump_fts": LFTS.read,
    ".dump_lfts": LFTS.read,
    ".opensm-lfts": LFTS.read,
    ".fdbs": FDBS.read,
    ".far": FAR.read,
}
SPECIMENS = {
    file.name: (READERS[file.suffix], file.read_bytes())
    for file in (*sorted(DATA.iterdir()), DATA.parent / "tiny.far")
    if file.suffix in READERS
}
specimens = pytest.mark.parametrize("name", SPECIMENS)


def outcome(read: Read, chunks: Iterable[bytes]) -> dict[str, Any] | str:
    """The columns as lists, or the error."""
    try:
        columns = read(chunks, "file")
    except ContendError as error:
        return str(error)
    values = {field.name: getattr(columns, field.name) for field in dataclasses.fields(columns)}
    if values.get("groups") is not None:
        values["groups"] = sorted(chosen(columns))
    return {
        key: value.tolist() if isinstance(value, np.ndarray) else value
        for key, value in values.items()
    }


def facts(columns: Subnet | TableColumns) -> set[tuple[Any, ...]]:
    """All that a file says about cables or entries, but for the line and for notes."""
    if isinstance(columns, TableColumns):
        told = np.argwhere(columns.ports != 0xFFFF).tolist()
        entries = {(int(columns.switch_guid[s]), a, int(columns.ports[s, a])) for s, a in told}
        owners = {("owner", a, guid) for a, guid in enumerate(columns.owner_guid.tolist()) if guid}
        return entries | owners | chosen(columns)
    guid = [*columns.guid.tolist(), -1]
    rates = [columns.rates[rate] for rate in columns.rate.tolist()]
    return {
        (guid[node], port, port_guid, lid, lmc, guid[peer], peer_port, rate)
        for node, port, port_guid, lid, lmc, peer, peer_port, rate in zip(
            columns.node.tolist(),
            columns.port.tolist(),
            columns.port_guid.tolist(),
            columns.end_lid.tolist(),
            columns.end_lmc.tolist(),
            columns.peer.tolist(),
            columns.peer_port.tolist(),
            rates,
            strict=True,
        )
    }


def chosen(columns: TableColumns) -> set[tuple[Any, ...]]:
    """The ports that entries may use, and how switches choose."""
    if (groups := columns.groups) is None:
        return set()
    return {
        (
            int(columns.switch_guid[s]),
            a,
            (*groups.members(int(groups.of_entry[s, a])),),
            int(groups.hashed[groups.of_entry[s, a]]),
        )
        for s, a in np.argwhere(groups.of_entry).tolist()
    }


def check(columns: Subnet | TableColumns) -> None:
    """That columns fit together."""
    if isinstance(columns, TableColumns):
        assert columns.ports.shape == (len(columns.switch_guid), len(columns.owner_guid))
        assert np.all((columns.ports < 255) | (columns.ports == 0xFFFF))
        assert columns.ports.shape[1] <= 0xC000
        if columns.groups is not None:
            groups = columns.groups
            assert groups.of_entry.shape == columns.ports.shape
            assert groups.of_entry.max() < len(groups.hashed) == len(groups.first) - 1
            assert groups.first[-1] == len(groups.ports)
            assert (groups.sizes[1:] > 0).all()
        return
    nodes, ends = len(columns.kind), len(columns.node)
    for column in (columns.guid, columns.lid, columns.ports, columns.name, columns.node_line):
        assert len(column) == nodes
    for column in (columns.port, columns.peer, columns.peer_port, columns.rate, columns.end_line):
        assert len(column) == ends
    assert np.all((columns.node >= 0) & (columns.node < nodes))
    assert np.all((columns.peer >= -1) & (columns.peer < nodes))
    assert np.all(columns.rate < len(columns.rates))
    assert np.all(columns.port <= 254)
    assert np.all(columns.lid < 65535)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    bounds = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in pairwise(bounds)]


places = st.lists(st.integers(0, 1 << 16), max_size=12)


@specimens
@settings(max_examples=20, deadline=None)
@given(places)
def test_columns_do_not_depend_on_the_chunks(name: str, where: list[int]) -> None:
    read, data = SPECIMENS[name]
    assert outcome(read, cut(data, where)) == outcome(read, [data])


@specimens
def test_columns_of_single_bytes(name: str) -> None:
    read, data = SPECIMENS[name]
    assert outcome(read, cut(data, list(range(len(data))))) == outcome(read, [data])


@specimens
def test_a_file_cut_anywhere_says_nothing_that_the_whole_does_not(name: str) -> None:
    read, data = SPECIMENS[name]
    whole = facts(read([data], name))
    refused = 0
    for length in range(len(data)):
        try:
            columns = read([data[:length]], name)
        except InputError:
            refused += 1
        else:
            assert facts(columns) <= whole, data[:length][-80:]
    assert refused > 0


@specimens
@settings(max_examples=20, deadline=None)
@given(places, st.integers(0, 1 << 32))
def test_error_messages_anywhere_change_nothing(name: str, where: list[int], seed: int) -> None:
    read, data = SPECIMENS[name]
    lines = data.splitlines(keepends=True)
    noise = [
        b"ibwarn: [11630] mad_rpc: _do_madrpc failed; dport (DR path slid 0; dlid 0; 0,1,2)\n",
        b"src/query_smp.c:226; umad (DR path slid 0; dlid 0; 0,1 Attr 0x15:1) bad status 110\n",
        b"\n",
        b"\x1b[31m\x00\xff\xfe\n",
    ]
    for place in where:
        lines.insert(place % (len(lines) + 1), random.Random(seed).choice(noise))
    columns = read([b"".join(lines)], name)
    assert facts(columns) == facts(read([data], name))


@specimens
def test_line_ends_and_blanks_change_nothing(name: str) -> None:
    read, data = SPECIMENS[name]
    whole = facts(read([data], name))
    lines = [line for line in data.splitlines() if line]
    for changed in (
        data.replace(b"\n", b"\r\n"),
        data.replace(b"\t", b"    "),
        data.replace(b"\t", b""),
        b"\n".join(lines) + b"\n",
        b"\xef\xbb\xbf" + data,
        b"".join(b"  " + line + b"\r\n" for line in lines),
        data + data,
    ):
        assert facts(read([changed], name)) == whole


NUMBERS = b"0 1 254 255 256 65535 65536 99999999999999999999 -1 0x 0xbfff 0xc000".split()
MARKS = [b"[", b"]", b"(", b")", b'"', b"'", b"#", b":", b"\n", b"\r", b"\0", b"\xff"]
WORDS = [
    b" lid ",
    b" lmc 9",
    b"Switch 9 ",
    b"[1]",
    b"Unicast lids [0-",
    b" guid 0x",
    b"SW 1 1",
    b"Free 1",
]
tokens = st.sampled_from(NUMBERS + MARKS + WORDS)
KINDS = ["delete", "replace", "insert", "repeat", "swap"]
edits = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(0), tokens),
    min_size=1,
    max_size=8,
)


def edited(data: bytes, changes: list[tuple[str, int, bytes]]) -> bytes:
    for kind, place, token in changes:
        at = place % (len(data) + 1)
        lines = data.splitlines(keepends=True)
        line = place % max(1, len(lines))
        if kind == "delete":
            data = data[:at] + data[at + 1 + place % 40 :]
        elif kind == "replace":
            data = data[:at] + token + data[at + len(token) :]
        elif kind == "insert":
            data = data[:at] + token + data[at:]
        elif kind == "repeat" and len(data) < 1 << 17:
            data = b"".join(lines[: line + 1] + lines[line // 2 :])
        elif kind == "swap" and lines:
            lines[line], lines[-1] = lines[-1], lines[line]
            data = b"".join(lines)
    return data


@specimens
@settings(max_examples=60, deadline=None)
@given(edits, places)
def test_damaged_files_are_read_or_refused(
    name: str, changes: list[tuple[str, int, bytes]], where: list[int]
) -> None:
    read, data = SPECIMENS[name]
    damaged = edited(data, changes)
    result = outcome(read, [damaged])
    assert outcome(read, cut(damaged, where)) == result
    if not isinstance(result, str):
        check(read([damaged], name))


@pytest.mark.parametrize("read", [IBNETDISCOVER.read, LFTS.read, FDBS.read])
def test_a_line_without_end_is_refused_before_it_fills_the_memory(read: Read) -> None:
    taken = 0

    def endless() -> Iterable[bytes]:
        nonlocal taken
        while True:
            taken += 1
            yield b"x" * 4096

    with pytest.raises(InputError, match="a line of at most 65536 bytes"):
        read(endless(), "endless")
    assert taken == 17
