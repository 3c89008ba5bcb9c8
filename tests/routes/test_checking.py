"""The check against a walk without wit, and every planted fault found by name."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contend import _core
from contend.base.errors import UsageError
from contend.fabric import Check, Fabric, Finding, Status
from contend.routes import NO_PORT, ForwardingTables, all_to_all_load, check
from contend.routes.checking import dependency_cycle
from contend.routes.tracing import TraceEnd
from small_fabrics import fat_tree, ring, routed, shortest_path_tables, three_level_tree, torus


def _clockwise(switches: int, hosts_each: int = 1) -> Fabric:
    """A ring where everything goes from switch i to i + 1."""
    fabric = ring(switches, hosts_each)
    ports = np.full((switches, fabric.hosts + switches + 1), NO_PORT, dtype=np.uint16)
    for host, (at, port) in enumerate(
        zip(fabric.host_switch.tolist(), fabric.host_port.tolist(), strict=True)
    ):
        for cable in range(switches):
            ports[fabric.cable_from[cable], host + 1] = fabric.cable_from_port[cable]
        ports[at, host + 1] = port
    return fabric.replace(routes=ForwardingTables(ports))


def _planted(fabric: Fabric, switch: int, address: int, port: int) -> Fabric:
    ports = fabric.routes.ports.copy()
    ports[switch, address] = port
    return fabric.replace(routes=ForwardingTables(ports))


def _named(fabric: Fabric, name: str, **options: bool) -> Check:
    (found,) = [item for item in check(fabric, **options).checks if item.name == name]
    return found


@st.composite
def _fabrics(draw: st.DrawFn) -> Fabric:
    """Small fabrics with shortest-path tables, some entries of which are then drawn at random."""
    fabric = draw(
        st.sampled_from([fat_tree(3, 2, 2, 2), torus((3, 3)), ring(5, 2), three_level_tree(4)])
    )
    lmc = draw(st.sampled_from([0, 1, 2]))
    first = [1 + host * 2**lmc for host in range(fabric.hosts)]
    fabric = fabric.replace(
        host_lid=np.array(first, dtype=np.uint32),
        host_lmc=np.full(fabric.hosts, lmc, dtype=np.uint8),
        switch_lid=np.arange(fabric.switches, dtype=np.uint32) + 1 + fabric.hosts * 2**lmc,
    )
    tables = shortest_path_tables(fabric).ports.copy()
    entries = st.tuples(
        st.integers(0, fabric.switches - 1),
        st.integers(1, fabric.hosts * 2**lmc),
        st.sampled_from([*range(8), NO_PORT]),
    )
    for switch, address, port in draw(st.lists(entries, max_size=12)):
        tables[switch, address] = port
    return fabric.replace(routes=ForwardingTables(tables))


@settings(max_examples=60, deadline=None)
@given(_fabrics())
def test_dependencies_are_those_of_the_routes(fabric: Fabric) -> None:
    pairs = set()
    for source in range(fabric.hosts):
        for to in range(fabric.hosts):
            for i in range(2 ** int(fabric.host_lmc[to])):
                end, _, route = _core.trace_route(
                    fabric.core,
                    fabric.routes.ports,
                    int(fabric.host_switch[source]),
                    to,
                    int(fabric.host_lid[to]) + i,
                )
                if end == TraceEnd.DELIVERED:
                    pairs |= set(pairwise(route))
    count, cycle = dependency_cycle(fabric)
    assert count == len(pairs)
    if cycle:
        assert set(zip(cycle, (*cycle[1:], cycle[0]), strict=True)) <= pairs
    else:
        # Taking away what nothing follows must take away all.
        while pairs:
            followed = {one for one, _ in pairs}
            fewer = {pair for pair in pairs if pair[1] in followed}
            assert len(fewer) < len(pairs)
            pairs = fewer


def test_sound_fabric_passes_every_check() -> None:
    fabric = routed(fat_tree(4, 4, 4))
    report = check(fabric)
    assert report.passed
    assert {item.status for item in report.checks} == {Status.OK}
    # 16 hosts: 15 routes each, 3 of them to hosts on the same switch.
    assert report.routes.hops == {0: 16 * 3, 2: 16 * 12}
    assert report.routes.undelivered == 0


def test_without_routes_only_the_fabric_is_checked() -> None:
    report = check(fat_tree(4, 4, 4))
    assert report.passed
    assert report.routes is None
    assert [item.name for item in report.checks] == [
        "cables",
        "GUIDs",
        "LIDs",
        "connectedness",
        "link speeds",
        "missing cables",
        "rails",
        "names",
        "routes",
    ]
    assert report.checks[-1].status == Status.NOT_CHECKED
    with pytest.raises(UsageError, match="has no routes"):
        all_to_all_load(fat_tree(4, 4, 4))


def test_missing_entry_is_named() -> None:
    # Host 5 hangs on switch 1; switch 0 cannot reach it, 4 hosts ask.
    found = _named(_planted(routed(fat_tree(4, 4, 4)), 0, 6, NO_PORT), "missing entries")
    assert found.status == Status.WRONG
    assert found.summary == "affects 4 routes in 1 place"
    assert found.details == ('switch "switch 0" has no port for host "host 5" (LID 6)',)


def test_dead_ends_are_named() -> None:
    fabric = routed(fat_tree(4, 4, 3))
    # Host 5 is reached by top switch 6, which has fewer cables than ports.
    unplugged = int(fabric.switch_ports[6])
    found = _named(_planted(fabric, 6, 6, unplugged), "dead ends")
    assert found.details == (
        f'switch "switch 6" sends host "host 5" (LID 6) to port {unplugged}, where nothing is '
        'plugged in, on the way from switch "switch 0"',
    )
    found = _named(_planted(fabric, 0, 6, 0), "dead ends")
    assert found.details == ('switch "switch 0" sends host "host 5" (LID 6) to itself (port 0)',)


def test_wrong_host_is_named() -> None:
    found = _named(_planted(routed(fat_tree(4, 4, 4)), 1, 6, 1), "wrong hosts")
    assert found.details == (
        'switch "switch 1" sends host "host 5" (LID 6) to port 1, where host "host 4" is, '
        'on the way from switch "switch 0"',
    )


def test_loop_is_named() -> None:
    # Switch 1 sends its own host 5 back up to a top switch, which sends it down again.
    fabric = _planted(routed(fat_tree(4, 4, 1)), 1, 6, 5)
    found = _named(fabric, "loops")
    assert found.details == (
        'host "host 5" (LID 6) is sent in a circle: switch "switch 1" -> switch "switch 4" -> '
        'switch "switch 1", on the way from switch "switch 0"',
    )
    assert not check(fabric).passed
    arrival = _named(fabric, "arrival")
    # 15 other hosts ask; none arrives.
    assert arrival.summary == "15 of 240 routes between hosts do not arrive"


def test_long_loops_are_shortened() -> None:
    # Host 0 on switch 0 is passed on by its own switch: around all 12.
    fabric = _clockwise(12)
    (detail,) = _named(_planted(fabric, 0, 1, 2), "loops").details
    assert detail.endswith(
        'switch "switch 3" -> ... -> switch "switch 10" -> switch "switch 11" -> switch "switch 0"'
    )


def test_clockwise_ring_can_lock_up() -> None:
    fabric = _clockwise(4)
    assert dependency_cycle(fabric) == (4, (0, 2, 4, 6))
    found = _named(fabric, "deadlock")
    assert found.status == Status.WARNING
    assert found.details[0] == 'switch "switch 0" port 2 -> switch "switch 1" port 2'
    assert check(fabric).passed
    assert _named(fabric, "deadlock", lanes=False).status == Status.WRONG
    assert not check(fabric, lanes=False).passed


def test_management_routes_add_dependencies() -> None:
    # Hosts on switches 0 and 1 only, all clockwise: nothing from a host goes 3 -> 0 -> 1.
    fabric = _clockwise(4)
    kept = np.array([0, 1])
    columns = [name for name in fabric.__dataclass_fields__ if name.startswith("host_")]
    two = fabric.replace(
        **{
            name: tuple(np.array(fabric.host_name)[kept])
            if name == "host_name"
            else getattr(fabric, name)[kept]
            for name in columns
        }
    )
    # From hosts: 1 -> 2 -> 3 -> 0 for host 0, and 0 -> 1 for host 1: two dependencies.
    assert dependency_cycle(two) == (2, ())
    # From switch 3 also 3 -> 0 -> 1 for host 1, from 2 that and what leads to it.
    assert dependency_cycle(two, from_all_switches=True) == (3, ())


def test_tree_routes_cannot_lock_up() -> None:
    assert _named(routed(three_level_tree(4)), "deadlock").status == Status.OK


def test_all_over_one_uplink_is_a_warning() -> None:
    # 3 uplinks of switch 0: all 12 hosts elsewhere by the first, 3 times its share.
    fabric = routed(fat_tree(4, 4, 3))
    for host in range(4, 16):
        fabric = _planted(fabric, 0, host + 1, 5)
    found = _named(fabric, "balance")
    assert found.status == Status.WARNING
    assert found.summary == "a channel carries 3.00 times its fair share of the routes"
    assert found.details == (
        'switch "switch 0" port 5 -> switch "switch 4" port 1: 3.00 times its fair share '
        "(up from level 1)",
    )
    assert check(fabric).passed


def test_fast_uplinks_have_a_larger_share() -> None:
    # Uplink 0 is four times as fast as uplinks 1 and 2 and carries as much as both: 1/2 of 4/6.
    fabric = fat_tree(2, 4, 3)
    rate = np.where(fabric.cable_to == 2, 2, 1).astype(np.uint16)
    fabric = fabric.replace(rates=("", "4xHDR", "4xXDR"), cable_rate=rate)
    ports = shortest_path_tables(fabric).ports.copy()
    for switch, hosts in ((0, range(4, 8)), (1, range(4))):
        ports[switch, [h + 1 for h in hosts]] = [5, 5, 6, 7]
    report = check(fabric.replace(routes=ForwardingTables(ports)))
    (up,) = [item for item in report.routes.balance if item.kind == "up"]
    # Uplink 1 carries 1/4 of the routes, where 1/6 is its share.
    assert up.imbalance == pytest.approx(1.5)


def test_few_addresses_cannot_use_all_channels() -> None:
    # One host elsewhere, two uplinks: one carries all, and no table could do better.
    report = check(routed(fat_tree(2, 1, 2)))
    (up,) = [item for item in report.routes.balance if item.kind == "up"]
    assert up.imbalance == pytest.approx(1)


def test_unused_parallel_cable_is_a_warning() -> None:
    fabric = routed(fat_tree(2, 4, 1, parallel=2))
    for host in range(4):
        fabric = _planted(fabric, 2, host + 1, 1)  # Down to switch 0 by the first of two cables.
    found = _named(fabric, "balance")
    assert found.status == Status.WARNING
    assert "(parallel cables)" in found.details[0]


def test_report_becomes_json() -> None:
    decoded = msgspec.json.decode(check(_clockwise(4)).document().json())
    assert decoded["passed"] is True
    assert decoded["routes"]["hops"] == {"1": 4, "2": 4, "3": 4}
    assert decoded["checks"][-1]["status"] == "warning"


def test_tables_of_other_switches_are_told_apart_from_cables() -> None:
    finding = Finding("no table", 'no table for 1 switch: "leaf"')
    fabric = routed(fat_tree(3, 4, 2)).replace(findings=(finding,))
    assert _named(fabric, "cables").status == Status.OK
    found = _named(fabric, "tables")
    assert (found.status, found.details) == (Status.WRONG, (finding.message,))
