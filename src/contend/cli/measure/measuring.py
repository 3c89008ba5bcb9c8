"""What every verb of ``contend measure`` takes beside its probe's own options, and how it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from contend.base.errors import UsageError
from contend.cli.options.option import labels
from contend.cli.options.shared import (
    BudgetOption,
    LabelOption,
    LaunchesOption,
    MemoryOption,
    MpiListOption,
    PrecisionOption,
    RanksListOption,
    RanksPerHostListOption,
    RunFolderOption,
    SeedOption,
    VerifyOption,
    WireOption,
)
from contend.cli.options.where import Where
from contend.cli.watching import watched_run
from contend.lab import measurement
from contend.lab.measurement import OF_ALL_PROBES
from contend.report import Document

if TYPE_CHECKING:
    from contend.lab.measurement import OptionValue, Place
    from contend.lab.runs import Run

RepetitionsOption = Annotated[
    str | None,
    typer.Option(
        "--repetitions",
        metavar="MIN:MAX",
        help=f"Fewest and most samples of a cell. \\[default: {OF_ALL_PROBES['repetitions']}]",
    ),
]
WarmupsOption = Annotated[
    int | None,
    typer.Option(
        "--warmups",
        metavar="N",
        min=1,
        help=f"Warm-up samples, which do not count. \\[default: {OF_ALL_PROBES['warmups']}]",
    ),
]
ResumeOption = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="FOLDER",
        help="Continue this run. Apart from --budget and the output options, other options do not "
        "count; repeat --mpi, --launcher and --on if the run had them.",
    ),
]
# Of launches that were not interrupted by somebody.
_ENDED_BADLY = ("failed", "killed", "timeout")


@dataclass(frozen=True)
class Measuring:
    """How a probe is measured; each option says on the command line what it does."""

    ranks: RanksListOption = None
    ranks_per_host: RanksPerHostListOption = None
    mpi: MpiListOption = None
    launches: LaunchesOption = 1
    budget: BudgetOption = None
    repetitions: RepetitionsOption = None
    precision: PrecisionOption = None
    warmups: WarmupsOption = None
    verify: VerifyOption = False
    label: LabelOption = None
    wire: WireOption = None
    memory: MemoryOption = None
    output: RunFolderOption = None
    resume: ResumeOption = None
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
            words = measurement.options_of(probe, {**of_all, **options})
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
