"""Waiting for late ranks against transfer, on schedules whose answers are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend.profiling.record_form import COLLECTIVE
from contend.profiling.waits.lateness import Entries, Share


def _collectives(numbers: Sequence[int], communicator: int = 0) -> NDArray[Any]:
    found = np.zeros(len(numbers), COLLECTIVE)
    found["number"], found["communicator"] = numbers, communicator
    return found


def _shares(
    times: Sequence[Sequence[tuple[int, int]]],
    numbers: Sequence[Sequence[int]] | None = None,
    unsure: float = 0.0,
) -> list[Share]:
    """Shares of ranks by their (entry, exit) in nanoseconds."""
    entries = Entries()
    count = len(times)
    parts = []
    for rank, pairs in enumerate(times):
        collectives = _collectives(range(len(pairs)) if numbers is None else numbers[rank])
        instants = np.array(pairs, np.int64).reshape(-1, 2)
        parts.append((collectives, instants))
        entries.add(rank, collectives, instants[:, 0])
    found = []
    for rank, (collectives, instants) in enumerate(parts):
        found += entries.shares(
            rank,
            collectives,
            instants[:, 0],
            instants[:, 1],
            sizes=np.array([count]),
            uncertainty=np.full(count, unsure),
        )
    return found


def test_all_wait_for_the_last() -> None:
    """Entries at 0, 30 and 100 ns, all leave at 120: they wait 100, 70 and 0 ns."""
    shares = _shares([[(0, 120)], [(30, 120)], [(100, 120)]])
    assert [round(1e9 * float(share.waiting[0])) for share in shares] == [100, 70, 0]
    assert [round(1e9 * float(share.seconds[0])) for share in shares] == [120, 90, 20]
    assert [bool(share.last[0]) for share in shares] == [False, False, True]
    assert {int(share.awaited[0]) for share in shares} == {2}


def test_who_leaves_before_the_last_comes_did_not_wait_for_it() -> None:
    """The root of a broadcast leaves at 40, the last rank enters at 100."""
    root, late = _shares([[(0, 40)], [(100, 120)]])
    assert float(root.waiting[0]) == 0
    assert float(late.waiting[0]) == 0


def test_clocks_that_are_not_sure_do_not_make_a_root_of_a_rank() -> None:
    """It left at 95 and the last entered at 100, by clocks that are 5 ns apart at most."""
    first, _ = _shares([[(0, 95)], [(100, 120)]], unsure=2.5)
    assert round(1e9 * float(first.waiting[0])) == 95


def test_only_what_all_members_recorded_is_judged() -> None:
    """One keeps every collective, the other every second one: numbers 0 and 2 are judged."""
    every, second = _shares(
        [[(0, 10), (20, 30), (40, 60)], [(5, 10), (50, 60)]], numbers=[[0, 1, 2], [0, 2]]
    )
    assert len(every.seconds) == len(second.seconds) == 2
    assert np.round(1e9 * every.waiting).tolist() == [5, 10]


def test_a_member_without_a_record_leaves_nothing_to_judge() -> None:
    entries = Entries()
    collectives = _collectives([0])
    instants = np.array([5])
    entries.add(0, collectives, instants)
    [share] = entries.shares(
        0,
        collectives,
        instants,
        instants + 5,
        sizes=np.array([2]),
        uncertainty=np.zeros(2),
    )
    assert len(share.seconds) == 0


def test_numbers_may_come_in_any_order_and_far_apart() -> None:
    """Memory follows what is there, not the largest number."""
    far = 2**32 - 1
    first, second = _shares(
        [[(40, 60), (0, 10)], [(4, 10), (50, 60)]], numbers=[[far, 7], [7, far]]
    )
    assert np.round(1e9 * first.waiting).tolist() == [4, 10]
    assert np.round(1e9 * second.waiting).tolist() == [0, 0]


def test_collectives_of_communicators_that_stand_as_one_are_matched_by_turn() -> None:
    """Each is the first on its communicator: entries at 0 and 10, then at 100 and 130."""
    entries = Entries()
    both = []
    for rank, instants in enumerate(([0, 100], [10, 130])):
        collectives = _collectives([0, 0])
        collectives["turn"] = [4, 5]
        both.append((collectives, np.array(instants)))
        entries.add(rank, *both[rank])
    waiting = [
        share.waiting
        for rank, (collectives, begun) in enumerate(both)
        for share in entries.shares(
            rank, collectives, begun, begun + 50, sizes=np.array([2]), uncertainty=np.zeros(2)
        )
    ]
    assert np.round(1e9 * np.array(waiting)).tolist() == [[10, 30], [0, 0]]
