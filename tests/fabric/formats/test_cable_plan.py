from __future__ import annotations

import pytest

from contend.base.errors import InputError
from contend.fabric import Fabric
from contend.fabric.assemble import assemble
from contend.fabric.formats.cable_plan import read, recognises
from contend.routes import load
from sample_fabrics import DATA, cables_by_name

GRAPH = (DATA / "tiny.ptm.dot").read_text()
LIST = (DATA / "tiny.ndt").read_text()


def fabric_of(text: str) -> Fabric:
    assert recognises(text.encode())
    return assemble(read([text.encode()], "plan"), "plan")


def told(fabric: Fabric) -> list[str]:
    return [finding.message for finding in fabric.findings]


def test_a_graph_of_ptm_is_the_network_that_lldp_finds_when_it_is_built() -> None:
    fabric, built = fabric_of(GRAPH), load(DATA / "lldp")
    assert fabric.host_name == built.host_name
    assert fabric.switch_name == built.switch_name
    assert cables_by_name(fabric) == cables_by_name(built)
    assert told(fabric)[0] == "3 cables of the management network left out"
    assert not any(finding.wrong for finding in fabric.findings)


def test_without_functions_hosts_are_what_has_hosts_ports_or_one_cable() -> None:
    bare = "".join(
        line for line in GRAPH.splitlines(keepends=True) if "function" not in line or "oob" in line
    )
    twice = bare.replace("}", '"node1":"eth2" -- "leaf2":"swp9" }')
    fabric = fabric_of(twice)
    assert fabric.host_name == ("node1", "node1", "node2", "node3", "node4")
    assert fabric.switch_name == ("leaf1", "leaf2", "spine1", "spine2")


def test_a_function_says_what_a_device_is_whatever_its_ports_are_called() -> None:
    said = "tor [function=leaf]; box [function=host];"
    cables = "tor:eth0 -- spine:swp1; tor:eth1 -- spine:swp3; box:swp9 -- spine:swp2"
    fabric = fabric_of(f"graph g {{ {said} {cables} }}")
    assert (fabric.host_name, fabric.switch_name) == (("box",), ("spine", "tor"))


def test_edges_without_ports_have_one_each_and_several_are_several() -> None:
    fabric = fabric_of("graph g { a -- s -- t; b -- t; s -- t [color=red]; x = 1; node [a=b] }")
    assert (fabric.hosts, fabric.switches, fabric.cables) == (2, 2, 2)


def test_an_ndt_leaves_out_what_is_down_and_what_is_no_network() -> None:
    fabric = fabric_of(LIST)
    assert fabric.host_name == ("node-01", "node-01", "node-02 mlx5_0", "node-02 mlx5_1")
    assert fabric.switch_name == ("DSM-01IB0", "DSM-01IB1", "DSM-02IB1")
    assert fabric.host_port.tolist() == [1, 1, 2, 2]
    assert told(fabric)[0] == "skipped 2 rows without a cable that is in use"


def test_a_list_of_sonic_tells_rates_and_a_brief_ndt_none() -> None:
    rows = "leaf,Ethernet0,node,eth1,100000,1\nleaf,Ethernet4,spine,Ethernet0,400000,1\n"
    head = "StartDevice,StartPort,EndDevice,EndPort,BandWidth,VlanID\n"
    fabric = fabric_of(head + rows + "spine,Ethernet4,node2,eth1,100000,1\n")
    assert [fabric.rates[rate] for rate in fabric.host_rate] == ["100GbE", "100GbE"]
    assert [fabric.rates[rate] for rate in fabric.cable_rate] == ["400GbE"]
    brief = "Start Device,Start Port,End Device,End Port,State,Domain\n"
    assert fabric_of(brief + rows).hosts == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            GRAPH.replace('"leaf2":"swp2"', '"leaf2":"swp1"'),
            '17: expected one cable at a port, got "l',
        ),
        ("graph g {\n a:b:c -- d }", "2: expected a node or an edge a:port -- b:port, got 'a : b"),
        ("graph g {\n a -- }", "2: expected a node or an edge a:port -- b:port, got 'a --'"),
        ("graph g {\n a -> b }", "2: expected a node or an edge, got '->'"),
        ("graph g { subgraph x { a } }", "1: expected a plain graph, got a subgraph"),
        ("graph g { a -- b", "expected } at the end of the graph"),
        ("graph g { }", "expected neighbours in what the plan reports, got none"),
        ("StartDevice,EndDevice\n", "1: expected a column startport, got none"),
        (LIST + "A1,31,DSM-01IB1,Port 1,,x,1,,,Data,,,\n", "11: expected one cable at a port"),
        (LIST + 'A1,31,"\n', "11: expected comma-separated cells"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        fabric_of(text)
    assert message in str(caught.value)


def test_a_plan_has_servers() -> None:
    with pytest.raises(InputError, match="expected servers in the plan, got switches alone"):
        fabric_of("graph g { a--b; b--c; c--a }")


def test_a_device_has_no_more_ports_than_can_be_numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contend.fabric.formats.lldp_network._MOST_PORT", 3)
    assert fabric_of("graph g {" + "a--b;" * 2 + "c--a; d--b}").cables == 2
    with pytest.raises(InputError, match='at most 3 ports of a device, got 4 at "a"'):
        fabric_of("graph g {" + "a--b;" * 4 + "}")
