"""Which free ports to join: fabrics whose best cable can be worked out by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import contend
from contend.congestion import simulate
from contend.cure import Improvement, improve
from contend.fabric import Fabric, build, with_cables
from contend.routes import compute, dependency_cycle

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
    hosts = np.repeat([0, 1, 2], [1, 4, 4])
    row = build(
        "row",
        host_name=[f"h{number}" for number in range(9)],
        host_switch=hosts,
        host_port=np.array([1, 1, 2, 3, 4, 1, 2, 3, 4]),
        switch_name=["a", "b", "c"],
        switch_ports=8,
        cables=np.array([[0, 5, 1, 5], [1, 6, 2, 5]]),
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
