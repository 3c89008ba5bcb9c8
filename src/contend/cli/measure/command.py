"""A verb of ``contend measure``: what it asks for, measured and reported; one way for all."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress as Bar
from rich.text import Text

from contend.cli.common import console_for, write_json
from contend.cli.measure.options import Common, find_place
from contend.cli.option import with_options
from contend.errors import ShortfallError
from contend.measurement import OptionValue, Place, make_workload, measure_workload, resume
from contend.report import (
    ResultTable,
    check_suffix,
    comparison_tables,
    draw_runs,
    measure_tables,
    print_tables,
    progress_bar,
    runs_json,
)
from contend.runs import Run, Warned
from contend.session import Attempt, Observer, Step
from contend.units import counted, format_seconds

# Of launches that were not interrupted by somebody.
_ENDED_BADLY = ("failed", "killed", "timeout")


@dataclass(frozen=True)
class Report:
    """What is told of runs.

    Attributes:
        tables: printed, and beside figures.
        json: for --json.
        draw: draws figures into a file and returns the files; None where nothing can be drawn.
        keep: writes further files.
    """

    tables: Sequence[ResultTable]
    json: Any
    draw: Callable[[Path], Sequence[Path]] | None = None
    keep: Callable[[], None] = lambda: None


OpenPlace = Callable[[Common, Console], AbstractContextManager[Place | None]]


def report_runs(runs: Sequence[Run], _: Place | None) -> Report:
    """What is told of any probe's runs."""
    tables = [table for run in runs for table in measure_tables(run)]
    tables += comparison_tables(runs)
    draw = functools.partial(_draw, runs, tables) if any(run.summaries for run in runs) else None
    return Report(tables, runs_json(runs), draw)


def _draw(runs: Sequence[Run], tables: Sequence[ResultTable], path: Path) -> Sequence[Path]:
    return draw_runs(runs, path, tables=list(tables))


@dataclass(frozen=True)
class MeasureRequest:
    """What a verb asks for.

    Attributes:
        probe: its name.
        options: the probe's own.
        ranks: number of ranks, where the command line does not say it.
        preface: printed before anything is measured.
        place: opens where ranks run.
        report: what is told of the runs; called while the place is open.
        shortfall: what falls short whatever is measured; "" for nothing.
    """

    probe: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    ranks: int | None = None
    preface: str = ""
    place: OpenPlace = find_place
    report: Callable[[Sequence[Run], Place | None], Report] = report_runs
    shortfall: str = ""


Verb = Callable[..., MeasureRequest]


def measures(verb: Verb) -> Callable[..., None]:
    """Makes a function that says what to ask for a verb of ``contend measure``.

    It takes the options of the probe's own, which come first on the command line, and `common`
    where it needs what all probes have. Those follow.
    """
    own = inspect.signature(verb).parameters

    def call(common: Common, given: dict[str, Any]) -> None:
        if "common" in own:
            given["common"] = common
        measure(common, functools.partial(verb, **given))

    return with_options(verb, Common, "common", call)


def measure(common: Common, verb: Callable[[], MeasureRequest]) -> None:
    """Measures what a verb asks for, or goes on with a run; then prints, writes and draws it.

    Raises:
        ShortfallError: after all that, when something failed or fell short.
    """
    if common.plot is not None:
        check_suffix(common.plot)
    asked = verb()
    console = console_for(common.json)
    if asked.preface:
        console.print(Text(asked.preface))
    with watching(console) as observer, asked.place(common, console) as place:
        if common.resume is not None:
            runs = resume(
                common.resume,
                mpi=common.mpi or (),
                launcher=common.launcher,
                place=place,
                budget=common.budget,
                observer=observer,
            )
        else:
            ranks = common.ranks if asked.ranks is None else (asked.ranks,)
            runs = measure_workload(
                make_workload(asked.probe, {**common.of_probe(), **asked.options}),
                replace(common, ranks=ranks).conditions(),
                libraries=common.mpi or (None,),
                place=place,
                folder=common.output,
                observer=observer,
            )
        report = asked.report(runs, place)
    print_tables(console, report.tables)
    write_json(common.json, report.json)
    report.keep()
    if common.plot is not None and report.draw is not None:
        for path in report.draw(common.plot):
            console.print(Text(str(path)))
    fallen = [text for text in (_failures(runs), asked.shortfall) if text]
    if fallen:
        raise ShortfallError("; ".join(fallen))


def _failures(runs: Sequence[Run]) -> str:
    """What went wrong, in one line; "" when nothing did."""
    failed = [line for run in runs for line in _failed(run)]
    more = f" (and {len(failed) - 1} more; run.json has all)" if len(failed) > 1 else ""
    return f"{failed[0]}{more}" if failed else ""


def _failed(run: Run) -> Iterator[str]:
    name = run.record.library.title
    errors = [
        error
        for error in run.findings.errors
        # What makes no sense there is no fault, nor is a cell that the budget was too short for.
        if error.cause != "unsuited" and (error.cause != "budget" or error.whole)
    ]
    for error in errors:
        what = error.algorithm or run.record.probe
        size = "" if error.bytes is None else f" of {error.bytes:,} bytes"
        number = "" if error.launch is None else f"launch {error.launch}"
        yield f"{name}, {number if error.whole else what + size}: {error.reason}"
    told = {error.launch for error in errors}
    told |= {launch.whole for launch in run.record.launches if launch.status == "done"}
    for launch in run.record.launches:
        if launch.status in _ENDED_BADLY and launch.whole not in told:
            yield f"{name}, launch {launch.number}: {launch.why}"


@contextmanager
def watching(console: Console) -> Iterator[Observer]:
    """Prints the budget first and a line for every launch; a bar counts cells on a terminal."""
    with progress_bar("measuring", "cells") as bar:
        yield _Watch(console, bar)


class _Watch(Observer):
    def __init__(self, console: Console, bar: Bar) -> None:
        self._console = console
        self._bar = bar
        self._task = bar.add_task("", total=None)
        self._launches = 0
        self._taken: set[tuple[int, int]] = set()

    def preparing(self, text: str) -> None:
        self._bar.update(self._task, description=text)

    def planned(self, title: str, steps: Sequence[Step], budget: float, folder: Path) -> None:
        self._launches = len(steps)
        launches = counted(len(steps), "launch")
        self._say(f"{title}: {launches} within {format_seconds(budget)}, kept in {folder}")

    def launching(self, step: Step, seconds: float) -> None:
        self._bar.update(self._task, completed=0, total=None)

    def progressed(self, step: Step, done: int, whole: int) -> None:
        self._bar.update(self._task, completed=done, total=whole or None)

    def ended(self, step: Step, attempt: Attempt) -> None:
        self._tell(step, attempt.name, attempt.summary or str(attempt.failure))

    def left(self, step: Step) -> None:
        self._tell(step, "", "no time was left")

    def warned(self, warning: Warned) -> None:
        # Standard error, above the bar where there is one.
        line = Text(f"contend: warning: {warning.text}")
        self._bar.console.print(line, soft_wrap=True)

    def _tell(self, step: Step, name: str, how: str) -> None:
        self._taken.add((step.index, step.number))
        self._say(f"  {len(self._taken)}/{self._launches} {name or step.cell.words}: {how}")

    def _say(self, line: str) -> None:
        self._console.print(Text(line), soft_wrap=True)
