"""The judgement of one cell, on figures that are worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from contend.explanation import (
    Bound,
    Evidence,
    FailedEvidence,
    FastestRival,
    HotSpotEvidence,
    Limit,
    MeasuredEvidence,
    Memory,
    PublishedEvidence,
    judge,
)
from contend.lab.emulation import Drops
from contend.lab.runs import Modes

PORT = Bound(Limit.PORT, 1.0, "bytes through a port")
FABRIC = Bound(Limit.FABRIC, 1.0, "messages over a channel", load=16)


CELL: dict[str, Any] = {
    "cell": "a cell",
    "condition": (),
    "schedule": "linear",
    "bytes": 4096,
    "ranks": 16,
    "hosts": 16,
}


def cell(measured_s: float, *bounds: Bound, **more: Any) -> MeasuredEvidence:
    return MeasuredEvidence(measured_s=measured_s, bounds=bounds, **{**CELL, **more})


@pytest.mark.parametrize(
    ("measured", "limits"),
    [(0.89, ()), (0.9, (Limit.PORT,)), (2.0, (Limit.PORT,)), (2.01, ())],
)
def test_a_bound_is_reached_from_nine_tenths_to_twice_of_it(
    measured: float, limits: tuple[Limit, ...]
) -> None:
    assert judge(cell(measured, PORT)).proven == limits


@pytest.mark.parametrize(
    ("port_s", "limits"),
    [(1.2, (Limit.PORT,)), (1.1, (Limit.FABRIC, Limit.PORT)), (0.8, (Limit.FABRIC,))],
)
def test_the_larger_bound_of_the_network_is_named_and_the_other_from_nine_tenths_on(
    port_s: float, limits: tuple[Limit, ...]
) -> None:
    assert judge(cell(1.3, replace(PORT, seconds=port_s), FABRIC)).proven == limits


def test_where_the_larger_bound_of_the_network_is_broken_the_smaller_proves_nothing() -> None:
    """16 KiB on two leaves of a cable each: 21.7 ms, of which cables take 26.2 and ports 19.7."""
    measured = cell(21.7, replace(PORT, seconds=19.7), replace(FABRIC, seconds=26.2))
    assert judge(measured).proven == ()


def test_a_channel_with_one_message_of_a_port_s_rate_is_no_limit() -> None:
    one = replace(FABRIC, load=1)
    assert judge(cell(1.3, PORT, one)).proven == (Limit.PORT,)
    slower = replace(one, seconds=1.25)
    assert judge(cell(1.3, PORT, slower)).proven == (Limit.FABRIC,)


def test_late_ranks_are_held_against_all_samples_and_not_only_those_on_time() -> None:
    late = Bound(Limit.IMBALANCE, 6e-3, "waiting", measured_s=8e-3)
    assert judge(cell(7e-6, late)).proven == (Limit.IMBALANCE,)
    assert judge(cell(7e-6, replace(late, measured_s=20e-3))).proven == ()


@pytest.mark.parametrize(
    ("fast_s", "slow_s", "mean_s", "limits"),
    [
        (0.1, 0.3, 0.16, (Limit.TIME_OUTS, Limit.PORT)),
        # Less than a time-out apart; and time-outs that cost less than a third.
        (0.1, 0.27, 0.16, (Limit.PORT,)),
        (0.1, 0.3, 0.14, (Limit.PORT,)),
    ],
)
def test_two_kinds_of_samples_a_time_out_apart(
    fast_s: float, slow_s: float, mean_s: float, limits: tuple[Limit, ...]
) -> None:
    modes = Modes(fast_s, slow_s, slow=6, count=20)
    port = replace(PORT, seconds=0.09)
    assert judge(cell(fast_s, port, modes=modes, mean_s=mean_s)).proven == limits


def test_two_kinds_of_samples_on_one_host_are_no_time_outs_of_a_network() -> None:
    stalled = cell(0.1, modes=Modes(0.1, 0.4, slow=10, count=20), mean_s=0.25)
    assert judge(stalled).proven == (Limit.TIME_OUTS,)
    assert judge(replace(stalled, hosts=1)).proven == ()


def test_a_fall_with_drops_is_one_of_time_outs_even_where_blocks_may_be_passed_on() -> None:
    port = replace(PORT, seconds=0.0786)
    fallen = cell(0.321, port, fall=3.1, volume=2.1, drops=99)
    assert judge(fallen).proven == (Limit.TIME_OUTS,)
    assert judge(replace(fallen, drops=0)).proven == ()
    assert judge(replace(fallen, drops=0, volume=1.0)).proven == (Limit.TIME_OUTS,)


def test_a_time_out_that_began_during_the_transfer_is_one_where_packets_were_dropped() -> None:
    modes = Modes(0.0965, 0.275, slow=41, count=100)
    stalled = cell(0.0965, replace(PORT, seconds=0.09), modes=modes, mean_s=0.17, drops=99)
    assert Limit.TIME_OUTS in judge(stalled).proven
    for unproven in (
        replace(stalled, drops=0),
        replace(stalled, drops=None),
        replace(stalled, modes=replace(modes, slow_s=0.17), mean_s=0.15),
    ):
        assert Limit.TIME_OUTS not in judge(unproven).proven


def test_another_schedule_that_loses_no_time_out_proves_that_one_was_lost() -> None:
    port = replace(PORT, seconds=0.01)
    slow = cell(0.3, port, rival=FastestRival("shift", 0.03))
    assert judge(slow).proven == (Limit.TIME_OUTS,)
    assert judge(replace(slow, rival=FastestRival("shift", 0.13))).proven == ()
    # Bruck's schedule sends several times the bytes: 0.3 s may be what they take.
    assert judge(replace(slow, volume=16.0)).proven == ()


def test_dropped_packets_prove_time_outs_beyond_what_any_schedule_wastes() -> None:
    port = replace(PORT, seconds=0.1)
    assert judge(cell(0.41, port, drops=12)).proven == (Limit.TIME_OUTS,)
    assert judge(cell(0.39, port, drops=12)).proven == ()
    assert judge(cell(0.41, port, drops=0)).proven == ()
    assert judge(cell(0.41, port, drops=None)).proven == ()


@pytest.mark.parametrize(
    ("drops", "limit", "where"),
    [
        (Drops(51, 25, 25), Limit.HOST_QUEUES, "51 in the hosts' own queues, 25 between switches"),
        (Drops(50, 0, 50), Limit.TIME_OUTS, "50 in switches before receiving hosts"),
        (Drops(0, 7, 0), Limit.TIME_OUTS, "7 packets were dropped between switches"),
    ],
)
def test_the_queues_that_dropped_most_are_to_blame(drops: Drops, limit: Limit, where: str) -> None:
    port = replace(PORT, seconds=0.1)
    for told in (
        cell(0.41, port, drops=drops.total, drops_by_place=drops),
        cell(0.3, fall=3.0, drops=drops.total, drops_by_place=drops),
    ):
        (reason,) = judge(told).limits
        assert reason.limit is limit
        assert where in reason.why


def test_a_rate_that_falls_loses_a_time_out_on_a_network_only() -> None:
    # At the rate of smaller messages 0.3 s would be 0.1 s.
    assert judge(cell(0.3, fall=3.0)).proven == (Limit.TIME_OUTS,)
    assert judge(cell(0.3, fall=3.0, hosts=1)).proven == ()
    assert judge(cell(0.3, fall=1.9)).proven == ()
    assert judge(cell(0.26, fall=3.0)).proven == ()
    full = Memory(95, 100)
    assert judge(cell(0.3, fall=3.0, memory=full)).proven == ()


def failed(memory: Memory | None = None, **more: Any) -> FailedEvidence:
    return FailedEvidence(memory=memory, **CELL, **more)


@pytest.mark.parametrize(
    ("evidence", "limits"),
    [
        (failed(Memory(95, 100)), (Limit.MEMORY,)),
        (failed(Memory(75, 100)), (Limit.MEMORY,)),
        (failed(Memory(69, 100)), ()),
        # A cause that is known counts more than a share.
        (failed(Memory(95, 100), failure="a rank crashed"), ()),
        (failed(out_of_memory=True, failure="x"), (Limit.MEMORY,)),
        (cell(3.0, memory=Memory(95, 100), per_byte=2.5), (Limit.MEMORY,)),
        (cell(3.0, PORT, memory=Memory(95, 100)), (Limit.MEMORY,)),
        (cell(1.5, PORT, memory=Memory(95, 100)), (Limit.PORT,)),
        (cell(3.0, memory=Memory(89, 100), per_byte=2.5), ()),
    ],
)
def test_memory(evidence: Evidence, limits: tuple[Limit, ...]) -> None:
    assert judge(evidence).proven == limits


def test_a_failure_that_data_alone_do_not_explain_is_told_so() -> None:
    (full,) = judge(failed(Memory(95, 100))).limits
    (near,) = judge(failed(Memory(75, 100))).limits
    assert (full.enough, near.enough) == (True, False)


def test_rivals_that_double_the_time_are_the_fabric() -> None:
    assert judge(HotSpotEvidence(measured_s=5.0, rise=2.0, **CELL)).proven == (Limit.FABRIC,)
    assert judge(HotSpotEvidence(measured_s=5.0, rise=1.9, **CELL)).proven == ()


@pytest.mark.parametrize(
    ("deviation", "limits"), [(0.09, (Limit.TIME_OUTS,)), (0.08, ()), (None, ())]
)
def test_published_spread(deviation: float | None, limits: tuple[Limit, ...]) -> None:
    # 0.186 s over a bound of 0.0325 s: 0.77 time-outs, with a deviation of 0.2 s √0.77 = 0.175 s.
    port = replace(PORT, seconds=0.0325)
    times: dict[str, Any] = {"measured_s": 0.186, "bounds": (port,), **CELL}
    paired = PublishedEvidence(deviation_s=deviation, **times)
    assert judge(paired).proven == limits
    assert judge(MeasuredEvidence(**times)).proven == ()


def test_nothing_known_proves_nothing() -> None:
    assert judge(cell(1.0)).limits == ()
    assert judge(failed()).limits == ()
