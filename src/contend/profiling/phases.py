"""Phases: a program that repeats itself, found in the order in which a rank calls MPI.

A call is told by its routine, communicator and place. A sequence of calls that repeats itself looks
like itself when it is shifted by a period: the share of calls that meet an equal one is computed
for all shifts at once, as an autocorrelation of random phases, one for each kind of call. Then a
call is looked for that comes once in a period; each of its occurrences marks a round. Rounds that
differ, such as those with output, do not hide the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Calls = NDArray[np.int64]
# Fewer rounds than this are no repetition, and a phase has at least this share of the calls.
FEWEST_ROUNDS, _SMALLEST_SHARE = 4, 0.1
# Of the calls, so many must meet an equal one; the rounds cover so many, and nearly as many as those
# of another period would; and so many of them are as long as the period.
_ALIKE, _LEAST_COVERED, _NEARLY, _USUAL = 0.25, 0.3, 0.9, 0.5
# A round may be longer than the period by so many periods; one of few calls by as many quarters, or
# a loop within rounds would be taken for them.
_LONGER = 3
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
    """The rounds that cover most of a sequence; of those that cover about as much the shortest."""
    order = np.argsort(calls, kind="stable")
    bounds = np.flatnonzero(np.diff(calls[order])) + 1
    # Places of each kind of call that comes often enough to begin rounds.
    kinds = [places for places in np.split(order, bounds) if len(places) > FEWEST_ROUNDS]
    marked = {period: _marks(kinds, period) for period in _periods(calls)}
    covered = {period: int(marks[-1] - marks[0]) for period, marks in marked.items() if len(marks)}
    most = max(covered.values(), default=0)
    for period, span in covered.items():
        if span >= max(_NEARLY * most, _LEAST_COVERED * len(calls), FEWEST_ROUNDS * period):
            return _from_first(calls, marked[period], period)
    return None


def _periods(calls: Calls) -> list[int]:
    """Shifts by which a sequence may look like itself, the shortest first."""
    longest = len(calls) // FEWEST_ROUNDS
    alike = _likeness(calls, longest)
    # The estimate errs by about one over the root of what was compared.
    estimated = np.flatnonzero(alike > _ALIKE - 4 / np.sqrt(len(calls) - longest)) + 1
    likeliest = estimated[np.argsort(-alike[estimated - 1], kind="stable")][:_MOST_SHIFTS]
    return [
        shift
        for shift in sorted({*likeliest.tolist(), *estimated[:_MOST_SHIFTS].tolist()})
        if np.mean(calls[:-shift] == calls[shift:]) >= _ALIKE
    ]


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


def _marks(kinds: Sequence[NDArray[np.intp]], period: int) -> NDArray[np.intp]:
    """Places of the call that comes once in each round over most of a sequence; or none."""
    best = np.zeros(0, np.intp)
    longest = period * (1 + min(_LONGER, period / 4))
    for places in kinds:
        gaps = np.diff(places)
        if np.mean(gaps == period) < _USUAL:
            continue
        # Where it comes too seldom, another part of the program begins.
        breaks = np.flatnonzero(gaps > longest) + 1
        run = max(np.split(places, breaks), key=len)
        # Too close together they are several in one round.
        run = run[np.concatenate(([True], np.diff(run) > period // 2))]
        if len(run) > FEWEST_ROUNDS and (not len(best) or run[-1] - run[0] > best[-1] - best[0]):
            best = run
    return best


def _from_first(calls: Calls, marks: NDArray[np.intp], period: int) -> Rounds:
    """Rounds that begin where the repetition begins, rather than with their marks."""
    before = calls[max(int(marks[0]) - period + 1, 0) : marks[0]]
    differs = np.flatnonzero(before != calls[marks[0] - len(before) + period : marks[0] + period])
    back = len(before) - (int(differs[-1]) + 1 if len(differs) else 0)
    begins = marks - back
    whole = begins[-1] + period <= len(calls)
    return Rounds(np.append(begins, begins[-1] + period) if whole else begins, period)
