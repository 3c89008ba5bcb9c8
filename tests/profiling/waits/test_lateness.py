"""Where lateness began, by its definition: instant by instant along the chain of who waits."""

from __future__ import annotations

import numpy as np
import pytest

from contend.profiling.waits.lateness import Origins, Waits

SIZE = 4


def caused(each: list[tuple[int, int, int, int]], size: int = SIZE) -> np.ndarray:
    """Of waits: a rank, from when until when in nanoseconds, and for whom."""
    origins = Origins()
    for rank in range(size):
        own = [one for one in each if one[0] == rank]
        since, until, awaited = np.array([one[1:] for one in own], dtype=np.int64).reshape(-1, 3).T
        nothing = np.zeros(len(own))
        seconds = 1e-9 * (until - since)
        origins.add(rank, Waits(nothing, awaited, nothing, since, seconds, nothing))
    return 1e9 * origins.caused(size)


def by_instants(each: list[tuple[int, int, int, int]]) -> list[int]:
    """The same one nanosecond after the other."""
    found = [0] * SIZE
    for _, since, until, awaited in each:
        for now in range(since, until):
            whom, seen = awaited, {awaited}
            while waits := [one for one in each if one[0] == whom and one[1] <= now < one[2]]:
                whom = waits[0][3]
                if whom in seen:
                    break
                seen.add(whom)
            found[whom] += 1
    return found


@pytest.mark.parametrize("seed", range(20))
def test_chains_are_followed_instant_by_instant(seed: int) -> None:
    """Ranks wait for lower ones alone, so that no chain comes back."""
    random = np.random.default_rng(seed)
    each = []
    for rank in range(1, SIZE):
        ends = np.sort(random.choice(100, 8, replace=False)).reshape(-1, 2)
        each += [(rank, int(a), int(b), int(random.integers(rank))) for a, b in ends]
    assert caused(each) == pytest.approx(by_instants(each))


def test_ranks_whose_threads_wait_for_each_other_end() -> None:
    """Sixteen threads of each of two ranks; what all wait is somebody's, and nothing twice."""
    each = [(rank, k, 1000 + k, 1 - rank) for rank in (0, 1) for k in range(16)]
    found = caused(each, 2)
    assert found.sum() == pytest.approx(2 * 16 * 1000)
    assert found[0] == pytest.approx(found[1])
