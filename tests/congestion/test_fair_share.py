"""Max-min fair shares against exact rational water filling, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contend.base.errors import UsageError
from contend.congestion import fair_share, fluid_times, message_congestion
from contend.fabric import Fabric
from contend.routes import load
from counting import Messages, route
from small_fabrics import crossbar, fat_tree, ring, routed, torus


def shares(fabric: Fabric, messages: Messages) -> list[float]:
    found = fair_share(fabric, [s for s, _ in messages], [t for _, t in messages])
    return [float(share) for share in found]


def filled(routes: Sequence[Sequence[int]]) -> list[Fraction]:
    """All shares rise together; whoever meets a full channel stops."""
    share = [Fraction(1)] * len(routes)
    rising = {m for m, channels in enumerate(routes) if channels}
    left = dict.fromkeys((c for channels in routes for c in channels), Fraction(1))
    while rising:
        users = {c: [m for m in rising if c in routes[m]] for c in left}
        level, full = min((left[c] / len(on), c) for c, on in users.items() if on)
        for m in users[full]:
            share[m] = level
            rising.remove(m)
            for channel in routes[m]:
                left[channel] -= level
    return share


@st.composite
def messages_on(draw: Any) -> tuple[Fabric, list[tuple[int, int]]]:
    shapes = [torus((3, 3), 2), fat_tree(4, 3, 2), torus((5,), 3), fat_tree(3, 4, 2, parallel=2)]
    fabric = draw(st.sampled_from(shapes))
    host = st.integers(0, fabric.hosts - 1)
    return routed(fabric), draw(st.lists(st.tuples(host, host), max_size=30))


@given(messages_on())
@settings(max_examples=60, deadline=None)
def test_same_as_exact_water_filling(case: tuple[Fabric, list[tuple[int, int]]]) -> None:
    fabric, messages = case
    exact = filled([route(fabric, s, t) if s != t else [] for s, t in messages])
    assert shares(fabric, messages) == pytest.approx([float(x) for x in exact], rel=1e-12)


@given(messages_on())
@settings(max_examples=60, deadline=None)
def test_feasible_and_each_held_back_by_a_full_channel(
    case: tuple[Fabric, list[tuple[int, int]]],
) -> None:
    """On it nobody gets more: nobody can gain but at the cost of one who has no more."""
    fabric, messages = case
    routes = [route(fabric, s, t) if s != t else [] for s, t in messages]
    share = shares(fabric, messages)
    load = dict.fromkeys((c for channels in routes for c in channels), 0.0)
    largest = dict(load)
    for m, channels in enumerate(routes):
        for c in channels:
            load[c] += share[m]
            largest[c] = max(largest[c], share[m])
    assert all(sum_ <= 1 + 1e-9 for sum_ in load.values())
    for m, channels in enumerate(routes):
        assert not channels or any(
            load[c] >= 1 - 1e-9 and largest[c] <= share[m] + 1e-9 for c in channels
        )


@given(messages_on())
@settings(max_examples=60, deadline=None)
def test_never_less_than_one_over_pi(case: tuple[Fabric, list[tuple[int, int]]]) -> None:
    fabric, messages = case
    source, target = [s for s, _ in messages], [t for _, t in messages]
    simple = message_congestion(fabric, source, target).bandwidth
    assert (fair_share(fabric, source, target) >= simple - 1e-12).all()


@given(messages_on())
@settings(max_examples=60, deadline=None)
def test_equal_sizes_end_at_one_over_their_share(
    case: tuple[Fabric, list[tuple[int, int]]],
) -> None:
    fabric, messages = case
    source, target = [s for s, _ in messages], [t for _, t in messages]
    share = fair_share(fabric, source, target)
    assert fluid_times(fabric, source, target) == pytest.approx(1 / share, rel=1e-9)


# Four hosts on each of eight switches in a ring, routed by the shorter way; host 4 s + i is on
# switch s.
@pytest.fixture(scope="module")
def line() -> Fabric:
    return routed(ring(8, 4))


def test_rivals_with_the_same_bottleneck_get_one_over_pi(line: Fabric) -> None:
    """Four from switch 0 to switch 1: x1 + x2 + x3 + x4 <= 1, so 1/4 = 1/pi each."""
    assert shares(line, [(i, 4 + i) for i in range(4)]) == pytest.approx([1 / 4] * 4)


def test_rival_that_is_held_back_elsewhere(line: Fabric) -> None:
    """a: 0 -> 2, b, c: 1 -> 2, d: 0 -> 1; a + b + c <= 1 and a + d <= 1: 1/3 each and d = 2/3.

    Counting gives d 1/2, as a is on its channel too.
    """
    messages = [(0, 8), (4, 9), (5, 10), (1, 6)]
    assert shares(line, messages) == pytest.approx([1 / 3, 1 / 3, 1 / 3, 2 / 3])
    counted = message_congestion(line, [s for s, _ in messages], [t for _, t in messages])
    assert counted.bandwidth.tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1 / 2])


def test_three_levels(line: Fabric) -> None:
    """On 2 -> 3 four with 1/4 each, on 1 -> 2 two of them and e: e = 1/2, on 0 -> 1 e and f: 1/2.

    With one of the four on 0 -> 1 as well: e + f <= 3/4 there, so f = e = 3/8 would leave e below
    its 1/2 of 1 -> 2: e = f = 3/8.
    """
    crowd = [(4, 12), (5, 13), (8, 14), (9, 15)]
    assert shares(line, [*crowd, (0, 10), (1, 6)]) == pytest.approx([1 / 4] * 4 + [1 / 2] * 2)
    longer = [(2, 12), *crowd[1:]]
    assert shares(line, [*longer, (0, 10), (1, 6)]) == pytest.approx([1 / 4] * 4 + [3 / 8] * 2)


def test_hosts_are_shared() -> None:
    """0 sends to 1, 2, 3, a third each; 4 -> 1: 1 - 1/3 is left of the ejection of 1."""
    found = shares(routed(crossbar(5)), [(0, 1), (0, 2), (0, 3), (4, 1)])
    assert found == pytest.approx([1 / 3, 1 / 3, 1 / 3, 2 / 3])


def test_figure_of_2008() -> None:
    """Its congested pattern has one bottleneck, so that both models agree."""
    figure = load("fig1", route="fig1")
    pairs = [(1, 5), (2, 9), (3, 13), (4, 6), (7, 8), (10, 11), (12, 14), (15, 16)]
    source, target = (np.array(pairs) - 1).T
    assert fair_share(figure, source, target).tolist() == pytest.approx([1 / 3] * 3 + [1] * 5)


def test_message_to_oneself_and_none() -> None:
    fabric = routed(crossbar(3))
    assert shares(fabric, [(1, 1), (0, 1)]) == [1, 1]
    assert shares(fabric, []) == []
    assert fluid_times(fabric, [1], [1], size=[3]).tolist() == [3]


def test_messages_that_end_leave_their_share(line: Fabric) -> None:
    """Sizes 1, 2, 3 on one channel: thirds until 3, halves until 5, alone until 6."""
    times = fluid_times(line, [0, 1, 2], [4, 5, 6], size=[1, 2, 3])
    assert times.tolist() == pytest.approx([3, 5, 6])


def test_refusals() -> None:
    fabric = routed(crossbar(3))
    with pytest.raises(UsageError, match=r"hosts 0 \.\. 2, got 0 \.\. 3"):
        fair_share(fabric, [0], [3])
    with pytest.raises(UsageError, match="as many targets as sources, got 2 and 1"):
        fair_share(fabric, [0], [1, 2])
    with pytest.raises(UsageError, match="sizes above 0"):
        fluid_times(fabric, [0], [1], size=[-1])
    with pytest.raises(UsageError, match="as many sizes as messages"):
        fluid_times(fabric, [0], [1], size=[1, 2])
    with pytest.raises(UsageError, match="has no routes"):
        fair_share(crossbar(3), [0], [1])
