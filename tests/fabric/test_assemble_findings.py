"""What `assemble` leaves out or finds wrong, and what it says of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from contend.base.errors import InputError
from contend.fabric import Fabric, Finding
from contend.fabric.assemble import assemble, what_is_missing
from contend.fabric.subnet import NodeKind, Subnet, SubnetBuilder

MakeSubnet = Callable[..., Subnet]

S1, S2, S3 = ({"name": f"s{i}", "ports": 8} for i in (1, 2, 3))
H1, H2, H3 = ({"name": f"h{i}", "kind": "adapter"} for i in (1, 2, 3))
HOST = ("s1", 8, "h1", 1)


def only_finding(fabric: Fabric) -> Finding:
    (finding,) = fabric.findings
    return finding


def test_a_dump_from_a_port_without_a_link_says_what_to_do() -> None:
    builder = SubnetBuilder("x")
    builder.node(NodeKind.ADAPTER, "n1", guid=1, line=1)
    with pytest.raises(InputError, match=r"got none: no port of it has a link, .* ibstat"):
        assemble(builder.subnet(), "x")


def test_reader_s_notes_come_first(make_subnet: MakeSubnet) -> None:
    subnet = make_subnet([S1, H1, H2], [HOST], notes=("2 lines of another program passed over",))
    first, second = assemble(subnet, "net").findings
    assert first == Finding("reader's note", "2 lines of another program passed over", wrong=False)
    assert second.kind == "unconnected adapter"


@pytest.mark.parametrize(
    "extra",
    [
        {"name": "Mellanox Technologies Aggregation Node"},
        {"name": "sharp", "device_id": 0xCF09},
    ],
)
def test_aggregation_nodes_are_left_out(make_subnet: MakeSubnet, extra: dict[str, Any]) -> None:
    """Known by their name or by their device; only adapters can be such nodes."""
    node = {"kind": "adapter", **extra}
    fabric = assemble(make_subnet([S1, H1, node], [HOST, ("s1", 41, node["name"], 1)]), "net")
    assert fabric.host_name == ("h1",)
    assert fabric.switch_ports.tolist() == [41]
    expected = Finding("aggregation node", "1 aggregation node is left out", wrong=False)
    assert only_finding(fabric) == expected


def test_switch_of_the_same_family_is_no_aggregation_node(make_subnet: MakeSubnet) -> None:
    switch = {"name": "s1", "ports": 36, "device_id": 0xCF08}
    assert assemble(make_subnet([switch, H1], [HOST]), "net").findings == ()


def test_routers_are_left_out(make_subnet: MakeSubnet) -> None:
    routers = [{"name": f"r{i}", "kind": "router"} for i in (1, 2)]
    ends = [HOST, ("s1", 1, "r1", 1), ("s1", 2, "r2", 1), ("r1", 2, "r2", 2)]
    fabric = assemble(make_subnet([S1, H1, *routers], ends), "net")
    assert (fabric.hosts, fabric.cables) == (1, 0)
    assert only_finding(fabric) == Finding("router", "2 routers are left out", wrong=False)


def test_cable_that_one_end_does_not_mention_is_kept(make_subnet: MakeSubnet) -> None:
    fabric = assemble(
        make_subnet([S1, S2, H1], [("s1", 1, "s2", 2), HOST, ("h1", 1, "s1", 8)], both=False), "net"
    )
    assert fabric.cables == 1
    assert (fabric.cable_to[0], fabric.cable_to_port[0]) == (1, 2)
    text = 'switch "s1" port 1 -> switch "s2" port 2: the other end declares no cable'
    assert only_finding(fabric) == Finding("one-sided cable", text)


def test_cable_whose_other_end_is_said_to_be_down_is_kept(make_subnet: MakeSubnet) -> None:
    ends = [("s2", 2, None, 0), ("s1", 1, "s2", 2), HOST, ("h1", 1, "s1", 8)]
    fabric = assemble(make_subnet([S1, S2, H1], ends, both=False), "net")
    assert fabric.cables == 1
    assert only_finding(fabric).kind == "one-sided cable"


def test_adapter_that_only_its_switch_names(make_subnet: MakeSubnet) -> None:
    """It is a host all the same, with the address and rate that the switch's line gave."""
    named = {"name": "h1", "kind": "adapter", "lid": 7, "line": 0}
    subnet = make_subnet([S1, named], [("s1", 8, "h1", 1, {"rate": 2})], both=False)
    fabric = assemble(subnet, "net")
    assert fabric.host_lid.tolist() == [7]
    assert fabric.host_port_guid.tolist() == [0]
    assert fabric.rates[fabric.host_rate[0]] == "4xEDR"
    text = 'switch "s1" port 8 -> adapter "h1" port 1: the other end declares no cable'
    assert fabric.findings == (
        Finding("missing record", 'the record of "h1" is missing', wrong=False),
        Finding("one-sided cable", text),
    )
    assert what_is_missing(fabric) == (
        "the record of 1 node and the other end of 1 cable are missing"
    )


def test_two_ends_claim_one_silent_port(make_subnet: MakeSubnet) -> None:
    """The first that claims it has it."""
    ends = [("s1", 1, "s3", 5), ("s2", 1, "s3", 5), HOST, ("h1", 1, "s1", 8)]
    fabric = assemble(make_subnet([S1, S2, S3, H1], ends, both=False), "net")
    assert fabric.cable_from.tolist() == [0]
    assert [finding.message for finding in fabric.findings] == [
        'switch "s1" port 1 -> switch "s3" port 5: the other end declares no cable',
        'switch "s2" port 1 -> switch "s3" port 5: the other end is taken',
    ]
    assert all(finding.wrong for finding in fabric.findings)


def test_cable_that_the_other_end_denies_is_dropped(make_subnet: MakeSubnet) -> None:
    """s3 claims a port of s2 that is cabled to s1, whichever is declared first."""
    true, false = [("s1", 1, "s2", 2), ("s2", 2, "s1", 1)], [("s3", 3, "s2", 2)]
    text = (
        'switch "s3" port 3 -> switch "s2" port 2, '
        'but that port declares a cable to switch "s1" port 1'
    )
    for ends in (true + false, false + true):
        subnet = make_subnet([S1, S2, S3, H1], [*ends, HOST, ("h1", 1, "s1", 8)], both=False)
        fabric = assemble(subnet, "net")
        assert fabric.cables == 1
        assert (fabric.cable_from[0], fabric.cable_to[0]) == (0, 1)
        assert only_finding(fabric) == Finding("denied cable", text)


def test_ports_crossed_within_a_pair_of_switches_are_denied(make_subnet: MakeSubnet) -> None:
    ends = [("s1", 1, "s2", 1), ("s2", 1, "s1", 2), HOST, ("h1", 1, "s1", 8)]
    fabric = assemble(make_subnet([S1, S2, H1], ends, both=False), "net")
    assert [finding.kind for finding in fabric.findings] == ["denied cable", "one-sided cable"]
    assert (fabric.cable_from_port[0], fabric.cable_to_port[0]) == (1, 2)


def test_port_declared_twice_keeps_its_first_cable(make_subnet: MakeSubnet) -> None:
    ends = [HOST, ("s1", 1, "s2", 1), ("s1", 1, "s3", 1)]
    fabric = assemble(make_subnet([S1, S2, S3, H1], ends), "net")
    assert fabric.cable_to.tolist() == [1]
    twice, denied = fabric.findings
    assert twice == Finding("port twice", 'switch "s1" port 1 has two cables (lines 3 and 5)')
    assert denied.kind == "denied cable"


def test_port_declared_twice_alike_is_nothing_to_tell(make_subnet: MakeSubnet) -> None:
    """Listings grouped by chassis print its switches twice."""
    fabric = assemble(make_subnet([S1, S2, H1], [HOST, ("s1", 1, "s2", 1)] * 2), "net")
    assert (fabric.hosts, fabric.cables, fabric.findings) == (1, 1, ())


@pytest.mark.parametrize("down_first", [True, False])
def test_port_declared_down_and_cabled_is_cabled(make_subnet: MakeSubnet, down_first: bool) -> None:
    down, cabled = [("s1", 1, None, 0)], [("s1", 1, "s2", 1), ("s2", 1, "s1", 1)]
    ends = down + cabled if down_first else cabled + down
    subnet = make_subnet([S1, S2, H1], [*ends, HOST, ("h1", 1, "s1", 8)], both=False)
    fabric = assemble(subnet, "net")
    assert (fabric.cables, fabric.findings) == (1, ())


def test_port_cabled_to_itself_is_left_out(make_subnet: MakeSubnet) -> None:
    """A loopback plug, as it is used to test a port."""
    subnet = make_subnet([S1, H1], [HOST, ("h1", 1, "s1", 8), ("s1", 1, "s1", 1)], both=False)
    fabric = assemble(subnet, "net")
    assert fabric.cables == 0
    text = 'switch "s1" port 1 is cabled to itself'
    assert only_finding(fabric) == Finding("port to itself", text, wrong=False)


def test_adapter_to_adapter_is_left_out(make_subnet: MakeSubnet) -> None:
    fabric = assemble(make_subnet([S1, H1, H2, H3], [HOST, ("h2", 1, "h3", 1)]), "net")
    assert fabric.host_name == ("h1",)
    cabled, unconnected = fabric.findings
    text = 'adapter "h2" port 1 is cabled to adapter "h3" port 1, without a switch'
    assert cabled == Finding("adapter to adapter", text, wrong=False)
    text = '2 adapters on no switch are left out: "h2", "h3"'
    assert unconnected == Finding("unconnected adapter", text, wrong=False)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (1, '1 adapter on no switch is left out: "a0"'),
        (3, '3 adapters on no switch are left out: "a0", "a1", "a2"'),
        (4, '4 adapters on no switch are left out: "a0", "a1", "a2", ...'),
    ],
)
def test_unconnected_adapters_are_counted_and_some_named(
    make_subnet: MakeSubnet, count: int, text: str
) -> None:
    spare = [{"name": f"a{i}", "kind": "adapter"} for i in range(count)]
    ends = [HOST, ("a0", 1, None, 0)]
    fabric = assemble(make_subnet([S1, H1, *spare], ends), "net")
    assert only_finding(fabric) == Finding("unconnected adapter", text, wrong=False)


def test_duplicate_guid_is_wrong(make_subnet: MakeSubnet) -> None:
    nodes = [S1, {**H1, "guid": 0xABC}, {**H2, "guid": 0xABC}]
    fabric = assemble(make_subnet(nodes, [HOST, ("s1", 7, "h2", 1)]), "net")
    assert fabric.hosts == 2
    text = "2 nodes have the GUID 0x0000000000000abc"
    assert only_finding(fabric) == Finding("duplicate GUID", text)


@pytest.mark.parametrize(("near", "far"), [(1, 2), (2, 1)])
def test_of_two_rates_of_a_cable_the_slower_counts(
    make_subnet: MakeSubnet, near: int, far: int
) -> None:
    rates = ("4xHDR", "4xEDR")
    ends = [
        ("s1", 1, "s2", 2, {"rate": near}),
        ("s2", 2, "s1", 1, {"rate": far}),
        ("s1", 8, "h1", 1, {"rate": near}),
        ("h1", 1, "s1", 8, {"rate": far}),
    ]
    fabric = assemble(make_subnet([S1, S2, H1], ends, both=False), "net")
    assert [fabric.rates[rate] for rate in (*fabric.cable_rate, *fabric.host_rate)] == ["4xEDR"] * 2
    one, other = rates[near - 1], rates[far - 1]
    assert fabric.findings == (
        Finding(
            "unequal rates",
            f'adapter "h1" port 1 ({other}) -> switch "s1" port 8 ({one})',
            wrong=False,
        ),
        Finding(
            "unequal rates",
            f'switch "s1" port 1 ({one}) -> switch "s2" port 2 ({other})',
            wrong=False,
        ),
    )
