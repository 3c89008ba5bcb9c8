"""The time of a study, shared over the cells that are still to run."""

from __future__ import annotations

import time
from collections.abc import Callable

Clock = Callable[[], float]

# Starting and ending ranks takes seconds; in less time nothing would be measured.
_LEAST = 5.0


class Budget:
    """Seconds that are left; what a cell does not use is left to the others."""

    def __init__(self, seconds: float, cells: int, clock: Clock = time.monotonic) -> None:
        self._cells = cells
        self._clock = clock
        self._end = clock() + seconds

    def share(self) -> float:
        """Seconds of the next cell, an equal share but enough to start; 0 when nothing is left."""
        left = max(0.0, self._end - self._clock())
        return max(left / max(1, self._cells), min(left, _LEAST))

    def ended(self) -> None:
        """A cell has ended."""
        self._cells -= 1
