from __future__ import annotations

import re

import pytest

from contend.base.errors import InputError
from contend.fabric.assemble import assemble
from contend.fabric.formats import ibsim
from sample_fabrics import DATA

NET = (DATA / "tiny.net").read_bytes()
BY_NAME = b"""Switch 8 "S"
[1] "a" [1] w=4 s=10
[2] "b"[2]

Hca 1 "a"
[1] "S"[1]

Hca 2 "b"
[2] "S"[2]
"""


def test_guids_come_from_the_names_that_hold_them() -> None:
    fabric = assemble(ibsim.read([NET], "tiny"), "tiny")
    assert fabric.switch_name == ("leaf one; with {braces} and 'quotes'", "leaf2", "spine")
    assert fabric.switch_guid.tolist() == [0x2C90000000001, 0x2C90000000002, 0x2C90000000003]
    assert fabric.host_port.tolist() == [1, 5, 2, 1, 2]
    assert fabric.cables == 4
    assert fabric.findings == ()


def test_names_without_guids_get_some_and_ports_follow_them() -> None:
    fabric = assemble(ibsim.read([BY_NAME], "x"), "x")
    assert fabric.host_name == ("a", "b")
    assert fabric.host_guid.tolist() == [0x100000, 0x100002]
    assert fabric.host_port_guid.tolist() == [0x100001, 0x100004]
    assert fabric.switch_guid.tolist() == [0x200000]
    assert fabric.host_rate.tolist() == [1, 0]
    assert fabric.rates == ("", "4xQDR")


@pytest.mark.parametrize(
    ("speed", "rate"), [(b"2.5", "SDR"), (b"14", "FDR"), (b"100", "NDR"), (b"200", "XDR")]
)
def test_speeds_are_gigabits_a_lane(speed: bytes, rate: str) -> None:
    subnet = ibsim.read([BY_NAME.replace(b"s=10", b"s=" + speed)], "x")
    assert subnet.rates == ("", f"4x{rate}")


def test_a_declared_guid_counts() -> None:
    fabric = assemble(
        ibsim.read([b"switchguid=0xabc(abc)\nsysimgguid=0xdef\n" + BY_NAME], "x"), "x"
    )
    assert fabric.switch_guid.tolist() == [0xABC]
    assert fabric.switch_system_guid.tolist() == [0xDEF]


@pytest.mark.parametrize(
    ("net", "message"),
    [
        (b'[1] "S"[1]\n', "x:1: expected a node before its ports"),
        (BY_NAME + b'[3] "c"[1]\n', 'x:10: expected a port of a node of this file, got "c"'),
        (BY_NAME + b"module x\n", "x:10: expected a node or a port, got 'module x'"),
        (BY_NAME + b'\nSwitch 8 "S"\n', 'x:11: expected every node once, got "S" again'),
    ],
)
def test_what_does_not_fit_is_named_with_its_line(net: bytes, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        ibsim.read([net], "x")


def test_a_head_that_ends_within_an_identity_is_not_taken_for_a_name() -> None:
    dump = (DATA / "tiny.ibnetdiscover").read_bytes()
    assert not any(ibsim.recognises(dump[:end]) for end in range(len(dump)))
    assert ibsim.recognises(BY_NAME[:12])
