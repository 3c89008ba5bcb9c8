"""What small messages of a program cost: by its own calls, or by a calibration; times in ns."""

from __future__ import annotations

from pathlib import Path

import pytest

from built_records import (
    RECEIVE,
    SEND,
    WAIT,
    Rank,
)
from contend.explanation import Limit
from contend.prediction import Calibration, Parameter, SizeClass, save_calibration

from .built_profiles import MS, RUN, US, explained, of, pair


def many_small(*medians: int, calls: int = 1000, longest: int = 0) -> list[Rank]:
    """Receives of 8 bytes; the fastest tenth of a rank's take what is given here."""
    ranks = [Rank(n, len(medians), **RUN) for n in range(len(medians))]
    for rank, each in zip(ranks, medians, strict=True):
        cell = rank.cell(RECEIVE, calls=calls, ticks=calls * 400 * US, size=8 * calls)
        for step in range(calls):
            start = step * 500 * US
            slow = longest and step % 2
            rank.event(start, start + (longest if slow else each), cell)
    return ranks


def test_what_small_messages_cost_is_overhead(tmp_path: Path) -> None:
    # 1000 receives of 250 µs are 0.25 s of 0.4 s in MPI.
    reason = of(explained(tmp_path / "p", many_small(250 * US, 300 * US))).limits[0]
    assert (reason.limit, reason.ratio) == (Limit.OVERHEAD, pytest.approx(400 / 250))
    assert "1,000 of MPI_Recv 250 µs each" in reason.why


def test_receives_of_late_messages_are_no_latency(tmp_path: Path) -> None:
    """On one rank messages are always there already, on the other they are late."""
    assert of(explained(tmp_path / "p", many_small(1 * US, 400 * US))).proven == ()
    # Late every other time on both.
    both = many_small(1 * US, 1 * US, longest=400 * US)
    assert of(explained(tmp_path / "q", both)).proven == ()


def test_small_messages_on_shared_processors_take_their_mean(tmp_path: Path) -> None:
    # Half of them take 1 µs, half 400 µs: 0.2 s of 0.4 s in MPI.
    ranks = many_small(1 * US, 1 * US, longest=400 * US)
    explanation = explained(tmp_path / "p", ranks, {"machine": "node1", "cpus": 1})
    (reason,) = of(explanation).limits
    assert (reason.limit, reason.ratio) == (Limit.PROCESSORS, pytest.approx(2, abs=0.01))


def test_waits_for_large_messages_tell_nothing_of_small_ones(tmp_path: Path) -> None:
    ranks = pair()
    for rank in ranks:
        cell = rank.cell(WAIT, calls=20, ticks=400 * MS, size=0, size_class=0)
        for step in range(20):
            rank.event(step * 20 * MS, step * 20 * MS + 900 * US, cell, size=0)
            rank.event(step * 20 * MS, step * 20 * MS, cell, size=1 << 20, kind=1)
    assert of(explained(tmp_path / "p", ranks)).proven == ()


def _costs(latency: float, overhead: float) -> tuple[SizeClass, ...]:
    exactly = Parameter.exactly
    return (
        SizeClass(
            up_to=None,
            eager=True,
            latency_s=exactly(latency),
            overhead_s=exactly(overhead),
            gap_s=exactly(0.0),
            gap_per_byte_s=exactly(1e-9),
        ),
    )


def test_a_calibration_says_what_messages_cost(tmp_path: Path) -> None:
    file = tmp_path / "calibration.json"
    between, within = _costs(200e-6, 30e-6), _costs(1e-6, 1e-6)
    save_calibration(file, Calibration(wire_Bps=1e9, between=between, within=within))
    ranks = pair("n0", "n1")
    for rank in ranks:
        rank.cell(RECEIVE, calls=1000, ticks=400 * MS)
        rank.cell(SEND, calls=1000, ticks=100 * MS)
    explanation = explained(tmp_path / "p", ranks, calibration=file)
    (reason,) = of(explanation).limits
    # 260 µs for a receive and 30 µs for a send, a thousand times: 0.29 s of 0.5 s.
    assert (reason.limit, reason.ratio) == (Limit.OVERHEAD, pytest.approx(0.5 / 0.29))
    assert "by the calibration" in reason.why
    # Within a host they cost next to nothing.
    beside = pair()
    beside[0].cells = beside[1].cells = ranks[0].cells
    assert of(explained(tmp_path / "q", beside, calibration=file)).proven == ()


def test_messages_of_eight_bytes_are_latency_without_a_calibration(tmp_path: Path) -> None:
    """1,000 receives of 900 us, for messages that are sent after 200 us: 700 us are latency.

    Every fifth takes 50 us, so that the fastest tenth would tell 50 ms of the 700 ms.
    """
    ranks = pair()
    receive = ranks[0].cell(RECEIVE, calls=1000, ticks=(800 * 900 + 200 * 50) * US)
    send = ranks[1].cell(SEND, calls=1000, ticks=MS)
    for number in range(1000):
        begun, slow = number * MS, number % 5 != 0
        ranks[0].event(begun, begun + (900 if slow else 50) * US, receive, peer=1)
        sent = begun + 200 * US if slow else begun
        ranks[1].event(sent, sent + US, send, peer=0)
    explanation = explained(tmp_path / "p", ranks)
    place = of(explanation, "MPI_Recv called at app+0x1100")
    assert place.proven == (Limit.OVERHEAD,)
    # 730 ms, of which 800 times 200 us are waiting.
    assert place.limits[0].ratio == pytest.approx(730 / 570)
