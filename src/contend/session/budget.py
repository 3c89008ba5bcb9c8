"""The time that a session may take, shared out over the launches that are left."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

Clock = Callable[[], float]

# What starting and ending ranks takes is not the probe's to measure in.
_START = 3.0
_LEAST = 1.0
# A cell under way when the probe's time is over runs to its end; this much of its share longer.
_OVERTIME = 0.5


class Budget:
    """Counts down while launches run; time in the queue of a batch system does not count.

    Args:
        seconds: for everything; None for as long as it takes.
        clock: tells seconds.
    """

    def __init__(self, seconds: float | None, clock: Clock = time.monotonic) -> None:
        self.seconds = math.inf if seconds is None else seconds
        self._clock = clock
        self._began = clock()
        self._waited = 0.0

    def wait(self, seconds: float) -> None:
        """Takes out time that was spent waiting."""
        self._waited += seconds

    @property
    def left(self) -> float:
        """Seconds left, not below 0."""
        return max(0.0, self.seconds - (self._clock() - self._began - self._waited))

    def share(self, launches: int) -> float:
        """Seconds that the next of some launches gets as its own budget."""
        even = self.left / max(launches, 1)
        return max(min(_LEAST, even), even - _START)

    def limit(self, launches: int) -> float:
        """Seconds after which the next of some launches is ended, whatever it does."""
        even = self.left / max(launches, 1)
        return min(self.left, even * (1 + _OVERTIME) + _START) if launches > 1 else self.left
