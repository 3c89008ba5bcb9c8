"""What the terminal shows while a measurement goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import TaskID
from rich.text import Text

from contend.cli.progress import progress_bar
from contend.measurement import Observer
from contend.units import counted, format_seconds

if TYPE_CHECKING:
    from contend.measurement import Plan, Step
    from contend.mpi import Library
    from contend.runs import LaunchRecord, Progress, Warned


@contextmanager
def watching(console: Console) -> Iterator[Observer]:
    """Prints the budget first and a line for every launch; a bar counts cells on a terminal."""
    with progress_bar("measuring", "cells") as bar:
        yield _Watch(console, bar)


class _Watch(Observer):
    def __init__(self, console: Console, bar: Bar) -> None:
        self._console = console
        self._bar = bar
        self._task: TaskID = bar.add_task("", total=None)
        self._plan: Plan | None = None
        self._taken = 0
        self._cells = 0

    def compiling(self, library: Library, probe: str) -> None:
        self._bar.update(self._task, description=f"compiling {probe} with {_name(library)}")

    def planned(self, plan: Plan) -> None:
        self._plan = plan
        libraries = " and ".join(_name(library) for library in plan.libraries)
        self._say(
            f"{plan.probe} under {libraries}: {counted(len(plan.steps), 'launch')} within "
            f"{format_seconds(plan.budget)}, kept in {plan.folder}"
        )

    def launching(self, step: Step, seconds: float) -> None:
        self._bar.update(self._task, completed=0, total=None)

    def progressed(self, step: Step, progress: Progress) -> None:
        self._cells = progress.ended
        self._bar.update(self._task, completed=progress.ended, total=progress.cells or None)

    def ended(self, step: Step, record: LaunchRecord) -> None:
        assert self._plan is not None
        self._taken += 1
        what = f"{_name(self._plan.libraries[step.series])}, {step.shape}"
        cells = counted(self._cells, "cell")
        if record.status == "done":
            how = f"{cells} in {format_seconds(record.elapsed_s or 0)}"
        else:
            how = f"{record.status}: {record.why}"
            how += f"; {cells} are kept" if self._cells else ""
        self._cells = 0
        self._say(f"  {self._taken}/{len(self._plan.steps)} {what}: {how}")

    def warned(self, warning: Warned) -> None:
        # Standard error, above the bar where there is one.
        line = Text(f"contend: warning: {warning.text}")
        self._bar.console.print(line, soft_wrap=True)

    def _say(self, line: str) -> None:
        self._console.print(Text(line), soft_wrap=True)


def _name(library: Library) -> str:
    return f"{library.name} {library.version}".strip()
