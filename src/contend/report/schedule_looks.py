"""Colours and lines of schedules, the same in every figure of a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from contend.report.style import COLOURS

_LINES: tuple[str | tuple[float, tuple[float, ...]], ...] = (
    "-",
    (0, (4, 1.5)),
    (0, (1.2, 1.2)),
    (0, (5, 1.5, 1, 1.5)),
)


@dataclass(frozen=True)
class Look:
    """How a schedule is drawn."""

    colour: str
    line: str | tuple[float, tuple[float, ...]]


def looks(schedules: Iterable[str]) -> dict[str, Look]:
    """Looks by name: colours first; when they have run out, other lines."""
    names = list(dict.fromkeys(schedules))
    return {
        name: Look(COLOURS[place % len(COLOURS)], _LINES[place // len(COLOURS) % len(_LINES)])
        for place, name in enumerate(names)
    }
