"""What becomes of a subnet's nodes and ends: hosts, cables and their columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contend.base.errors import InputError
from contend.fabric.assemble import assemble
from contend.fabric.subnet import NodeKind, Subnet

MakeSubnet = Callable[..., Subnet]

S1, S2 = {"name": "s1", "ports": 4, "lid": 10}, {"name": "s2", "ports": 4, "lid": 11}
H1, H2 = {"name": "h1", "kind": "adapter"}, {"name": "h2", "kind": "adapter"}


def test_hosts_and_cables(make_subnet: MakeSubnet) -> None:
    """h1 - s1 - s2 - h2 with two parallel cables: 2 hosts, 2 switches, 2 (2 + 2) = 8 channels."""
    subnet = make_subnet(
        [H1, S1, H2, S2],
        [("s1", 1, "h1", 1), ("s1", 3, "s2", 4), ("s2", 3, "s1", 4), ("h2", 1, "s2", 1)],
    )
    fabric = assemble(subnet, "small")
    assert fabric.name == "small"
    assert (fabric.hosts, fabric.switches, fabric.cables, fabric.channels) == (2, 2, 2, 8)
    assert fabric.host_name == ("h1", "h2")
    assert fabric.switch_name == ("s1", "s2")
    assert fabric.host_switch.tolist() == [0, 1]
    assert fabric.host_port.tolist() == [1, 1]
    assert fabric.cable_from.tolist() == [0, 1]
    assert fabric.cable_from_port.tolist() == [3, 3]
    assert fabric.cable_to.tolist() == [1, 0]
    assert fabric.cable_to_port.tolist() == [4, 4]
    assert fabric.switch_lid.tolist() == [10, 11]
    assert fabric.switch_guid.tolist() == [0x101, 0x103]
    assert fabric.findings == ()


def test_one_switch_needs_no_cables(make_subnet: MakeSubnet) -> None:
    fabric = assemble(make_subnet([S1, H1], [("s1", 1, "h1", 1)]), "star")
    assert (fabric.hosts, fabric.cables) == (1, 0)
    assert fabric.core.channels == 2


def test_host_columns_come_from_the_adapter_s_end(make_subnet: MakeSubnet) -> None:
    adapter = {"name": "h1", "kind": "adapter", "guid": 0xA0, "system_guid": 0xA9, "lid": 77}
    end = {"port_guid": 0xA1, "lid": 5, "lmc": 2, "rate": 2}
    subnet = make_subnet(
        [S1, adapter], [("h1", 1, "s1", 2, end), ("s1", 2, "h1", 1, {"rate": 1})], both=False
    )
    fabric = assemble(subnet, "net")
    assert fabric.host_guid.tolist() == [0xA0]
    assert fabric.host_port_guid.tolist() == [0xA1]
    assert fabric.host_system_guid.tolist() == [0xA9]
    assert fabric.host_lid.tolist() == [5]
    assert fabric.host_lmc.tolist() == [2]
    assert fabric.rates[fabric.host_rate[0]] == "4xEDR"


def test_dual_port_adapter_is_two_hosts(make_subnet: MakeSubnet) -> None:
    """Hosts are end ports: one adapter on two switches is two, in the order of its ports."""
    subnet = make_subnet(
        [S1, S2, {"name": "h1", "kind": "adapter", "guid": 0xA0}],
        [
            ("h1", 2, "s2", 1, {"port_guid": 0xA2, "lid": 6}),
            ("h1", 1, "s1", 1, {"port_guid": 0xA1, "lid": 5}),
            ("s1", 4, "s2", 4),
        ],
        both=True,
    )
    fabric = assemble(subnet, "dual")
    assert fabric.host_name == ("h1", "h1")
    assert fabric.host_adapter_port.tolist() == [1, 2]
    assert fabric.host_guid.tolist() == [0xA0, 0xA0]
    assert fabric.host_port_guid.tolist() == [0xA1, 0xA2]
    assert fabric.host_lid.tolist() == [5, 6]
    assert fabric.host_switch.tolist() == [0, 1]


def test_port_that_is_down_is_no_host(make_subnet: MakeSubnet) -> None:
    fabric = assemble(make_subnet([S1, H1], [("s1", 1, "h1", 1), ("h1", 2, None, 0)]), "net")
    assert fabric.host_adapter_port.tolist() == [1]
    assert fabric.findings == ()


def test_cable_from_a_switch_to_itself_is_kept(make_subnet: MakeSubnet) -> None:
    """Two ports of one switch joined: a cable like any other, with two channels."""
    fabric = assemble(make_subnet([S1, H1], [("s1", 1, "h1", 1), ("s1", 2, "s1", 3)]), "net")
    assert fabric.cables == 1
    assert (fabric.cable_from[0], fabric.cable_from_port[0]) == (0, 2)
    assert (fabric.cable_to[0], fabric.cable_to_port[0]) == (0, 3)
    assert fabric.core.out(0, 2) == 0
    assert fabric.core.out(0, 3) == 1


@pytest.mark.parametrize(
    ("near", "far", "rate"), [(1, 2, 2), (2, 1, 2), (0, 2, 2), (1, 0, 1), (0, 0, 0)]
)
def test_rate_is_that_of_the_slower_end_or_the_one_that_is_known(
    make_subnet: MakeSubnet, near: int, far: int, rate: int
) -> None:
    """For cables as for hosts: a rate that one end does not know, the other may."""
    subnet = make_subnet(
        [S1, S2, H1],
        [
            ("s1", 1, "s2", 1, {"rate": near}),
            ("s2", 1, "s1", 1, {"rate": far}),
            ("h1", 1, "s1", 2, {"rate": near}),
            ("s1", 2, "h1", 1, {"rate": far}),
        ],
        both=False,
    )
    fabric = assemble(subnet, "net")
    assert fabric.cable_rate.tolist() == [rate]
    assert fabric.host_rate.tolist() == [rate]


def test_number_of_ports_is_as_declared_or_the_highest_that_a_cable_names(
    make_subnet: MakeSubnet,
) -> None:
    nodes = [{"name": "s1", "ports": 36}, {"name": "s2"}, {"name": "s3", "ports": 2}, H1]
    ends = [("s1", 1, "h1", 1), ("s1", 2, "s2", 7), ("s1", 3, "s3", 5)]
    fabric = assemble(make_subnet(nodes, ends), "net")
    assert fabric.switch_ports.tolist() == [36, 7, 5]


@pytest.mark.parametrize(
    ("nodes", "got"), [([], "none"), ([H1, H2], "none: adapters are cabled to each other, so .*")]
)
def test_no_switch_is_refused(
    make_subnet: MakeSubnet, nodes: list[dict[str, Any]], got: str
) -> None:
    ends = [("h1", 1, "h2", 1)] if nodes else []
    with pytest.raises(InputError, match=rf"^net: expected at least one switch, got {got}$"):
        assemble(make_subnet(nodes, ends), "net")


def test_no_host_is_refused(make_subnet: MakeSubnet) -> None:
    with pytest.raises(InputError, match="at least one host on a switch, got none"):
        assemble(make_subnet([S1, S2, H1], [("s1", 1, "s2", 1)]), "net")


@pytest.mark.parametrize(("port", "peer_port"), [(0, 1), (1, 0)])
def test_cable_at_port_0_is_refused(make_subnet: MakeSubnet, port: int, peer_port: int) -> None:
    """Port 0 is the switch itself; nothing plugs into it."""
    ends = [("s1", 2, "h1", 1), ("h1", 1, "s1", 2), ("s1", port, "s2", peer_port)]
    with pytest.raises(InputError, match=r"^net:3: expected ports from 1 on at both ends"):
        assemble(make_subnet([S1, S2, H1], ends, both=False), "net")


@st.composite
def any_subnets(draw: st.DrawFn) -> Subnet:
    """A few nodes of any kind whose ends claim anything of each other."""
    kinds = draw(st.lists(st.sampled_from(NodeKind), min_size=1, max_size=5))
    count = draw(st.integers(0, 12))

    def column(elements: st.SearchStrategy[int], size: int, dtype: Any) -> Any:
        return np.array(draw(st.lists(elements, min_size=size, max_size=size)), dtype=dtype)

    size = len(kinds)
    return Subnet(
        kind=np.array(kinds, dtype=np.uint8),
        guid=column(st.integers(1, 9), size, np.uint64),
        system_guid=column(st.integers(0, 2), size, np.uint64),
        device_id=column(st.sampled_from([0, 0xCF09]), size, np.uint32),
        ports=column(st.integers(0, 4), size, np.uint16),
        lid=column(st.integers(0, 9), size, np.uint32),
        lmc=column(st.integers(0, 1), size, np.uint8),
        name=tuple(f"n{row}" for row in range(size)),
        node_line=column(st.integers(0, 9), size, np.uint32),
        node=column(st.integers(0, size - 1), count, np.int32),
        port=column(st.integers(1, 3), count, np.uint16),
        port_guid=column(st.integers(0, 9), count, np.uint64),
        end_lid=column(st.integers(0, 9), count, np.uint32),
        end_lmc=column(st.integers(0, 1), count, np.uint8),
        peer=column(st.integers(-1, size - 1), count, np.int32),
        peer_port=column(st.integers(1, 3), count, np.uint16),
        rate=column(st.integers(0, 2), count, np.uint16),
        end_line=np.arange(1, count + 1, dtype=np.uint32),
        rates=("", "4xHDR", "4xEDR"),
    )


@settings(max_examples=300, deadline=None)
@given(any_subnets())
def test_any_subnet_gives_a_sound_fabric_or_one_clear_error(subnet: Subnet) -> None:
    """The core refuses ports used twice, so every cable must have been judged well."""
    try:
        fabric = assemble(subnet, "net")
    except InputError:
        return
    assert fabric.core.channels == fabric.channels == 2 * (fabric.cables + fabric.hosts)
    declared = set(
        zip(
            subnet.node.tolist(),
            subnet.port.tolist(),
            subnet.peer.tolist(),
            subnet.peer_port.tolist(),
            strict=True,
        )
    )
    row = {name: number for number, name in enumerate(subnet.name)}
    for near, near_port, far, far_port in zip(
        [row[fabric.switch_name[s]] for s in fabric.cable_from.tolist()],
        fabric.cable_from_port.tolist(),
        [row[fabric.switch_name[s]] for s in fabric.cable_to.tolist()],
        fabric.cable_to_port.tolist(),
        strict=True,
    ):
        cable = (near, near_port, far, far_port)
        assert cable in declared or (far, far_port, near, near_port) in declared
