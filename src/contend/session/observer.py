"""Who is told what a session does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contend.runs import Warned
    from contend.session.cell import Attempt, Cell, Step


class Observer:
    """Is told what goes on; everything by itself does nothing."""

    def named(self, names: Mapping[str, str]) -> None:
        """What a study's plan calls the cells, by their keys; told before anything else."""

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
