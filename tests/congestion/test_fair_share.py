"""Max-min fair shares against exact rational water filling, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings

from contend.base.errors import UsageError
from contend.congestion import fair_share, fluid_times, message_congestion
from contend.fabric import Fabric
from counting import Messages, messages_on, route
from small_fabrics import crossbar, ring, routed


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


@given(messages_on())
@settings(max_examples=60, deadline=None)
def test_same_as_exact_water_filling(case: tuple[Fabric, list[tuple[int, int]]]) -> None:
    fabric, messages = case
    exact = filled([route(fabric, s, t) if s != t else [] for s, t in messages])
    assert shares(fabric, messages) == pytest.approx([float(x) for x in exact], rel=1e-12)


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


def test_rival_that_is_held_back_elsewhere(line: Fabric) -> None:
    """a: 0 -> 2, b, c: 1 -> 2, d: 0 -> 1; a + b + c <= 1 and a + d <= 1: 1/3 each and d = 2/3.

    Counting gives d 1/2, as a is on its channel too.
    """
    messages = [(0, 8), (4, 9), (5, 10), (1, 6)]
    assert shares(line, messages) == pytest.approx([1 / 3, 1 / 3, 1 / 3, 2 / 3])
    counted = message_congestion(line, [s for s, _ in messages], [t for _, t in messages])
    assert counted.bandwidth.tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1 / 2])


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
    with pytest.raises(UsageError, match=r"hosts 0 \.\. 2, got -1"):
        fair_share(fabric, [-1], [0])
    with pytest.raises(UsageError, match="as many targets as sources, got 2 and 1"):
        fair_share(fabric, [0], [1, 2])
    with pytest.raises(UsageError, match="sizes above 0"):
        fluid_times(fabric, [0], [1], size=[-1])
    with pytest.raises(UsageError, match="as many sizes as messages"):
        fluid_times(fabric, [0], [1], size=[1, 2])
    with pytest.raises(UsageError, match="has no routes"):
        fair_share(crossbar(3), [0], [1])
