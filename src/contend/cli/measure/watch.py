"""What the terminal shows while a session goes on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import Progress as Bar
from rich.text import Text

from contend.report import progress_bar
from contend.runs import Warned
from contend.session import Attempt, Observer, Step
from contend.units import counted, format_seconds


@contextmanager
def watching(console: Console) -> Iterator[Observer]:
    """Prints the budget first and a line for every launch; a bar counts cells on a terminal."""
    with progress_bar("measuring", "cells") as bar:
        yield _Watch(console, bar)


class _Watch(Observer):
    def __init__(self, console: Console, bar: Bar) -> None:
        self._console = console
        self._bar = bar
        self._task = bar.add_task("", total=None)
        self._launches = 0
        self._taken: set[tuple[int, int]] = set()

    def preparing(self, text: str) -> None:
        self._bar.update(self._task, description=text)

    def planned(self, title: str, steps: Sequence[Step], budget: float, folder: Path) -> None:
        self._launches = len(steps)
        launches = counted(len(steps), "launch")
        self._say(f"{title}: {launches} within {format_seconds(budget)}, kept in {folder}")

    def launching(self, step: Step, seconds: float) -> None:
        self._bar.update(self._task, completed=0, total=None)

    def progressed(self, step: Step, done: int, whole: int) -> None:
        self._bar.update(self._task, completed=done, total=whole or None)

    def ended(self, step: Step, attempt: Attempt) -> None:
        self._tell(step, attempt.name, attempt.summary or str(attempt.failure))

    def left(self, step: Step) -> None:
        self._tell(step, "", "no time was left")

    def warned(self, warning: Warned) -> None:
        # Standard error, above the bar where there is one.
        line = Text(f"contend: warning: {warning.text}")
        self._bar.console.print(line, soft_wrap=True)

    def _tell(self, step: Step, name: str, how: str) -> None:
        self._taken.add((step.index, step.number))
        self._say(f"  {len(self._taken)}/{self._launches} {name or step.cell.words}: {how}")

    def _say(self, line: str) -> None:
        self._console.print(Text(line), soft_wrap=True)
