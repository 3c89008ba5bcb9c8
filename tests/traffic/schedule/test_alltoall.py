"""All-to-alls as schedules: every block arrives, and an empty network takes what equations say."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from contend.base.errors import UsageError
from contend.routes import load
from contend.traffic.schedule import (
    ALGORITHMS,
    DIRECT,
    ROUTED,
    Action,
    Cables,
    Costs,
    Exchange,
    MessageClass,
    Schedule,
    Strand,
    alltoall,
    carry_out,
    phases_by_routes,
)

SIZE, RATE = 10_000, 1e6
IN_ORDER = [name for name in DIRECT if name not in ROUTED]


def made(algorithm: str, exchange: Exchange, fabric: str = "crossbar:8") -> Schedule:
    """A schedule, made from the fabric's routes where it follows them."""
    if algorithm in ROUTED:
        phases = phases_by_routes(load(fabric, need_routes=True), range(exchange.ranks))
        exchange = replace(exchange, phases=phases)
    return alltoall(algorithm, exchange)


def seconds(
    algorithm: str, exchange: Exchange, *, fabric: str = "crossbar:8", **costs: float
) -> float:
    network = load(fabric, need_routes=True)
    price = MessageClass(math.inf, **costs)  # type: ignore[arg-type]
    return carry_out(
        network,
        made(algorithm, exchange, fabric),
        range(exchange.ranks),
        Cables(rate=RATE),
        Costs([price], [price]),
    ).seconds


def blocks(schedule: Schedule) -> Counter[tuple[int, int]]:
    """Bytes from rank to rank."""
    sent: Counter[tuple[int, int]] = Counter()
    for strand, first in enumerate(schedule.begin[:-1]):
        for operation in range(int(first), int(schedule.begin[strand + 1])):
            if schedule.action[operation] == Action.SEND:
                ends = (
                    int(schedule.rank_of_strand[strand]),
                    int(schedule.rank_of_strand[schedule.peer[operation]]),
                )
                sent[ends] += int(schedule.amount[operation])
    return sent


@pytest.mark.parametrize("algorithm", IN_ORDER)
def test_on_a_crossbar_it_takes_what_a_port_takes(algorithm: str) -> None:
    """(p - 1) blocks through every port, at its rate."""
    least, time = 7 * SIZE / RATE, seconds(algorithm, Exchange(8, SIZE))
    if algorithm == "one-factor":
        # Ranks that meet themselves go ahead and get in the way of others.
        assert time > least
    else:
        assert time == pytest.approx(least)


@pytest.mark.parametrize("ranks", [3, 5, 6, 7])
def test_odd_numbers_of_ranks_come_to_an_end(ranks: int) -> None:
    for algorithm in ALGORITHMS:
        if algorithm != "xor" or ranks & (ranks - 1) == 0:
            for size in (0, 1, SIZE):
                exchange = Exchange(
                    ranks, size, batch=2, in_flight=2, hosts=[rank // 2 for rank in range(ranks)]
                )
                assert seconds(algorithm, exchange) >= 0


@pytest.mark.parametrize(("ranks", "radix"), [(8, 2), (8, 3), (6, 2), (9, 3), (5, 7)])
def test_bruck_moves_a_block_once_for_each_digit_of_its_distance(ranks: int, radix: int) -> None:
    def digits(distance: int) -> int:
        return 0 if distance == 0 else (distance % radix > 0) + digits(distance // radix)

    moves = sum(digits(distance) for distance in range(ranks))
    schedule = alltoall("bruck", Exchange(ranks, SIZE, radix=radix))
    assert schedule.sent == ranks * moves * SIZE


def test_a_hierarchical_exchange_crosses_between_nodes_once() -> None:
    sent = blocks(alltoall("hierarchical", Exchange(8, SIZE, hosts=[0] * 4 + [1] * 4)))
    # Members hand over and are handed 8 blocks; leaders exchange 4 by 4.
    assert sent[1, 0] == sent[0, 1] == 8 * SIZE
    assert sent[0, 4] == sent[4, 0] == 16 * SIZE
    assert (1, 4) not in sent


def test_phases_take_a_latency_each_and_all_at_once_takes_one() -> None:
    wire, latency = 7 * SIZE / RATE, 0.01
    for algorithm in ("shift", "xor", "node-ordered"):
        time = seconds(algorithm, Exchange(8, SIZE), latency=latency)
        assert time == pytest.approx(wire + 7 * latency), algorithm
    assert seconds("linear", Exchange(8, SIZE), latency=latency) == pytest.approx(wire + latency)
    # Six barriers of three rounds lie between seven phases.
    barriers = seconds("shift-barrier", Exchange(8, SIZE), latency=latency)
    assert barriers == pytest.approx(wire + (7 + 6 * 3) * latency)


def test_a_shift_that_collides_takes_as_many_times_as_long() -> None:
    """Two leaves of four hosts with one cable between them carry four messages in turns."""
    exchange = Exchange(8, SIZE)
    # Of r + i on the other leaf there are min(i, 8 - i) hosts a leaf.
    crossing = sum(max(1, min(i, 8 - i)) for i in range(1, 8))
    time = seconds("shift-barrier", exchange, fabric="xgft:2;4,2;1,1")
    assert time == pytest.approx(crossing * SIZE / RATE)


def test_routed_phases_take_a_block_each_whatever_they_cross() -> None:
    """Two leaves of four with one cable each way carry 16 messages one after the other."""
    fabric, latency = "xgft:2;4,2;1,1", 0.01
    phases = phases_by_routes(load(fabric, need_routes=True), range(8))
    assert (len(phases), phases.bound) == (16, 16)
    time = seconds("routed-barrier", Exchange(8, SIZE), fabric=fabric, latency=latency)
    # Fifteen barriers of three rounds lie between them; who sits a phase out begins them earlier.
    assert 16 * SIZE / RATE + 15 * latency < time
    assert time <= 16 * (SIZE / RATE + latency) + 15 * 3 * latency
    # Without barriers those that sit phases out run ahead, and meet others.
    assert seconds("routed", Exchange(8, SIZE), fabric=fabric) >= 16 * SIZE / RATE


def test_a_copy_keeps_the_processor_busy() -> None:
    plain = seconds("shift", Exchange(8, SIZE))
    copied = seconds("shift", Exchange(8, SIZE, copy_per_byte=1e-6))
    assert copied == pytest.approx(plain + SIZE * 1e-6)


def test_what_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match="xor: expected a power of two of ranks, got 6"):
        alltoall("xor", Exchange(6, 1))
    with pytest.raises(UsageError, match="routed: expected phases of 6 ranks, got none"):
        alltoall("routed", Exchange(6, 1))
    network = load("crossbar:8", need_routes=True)
    with pytest.raises(UsageError, match=r"expected phases of 6 ranks, got <\d phases of 8 ranks"):
        alltoall("routed", Exchange(6, 1, phases=phases_by_routes(network, range(8))))
    with pytest.raises(UsageError, match=r"expected one of linear, .*got 'shfit'.*shift"):
        alltoall("shfit", Exchange(4, 1))


def test_channels_carry_what_is_sent_and_no_more() -> None:
    fabric = load("fig1", need_routes=True)
    price = MessageClass(math.inf)
    course = carry_out(
        fabric,
        alltoall("linear", Exchange(16, SIZE)),
        range(16),
        Cables(rate=RATE),
        Costs([price], [price]),
    )
    between = 2 * fabric.cables
    assert course.channel_bytes[between:] == pytest.approx(np.full(32, 15 * SIZE))
    assert (course.channel_busy <= course.seconds * (1 + 1e-9)).all()
    assert (course.channel_bytes <= course.seconds * RATE * (1 + 1e-9)).all()


def test_what_a_rank_sends_before_it_waits() -> None:
    assert alltoall("shift", Exchange(6, 100)).sent_at_once == 1
    assert alltoall("linear", Exchange(6, 100)).sent_at_once == 5
    assert alltoall("scattered", Exchange(6, 100, batch=2)).sent_at_once == 2
    silent = Strand(0)
    silent.compute(1.0)
    assert Schedule.of([silent]).sent_at_once == 0
