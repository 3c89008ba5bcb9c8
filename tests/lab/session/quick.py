"""A way to answer cells that takes no time: the engine's own behaviour without MPI.

Run as a program it is a session that can be killed: ``python quick.py FOLDER PAUSE_S LAUNCHES``.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import msgspec

from contend.base.errors import ContendError
from contend.base.files import write_whole
from contend.lab.runs import Failure
from contend.lab.session import RECORD, Attempt, Cell, Observer, Session, Step

POINTS = ("a", "b", "c")


class Question(Cell, frozen=True, tag="quick"):
    """Points to be answered by a number each."""

    name: str
    points: tuple[str, ...] = POINTS
    variants: int = 1
    rate: float = 1.0

    @property
    def words(self) -> str:
        return self.name


class Record(msgspec.Struct):
    """``run.json``: answers of launches by number and point, and why others have none."""

    answers: dict[int, dict[str, float]] = {}
    failures: list[tuple[int, str | None, Failure]] = []


Answer = Callable[[Step, str], float]
"""Answers a point; may raise `Ends`."""


class Ends(Exception):  # noqa: N818 - no error of contend
    """Ends a launch at a point, which may be known."""

    def __init__(self, failure: Failure, point: str | None) -> None:
        super().__init__(failure.reason)
        self.failure = failure
        self.point = point


@dataclass
class QuickWork:
    """See `lab.session.Work`."""

    cell: Question
    folder: Path
    answer: Answer
    record: Record = field(default_factory=Record)
    finished: int = 0

    @property
    def variants(self) -> int:
        return self.cell.variants

    def left(self, launches: int, *, retry: bool) -> Sequence[int]:
        numbers = range(launches * self.variants)
        return [number for number in numbers if self._points(number, retry=retry)]

    def begin(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._keep()

    def launch(self, step: Step, *, seconds: float, limit: float, observer: Observer) -> Attempt:
        points = self._points(step.number)
        for done, point in enumerate(points):
            try:
                answer = self.answer(step, point)
            except Ends as ends:
                left = any(other != ends.point for other in points[done:])
                return Attempt(failure=ends.failure, point=ends.point, left=left)
            self.record.answers.setdefault(step.number, {})[point] = answer
            self._keep()
            observer.progressed(step, done + 1, len(points))
        return Attempt(summary=f"{len(points)} points")

    def fail(self, number: int, failure: Failure, point: str | None = None) -> None:
        self.record.failures.append((number, point, failure))
        self._keep()

    def finish(self) -> None:
        self.finished += 1

    def _points(self, number: int, *, retry: bool = False) -> list[str]:
        given_up: set[str | None] = set()
        for failed, point, failure in self.record.failures:
            alike = failed % self.variants == number % self.variants
            if not retry and alike and failure.cause != "budget":
                given_up.add(point)
        done = self.record.answers.get(number, {})
        if None in given_up:
            return []
        return [p for p in self.cell.points if p not in done and p not in given_up]

    def _keep(self) -> None:
        write_whole(self.folder / RECORD, msgspec.json.encode(self.record))


@dataclass
class Quick:
    """See `lab.session.Method`."""

    answer: Answer = lambda step, point: float(step.number)
    prepared: list[str] = field(default_factory=list)
    refusal: ContendError | None = None

    def open(self, cell: Question, folder: Path) -> QuickWork:
        record = Record()
        with contextlib.suppress(FileNotFoundError):
            record = msgspec.json.decode((folder / RECORD).read_bytes(), type=Record)
        return QuickWork(cell, folder, self.answer, record)

    def title(self, cells: Sequence[Question]) -> str:
        return " and ".join(cell.name for cell in cells)

    def prepare(self, cells: Sequence[Question], observer: Observer) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.prepared += [cell.name for cell in cells]


def count(folder: Path) -> int:
    """Answers that are kept in a session's folder."""
    records = [msgspec.json.decode(path.read_bytes(), type=Record) for path in folder.rglob(RECORD)]
    return sum(len(points) for record in records for points in record.answers.values())


def main(folder: Path, pause_s: float, launches: int) -> None:
    """A session of two cells whose points take a while."""

    def stop(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    def answer(step: Step, _: str) -> float:
        time.sleep(pause_s)
        return float(step.number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    cells = [Question("first"), Question("second")]
    try:
        Session("quick", cells, Quick(answer), folder, launches=launches).run()
    except ContendError as error:
        sys.stderr.write(f"contend: {error}\n")
        sys.exit(error.status)


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
