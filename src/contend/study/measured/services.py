"""What a measured study needs of the other rooms: one launch measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from contend.study.measured.cell import Cell
from contend.study.measured.record import Failure, Point, Terms

OnProgress = Callable[[float], None]
"""Called with the share of a launch that is done, from 0 to 1."""


@dataclass(frozen=True)
class Attempt:
    """What one launch gave.

    Attributes:
        points: those that have figures or failed by themselves, in the order asked for.
        failure: what ended the launch before its time; None when nothing did.
        fatal: algorithm and bytes of the point at which it ended, where that is known.
        library: MPI library as it calls itself.
        warnings: what a reader must know.
    """

    points: tuple[Point, ...]
    failure: Failure | None = None
    fatal: tuple[str | None, int | None] | None = None
    library: str = ""
    warnings: tuple[str, ...] = ()


class Launch(Protocol):
    """Measures one launch of a cell."""

    def prepare(self, cells: Sequence[Cell]) -> None:
        """Does what launches have in common, before time counts; errors keep all from starting."""
        ...

    def __call__(
        self,
        cell: Cell,
        points: Sequence[tuple[str | None, int | None]],
        terms: Terms,
        *,
        folder: Path,
        budget_s: float,
        progress: OnProgress,
    ) -> Attempt:
        """Launches a cell for some of its points; errors of contend mean that it did not start."""
        ...
