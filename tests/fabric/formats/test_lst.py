from __future__ import annotations

import pytest

from contend.base.errors import InputError
from contend.fabric.assemble import assemble
from contend.fabric.formats.ibdiagnet import LstReader
from sample_fabrics import DATA

LINES = (DATA / "tiny.opensm-subnet.lst").read_bytes()
# As ibdiagnet wrote it in 2014: no name, a router manager's device id, a degraded link.
NAMELESS = (
    b"{ CA Ports:02 SystemGUID:0002c90300165e63 NodeGUID:0002c90300165e60 "
    b"PortGUID:0002c90300165e61 VenID:000002c9 DevID:1003 Rev:00000000  LID:0005 PN:01 } "
    b"{ SW Ports:24 SystemGUID:0002c90300688830 NodeGUID:0002c90300688830 "
    b"PortGUID:0002c90300688830 VenID:000002c9 DevID:c738 Rev:000000a1  LID:0002 PN:14 } "
    b"PHY=4x LOG=ACT SPD=2.5\n"
)


def test_what_opensm_wrote_is_the_fabric_that_ibsim_played() -> None:
    fabric = assemble(LstReader.read([LINES], "tiny"), "tiny")
    assert fabric.host_name == (
        *("host a HCA-1", "host a HCA-1"),
        *("hostb HCA-1", "hostc HCA-1", "hostd HCA-1"),
    )
    assert fabric.switch_name == ("leaf one; with {braces} and 'quotes'", "spine", "leaf2")
    assert fabric.host_lid.tolist() == [1, 4, 6, 7, 8]
    assert fabric.switch_lid.tolist() == [2, 5, 3]
    assert fabric.host_port_guid.tolist() == [0x100001, 0x100002, 0x100004, 0x100006, 0x100008]
    assert fabric.switch_ports.tolist() == [8, 8, 8]
    assert fabric.cables == 4
    assert fabric.rates == ("", "4xSDR")
    assert fabric.findings == ()


def test_ibdiagnets_nameless_line_counts_ports_in_hexadecimal() -> None:
    fabric = assemble(LstReader.read([NAMELESS], "x"), "x")
    assert fabric.host_name == ("",)
    assert fabric.switch_ports.tolist() == [0x24]
    assert fabric.host_port.tolist() == [0x14]


def test_the_first_versions_wrote_no_speed() -> None:
    subnet = LstReader.read([NAMELESS.replace(b" SPD=2.5", b"")], "x")
    assert len(subnet.node) == 2
    assert subnet.rates == ("",)
    assert subnet.notes == ("1 link without a speed",)


def test_a_line_without_a_speed_among_others_is_cut() -> None:
    with pytest.raises(InputError, match=r"x:2: expected \{ end \} \{ end \} PHY="):
        LstReader.read([NAMELESS + NAMELESS.replace(b" SPD=2.5\n", b"")], "x")


def test_lines_between_are_passed_over_and_told() -> None:
    subnet = LstReader.read([b"-W- something\n" + NAMELESS + b"# comment\n"], "x")
    assert subnet.notes == ("skipped 1 line without a cable",)


@pytest.mark.parametrize("cut", [b" PHY=4x", b"NodeGUID:", b" LID:0005"])
def test_a_line_that_goes_on_differently_is_named(cut: bytes) -> None:
    broken = b"\n" + NAMELESS.replace(cut, b" ", 1)
    with pytest.raises(InputError, match=r"x:2: expected \{ end \} \{ end \} PHY="):
        LstReader.read([broken], "x")


def test_port_0_is_no_end_of_a_cable() -> None:
    with pytest.raises(InputError, match="expected a port from 1, got port 0"):
        LstReader.read([NAMELESS.replace(b"PN:01", b"PN:00")], "x")


def test_links_that_are_down_are_told() -> None:
    down = NAMELESS.replace(b"LOG=ACT", b"LOG=DWN")
    subnet = LstReader.read([down, NAMELESS.replace(b"PN:01", b"PN:02")], "x")
    assert len(subnet.node) == 2
    assert subnet.notes == ("skipped 1 link marked as down",)
