"""Tables of adaptive routing as ibdiagnet writes them: read, and written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from contend.base.errors import InputError, UsageError
from contend.fabric import Fabric
from contend.routes import (
    NO_PORT,
    AdaptiveTables,
    ForwardingTables,
    adopt,
    load,
    load_tables,
    make_resolver,
    save,
)
from contend.routes.dumps.columns import TableColumns
from contend.routes.dumps.readers import FAR, FDBS, LFTS
from sample_fabrics import DATA

TINY = DATA / "tiny.far"


def parse(text: str) -> TableColumns:
    return FAR.read([text.encode()], "net.far")


def entries(columns: TableColumns, row: int = 0) -> dict[int, tuple[int, list[int], bool]]:
    """Port, group and whether that is hashed, by LID."""
    groups, told = columns.groups, {}
    for lid, port in enumerate(columns.ports[row].tolist()):
        group = 0 if groups is None else int(groups.of_entry[row, lid])
        if port != NO_PORT or group:
            ports = [] if groups is None else groups.members(group)
            told[lid] = (port, ports, groups is not None and bool(groups.hashed[group]))
    return told


def test_a_file_with_all_there_is() -> None:
    columns = FAR.read([TINY.read_bytes()], "tiny.far")
    assert columns.switch_guid.tolist() == [0x200001, 0x200002, 0x200000]
    assert entries(columns) == {
        1: (3, [3, 4], False),
        2: (4, [], False),
        3: (0, [], False),
        4: (3, [3, 4], True),
        5: (4, [], False),
        6: (4, [], False),
        7: (1, [], False),
        8: (2, [], False),
    }
    spine = entries(columns, 1)
    assert spine[6] == (2, [1, 2], False)
    assert spine[8] == (NO_PORT, [3, 4], False)
    # The LID that leads to port 0 is the switch's own.
    assert columns.owner_guid.tolist() == [0, 0, 0x200000, 0x200001, 0, 0x200002, 0, 0, 0]
    switch = "switch 0x0000000000200001, PLFT 1"
    assert columns.notes == (
        "1 further private table (PLFT) is not like its switch's first, which counts, in line "
        f"22: '{switch}'",
        "1 adaptive entry takes its static port alone: its group has no ports, in line 19: "
        "'0x0006  4            Free       2'",
    )
    assert FAR.recognises(TINY.read_bytes())
    assert not LFTS.recognises(TINY.read_bytes())
    assert not FDBS.recognises(TINY.read_bytes())


HEAD = "File version: 1\nSwitch 0x00000000000000a0 LID 3\n"
GROUPS = "Groups Definition:\nGroup  Sub Group  WHBF  Ports\n----\n"
TABLE = "LFT Definition:\nPLFT_NUM: 0, top: 0x0003\nLID  Static Port  Lid State  Group\n---\n"


def test_a_file_of_static_entries_alone_has_no_groups() -> None:
    columns = parse(HEAD + GROUPS + "1 0 0 1,2,\n" + TABLE + "0x0001 12 Static\n")
    assert columns.groups is None
    assert entries(columns) == {1: (12, [], False)}


def test_groups_may_lack_the_column_of_weights_and_tables_their_numbers() -> None:
    text = HEAD + "Groups Definition:\nGroup  Sub Group  Ports\n----\n3 0 1, 2,\n3 1 5,7\n"
    columns = parse(text + "LFT Definition:\nLID ...\n0x0002 12 HBF 3 of more\n")
    assert entries(columns) == {2: (12, [1, 2, 5, 7], True)}


def test_private_tables_that_are_alike_are_not_told() -> None:
    rows = "0x0001 12 Free 1\n0x0002 3 Static\n"
    text = HEAD + GROUPS + "1 0 0 1,2,\n" + TABLE + rows
    second = TABLE.replace("NUM: 0", "NUM: 1") + rows
    assert parse(text + second).notes == ()
    for other in (rows[17:], rows + "0x0003 3 Static\n", rows.replace("Free", "HBF")):
        assert len(parse(text + TABLE + other).notes) == 1
    # What another switch has says nothing of this one.
    other = text.replace("a0", "a1").replace("0x0002 3", "0x0002 4")
    assert parse(text + other + TABLE + rows).notes != ()


@pytest.mark.parametrize(
    ("text", "line", "expected", "got"),
    [
        ("Switch leaf\n", 1, "the GUID of a switch", "'leaf'"),
        ("Switch 0x00a", 1, "the GUID of a switch", "'0x00a'"),
        (HEAD + GROUPS + "x\n", 0, "", ""),
        (HEAD + GROUPS + "70000 0 0 1,\n", 6, "the number of a group", "'70000 0 0 1,'"),
        (HEAD + GROUPS + "1 x 0 1,\n", 6, "the number of a sub-group", "'x 0 1,'"),
        (HEAD + GROUPS + "1 0 1,2,\n", 6, "whether the group is weighted", "'1,2,'"),
        (HEAD + GROUPS + "1 0 0 1,255,\n", 6, "a port from 1 to 254", "'255,'"),
        (HEAD + GROUPS + "1 0 0 1 2\n", 6, "a comma after the port", "'2'"),
        (HEAD + GROUPS + "1 0 0 1,2", 6, "a comma after the port", "the end"),
        ("Groups Definition:\n1 0 0 1,\n", 2, "a switch before its groups", "'1 0 0 1,'"),
        (HEAD + TABLE + "0xC000 1 Static\n", 7, "a unicast LID", "'0xC000"),
        (HEAD + TABLE + "0x0001 256 Static\n", 7, "a port from 0 to 255", "'256 Static'"),
        (HEAD + TABLE + "0x0001 1 Bound\n", 7, "the state of the LID", "'Bound'"),
        (HEAD + TABLE + "0x0001 1 Free 4\n", 7, "the number of a group of this", "'4'"),
        (HEAD + TABLE + "0x0001 1 Free\n", 7, "the number of a group of this", "the end"),
        (HEAD + GROUPS + "12 0 0 1,\n" + TABLE + "0x0001 1 Free 1", 11, "the number of", "'1'"),
        (HEAD + "0x0001 1 Static\n", 3, '"LFT Definition"', "'0x0001 1 Static'"),
        (HEAD + "PLFT_NUM: x\n", 3, "the number of a private table", "'x'"),
        (
            HEAD + TABLE + "0x0001 1 Static\n" + HEAD + TABLE + "0x0001 2 Static\n",
            9,
            "one port for LID 1 of switch 0x00000000000000a0",
            "2",
        ),
        ("", 0, "forwarding tables", "none"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    text: str, line: int, expected: str, got: str
) -> None:
    if not expected:
        assert parse(text + TABLE).notes[0].startswith("1 line passed over that belongs to no")
        return
    with pytest.raises(InputError) as caught:
        parse(text)
    assert (caught.value.source, caught.value.line) == ("net.far", line)
    assert caught.value.expected.startswith(expected)
    assert caught.value.got.startswith(got)


def test_switches_of_another_fabric_and_missing_ones_are_told() -> None:
    text = TINY.read_text().replace("Switch 0x0000000000200002", "Switch 0x0000000000200009")
    fabric = load_tiny(text)
    told = [finding.message for finding in fabric.findings if finding.wrong]
    assert told[0] == 'no table for 1 switch: "spine"'
    assert told[1].startswith("no switch of the fabric has the GUID of 1 table: ")
    assert not fabric.routes.grouped.groups.of_entry[fabric.switch_name.index("spine")].any()


def load_tiny(text: str) -> Fabric:
    fabric = load(DATA / "tiny.ibnetdiscover")
    return adopt(fabric, parse(text), "net.far")


def test_of_a_folder_switches_without_adaptive_routing_are_read_from_its_fdbs(
    tmp_path: Path,
) -> None:
    text = TINY.read_text()
    (tmp_path / "ibdiagnet2.far").write_text(text[: text.index("Switch 0x0000000000200000")])
    (tmp_path / "ibdiagnet2.fdbs").write_bytes((DATA / "tiny.opensm.fdbs").read_bytes())
    columns = load_tables(str(tmp_path))
    assert columns.switch_guid.tolist() == [0x200001, 0x200002, 0x200000]
    assert entries(columns, 1)[7] == (3, [3, 4], False)
    assert entries(columns, 2)[7] == (3, [], False)
    assert columns.owner_guid[[2, 3, 5]].tolist() == [0x200000, 0x200001, 0x200002]
    assert columns.notes[0] == "read ibdiagnet2.far of 2 files"
    assert columns.notes[3].startswith("read the tables of 1 further switch from ")
    # With all switches in the first nothing is wanted of the second.
    (tmp_path / "ibdiagnet2.far").write_text(text)
    assert len(load_tables(str(tmp_path)).notes) == 3


SPECS = ["xgft:3;2,2,3;1,2,2", "dragonfly:2,4,2", "torus:3x4", "random:8,3,2,1", "two levels"]


def routed(spec: str, engine: str) -> Fabric:
    if spec == "two levels":
        return load(DATA / "tiny.ibnetdiscover", route=engine)
    return load(spec, route=engine)


def choices(fabric: Fabric) -> list[list[tuple[int, list[int], int]]]:
    """Port, ports of the group and how they are chosen, of every entry."""
    tables = fabric.routes.in_groups(fabric)
    groups = tables.groups
    return [
        [
            (port, groups.members(group), int(groups.hashed[group]))
            for port, group in zip(ports, of_entry, strict=True)
        ]
        for ports, of_entry in zip(tables.ports.tolist(), groups.of_entry.tolist(), strict=True)
    ]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("engine", ["spray", "ecmp", "minhop", "contend"])
def test_what_is_written_reads_back_the_same(spec: str, engine: str, tmp_path: Path) -> None:
    fabric, file = routed(spec, engine), tmp_path / "net.far"
    save(fabric, file)
    again = load_again(fabric, file)
    assert again.routes is not None
    kind = AdaptiveTables if engine in ("spray", "ecmp") else ForwardingTables
    assert isinstance(again.routes, kind)
    assert choices(again) == choices(fabric)
    save(again, tmp_path / "again.far")
    assert (tmp_path / "again.far").read_bytes() == file.read_bytes()


def load_again(fabric: Fabric, file: Path) -> Fabric:
    return adopt(fabric.replace(routes=None), load_tables(str(file)), "net.far")


@pytest.mark.parametrize("engine", ["contend,lmc=1", "minhop"])
def test_static_files_route_as_their_tables_do(engine: str, tmp_path: Path) -> None:
    fabric = load("xgft:2;4,4;1,4", route=engine)
    save(fabric, tmp_path / "net.far")
    again = load_again(fabric, tmp_path / "net.far")
    hosts = np.arange(fabric.hosts, dtype=np.uint32)
    source, target = np.repeat(hosts, 16), np.tile(hosts, 16)
    apart = source != target
    routes = [
        make_resolver(each, hosts, spread=True).routes(source[apart], target[apart], 0)
        for each in (fabric.replace(routes=fabric.tables), again)
    ]
    assert (routes[0] == routes[1]).all()


def test_what_a_file_cannot_say_is_refused(tmp_path: Path) -> None:
    for engine in ("ecmp,flows=4", "ecmp,seed=shared"):
        with pytest.raises(UsageError, match=f"no file says that routes are those of {engine}"):
            save(load("fig1", route=engine), tmp_path / "net.far")
    save(load("fig1", route="spray"), tmp_path / "net.far")
    again = load_again(load("fig1", route="spray"), tmp_path / "net.far")
    for kind in ("lfts", "fabric", "orcs"):
        with pytest.raises(UsageError, match=f"adaptive routing name groups .* {kind} files hold"):
            save(again, tmp_path / f"net.{kind}", kind)
