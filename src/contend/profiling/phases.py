"""Phases: a program that repeats itself, found in the order in which a rank calls MPI.

A call is told by its routine, communicator and place. A sequence of calls that repeats itself looks
like itself when it is shifted by a period: the share of calls that meet an equal one is computed
for all shifts at once, as an autocorrelation of random phases, one for each kind of call. Then a
call is looked for that comes once in a period; each of its occurrences marks a round. Rounds that
differ, such as those with output, do not hide the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Calls = NDArray[np.int64]
# Fewer rounds than this are no repetition, and a phase has at least this share of the calls.
FEWEST_ROUNDS, _SMALLEST_SHARE = 4, 0.1
# Of the calls, so many must meet an equal one, and nearly as many as at the best shift.
_ALIKE, _NEARLY = 0.6, 0.85
# A round may be so many times as long as the period.
_LONGEST = 4
_MOST_PHASES = 4
_MOST_SHIFTS = 64
_SEED = 1


@dataclass(frozen=True)
class Rounds:
    """Part of a sequence that repeats itself.

    Attributes:
        begins: index of the first call of every round, and of the call after the last round.
        period: calls of a usual round.
    """

    begins: NDArray[np.intp]
    period: int

    @property
    def count(self) -> int:
        """How many rounds."""
        return len(self.begins) - 1


def find_phases(calls: Calls) -> list[Rounds]:
    """The phases of a sequence in their order; empty where nothing repeats itself.

    Args:
        calls: a number for each kind of call, in the order of time. O(n log n).
    """
    phases: list[Rounds] = []
    fewest = max(2 * FEWEST_ROUNDS, int(_SMALLEST_SHARE * len(calls)))
    parts = [(0, len(calls))]
    while parts and len(phases) < _MOST_PHASES:
        begin, end = parts.pop(0)
        if end - begin < fewest:
            continue
        rounds = _rounds(calls[begin:end])
        if rounds is not None:
            phase = Rounds(rounds.begins + begin, rounds.period)
            phases.append(phase)
            parts += [(begin, int(phase.begins[0])), (int(phase.begins[-1]), end)]
    return sorted(phases, key=lambda phase: int(phase.begins[0]))


def _rounds(calls: Calls) -> Rounds | None:
    """The rounds of the shortest period that covers a good part of a sequence."""
    for period in _periods(calls):
        rounds = _marked(calls, period)
        if rounds is not None:
            return rounds
    return None


def _periods(calls: Calls) -> Iterator[int]:
    """Shifts by which a sequence looks like itself, the shortest first."""
    count = len(calls)
    longest = count // FEWEST_ROUNDS
    alike = _likeness(calls, longest)
    # The estimate errs by about one over the root of what was compared.
    estimated = np.flatnonzero(alike > _ALIKE - 4 / np.sqrt(np.maximum(count - longest, 1))) + 1
    likeliest = estimated[np.argsort(-alike[estimated - 1], kind="stable")][:_MOST_SHIFTS]
    exact = {
        int(shift): float(np.mean(calls[:-shift] == calls[shift:]))
        for shift in sorted({*likeliest.tolist(), *estimated[:_MOST_SHIFTS].tolist()})
    }
    best = max(exact.values(), default=0.0)
    for shift, share in exact.items():
        if share >= max(_ALIKE, _NEARLY * best):
            yield shift


def _likeness(calls: Calls, longest: int) -> NDArray[np.float64]:
    """Share of calls that equal the one so many further on, estimated for 1 to `longest`."""
    kinds, numbers = np.unique(calls, return_inverse=True)
    phases = np.random.default_rng(_SEED).uniform(0, 2 * np.pi, len(kinds))
    signal = np.exp(1j * phases)[numbers]
    length = 1 << int(2 * len(calls) - 1).bit_length()
    spectrum = np.fft.fft(signal, length)
    matches = np.fft.ifft(np.abs(spectrum) ** 2).real
    shifts = np.arange(1, longest + 1)
    return np.asarray(matches[shifts] / (len(calls) - shifts), np.float64)


def _marked(calls: Calls, period: int) -> Rounds | None:
    """Rounds that begin with a call which comes once in each; None where there is none such."""
    best: Rounds | None = None
    covered = 0
    order = np.argsort(calls, kind="stable")
    bounds = np.flatnonzero(np.diff(calls[order])) + 1
    for places in np.split(order, bounds):
        if len(places) <= FEWEST_ROUNDS:
            continue
        gaps = np.diff(places)
        usual = np.mean(gaps == period)
        if usual < 0.5:
            continue
        # Where it comes too seldom, another part of the program begins.
        breaks = np.flatnonzero(gaps > _LONGEST * period) + 1
        run = max(np.split(places, breaks), key=len)
        # Too close together they are several in one round.
        run = run[np.concatenate(([True], np.diff(run) > period // 2))]
        span = int(run[-1] - run[0])
        if len(run) > FEWEST_ROUNDS and span > covered:
            best, covered = _from_first(calls, run, period), span
    enough = covered >= max(0.3 * len(calls), FEWEST_ROUNDS * period)
    return best if enough else None


def _from_first(calls: Calls, marks: NDArray[np.intp], period: int) -> Rounds:
    """Rounds that begin where the repetition begins, rather than with their marks."""
    before = calls[max(int(marks[0]) - period + 1, 0) : marks[0]]
    differs = np.flatnonzero(before != calls[marks[0] - len(before) + period : marks[0] + period])
    back = len(before) - (int(differs[-1]) + 1 if len(differs) else 0)
    begins = marks - back
    whole = begins[-1] + period <= len(calls)
    return Rounds(np.append(begins, begins[-1] + period) if whole else begins, period)
