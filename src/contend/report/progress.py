"""A bar that shows how far something is, on a terminal or in a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)


@contextmanager
def progress_bar(title: str, unit: str) -> Iterator[Progress]:
    """A bar with rate and time left on a terminal's standard error or in a notebook, else none."""
    console = Console(stderr=True)
    with Progress(
        TextColumn(title),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TaskProgressColumn(show_speed=True),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not (console.is_terminal or console.is_jupyter),
    ) as progress:
        yield progress
