"""What is to be built, before anything is: no rights are needed for it."""

from __future__ import annotations

import numpy as np
import pytest

from contend.base.errors import UsageError
from contend.fabric import machine_names
from contend.lab.emulation.layout import PACKET, host_labels, lay_out, packets_at_once
from contend.routes import ForwardingTables, load
from sample_fabrics import two_leaves


def test_every_channel_begins_at_one_interface() -> None:
    fabric = load("xgft:2;4,4;1,2;1,2", need_routes=True)
    layout = lay_out(fabric)
    assert [end.channel for end in layout.ends] == list(range(fabric.channels))
    # Parallel cables too: no two ends share an interface.
    assert len({(end.node, end.index) for end in layout.ends}) == fabric.channels


def test_a_piece_of_a_stream_fills_no_more_than_a_twelfth_of_a_buffer() -> None:
    buffers = (36 * PACKET, 36 * PACKET - 12, 0)
    assert [packets_at_once(1e9, buffer) for buffer in buffers] == [3, 2, 1]


def test_tables_are_the_fabrics() -> None:
    fabric = two_leaves()
    layout = lay_out(fabric)
    interface = {(end.node, end.index): end.interface for end in layout.ends}
    first_leaf = {
        route.address: interface[len(layout.hosts), *route.indices] for route in layout.routes[0]
    }
    address = [node.address for node in layout.host_nodes]
    # Hosts 3 and 4 go over spine (d - 1) mod 2: the leaf's ports 3 and 4.
    assert first_leaf == dict(zip(address, ["port1", "port2", "port3", "port4"], strict=True))


def test_chosen_hosts_bring_only_what_they_use() -> None:
    # Both on the first leaf: no cable between switches, no spine.
    layout = lay_out(two_leaves(), [0, 1])
    assert [node.name for node in layout.nodes] == ["h0", "h1", "leaf 0"]
    assert len(layout.cables) == 2
    # Host 1 sends to host 2 over spine 0, host 2 to host 1 over spine 0 as well: (d - 1) mod 2 = 0.
    layout = lay_out(two_leaves(), [0, 2])
    assert [node.name for node in layout.nodes[2:]] == ["leaf 0", "leaf 1", "spine 0"]


def test_without_routes_it_says_what_to_do() -> None:
    with pytest.raises(UsageError, match="no routes: give routes=FILE"):
        lay_out(load("fig1"))


def test_unreachable_hosts_are_named() -> None:
    fabric = two_leaves()
    ports = fabric.routes.ports.copy()
    ports[0, 4] = 0xFFFF
    broken = fabric.replace(routes=ForwardingTables(ports))
    with pytest.raises(UsageError, match=r'"h3" .* cannot be reached from switch "leaf 0"'):
        lay_out(broken)


def test_one_host_alone_is_refused() -> None:
    with pytest.raises(UsageError, match="expected 2 to 1,000 hosts to emulate, got 1"):
        lay_out(two_leaves(), [1])


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("1", "2"), ["host-1", "host-2"]),
        (("host 1", "host.1"), ["host-1", "host-1-2"]),
        (("cn01 mlx5_0", "MT47;x"), ["cn01-mlx5-0", "MT47-x"]),
        (("Node", "node"), ["Node", "node-2"]),
        (("", "😀"), ["host", "host-2"]),
    ],
)
def test_names_become_host_names(names: tuple[str, ...], expected: list[str]) -> None:
    assert list(machine_names(names, "host", set())) == expected


def test_long_names_stay_apart_and_short() -> None:
    made = list(machine_names(["x" * 80] * 3, "host", set()))
    assert len(set(made)) == 3
    assert max(map(len, made)) <= 63


def test_ports_without_a_cable_are_left_out() -> None:
    fabric = two_leaves()
    ports = fabric.routes.ports.copy()
    # Spine 1 never gets what is meant for host 1, and knows no port for it.
    ports[3, 1] = 4
    layout = lay_out(fabric.replace(routes=ForwardingTables(np.array(ports))))
    assert len(layout.routes[3]) == 3


def test_hosts_are_called_as_in_an_emulation_of_all_of_them() -> None:
    fabric = load("fig1", need_routes=True)
    assert host_labels(fabric) == tuple(node.label for node in lay_out(fabric).host_nodes)
