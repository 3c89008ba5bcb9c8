"""How far things are: bars on a terminal or in a notebook, else a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from contend.base.units import format_seconds, rounded

# Seconds from a line to the next, in a log file.
_BETWEEN_LINES = 10.0
# Seconds after which it says how long all will take, where that is as much as the second.
_ESTIMATED_AFTER, _LONG = 2.0, 15.0


class _Speed(ProgressColumn):
    """How many are done in a second, or how long one takes."""

    def render(self, task: Task) -> Text:
        return Text(_speed(task), style="progress.data.speed")


class _Bars(Progress):
    """Bars; where nobody sees these, lines say how far all of them are.

    First how long the outermost will take, where that is long, then a line every ten seconds.
    """

    def __init__(self, *columns: ProgressColumn, **options: Any) -> None:
        super().__init__(*columns, **options)
        self._told = self.get_time()
        self._began: tuple[float, float] | None = None
        self._forecast = self._estimated = False

    def update(self, task_id: TaskID, **changes: Any) -> None:
        super().update(task_id, **changes)
        if not self.disable:
            return
        if not self._estimated:
            self._estimate(self.tasks[0])
        if self.get_time() - self._told < _BETWEEN_LINES:
            return
        self._told = self.get_time()
        print("; ".join(map(_line, self.tasks)), file=sys.stderr, flush=True)

    def reset(self, task_id: TaskID, **options: Any) -> None:
        super().reset(task_id, **options)
        if task_id == self.tasks[0].id:
            # How long a first look took says nothing of what begins after it.
            self._began, self._estimated = None, False

    def _estimate(self, task: Task) -> None:
        """Says how long all of it takes, of how many things; nothing where that is not long."""
        if task.total is None:
            return
        now = self.get_time()
        # What came before it was known how much there is says nothing of how long a thing takes.
        if self._began is None:
            self._began = now, task.completed
        elapsed, done = now - self._began[0], task.completed - self._began[1]
        first = self.tasks[-1]
        _, _, unit = str(task.fields["count"]).partition(" ")
        several = unit if task.total > 1 else ""
        if not done and task.total > 1 and not self._forecast:
            # Of the first thing a share may be known.
            share = 0.0 if first is task else first.completed / (first.total or 1)
            if not share or (first.elapsed or 0) < _ESTIMATED_AFTER:
                return
            self._forecast = True
            each, of = (first.elapsed or 0) / share, ""
            like = "the first" if first.description == task.description else first.description
            how = f" if all {task.total:,.0f} {unit} take as long as {like}" if unit else ""
        elif not done or elapsed < _ESTIMATED_AFTER:
            return
        else:
            self._estimated, each, how = True, elapsed / done, ""
            of = f": {task.total:,.0f} {unit} of {format_seconds(each)} each" if several else ""
        if task.total * each >= _LONG:
            words = f"{task.description}: about {format_seconds(task.total * each)}{of}{how}"
            print(words, file=sys.stderr, flush=True)


def _line(task: Task) -> str:
    """Title, what is done, the rate, and what is left."""
    left = task.time_remaining
    words = (
        task.fields["count"],
        "" if task.total is None else f"{task.percentage:.0f} %",
        _speed(task),
        "" if left is None else f"{format_seconds(left)} left",
    )
    return f"{task.description}: {', '.join(filter(None, words))}"


def _speed(task: Task) -> str:
    if not task.fields["count"] or not task.speed:
        return ""
    if task.speed < 1:
        return f"{format_seconds(1 / task.speed)} each"
    return f"{rounded(task.speed)}/s"


def new_bars(clock: Callable[[], float] = time.monotonic) -> Progress:
    """Draws bars with rate and time left on a terminal's standard error or in a notebook.

    Elsewhere, as in a job's log file, it writes them as a line there every ten seconds. A task's
    field ``count`` says how much of it is done, in words; "" where that is a share.
    """
    console = Console(stderr=True)
    return _Bars(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[count]}"),
        TaskProgressColumn(),
        _Speed(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not (console.is_terminal or console.is_jupyter),
        get_time=clock,
    )
