from __future__ import annotations

import pytest

from contend.base.errors import InputError
from contend.fabric import Fabric
from contend.fabric.assemble import assemble
from contend.fabric.formats.ibnetdiscover import IBLINKINFO, IBNETDISCOVER
from sample_fabrics import DATA, cables_by_name

# Both printed by the real tool on the fabric that tiny.ibnetdiscover tells of.
PLAIN = (DATA / "tiny.iblinkinfo").read_text()
LINES = (DATA / "tiny.lines.iblinkinfo").read_text()
BOTH = pytest.mark.parametrize("text", [PLAIN, LINES], ids=["plain", "lines"])
LEAF = "leaf one; with {braces} and 'quotes'"


def fabric_of(text: str) -> Fabric:
    return assemble(IBLINKINFO.read([text.encode()], "links.txt"), "links.txt")


def failure(text: str) -> str:
    with pytest.raises(InputError) as caught:
        IBLINKINFO.read([text.encode()], "links.txt")
    return str(caught.value)


def hosts(fabric: Fabric) -> set[tuple[object, ...]]:
    """Name, LID, port GUID, switch, port there and rate of every host."""
    columns = (fabric.host_lid, fabric.host_port_guid, fabric.host_switch, fabric.host_port)
    rows = zip(fabric.host_name, *(column.tolist() for column in columns), strict=True)
    rates = [fabric.rates[rate] for rate in fabric.host_rate.tolist()]
    return {
        (name, lid, guid, fabric.switch_name[switch], port, rate)
        for (name, lid, guid, switch, port), rate in zip(rows, rates, strict=True)
    }


def switches(fabric: Fabric) -> set[tuple[object, ...]]:
    columns = (fabric.switch_guid, fabric.switch_lid, fabric.switch_ports)
    return set(zip(fabric.switch_name, *(column.tolist() for column in columns), strict=True))


@BOTH
def test_the_real_tool_tells_the_fabric_that_ibnetdiscover_tells(text: str) -> None:
    said = (DATA / "tiny.ibnetdiscover").read_bytes()
    expected = assemble(IBNETDISCOVER.read([said], "x"), "x")
    assert IBLINKINFO.recognises(text.encode())
    fabric = fabric_of(text)
    assert hosts(fabric) == hosts(expected)
    assert cables_by_name(fabric) == cables_by_name(expected)
    assert switches(fabric) == switches(expected)
    assert not any(finding.wrong for finding in fabric.findings)


@BOTH
def test_a_capture_with_prompts_is_the_same_fabric(text: str) -> None:
    captured = f"[root@node 1]# iblinkinfo\r\n{text}[root@node 1]# "
    assert hosts(fabric_of(captured)) == hosts(fabric_of(text))


def test_ports_without_their_headers_are_known_by_their_lids() -> None:
    """As ``iblinkinfo | grep LinkUp`` leaves them: 5 hosts, 3 switches, 4 cables still."""
    lines = [line for line in PLAIN.splitlines(keepends=True) if "LinkUp" in line]
    fabric = fabric_of("".join(lines))
    assert hosts(fabric) == hosts(fabric_of(PLAIN))
    assert cables_by_name(fabric) == cables_by_name(fabric_of(PLAIN))
    assert fabric.switch_guid.tolist() == fabric.switch_lid.tolist()
    assert any("known by their LIDs alone" in finding.message for finding in fabric.findings)


@pytest.mark.parametrize(
    ("printed", "rate"),
    [
        ("4X          10.0 Gbps", "4xQDR"),
        ("4X  10.0 Gbps (FDR10)", "4xFDR10"),
        ("1X      25.78125 Gbps", "1xEDR"),
        ("4X        106.25 Gbps", "4xNDR"),
        ("4X      undefined (9)", ""),
    ],
)
def test_rates_are_widths_and_speeds(printed: str, rate: str) -> None:
    subnet = IBLINKINFO.read([LINES.replace("4X           2.5 Gbps", printed).encode()], "x")
    assert {subnet.rates[index] for index in subnet.rate[subnet.peer >= 0]} == {rate}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("==>       2    2[", "==>       2    0[", "a port from 1 to 254"),
        ("      2    5[  ]", "      2  500[  ]", "a port from 1 to 254"),
        ("      2    5[  ]", "  99999    5[  ]", "a LID of at most 65535"),
        ('1[  ] "spine"', '1[  ] "spine', "a description in quotes"),
        (" Down/ Polling)==>", " Down/ Polling", "a port, ==( its state )==>"),
    ],
)
def test_a_damaged_port_is_named(before: str, after: str, expected: str) -> None:
    damaged = PLAIN.replace(before, after, 1)
    line = 1 + PLAIN[: PLAIN.index(before)].count("\n")
    assert damaged != PLAIN
    assert failure(damaged).startswith(f"links.txt:{line}: expected {expected}")


@BOTH
def test_a_file_cut_in_a_line_loses_that_line_and_says_so(text: str) -> None:
    before, last = text.rstrip("\n").rsplit("\n", 1)
    for kept in range(len(last) - len(last.lstrip()) + 1, len(last)):
        cut = f"{before}\n{last[:kept]}".encode()
        subnet = IBLINKINFO.read([cut], "links.txt")
        assert subnet.gaps == (f"it ends within line {text.count(chr(10))}",)


def test_both_kinds_in_one_file_are_an_error() -> None:
    assert "expected a line of iblinkinfo without -l as above" in failure(PLAIN + LINES)


def test_a_file_without_ports_is_an_error() -> None:
    assert "expected the ports that iblinkinfo prints, got none" in failure("Switch: 0x1 x:\n")
