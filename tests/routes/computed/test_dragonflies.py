"""Ways on dragonflies that a formula gives are those that sets of channels give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from computed_ways import (
    expect_counts_as_in_sets,
    expect_hashes_as_in_sets,
    expect_parts_as_in_sets,
    in_order,
    pairs_of,
)
from contend import _core
from contend.fabric import Fabric, make, without
from contend.pattern import parse
from contend.routes import Ways, compute, make_resolver

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


def expect_hashes(fabric: Fabric, hosts: NDArray[np.uint32]) -> None:
    """Compares the channels of drawn routes with those from sets of channels."""
    core = fabric.core
    expect_hashes_as_in_sets(core, _core.find_dragonfly(core), hosts)


@pytest.mark.parametrize("spec", DRAGONFLIES)
def test_hashes_choose_on_dragonflies_what_they_chose_in_sets(spec: str) -> None:
    fabric = make(spec)
    expect_hashes(fabric, np.arange(fabric.hosts, dtype=np.uint32))
    expect_hashes(fabric, np.arange(0, fabric.hosts, 5, dtype=np.uint32))


@settings(max_examples=30, deadline=None)
@given(data=st.data(), switches=st.integers(1, 9), uplinks=st.integers(1, 6))
def test_on_any_dragonfly_with_hosts_anywhere(
    data: st.DataObject, switches: int, uplinks: int
) -> None:
    groups = data.draw(st.integers(2, min(switches * uplinks + 1, 200 // switches)))
    whole = make(f"dragonfly:1,{switches},{uplinks},{groups}")
    gone = data.draw(st.sets(st.integers(1, whole.hosts), max_size=whole.hosts - 2))
    fabric = without(whole, [f"host {number}" for number in gone]).fabric if gone else whole
    expect_hashes(fabric, np.arange(fabric.hosts, dtype=np.uint32))


def test_large_dragonflies_keep_no_sets_of_channels() -> None:
    # 2,064 switches with hosts: their square is above the limit from which a formula counts.
    fabric = compute(make("dragonfly:1,16,8"), "ecmp,flows=2")
    hosts = np.arange(fabric.hosts, dtype=np.uint32)
    resolver = make_resolver(fabric, hosts, follows=Ways.DRAWN | Ways.SPLIT)
    # A set of channels for every two switches takes 17 MB, the bits of 129 groups two kilobytes.
    assert resolver.bytes < 50_000
    sets = _core.hashed_resolver(fabric.core, hosts, None, 2, False)
    pairs = pairs_of(fabric.hosts)
    assert_array_equal(in_order(resolver, pairs, 9), in_order(sets, pairs, 9))
    cut = without(fabric, ["group 1 switch 1:3"]).fabric
    assert _core.find_dragonfly(cut.core) is None


def sprayed_on_dragonfly(
    fabric: Fabric, hosts: NDArray[np.uint32], *, by_groups: bool
) -> tuple[_core.Resolver, _core.Resolver]:
    """Sprayed ways on a dragonfly: computed, and from sets of channels."""
    core = fabric.core
    dragonfly = _core.find_dragonfly(core)
    assert dragonfly is not None
    group = np.arange(core.switches if by_groups else 0, dtype=np.uint32) // dragonfly.switches
    return (
        _core.sprayed_resolver(core, hosts, dragonfly, group),
        _core.sprayed_resolver(core, hosts, None, group),
    )


@pytest.mark.parametrize("by_groups", [False, True], ids=["by cables", "by groups"])
@pytest.mark.parametrize("spec", DRAGONFLIES)
def test_sprayed_messages_split_on_dragonflies_as_in_sets(spec: str, by_groups: bool) -> None:
    fabric = make(spec)
    hosts = np.arange(0, fabric.hosts, 2, dtype=np.uint32)
    expect_parts_as_in_sets(*sprayed_on_dragonfly(fabric, hosts, by_groups=by_groups))


@pytest.mark.parametrize("rated", [False, True], ids=["links alike", "rates"])
@pytest.mark.parametrize("by_groups", [False, True], ids=["by cables", "by groups"])
@pytest.mark.parametrize("spec", DRAGONFLIES)
def test_sprayed_messages_count_on_dragonflies_as_in_sets(
    spec: str, by_groups: bool, rated: bool
) -> None:
    fabric = make(spec)
    hosts = np.arange(fabric.hosts, dtype=np.uint32)
    resolvers = sprayed_on_dragonfly(fabric, hosts, by_groups=by_groups)
    expect_counts_as_in_sets(fabric, *resolvers, rated=rated)


@pytest.mark.parametrize("by_groups", [False, True], ids=["by cables", "by groups"])
def test_large_dragonflies_spray_without_sets_of_channels(by_groups: bool) -> None:
    engine = "spray,by=groups" if by_groups else "spray"
    fabric = compute(make("dragonfly:1,16,8"), engine)
    hosts = np.arange(fabric.hosts, dtype=np.uint32)
    resolver = make_resolver(fabric, hosts, follows=Ways.SPLIT)
    assert resolver.bytes < 50_000
    # Groups may have other names than those that cables tell.
    named = tuple(f"rack {number // 48} switch {number % 48}" for number in range(fabric.switches))
    renamed = make_resolver(
        compute(fabric.replace(switch_name=named), engine), hosts, follows=Ways.SPLIT
    )
    assert (renamed.bytes > 10_000_000) == by_groups
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
        for each in sprayed_on_dragonfly(fabric, hosts, by_groups=by_groups)
    )
    assert_array_equal(computed["channel_messages"], sets["channel_messages"])
    assert_array_equal(computed["bandwidth"], sets["bandwidth"])
