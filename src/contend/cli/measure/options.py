"""What every verb of ``contend measure`` takes beside its probe's own options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from contend.cli.options import (
    BudgetOption,
    BufferOption,
    JsonOption,
    LabelOption,
    LauncherOption,
    LaunchesOption,
    MaybePlacementOption,
    MemoryOption,
    MpiListOption,
    OnOption,
    PlotOption,
    PrecisionOption,
    RanksListOption,
    RanksPerHostListOption,
    RateOption,
    RouteOption,
    RoutesOption,
    RunFolderOption,
    SeedOption,
    VerifyOption,
    WireOption,
    labels,
)
from contend.errors import UsageError
from contend.measurement import DEFAULT_BUDGET, Conditions, OptionValue

RepetitionsOption = Annotated[
    str | None,
    typer.Option(
        "--repetitions",
        metavar="MIN:MAX",
        help="The fewest and the most samples of a cell. \\[default: 6:1000]",
    ),
]
WarmupsOption = Annotated[
    int | None,
    typer.Option(
        "--warmups", metavar="N", min=1, help="Warm-up samples, which do not count. \\[default: 1]"
    ),
]
ResumeOption = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="FOLDER",
        help="Go on with this run as it was begun; of the other options only --budget, --json and "
        "--plot count, and --mpi, --launcher and --on where the run needs them again.",
    ),
]


@dataclass(frozen=True)
class Common:
    """The options that follow a probe's own; each says on the command line what it does."""

    ranks: RanksListOption = None
    ranks_per_host: RanksPerHostListOption = None
    mpi: MpiListOption = None
    on: OnOption = None
    routes: RoutesOption = None
    route: RouteOption = None
    rate: RateOption = None
    buffer: BufferOption = None
    placement: MaybePlacementOption = None
    launcher: LauncherOption = ""
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
    json: JsonOption = None
    plot: PlotOption = None

    def conditions(self) -> Conditions:
        """How the workload is measured.

        Raises:
            UsageError: no number of ranks is given.
        """
        if self.ranks is None:
            raise UsageError("--ranks: expected a number of ranks, such as -n 4")
        return Conditions(
            ranks=self.ranks,
            ranks_per_host=self.ranks_per_host or (),
            launches=self.launches,
            budget=DEFAULT_BUDGET if self.budget is None else self.budget,
            seed=self.seed,
            labels=labels(self.label),
            wire=self.wire,
        )

    def of_probe(self) -> dict[str, OptionValue]:
        """The options of every probe among these."""
        return {
            "repetitions": self.repetitions,
            "precision": self.precision,
            "warmups": self.warmups,
            "verify": self.verify,
        }
