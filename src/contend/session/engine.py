"""The engine: launches cells in turns under one budget; what fails is ERR, the others go on."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from contend.errors import ContendError
from contend.runs import Warned
from contend.session.budget import Budget, Clock
from contend.session.cell import Cell, CellError, Failure
from contend.session.folder import (
    Asked,
    NoRoomError,
    SessionRecord,
    asked_cells,
    going_on,
    hold,
    write_session,
)

C = TypeVar("C", bound=Cell)
C_contra = TypeVar("C_contra", bound=Cell, contravariant=True)

MOST_ATTEMPTS = 4
"""Starts of a launch: where so many ended before their time, more would end alike."""


@dataclass(frozen=True)
class Step:
    """One launch of a cell.

    Attributes:
        cell: what is asked.
        index: of the cell within its session.
        number: of the launch within its cell: variants count up within each round.
        variant: which of the cell's variants.
        round: how often that variant was launched before.
        seed: of this launch's own order, from 1.
    """

    cell: Cell
    index: int
    number: int
    variant: int
    round: int
    seed: int


@dataclass(frozen=True)
class Attempt:
    """How one start of a launch ended; what it made is kept by then.

    Attributes:
        name: of the launch, for people.
        summary: for people: what it made.
        failure: why it ended before its time; None when it did not.
        point: at which point of the cell, as `Work.fail` takes it; None where nobody knows.
        left: whether points are left that neither have figures nor failed by themselves; the
            point at which it ended does not count.
        waited: seconds in the queue of a batch system.
        elapsed_s: seconds that it took.
    """

    name: str = ""
    summary: str = ""
    failure: Failure | None = None
    point: str | None = None
    left: bool = False
    waited: float = 0.0
    elapsed_s: float = 0.0


class Work(Protocol):
    """A cell and its run folder, which is read first and written from `begin` on.

    Attributes:
        variants: launches of every round, such as one for each number of ranks.
    """

    @property
    def variants(self) -> int: ...  # noqa: D102

    def left(self, launches: int, *, retry: bool) -> Sequence[int]:
        """Numbers of launches that are still to be made.

        Those that were interrupted, or that no time was left for, are among them.

        Args:
            launches: of every variant.
            retry: also those of which something failed.
        """
        ...

    def begin(self) -> None:
        """Makes the run folder, or brings together what is in it; called before its launches.

        Raises:
            CellError: the cell cannot be answered here; its run folder is there all the same.
        """
        ...

    def launch(
        self, step: Step, *, seconds: float, limit: float, observer: Observer
    ) -> Attempt | None:
        """Makes what is left of a launch, and keeps what it makes, whatever ends it.

        None where nothing is left, as all its points have failed before.

        Args:
            step: which.
            seconds: that it may take for its work.
            limit: seconds after which it is ended.
            observer: is told what happens within.

        Raises:
            NoRoomError: nothing more can be written; no other launch can do better.
            ContendError, OSError, MemoryError: this cell cannot be launched.
        """
        ...

    def fail(self, number: int, failure: Failure, point: str | None = None) -> None:
        """Keeps why there is no figure.

        Args:
            number: of the launch.
            failure: why. After a budget that was spent the launch is left for another time.
            point: of the cell, which this and all later launches then leave out; None for all that
                is left of this launch and, but for a budget, of the later ones of its variant.
        """
        ...

    def finish(self) -> None:
        """Brings together what launches left; called once no more come, also when interrupted."""
        ...


class Method(Protocol[C_contra]):
    """How cells are answered: measured, simulated."""

    def open(self, cell: C_contra, folder: Path) -> Work:
        """A cell and what its run folder has of it; writes nothing.

        Raises:
            InputError: the folder is damaged.
        """
        ...

    def title(self, cells: Sequence[C_contra]) -> str:
        """What is answered, for people; asked for once all is prepared."""
        ...

    def prepare(self, cells: Sequence[C_contra], observer: Observer) -> None:
        """Does what launches of these have in common, before time counts.

        Raises:
            ContendError: nothing of this can be launched.
        """
        ...


class Observer:
    """Is told what goes on; everything by itself does nothing."""

    def preparing(self, text: str) -> None:
        """Something takes a while before launches begin."""

    def planned(self, title: str, steps: Sequence[Step], budget: float, folder: Path) -> None:
        """Everything is decided; the first of these launches comes next."""

    def kept(self, cell: Cell) -> None:
        """A cell has been answered before."""

    def launching(self, step: Step, seconds: float) -> None:
        """A launch begins, with a share of the budget."""

    def progressed(self, step: Step, done: int, whole: int) -> None:
        """A launch has made some of its parts; `whole` is 0 while nobody knows of how many."""

    def ended(self, step: Step, attempt: Attempt) -> None:
        """A start of a launch has ended."""

    def left(self, step: Step) -> None:
        """No time was left for a launch."""

    def warned(self, warning: Warned) -> None:
        """Something is to be known about the results."""


@dataclass(frozen=True)
class Finished:
    """A session that has come to its end.

    Attributes:
        works: of all cells, in the order asked for.
        left: launches that no time was left for.
    """

    works: tuple[Work, ...]
    left: tuple[Step, ...] = ()


@dataclass
class Session(Generic[C]):
    """Cells to be answered under one budget.

    Launches come round after round, each round in an order of its own, so that cells take turns and
    what changes slowly on the machine strikes all alike. What was done before is not done again.

    Attributes:
        kind: what asks, such as ``measure``.
        cells: all different.
        method: answers them.
        folder: the session's: that of the run where there is one cell and no `below`.
        launches: of every cell and variant.
        budget: seconds for everything that is left; None for as long as it takes.
        seed: of the order.
        below: folder of the run folders within the session's.
        plan: is kept in ``session.json``.
        shuffled: False takes launches in the order of the cells.
        retry: make again what failed before.
        strict: an error of a cell ends the session, instead of being that cell's ERR.
        observer: is told what goes on.
        clock: seconds that the budget counts.
    """

    kind: str
    cells: Sequence[C]
    method: Method[C]
    folder: Path
    launches: int = 1
    budget: float | None = None
    seed: int = 1
    below: str = ""
    plan: dict[str, object] = field(default_factory=dict)
    shuffled: bool = True
    retry: bool = False
    strict: bool = False
    observer: Observer = field(default_factory=Observer)
    clock: Clock = time.monotonic

    def run(self) -> Finished:
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
            record = going_on(self.folder, self._record(asked))
            steps = self._steps(works)
            waiting = sorted({step.index for step in steps})
            self.method.prepare([self.cells[index] for index in waiting], self.observer)
            write_session(self.folder, record)
            return _Under(self, works, steps).run()

    def _record(self, asked: tuple[Asked, ...]) -> SessionRecord:
        return SessionRecord(
            kind=self.kind,
            cells=asked,
            contend=version("contend"),
            launches=self.launches,
            budget_s=self.budget,
            seed=self.seed,
            plan=dict(self.plan),
        )

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
        # Cells and variants that are not tried again.
        self._given_up: set[tuple[int, int]] = set()
        self._left: list[Step] = []

    def run(self) -> Finished:
        session = self._session
        title = session.method.title(session.cells)
        self._observer.planned(title, self._steps, self._budget.seconds, session.folder)
        try:
            for at, step in enumerate(self._steps):
                if self._is_open(step):
                    launches = sum(map(self._is_open, self._steps[at:]))
                    self._take(step, launches)
                if not any(other.index == step.index for other in self._steps[at + 1 :]):
                    self._finish(step.index)
        except BaseException:
            # What went wrong first matters more than that nothing can be written any more.
            for index in sorted(self._begun):
                with contextlib.suppress(ContendError, OSError):
                    self._works[index].finish()
            raise
        return Finished(tuple(self._works), tuple(self._left))

    def _is_open(self, step: Step) -> bool:
        return (step.index, step.variant) not in self._given_up

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
                self._given_up.add((step.index, variant))
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

    def _give_up(self, step: Step, failure: Failure) -> None:
        self._given_up.add((step.index, step.variant))
        self._works[step.index].fail(step.number, failure)


def _failure_of(error: BaseException) -> Failure:
    if isinstance(error, CellError):
        return error.failure
    if isinstance(error, MemoryError):
        return Failure("memory", "not enough memory")
    return Failure("launch", str(error) or type(error).__name__)
