"""The narrowest cut between halves of the hosts, where theory gives it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contend.fabric import Fabric, bisection
from contend.fabric.cuts import rated_bisection
from narrowest_cuts import least_of_all_halves, least_of_all_sides, random_tree
from small_fabrics import crossbar, fat_tree, of_cables, ring, three_level_tree, torus

HDR = 25e9  # bytes per second of 4xHDR


@pytest.mark.parametrize(
    ("fabric", "share"),
    [
        (crossbar(8), 1.0),
        (crossbar(7), 1.0),
        (fat_tree(6, 6, 6), 1.0),
        (fat_tree(12, 16, 8), 0.5),
        (fat_tree(4, 12, 2, parallel=2), 1 / 3),
        (three_level_tree(8), 1.0),
        # n switches with h hosts: 2 cables of n h / 2.
        (ring(8, 4), 2 / 16),
        (ring(12, 1), 2 / 6),
        # k x k switches with one host: 2 k cables of k^2 / 2, at most all.
        (torus((4, 4)), 1.0),
        (torus((6, 6)), 12 / 18),
        (torus((8, 8)), 16 / 32),
        # k^3 switches with two hosts: 2 k^2 cables of k^3.
        (torus((4, 4, 4), 2), 32 / 64),
    ],
)
def test_known_fabrics(fabric: Fabric, share: float) -> None:
    found = bisection(fabric)
    assert found.share == pytest.approx(share)
    assert found.full == pytest.approx(fabric.hosts // 2 * HDR)
    assert found.capacity == pytest.approx(share * found.full)


def test_half_bisection_cuts_half_of_the_cables() -> None:
    # 12 leaves with 8 cables up each: 6 leaves a side, 48 cables.
    found = bisection(fat_tree(12, 16, 8))
    assert (found.cut_cables, found.cut_host_links) == (48, 0)


def test_numbering_does_not_matter() -> None:
    fabric = torus((8, 8))
    place = np.random.default_rng(5).permutation(64).astype(np.uint32)
    names = tuple(f"node {i}" for i in np.random.default_rng(6).permutation(64))
    shuffled = fabric.replace(
        host_switch=place[fabric.host_switch],
        cable_from=place[fabric.cable_from],
        cable_to=place[fabric.cable_to],
        host_name=names,
    )
    assert bisection(shuffled).share == pytest.approx(0.5)


def test_same_answer_twice() -> None:
    fabric = torus((5, 5), 3)
    assert bisection(fabric) == bisection(fabric)


def test_faster_cables_widen_the_cut() -> None:
    fabric = fat_tree(4, 8, 2)
    doubled = fabric.replace(
        rates=("", "4xHDR", "4xNDR"), cable_rate=np.full(fabric.cables, 2, dtype=np.uint16)
    )
    assert bisection(fabric).share == pytest.approx(1 / 4)
    assert bisection(doubled).share == pytest.approx(1 / 2)


def test_unknown_rates_count_one_per_cable() -> None:
    fabric = ring(8, 4)
    found = bisection(fabric.replace(rates=("", "4xWHAT")))
    assert (found.unit, found.capacity, found.full) == ("cables", 2, 16)


def test_single_host_and_no_cables() -> None:
    assert bisection(crossbar(1)).share == 1
    assert bisection(crossbar(2)).cut_host_links == 1


@st.composite
def _fabrics(draw: st.DrawFn) -> Fabric:
    """Small connected fabrics of any shape."""
    sizes = draw(st.lists(st.integers(0, 3), min_size=2, max_size=6))
    base = torus((len(sizes),), 0)
    hosts = [s for s, count in enumerate([*sizes[:-1], sizes[-1] + 2]) for _ in range(count)]
    joined = [(s, draw(st.integers(0, s - 1))) for s in range(1, len(sizes))]
    extra = st.tuples(st.integers(0, len(sizes) - 1), st.integers(0, len(sizes) - 1))
    joined += [pair for pair in draw(st.lists(extra, max_size=8)) if pair[0] != pair[1]]
    one, other = np.array(joined, dtype=np.uint32).T
    source = crossbar(len(hosts))
    return source.replace(
        host_switch=np.array(hosts, dtype=np.uint32),
        switch_name=base.switch_name,
        switch_guid=base.switch_guid,
        switch_system_guid=base.switch_guid,
        switch_ports=np.full(len(sizes), 60, dtype=np.uint16),
        switch_lid=base.switch_lid,
        cable_from=one,
        cable_to=other,
        cable_from_port=np.arange(20, 20 + len(joined), dtype=np.uint16),
        cable_to_port=np.arange(20, 20 + len(joined), dtype=np.uint16),
        cable_rate=np.ones(len(joined), dtype=np.uint16),
    )


@settings(max_examples=15, deadline=None)
@given(_fabrics())
def test_the_narrowest_of_all_cuts_in_any_small_fabric(fabric: Fabric) -> None:
    found = bisection(fabric)
    assert found.exact
    assert found.cut_cables + found.cut_host_links == pytest.approx(found.capacity / HDR)
    assert found.capacity == pytest.approx(least_of_all_sides(fabric))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([2, 3]))
def test_the_narrowest_of_all_cuts_in_trees_of_mixed_rates(seed: int, levels: int) -> None:
    fabric = random_tree(np.random.default_rng(seed), levels)
    found = bisection(fabric)
    assert found.exact
    assert found.capacity == pytest.approx(least_of_all_sides(fabric), rel=1e-9)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([2, 3]))
def test_all_sides_of_switches_are_all_halves_of_hosts(seed: int, levels: int) -> None:
    fabric = random_tree(np.random.default_rng(seed), levels, most_hosts=1)
    assert least_of_all_sides(fabric) == pytest.approx(least_of_all_halves(fabric), rel=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32))
def test_the_search_of_large_fabrics_is_never_below(seed: int) -> None:
    """It is told from what is proved, and its cut is one."""
    fabric = random_tree(np.random.default_rng(seed), 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rated_bisection, "narrowest_side", lambda graph: None)
        found = bisection(fabric)
    least = least_of_all_sides(fabric)
    assert found.capacity >= least * (1 - 1e-9)
    assert not found.exact or least == 0


def test_hosts_that_take_part_have_a_bisection_of_their_own() -> None:
    # 2 of 8 cables up for every leaf; hosts of two leaves, four of one and two of the other.
    fabric = fat_tree(4, 8, 2)
    found = bisection(fabric, np.array([0, 1, 2, 3, 8, 9]))
    assert (found.hosts, found.full) == (6, 3 * HDR)
    # A side of three hosts of the first leaf, the other cut off; or the two leaves parted.
    assert found.capacity == 2 * HDR + HDR
    assert bisection(fabric, np.arange(8)).share == 1


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32), st.data())
def test_any_hosts_that_take_part(seed: int, data: st.DataObject) -> None:
    fabric = random_tree(np.random.default_rng(seed), 2)
    hosts = data.draw(st.lists(st.integers(0, fabric.hosts - 1), min_size=2, unique=True))
    found = bisection(fabric, np.array(hosts))
    assert found.capacity == pytest.approx(least_of_all_sides(fabric, np.array(hosts)), rel=1e-9)


def test_cables_may_count_alike() -> None:
    fabric = fat_tree(4, 8, 2)
    doubled = fabric.replace(
        rates=("", "4xHDR", "4xNDR"), cable_rate=np.full(fabric.cables, 2, dtype=np.uint16)
    )
    assert bisection(doubled, alike=True).share == pytest.approx(1 / 4)


def test_planes_have_a_bisection_each_and_none_together() -> None:
    # Switches 0 - 1 and 2 - 3.
    parts = of_cables(ring(4, 2), np.array([0, 2]))
    found = bisection(parts)
    assert found.share == 0
    assert [(plane.hosts, plane.share) for plane in found.planes] == [(4, 0.5), (4, 0.5)]
    assert bisection(parts, np.arange(4)).planes == ()
    assert bisection(parts, np.arange(4)).share == 0.5


def test_a_fabric_too_large_to_prove_says_at_most() -> None:
    found = bisection(torus((8, 8, 8)))
    assert (found.exact, found.share) == (False, 64 * 2 / 256)
