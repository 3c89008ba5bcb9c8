"""The narrowest cut between halves of the hosts, where theory gives it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contend.fabric import Fabric, bisection
from small_fabrics import crossbar, fat_tree, ring, three_level_tree, torus

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


def test_fabric_in_two_parts_has_no_bisection_bandwidth() -> None:
    fabric = ring(4, 2)
    kept = np.array([0, 2])  # 0 - 1 and 2 - 3
    columns = ("cable_from", "cable_from_port", "cable_to", "cable_to_port", "cable_rate")
    parts = fabric.replace(**{name: getattr(fabric, name)[kept] for name in columns})
    assert bisection(parts).share == 0


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


def _narrowest(fabric: Fabric) -> int:
    """By trying all: cables cut, and one link for every host too many on a side."""
    hosts_at = np.bincount(fabric.host_switch, minlength=fabric.switches)
    halves = (fabric.hosts // 2, fabric.hosts - fabric.hosts // 2)
    best = fabric.hosts
    for sides in product((False, True), repeat=fabric.switches):
        side = np.array(sides)
        cut = np.count_nonzero(side[fabric.cable_from] != side[fabric.cable_to])
        held = hosts_at[side].sum()
        best = min(best, cut + min(abs(held - half) for half in halves))
    return int(best)


@settings(max_examples=15, deadline=None)
@given(_fabrics())
def test_never_below_the_true_bisection_and_near_it(fabric: Fabric) -> None:
    found = bisection(fabric)
    narrowest = _narrowest(fabric)
    assert found.cut_cables + found.cut_host_links == pytest.approx(found.capacity / HDR)
    assert narrowest * HDR <= found.capacity * (1 + 1e-9)
    assert found.capacity <= (narrowest + 2) * HDR
