"""The engine: launches cells in turns under one budget; what fails is ERR, the others go on."""

from __future__ import annotations

import contextlib
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Generic, TypeVar

from contend.base.errors import ContendError
from contend.lab.runs import Failure
from contend.lab.session.cell import Attempt, Cell, CellError, Method, Observer, Step, Work
from contend.lab.session.folder import (
    NoRoomError,
    SessionRecord,
    asked_cells,
    going_on,
    hold,
    write_session,
)

C = TypeVar("C", bound=Cell)

MOST_ATTEMPTS = 4
"""Starts of a launch: where so many ended before their time, more would end alike."""


@dataclass(frozen=True)
class FinishedSession:
    """A session that has come to its end."""

    works: tuple[Work, ...]
    """Work of every cell, in the order asked for."""
    left: tuple[Step, ...] = ()
    """Launches that no time was left for."""


@dataclass
class Session(Generic[C]):
    """Cells to be answered under one budget.

    Launches come round after round, each round in an order of its own, so that cells take turns and
    what changes slowly on the machine strikes all alike. What was done before is not done again.
    """

    kind: str
    """What asks, such as ``measure``."""
    cells: Sequence[C]
    """Cells, all different."""
    method: Method[C]
    """What answers them."""
    folder: Path
    """Folder of the session: that of the run where there is one cell and no `below`."""
    launches: int = 1
    """Launches of every cell and variant."""
    budget: float | None = None
    """Seconds for everything that is left; None for as long as it takes."""
    seed: int = 1
    """Seed of the order."""
    below: str = ""
    """Folder of the run folders within the session's."""
    plan: dict[str, object] = field(default_factory=dict)
    """What is kept in ``session.json`` of a plan."""
    shuffled: bool = True
    """Whether launches come in an order of their own, and not in that of the cells."""
    retry: bool = False
    """Whether what failed before is made again."""
    strict: bool = False
    """Whether an error of a cell ends the session, instead of being that cell's ERR."""
    observer: Observer = field(default_factory=Observer)
    """Who is told what goes on."""
    clock: Clock = time.monotonic
    """What tells the seconds that the budget counts."""

    def run(self) -> FinishedSession:
        """Makes all launches that are left.

        However this ends, everything that was made is kept, whole or not at all.

        Raises:
            UsageError: somebody else writes this folder.
            NoRoomError: the disk is full.
            ContendError: of `Method.prepare`, or of a cell where this is strict.
        """
        asked = asked_cells(self.cells, below=self.below)
        with hold(self.folder):
            works = [
                self.method.open(cell, self.folder / one.folder)
                for cell, one in zip(self.cells, asked, strict=True)
            ]
            record = SessionRecord(
                kind=self.kind,
                cells=asked,
                contend=version("contend"),
                launches=self.launches,
                budget_s=self.budget,
                seed=self.seed,
                plan=dict(self.plan),
            )
            record = going_on(self.folder, record)
            steps = self._steps(works)
            waiting = sorted({step.index for step in steps})
            self.method.prepare([self.cells[index] for index in waiting], self.observer)
            write_session(self.folder, record)
            return _Under(self, works, steps).run()

    def _steps(self, works: Sequence[Work]) -> list[Step]:
        """Every launch that is left, in its order."""
        left = [set(work.left(self.launches, retry=self.retry)) for work in works]
        for cell, numbers in zip(self.cells, left, strict=True):
            if not numbers:
                self.observer.kept(cell)
        steps = []
        for turn in range(self.launches):
            order = [
                (index, variant)
                for index, work in enumerate(works)
                for variant in range(work.variants)
            ]
            if self.shuffled:
                random.Random(f"{self.seed} {turn}").shuffle(order)
            for index, variant in order:
                number = turn * works[index].variants + variant
                if number in left[index]:
                    # From 1: 0 would mean the order that is written.
                    seed = 1 + random.Random(f"{self.seed} {index} {number}").getrandbits(31)
                    steps.append(Step(self.cells[index], index, number, variant, turn, seed))
        return steps


class _Under(Generic[C]):
    """A session under way."""

    def __init__(self, session: Session[C], works: Sequence[Work], steps: Sequence[Step]) -> None:
        self._session = session
        self._works = works
        self._steps = steps
        self._observer = session.observer
        # Counted from now: compiling and looking into folders is not what the budget is for.
        self._budget = Budget(session.budget, session.clock)
        self._begun: set[int] = set()
        # Launches that are still to come, of cells and variants that are not given up.
        self._open = Counter((step.index, step.variant) for step in steps)
        self._to_come = len(steps)
        self._left: list[Step] = []

    def run(self) -> FinishedSession:
        session = self._session
        title = session.method.title(session.cells)
        self._observer.planned(title, self._steps, self._budget.seconds, session.folder)
        last = {step.index: at for at, step in enumerate(self._steps)}
        try:
            for at, step in enumerate(self._steps):
                part = step.index, step.variant
                if self._open[part]:
                    self._take(step, self._to_come)
                if self._open[part]:
                    self._open[part] -= 1
                    self._to_come -= 1
                if last[step.index] == at:
                    self._finish(step.index)
        except BaseException:
            # What went wrong first matters more than that nothing can be written any more.
            for index in sorted(self._begun):
                with contextlib.suppress(ContendError, OSError):
                    self._works[index].finish()
            raise
        return FinishedSession(tuple(self._works), tuple(self._left))

    def _finish(self, index: int) -> None:
        self._begun.discard(index)
        try:
            self._works[index].finish()
        except OSError as error:
            raise NoRoomError.of(self._session.folder, error) from error

    def _take(self, step: Step, launches: int) -> None:
        """Makes a launch, in as many starts as it takes when points end it."""
        work = self._works[step.index]
        if step.index not in self._begun and not self._begin(step, work):
            return
        for start in range(MOST_ATTEMPTS):
            if self._budget.limit(launches) <= 0:
                why = (
                    "no time was left for the rest"
                    if start
                    else "the budget had already been spent"
                )
                work.fail(step.number, Failure("budget", why))
                self._left.append(step)
                self._observer.left(step)
                return
            attempt = self._start(step, work, launches)
            if attempt is None or attempt.failure is None:
                return
            if attempt.point is not None:
                work.fail(step.number, attempt.failure, attempt.point)
            if not attempt.left:
                return
            # Where nobody knows which point it was, or there are too many of them.
            if attempt.point is None or start == MOST_ATTEMPTS - 1:
                self._give_up(step, attempt.failure)
                return

    def _begin(self, step: Step, work: Work) -> bool:
        """Makes a cell's run folder; False where the cell cannot be answered."""
        self._begun.add(step.index)
        try:
            work.begin()
        except CellError as error:
            for variant in range(work.variants):
                self._close(step.index, variant)
            work.fail(step.number, error.failure)
            self._observer.ended(step, Attempt(failure=error.failure, left=True))
            if self._session.strict:
                raise
            return False
        return True

    def _start(self, step: Step, work: Work, launches: int) -> Attempt | None:
        """One start; None where there was nothing to start, or it could not even begin."""
        seconds, limit = self._budget.share(launches), self._budget.limit(launches)
        self._observer.launching(step, seconds)
        began = self._session.clock()
        try:
            attempt = work.launch(step, seconds=seconds, limit=limit, observer=self._observer)
        except NoRoomError:
            raise
        except (ContendError, OSError, MemoryError) as error:
            failure = _failure_of(error)
            elapsed = self._session.clock() - began
            self._observer.ended(step, Attempt(failure=failure, left=True, elapsed_s=elapsed))
            if isinstance(error, OSError) and NoRoomError.is_meant(error):
                raise NoRoomError.of(self._session.folder, error) from error
            self._give_up(step, failure)
            if self._session.strict:
                raise
            return None
        if attempt is None:
            return None
        self._budget.wait(attempt.waited)
        self._observer.ended(step, attempt)
        return attempt

    def _close(self, index: int, variant: int) -> None:
        """No launch of a cell's variant is tried any more."""
        self._to_come -= self._open.pop((index, variant), 0)

    def _give_up(self, step: Step, failure: Failure) -> None:
        self._close(step.index, step.variant)
        self._works[step.index].fail(step.number, failure)


def _failure_of(error: BaseException) -> Failure:
    if isinstance(error, CellError):
        return error.failure
    if isinstance(error, MemoryError):
        return Failure("memory", "not enough memory")
    return Failure("launch", str(error) or type(error).__name__)


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
