"""Collapses: found where they are, not where a rate is only noisy, stepped or slow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from contend.lab.runs import CellSummary, Kind, collapses, contests, port_limit
from measured_runs import cell

SIZES = tuple(4 << step for step in range(20))
RANKS = 32


def seconds(rate: float, size: int) -> float:
    """Time in which a rank sends to all others at a rate in bytes per second."""
    return (RANKS - 1) * size / rate


def posted_sweep(
    generator: np.random.Generator, count: int = 25, stalled: float = 0.95
) -> list[CellSummary]:
    """Like the sweep of 2005: 47 MB/s a rank at 16 KiB, 4.4 at 32 KiB; ordered by node it is sound.

    A rate of 4.4 MB/s at 32 KiB is 0.23 s, of which the network needs 0.02: one time-out of 0.2 s
    in `stalled` of the samples.
    """
    cells = []
    for number, size in enumerate(SIZES):
        times = (2e-4 + seconds(47e6, size)) * generator.lognormal(0, 0.1, count)
        if 32 << 10 <= size <= 128 << 10:
            times = times + 0.2 * (generator.random(count) < stalled)
        cells.append(cell(number, "library", size, times))
        ordered = (4e-3 + seconds(40e6, size)) * generator.lognormal(0, 0.1, count)
        cells.append(cell(100 + number, "ordered", size, ordered))
    return cells


@pytest.mark.parametrize(("count", "stalled"), [(6, 1.0), (10, 0.95), (25, 0.95), (25, 1.0)])
def test_the_collapse_of_2005_is_found(count: int, stalled: float) -> None:
    found = collapses(posted_sweep(np.random.default_rng(1), count, stalled))
    assert [(one.worst.schedule, one.kind) for one in found] == [("library", Kind.FALLS)]
    (one,) = found
    assert [member.record.bytes for member in one.cells] == [32 << 10, 64 << 10, 128 << 10]
    assert one.worst.record.bytes == 32 << 10
    # From 47 to 4.4 MB/s.
    assert one.factor.value == pytest.approx(47 / 4.4, rel=0.15)
    assert one.avoided_by.schedule == "ordered"
    assert one.avoided_by.times_faster.value > 5


def test_time_outs_in_a_third_of_the_samples_are_found_though_the_median_is_sound() -> None:
    generator = np.random.default_rng(2)
    cells = []
    for number, size in enumerate(SIZES):
        times = (2e-4 + seconds(47e6, size)) * generator.lognormal(0, 0.1, 25)
        if size == 16 << 10:
            times[::3] += 0.2
        cells.append(cell(number, "library", size, times))
    (one,) = collapses(cells)
    assert one.worst.record.bytes == 16 << 10
    assert one.worst.two_kinds.slow == 9
    assert one.avoided_by is None


def test_small_messages_that_take_longer_than_larger_ones_have_collapsed() -> None:
    """15 ms from 2 to 64 bytes, and 0.6 ms at 128: 25 times, against the next larger size."""
    generator = np.random.default_rng(6)
    cells = []
    for number, size in enumerate([2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]):
        around = 15e-3 if size <= 64 else 0.6e-3 + seconds(1e8, size)
        cells.append(cell(number, "library", size, around * generator.lognormal(0, 0.05, 20)))
        cells.append(cell(50 + number, "shift", size, 1e-3 * generator.lognormal(0, 0.05, 20)))
    (found,) = collapses(cells)
    assert (found.worst.schedule, found.kind) == ("library", Kind.FALLS)
    assert [member.record.bytes for member in found.cells] == [2, 4, 8, 16, 32, 64]
    assert found.reference.record.bytes in (128, 256)
    assert found.factor.value == pytest.approx(25, rel=0.1)
    assert found.avoided_by.schedule == "shift"


NOISE: dict[str, Any] = {
    "a tenth": lambda g, n: g.lognormal(0, 0.1, n),
    "a third": lambda g, n: g.lognormal(0, 0.3, n),
    "skewed": lambda g, n: 1 + g.exponential(0.5, n),
    "hiccups": lambda g, n: g.lognormal(0, 0.05, n) * np.where(g.random(n) < 0.01, 100, 1),
}


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("count", [6, 25, 100])
def test_noise_on_a_smooth_curve_is_no_collapse(noise: str, count: int) -> None:
    """A latency and a bandwidth, and at some size a change of protocol that costs 1.4 times."""
    generator = np.random.default_rng(4)
    curves, alarms = 60, 0
    for _ in range(curves):
        latency, rate = 10 ** generator.uniform(-5, -3), 10 ** generator.uniform(7.8, 9.5)
        step = generator.choice(SIZES)
        cells = [
            cell(
                number,
                "library",
                size,
                (latency + seconds(rate, size))
                * (1.4 if size >= step else 1.0)
                * NOISE[noise](generator, count),
            )
            for number, size in enumerate(SIZES)
        ]
        alarms += bool(collapses(cells))
    # Below one in 200 curves of 20 sizes in truth.
    assert alarms <= 1


def test_four_samples_need_more_than_noise() -> None:
    generator = np.random.default_rng(5)
    alarms = 0
    for _ in range(100):
        cells = [
            cell(
                number,
                "library",
                size,
                (1e-4 + seconds(1e8, size)) * generator.lognormal(0, 0.3, 4),
            )
            for number, size in enumerate(SIZES)
        ]
        alarms += bool(collapses(cells))
    assert alarms <= 1
    found = collapses(posted_sweep(generator, 4, 1.0))
    assert [one.worst.schedule for one in found] == ["library"]


def test_a_schedule_that_is_slow_for_its_latency_has_not_collapsed() -> None:
    # Barriers make it 30 times slower at small sizes; its rate rises with the size nevertheless.
    even = np.linspace(0.99, 1.01, 9)
    cells = []
    for number, size in enumerate(SIZES):
        cells.append(cell(number, "library", size, even * (1e-4 + seconds(1e8, size))))
        cells.append(cell(50 + number, "barriers", size, even * (3e-3 + seconds(1e8, size))))
    assert collapses(cells) == ()


def test_a_schedule_far_behind_at_a_level_rate_has_not_collapsed() -> None:
    # No size has fallen against another: that it is 8 times as slow, the winners tell.
    even = np.linspace(0.99, 1.01, 9)
    cells = []
    for number, size in enumerate(SIZES):
        cells.append(cell(number, "ordered", size, even * (1e-4 + seconds(8e8, size))))
        cells.append(cell(50 + number, "flooding", size, even * (1e-4 + seconds(1e8, size))))
    assert collapses(cells) == ()
    last = next(one for one in contests(cells) if one.bytes == SIZES[-1])
    assert last.winner.schedule == "ordered"
    assert last.rivals[0].times_slower.value == pytest.approx(8, rel=0.02)


def test_bruck_between_two_ranks_suits_large_messages_badly_and_has_not_collapsed() -> None:
    # It copies every block through buffers of its own: 9.6 times as slow at 64 KiB, at a rate that
    # has levelled out since 16 KiB.
    even = np.linspace(0.97, 1.03, 40)
    cells = []
    for number, size in enumerate((1 << 10, 4 << 10, 16 << 10, 64 << 10)):
        cells.append(cell(number, "linear", size, even * (4e-6 + size / 1.05e9), ranks=2))
        cells.append(cell(50 + number, "bruck", size, even * (6e-6 + size / 1.1e8), ranks=2))
    assert collapses(cells) == ()


def pingpong_through_a_bucket(wire: float | None) -> list[CellSummary]:
    """A ping-pong over an emulated cable: up to 8 KiB it passes in the bucket's burst."""
    even = np.linspace(0.98, 1.02, 20)
    cells = []
    for number, size in enumerate((1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10)):
        rate = 6.25e6 if size >= 16 << 10 else 75e6
        cells.append(
            cell(number, "pingpong", size, even * (2e-5 + size / rate), ranks=2, limit=wire)
        )
    return cells


def test_a_burst_that_passes_above_the_cables_rate_is_no_reference() -> None:
    # From 12 times the cable's rate to the cable's rate: nothing of the network has collapsed.
    assert collapses(pingpong_through_a_bucket(6.25e6), compared=False) == ()
    # Without a limit, or at a quarter of the cable's rate, it is a fall.
    (unlimited,) = collapses(pingpong_through_a_bucket(None), compared=False)
    assert unlimited.kind == Kind.FALLS
    (slow,) = collapses(pingpong_through_a_bucket(4 * 6.25e6), compared=False)
    # Against what the cable carries, and not against the burst.
    assert slow.factor.value == pytest.approx(4, rel=0.02)


def stalling(generator: np.random.Generator, share: float, size: int) -> np.ndarray:
    times = (1e-3 + seconds(1e8, size)) * generator.lognormal(0, 0.05, 50)
    return times + 0.2 * (np.arange(50) < 50 * share)


def test_time_outs_at_the_smallest_size_are_seen_beside_another_schedule() -> None:
    generator = np.random.default_rng(3)
    # No smaller size was measured: only the second kind of samples shows it.
    cells = [
        cell(0, "library", 16 << 10, stalling(generator, 0.3, 16 << 10)),
        cell(1, "ordered", 16 << 10, stalling(generator, 0, 16 << 10)),
    ]
    (one,) = collapses(cells)
    assert (one.kind, one.worst.schedule) == (Kind.STALLS, "library")
    assert one.reference is one.worst
    modes = one.worst.two_kinds
    mean = 0.3 * modes.slow_s + 0.7 * modes.fast_s
    assert one.factor.value == pytest.approx(mean / modes.fast_s)
    assert one.avoided_by.schedule == "ordered"
    # Ranks that take turns on a processor make such samples too.
    assert collapses(cells, crowded=True) == ()


def test_hiccups_that_come_with_every_schedule_are_no_collapse() -> None:
    generator = np.random.default_rng(3)
    cells = [
        cell(number, name, 16 << 10, stalling(generator, share, 16 << 10))
        for number, (name, share) in enumerate({"library": 0.3, "ordered": 0.26}.items())
    ]
    assert all(one.two_kinds is not None for one in cells)
    assert collapses(cells) == ()


def test_a_gentle_decline_over_many_sizes_is_no_collapse() -> None:
    # As where blocks outgrow the caches: a third of the rate is lost over eight sizes.
    even = np.linspace(0.99, 1.01, 9)
    cells = [
        cell(number, "library", size, even * seconds(1e9 * 0.87**number, size))
        for number, size in enumerate(SIZES)
    ]
    assert collapses(cells) == ()


def test_cells_with_wrong_data_or_without_samples_are_not_judged(make_cells: Any) -> None:
    cells = make_cells({("a", 1024): np.full(9, 1e-3), ("a", 2048): np.full(3, 1.0)})
    assert collapses(cells) == ()


def test_ports_of_hosts_limit_the_rate_of_their_ranks() -> None:
    """wire (p - 1) / (k (p - k)): the whole wire for one rank a host, 31/60 of it for two."""
    assert port_limit(32, 1, 60.0) == 60
    assert port_limit(32, 2, 60.0) == 31
    assert port_limit(2, 2, 60.0) is None


@pytest.mark.parametrize(("carried", "falls"), [(None, [64]), (5e6, [])])
def test_what_cables_do_not_carry_is_no_reference(carried: float | None, falls: list[int]) -> None:
    """The port carries 20 MB/s and the cables 5: 64 KiB at 4 MB/s fall only against the former."""
    even = np.linspace(0.99, 1.01, 12)
    rates = {4: 40e6, 64: 4e6, 256: 4e6}
    cells = [
        cell(n, "shift", kib << 10, even * seconds(rate, kib << 10), limit=20e6, carried=carried)
        for n, (kib, rate) in enumerate(rates.items())
    ]
    found = [one.worst.record.bytes for one in collapses(cells)]
    assert found == [kib << 10 for kib in falls]
    assert [one.beyond_wire for one in cells] == [True, False, False]


def test_neither_larger_sizes_nor_fast_samples_beyond_the_wire_show_a_collapse() -> None:
    """4 KiB passes at once in 0.2 ms where 1 KiB takes 0.5; half of the samples of 16 KiB do."""
    generator = np.random.default_rng(3)
    wire = 5e6
    slow, burst = seconds(4.8e6, 16 << 10), seconds(100e6, 16 << 10)
    mixed = np.where(np.arange(24) % 2, slow, burst) * generator.lognormal(0, 0.01, 24)
    times = {1: np.full(12, 5e-4), 4: np.full(12, 2e-4), 16: mixed}
    cells = [
        cell(n, "a", kib << 10, each, limit=wire) for n, (kib, each) in enumerate(times.items())
    ]
    rival = cell(9, "b", 16 << 10, np.full(24, burst), limit=wire)
    assert collapses([*cells, rival]) == ()
