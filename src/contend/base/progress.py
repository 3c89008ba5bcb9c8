"""How far work is: a bar for all that lasts, on a terminal or in a notebook."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from rich.progress import Progress as Drawn
    from rich.progress import TaskID

Progress: TypeAlias = Callable[[int, int], None]
"""Called with how much is done and how much there is to do, which may be an estimate."""

FineProgress: TypeAlias = Callable[[float, float | None], None]
"""The same, where something may be done in part; None where nobody knows how much there is."""

# Seconds that a step lasts before it gets a bar.
_PATIENCE = 0.5


class _Bars:
    """The bars that are drawn now, one under the other, on standard error or in a notebook."""

    def __init__(self) -> None:
        self.asked = 0
        """How many ask for bars of steps, each within the one before."""
        self._drawn: Drawn | None = None

    def add(self, title: str) -> TaskID:
        """Draws one more, and returns its number."""
        if self._drawn is None:
            # What draws is imported once something lasts.
            self._drawn = import_module("contend.report").new_bars()
            self._drawn.start()
        return self._drawn.add_task(title, total=None, count="")

    def update(self, bar: TaskID, done: float, total: float | None, unit: str) -> None:
        """Shows how much is done of it."""
        assert self._drawn is not None
        count = f"{int(done)}/{'?' if total is None else total} {unit}" if unit else ""
        # Where something begins anew, what it took so far says nothing.
        if done < self._drawn.tasks[self._drawn.task_ids.index(bar)].completed:
            self._drawn.reset(bar)
        self._drawn.update(bar, completed=done, total=total, count=count)

    def remove(self, bar: TaskID) -> None:
        """Takes it off."""
        assert self._drawn is not None
        self._drawn.remove_task(bar)
        if not self._drawn.tasks:
            self._drawn.stop()
            self._drawn = None


_BARS = _Bars()


@contextmanager
def shown_progress(
    progress: bool | Progress | None, title: str, unit: str
) -> Iterator[FineProgress]:
    """What is told how much is done, as an argument ``progress`` says.

    Args:
        progress: True shows a bar on a terminal or in a notebook, and others below it for what
            lasts within; a function is called, with what is done whole; otherwise it is a `step`.
        title: of the bar.
        unit: what is counted.
    """
    if callable(progress):
        yield lambda done, total: progress(int(done), int(total or 0))
    elif not progress:
        with _bar(title, unit, _PATIENCE) as tell:
            yield tell
    else:
        with shown_steps(), _bar(title, unit, 0) as tell:
            tell(0, None)
            yield tell


@contextmanager
def shown_steps() -> Iterator[None]:
    """While it lasts, steps show bars, as they do within `shown_progress`."""
    _BARS.asked += 1
    try:
        yield
    finally:
        _BARS.asked -= 1


@contextmanager
def step(title: str) -> Iterator[Callable[[float], None]]:
    """Something that may last: then it has a bar, where bars are asked for.

    The core tells it how far it is; what is yielded is to be told of other work, from 0 to 1.

    Args:
        title: of the bar.
    """
    with _bar(title, "", _PATIENCE) as bar:

        def tell(share: float) -> None:
            bar(share, 1)

        with told(tell):
            yield tell


@contextmanager
def _bar(title: str, unit: str, patience: float) -> Iterator[FineProgress]:
    """A bar, where any are asked for, of what is told of after so many seconds.

    Threads that work for the main one have none.
    """
    if not _BARS.asked or threading.current_thread() is not threading.main_thread():
        yield _tell_nobody
        return
    due = time.monotonic() + patience
    bar: TaskID | None = None

    def tell(done: float, total: float | None) -> None:
        nonlocal bar
        if bar is None and time.monotonic() >= due:
            bar = _BARS.add(title)
        if bar is not None:
            _BARS.update(bar, done, total, unit)

    try:
        yield tell
    finally:
        if bar is not None:
            _BARS.remove(bar)


def _tell_nobody(done: float, total: float | None) -> None:
    pass


def told(tell: Callable[[float], None]) -> AbstractContextManager[object]:
    """While it lasts, the core tells what share is done of what it does on the main thread."""
    # Here: the command line begins without the core.
    from contend import _core

    return _core.Told(tell)
