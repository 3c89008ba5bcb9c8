"""What all verbs of ``contend measure`` take, how they run, and how far launches are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from contend.base.errors import UsageError
from contend.base.progress import FineProgress, shown_progress
from contend.base.units import counted, format_seconds, verb
from contend.cli.options.option import Bytes, BytesPerSecond, Share, labels
from contend.cli.options.shared import (
    LAUNCHES,
    MEMORY,
    PRECISION,
    VERIFY,
    WIRE,
    BudgetOption,
    LabelOption,
    MpiListOption,
    RanksListOption,
    RanksPerHostListOption,
    RunFolderOption,
    SeedOption,
)
from contend.cli.options.where import Where
from contend.lab import measurement
from contend.lab.measurement import OF_ALL_PROBES
from contend.lab.session import Observer
from contend.report import Document

if TYPE_CHECKING:
    from contend.lab.measurement import OptionValue, Place
    from contend.lab.runs import Run, Warned
    from contend.lab.session import Attempt, Cell, Step


@contextmanager
def watched_run(console: Console) -> Iterator[Observer]:
    """Prints the budget first and a line for every launch; a bar counts cells on a terminal."""
    with shown_progress(True, "measuring", "cells") as bar:
        yield _WatchedRun(console, bar)


@contextmanager
def watched_study(console: Console, plan: str) -> Iterator[Observer]:
    """Prints every launch of a plan; a bar counts them on a terminal."""
    with shown_progress(True, plan, "cells") as bar:
        yield _WatchedStudy(console, bar)


class _Watched(Observer):
    """Counts launches; a launch that is begun again counts once."""

    def __init__(self, console: Console, bar: FineProgress) -> None:
        self._console = console
        self._bar = bar
        self._launches = 0
        self._ended: set[tuple[int, int]] = set()

    def planned(self, title: str, steps: Sequence[Step], budget: float, folder: Path) -> None:
        self._launches = len(steps)
        self._ended.clear()

    def ended(self, step: Step, attempt: Attempt) -> None:
        self._count(step, attempt.name, attempt.summary or str(attempt.failure))

    def left(self, step: Step) -> None:
        self._count(step, "", "no time was left")

    def _count(self, step: Step, name: str, result: str) -> None:
        self._ended.add((step.index, step.number))
        self._say(f"  {len(self._ended)}/{self._launches} {name or step.cell.words}: {result}")

    def _say(self, line: str) -> None:
        self._console.print(Text(line), soft_wrap=True)


class _WatchedRun(_Watched):
    """Tells the budget first and every launch; the bar is of the points of a launch."""

    def planned(self, title: str, steps: Sequence[Step], budget: float, folder: Path) -> None:
        super().planned(title, steps, budget, folder)
        launches = counted(len(steps), "launch")
        self._say(f"{title}: {launches} within {format_seconds(budget)}, kept in {folder}")

    def launching(self, step: Step, seconds: float) -> None:
        self._bar(0, None)

    def progressed(self, step: Step, done: int, whole: int) -> None:
        self._bar(done, whole or None)

    def warned(self, warning: Warned) -> None:
        # Standard error, above the bar where there is one.
        line = Text(f"contend: warning: {warning.text}")
        Console(stderr=True).print(line, soft_wrap=True)


class _WatchedStudy(_Watched):
    """Tells every launch as the plan calls it; the bar is of all launches.

    Warnings stand below the tables, with the cells that they concern.
    """

    def __init__(self, console: Console, bar: FineProgress) -> None:
        super().__init__(console, bar)
        self._names: Mapping[str, str] = {}
        self._kept = 0

    def named(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._kept = 0

    def preparing(self, text: str) -> None:
        # What takes minutes says so even where no bar is drawn.
        self._say(f"  {text}")

    def kept(self, cell: Cell) -> None:
        self._kept += 1

    def planned(self, title: str, steps: Sequence[Step], budget: float, folder: Path) -> None:
        super().planned(title, steps, budget, folder)
        if self._kept:
            are = verb(self._kept, "is")
            cells = counted(len(self._names), "cell")
            self._say(f"{self._kept} of {cells} {are} kept from before in {folder}")
        self._bar(0, len(steps))

    def ended(self, step: Step, attempt: Attempt) -> None:
        self._count(step, "", str(attempt.failure or attempt.summary))

    def progressed(self, step: Step, done: int, whole: int) -> None:
        self._bar(len(self._ended) + min(1.0, done / max(whole, 1)), self._launches)

    def _count(self, step: Step, name: str, result: str) -> None:
        self._ended.add((step.index, step.number))
        self._bar(len(self._ended), self._launches)
        name = self._names.get(step.cell.key, step.cell.words)
        launch = f", launch {step.round + 1}" if step.round else ""
        line = f"{len(self._ended):>3}/{self._launches} {name}{launch}: {result}"
        self._console.print(Text(line), no_wrap=True, overflow="ellipsis")


# Of launches that were not interrupted by somebody.
_ENDED_BADLY = ("failed", "killed", "timeout")


@dataclass(frozen=True)
class Measuring:
    """How a probe is measured; each option says on the command line what it does."""

    ranks: RanksListOption = None
    ranks_per_host: RanksPerHostListOption = None
    mpi: MpiListOption = None
    launches: Annotated[int, LAUNCHES(min=1)] = 1
    budget: BudgetOption = None
    repetitions: Annotated[
        str | None,
        typer.Option(
            "--repetitions",
            metavar="MIN:MAX",
            help=f"Fewest and most samples of a cell. \\[default: {OF_ALL_PROBES['repetitions']}]",
        ),
    ] = None
    precision: Annotated[Share | None, PRECISION()] = None
    warmups: Annotated[
        int | None,
        typer.Option(
            "--warmups",
            metavar="N",
            min=1,
            help=f"Warm-up samples, which do not count. \\[default: {OF_ALL_PROBES['warmups']}]",
        ),
    ] = None
    verify: Annotated[bool, VERIFY()] = False
    label: LabelOption = None
    wire: Annotated[BytesPerSecond | None, WIRE("Figures and tables compare rates with it.")] = None
    memory: Annotated[Bytes | None, MEMORY(default="this machine's, if it is the host")] = None
    output: RunFolderOption = None
    resume: Annotated[
        Path | None,
        typer.Option(
            "--resume",
            metavar="FOLDER",
            help="Continue this run. Apart from --budget and the output options, other options do "
            "not count; repeat --mpi, --launcher and --on if the run had them.",
        ),
    ] = None
    seed: SeedOption = 1

    @contextmanager
    def place(
        self, where: Where, console: Console, fabric: str | None = None
    ) -> Iterator[Place | None]:
        """Where it is measured; None when a run that goes on knows its own."""
        if self.resume is not None and where.on is None and fabric is None:
            where.refuse_cables()
            yield None
        else:
            with where.place(console, memory=self.memory, fabric=fabric) as place:
                yield place

    def runs(
        self,
        probe: str,
        options: Mapping[str, OptionValue],
        where: Where,
        place: Place | None,
        console: Console,
    ) -> list[Run]:
        """Measures a probe with its own options, or goes on with a run.

        Raises:
            UsageError: no number of ranks is given.
        """
        with watched_run(console) as observer:
            if self.resume is not None:
                return measurement.resume(
                    self.resume,
                    mpi=self.mpi or (),
                    launcher=where.launcher,
                    place=place,
                    budget=self.budget,
                    observer=observer,
                )
            of_all = {name: getattr(self, name) for name in OF_ALL_PROBES}
            # Options of some probes come with the usual values of those of all.
            given = {name: value for name, value in of_all.items() if value is not None}
            words = measurement.options_of(probe, {**options, **given})
            if self.ranks is None:
                raise UsageError("--ranks: expected a number of ranks, such as -n 4")
            return measurement.measure_each(
                self.mpi or (None,),
                probe,
                words,
                ranks=self.ranks,
                ranks_per_host=self.ranks_per_host or (),
                launches=self.launches,
                budget=measurement.DEFAULT_BUDGET if self.budget is None else self.budget,
                seed=self.seed,
                labels=labels(self.label),
                wire=self.wire,
                place=place,
                folder=self.output,
                observer=observer,
            )


def judged(document: Document, runs: Sequence[Run], shortfall: str = "") -> Document:
    """The document of runs that were just measured: it falls short where something failed."""
    failed = [line for run in runs for line in _failed(run)]
    more = f" (and {len(failed) - 1} more; run.json has all)" if len(failed) > 1 else ""
    fallen = [f"{failed[0]}{more}"] if failed else []
    if not failed and not any(cell.used for run in runs for cell in run.summaries):
        fallen = ["nothing was measured: give it a larger --budget"]
    return replace(document, shortfall="; ".join(filter(None, (*fallen, shortfall))))


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
