"""Which ports are free, and cables laid between them."""

from __future__ import annotations

import numpy as np
import pytest

import contend
from contend.base.errors import UsageError
from contend.fabric import Fabric, cable_ports, free_ports, with_cables
from small_fabrics import by_hand


def _two(ports: int) -> Fabric:
    """Two switches with a host on port 1 of each and a cable between their ports 2."""
    return by_hand("two", [["a"], ["b"]], [(0, 2, 1, 2)], switches=["left", "right"], ports=ports)


def test_ports_with_neither_host_nor_cable_are_free() -> None:
    assert free_ports(_two(5)) == [[3, 4, 5], [3, 4, 5]]
    assert free_ports(_two(2)) == [[], []]


@pytest.mark.parametrize("ports", [37, 41, 65])
def test_the_aggregation_nodes_port_is_no_socket(ports: int) -> None:
    assert free_ports(_two(ports)) == [list(range(3, ports))] * 2


def test_ports_inside_a_director_are_not_free() -> None:
    # Two line chips with a host each, and a chip between them; line chips have ports 5 and 6
    # towards such chips, of which one is missing on the second.
    chips = by_hand(
        "director",
        [["a"], ["b"], []],
        [(0, 5, 2, 1), (0, 6, 2, 2), (1, 5, 2, 3)],
        switches=["line 1", "line 2", "inner"],
    )
    assert free_ports(chips) == [[2, 3, 4], [2, 3, 4, 6], [4, 5, 6]]
    one = chips.replace(switch_system_guid=np.full(3, 7, dtype=np.uint64))
    assert free_ports(one) == [[2, 3, 4], [2, 3, 4], []]


def test_cables_take_the_lowest_free_ports_and_the_slower_rate() -> None:
    fabric = _two(4)
    rates = ("", "4xEDR", "4xHDR")
    fabric = fabric.replace(
        rates=rates,
        cable_rate=np.array([1], dtype=np.uint16),
        host_rate=np.array([2, 1], dtype=np.uint16),
    )
    more, cables = with_cables(fabric, [(0, 1), (1, 0)])
    assert cables == [(0, 3, 1, 3), (1, 4, 0, 4)]
    assert list(more.cable_ends()) == [(0, 2, 1, 2), *cables]
    assert [more.rates[rate] for rate in more.cable_rate] == ["4xEDR"] * 3
    with pytest.raises(UsageError, match='switch "left" has no free port left'):
        with_cables(more, [(0, 1)])


def test_places_of_hosts_are_no_ports_for_cables() -> None:
    """Leaf 2 has no host on port 2, where both others have one: it stays free for one."""
    fabric = by_hand(
        "leaves",
        [["a", "b"], ["c"], ["d", "e"], []],
        [(leaf, 3, 3, leaf + 1) for leaf in range(3)],
        ports=5,
    )
    assert free_ports(fabric)[1] == [2, 4, 5]
    assert cable_ports(fabric) == [[4, 5], [4, 5], [4, 5], [4, 5]]
    _, cables = with_cables(fabric, [(1, 3), (1, 3)])
    assert cables == [(1, 4, 3, 4), (1, 5, 3, 5)]


def test_tables_still_hold_with_more_cables() -> None:
    fabric = contend.load("ring:6", route="contend")
    wide = fabric.replace(switch_ports=fabric.switch_ports + np.uint16(1))
    more, _ = with_cables(wide, [(0, 3)])
    before, after = (contend.simulate(one, samples=50, seed=1) for one in (fabric, more))
    assert np.array_equal(before.bandwidth, after.bandwidth)
