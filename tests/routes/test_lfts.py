from __future__ import annotations

import lzma
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from contend.base.errors import InputError
from contend.routes import NO_PORT, load, save
from contend.routes.dumps.columns import TableColumns
from contend.routes.dumps.readers import LFTS
from sample_fabrics import host_ports, two_leaves
from simulated_network import tables_of_opensm

DATA = Path(__file__).resolve().parents[1] / "data" / "ibsim"

FIRST, SECOND = 0x200000, 0x200001
# LIDs 4-7 and 12-15 are the first adapter's ports, 16-19 and 20-23 the second's, 8 and 9 the
# switches'; ports 3 and 5 lead to the other switch.
TO_FIRST = {4: 1, 5: 1, 6: 1, 7: 1, 8: 0, 9: 3, 12: 2, 13: 2, 14: 2, 15: 2}
TO_FIRST |= {16: 3, 17: 5, 18: 3, 19: 5, 20: 5, 21: 3, 22: 5, 23: 3}
OWNERS = {8: FIRST, 9: SECOND}
OWNERS |= dict.fromkeys(range(4, 8), 0x100001) | dict.fromkeys(range(12, 16), 0x100002)
OWNERS |= dict.fromkeys(range(16, 20), 0x100004) | dict.fromkeys(range(20, 24), 0x100005)


def golden(name: str) -> TableColumns:
    return LFTS.read([(DATA / name).read_bytes()], name)


def parse(text: str) -> TableColumns:
    return LFTS.read([text.encode()], "lfts.txt")


def table(columns: TableColumns, switch: int) -> dict[int, int]:
    row = columns.ports[columns.switch_guid.tolist().index(switch)]
    return {lid: port for lid, port in enumerate(row.tolist()) if port != NO_PORT}


def owners(columns: TableColumns) -> dict[int, int]:
    return {lid: owner for lid, owner in enumerate(columns.owner_guid.tolist()) if owner}


@pytest.mark.parametrize(
    "name",
    [
        "two-switches.opensm-lfts",
        "two-switches.dump_fts",
        "two-switches.all.dump_fts",
        "two-switches.dump_lfts",
    ],
)
def test_real_dumps_of_one_fabric_say_the_same(name: str) -> None:
    columns = golden(name)
    assert sorted(columns.switch_guid.tolist()) == [FIRST, SECOND]
    assert columns.ports.shape == (2, 24)
    assert columns.ports.dtype == np.uint16
    assert table(columns, FIRST) == TO_FIRST
    assert owners(columns) == OWNERS


def test_a_dump_without_destinations_names_no_owners() -> None:
    columns = golden("two-switches.brief.dump_fts")
    assert table(columns, FIRST) == TO_FIRST
    assert owners(columns) == {}
    assert columns.notes == ()


def test_the_highest_lid_that_dump_fts_loses_is_told() -> None:
    whole = golden("highest-lid-64.opensm-lfts")
    assert table(whole, FIRST)[64] == 5
    assert whole.notes == ()
    lacking = golden("highest-lid-64.dump_fts")
    assert 64 not in table(lacking, FIRST)
    assert lacking.notes == (
        "2 tables lack their highest LID, which dump_fts loses at multiples of 64, "
        "first in line 1: 'switch 0x0000000000200001'",
    )


@pytest.mark.parametrize(
    ("name", "shape", "entries"),
    [("compute", (666, 5995), 666 * 5007), ("storage", (160, 5806), 160 * 1407)],
)
def test_a_real_machine(shared_data: Path, name: str, shape: tuple[int, int], entries: int) -> None:
    file = shared_data / f"selene.{name}.minhop.opensm-lfts.xz"
    with lzma.open(file) as stream:
        columns = LFTS.read(iter(lambda: stream.read(1 << 20), b""), file.name)
    assert columns.ports.shape == shape
    # Every switch leads to every LID: one per adapter port and one per switch.
    assert np.count_nonzero(columns.ports != NO_PORT) == entries
    assert np.count_nonzero(columns.owner_guid) * shape[0] == entries
    assert columns.notes == ()


HEADER = "Unicast lids [0-9] of switch Lid 2 guid 0x00000000000000a0 ('leaf guid 0x1'):\n"
CLOSING = "9 lids dumped\n"


def test_entries_that_lead_nowhere_are_none() -> None:
    columns = parse(
        HEADER
        + "0x0000 255 : (path #0 - illegal port)\n"
        + "0x0001 255 : (illegal port)\n"
        + "0x0002 000 # Switch portguid 0x00000000000000a0: 'leaf'\n"
        + "0x0003 200 : (illegal port)\n"
        + "0x0004 007 # unknown node and type\n"
        + CLOSING
    )
    assert table(columns, 0xA0) == {2: 0, 4: 7}
    assert owners(columns) == {2: 0xA0}


def test_further_lids_of_a_port_without_its_guid() -> None:
    columns = parse(
        HEADER
        + "0x0004 001 : (Channel Adapter portguid 0x00000000000000b1: 'it's (path #9 out of 1)')\n"
        + "0x0005 002 : (path #2 out of 4)\n"
        + "0x0006 255 : (path #2 - illegal port)\n"
        + "0x0007 004 : (path #4 out of 4)\n"
        + "0x0008 005 : (node info not available fabric scan)\n"
        + CLOSING
    )
    assert table(columns, 0xA0) == {4: 1, 5: 2, 7: 4, 8: 5}
    assert owners(columns) == {4: 0xB1, 5: 0xB1, 7: 0xB1}


def test_multicast_tables_are_passed_over() -> None:
    columns = parse(
        "Multicast mlids [0xc000-0xc3ff] of switch DR path slid 0; dlid 0; 0 guid 0xa0 (leaf):\n"
        "     Ports: 0 1 2 3\n MLid\n0xc000      x   x\n1 valid mlids dumped \n"
        + HEADER
        + "0x0004 001\n"
        + CLOSING
    )
    assert table(columns, 0xA0) == {4: 1}
    assert columns.notes == ()


def test_parts_of_a_table_are_joined() -> None:
    columns = parse(HEADER + "0x0004 001\n" + CLOSING + HEADER + "0x0004 001\n0x0005 2\n" + CLOSING)
    assert columns.switch_guid.tolist() == [0xA0]
    assert table(columns, 0xA0) == {4: 1, 5: 2}


def test_error_messages_in_between_are_passed_over_and_told() -> None:
    columns = parse(HEADER + "ibwarn: [7] timeout\n0x0004 001\n" + CLOSING)
    assert table(columns, 0xA0) == {4: 1}
    assert columns.notes == (
        "1 line passed over that belongs to no table, in line 2: 'ibwarn: [7] timeout'",
    )


def block(first: int, ports: list[int]) -> str:
    return "".join(f"0x{first + k:04x} {port:03d} \n" for k, port in enumerate(ports))


def test_a_block_that_could_not_be_read_is_left_out() -> None:
    ports = [1 + k % 8 for k in range(64)]
    columns = parse(
        HEADER
        + block(0, ports)
        + "SubnGet(LFT) failed on switch 'leaf AM 0x0' DR path slid 0; dlid 0; 0,1 "
        "Node GUID 0xa0 SMA LID 2; MAD status 0x6e AM 0x1\n"
        + block(64, ports)
        + block(128, ports)
        + CLOSING
    )
    assert table(columns, 0xA0).keys() == {*range(1, 64), *range(128, 192)}
    assert columns.notes == (
        "1 block of 64 LIDs left out because the switch did not answer: "
        "switch 0x00000000000000a0 from LID 64",
    )


def test_a_block_that_repeats_the_one_before_is_left_out_where_it_shows() -> None:
    # LID 2 is the switch itself; LID 66 and 130 can't be it too.
    ports = [3, 4, 0] + [1 + k % 8 for k in range(61)]
    columns = parse(HEADER + block(0, ports) + block(64, ports) + block(128, ports[:10]) + CLOSING)
    assert table(columns, 0xA0).keys() == set(range(1, 64))
    assert columns.notes[0].startswith("2 blocks of 64 LIDs left out because they repeat")
    # Without port 0 a repetition proves nothing: d mod k tables look like that.
    ports[2] = 5
    assert len(table(parse(HEADER + block(0, ports) + block(64, ports) + CLOSING), 0xA0)) == 127


def test_a_first_block_of_zeros_was_never_read() -> None:
    columns = parse(HEADER + block(0, [0] * 64) + block(64, [5] * 3) + CLOSING)
    assert table(columns, 0xA0) == {64: 5, 65: 5, 66: 5}


def test_a_table_that_ends_early_is_told() -> None:
    columns = parse(HEADER + "0x0004 001\n" + HEADER.replace("a0", "a1") + "0x0004 002\n" + CLOSING)
    assert columns.notes == (
        "1 table has no closing line and may be cut, in line 1: 'switch 0x00000000000000a0'",
    )
    counted = parse(HEADER + "0x0004 001\n2 valid lids dumped \n")
    assert counted.notes[0].startswith("1 table has not as many rows as its closing line says")


def test_changing_owners_are_told() -> None:
    row = "0x0004 001 # Switch portguid 0x00000000000000b1: 'b'\n"
    columns = parse(HEADER + row + CLOSING + HEADER.replace("a0", "a1") + row.replace("b1", "c1"))
    assert owners(columns) == {4: 0xB1}
    assert "LID 4 has several owners in the dump; the first is believed" in columns.notes


@pytest.mark.parametrize(
    ("text", "line", "expected", "got"),
    [
        ("0x0004 001\n", 1, '"Unicast lids" before the rows', "'0x0004 001'"),
        (HEADER + "0xc000 001\n", 2, "a unicast LID from 0x0001 to 0xbfff", "'0xc000 001'"),
        (HEADER + "0xfffffffff 1\n", 2, "a unicast LID from 0x0001 to 0xbfff", "'0xfff"),
        (HEADER + "0x00000000000000001 1\n", 2, "a unicast LID from 0x0001 to 0xbfff", "'0x0"),
        (HEADER + "0x0004\n", 2, "a blank after the LID", "the end of the line"),
        (HEADER + "0x0004 256 \n", 2, "a port from 0 to 255 and a blank", "'256 '"),
        (HEADER + "0x0004 00", 2, "a port from 0 to 255 and a blank", "'00'"),
        (HEADER + "0x0004 01ibwarn\n", 2, "a port from 0 to 255 and a blank", "'01ibwarn'"),
        (HEADER + "0x0004:001\n", 2, "a blank after the LID", "':001'"),
        ("Unicast lids [0-9] of switch Lid 2\n", 1, "the GUID of a switch", "'Unicast"),
        ("Unicast lids [0-9] of switch Lid 2 guid 0x\n", 1, "the GUID of a switch", "'0x'"),
        ("Unicast lids [0-9] of switch Lid 2 guid 0xa0", 1, "the GUID of a switch", "the end"),
        (HEADER + "0x0004 1\n" + HEADER + "0x0004 2\n", 3, "one port for LID 4 of switch 0x0", "2"),
        ("", 0, "forwarding tables", "none"),
        ("\0\n\xff\n", 0, "forwarding tables", "none"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    text: str, line: int, expected: str, got: str
) -> None:
    with pytest.raises(InputError) as caught:
        parse(text)
    assert (caught.value.source, caught.value.line) == ("lfts.txt", line)
    assert caught.value.expected.startswith(expected)
    assert caught.value.got.startswith(got)


def test_tables_far_larger_than_what_was_read_are_refused() -> None:
    # 1,000 switches with one entry each for the highest LID would be 1,000 x 49,152 x 2 bytes.
    text = "".join(
        f"Unicast lids [0-1] of switch Lid 2 guid 0x{guid:x} ():\n0xbfff 001\n"
        for guid in range(1000)
    )
    with pytest.raises(InputError, match="1000 entries in 1000 tables of 49152 LIDs"):
        parse(text)


def test_recognises_its_own_kind_only() -> None:
    for file in DATA.iterdir():
        own = file.suffix in {".dump_fts", ".dump_lfts", ".opensm-lfts"}
        assert LFTS.recognises(file.read_bytes()) == own, file.name


@pytest.mark.parametrize(
    ("made", "engine"),
    [
        ("by hand", ""),
        ("fig1", "contend"),
        ("fig1", "contend,lmc=2"),
        ("torus:4x4;2", "contend"),
        ("dragonfly:2,4,2", "contend"),
        ("dragonfly:2,4,2", "contend,lmc=1"),
    ],
)
def test_opensm_loads_the_dump_and_dumps_it_back(
    made: str, engine: str, tmp_path: Path, require_program: Callable[[str], str]
) -> None:
    fabric = load(made, route=engine) if engine else two_leaves()
    net = tmp_path / "x.ibnetdiscover"
    save(fabric, net)
    save(fabric, tmp_path / "x.lfts")
    for program in ("ibsim", "opensm"):
        require_program(program)
    host, several = f"H-{int(fabric.host_guid[0]):016x}", ["-l", str(fabric.host_lmc.max())]
    dumped = tables_of_opensm(net, host, fabric, "file", "-U", "x.lfts", *several)
    again = load(str(net), routes=str(dumped))
    assert host_ports(again) == host_ports(fabric)
    entries = [line for line in dumped.read_text().splitlines() if line.startswith("0x")]
    ours = (tmp_path / "x.lfts").read_text().splitlines()
    assert entries == [line for line in ours if line.startswith("0x")]
