"""What hosts get in operations of all ranks: by equations on two leaves below one switch."""

from __future__ import annotations

import numpy as np
import pytest

import contend
from contend.base.errors import UsageError
from contend.congestion import Collectives, PacketModel, Queues, all_ranks, collectives, simulate
from contend.cure import engines
from contend.fabric import Fabric
from contend.traffic.pattern import shift_distances

HDR = 25e9


def _narrow(*, slow_cables: bool = False, unknown: bool = False) -> Fabric:
    """Hosts 0, 1 and 2, 3 on two leaves with one cable each to a switch above, all of 25 GB/s.

    With slow cables those have 12.5 GB/s.
    """
    fabric = contend.load("xgft:2;2,2;1,1", route="minhop")
    if unknown:
        return fabric.replace(rates=("", ""))
    if slow_cables:
        rates = np.full(fabric.cables, 2, dtype=np.uint16)
        return fabric.replace(rates=("", "4xHDR", "4xEDR"), cable_rate=rates)
    return fabric


def _by_name(found: Collectives) -> dict[str, tuple[float, float | None, float | None]]:
    return {one.name: (one.share, one.rate_Bps, one.seconds_per_byte) for one in found.operations}


def test_two_leaves_with_one_cable_each() -> None:
    """At once: 2 hosts send to 2 others over a cable, 4 messages, where a port has 3.

    A shift by 2 sends two messages over each cable, one by 1 or 3 a single one. So all shifts take
    1 + 2 + 1 messages' time. The tree's second round, 0 -> 2 and 1 -> 3, has two on a cable.
    """
    found = _by_name(collectives(_narrow()))
    assert found == {
        "all-to-all, at once": pytest.approx((3 / 4, HDR * 3 / 4, 4 / HDR)),
        "all-to-all, shift by shift": pytest.approx((3 / 4, HDR * 3 / 4, 4 / HDR)),
        "a shift, on average": pytest.approx((3 / 4, HDR * 3 / 4, 4 / 3 / HDR)),
        "the worst shift, by 2": pytest.approx((1 / 2, HDR / 2, 2 / HDR)),
        "a step of a ring": pytest.approx((1, HDR, 1 / HDR)),
        "broadcast by a binomial tree": pytest.approx((1 / 3, HDR / 3, 3 / HDR)),
        "reduction by a binomial tree": pytest.approx((1 / 3, HDR / 3, 3 / HDR)),
    }


def test_slow_cables_are_weighed() -> None:
    """A message over a cable of half the rate takes two messages' time, two of them four.

    At once: 4 messages over it, 8. Shifts: 2 + 4 + 2. Trees: 0 -> 1 stays on its leaf: 1 + 4.
    """
    found = _by_name(collectives(_narrow(slow_cables=True)))
    # Times of rounds are kept to a millionth.
    near = {
        name: pytest.approx((share, share * HDR, times / HDR), rel=2e-6)
        for name, share, times in (
            ("all-to-all, at once", 3 / 8, 8),
            ("all-to-all, shift by shift", 3 / 8, 8),
            ("a shift, on average", 3 / 8, 8 / 3),
            ("the worst shift, by 2", 1 / 4, 4),
            ("a step of a ring", 1 / 2, 2),
            ("broadcast by a binomial tree", 1 / 5, 5),
            ("reduction by a binomial tree", 1 / 5, 5),
        )
    }
    assert found == near
    alike = _by_name(collectives(_narrow(slow_cables=True), equal_rates=True))
    assert alike["all-to-all, at once"] == (3 / 4, None, None)
    given = _by_name(collectives(_narrow(slow_cables=True), rate=1e9))
    assert given["all-to-all, at once"] == pytest.approx((3 / 4, 1e9 * 3 / 4, 4e-9))


def test_unknown_rates_leave_shares() -> None:
    found = collectives(_narrow(unknown=True)).operations[0]
    assert (found.share, found.rate_Bps, found.seconds(1)) == (3 / 4, None, None)


def test_ranks_that_share_a_host_share_its_port() -> None:
    """Two ranks each on 4 hosts: a host sends 2 * 6 messages, and 16 of 4 ranks cross a cable."""
    at_once, by_shifts, *_ = collectives(_narrow(), ranks_per_host=2).operations
    assert at_once.messages_of_a_host == 12
    assert at_once.seconds(1) == pytest.approx(16 / HDR)
    # By 1 and 7 one message crosses a cable, by 2 and 6 two, by 3 and 5 three, by 4 four.
    assert by_shifts.seconds(1) == pytest.approx((1 + 2 + 3 + 4 + 3 + 2 + 1) / HDR)


def test_all_to_all_is_that_of_the_table_of_engines() -> None:
    fabric = contend.load("xgft:2;4,6;1,3", route="updn")
    present = next(one for one in engines(fabric, ["minhop"]).engines if one.engine == "present")
    assert collectives(fabric).operations[0].share == pytest.approx(present.alltoall_bound)


def test_random_placements_and_hashed_routes_are_drawn() -> None:
    fabric = contend.load("xgft:2;4,4;1,4", route="ecmp")
    found = collectives(fabric, placement="random", seed=5)
    assert found.operations[0].share == collectives(fabric, seed=5).operations[0].share
    ring = simulate(fabric, "ring", precision=0.01, seed=5)
    expected = HDR / ring.max_congestion.mean()
    assert found.operations[4].rate_Bps == pytest.approx(expected)


def test_one_host_is_refused() -> None:
    with pytest.raises(UsageError, match="on two hosts or more, got one host"):
        collectives(_narrow(), hosts=1, ranks_per_host=4)


@pytest.mark.parametrize("engine", ["dmodk", "ecmp", "ecmp,flows=4", "adaptive"])
def test_some_shifts_stand_for_all(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all take minutes, those that are counted tell what each takes and the worst of them."""
    fabric = contend.load("xgft:2;4,8;1,2", route=engine)
    flows = 1 if fabric.routes is None else fabric.routes.flows
    for bound in ("_FOLLOWED", "_DRAWN", "_SOLVED"):
        monkeypatch.setattr(all_ranks, bound, 5 * 32 * flows)
    some = collectives(fabric)
    assert some.shifts == 5
    counted = contend.simulate(fabric, "shifts:5", placement="linear", precision=0.01)
    times = counted.round_max_congestion
    by_shifts = next(one for one in some.operations if one.name.endswith("shift by shift"))
    assert by_shifts.rounds == 31
    assert by_shifts.congestion == pytest.approx(31 * times.mean())
    worst = next(one for one in some.operations if one.name.startswith("the worst of 5 shifts, by"))
    assert worst.congestion == pytest.approx(times.max())
    assert some.worst_shift == shift_distances(32, 5)[times.argmax()]
    assert f"by {some.worst_shift}" in worst.name
    [table] = some.document().tables
    assert "5 of 31 shifts counted" in table.note


def test_all_shifts_are_counted_where_they_are_few() -> None:
    found = collectives(contend.load("fig1", route="dmodk"))
    assert found.shifts == 15
    [table] = found.document().tables
    assert "counted" not in table.note


def test_rounds_by_packets_are_as_counted_where_queues_never_fill() -> None:
    found = contend.collectives(
        contend.load("crossbar:16", route="minhop"), packets=PacketModel.of()
    )
    for operation in found.operations:
        assert operation.packet_shares is not None
        fifo, voq = (operation.packet_shares[queues] for queues in Queues)
        # Latencies, and hosts that begin within a packet's time of each other.
        assert voq == pytest.approx(operation.share, rel=0.02)
        assert (fifo == pytest.approx(voq)) == (operation.pattern != "alltoall")


def test_packets_of_an_all_to_all_are_those_of_its_schedule() -> None:
    fabric = contend.load("xgft:2;4,6;1,3", route="minhop")
    at_once = contend.collectives(fabric, packets=PacketModel.of(), bytes="1M").operations[0]
    assert at_once.packet_shares is not None
    for queued in contend.predict_packets(fabric, algorithms="linear", bytes="1M").cells:
        # One begins all messages together, the other in the order of ranks.
        assert queued.share == pytest.approx(at_once.packet_shares[queued.queues], rel=0.03)
    assert at_once.packet_shares[Queues.FIFO] < 0.95 * at_once.packet_shares[Queues.VOQ]


def test_packets_of_gpus_leave_what_stays_within_servers() -> None:
    fabric = contend.load("rails:2,8,4,2", route="minhop")
    model = PacketModel.of(("fifo",))
    slow = contend.collectives(fabric, packets=model, nvlink="1GB/s").gpu
    fast = contend.collectives(fabric, packets=model).gpu
    assert slow is not None
    assert fast is not None
    for way in slow.collectives:
        assert way.packet_shares is not None
        assert 0 < way.packet_shares[Queues.FIFO] <= way.share
        if way.limit == "NVLink" and "within servers" not in way.name:
            assert way.packet_shares[Queues.FIFO] == way.share
    trees = next(way for way in fast.collectives if "trees" in way.name)
    assert trees.packet_shares is not None
    assert trees.packet_shares[Queues.FIFO] < 0.9 * trees.share
