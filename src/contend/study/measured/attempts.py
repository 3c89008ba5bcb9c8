"""One cell measured in as many launches as it takes when points end their launch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from contend.errors import ContendError
from contend.study.measured.cell import Cell
from contend.study.measured.folder import StudyFolder
from contend.study.measured.record import Failure, Point, Terms
from contend.study.measured.services import Attempt, Launch, OnProgress

PointName = tuple[str | None, int | None]
"""Algorithm and bytes of a point."""

_MOST = 4
"""Launches of a cell: where so many ended before their time, more would end alike."""


@dataclass(frozen=True)
class Points:
    """What a cell's launches gave: every point that was wanted, with figures or a reason."""

    points: tuple[Point, ...] = ()
    library: str = ""
    warnings: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()


def measure_points(
    launch: Launch,
    folder: StudyFolder,
    cell: Cell,
    wanted: Sequence[PointName],
    terms: Terms,
    left_s: Callable[[], float],
    progress: OnProgress,
) -> Points:
    """Measures points; without the one that ended a launch, those left over are launched again.

    Where it is not known which one that was, or no time is left, or too many end their launch, all
    that are left over have its reason.

    Args:
        launch: measures one launch.
        folder: of the study.
        cell: of the points.
        wanted: at least one.
        terms: how.
        left_s: seconds that the cell still has.
        progress: is told how far a launch is.
    """
    found: dict[PointName, Point] = {}
    attempts: list[Attempt] = []
    left = list(wanted)
    failure: Failure | None = None
    while left and len(attempts) < _MOST and (seconds := left_s()) > 0:
        run = folder.new_run(cell, len(attempts))
        try:
            attempt = launch(cell, left, terms, folder=run, budget_s=seconds, progress=progress)
        except (ContendError, OSError) as error:
            attempt = Attempt((), Failure("launch", str(error) or type(error).__name__))
        attempts.append(attempt)
        found |= {(point.algorithm, point.bytes): point for point in attempt.points}
        left = [place for place in left if place not in found]
        failure = attempt.failure or Failure("launch", "the probe left this out")
        if attempt.fatal not in left:
            break
        found[attempt.fatal] = Point(*attempt.fatal, failure=failure)
        left.remove(attempt.fatal)
    failure = failure or Failure("budget", "no time was left")
    found |= {place: Point(*place, failure=failure) for place in left}
    return Points(
        points=tuple(found[place] for place in wanted),
        library=next((one.library for one in attempts if one.library), ""),
        warnings=tuple(dict.fromkeys(said for one in attempts for said in one.warnings)),
        runs=tuple(
            name
            for name in (folder.run_name(cell, number) for number in range(len(attempts)))
            if (folder.path / name).is_dir()
        ),
    )
