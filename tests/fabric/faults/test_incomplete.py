"""Cables that similar pairs of switches have: named where one is taken away, and never else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from contend.fabric import (
    Check,
    Fabric,
    Status,
    cables_per_pair,
    check_soundness,
    missing_cables,
    switch_levels,
)
from contend.fabric import without as dead
from contend.fabric.faults.incomplete import absent_switches
from contend.fabric.generate.catalogue import make
from contend.routes import load
from small_fabrics import fat_tree, of_cables

REGULAR = [
    "xgft:2;18,36;1,18",
    "xgft:2;4,3;1,2",
    "xgft:3;4,4,4;1,4,4",
    "xgft:3;2,3,3;1,2,2;1,2,3",
    "kary:4,3",
    "fattree2:8",
    "fattree3:4",
    "clos:4,4,8",
    "director:288",
    "rails:2,4,2,4;2",
    "benes:8",
    "torus:4x4x4",
    "torus:3x3;2",
    "hypercube:4",
    "dragonfly:2,4,2",
    "hyperx:4x4",
    "slimfly:5",
    "random:20,4,2",
    "fig1",
    "chic",
    "atlas",
    "tara",
]
# The ends of a chain and the edges of a mesh have fewer cables by right, as have spare ports.
UNEVEN = ["mesh:4", "mesh:4;3", "mesh:2x9", "mesh:3x3x3", "ring:8", "dragonfly:2,4,2,8"]


def without(fabric: Fabric, cables: list[int]) -> Fabric:
    return of_cables(fabric, np.setdiff1d(np.arange(fabric.cables), cables))


def ends(fabric: Fabric, cable: int) -> set[int]:
    return {int(fabric.cable_from[cable]), int(fabric.cable_to[cable])}


def missing(fabric: Fabric) -> Check:
    return next(check for check in check_soundness(fabric) if check.name == "missing cables")


@pytest.mark.parametrize("spec", REGULAR)
def test_one_cable_that_is_taken_away_is_named(spec: str) -> None:
    fabric = make(spec)
    assert missing(fabric).status is Status.OK
    for cable in np.linspace(0, fabric.cables - 1, 6).astype(int).tolist():
        [pair] = missing_cables(without(fabric, [cable]))
        assert set(pair.switches) == ends(fabric, cable)
        assert pair.usual == pair.cables + 1


@pytest.mark.parametrize("spec", UNEVEN)
def test_networks_that_are_uneven_by_right_lack_nothing(spec: str) -> None:
    assert missing(make(spec)).status is Status.OK


def test_what_was_taken_away_at_random_and_nothing_else() -> None:
    fabric = make("xgft:2;18,36;1,18")
    cables = np.random.default_rng(1).choice(fabric.cables, 13, replace=False).tolist()
    found = missing_cables(without(fabric, cables))
    assert {frozenset(pair.switches) for pair in found} == {
        frozenset(ends(fabric, cable)) for cable in cables
    }


def test_two_cables_of_few_switches() -> None:
    """Of the eighteen bundles of six, two have one less: neither spine is like all others."""
    fabric = fat_tree(6, 4, 3, parallel=6)
    cables = [
        int(np.flatnonzero((fabric.cable_from == leaf) & (fabric.cable_to == spine))[0])
        for leaf, spine in ((4, 8), (1, 7))
    ]
    found = missing_cables(without(fabric, cables))
    assert [(pair.switches, pair.cables, pair.usual) for pair in found] == [
        ((1, 7), 5, 6),
        ((4, 8), 5, 6),
    ]


def test_cables_that_are_dealt_out_unevenly_are_not_missing() -> None:
    """Every leaf has five cables to four spines, two of them to a spine of its own choice."""
    fabric = fat_tree(4, 4, 4)
    more = fabric.replace(
        cable_from=np.append(fabric.cable_from, np.arange(4)),
        cable_from_port=np.append(fabric.cable_from_port, np.full(4, 9)),
        cable_to=np.append(fabric.cable_to, 4 + np.arange(4)),
        cable_to_port=np.append(fabric.cable_to_port, np.full(4, 9)),
        cable_rate=np.append(fabric.cable_rate, np.ones(4)),
        switch_ports=np.full(8, 16),
    )
    assert missing_cables(more) == ()


def test_as_many_uplinks_as_the_leaf_has_ports_are_enough() -> None:
    """Ten uplinks to six spines: four get two, two get one, other ones from every leaf."""
    fabric = fat_tree(6, 4, 6, parallel=2)
    spare = [
        int(np.flatnonzero((fabric.cable_from == leaf) & (fabric.cable_to == 6 + spine % 6))[1])
        for leaf in range(6)
        for spine in (leaf, leaf + 1)
    ]
    assert missing_cables(without(fabric, spare)) == ()


def test_a_cable_that_leads_elsewhere_is_not_missing() -> None:
    """Leaf 0 has two cables to the second spine and none to the first: it has as many as others."""
    fabric = fat_tree(6, 4, 4)
    to, port = fabric.cable_to.copy(), fabric.cable_to_port.copy()
    first = np.flatnonzero((fabric.cable_from == 0) & (to == 6))
    to[first], port[first] = 7, 7
    moved = fabric.replace(cable_to=to, cable_to_port=port, switch_ports=np.full(10, 8))
    assert missing_cables(moved) == ()


def test_the_check_names_both_ends_and_stays_sound() -> None:
    fabric = fat_tree(3, 4, 2, parallel=2)
    cable = int(np.flatnonzero((fabric.cable_from == 1) & (fabric.cable_to == 4))[0])
    found = missing(without(fabric, [cable]))
    assert found.status is Status.WARNING
    assert found.summary == "1 cable that similar pairs of switches have is missing"
    ports = int(fabric.cable_from_port[cable]), int(fabric.cable_to_port[cable])
    ends = f"switch 1:{ports[0]} - switch 4:{ports[1]}"
    assert found.details == (
        f'switch "switch 1" and switch "switch 4": 1 cable, where similar pairs have 2; {ends}',
    )
    assert missing(fabric).status is Status.OK


def test_many_cables_of_one_switch_are_one_line() -> None:
    fabric = make("xgft:2;18,36;1,18")
    spine = 40
    own = np.flatnonzero((fabric.cable_from == spine) | (fabric.cable_to == spine))
    other = int(np.flatnonzero((fabric.cable_from == 30) & (fabric.cable_to == 45))[0])
    found = missing(without(fabric, [*own[:8].tolist(), other]))
    assert found.summary == "9 cables that similar pairs of switches have are missing"
    label = fabric.switch_label
    assert len(found.details) == 2
    assert found.details[0].startswith(f'switch "{label[spine]}" lacks cables to "')
    assert found.details[0].endswith(" and 5 more")
    assert label[45] in found.details[1]


def test_an_absent_switch_is_no_flood() -> None:
    """Without one switch of the middle what it joined is not complained of cable by cable."""
    fabric = make("xgft:3;8,8,8;1,4,8")
    level_2 = 70
    cables = np.flatnonzero((fabric.cable_from == level_2) | (fabric.cable_to == level_2))
    assert len(missing(without(fabric, cables.tolist())).details) <= 10
    # All cables but two of it.
    assert len(missing(without(fabric, cables[2:].tolist())).details) <= 10


def test_more_than_ten_places_are_counted() -> None:
    fabric = make("xgft:2;18,36;1,18")
    cables = [
        int(np.flatnonzero((fabric.cable_from == leaf) & (fabric.cable_to == 36 + leaf))[0])
        for leaf in range(13)
    ]
    found = missing(without(fabric, cables))
    assert len(found.details) == 10
    assert found.details[-1] == "and 4 more pairs of switches"


@pytest.mark.parametrize(("name", "count"), [("compute", 29), ("storage", 9)])
def test_real_dumps_lack_some(shared_data: Path, name: str, count: int) -> None:
    fabric = load(str(shared_data / f"selene.{name}.ibnetdiscover.xz"))
    found = missing_cables(fabric)
    assert len(found) == count
    assert {pair.usual - pair.cables for pair in found} == {1}
    # Every uplink that leaves and spines have fewer than most is told of.
    level, (low, high, cables) = switch_levels(fabric), cables_per_pair(fabric)
    lower = np.where(level[low] < level[high], low, high)
    up = np.bincount(lower, cables, fabric.switches).astype(int)
    short = 0
    for at, full in ((1, 20 if name == "compute" else 16), (2, 14 if name == "compute" else 16)):
        here = up[(level == at) & (up > 0.8 * full)]
        short += int(np.maximum(full - here, 0).sum())
    assert count == short


UNIT = [f"unit 3 leaf {rail}" for rail in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("spec", "gone", "names", "ports"),
    [
        ("xgft:2;4,10;1,6", ["leaf 4"], '"leaf 4"', "port 4 of all 6"),
        ("xgft:2;4,5;1,4;1,2", ["top 2"], '"top 2"', "ports 7, 8 of all 5"),
        ("rails:4,4,4,8;1", UNIT, '"unit 3 leaf 1"', "ports 9, 10, 11, 12 of all 8"),
        # The first and the last of a series: of all, and of those above one plane of switches.
        ("clos:4,4,8", ["spine 1"], '"spine 1"', "port 5 of all 8"),
        ("xgft:2;4,5;1,4;1,2", ["top 4"], '"top 4"', "ports 11, 12 of all 5"),
        ("rails:2,4,2,8;1;4", ["core 4"], '"core 4"', "port 6 of all 8"),
        ("xgft:3;4,4,4;1,4,4", ["top 5"], '"top 5"', "port 5 of all 4"),
    ],
)
def test_whole_switches_that_are_missing_are_one_sentence(
    spec: str, gone: list[str], names: str, ports: str
) -> None:
    whole = make(spec)
    assert absent_switches(whole) == []
    rest = dead(whole, gone).fabric
    assert missing(rest).summary == "whole switches seem to be missing"
    [line] = missing(rest).details
    assert line.startswith(f"no switch is called {names}")
    assert f" {ports} switches like " in line
    assert absent_switches(rest.replace(switch_name=("s",) * rest.switches)) == []


def test_spare_ports_are_no_missing_switch() -> None:
    spines = make("clos:4,4,8")
    # With a port more than switches would lead to, or with a switch that bears the name elsewhere.
    wider = dead(spines, ["spine 4"]).fabric
    assert absent_switches(wider.replace(switch_ports=wider.switch_ports + 1)) == []
    names = tuple(name.replace("leaf 1", "spine 4") for name in wider.switch_name)
    assert absent_switches(wider.replace(switch_name=names)) == []
    # A series of two tells nothing.
    assert absent_switches(dead(make("clos:4,3,8"), ["spine 3"]).fabric) == []


def test_a_missing_cable_is_told_with_the_free_ports_at_both_ends() -> None:
    """Others show the ports: leaves join a spine by one port each, and spines a leaf."""
    for port in (5, 6, 8):
        whole = make("xgft:2;4,6;1,4")
        leaf = whole.switch_name.index("leaf 3")
        ends = [end if end[0] == leaf else end[2:] + end[:2] for end in whole.cable_ends()]
        [(far, far_port)] = [end[2:] for end in ends if end[:2] == (leaf, port)]
        less = dead(whole, [f"leaf 3:{port}"]).fabric
        [pair] = missing_cables(less)
        cable = f"leaf 3:{port} - {whole.switch_name[far]}:{far_port}"
        assert pair.ends(less) == [cable]
        [found] = [check for check in check_soundness(less) if check.name == "missing cables"]
        assert found.causes == (f"the cable {cable} is missing",)
        assert found.details[0].endswith(f"where similar pairs have 1; {cable}")
