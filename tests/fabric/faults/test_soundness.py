"""Faults of a fabric that need no routes to be found."""

from __future__ import annotations

import numpy as np

from contend.fabric import MOST_DETAILS, Check, Fabric, Finding, Status, check_soundness, structure
from small_fabrics import Plan, fat_tree, of_cables, ring, shortest_path_tables


def _named(fabric: Fabric, name: str) -> Check:
    (found,) = [item for item in check_soundness(fabric) if item.name == name]
    return found


def _changed(column: np.ndarray, at: int, value: int) -> np.ndarray:
    changed = column.copy()
    changed[at] = value
    return changed


def test_all_is_well() -> None:
    assert {item.status for item in check_soundness(fat_tree(3, 4, 2))} == {Status.OK}


def test_cables_that_ends_disagree_about() -> None:
    findings = (
        Finding("denied cable", 'switch "a" port 1 -> switch "b" port 2, but ...'),
        *(Finding("one-sided cable", f"cable {i}") for i in range(20)),
        Finding("router", "1 router is left out", wrong=False),
    )
    found = _named(fat_tree(3, 4, 2).replace(findings=findings), "cables")
    assert found.status == Status.WRONG
    assert found.summary == "denied cable: 1, one-sided cable: 20"
    assert found.details[0].startswith('switch "a" port 1')
    assert len(found.details) == 1 + MOST_DETAILS // 2 + 1
    assert found.details[-1] == "and 15 more"


def test_duplicate_guids() -> None:
    fabric = fat_tree(3, 4, 2)
    twice = fabric.replace(switch_guid=_changed(fabric.switch_guid, 1, 0x2_0000_0000))
    found = _named(twice, "GUIDs")
    assert found.status == Status.WRONG
    assert found.details == ('GUID 0x0000000200000000: switch "switch 0" and switch "switch 1"',)
    mixed = fabric.replace(host_guid=_changed(fabric.host_guid, 1, 0x2_0000_0000))
    assert _named(mixed, "GUIDs").details == (
        'GUID 0x0000000200000000: host "host 1" and switch "switch 0"',
    )


def test_two_cables_in_one_port_hint_at_a_guid_used_twice() -> None:
    findings = (Finding("port twice", 'adapter "a" port 1 has two cables'),)
    found = _named(fat_tree(3, 4, 2).replace(findings=findings), "GUIDs")
    assert found.status == Status.WARNING
    assert found.details == ('adapter "a" port 1 has two cables',)


def test_duplicate_port_guids() -> None:
    fabric = fat_tree(3, 4, 2)
    same = fabric.replace(host_port_guid=_changed(fabric.host_port_guid, 5, 0x1_0000_0001))
    assert _named(same, "GUIDs").details == (
        'port GUID 0x0000000100000001: host "host 0" on switch "switch 0" port 1 and '
        'host "host 5" on switch "switch 1" port 2',
    )


def test_two_ports_of_an_adapter_share_its_guid() -> None:
    fabric = fat_tree(3, 4, 2)
    names = ("host 0", "host 0", *fabric.host_name[2:])
    dual = fabric.replace(host_name=names, host_guid=_changed(fabric.host_guid, 1, 0x1_0000_0000))
    assert _named(dual, "GUIDs").status == Status.WRONG  # Both claim port 1.
    dual = dual.replace(host_adapter_port=_changed(fabric.host_adapter_port, 1, 2))
    assert _named(dual, "GUIDs").status == Status.OK


def test_unknown_guids_are_not_compared() -> None:
    fabric = fat_tree(3, 4, 2)
    zero = np.zeros(fabric.hosts, dtype=np.uint64)
    assert _named(fabric.replace(host_guid=zero, host_port_guid=zero), "GUIDs").status == Status.OK


def test_generic_names_do_not_hide_a_duplicate_switch() -> None:
    fabric = fat_tree(3, 4, 2).replace(switch_name=("Quantum",) * 5)
    twice = fabric.replace(switch_guid=_changed(fabric.switch_guid, 1, 0x2_0000_0000))
    assert _named(twice, "GUIDs").status == Status.WRONG


def test_duplicate_lids() -> None:
    fabric = fat_tree(3, 4, 2)
    found = _named(fabric.replace(host_lid=_changed(fabric.host_lid, 7, 3)), "LIDs")
    assert found.status == Status.WRONG
    assert found.details == ('LID 3: host "host 2" and host "host 7"',)
    found = _named(fabric.replace(switch_lid=_changed(fabric.switch_lid, 0, 1)), "LIDs")
    assert found.details == ('LID 1: host "host 0" and switch "switch 0"',)


def test_lmc_ranges_overlap() -> None:
    # Host 3 owns the LIDs 4 .. 7: those of hosts 4, 5 and 6 lie within.
    fabric = fat_tree(3, 4, 2)
    found = _named(fabric.replace(host_lmc=_changed(fabric.host_lmc, 3, 2)), "LIDs")
    assert found.summary == "LIDs or ranges of LIDs with two owners: 3"
    assert found.details[-1] == 'LID 7: host "host 3" and host "host 6"'


def test_hosts_without_a_lid() -> None:
    fabric = fat_tree(3, 4, 2)
    none = fabric.replace(host_lid=np.zeros(fabric.hosts, dtype=np.uint32))
    assert _named(none, "LIDs").status == Status.NOT_CHECKED
    one = fabric.replace(host_lid=_changed(fabric.host_lid, 7, 0))
    assert _named(one, "LIDs").status == Status.WARNING
    routed = one.replace(routes=shortest_path_tables(fabric))
    assert _named(routed, "LIDs").status == Status.WRONG
    assert _named(routed, "LIDs").details == ('host "host 7"',)


def test_parts() -> None:
    # Cables 1 - 2 and 2 - 3; switch 0 stands alone.
    found = _named(of_cables(ring(4, 2), np.array([1, 2])), "connectedness")
    assert found.status == Status.WRONG
    assert found.summary == "the fabric falls into 2 parts; 2 hosts are cut off from the other 6"
    assert found.details[0] == 'host "host 0" on switch "switch 0" port 1'


def test_narrow_links_are_warned_of() -> None:
    fabric = fat_tree(3, 4, 2)
    rates = ("", "4xHDR", "1xHDR", "4xEDR", "2xHDR")
    narrow = fabric.replace(
        rates=rates,
        cable_rate=_changed(fabric.cable_rate, 0, 2),
        host_rate=_changed(_changed(fabric.host_rate, 3, 4), 5, 3),
    )
    found = _named(narrow, "link speeds")
    assert found.status == Status.WARNING
    like = "where similar links run at 4xHDR"
    assert found.details == (
        f'switch "switch 0" port 5 -> switch "switch 3" port 1: 1xHDR, {like} (fewer lanes)',
        f'host "host 3" -> switch "switch 0" port 4: 2xHDR, {like} (fewer lanes)',
        f'host "host 5" -> switch "switch 1" port 2: 4xEDR, {like} (slower signalling)',
    )


def _planes(servers: int) -> Fabric:
    """Two pairs of switches with four hosts each; so many servers have one on both."""
    plan = Plan(4)
    plan.cable(0, 1)
    plan.cable(2, 3)
    names = [f"n{host} mlx5_0" for host in range(4)]
    names += [f"n{host} mlx5_1" if host < servers else f"m{host} mlx5_0" for host in range(4)]
    return plan.build("planes", np.repeat(range(4), 2).tolist()).replace(host_name=tuple(names))


def test_planes_are_no_fault() -> None:
    found = _named(_planes(4), "connectedness")
    assert found.status == Status.WARNING
    assert found.summary == (
        "no cable joins the 2 planes of the fabric, on which servers have adapters; hosts: 4, 4"
    )
    assert "--part" in found.remedy
    # Of one of two parts most servers are nowhere else: these are cut off.
    assert _named(_planes(1), "connectedness").status == Status.WRONG


def test_hosts_whose_descriptions_name_no_server() -> None:
    fabric = fat_tree(3, 4, 2)
    factory = "MT4123 ConnectX6   Mellanox Technologies"
    names = ("mlx5_0", *fabric.host_name[1:11], factory)
    found = _named(fabric.replace(host_name=names), "names")
    assert found.status == Status.WARNING
    assert found.summary == (
        "the descriptions of 2 hosts name no server: each adapter counts as one"
    )
    assert found.details == (
        'host "mlx5_0" on switch "switch 0" port 1',
        f'host "{factory}" on switch "switch 2" port 4',
    )
    assert "node_desc" in found.remedy


def test_ends_that_tell_different_rates_are_warned_of() -> None:
    text = 'switch "a" port 1 (4xHDR) -> switch "b" port 2 (4xEDR)'
    findings = (Finding("unequal rates", text, wrong=False),)
    fabric = fat_tree(3, 4, 2).replace(findings=findings)
    found = _named(fabric, "link speeds")
    assert found.status == Status.WARNING
    assert found.summary == ("the ends of 1 cable report different rates; the slower one counts")
    assert found.details == (text,)
    # It tells of no part that is left out.
    assert structure(fabric).left_out == ()


def test_some_rates_that_are_not_known_are_warned_of() -> None:
    fabric = fat_tree(3, 4, 2)
    some = fabric.replace(cable_rate=_changed(fabric.cable_rate, 0, 0))
    found = _named(some, "link speeds")
    assert found.status == Status.WARNING
    assert found.summary == "the rate of 1 link is unknown"
    none = fabric.replace(rates=("", "4x???"))
    assert _named(none, "link speeds").status == Status.NOT_CHECKED


def test_what_a_file_does_not_tell_is_not_checked() -> None:
    """Ethernet addresses and names are no GUIDs."""
    fabric = fat_tree(3, 4, 2)
    ethernet = fabric.replace(rates=("", "100GbE"))
    assert _named(fabric, "GUIDs").status == Status.OK
    assert _named(ethernet, "GUIDs").status == Status.NOT_CHECKED
    assert _named(ethernet, "LIDs").status == Status.NOT_CHECKED
    guids = fabric.host_guid + np.uint64(0x0002C90300000000)
    assert _named(ethernet.replace(host_guid=guids), "GUIDs").status == Status.OK


def test_what_a_silent_device_does_not_declare_is_one_sentence() -> None:
    none = "the other end declares no cable"
    silent = [f'switch "s{n}" port 9 -> switch "leaf 4" port {n}: {none}' for n in range(18)]
    mute = [f'switch "leaf 7" port {n} -> adapter "n{n}" port 1: {none}' for n in range(12)]
    findings = tuple(Finding("one-sided cable", text) for text in silent + mute)
    found = _named(fat_tree(3, 4, 2).replace(findings=findings), "cables")
    assert found.summary == "one-sided cable: 30"
    assert found.details == (
        'switch "leaf 4" declares none of the 18 cables that others declare to it',
        'switch "leaf 7" declares 12 cables that their other ends do not declare',
    )


def test_adapters_on_no_switch_are_warned_of() -> None:
    loose = Finding("unconnected adapter", "2 adapters on no switch are left out", wrong=False)
    found = _named(fat_tree(3, 4, 2).replace(findings=(loose,)), "cables")
    assert (found.status, found.summary) == (Status.WARNING, loose.message)
