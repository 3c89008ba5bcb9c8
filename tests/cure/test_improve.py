"""Which free ports to join: fabrics whose best cable can be worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import contend
from contend.congestion import simulate
from contend.cure import Improvement, extend, improve
from contend.cure.purpose import gain_of_repair
from contend.fabric import Fabric, build, with_cables, without
from contend.report import improvement_document
from contend.routes import compute, dependency_cycle
from small_fabrics import by_hand

MISSING = ("top 2:3",)


def _names(found: Improvement) -> list[tuple[str, str]]:
    return [cable.ends for addition in found.additions for cable in addition.cables]


def test_the_missing_cable_of_a_tree_is_found() -> None:
    whole = simulate(contend.load("xgft:2;4,6;1,4", route="contend"), "bisect", seed=1)
    # Several cables are missing, so that there is a choice; only two of the joined ports are free
    # with each leaf and top switch, whose cable it was.
    fabric = contend.load("xgft:2;4,6;1,4", without=["top 2:3", "top 4:5"])
    found = improve(fabric, cables=2)
    assert sorted(_names(found)) == [("leaf 3:6", "top 2:3"), ("leaf 5:8", "top 4:5")]
    # The tree is whole again, and gets what it got.
    assert found.after == whole.effective_bandwidth.mean
    assert found.gain == pytest.approx(whole.effective_bandwidth.mean - found.before)
    assert found.gain > found.margin > 0


def test_missing_cables_that_gain_only_together_are_not_bought_alone() -> None:
    # Either leaf without its cable makes every other leaf's messages to it wait.
    fabric = contend.load("xgft:2;4,6;1,4", without=["top 2:3", "top 4:5"])
    alone = improve(fabric, cables=1, pattern="alltoall")
    assert alone.additions == ()
    assert alone.missing == 2
    told = alone.verdict
    assert "the 2 cables that are missing may gain only together" in told
    both = improve(fabric, cables=2, pattern="alltoall")
    assert [len(each.cables) for each in both.additions] == [2]
    assert both.after == 1


def test_nobody_can_do_better_on_a_ring() -> None:
    # Six switches, a host on each: all outcomes are counted, so what is best is known.
    fabric = contend.load("ring:6")
    wide = fabric.replace(switch_ports=fabric.switch_ports + np.uint16(1))
    found = improve(wide, cables=1)
    best = 0.0
    for pair in combinations(range(6), 2):
        more = compute(with_cables(wide, [pair])[0], "contend")
        best = max(best, simulate(more, "bisect", seed=1).effective_bandwidth.mean)
    assert found.simulation_before.exhaustive
    assert found.margin == 0
    assert best > found.before
    assert found.after == pytest.approx(best, abs=1e-12)
    assert dependency_cycle(found.fabric)[1] == ()


def test_hosts_behind_the_narrowest_cable_get_another_one() -> None:
    # Three switches in a row with 1, 4 and 4 hosts: between the larger two four messages may cross
    # one cable, so that is where the new one belongs.
    row = by_hand(
        "row",
        [["h0"], ["h1", "h2", "h3", "h4"], ["h5", "h6", "h7", "h8"]],
        [(0, 5, 1, 5), (1, 6, 2, 5)],
        switches=["a", "b", "c"],
        ports=8,
    )
    found = improve(row, cables=1)
    assert _names(found) == [("b:7", "c:6")]
    assert found.additions[0].sure


def _with_spare_switch(leaves: int) -> Fabric:
    """A tree of two levels whose second top switch has no cables."""
    cables = [[leaf, 5, leaves, leaf + 1] for leaf in range(leaves)]
    return build(
        "spare",
        host_name=[f"h{number}" for number in range(4 * leaves)],
        host_switch=np.repeat(np.arange(leaves), 4),
        host_port=np.tile([1, 2, 3, 4], leaves),
        switch_name=[*(f"leaf {leaf}" for leaf in range(leaves)), "top", "spare"],
        # No port of the other top switch is free: one cable alone leads nowhere.
        switch_ports=np.array([6] * leaves + [leaves, leaves]),
        cables=np.array(cables),
    )


def test_a_spare_switch_is_joined_to_all_leaves_at_once() -> None:
    found = improve(_with_spare_switch(4), cables=4)
    assert len(found.additions) == 1
    assert _names(found) == [(f"leaf {leaf}:6", f"spare:{leaf + 1}") for leaf in range(4)]
    assert found.additions[0].sure
    # As if it had been there from the beginning.
    twice = contend.load("xgft:2;4,4;1,2", route="contend")
    assert found.after == pytest.approx(
        simulate(twice, "bisect", seed=1).effective_bandwidth.mean, abs=0.003
    )


def test_nothing_is_free() -> None:
    found = improve(contend.load("xgft:2;4,6;1,4"), cables=3)
    assert (found.free_ports, found.additions, found.gain, found.margin) == (0, (), 0, 0)
    assert found.simulation_after is found.simulation_before
    assert found.verdict.startswith("No cable helps: no two ports are free; random pairs get ")


def test_places_of_hosts_are_left_free() -> None:
    """The port of a host that is gone joins its leaf to no spine: a host belongs there."""
    fabric = without(contend.load("xgft:2;4,3;1,2"), ["host 3"]).fabric
    tops = np.where(np.arange(fabric.switches) < 3, fabric.switch_ports, 8).astype(np.uint16)
    found = improve(fabric.replace(switch_ports=tops), cables=1)
    assert (found.host_places, found.additions) == (1, ())
    wide = improve(fabric, cables=1, ports=8)
    assert wide.host_places == 1
    assert all(end not in ("leaf 1:3",) for pair in _names(wide) for end in pair)


def test_what_no_cable_can_better_is_left_alone() -> None:
    # Each leaf has a cable for every host and messages of a shift never meet.
    fabric = contend.load("xgft:2;2,4;1,2")
    wide = fabric.replace(switch_ports=fabric.switch_ports + np.uint16(1))
    found = improve(wide, cables=2, pattern="shift:2", placement="linear")
    assert found.before == 1
    assert found.additions == ()


def test_a_pattern_gets_the_cable_that_it_needs() -> None:
    # Only neighbours three switches on talk to each other.
    fabric = contend.load("ring:6")
    wide = fabric.replace(switch_ports=fabric.switch_ports + np.uint16(1))
    found = improve(wide, cables=3, pattern="shift:3", placement="linear")
    assert found.after == 1
    assert {(near[-3:-2], far[-3:-2]) for near, far in _names(found)} <= {
        ("0", "3"),
        ("1", "4"),
        ("2", "5"),
        ("3", "0"),
    }


def test_any_engine_and_any_number_of_threads() -> None:
    fabric = contend.load("xgft:2;4,6;1,4", without=MISSING)
    frames = []
    for engine, threads in (("minhop", 1), ("minhop", 3), ("ecmp", 2)):
        found = improve(fabric, cables=1, engine=engine, threads=threads)
        assert _names(found) == [("leaf 3:6", "top 2:3")]
        frames.append(found.to_frame())
    assert frames[0].equals(frames[1])


def _on_rails() -> Fabric:
    """Three units of four servers with four rails; one server's rails 2 and 3 are swapped."""
    whole = contend.load("rails:3,4,4,16;1,1;4")
    host_of = {name: number for number, name in enumerate(whole.host_name)}
    columns = {}
    for name in ("host_switch", "host_port"):
        column = getattr(whole, name).copy()
        one, other = host_of["server 6 rail 2"], host_of["server 6 rail 3"]
        column[[one, other]] = column[[other, one]]
        columns[name] = column
    wide = np.full(whole.switches, 16, dtype=np.uint16)
    return whole.replace(**columns, switch_ports=wide)


# By the generator's rule: spine n is on port 4 + n of each leaf, unit u on port u of each spine.
GONE = (("unit 2 leaf 4:6", "rail 4 spine 2:2"), ("rail 1 spine 3:5", "core 2:3"))


def test_missing_cables_come_first_on_the_ports_that_others_have_for_them() -> None:
    fabric = without(_on_rails(), [near for near, _ in GONE]).fabric
    found = improve(fabric, cables=2)
    assert sorted(_names(found)) == sorted(GONE)
    assert found.missing == 2
    assert all(addition.missing for addition in found.additions)
    # What GPUs do counts. The others of a rail send 8 or 9 messages to each host of a leaf, and 11
    # is what a port takes: of four hosts two share a cable.
    assert found.pattern == "4 * alltoall"
    by_name = {each.name: (each.before, each.after) for each in found.collectives}
    assert by_name["all-to-all with PXN, within rails"] == pytest.approx(
        (found.before, found.after)
    )
    assert found.before == pytest.approx(11 / 16)
    assert found.after == pytest.approx(11 / 12)


@pytest.mark.parametrize("pattern", [None, "bisect"])
def test_no_cable_crosses_rails(pattern: str | None) -> None:
    # All 16 ports are more than any switch needs: there would be cables to everywhere.
    fabric = without(_on_rails(), [near for near, _ in GONE]).fabric
    found = improve(fabric, cables=8, pattern=pattern)
    rail = {**{f"unit {u} leaf {r}": r for u in (1, 2, 3) for r in (1, 2, 3, 4)}}
    rail |= {f"rail {r} spine {n}": r for r in (1, 2, 3, 4) for n in (1, 2, 3, 4)}
    for ends in _names(found):
        rails = {rail[name] for end in ends for name in [end.rpartition(":")[0]] if name in rail}
        assert len(rails) == 1


def test_a_leaf_with_few_hosts_gets_no_cable() -> None:
    # Six leaves of four hosts with two cables up, and one for management with a host and a cable.
    cables = [[leaf, 5 + top, 7 + top, leaf + 1] for leaf in range(6) for top in (0, 1)]
    fabric = build(
        "managed",
        host_name=[f"h{number}" for number in range(25)],
        host_switch=np.append(np.repeat(np.arange(6), 4), 6),
        host_port=np.append(np.tile([1, 2, 3, 4], 6), 1),
        switch_name=[*(f"leaf {leaf}" for leaf in range(6)), "management", "top 1", "top 2"],
        switch_ports=12,
        cables=np.array([*cables, [6, 5, 7, 12]]),
    )
    found = improve(fabric, cables=3)
    assert found.cables > 0
    assert not any("management" in end for ends in _names(found) for end in ends)


def test_a_row_of_cables_is_bought_where_one_alone_gains_nothing() -> None:
    # Four hosts on a leaf share two cables up, and everybody waits for the fullest of all leaves.
    fabric = contend.load("xgft:2;4,3;1,2")
    wide = fabric.replace(switch_ports=np.full(fabric.switches, 12, dtype=np.uint16))
    found = improve(wide, cables=6, pattern="alltoall", placement="linear")
    # Eight messages come to each of two hosts by the same cable: 16, where a port takes 11. With
    # three cables two of four hosts still share one, with four none.
    assert found.before == pytest.approx(11 / 16)
    assert [len(addition.cables) for addition in found.additions] == [6]
    assert found.additions[0].gain_of_each == pytest.approx((1 - 11 / 16) / 6)
    assert found.after == 1


def test_all_to_alls_are_judged_by_what_each_host_gets() -> None:
    fabric = contend.load("xgft:2;4,6;1,4", without=MISSING)
    found = improve(fabric, cables=1, pattern="alltoall", placement="linear")
    assert _names(found) == [("leaf 3:6", "top 2:3")]
    # The routes send what leaf 3 has for ten hosts by one of three cables: 40 messages, of 23.
    assert found.before == pytest.approx(23 / 40)
    assert found.after == 1
    # Nothing is drawn.
    assert found.margin == 0


def test_tables_that_were_made_for_the_traffic_say_so() -> None:
    """contend's tables for no traffic in particular, as predict has them, bear its name alone."""
    fabric = contend.load("torus:4x4", route="contend")
    found = improve(fabric, cables=1, pattern="shift:5", placement="linear")
    even = simulate(fabric, "shift:5", placement="linear", seed=1)
    assert found.before > even.judged_share
    assert even.engine == "contend"
    assert found.simulation_before.engine == "contend, made for the traffic"
    told = " ".join(str(table) for table in improvement_document(found).tables)
    assert "routes by contend, made for the traffic" in told


def _on_ethernet() -> Fabric:
    """Six leaves of four hosts below four spines, of which a cable is missing."""
    fabric = contend.load("xgft:2;4,6;1,4", without=MISSING)
    return fabric.replace(
        rates=("", "100GbE"),
        cable_rate=np.ones_like(fabric.cable_rate),
        host_rate=np.ones_like(fabric.host_rate),
    )


def test_ethernet_is_judged_by_what_its_switches_do() -> None:
    """They hash, and take no tables: nothing else is promised where no engine is named."""
    fabric = _on_ethernet()
    found = improve(fabric, cables=1)
    assert found.engine == "ecmp"
    hashed = simulate(compute(fabric, "ecmp"), "bisect", seed=1, samples=found.samples)
    assert found.before == hashed.judged_share
    assert gain_of_repair(fabric).engine == "ecmp"
    assert extend(fabric, units=1, ports=16).engine == "ecmp"
    assert improve(fabric, cables=1, engine="minhop").engine == "minhop"


def test_all_that_is_to_be_tried_is_told_before_the_fabric_is_routed() -> None:
    """Tables once, and once more with the cable that is missing: nothing else is looked for."""
    calls: list[tuple[int, int]] = []
    fabric = contend.load("xgft:2;4,6;1,4", without=MISSING)
    improve(fabric, cables=1, progress=lambda *call: calls.append(call))
    assert calls == [(0, 2), (1, 2), (2, 2), (2, 2)]
    # Where no two switches have a free port, many cables are as quickly found as none.
    calls.clear()
    improve(contend.load("torus:4x4"), cables=40, progress=lambda *call: calls.append(call))
    assert max(whole for _, whole in calls) == calls[0][1] < 10


def test_kinds_of_cables_count_by_what_they_take() -> None:
    """The first figure holds what comes: a look for pairs, few entries, and all tables."""
    calls: list[tuple[int, int]] = []
    fabric = contend.load("xgft:2;4,3;1,2")
    wide = fabric.replace(switch_ports=np.full(fabric.switches, 12, dtype=np.uint16))
    found = improve(wide, cables=2, progress=lambda *call: calls.append(call))
    done, whole = zip(*calls, strict=True)
    assert done[0] == 0
    assert list(done) == sorted(done)
    assert whole[0] >= done[-1] == whole[-1]
    # Not every kind takes as long as the tables themselves.
    assert 1 + found.tried > done[-1]


def test_what_a_repair_gains_is_what_the_network_as_it_was_planned_gets() -> None:
    planned = contend.load("rails:3,4,4,16;1,1;4")
    damaged = without(_on_rails(), [near for near, _ in GONE]).fabric
    found = gain_of_repair(damaged)
    assert (found.cables, found.adapters, found.engine) == (2, 2, "contend")
    # Both states have the tables that improve finds best for the network as it was planned.
    assert {one.name: one.after for one in found.figures} == {
        one.name: one.before for one in improve(planned, cables=1).collectives
    }
    by_name = {one.name: one for one in found.figures}
    within = by_name["all-to-all with PXN, within rails"]
    assert within.before < within.after
    assert within.before_Bps is not None
    assert within.after_Bps == pytest.approx(within.before_Bps * within.after / within.before)
    assert gain_of_repair(planned) is None


def test_a_missing_cable_costs_an_all_to_all_what_the_others_carry_more() -> None:
    """Four hosts share the leaf's three cables: two have 20 messages each on one; a port has 23."""
    fabric = contend.load("xgft:2;4,6;1,4", without=MISSING)
    found = gain_of_repair(fabric)
    by_name = {one.name: (one.before, one.after) for one in found.figures}
    assert by_name["all-to-all"] == (23 / 40, 1)
    assert by_name["random pairs"][0] < by_name["random pairs"][1]
    assert {one.in_use for one in found.figures} == {None}


def test_a_repair_is_told_beside_the_tables_in_use() -> None:
    """Both states are routed anew, and what is gained by that is no gain of the cables."""
    fabric = contend.load("xgft:2;4,6;1,4", without=MISSING, route="updn")
    assert fabric.routes is not None
    found = gain_of_repair(fabric.replace(routes=replace(fabric.routes, engine="a file's")))
    assert found.engine == "contend"
    by_name = {one.name: one for one in found.figures}
    for name, pattern in (("all-to-all", "alltoall"), ("random pairs", "bisect")):
        assert by_name[name].in_use == contend.simulate(fabric, pattern).judged_share
    assert by_name["random pairs"].in_use < by_name["random pairs"].before
