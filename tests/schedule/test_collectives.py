"""Collectives as messages: as many as their algorithms send, in as many rounds."""

from __future__ import annotations

import math

import pytest

from contend.errors import UsageError
from contend.loading import load
from contend.schedule import (
    COLLECTIVES,
    Cables,
    Costs,
    Course,
    MessageClass,
    Schedule,
    Strand,
    all_ranks,
    carry_out,
)

LATENCY = 0.125
RANKS = [2, 3, 4, 5, 6, 7, 8, 13, 16]


def carried_out(strands: list[Strand], **costs: float) -> Course:
    price = MessageClass(math.inf, **costs)  # type: ignore[arg-type]
    return carry_out(
        load("crossbar:16", need_routes=True),
        Schedule.of(strands),
        range(len(strands)),
        Cables(rate=1e6),
        Costs([price], [price]),
    )


def course_of(name: str, ranks: int, *arguments: float) -> Course:
    return carried_out(list(all_ranks(ranks, COLLECTIVES[name], *arguments)), latency=LATENCY)


@pytest.mark.parametrize("ranks", RANKS)
def test_a_barrier_takes_a_latency_for_every_doubling(ranks: int) -> None:
    rounds = math.ceil(math.log2(ranks))
    course = course_of("barrier", ranks)
    assert course.messages == ranks * rounds
    assert course.seconds == pytest.approx(rounds * LATENCY)


def test_nobody_leaves_a_barrier_before_the_last_one_has_come() -> None:
    strands = [Strand(rank) for rank in range(7)]
    strands[4].compute(10.0)
    for strand in strands:
        COLLECTIVES["barrier"](strand, 7)
    assert min(carried_out(strands).rank_end) >= 10.0


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("root", [0, 1])
def test_a_broadcast_reaches_everybody_once(ranks: int, root: int) -> None:
    course = course_of("broadcast", ranks, 100, root)
    assert course.messages == ranks - 1
    # A rank is as deep in the tree as its place has ones.
    depth = max(place.bit_count() for place in range(ranks))
    assert course.seconds == pytest.approx(depth * LATENCY, rel=0.01)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("root", [0, 1])
def test_a_reduction_hears_of_everybody_once(ranks: int, root: int) -> None:
    course = course_of("reduce", ranks, 100, root)
    assert course.messages == ranks - 1
    assert course.rank_end[root] == max(course.rank_end)


@pytest.mark.parametrize("ranks", RANKS)
def test_small_allreduces_double_and_large_ones_go_round(ranks: int) -> None:
    power = 2 ** int(math.log2(ranks))
    extra = ranks - power
    small = course_of("allreduce", ranks, 100)
    assert small.messages == power * math.log2(power) + 2 * extra
    large = course_of("allreduce", ranks, 1e6)
    assert large.messages == 2 * ranks * (ranks - 1)
    # 2 (p - 1) / p of the bytes through every port.
    wire = 2 * (ranks - 1) / ranks * 1e6 / 1e6
    assert large.seconds == pytest.approx(wire + 2 * (ranks - 1) * LATENCY)


@pytest.mark.parametrize("ranks", RANKS)
def test_an_allgather_goes_round(ranks: int) -> None:
    course = course_of("allgather", ranks, 1e6)
    assert course.seconds == pytest.approx((ranks - 1) * (1.0 + LATENCY))


def test_a_schedule_that_cannot_end_says_where() -> None:
    first, second = Strand(0), Strand(1)
    first.wait(first.receive(1))
    first.send(1, 10)
    second.wait(second.receive(0))
    second.send(0, 10)
    with pytest.raises(
        UsageError, match=r"rank 0, operation 1 waits for ever, as for its receive from rank 1"
    ):
        carried_out([first, second])
