"""Bars that show how far things are, on a terminal or in a notebook."""

from __future__ import annotations

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)


def new_bars() -> Progress:
    """Draws bars with the time left on a terminal's standard error or in a notebook, else none.

    A task's field ``count`` says how much of it is done, in words.
    """
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[count]}"),
        TaskProgressColumn(show_speed=True),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not (console.is_terminal or console.is_jupyter),
    )
