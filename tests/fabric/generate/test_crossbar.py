from __future__ import annotations

from contend.fabric import make


def test_one_switch_and_no_cables() -> None:
    fabric = make("crossbar:5")
    assert (fabric.hosts, fabric.switches, fabric.cables, fabric.channels) == (5, 1, 0, 10)
    assert fabric.host_port.tolist() == [1, 2, 3, 4, 5]


def test_the_widest_port_number_is_used() -> None:
    fabric = make("crossbar:65534")
    assert fabric.core.hosts == 65534
    assert fabric.host_port[-1] == 65534
