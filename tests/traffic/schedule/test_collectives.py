"""Collectives as messages: as many as their algorithms send, in as many rounds."""

from __future__ import annotations

import math

import pytest

from contend.base.errors import UsageError
from contend.routes import load
from contend.traffic.schedule import (
    COLLECTIVES,
    Action,
    Cables,
    Costs,
    Course,
    MessageClass,
    Operation,
    Schedule,
    Strand,
    all_members,
    carry_out,
    choose,
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


def course_of(routine: str, algorithm: str, ranks: int, size: float = 0, root: int = 0) -> Course:
    members = all_members(ranks)
    for member in members:
        COLLECTIVES[routine][algorithm](member, Operation(size, root))
    return carried_out([member.strand for member in members], latency=LATENCY)


def each(routine: str) -> list[str]:
    return list(COLLECTIVES[routine])


@pytest.mark.parametrize("ranks", RANKS)
def test_dissemination_takes_a_latency_for_every_doubling(ranks: int) -> None:
    rounds = math.ceil(math.log2(ranks))
    course = course_of("barrier", "dissemination", ranks)
    assert course.messages == ranks * rounds
    assert course.seconds == pytest.approx(rounds * LATENCY)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("algorithm", each("barrier"))
def test_nobody_leaves_a_barrier_before_the_last_one_has_come(ranks: int, algorithm: str) -> None:
    for late in {0, ranks // 2, ranks - 1}:
        members = all_members(ranks)
        members[late].compute(10.0)
        for member in members:
            COLLECTIVES["barrier"][algorithm](member, Operation())
        assert min(carried_out([member.strand for member in members]).rank_end) >= 10.0


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("root", [0, 1])
@pytest.mark.parametrize("algorithm", each("bcast"))
def test_a_broadcast_reaches_everybody(ranks: int, root: int, algorithm: str) -> None:
    members = all_members(ranks)
    members[root].compute(10.0)
    for member in members:
        COLLECTIVES["bcast"][algorithm](member, Operation(100 * ranks, root))
    course = carried_out([member.strand for member in members])
    others = [end for rank, end in enumerate(course.rank_end) if rank != root]
    assert min(others) >= 10.0
    if not algorithm.startswith("scatter"):
        assert course.messages == ranks - 1


@pytest.mark.parametrize("ranks", RANKS)
def test_a_binomial_broadcast_is_as_deep_as_places_have_ones(ranks: int) -> None:
    depth = max(place.bit_count() for place in range(ranks))
    course = course_of("bcast", "binomial", ranks, 100, 1)
    assert course.seconds == pytest.approx(depth * LATENCY, rel=0.01)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("root", [0, 1])
@pytest.mark.parametrize("routine", ["reduce", "gather"])
def test_the_root_hears_of_everybody(ranks: int, root: int, routine: str) -> None:
    for algorithm in each(routine):
        for late in range(ranks):
            members = all_members(ranks)
            members[late].compute(10.0)
            for member in members:
                COLLECTIVES[routine][algorithm](member, Operation(100 * ranks, root))
            course = carried_out([member.strand for member in members])
            assert course.rank_end[root] >= 10.0


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("routine", ["allreduce", "allgather"])
def test_everybody_hears_of_everybody(ranks: int, routine: str) -> None:
    for algorithm in each(routine):
        for late in {0, 1, ranks // 2, ranks - 1}:
            members = all_members(ranks)
            members[late].compute(10.0)
            for member in members:
                COLLECTIVES[routine][algorithm](member, Operation(100 * ranks))
            course = carried_out([member.strand for member in members])
            assert min(course.rank_end) >= 10.0


@pytest.mark.parametrize("ranks", RANKS)
def test_allreduces_send_what_their_papers_say(ranks: int) -> None:
    power = 2 ** int(math.log2(ranks))
    extra = ranks - power
    doubling = course_of("allreduce", "recursive-doubling", ranks, 100)
    assert doubling.messages == power * math.log2(power) + 2 * extra
    ring = course_of("allreduce", "ring", ranks, 1e6)
    assert ring.messages == 2 * ranks * (ranks - 1)
    # 2 (p - 1) / p of the bytes through every port.
    wire = 2 * (ranks - 1) / ranks * 1e6 / 1e6
    assert ring.seconds == pytest.approx(wire + 2 * (ranks - 1) * LATENCY)
    halving = course_of("allreduce", "halving-doubling", ranks, 1e6)
    if not extra:
        assert halving.seconds == pytest.approx(wire + 2 * math.log2(ranks) * LATENCY)
        # The nearest member gets half of the bytes, twice; the farthest one block of them.
        first = all_members(ranks)[0]
        COLLECTIVES["allreduce"]["halving-doubling"](first, Operation(1e6))
        made = Schedule.of([first.strand])
        sends = made.action == Action.SEND
        got = list(zip(made.peer[sends].tolist(), made.amount[sends].tolist(), strict=True))
        assert got[:1] == got[-1:] == [(1, 5e5)]
        assert (ranks // 2, 1e6 / ranks) in got


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("algorithm", ["ring", "bruck", "recursive-doubling", "neighbour"])
def test_an_allgather_brings_every_block_through_every_port(ranks: int, algorithm: str) -> None:
    course = course_of("allgather", algorithm, ranks, 1e6)
    rounds = {"ring": ranks - 1, "neighbour": ranks - 1 if ranks % 2 else ranks // 2}
    latencies = rounds.get(algorithm, math.ceil(math.log2(ranks)))
    assert course.seconds == pytest.approx((ranks - 1) * 1.0 + latencies * LATENCY)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("routine", ["gather", "scatter"])
def test_the_root_s_port_carries_all_blocks(ranks: int, routine: str) -> None:
    for algorithm in each(routine):
        course = course_of(routine, algorithm, ranks, 1e6, 1)
        assert course.seconds >= ranks - 1


def test_different_amounts_go_where_they_are_to_go() -> None:
    for algorithm in each("alltoallv"):
        members = all_members(3)
        amounts = [{1: 1e6, 2: 2e6}, {0: 3e6}, {}]
        for member, to in zip(members, amounts, strict=True):
            sources = [source for source in range(3) if member.rank in amounts[source]]
            COLLECTIVES["alltoallv"][algorithm](member, Operation(to=to, sources=sources))
        course = carried_out([member.strand for member in members])
        assert course.channel_bytes.sum() == pytest.approx(2 * 6e6)


@pytest.mark.parametrize("library", ["Open MPI 4.1.4", "MPICH 4.0.2"])
def test_every_choice_of_a_library_can_be_carried_out(library: str) -> None:
    for routine, algorithms in COLLECTIVES.items():
        for ranks in range(2, 5000, 7):
            for size in (0, 1, 100, 5000, 1e5, 1e7):
                assert choose(library, routine, ranks, size) in algorithms


def test_choices_are_those_of_the_libraries() -> None:
    choices = [
        ("Open MPI 4.1.4", "alltoall", 16, 14_112, "linear"),
        ("Open MPI 5.0.10", "alltoall", 16, 300, "bruck"),
        ("Open MPI 4.1.4", "alltoall", 100, 300_000, "shift"),
        ("Open MPI 4.1.4", "bcast", 100, 1, "quaternary"),
        ("Open MPI 4.1.4", "allreduce", 4, 15, "ring"),
        ("Open MPI 4.1.4", "allreduce", 4, 16, "recursive-doubling"),
        ("Open MPI 4.1.4", "alltoallv", 64, 1, "shift"),
        ("Open MPI 4.1.4", "alltoallw", 64, 1, "linear"),
        ("Open MPI 4.1.4", "gather", 64, 1, "binomial"),
        ("MPICH 4.0.2", "gatherv", 64, 1, "linear"),
        ("MPICH 4.0.2", "alltoall", 16, 40_000, "xor"),
        ("MPICH 4.0.2", "alltoall", 12, 40_000, "shift"),
        ("MPICH 4.0.2", "allgather", 12, 40_000, "ring"),
    ]
    for library, routine, ranks, size, algorithm in choices:
        assert choose(library, routine, ranks, size) == algorithm


def test_what_is_not_known_is_said() -> None:
    with pytest.raises(UsageError, match="algorithms of Intel MPI 2021 are not known"):
        choose("Intel MPI 2021", "alltoall", 4, 1)
    with pytest.raises(UsageError, match="how MPICH 4 carries put out is not known"):
        choose("MPICH 4", "put", 4, 1)


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
