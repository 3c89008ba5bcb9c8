from __future__ import annotations

import re

import pytest

from contend.base.errors import InputError
from contend.fabric.assemble import assemble
from contend.fabric.formats import db_csv
from sample_fabrics import DATA

TABLES = (DATA / "tiny.db_csv").read_bytes()


def test_nodes_links_and_ports_make_the_fabric() -> None:
    fabric = assemble(db_csv.read([TABLES], "tiny"), "tiny")
    assert fabric.host_name == ("host a HCA-1", "host b HCA-1")
    assert fabric.switch_name == ("leaf, one", "spine")
    assert fabric.host_lid.tolist() == [16, 6]
    assert fabric.host_lmc.tolist() == [2, 0]
    assert fabric.host_port_guid.tolist() == [0x100001, 0x100004]
    assert fabric.switch_lid.tolist() == [2, 5]
    assert [fabric.rates[rate] for rate in fabric.host_rate] == ["4xHDR", "4xEDR"]
    assert fabric.cable_from_port.tolist() == [3, 4]
    # The aggregation node carries no traffic.
    assert [finding.kind for finding in fabric.findings] == ["aggregation node"]


def test_tables_may_come_in_any_order_and_with_other_columns() -> None:
    start = TABLES.index(b"START_LINKS")
    turned = TABLES[start:] + TABLES[:start]
    fewer = re.sub(
        rb",OOOSLMask,CapMsk2,FECActv,RetransActv|(,(N/A|0xffff|1074|8|0)){4}$",
        b"",
        turned,
        flags=re.MULTILINE,
    )
    fabric = assemble(db_csv.read([fewer], "tiny"), "tiny")
    assert fabric.cables == 2


def test_windows_line_ends_are_read() -> None:
    assert len(db_csv.read([TABLES.replace(b"\n", b"\r\n")], "x").kind) == 5


def test_without_ports_rates_and_lids_are_unknown() -> None:
    without = re.sub(rb"START_PORTS.*END_PORTS", b"", TABLES, flags=re.DOTALL)
    fabric = assemble(db_csv.read([without], "x"), "x")
    assert fabric.host_lid.tolist() == [0, 0]
    assert fabric.rates == ("",)


def _with_speed(speed: int, width: int = 2) -> bytes:
    """The tables with another rate in the line of host a's port."""
    old, new = (f",0,0,0,{w},3,3,1,1793,{s},2," for w, s in ((2, 1024), (width, speed)))
    assert TABLES.count(old.encode()) == 1
    return TABLES.replace(old.encode(), new.encode())


@pytest.mark.parametrize(
    ("speed", "width", "rate"),
    [
        (2052, 2, "4xNDR"),  # NDR and QDR, as ports of NDR switches report
        (0x201, 2, "4xEDR"),
        (0x10004, 2, "4xFDR10"),  # FDR10 is a bit above all others, but slower than FDR
        (0x10100, 2, "4xFDR"),
        (0x1000800, 2, "4xXDR"),
        (2048, 3, "4xNDR"),  # 1x and 4x
        (2048, 18, "4xNDR"),  # 2x and 4x
    ],
)
def test_of_several_rates_the_fastest_counts(speed: int, width: int, rate: str) -> None:
    subnet = db_csv.read([_with_speed(speed, width)], "tiny")
    assert subnet.rates[subnet.rate[subnet.port_guid == 0x100001][0]] == rate
    assert subnet.notes == ()


@pytest.mark.parametrize(
    ("speed", "width", "told"),
    [(0x4800, 2, "LinkSpeedActv 0x4000"), (2048, 32, "LinkWidthActv 0x20")],
)
def test_a_rate_that_is_not_known_is_told(speed: int, width: int, told: str) -> None:
    """What an unknown bit stands for may be faster than the bits beside it."""
    subnet = db_csv.read([_with_speed(speed, width)], "tiny")
    assert subnet.notes == (
        f"1 port with a width or speed that contend does not know, such as {told} in line 23",
    )
    assert subnet.rates[subnet.rate[subnet.port_guid == 0x100001][0]] == ""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"END_LINKS", b"", "x:35: expected END_LINKS after START_LINKS, got the end of the file"),
        (b"END_PORTS", b"END_POTS", "expected END_PORTS, got 'END_POTS'"),
        (b"PortNum2", b"PortNum3", "x:36: expected a column PortNum2 in LINKS, got none"),
        (b",0x000000000020000a,1\nEND", b"\nEND", "expected 4 cells, got 2"),
        (b"0x0000000000100003,1\n", b"0x0000000000109999,1\n", "a GUID of the table NODES"),
        (b"0x0000000000100003,1\n", b"N/A,1\n", "expected a GUID as NodeGuid2, got 'N/A'"),
        (b"0x0000000000100003,1\n", b"0x0000000000100003,1e3\n", "a number as PortNum2"),
        (b"0x0000000000100003,1\n", b"0x0000000000100003,256\n", "a number as PortNum2"),
        (b"0x0000000000100003,1\n", b"0x0000000000100003,0\n", "a port from 1, got port 0"),
        (b'"spine",8,2', b'"spine",8,9', "x:5: expected 1, 2 or 3 as NodeType, got 9"),
        (b"START_NODES\n", b"START_NODS\n", "expected END_NODS, got 'END_NODES'"),
    ],
)
def test_what_does_not_fit_is_named_with_its_line(old: bytes, new: bytes, message: str) -> None:
    assert old in TABLES
    with pytest.raises(InputError, match=re.escape(message)):
        db_csv.read([TABLES.replace(old, new)], "x")
