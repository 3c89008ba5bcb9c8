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
from contend.cli.common import console_for, write_json, write_text
from contend.cli.measure.options import Common, find_place
from contend.cli.options import WHOLE
from contend.errors import ShortfallError, UsageError
from contend.report import progress_bar
from contend.runs import Warned
from contend.session import Attempt, Cell, Observer, Step
from contend.study import (
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

_WHERE = ("on", "routes", "route", "rate", "buffer", "rto_min", "placement", "launcher")
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
    if options.loading != WHOLE and not isinstance(plan, MeasuredPlan):
        raise UsageError("--part, --without and --strict belong to --on emulated:FABRIC")
    if isinstance(plan, SimulatedPlan):
        _simulate(plan.changed(**given), file, options)
    elif isinstance(plan, MeasuredPlan):
        _measure(plan, given, options)
    elif isinstance(plan, VerificationPlan):
        _verify(plan.changed(**given), file, options)


def _simulate(plan: SimulatedPlan, file: Path, options: Options) -> None:
    folder = Path(plan.name) if options.output is None else options.output
    console = _console(options)
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


def _console(options: Options) -> Console:
    """Where tables go: nowhere when standard output is JSON or Markdown."""
    return console_for("-" if "-" in (options.json, options.markdown) else None)


def _write_files(
    options: Options,
    tables: Sequence[report.ResultTable],
    figures: Iterator[tuple[str, Figure]],
    console: Console,
) -> None:
    """Tables and figures, where they are asked for."""
    if options.markdown is not None:
        write_text(options.markdown, report.markdown_of(tables))
    if options.plot is not None:
        for path in report.save_figures(figures, options.plot, tables):
            console.print(Text(str(path)))


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


def _measure(plan: MeasuredPlan, given: Mapping[str, Any], options: Options) -> None:
    where = {name: given[name] for name in _WHERE if name in given}
    plan = plan.changed(**{name: value for name, value in given.items() if name not in where})
    folder = Path(plan.name) if options.output is None else options.output
    console = _console(options)
    with find_place(Common(**where, memory=plan.memory, loading=options.loading), console) as place:
        assert place is not None
        site = Site(place, options.on or "")
        console.print(Text(f"{plan.name}: {plan.title or 'a study'}", style="bold"))
        cells = counted(plan.launches * sum(1 for _ in plan.cells()), "cell")
        console.print(Text(f"{cells} within {format_seconds(plan.budget_s)}, {site.words()}"))
        with _watching(plan, console) as watch:
            ended = run_measurements(plan, folder, site, retry=options.retry, observer=watch)
        plan = with_known_wire(plan, place)
    tables = report.measured_tables(plan, ended)
    report.print_tables(console, tables)
    write_json(options.json, report.measured_json(plan, ended, site.described, str(folder)))
    _write_files(options, tables, report.measured_figures(plan, ended.results), console)
    failed = sum(answer.failed for answer in ended.answers)
    short = []
    if failed:
        launches = sum(len(answer.launches) for answer in ended.answers)
        short.append(f"{failed} of {counted(launches, 'cell')} failed; {folder} says why")
    if ended.left:
        short.append(
            f"no time was left for {counted(len(ended.left), 'cell')}: give the command again"
        )
    if short:
        raise ShortfallError("; ".join(short))


def _verify(plan: VerificationPlan, file: Path, options: Options) -> None:
    folder = Path(plan.name) if options.output is None else options.output
    console = _console(options)
    fabrics, least = counted(len(plan.cases), "fabric"), format_seconds(plan.least_seconds)
    console.print(Text(f"{fabrics}, at least {least} each"))
    verified, tables = [], []
    for case in plan.cases:
        with _watching(plan, console) as watch:
            result = verify(
                case, plan, folder, beside=file.parent, retry=options.retry, observer=watch
            )
        verified.append(result)
        if result.agreement is not None:
            shown = report.agreement_tables(case.name, result.agreement, result.rate)
            report.print_tables(console, shown)
            tables += shown
    content = [
        report.verified_json(result.case, result.agreement, result.rate)
        for result in verified
        if result.agreement is not None
    ]
    write_json(options.json, report.verification_json(plan.seed, content))
    if options.markdown is not None:
        write_text(options.markdown, report.markdown_of(tables))
    compared = [
        report.ComparedFabric(result.case.name, result.pairs, result.agreement)
        for result in verified
        if result.pairs is not None and result.agreement is not None
    ]
    if options.plot is not None and compared:
        report.save_figure(report.agreement_figure(compared), options.plot, tables)
    if failed := [f"{r.case.name}: {r.error}" for r in verified if r.error is not None]:
        raise ShortfallError("; ".join(failed))
