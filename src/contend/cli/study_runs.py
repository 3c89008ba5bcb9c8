"""Carries out the plan of a study, tells how far it is, and reports it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from contend.cli.where import Where
from contend.report import (
    Document,
    measured_document,
    progress_bar,
    study_document,
    verification_document,
)
from contend.runs import Warned
from contend.session import Attempt, Cell, Observer, Step
from contend.studies import (
    MeasuredPlan,
    SimulatedPlan,
    Site,
    StudyPlan,
    VerificationPlan,
    run_measurements,
    run_simulations,
    verify,
    with_known_wire,
)
from contend.units import counted, format_seconds

if TYPE_CHECKING:
    from contend.cli.study import Options


def carry_out(
    plan: StudyPlan,
    file: Path,
    given: Mapping[str, Any],
    options: Options,
    where: Where,
    console: Console,
) -> Document:
    """Carries out a plan of any kind.

    Args:
        plan: as it was read.
        file: its file; what it names is looked for beside it.
        given: options of the command line that change it.
        options: all of its options.
        where: it is measured.
        console: is told how far it is.
    """
    if isinstance(plan, MeasuredPlan):
        return _measured(plan.changed(**given), options, where, console)
    if isinstance(plan, VerificationPlan):
        return _verified(plan.changed(**given, **where.given()), file, options, console)
    assert isinstance(plan, SimulatedPlan)
    return _simulated(plan.changed(**given), file, options, console)


def _simulated(plan: SimulatedPlan, file: Path, options: Options, console: Console) -> Document:
    folder = Path(plan.name) if options.output is None else options.output
    with _watching(plan, console) as watch:
        outcomes = run_simulations(
            plan, folder, beside=file.parent, retry=options.retry, observer=watch
        )
    return study_document(plan, outcomes, str(folder))


def _measured(plan: MeasuredPlan, options: Options, where: Where, console: Console) -> Document:
    folder = Path(plan.name) if options.output is None else options.output
    with where.place(console, memory=plan.memory) as place:
        site = Site(place, where.on or "")
        console.print(Text(f"{plan.name}: {plan.title or 'a study'}", style="bold"))
        cells = counted(plan.launches * sum(1 for _ in plan.cells()), "cell")
        console.print(Text(f"{cells} within {format_seconds(plan.budget_s)}, {site.words()}"))
        with _watching(plan, console) as watch:
            ended = run_measurements(plan, folder, site, retry=options.retry, observer=watch)
        plan = with_known_wire(plan, place)
    return measured_document(plan, ended, site.described, str(folder))


def _verified(plan: VerificationPlan, file: Path, options: Options, console: Console) -> Document:
    folder = Path(plan.name) if options.output is None else options.output
    fabrics, least = counted(len(plan.cases), "fabric"), format_seconds(plan.least_seconds)
    console.print(Text(f"{fabrics}, at least {least} each"))
    verified = []
    for case in plan.cases:
        with _watching(plan, console) as watch:
            verified.append(
                verify(case, plan, folder, beside=file.parent, retry=options.retry, observer=watch)
            )
    return verification_document(plan.seed, verified)


@contextmanager
def _watching(plan: StudyPlan, console: Console) -> Iterator[Observer]:
    """A line for every launch that ends, and a bar that counts them on a terminal."""
    with progress_bar(plan.name, "cells") as bar:
        yield _Watch(console, bar)


class _Watch(Observer):
    """Tells on the terminal how far a study is."""

    def __init__(self, console: Console, bar: Progress) -> None:
        self._console = console
        self._bar = bar
        self._task = bar.add_task("", total=None)
        self._names: Mapping[str, str] = {}
        self._kept = 0
        # A launch that a point ended is begun again, and counts once.
        self._ended: set[tuple[int, int]] = set()
        self._launches = 0

    def named(self, names: Mapping[str, str]) -> None:
        self._names = names

    def preparing(self, text: str) -> None:
        self._say(f"  {text}")

    def kept(self, cell: Cell) -> None:
        self._kept += 1

    def planned(self, title: str, steps: Sequence[Step], budget: float, folder: Path) -> None:
        if self._kept:
            are = "is" if self._kept == 1 else "are"
            cells = counted(len(self._names), "cell")
            self._say(f"{self._kept} of {cells} {are} kept from before in {folder}")
        self._launches = len(steps)
        self._bar.update(self._task, total=float(len(steps)))

    def progressed(self, step: Step, done: int, whole: int) -> None:
        self._bar.update(self._task, completed=len(self._ended) + min(1.0, done / max(whole, 1)))

    def ended(self, step: Step, attempt: Attempt) -> None:
        failure = attempt.failure
        self._count(
            step, attempt.summary if failure is None else f"ERR {failure.cause}: {failure.reason}"
        )

    def left(self, step: Step) -> None:
        self._count(step, "no time was left")

    def warned(self, warning: Warned) -> None:
        # Said once more below the tables, with the cells that it concerns.
        pass

    def _count(self, step: Step, result: str) -> None:
        self._ended.add((step.index, step.number))
        self._bar.update(self._task, completed=len(self._ended))
        name = self._names.get(step.cell.key, step.cell.words)
        launch = f", launch {step.round + 1}" if step.round else ""
        line = f"{len(self._ended):>3}/{self._launches} {name}{launch}: {result}"
        self._console.print(Text(line), no_wrap=True, overflow="ellipsis")

    def _say(self, line: str) -> None:
        self._console.print(Text(line), soft_wrap=True)
