"""Ways on grids and dragonflies that a formula gives are those of tables and sets of channels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from contend import _core
from contend.congestion import simulate
from contend.fabric import Fabric, make, without
from contend.routes import ForwardingTables, Ways, compute, make_resolver
from contend.routes.addresses import targets_of, with_addresses
from contend.traffic.pattern import parse
from counting import pairs_of
from small_fabrics import shuffled

# Sides that are odd, even and of two; one dimension and several; parallel cables.
GRIDS = [
    "torus:4x4x4;2",
    "torus:5x3x2",
    "torus:6x2x3x4",
    "torus:3x1x3",
    "torus:2x2",
    "mesh:3x4x2;3",
    "mesh:9",
    "ring:9",
    "ring:8;3",
    "ring:3",
    "ring:2;4",
    "hypercube:1",
    "hypercube:2",
    "hypercube:6",
    "hyperx:3",
    "hyperx:2;2;3",
    "hyperx:3;2;3",
    "hyperx:4x3x2;2;1,2,3",
    "hyperx:8x8;8;2",
]

# With one global cable between two groups or several, most groups, one of one switch, one alone.
DRAGONFLIES = [
    "dragonfly:2,4,2",
    "dragonfly:3,6,3,11",
    "dragonfly:1,8,4,12",
    "dragonfly:2,5,3,6",
    "dragonfly:1,4,5,9",
    "dragonfly:3,1,5,3",
    "dragonfly:2,7,1,8",
    "dragonfly:2,6,2,2",
    "dragonfly:2,9,1,1",
]

# Of 2,064 switches.
LARGE = "dragonfly:1,16,8"

# Those of dragonflies are told by cables, or by groups.
SPRAYED = [(spec, False) for spec in (*GRIDS, *DRAGONFLIES)] + [(s, True) for s in DRAGONFLIES]


def shape_of(fabric: Fabric) -> _core.Grid | _core.Dragonfly:
    """What the fabric was made as."""
    find = _core.find_dragonfly if "dragonfly" in fabric.name else _core.find_grid
    found = find(fabric.core)
    assert found is not None
    return found


def everybody(fabric: Fabric, step: int = 1) -> NDArray[np.uint32]:
    """All hosts, or every so many."""
    return np.arange(0, fabric.hosts, step, dtype=np.uint32)


def in_order(
    resolver: _core.Resolver, pairs: tuple[NDArray[np.uint32], NDArray[np.uint32]], draw: int
) -> NDArray[np.int64]:
    """The channels of every flow in their order, with -1 behind them; shape [flows, longest]."""
    rows = resolver.routes(*pairs, draw).astype(np.int64)
    flows = rows.reshape(-1, rows.shape[1] // resolver.unit)
    flows = np.where(flows < resolver.switch_channels, flows, -1)
    return flows[:, (flows >= 0).any(axis=0)]


def expect_hashes(fabric: Fabric, hosts: NDArray[np.uint32]) -> None:
    """Compares the channels of drawn routes with those from sets of channels."""
    pairs = pairs_of(len(hosts))
    for flows, alike in ((1, False), (3, True)):
        computed, sets = (
            _core.hashed_resolver(fabric.core, hosts, found, flows, alike)
            for found in (shape_of(fabric), None)
        )
        for draw in (0, 3):
            assert_array_equal(*(in_order(each, pairs, draw) for each in (computed, sets)))


def sprayed(
    fabric: Fabric, hosts: NDArray[np.uint32], *, by_groups: bool = False
) -> tuple[_core.Resolver, _core.Resolver]:
    """Sprayed ways: computed, and from sets of channels."""
    found, group = shape_of(fabric), np.zeros(0, np.uint32)
    if by_groups:
        group = np.arange(fabric.switches, dtype=np.uint32) // found.switches
    computed, sets = (
        _core.sprayed_resolver(fabric.core, hosts, shape, group) for shape in (found, None)
    )
    return computed, sets


def expect_dimension_order(fabric: Fabric, hosts: NDArray[np.uint32]) -> None:
    """Compares the channels of the engine dor with those of its tables."""
    fabric = with_addresses(fabric)
    targets, grid = targets_of(fabric), shape_of(fabric)
    computed = _core.dimension_order_resolver(fabric.core, hosts, grid, targets)
    tables = ForwardingTables(_core.dimension_order(fabric.core, targets))
    stored = tables.resolver(fabric, hosts, spread=False, messages=1e9)
    pairs = pairs_of(len(hosts))
    assert_array_equal(*(in_order(each, pairs, 0) for each in (computed, stored)))


def expect_parts(computed: _core.Resolver, sets: _core.Resolver) -> None:
    """Compares the channels and parts of sprayed messages with those from sets of channels."""
    pairs = pairs_of(computed.places)
    ordered = []
    for resolver in (computed, sets):
        channels, parts = resolver.parts(*pairs)
        order = np.argsort(channels, axis=1)
        ordered.append([np.take_along_axis(each, order, 1) for each in (channels, parts)])
        assert resolver.crossed <= channels.shape[1]
    assert_array_equal(ordered[0][0], ordered[1][0])
    assert_allclose(ordered[0][1], ordered[1][1], rtol=1e-12)


def expect_counts(
    fabric: Fabric, computed: _core.Resolver, sets: _core.Resolver, *, rated: bool
) -> None:
    """Compares what sprayed messages of all hosts put on channels, and what they get.

    Args:
        fabric: of the resolvers.
        computed: by the formula.
        sets: from sets of channels.
        rated: whether links differ.
    """
    hosts = everybody(fabric)
    channels = 2 * (fabric.cables + len(hosts))
    rates = np.random.default_rng(4).choice([1e9, 3e9], channels if rated else 0)
    for pattern in ("bisect", "alltoall", "uniform"):
        by_formula, by_sets, together = (
            _core.simulate(
                *(resolver, parse(pattern, len(hosts)).core, _core.Seating(hosts, 1, False)),
                *(_core.Samples(1, 0, 5, False), threads, rates),
            )
            for resolver, threads in ((computed, 1), (sets, 1), (computed, 2))
        )
        for name in ("channel_messages", "bandwidth", "max_congestion", "share", "max_slowdown"):
            assert_allclose(by_formula[name], by_sets[name], rtol=1e-11)
            assert_array_equal(by_formula[name], together[name])


@pytest.mark.parametrize("spec", GRIDS)
def test_dimension_order_is_that_of_tables(spec: str) -> None:
    fabric = make(spec)
    for step in (1, 5):
        expect_dimension_order(fabric, everybody(fabric, step))


@pytest.mark.parametrize("spec", [*GRIDS, *DRAGONFLIES])
def test_hashes_choose_what_they_chose_in_sets(spec: str) -> None:
    fabric = make(spec)
    for step in (1, 5):
        expect_hashes(fabric, everybody(fabric, step))


@pytest.mark.parametrize(("spec", "by_groups"), SPRAYED)
def test_sprayed_messages_split_as_in_sets(spec: str, by_groups: bool) -> None:
    fabric = make(spec)
    for step in (1, 3) if spec in GRIDS else (2,):
        expect_parts(*sprayed(fabric, everybody(fabric, step), by_groups=by_groups))


@pytest.mark.parametrize("rated", [False, True], ids=["links alike", "rates"])
@pytest.mark.parametrize(("spec", "by_groups"), SPRAYED)
def test_sprayed_messages_count_as_in_sets(spec: str, by_groups: bool, rated: bool) -> None:
    fabric = make(spec)
    expect_counts(fabric, *sprayed(fabric, everybody(fabric), by_groups=by_groups), rated=rated)


@pytest.mark.parametrize("spec", ["torus:4x3x2", "mesh:5x2", "hyperx:4x3;1;2"])
def test_parts_of_sprayed_messages_across_a_channel_are_those_in_sets(spec: str) -> None:
    fabric = make(spec)
    hosts = everybody(fabric)
    channels = np.arange(2 * fabric.cables, dtype=np.uint32)
    users = [
        _core.channel_users(
            *(resolver, parse("alltoall", len(hosts)).core, _core.Seating(hosts, 1, False)),
            *(_core.Samples(1, 0, 1, False), 1, channels, np.zeros(0)),
        )
        for resolver in sprayed(fabric, hosts)
    ]
    for computed, sets in zip(*users, strict=True):
        # Parts are told to a millionth.
        assert_allclose(computed, sets, atol=len(hosts))


def drawn_grid(data: st.DataObject) -> Fabric:
    """A grid of any kind and shape, some of whose hosts are missing and the others shuffled."""
    kind = data.draw(st.sampled_from(["torus", "mesh", "hyperx"]))
    sizes = data.draw(st.lists(st.integers(2, 5), min_size=1, max_size=3))
    spec = f"{kind}:{'x'.join(map(str, sizes))};2"
    if kind == "hyperx":
        links = data.draw(st.lists(st.integers(1, 3), min_size=len(sizes), max_size=len(sizes)))
        spec += f";{','.join(map(str, links))}"
    fabric = make(spec)
    numbers = st.integers(1, fabric.hosts)
    gone = data.draw(st.sets(numbers, max_size=fabric.hosts - 2))
    if gone:
        fabric = without(fabric, [f"host {number}" for number in gone]).fabric
    return shuffled(fabric, data.draw(st.integers(0, 9)))


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_on_any_grid_with_hosts_anywhere(data: st.DataObject) -> None:
    fabric = drawn_grid(data)
    hosts = everybody(fabric)
    expect_hashes(fabric, hosts)
    expect_dimension_order(fabric, hosts)
    expect_parts(*sprayed(fabric, hosts))
    expect_counts(fabric, *sprayed(fabric, hosts), rated=False)


@settings(max_examples=30, deadline=None)
@given(data=st.data(), switches=st.integers(1, 9), uplinks=st.integers(1, 6))
def test_on_any_dragonfly_with_hosts_anywhere(
    data: st.DataObject, switches: int, uplinks: int
) -> None:
    groups = data.draw(st.integers(2, min(switches * uplinks + 1, 200 // switches)))
    whole = make(f"dragonfly:1,{switches},{uplinks},{groups}")
    gone = data.draw(st.sets(st.integers(1, whole.hosts), max_size=whole.hosts - 2))
    fabric = without(whole, [f"host {number}" for number in gone]).fabric if gone else whole
    expect_hashes(fabric, everybody(fabric))


@pytest.mark.parametrize("spec", ["torus:4x3x2", "mesh:3x4", "hypercube:4", "hyperx:4x3;1;2"])
def test_a_grid_without_a_cable_or_with_two_exchanged_is_none(spec: str) -> None:
    fabric = make(spec)
    for cable in range(len(fabric.cable_from)):
        keep = np.arange(len(fabric.cable_from)) != cable
        names = ("cable_from", "cable_from_port", "cable_to", "cable_to_port")
        core = _core.Fabric(
            *(fabric.host_switch, fabric.host_port, fabric.switch_ports),
            *(getattr(fabric, name)[keep] for name in names),
        )
        assert _core.find_grid(core) is None
    swapped = fabric.cable_to.copy()
    swapped[[0, -1]] = swapped[[-1, 0]]
    ports = fabric.cable_to_port.copy()
    ports[[0, -1]] = ports[[-1, 0]]
    assert _core.find_grid(fabric.replace(cable_to=swapped, cable_to_port=ports).core) is None


# More than 2,000 switches with hosts: their square is above the limit from which a formula counts.
# Sets of channels for every two switches take 17 MB and more.
@pytest.mark.parametrize(("spec", "most"), [("torus:13x13x13", 150_000), (LARGE, 50_000)])
def test_large_networks_keep_no_sets_of_channels(spec: str, most: int) -> None:
    fabric = compute(make(spec), "ecmp,flows=2")
    hosts = everybody(fabric)
    resolver = make_resolver(fabric, hosts, follows=Ways.DRAWN | Ways.SPLIT)
    assert resolver.bytes < most
    sets = _core.hashed_resolver(fabric.core, hosts, None, 2, False)
    pairs = pairs_of(fabric.hosts)
    assert_array_equal(in_order(resolver, pairs, 9), in_order(sets, pairs, 9))


def expect_the_same_draws(fabric: Fabric, *, by_groups: bool = False, rounded: int = 0) -> None:
    """Compares two permutations of all hosts; so many thousandths of a message may be rounded."""
    hosts = everybody(fabric)
    told = parse("permutation", len(hosts)).core, _core.Seating(hosts, 1, False)
    computed, sets = (
        _core.simulate(each, *told, _core.Samples(1, 0, 2, False), 1, np.zeros(0))
        for each in sprayed(fabric, hosts, by_groups=by_groups)
    )
    assert_allclose(computed["channel_messages"], sets["channel_messages"], 0, rounded)
    assert_allclose(computed["bandwidth"], sets["bandwidth"], rounded * 1e-3)


@pytest.mark.parametrize("spec", ["torus:46x46", "mesh:46x46", "hyperx:46x46", "hyperx:15x15x4"])
def test_large_grids_spray_without_sets_of_channels(spec: str) -> None:
    fabric = compute(make(spec), "spray")
    resolver = make_resolver(fabric, everybody(fabric), follows=Ways.SPLIT)
    assert resolver.bytes < 2_000_000
    # Small grids of every kind are held against sets elsewhere.
    if spec == "torus:46x46":
        expect_the_same_draws(fabric, rounded=2)


@pytest.mark.parametrize("by_groups", [False, True], ids=["by cables", "by groups"])
def test_large_dragonflies_spray_without_sets_of_channels(by_groups: bool) -> None:
    engine = "spray,by=groups" if by_groups else "spray"
    fabric = compute(make(LARGE), engine)
    hosts = everybody(fabric)
    assert make_resolver(fabric, hosts, follows=Ways.SPLIT).bytes < 50_000
    # Groups may have other names than those that cables tell.
    named = tuple(f"rack {number // 48} switch {number % 48}" for number in range(fabric.switches))
    renamed = compute(fabric.replace(switch_name=named), engine)
    assert (make_resolver(renamed, hosts, follows=Ways.SPLIT).bytes > 10_000_000) == by_groups
    expect_the_same_draws(fabric, by_groups=by_groups)


def test_large_grids_keep_no_tables() -> None:
    fabric = compute(make("torus:13x13x13"), "dor")
    assert make_resolver(fabric, np.arange(fabric.hosts, dtype=np.uint32)).bytes < 200_000
    stored = fabric.replace(routes=fabric.tables)
    for pattern in ("shift:5", "alltoall"):
        both = [simulate(each, pattern, placement="linear") for each in (fabric, stored)]
        assert_array_equal(*(each.channel_load for each in both))
