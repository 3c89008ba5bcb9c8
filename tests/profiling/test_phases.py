"""Phases: repetition is found, counted, and not found where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from contend.profiling import find_phases

START = [90, 91, 92, 93]
STEP = [1, 1, 1, 2, 2, 2, 3, 4]


def test_a_loop_is_counted() -> None:
    [phase] = find_phases(np.array([*START, *STEP * 25, 95, 96]))
    assert (phase.count, phase.period) == (25, 8)
    assert phase.begins[0] == len(START)
    assert phase.begins[-1] == len(START) + 25 * 8


def test_rounds_that_differ_do_not_hide_the_others() -> None:
    """Every tenth step writes output, with calls of its own."""
    calls = [*START]
    for step in range(60):
        calls += [*STEP, *([7, 8, 8] if step % 10 == 9 else [])]
    [phase] = find_phases(np.array(calls))
    assert phase.count == 60


def test_two_loops_one_after_the_other_are_two_phases() -> None:
    other = [11, 12, 13, 12, 14]
    first, second = find_phases(np.array([*START, *STEP * 40, 97, *other * 50]))
    assert (first.count, first.period) == (40, 8)
    assert (second.count, second.period) == (50, 5)


def test_what_repeats_within_a_round_is_not_the_loop() -> None:
    """A round has eight equal calls in a row: the loop is around them."""
    [phase] = find_phases(np.array([5, *[1] * 8, 6] * 30))
    assert (phase.count, phase.period) == (30, 10)


def test_an_exchange_several_times_over_has_no_call_of_its_own() -> None:
    """Four exchanges forward, four backward: only what follows on what comes once in a round."""
    forward, backward = [1, 2, 3], [4, 5, 6]
    [phase] = find_phases(np.array([*START, *[*forward * 4, *backward * 4] * 30]))
    assert (phase.count, phase.period) == (30, 24)


@pytest.mark.parametrize("seed", range(5))
def test_chance_is_no_loop(seed: int) -> None:
    calls = np.random.default_rng(seed).integers(0, 12, 3000)
    assert find_phases(calls) == []


@pytest.mark.parametrize("calls", [[], [1], [1, 2, 3], list(range(200))])
def test_nothing_repeats(calls: list[int]) -> None:
    assert find_phases(np.array(calls, np.int64)) == []


def test_the_shortest_period_counts() -> None:
    """A loop of three calls is not one of six."""
    [phase] = find_phases(np.array([1, 2, 3] * 100))
    assert (phase.count, phase.period) == (100, 3)
