"""What differs between two states of a network, on fabrics whose changes are known."""

from __future__ import annotations

import numpy as np

from contend.fabric import Change, Fabric, difference, make
from small_fabrics import by_hand


def _tree() -> Fabric:
    """Three leaves of two hosts each, two switches above."""
    return make("xgft:2;2,3;1,2")


def _renamed(names: tuple[str, ...], old: str, new: str) -> tuple[str, ...]:
    return tuple(new if name == old else name for name in names)


def test_the_same_differs_in_nothing() -> None:
    found = difference(_tree(), _tree())
    assert found.changes == ()
    assert found.hosts == tuple((h, h) for h in range(6))
    assert found.switches == tuple((s, s) for s in range(5))


def test_a_new_name_is_no_new_host() -> None:
    old = _tree()
    new = old.replace(
        host_name=_renamed(old.host_name, old.host_name[2], "gpu7"),
        switch_name=_renamed(old.switch_name, old.switch_name[0], "rack 1"),
    )
    assert difference(old, new).changes == (
        Change("host", "renamed", 2, "gpu7", old.host_name[2], "gpu7"),
        Change("switch", "renamed", 0, "rack 1", old.switch_name[0], "rack 1"),
    )


def test_new_hardware_at_an_old_name_was_replaced() -> None:
    old = _tree()
    guids, switches = old.host_port_guid.copy(), old.switch_guid.copy()
    guids[1] = switches[4] = 0xABCDEF
    new = old.replace(host_port_guid=guids, switch_guid=switches)
    said = [(change.what, change.how, change.name) for change in difference(old, new).changes]
    assert said == [
        ("host", "replaced", old.host_name[1]),
        ("switch", "replaced", old.switch_name[4]),
    ]


def test_a_host_that_hangs_elsewhere_or_slower_is_told() -> None:
    old = _tree()
    switches, ports, rates = old.host_switch.copy(), old.host_port.copy(), old.host_rate.copy()
    switches[0], ports[0] = 2, 5
    rates[3] = len(old.rates)
    new = old.replace(
        host_switch=switches,
        host_port=ports,
        host_rate=rates,
        rates=(*old.rates, "4xSDR"),
        switch_ports=np.full(5, 5, dtype=np.uint16),
    )
    moved, slower = difference(old, new).changes
    assert (moved.how, moved.name) == ("moved", old.host_name[0])
    assert moved.after == f'switch "{old.switch_name[2]}" port 5'
    assert slower == Change(
        "host", "speed", 3, old.host_name[3], old.rates[old.host_rate[3]], "4xSDR"
    )


def test_cables_come_go_and_move_whatever_their_order() -> None:
    old = _tree()
    order = np.arange(old.cables)[::-1]
    far, far_port = old.cable_to.copy(), old.cable_to_port.copy()
    # The last one hangs on another port of the same switch, the first is gone.
    far_port[-1] = 4
    kept = order[:-1]
    new = old.replace(
        cable_from=far[kept],
        cable_from_port=far_port[kept],
        cable_to=old.cable_from[kept],
        cable_to_port=old.cable_from_port[kept],
        cable_rate=old.cable_rate[kept],
        switch_ports=np.full(5, 5, dtype=np.uint16),
    )
    removed, moved = difference(old, new).changes
    assert (removed.how, moved.how) == ("removed", "moved")
    assert removed.before == old.channel_name(0).replace(" -> ", " - ")
    assert moved.before == old.channel_name(2 * old.cables - 2).replace(" -> ", " - ")
    assert moved.after.startswith(f'switch "{old.switch_name[int(far[-1])]}" port 4 - ')


def test_a_speed_of_a_cable_is_told() -> None:
    old = _tree()
    rates = old.cable_rate.copy()
    rates[1] = len(old.rates)
    [change] = difference(old, old.replace(cable_rate=rates, rates=(*old.rates, "1xSDR"))).changes
    assert (change.what, change.how, change.after) == ("cable", "speed", "1xSDR")


def test_hosts_of_one_name_are_told_apart_by_their_guids() -> None:
    def crossbar(guids: list[int], names: list[str]) -> Fabric:
        made = by_hand("x", [names])
        return made.replace(host_port_guid=np.array(guids, dtype=np.uint64))

    old = crossbar([1, 2, 3], ["node", "node", "other"])
    new = crossbar([1, 4, 3], ["node", "node", "other"])
    said = [(change.how, change.name) for change in difference(old, new).changes]
    # Of the two that bear the name one is there still, by its GUID.
    assert said == [("replaced", "node")]
    assert difference(old, new).hosts == ((0, 0), (1, 1), (2, 2))
