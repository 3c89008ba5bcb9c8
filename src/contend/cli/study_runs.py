"""Carries out the plan of a study, tells how far it is, and reports it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from contend import report
from contend.cli.common import console_for, progress_bar, write_json
from contend.cli.measure.options import Common
from contend.cli.measure.place import find_place
from contend.errors import ShortfallError
from contend.files import write_whole
from contend.session import Attempt, Cell, Observer, Step
from contend.study import (
    Ended,
    MeasuredPlan,
    OnProgress,
    Plan,
    RealLaunch,
    Site,
    StudyFolder,
    StudyPlan,
    gather,
    read_runs,
    run_simulations,
    site_of,
    with_known_wire,
)
from contend.study.measured.record import Record
from contend.study.measured.runner import OnStep, run
from contend.study.measured.runner import Step as OldStep
from contend.units import counted, format_seconds

if TYPE_CHECKING:
    from contend.cli.study import Options

_WHERE = ("on", "routes", "route", "rate", "buffer", "placement", "launcher")
"""Options that say where a plan is measured, and change nothing in it."""


def carry_out(plan: StudyPlan, file: Path, given: Mapping[str, Any], options: Options) -> None:
    """Carries out a plan of any kind.

    Args:
        plan: as it was read.
        file: its file; what it names is looked for beside it.
        given: options of the command line that change it or say where it is measured.
        options: all options.

    Raises:
        ShortfallError: after everything else, when a cell failed or no time was left for it.
    """
    if options.plot is not None:
        report.check_suffix(options.plot)
    if isinstance(plan, Plan):
        _simulate(plan.changed(**given), file, options)
    elif isinstance(plan, MeasuredPlan):
        _measure(plan, given, options)


def _simulate(plan: Plan, file: Path, options: Options) -> None:
    folder = Path(plan.name) if options.output is None else options.output
    console = console_for(options.json)
    with _watching(plan, console) as watch:
        outcomes = run_simulations(
            plan, folder, beside=file.parent, retry=options.retry, observer=watch
        )
    tables = report.study_tables(plan, outcomes)
    report.print_tables(console, tables)
    write_json(options.json, report.study_json(plan, outcomes, str(folder)))
    _write_files(options, tables, report.study_figures(plan, outcomes), console)
    failed = sum(outcome.record.status == "failed" for outcome in outcomes)
    if failed:
        raise ShortfallError(
            f"{failed} of {counted(len(outcomes), 'cell')} failed; {folder} says why"
        )


def _write_files(
    options: Options,
    tables: Sequence[report.ResultTable],
    figures: Iterator[tuple[str, Figure]],
    console: Console,
) -> None:
    """Tables and figures, where they are asked for."""
    if options.markdown is not None:
        write_whole(options.markdown, report.markdown_of(tables).encode())
    if options.plot is not None:
        for path in report.save_figures(figures, options.plot, tables):
            console.print(Text(str(path)))


@contextmanager
def _watching(plan: StudyPlan, console: Console) -> Iterator[Observer]:
    """A line for every cell that ends, and a bar that counts cells on a terminal."""
    with progress_bar(plan.name, "cells") as bar:
        yield _Watch(console, bar)


class _Watch(Observer):
    """Tells on the terminal how far a study is."""

    def __init__(self, console: Console, bar: Progress) -> None:
        self._console = console
        self._bar = bar
        self._task = bar.add_task("", total=None)
        self._kept = 0
        self._ended: set[tuple[int, int]] = set()
        self._launches = 0

    def preparing(self, text: str) -> None:
        self._console.print(Text(f"  {text}"))

    def kept(self, cell: Cell) -> None:
        self._kept += 1

    def planned(self, cells: Sequence[Cell], steps: Sequence[Step], budget: float) -> None:
        if self._kept:
            kept = f"{self._kept} of {counted(len(cells), 'cell')}"
            self._console.print(
                Text(f"{kept} {'is' if self._kept == 1 else 'are'} kept from before")
            )
        self._launches = len(steps)
        self._bar.update(self._task, total=float(len(steps)))

    def progressed(self, step: Step, done: int, whole: int) -> None:
        self._bar.update(self._task, completed=len(self._ended) + min(1.0, done / max(whole, 1)))

    def ended(self, step: Step, attempt: Attempt) -> None:
        # A launch that a point ended is begun again.
        self._ended.add((step.index, step.number))
        self._bar.update(self._task, completed=len(self._ended))
        result = attempt.summary if attempt.failure is None else str(attempt.failure)
        line = Text(f"{len(self._ended):>3}/{self._launches} {step.cell.words}: {result}")
        self._console.print(line, no_wrap=True, overflow="ellipsis")


def _measure(plan: MeasuredPlan, given: Mapping[str, Any], options: Options) -> None:
    where = {name: given[name] for name in _WHERE if name in given}
    plan = plan.changed(**{name: value for name, value in given.items() if name not in where})
    common = Common(**where, host_memory=plan.memory)
    console = console_for(options.json)
    with find_place(common, console) as place:
        assert place is not None
        plan = with_known_wire(plan, place)
        launch = RealLaunch(place, site_of(place, options.on or "", common.memory()), plan.wire)
        folder = StudyFolder(Path(plan.name) if options.output is None else options.output, plan)
        with _watch(plan, launch.site, console) as (on_step, on_progress):
            ended = run(
                plan,
                folder,
                launch,
                launch.site,
                retry=options.retry,
                on_step=on_step,
                on_progress=on_progress,
            )
    results = gather(ended.records, folder.path, read_runs)
    tables = report.measured_tables(plan, ended.records, results, ended.left)
    report.print_tables(console, tables)
    content = report.measured_json(plan, ended.records, results, ended.left, str(folder.path))
    write_json(options.json, content)
    _write_files(options, tables, report.measured_figures(plan, results), console)
    _judge(ended, folder)


def _judge(ended: Ended, folder: StudyFolder) -> None:
    """Raises where something fell short."""
    failed = sum(record.failed for record in ended.records)
    said = []
    if failed:
        said.append(f"{failed} of {len(ended.records)} cells failed; {folder.path} says why")
    if ended.left:
        said.append(f"no time was left for {counted(len(ended.left), 'cell')}: give it again")
    if said:
        raise ShortfallError("; ".join(said))


@contextmanager
def _watch(plan: MeasuredPlan, site: Site, console: Console) -> Iterator[tuple[OnStep, OnProgress]]:
    """What is to come, a line for every cell that ends, and a bar on a terminal."""
    cells = sum(1 for _ in plan.cells())
    console.print(Text(f"{plan.name}: {plan.title or 'a study'}", style="bold"))
    most = f"{counted(cells, 'cell')} within {format_seconds(plan.budget_s)}"
    console.print(Text(f"{most}, {site.words()}"))
    with progress_bar(plan.name, "cells") as bar:
        task = bar.add_task("", total=float(cells))
        whole = 0

        def on_step(step: OldStep) -> None:
            nonlocal whole
            if step.state == "measuring":
                return
            whole += 1
            bar.update(task, completed=whole)
            line = Text(f"{whole:>3}/{cells} {_line(step)}")
            console.print(line, no_wrap=True, overflow="ellipsis")

        def on_progress(share: float) -> None:
            bar.update(task, completed=whole + share)

        yield on_step, on_progress


def _line(step: OldStep) -> str:
    record = step.record
    if record is None:
        return f"{step.cell.label}: no time left"
    kept = " (kept)" if step.state == "kept" else ""
    return f"{step.cell.label}: {_said(record)}{kept}"


def _said(record: Record) -> str:
    """A single point's time, or how many points there are, and what failed."""
    times = [point.median_s for point in record.points if point.median_s is not None]
    failures = record.failures
    said = []
    if times:
        alone = len(record.points) == 1
        said.append(
            format_seconds(times[0]) if alone else f"{counted(len(times), 'point')} measured"
        )
    if failures:
        missing = sum(point.failure is not None for point in record.points)
        number = "" if len(record.points) == 1 else f"{missing} × "
        said.append(f"{number}ERR {failures[0].cause}: {failures[0].said}")
    return ", ".join(said)
