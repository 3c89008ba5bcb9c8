"""Phases: a program that repeats itself, found in the order in which a rank calls MPI.

A call is told by its routine, communicator and place. What comes once in every round of a loop
comes at equal distances, counted in calls: that may be a call, or two calls one after the other
where a loop consists of the same exchange several times over. So for all calls and pairs of calls
the usual distance is looked at; the one that covers most of the sequence marks the rounds. Rounds
that differ, such as those with output, do not hide the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend.profiling.folder import Phase
from contend.profiling.record_file import RankRecord
from contend.profiling.record_form import NO_CELL, EventKind

Calls = NDArray[np.int64]
Places = NDArray[np.intp]
# Fewer rounds than this are no repetition, and a phase has at least this share of the calls.
FEWEST_ROUNDS, _SMALLEST_SHARE = 4, 0.1
# So many distances equal the usual one; so many calls in the rounds equal the one a period on; the
# rounds cover so much of the sequence, and nearly as much as those of another period would.
_USUAL, _ALIKE, _LEAST_COVERED, _NEARLY = 0.5, 0.4, 0.3, 0.9
# A round may be longer than the period by so many periods; one of few calls by as many quarters, or
# a loop within rounds would be taken for them.
_LONGER = 3
_MOST_PHASES = 4


@dataclass(frozen=True)
class Rounds:
    """Part of a sequence that repeats itself."""

    begins: Places
    """Index of the first call of every round, and of the call after the last round."""
    period: int
    """Calls of a usual round."""

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


def phases_of(
    record: RankRecord,
    cells: Sequence[NDArray[Any]],
    seconds: Callable[[NDArray[np.uint64]], NDArray[np.floating[Any]]],
) -> tuple[Phase, ...]:
    """The phases of what a rank called, with their times.

    Args:
        record: of the rank.
        cells: routine, communicator and site of every cell, as the profile numbers them.
        seconds: ticks as seconds of the profile.
    """
    called = record.events["kind"] == EventKind.CALL
    events = record.events[called & (record.events["cell"] != NO_CELL)]
    if not len(events):
        return ()
    kinds, of_cell = np.unique(np.stack(cells), axis=1, return_inverse=True)
    calls = of_cell.reshape(-1)[events["cell"]]
    starts, ends = seconds(events["start"]), seconds(events["end"])
    within = np.concatenate(([0.0], np.cumsum(ends - starts)))
    # The last round ends where the next call begins, or with the last call.
    limits = np.append(starts, ends[-1])
    phases = []
    for rounds in find_phases(calls):
        first, last = int(rounds.begins[0]), int(rounds.begins[-1])
        elapsed = float(limits[last] - limits[first])
        routine, site = kinds[[0, 2], calls[first]].tolist()
        phases.append(
            Phase(
                rank=record.rank,
                routine=routine,
                site=site,
                rounds=rounds.count,
                calls=rounds.period,
                begun_s=float(limits[first]),
                ended_s=float(limits[last]),
                mean_s=elapsed / rounds.count,
                longest_s=float(np.diff(limits[rounds.begins]).max()),
                mpi_share=float(within[last] - within[first]) / elapsed if elapsed > 0 else 0.0,
            )
        )
    return tuple(phases)


def _rounds(calls: Calls) -> Rounds | None:
    """The rounds that cover most of a sequence; of those that cover about as much the shortest."""
    marked = [(period, marks) for period, marks in _marks(calls) if _alike(calls, period, marks)]
    most = max((_span(marks) for _, marks in marked), default=0)
    if most < _LEAST_COVERED * len(calls):
        return None
    enough = [(period, marks) for period, marks in marked if _span(marks) >= _NEARLY * most]
    period, marks = min(enough, key=lambda pair: (pair[0], -len(pair[1])))
    return _from_first(calls, marks, period)


def _marks(calls: Calls) -> Iterator[tuple[int, Places]]:
    """Periods, and places of a call or a pair of calls that comes once in each."""
    _, numbers = np.unique(calls, return_inverse=True)
    pairs = numbers[:-1] * np.int64(len(calls)) + numbers[1:]
    for kinds, first in ((numbers, 0), (pairs, 1)):
        order = np.argsort(kinds, kind="stable")
        bounds = np.flatnonzero(np.diff(kinds[order])) + 1
        for places in np.split(order + first, bounds):
            if len(places) <= FEWEST_ROUNDS:
                continue
            gaps = np.diff(places)
            period = int(np.median(gaps))
            if np.mean(gaps == period) < _USUAL:
                continue
            # Where it comes too seldom, another part of the program begins.
            breaks = np.flatnonzero(gaps > period * (1 + min(_LONGER, period / 4))) + 1
            run = max(np.split(places, breaks), key=len)
            # Too close together they are several in one round.
            run = run[np.concatenate(([True], np.diff(run) > period // 2))]
            if len(run) > FEWEST_ROUNDS:
                yield period, run


def _alike(calls: Calls, period: int, marks: Places) -> bool:
    """Whether most calls of the rounds come again a period later."""
    part = calls[marks[0] : marks[-1] + 1]
    return bool(np.mean(part[:-period] == part[period:]) >= _ALIKE)


def _span(marks: Places) -> int:
    return int(marks[-1] - marks[0])


def _from_first(calls: Calls, marks: Places, period: int) -> Rounds:
    """Rounds that begin where the repetition begins, rather than with their marks."""
    before = calls[max(int(marks[0]) - period + 1, 0) : marks[0]]
    differs = np.flatnonzero(before != calls[marks[0] - len(before) + period : marks[0] + period])
    back = len(before) - (int(differs[-1]) + 1 if len(differs) else 0)
    begins = marks - back
    whole = begins[-1] + period <= len(calls)
    return Rounds(np.append(begins, begins[-1] + period) if whole else begins, period)
