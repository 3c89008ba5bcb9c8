"""Routes that a formula gives are those of the tables that they stand for, channel by channel."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from contend import _core
from contend.congestion import simulate
from contend.fabric import Fabric, make, without
from contend.routes import Ways, compute, make_resolver
from contend.traffic.pattern import parse
from counting import pairs_of
from small_fabrics import shuffled

TREES = [
    "crossbar:8",
    "clos:4,3,5",
    "tara",
    "kary:2,8",
    "kary:4,3",
    "director:288",
    "fattree2:36;24,12",
    "fattree3:16",
    "fattree3:26",
    "fattree3:12;6,4",
    "rails:2,32,8,8;4",
    "xgft:2;18,36;1,18",
    "xgft:2;1,7;1,3",
    "xgft:3;4,3,5;1,4,3;1,1,2",
    "xgft:4;2,3,2,4;1,3,2,2;1,2,1,2",
    # Leaves in another order than the switches above them.
    "rails:4,3,2,8;1;8,4",
    "rails:6,2,4,8;2,3;6,1,2",
]

# Planes share parents: all spines of a rail, or those of a group.
SHARED_TREES = [
    "rails:2,4,2,4;1;3",
    "rails:4,3,2,8;2;4",
    "rails:5,3,3,18;1,2;4,2",
    "rails:6,5,2,24;2,3;6,3,2",
]


def crossed(fabric: Fabric) -> NDArray[np.int64]:
    """The channels of many routes, in their order, with -1 behind them; shape [routes, longest]."""
    resolver = make_resolver(fabric, np.arange(fabric.hosts, dtype=np.uint32))
    rows = resolver.routes(*pairs_of(fabric.hosts), 0)
    # Padding may stand between the channels of a route.
    rows = np.where(rows < resolver.switch_channels, rows.astype(np.int64), -1)
    ordered = np.take_along_axis(rows, np.argsort(rows < 0, axis=1, kind="stable"), axis=1)
    return ordered[:, (ordered >= 0).any(axis=0)]


def by_tables(routed: Fabric) -> Fabric:
    """The same with the tables in place of the formula."""
    assert routed.tables is not None
    assert routed.tables is not routed.routes
    return routed.replace(routes=routed.tables)


@pytest.mark.parametrize("engine", ["minhop", "dmodk", "fig1"])
@pytest.mark.parametrize("spec", TREES)
def test_routes_cross_the_channels_that_tables_give(spec: str, engine: str) -> None:
    routed = compute(make(spec), engine)
    assert_array_equal(crossed(routed), crossed(by_tables(routed)))


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_on_any_rails_with_core_switches(data: st.DataObject) -> None:
    blocks, in_block, rails = (data.draw(st.integers(low, 3)) for low in (1, 2, 2))
    groups, share, cores = (data.draw(st.integers(1, 3)) for _ in range(3))
    links, up = (data.draw(st.integers(1, 3)) for _ in range(2))
    spines = blocks * rails * groups * share
    above = f"{links},{up};{cores * groups},{groups},{blocks}"
    fabric = make(f"rails:{blocks * in_block},3,{rails},{spines};{above}")
    # All but the first host of a leaf may be missing.
    some = [name for name, port in zip(fabric.host_name, fabric.host_port, strict=True) if port > 1]
    fabric = without(fabric, data.draw(st.sets(st.sampled_from(some)))).fabric
    draws = np.random.default_rng(data.draw(st.integers(0, 9)))
    order = draws.permutation(fabric.hosts)
    fabric = fabric.replace(
        host_switch=fabric.host_switch[order],
        host_port=fabric.host_port[order],
        switch_guid=draws.permutation(fabric.switch_guid),
    )
    for engine in ("minhop", "dmodk") if share == 1 else ("minhop",):
        routed = compute(fabric, engine)
        assert_array_equal(crossed(routed), crossed(by_tables(routed)))


@pytest.mark.parametrize("spec", [TREES[-1], SHARED_TREES[-1]])
@pytest.mark.parametrize("cables", [(0, 1), (0, 40), (-2, -1), (-40, -1)])
def test_rails_with_ends_of_two_cables_exchanged_are_no_tree(
    spec: str, cables: tuple[int, int]
) -> None:
    fabric = make(spec)
    ends = {name: getattr(fabric, name).copy() for name in ("cable_to", "cable_to_port")}
    for column in ends.values():
        column[list(cables)] = column[list(reversed(cables))]
    assert _core.find_complete_tree(fabric.replace(**ends).core) is None


@pytest.mark.parametrize("spec", SHARED_TREES)
def test_routes_are_those_of_tables_where_planes_share_parents(spec: str) -> None:
    fabric = make(spec)
    routed = compute(fabric, "minhop")
    assert_array_equal(crossed(routed), crossed(by_tables(routed)))
    by_number = compute(fabric, "dmodk")
    assert by_number.tables is by_number.routes


def drawn_tree(data: st.DataObject) -> Fabric:
    """A tree of any shape, with or without hosts of its leaves, hosts and GUIDs in any order."""
    height = data.draw(st.integers(1, 4))
    levels = [
        (data.draw(st.integers(2, 5)), data.draw(st.integers(1, 4)), data.draw(st.integers(1, 3)))
        for _ in range(height)
    ]
    levels[0] = (levels[0][0], 1, 1)
    groups = (",".join(map(str, numbers)) for numbers in zip(*levels, strict=True))
    fabric = make(f"xgft:{height};{';'.join(groups)}")
    if data.draw(st.booleans()):
        # All but the first host of a leaf may be missing.
        some = [name for host, name in enumerate(fabric.host_name) if host % levels[0][0]]
        fabric = without(fabric, data.draw(st.sets(st.sampled_from(some)))).fabric
    return shuffled(fabric, data.draw(st.integers(0, 9)))


@pytest.mark.parametrize("engine", ["minhop", "dmodk"])
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_on_any_tree(data: st.DataObject, engine: str) -> None:
    routed = compute(drawn_tree(data), engine)
    assert_array_equal(crossed(routed), crossed(by_tables(routed)))


@pytest.mark.parametrize("levels", [1, 2, 3])
@pytest.mark.parametrize(
    "spec",
    ["xgft:3;4,3,2;1,2,3", "kary:4,3", "clos:4,3,5", "rails:4,3,2,8;1;8,4", *SHARED_TREES],
)
def test_up_and_down_from_all_switches_of_the_highest_levels_goes_by_the_same_turns(
    spec: str, levels: int, tmp_path: Path
) -> None:
    fabric = make(spec)
    tree = _core.find_complete_tree(fabric.core)
    lowest = tree.level_first().tolist()[-levels:][0]
    roots = tmp_path / "roots.txt"
    roots.write_text("".join(f"{name}\n" for name in fabric.switch_label[lowest:]))
    routed = compute(fabric, f"updn,roots={roots}")
    tabled = crossed(by_tables(routed))
    assert_array_equal(crossed(routed), tabled)
    assert_array_equal(crossed(compute(fabric, "minhop")), tabled)
    # With one of them alone, routes keep to it.
    roots.write_text(fabric.switch_label[-1])
    alone = compute(fabric, f"updn,roots={roots}")
    assert alone.tables is alone.routes


@pytest.mark.parametrize(
    "altered",
    [["leaf 1:5"], ["top 3"], ["leaf 2"], ["host 1", "host 2", "host 3", "host 4"]],
    ids=["a cable", "a spine", "a leaf", "all hosts of a leaf"],
)
def test_what_is_missing_makes_it_a_matter_of_tables(altered: list[str]) -> None:
    rest = without(make("xgft:3;4,3,2;1,2,3"), altered).fabric
    routed = compute(rest, "dmodk")
    assert routed.tables is routed.routes


@pytest.mark.parametrize("pattern", ["bisect", "alltoall", "shift:5", "alltoall:4,between"])
@pytest.mark.parametrize(
    ("engine", "spec"),
    # Hosts of a leaf go round all cables up, or end in between.
    [
        ("dmodk", "fattree3:8"),
        ("minhop", "fattree3:8"),
        ("minhop", "xgft:3;4,3,5;1,4,3;1,1,2"),
        ("dmodk", "rails:6,2,4,8;2,3;6,1,2"),
        ("minhop", "rails:6,5,2,24;2,3;6,3,2"),
    ],
)
def test_simulations_count_the_same(pattern: str, engine: str, spec: str) -> None:
    routed = compute(make(spec), engine)
    computed, tabled = (
        simulate(fabric, pattern, samples=5, seed=3) for fabric in (routed, by_tables(routed))
    )
    assert computed.bandwidth.tolist() == tabled.bandwidth.tolist()
    assert computed.channel_load.tolist() == tabled.channel_load.tolist()
    assert computed.histogram.tolist() == tabled.histogram.tolist()


@pytest.mark.parametrize("engine", ["minhop", "dmodk"])
@pytest.mark.parametrize("spec", ["fattree3:8", "fattree3:8;3,3"])
def test_some_hosts_of_a_pod_need_no_channels_to_the_top(spec: str, engine: str) -> None:
    routed = compute(make(spec), engine)
    for hosts, channels in (([0, 5, 9], 2), ([0, 1, 2], 2), ([0, 64, 5], 4), ([7], 2)):
        some = np.array(hosts, dtype=np.uint32)
        computed, tabled = (make_resolver(fabric, some) for fabric in (routed, by_tables(routed)))
        assert computed.stride == tabled.stride == channels
        pairs = pairs_of(len(hosts))
        rows = computed.routes(*pairs, 0), tabled.routes(*pairs, 0)
        assert [sorted(row[row < computed.switch_channels]) for row in rows[0]] == [
            sorted(row[row < computed.switch_channels]) for row in rows[1]
        ]


@pytest.mark.parametrize(
    ("spec", "engine"),
    [
        *(("xgft:3;4,3,2;1,2,3", engine) for engine in ("minhop", "dmodk", "ecmp,flows=3")),
        ("torus:13x13x13", "dor"),
    ],
)
def test_another_process_gets_the_formula(spec: str, engine: str) -> None:
    routed = compute(make(spec), engine)
    there = pickle.loads(pickle.dumps(routed))
    counted = [simulate(fabric, samples=2).channel_load.tolist() for fabric in (routed, there)]
    assert counted[0] == counted[1]
    assert "tables" not in vars(there.routes)


@pytest.mark.parametrize("options", [(1, False), (3, True)], ids=["one flow", "flows alike"])
@pytest.mark.parametrize("spec", [*TREES, *SHARED_TREES])
def test_hashes_choose_the_channels_that_they_chose_in_sets(
    spec: str, options: tuple[int, bool]
) -> None:
    core = make(spec).core
    tree = _core.find_complete_tree(core)
    assert tree is not None
    for count in (core.hosts, 5):
        hosts = np.arange(count, dtype=np.uint32)
        pairs = pairs_of(count)
        computed = _core.hashed_resolver(core, hosts, tree, *options)
        sets = _core.hashed_resolver(core, hosts, None, *options)
        for draw in (0, 3):
            assert_array_equal(computed.routes(*pairs, draw), sets.routes(*pairs, draw))


@pytest.mark.parametrize("rated", [False, True], ids=["links alike", "rates"])
@pytest.mark.parametrize("spec", [*TREES, *SHARED_TREES])
def test_sprayed_messages_spread_as_over_ways_one_by_one(spec: str, rated: bool) -> None:
    core = make(spec).core
    tree = _core.find_complete_tree(core)
    assert tree is not None
    hosts = np.arange(core.hosts, dtype=np.uint32)[:600]
    channels = 2 * (core.cables + len(hosts))
    rates = np.random.default_rng(4).choice([1e9, 3e9], channels if rated else 0)
    computed, listed = (
        _core.simulate(
            *(resolver, parse("bisect", len(hosts)).core, _core.Seating(hosts, 1, False)),
            *(_core.Samples(1, 0, 20, False), 1, rates),
        )
        for resolver in (
            _core.sprayed_resolver(core, hosts, tree, np.zeros(0, np.uint32)),
            _core.sprayed_resolver(core, hosts, None, np.zeros(0, np.uint32)),
        )
    )
    # A thousandth of a message may be rounded either way, in each of the rounds.
    assert_allclose(computed["channel_messages"], listed["channel_messages"], atol=20)
    names = ("bandwidth", "max_congestion", *(("share", "max_slowdown") if rated else ()))
    for name in names:
        assert_allclose(computed[name], listed[name], rtol=2e-3)


def test_what_asks_for_sprayed_ways_of_many_hosts_gets_them() -> None:
    # 2,592 leaves and 4,212 switches: their product is above the limit from which a formula counts.
    fabric = compute(make("xgft:3;1,36,72;1,18,18"), "spray")
    hosts = np.array([0, 1, 36, 2591], dtype=np.uint32)
    assert fabric.hosts == 2592
    resolver = make_resolver(fabric, np.arange(fabric.hosts, dtype=np.uint32), follows=Ways.SPLIT)
    assert resolver.splits
    channels, part = resolver.parts(hosts[:-1], hosts[1:])
    # Up and down by every spine of a pod, and through all switches on top.
    assert [sorted(set(row[row > 0].tolist())) for row in part] == [
        [pytest.approx(1 / 18)],
        [pytest.approx(1 / 324), pytest.approx(1 / 18)],
        [pytest.approx(1 / 324), pytest.approx(1 / 18)],
    ]
    assert channels.shape == part.shape == (3, 2 * 18 + 2 * 324)


@pytest.mark.parametrize("engine", ["minhop", "dmodk"])
def test_another_fabric_with_these_routes_goes_by_their_tables(engine: str) -> None:
    routed = compute(make("xgft:2;4,6;1,4"), engine)
    swapped = routed.replace(cable_from_port=routed.cable_from_port[::-1].copy())
    assert_array_equal(crossed(swapped), crossed(swapped.replace(routes=routed.tables)))
