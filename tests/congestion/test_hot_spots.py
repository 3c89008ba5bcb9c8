"""Victims and rivals: what they share, and how many there can be, against trying everything."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contend.base.errors import UsageError
from contend.congestion import HotSpot, fair_share, hotspot, message_congestion
from contend.fabric import Fabric
from contend.routes import load
from counting import route
from small_fabrics import crossbar, fat_tree, ring, routed, three_level_tree, torus

SHAPES = {
    "fat tree": fat_tree(3, 3, 2),
    "parallel": fat_tree(2, 4, 1, parallel=2),
    "ring": ring(5, 2),
    "torus": torus((3, 3), 1),
    "thin": fat_tree(3, 3, 1),
}
FABRICS = {name: routed(fabric) for name, fabric in SHAPES.items()}


def between(fabric: Fabric, source: int, target: int) -> set[int]:
    """Channels between switches on a route."""
    return set(route(fabric, source, target)[1:-1])


def largest_disjoint(pairs: list[tuple[int, int]], used: frozenset[int]) -> int:
    """Trying everything: the first pair is taken or left."""
    open_pairs = [(s, t) for s, t in pairs if s not in used and t not in used]
    if not open_pairs:
        return 0
    (s, t), rest = open_pairs[0], open_pairs[1:]
    with_first = 1 + largest_disjoint(rest, used | {s, t})
    # At best every two of the hosts that are left make a pair.
    if with_first >= len({host for pair in open_pairs for host in pair}) // 2:
        return with_first
    return max(with_first, largest_disjoint(rest, used))


def crossing(fabric: Fabric, channel: int) -> list[tuple[int, int]]:
    hosts = range(fabric.hosts)
    return [(s, t) for s in hosts for t in hosts if s != t and channel in between(fabric, s, t)]


def check(fabric: Fabric, found: HotSpot) -> None:
    """All cross the channel, no host is in two pairs, and `shared` is the truth."""
    assert len(set(found.hosts)) == len(found.hosts) == 2 * (1 + len(found.rivals))
    of_victim = between(fabric, *found.victim)
    assert found.channel in of_victim
    shares = [between(fabric, *rival) & of_victim for rival in found.rivals]
    assert all(found.channel in share for share in shares)
    assert list(found.shared) == sorted(len(share) for share in shares)
    assert [len(share) for share in shares] == list(found.shared)


@given(st.sampled_from(sorted(FABRICS)), st.data())
@settings(max_examples=40, deadline=None)
def test_as_many_rivals_as_there_can_be(name: str, data: Any) -> None:
    fabric = FABRICS[name]
    hosts = st.integers(0, fabric.hosts - 1)
    far = st.tuples(hosts, hosts).filter(lambda p: p[0] != p[1] and bool(between(fabric, *p)))
    victim = data.draw(far)
    channel = data.draw(st.sampled_from(sorted(between(fabric, *victim))))
    most = largest_disjoint(crossing(fabric, channel), frozenset(victim))
    asked = data.draw(st.integers(0, fabric.hosts))
    found = hotspot(fabric, asked, victim=victim, channel=channel)
    check(fabric, found)
    assert (found.victim, found.channel, found.asked) == (victim, channel, asked)
    assert len(found.rivals) == min(asked, most)


@pytest.mark.parametrize("name", FABRICS)
def test_best_channel_of_all(name: str) -> None:
    fabric = FABRICS[name]
    most = max(
        largest_disjoint(crossing(fabric, channel), frozenset())
        for channel in range(2 * fabric.cables)
    )
    found = hotspot(fabric, fabric.hosts)
    check(fabric, found)
    assert len(found.rivals) == most - 1
    for asked in range(most):
        enough = hotspot(fabric, asked)
        check(fabric, enough)
        assert len(enough.rivals) == asked


def test_k_rivals_leave_the_victim_one_of_k_plus_1() -> None:
    """pi = k + 1, and fairly shared 1 / (k + 1), for every number of rivals that send."""
    fabric = routed(three_level_tree(8))
    found = hotspot(fabric, 3)
    assert len(found.rivals) == 3
    for k in range(4):
        source, target = zip(found.victim, *found.rivals[:k], strict=True)
        assert message_congestion(fabric, source, target).congestion.tolist() == [k + 1] * (k + 1)
        assert fair_share(fabric, source, target).tolist() == pytest.approx([1 / (k + 1)] * (k + 1))


def test_figure_of_2008() -> None:
    """Uplink 1 of leaf 1 leads to hosts 5, 9 and 13 (d mod 4 = 1): the victim and two rivals."""
    figure = load("fig1", route="fig1")
    found = hotspot(figure, 11, victim=(0, 4))
    assert sorted(target for _, target in found.rivals) == [8, 12]
    assert {source for source, _ in found.rivals} < {1, 2, 3}
    # From the top switch on, the rivals go to other leaves.
    assert found.shared == (1, 1)


def test_rivals_share_no_more_than_needed() -> None:
    """Hosts 0 .. 3 on a leaf, one cable up: to host 4 the down cable need not be shared."""
    fabric = routed(fat_tree(4, 4, 1))
    three = hotspot(fabric, 3, victim=(0, 4), channel=0)
    assert three.shared == (1, 1, 1)
    assert not {target for _, target in three.rivals} & set(range(8))


def test_only_hosts_that_take_part() -> None:
    fabric = FABRICS["thin"]
    found = hotspot(fabric, 9, hosts=[0, 1, 3, 4, 6])
    assert set(found.hosts) <= {0, 1, 3, 4, 6}
    assert len(found.rivals) == 1
    with pytest.raises(UsageError, match=r"two different hosts that take part, got \(0, 2\)"):
        hotspot(fabric, 1, victim=(0, 2), hosts=[0, 1, 3])


def test_refusals() -> None:
    alone = routed(crossbar(4))
    with pytest.raises(UsageError, match="a channel between switches of crossbar"):
        hotspot(alone, 1)
    fabric = FABRICS["fat tree"]
    with pytest.raises(UsageError, match='"host 0" and "host 1" on one'):
        hotspot(fabric, 1, victim=(0, 1))
    with pytest.raises(UsageError, match="a channel on the route"):
        hotspot(fabric, 1, victim=(0, 3), channel=1)
    with pytest.raises(UsageError, match=r"0 \.\. 11, got 12"):
        hotspot(fabric, 1, channel=12)
    with pytest.raises(UsageError, match="at least 0 rivals"):
        hotspot(fabric, -1)
    with pytest.raises(UsageError, match=r"hosts 0 \.\. 8"):
        hotspot(fabric, 1, hosts=[0, 9])
    with pytest.raises(UsageError, match="two different hosts"):
        hotspot(fabric, 1, victim=(3, 3))
    with pytest.raises(UsageError, match=r"no message crosses channel \d+ \(switch"):
        hotspot(fabric, 1, channel=0, hosts=[0, 1])


def test_of_channels_that_allow_as_many_rivals_the_hottest_is_taken() -> None:
    """All uplinks allow three pairs; messages take longest on the one of 1xSDR."""
    fabric = fat_tree(3, 3, 1)
    cable = fabric.cable_rate.copy()
    cable[1] = len(fabric.rates)
    slow = fabric.replace(cable_rate=cable, rates=(*fabric.rates, "1xSDR"))
    slow = routed(slow)
    alike = routed(fabric)
    assert hotspot(alike, 2).channel == 0
    found = hotspot(slow, 2)
    assert found.channel in (2, 3)
    assert len(found.rivals) == 2
    check(slow, found)
    # A victim that crosses it meets its rivals there.
    assert hotspot(slow, 1, victim=(0, 3)).channel == 3
