"""How far launches are, on the terminal: a line for each that ends, and a bar."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from contend.base.progress import FineProgress, shown_progress
from contend.base.units import counted, format_seconds, verb
from contend.lab.session import Observer

if TYPE_CHECKING:
    from contend.lab.runs import Warned
    from contend.lab.session import Attempt, Cell, Step


@contextmanager
def watched_run(console: Console) -> Iterator[Observer]:
    """Prints the budget first and a line for every launch; a bar counts cells on a terminal."""
    with shown_progress(True, "measuring", "cells") as bar:
        yield _WatchedRun(console, bar)


@contextmanager
def watched_study(console: Console, plan: str) -> Iterator[Observer]:
    """Prints every launch of a plan; a bar counts them on a terminal."""
    with shown_progress(True, plan, "cells") as bar:
        yield _WatchedStudy(console, bar)


class _Watched(Observer):
    """Counts launches; a launch that is begun again counts once."""

    def __init__(self, console: Console, bar: FineProgress) -> None:
        self._console = console
        self._bar = bar
        self._launches = 0
        self._ended: set[tuple[int, int]] = set()

    def planned(self, title: str, steps: Sequence[Step], budget: float, folder: Path) -> None:
        self._launches = len(steps)
        self._ended.clear()

    def ended(self, step: Step, attempt: Attempt) -> None:
        self._count(step, attempt.name, attempt.summary or str(attempt.failure))

    def left(self, step: Step) -> None:
        self._count(step, "", "no time was left")

    def _count(self, step: Step, name: str, result: str) -> None:
        self._ended.add((step.index, step.number))
        self._say(f"  {len(self._ended)}/{self._launches} {name or step.cell.words}: {result}")

    def _say(self, line: str) -> None:
        self._console.print(Text(line), soft_wrap=True)


class _WatchedRun(_Watched):
    """Tells the budget first and every launch; the bar is of the points of a launch."""

    def planned(self, title: str, steps: Sequence[Step], budget: float, folder: Path) -> None:
        super().planned(title, steps, budget, folder)
        launches = counted(len(steps), "launch")
        self._say(f"{title}: {launches} within {format_seconds(budget)}, kept in {folder}")

    def launching(self, step: Step, seconds: float) -> None:
        self._bar(0, None)

    def progressed(self, step: Step, done: int, whole: int) -> None:
        self._bar(done, whole or None)

    def warned(self, warning: Warned) -> None:
        # Standard error, above the bar where there is one.
        line = Text(f"contend: warning: {warning.text}")
        Console(stderr=True).print(line, soft_wrap=True)


class _WatchedStudy(_Watched):
    """Tells every launch as the plan calls it; the bar is of all launches.

    Warnings stand below the tables, with the cells that they concern.
    """

    def __init__(self, console: Console, bar: FineProgress) -> None:
        super().__init__(console, bar)
        self._names: Mapping[str, str] = {}
        self._kept = 0

    def named(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._kept = 0

    def preparing(self, text: str) -> None:
        # What takes minutes says so even where no bar is drawn.
        self._say(f"  {text}")

    def kept(self, cell: Cell) -> None:
        self._kept += 1

    def planned(self, title: str, steps: Sequence[Step], budget: float, folder: Path) -> None:
        super().planned(title, steps, budget, folder)
        if self._kept:
            are = verb(self._kept, "is")
            cells = counted(len(self._names), "cell")
            self._say(f"{self._kept} of {cells} {are} kept from before in {folder}")
        self._bar(0, len(steps))

    def ended(self, step: Step, attempt: Attempt) -> None:
        self._count(step, "", str(attempt.failure or attempt.summary))

    def progressed(self, step: Step, done: int, whole: int) -> None:
        self._bar(len(self._ended) + min(1.0, done / max(whole, 1)), self._launches)

    def _count(self, step: Step, name: str, result: str) -> None:
        self._ended.add((step.index, step.number))
        self._bar(len(self._ended), self._launches)
        name = self._names.get(step.cell.key, step.cell.words)
        launch = f", launch {step.round + 1}" if step.round else ""
        line = f"{len(self._ended):>3}/{self._launches} {name}{launch}: {result}"
        self._console.print(Text(line), no_wrap=True, overflow="ellipsis")
