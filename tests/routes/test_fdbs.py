from __future__ import annotations

from pathlib import Path

import pytest

from contend.base.errors import InputError
from contend.routes import NO_PORT
from contend.routes.dumps.columns import TableColumns
from contend.routes.dumps.readers import FDBS, LFTS

DATA = Path(__file__).resolve().parents[1] / "data" / "ibsim"


def parse(text: str) -> TableColumns:
    return FDBS.read([text.encode()], "net.fdbs")


def table(columns: TableColumns, row: int = 0) -> dict[int, int]:
    ports = columns.ports[row].tolist()
    return {lid: port for lid, port in enumerate(ports) if port != NO_PORT}


def test_a_real_file_says_what_the_dump_of_the_same_run_says() -> None:
    name = "two-switches.fdbs"
    columns = FDBS.read([(DATA / name).read_bytes()], name)
    name = "two-switches.opensm-lfts"
    dump = LFTS.read([(DATA / name).read_bytes()], name)
    assert columns.switch_guid.tolist() == dump.switch_guid.tolist()
    assert columns.ports.tolist() == dump.ports.tolist()
    # Only the switches' own LIDs can be told: those of port 0.
    assert [columns.owner_guid[8], columns.owner_guid[9]] == [0x200000, 0x200001]
    assert columns.owner_guid.sum() == 0x200000 + 0x200001
    assert columns.notes == ()


HEADER = "dump_ucast_routes: Switch 0x00000000000000a0\nLID    : Port : Hops : Optimal\n"


def test_rows_of_all_kinds() -> None:
    columns = parse(
        HEADER
        + "0x0001 : 033  : 01   : yes\n"
        + "0x0002 : UNREACHABLE\n"
        + "0x0003 : 007  : HOPS UNKNOWN\n"
        + "0x000A : 004  : 03   : No 2 hop path possible via port 5!\n"
        + "0x000B : 255  : 00   : yes\n"
        + "0x000C : 000  : 00   : yes\n"
    )
    assert table(columns) == {1: 33, 3: 7, 10: 4, 12: 0}
    assert columns.owner_guid.tolist() == [0] * 12 + [0xA0]


@pytest.mark.parametrize(
    "prefix",
    ["dump_ucast_routes: ", "osm_ucast_mgr_dump_ucast_routes: ", "__osm_dump_ucast_routes: "],
)
def test_headings_of_all_writers(prefix: str) -> None:
    text = HEADER.replace("dump_ucast_routes: ", prefix) + "0x0001 : 033  : 00   : yes\n\n"
    assert FDBS.recognises(text.encode())
    assert table(parse("# written by a tool\n\n" + text)) == {1: 33}


def test_of_several_private_tables_the_first_counts() -> None:
    heading, columns_line = HEADER.splitlines(keepends=True)
    columns = parse(
        heading
        + "PLFT_NUM: 0\n"
        + columns_line
        + "0x0001 : 001  : 00   : yes\n"
        + "PLFT_NUM: 1\n"
        + columns_line
        + "0x0001 : 002  : 00   : yes\n"
        + HEADER.replace("a0", "a1")
        + "0x0001 : 003  : 00   : yes\n"
    )
    assert [table(columns, 0), table(columns, 1)] == [{1: 1}, {1: 3}]
    assert columns.notes == ("1 further private table passed over, in line 5: 'PLFT_NUM: 1'",)


def test_multicast_tables_are_passed_over() -> None:
    multicast = "\nSwitch 0x00000000000000a0\nLID    : Out Port(s)\n0xC000 : 0x003  0x004 \n"
    assert table(parse(HEADER + "0x0001 : 033  : 01   : yes\n" + multicast)) == {1: 33}


def test_several_entries_of_port_zero_say_nothing_of_the_switch() -> None:
    rows = "0x0001 : 000  : 00   : yes\n0x0002 : 000  : 00   : yes\n"
    assert parse(HEADER + rows).owner_guid.tolist() == [0, 0, 0]


def test_a_last_table_that_ends_early_is_told() -> None:
    rows = "0x0001 : 001  : 01   : yes\n0x0002 : 001  : 01   : yes\n"
    whole = HEADER + rows + HEADER.replace("a0", "a1") + rows
    assert parse(whole).notes == ()
    cut = whole[: whole.rindex("0x0002")]
    assert parse(cut).notes == (
        "the last table ends at LID 1, all others at 2 or later: the file may be cut",
    )


@pytest.mark.parametrize(
    ("text", "line", "expected", "got"),
    [
        ("0x0001 : 033  : 01   : yes\n", 1, "the table's switch before its rows", "'0x0001"),
        (HEADER + "0x0001 033\n", 3, "a colon after the LID", "'033'"),
        (HEADER + "0xC000 : 033  : 01   : yes\n", 3, "a unicast LID", "'0xC000"),
        (HEADER + "0x0001 : 256  : 01   : yes\n", 3, "a port from 0 to 255", "'256 "),
        (HEADER + "0x0001 : 03", 3, "a port from 0 to 255", "'03'"),
        (HEADER + "0x0001 : UNREACH", 3, "a port from 0 to 255", "'UNREACH'"),
        ("dump_ucast_routes: Switch leaf\n", 1, "the GUID of a switch", "'leaf'"),
        ("dump_ucast_routes: Switch 0x00000000000", 1, "the GUID of a switch", "the end"),
        (HEADER + "PLFT_NUM: x\n", 3, "the number of a private table", "'x'"),
        ("", 0, "forwarding tables", "none"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    text: str, line: int, expected: str, got: str
) -> None:
    with pytest.raises(InputError) as caught:
        parse(text)
    assert (caught.value.source, caught.value.line) == ("net.fdbs", line)
    assert caught.value.expected.startswith(expected)
    assert caught.value.got.startswith(got)


def test_recognises_its_own_kind_only() -> None:
    for file in DATA.iterdir():
        assert FDBS.recognises(file.read_bytes()) == (file.suffix == ".fdbs"), file.name
