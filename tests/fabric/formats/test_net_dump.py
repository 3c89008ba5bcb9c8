from __future__ import annotations

import pytest

from contend.base.errors import InputError
from contend.fabric import Fabric
from contend.fabric.assemble import assemble
from contend.fabric.formats.ibdiagnet import NetDumpReader
from contend.routes import load
from sample_fabrics import DATA

TEXT = (DATA / "tiny.net_dump").read_text()
HEADER = TEXT.splitlines()[7]


def fabric_of(text: str) -> Fabric:
    return assemble(NetDumpReader.read([text.encode()], "net_dump"), "net_dump")


def test_the_same_network_as_in_other_files_of_it() -> None:
    assert NetDumpReader.recognises(TEXT.encode())
    fabric, other = fabric_of(TEXT), load(DATA / "tiny.ibnetdiscover")
    names = *("hostc HCA-1", "hostd HCA-1"), *("host a HCA-1",) * 2, "hostb HCA-1"
    assert fabric.host_name == names
    assert sorted(fabric.host_lid.tolist()) == sorted(other.host_lid.tolist())
    assert dict(zip(fabric.switch_guid.tolist(), fabric.switch_lid.tolist(), strict=True)) == dict(
        zip(other.switch_guid.tolist(), other.switch_lid.tolist(), strict=True)
    )
    assert cables(fabric) == cables(other)
    assert fabric.rates == ("", "4xSDR")
    assert fabric.findings == ()


def cables(fabric: Fabric) -> set[frozenset[tuple[int, int]]]:
    guids = fabric.switch_guid
    ends = (fabric.cable_from, fabric.cable_from_port, fabric.cable_to, fabric.cable_to_port)
    return {
        frozenset({(int(guids[near]), port), (int(guids[far]), peer_port)})
        for near, port, far, peer_port in zip(*(end.tolist() for end in ends), strict=True)
    }


def test_a_neighbour_without_a_guid_of_a_switch_is_known_by_its_lid() -> None:
    """Some versions name the port's GUID where others name the node's."""
    text = TEXT.replace("0x0000000000200002 : 1/2/1", "0x0000000000300002 : 1/2/1")
    assert text != TEXT
    assert cables(fabric_of(text)) == cables(fabric_of(TEXT))


def test_ports_without_a_neighbour_are_counted() -> None:
    text = TEXT.replace('0x0000000000100005 : 1     : 7    : "hostc HCA-1"', ":::")
    fabric = fabric_of(text)
    assert fabric.hosts == 4
    assert fabric.findings[0].message == "skipped 1 port without a known neighbour"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            TEXT.replace("NLID : Neighbor D", "NLID : D"),
            "8: expected a column Neighbor Description",
        ),
        (TEXT.replace('1     : 7    : "hostc', '"hostc'), "9: expected 13 cells, got '1/1/1"),
        (TEXT.replace("000000200002, LID", "000000200001, LID"), "the GUID of another switch"),
        (HEADER + "\n  1 : 1 : ACT : 4x\n", "2: expected a switch before"),
        (TEXT.replace("ACT ", "DOWN"), "expected a row for each port that is up, got none"),
        (TEXT.replace(": 1     : 7", ": x     : 7"), "9: expected a port as N#, got 'x'"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        fabric_of(text)
    assert message in str(caught.value)
