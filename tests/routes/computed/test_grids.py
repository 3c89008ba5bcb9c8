"""Routes on grids are computed, and are those that tables and sets of channels give."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from computed_ways import (
    expect_counts_as_in_sets,
    expect_hashes_as_in_sets,
    expect_parts_as_in_sets,
    in_order,
    pairs_of,
)
from contend import _core
from contend.congestion import simulate
from contend.fabric import Fabric, make, without
from contend.pattern import parse
from contend.routes import ForwardingTables, Ways, compute, make_resolver
from contend.routes.addresses import targets_of, with_addresses

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


def expect_hashes(fabric: Fabric, hosts: NDArray[np.uint32]) -> None:
    """Compares the channels of drawn routes with those from sets of channels."""
    core = fabric.core
    expect_hashes_as_in_sets(core, _core.find_grid(core), hosts)


def expect_dimension_order(fabric: Fabric, hosts: NDArray[np.uint32]) -> None:
    """Compares the channels of the engine dor with those of its tables."""
    fabric = with_addresses(fabric)
    grid = _core.find_grid(fabric.core)
    assert grid is not None
    targets = targets_of(fabric)
    computed = _core.dimension_order_resolver(fabric.core, hosts, grid, targets)
    tables = ForwardingTables(_core.dimension_order(fabric.core, targets))
    stored = tables.resolver(fabric, hosts, spread=False, messages=1e9)
    pairs = pairs_of(len(hosts))
    assert_array_equal(*(in_order(each, pairs, 0) for each in (computed, stored)))


@pytest.mark.parametrize("spec", GRIDS)
def test_dimension_order_is_that_of_tables(spec: str) -> None:
    fabric = make(spec)
    expect_dimension_order(fabric, np.arange(fabric.hosts, dtype=np.uint32))
    expect_dimension_order(fabric, np.arange(0, fabric.hosts, 5, dtype=np.uint32))


@pytest.mark.parametrize("spec", GRIDS)
def test_hashes_choose_what_they_chose_in_sets(spec: str) -> None:
    fabric = make(spec)
    expect_hashes(fabric, np.arange(fabric.hosts, dtype=np.uint32))
    expect_hashes(fabric, np.arange(0, fabric.hosts, 5, dtype=np.uint32))


def sprayed_on_grid(
    fabric: Fabric, hosts: NDArray[np.uint32]
) -> tuple[_core.Resolver, _core.Resolver]:
    """Sprayed ways on a grid: computed, and from sets of channels."""
    core = fabric.core
    grid = _core.find_grid(core)
    assert grid is not None
    return (
        _core.sprayed_resolver(core, hosts, grid, np.zeros(0, np.uint32)),
        _core.sprayed_resolver(core, hosts, None, np.zeros(0, np.uint32)),
    )


@pytest.mark.parametrize("spec", GRIDS)
def test_sprayed_messages_split_as_in_sets(spec: str) -> None:
    fabric = make(spec)
    for step in (1, 3):
        hosts = np.arange(0, fabric.hosts, step, dtype=np.uint32)
        expect_parts_as_in_sets(*sprayed_on_grid(fabric, hosts))


@pytest.mark.parametrize("rated", [False, True], ids=["links alike", "rates"])
@pytest.mark.parametrize("spec", GRIDS)
def test_sprayed_messages_count_as_in_sets(spec: str, rated: bool) -> None:
    fabric = make(spec)
    hosts = np.arange(fabric.hosts, dtype=np.uint32)
    expect_counts_as_in_sets(fabric, *sprayed_on_grid(fabric, hosts), rated=rated)


@pytest.mark.parametrize("spec", ["torus:4x3x2", "mesh:5x2", "hyperx:4x3;1;2"])
def test_parts_of_sprayed_messages_across_a_channel_are_those_in_sets(spec: str) -> None:
    fabric = make(spec)
    hosts = np.arange(fabric.hosts, dtype=np.uint32)
    channels = np.arange(2 * fabric.cables, dtype=np.uint32)
    users = [
        _core.channel_users(
            *(resolver, parse("alltoall", len(hosts)).core, _core.Seating(hosts, 1, False)),
            *(_core.Samples(1, 0, 1, False), 1, channels, np.zeros(0)),
        )
        for resolver in sprayed_on_grid(fabric, hosts)
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
    draws = np.random.default_rng(data.draw(st.integers(0, 9)))
    order = draws.permutation(fabric.hosts)
    return fabric.replace(
        host_switch=fabric.host_switch[order],
        host_port=fabric.host_port[order],
        switch_guid=draws.permutation(fabric.switch_guid),
    )


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_on_any_grid_with_hosts_anywhere(data: st.DataObject) -> None:
    fabric = drawn_grid(data)
    hosts = np.arange(fabric.hosts, dtype=np.uint32)
    expect_hashes(fabric, hosts)
    expect_dimension_order(fabric, hosts)
    expect_parts_as_in_sets(*sprayed_on_grid(fabric, hosts))
    expect_counts_as_in_sets(fabric, *sprayed_on_grid(fabric, hosts), rated=False)


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


def test_large_grids_keep_no_sets_of_channels() -> None:
    # 2,197 switches with hosts: their square is above the limit from which a formula counts.
    fabric = compute(make("torus:13x13x13"), "ecmp,flows=2")
    hosts = np.arange(fabric.hosts, dtype=np.uint32)
    resolver = make_resolver(fabric, hosts, follows=Ways.DRAWN | Ways.SPLIT)
    # A set of channels for every two switches takes 19 MB, the six hops of a switch 54 bytes.
    assert resolver.bytes < 150_000
    sets = _core.hashed_resolver(fabric.core, hosts, None, 2, False)
    pairs = pairs_of(fabric.hosts)
    assert_array_equal(in_order(resolver, pairs, 9), in_order(sets, pairs, 9))


@pytest.mark.parametrize("spec", ["torus:46x46", "mesh:46x46", "hyperx:46x46", "hyperx:15x15x4"])
def test_large_grids_spray_without_sets_of_channels(spec: str) -> None:
    fabric = compute(make(spec), "spray")
    hosts = np.arange(fabric.hosts, dtype=np.uint32)
    resolver = make_resolver(fabric, hosts, follows=Ways.SPLIT)
    assert resolver.bytes < 2_000_000
    # Small grids of every kind are held against sets elsewhere.
    if spec != "torus:46x46":
        return
    pattern = parse("permutation", len(hosts)).core
    computed, sets = (
        _core.simulate(
            each,
            pattern,
            _core.Seating(hosts, 1, False),
            _core.Samples(1, 0, 2, False),
            1,
            np.zeros(0),
        )
        for each in (resolver, sprayed_on_grid(fabric, hosts)[1])
    )
    # A thousandth of a message may be rounded either way.
    assert_allclose(computed["channel_messages"], sets["channel_messages"], atol=2)
    assert_allclose(computed["bandwidth"], sets["bandwidth"], rtol=2e-3)


def test_large_grids_keep_no_tables() -> None:
    fabric = compute(make("torus:13x13x13"), "dor")
    assert make_resolver(fabric, np.arange(fabric.hosts, dtype=np.uint32)).bytes < 200_000
    stored = fabric.replace(routes=fabric.tables)
    for pattern in ("shift:5", "alltoall"):
        both = [simulate(each, pattern, placement="linear") for each in (fabric, stored)]
        assert_array_equal(*(each.channel_load for each in both))


def test_another_process_gets_the_formula_of_dor() -> None:
    routed = compute(make("torus:13x13x13"), "dor")
    there = pickle.loads(pickle.dumps(routed))
    counted = [simulate(fabric, samples=2).channel_load.tolist() for fabric in (routed, there)]
    assert counted[0] == counted[1]
    assert "tables" not in vars(there.routes)
