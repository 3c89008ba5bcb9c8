"""What every verb of ``contend measure`` takes beside its probe's own options; where ranks run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from contend.cli.common import load
from contend.cli.option import labels
from contend.cli.options import (
    WHOLE,
    BudgetOption,
    BufferOption,
    JsonOption,
    LabelOption,
    LauncherOption,
    LaunchesOption,
    Loading,
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
    RtoMinOption,
    RunFolderOption,
    SeedOption,
    VerifyOption,
    WireOption,
    cable_settings,
)
from contend.emulate import EmulatedHosts, bring_up
from contend.errors import UsageError
from contend.fabric import Fabric
from contend.measurement import DEFAULT_BUDGET, Conditions, OptionValue, Place, RealHosts
from contend.placement import parse, read_host_names
from contend.report import network_line

RepetitionsOption = Annotated[
    str | None,
    typer.Option(
        "--repetitions",
        metavar="MIN:MAX",
        help="Fewest and most samples of a cell. \\[default: 6:1000]",
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
        help="Continue this run. Of the other options only --budget, --json and --plot count, and "
        "--mpi, --launcher and --on if the run needs them again.",
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
    loading: Loading = WHOLE
    rate: RateOption = None
    buffer: BufferOption = None
    rto_min: RtoMinOption = None
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


EMULATED = "emulated:"
"""How --on names a fabric that is to be emulated."""


@contextmanager
def find_place(
    common: Common, console: Console, fabric: str | None = None
) -> Iterator[Place | None]:
    """The hosts of a host file, an emulated fabric, or this machine.

    None when a run that goes on knows its own. Of an emulated fabric the console is told.

    Args:
        common: says where.
        console: is told.
        fabric: that real hosts are part of, whose routes schedules may go by.

    Raises:
        UsageError: for options that do not fit together.
        InputError: for a host file that is none.
        MissingError: this machine cannot emulate a fabric.
    """
    if is_emulated(common):
        if fabric is not None:
            raise UsageError("--fabric: --on emulated:FABRIC says it already")
        with _emulated(common, console) as place:
            yield place
        return
    network = None
    if fabric is not None:
        network = load(fabric, common.routes, common.route, common.loading, need_routes=True)
    cables = ("rate", "buffer", "rto_min")
    for option in cables if network else ("routes", "route", *cables):
        if getattr(common, option) is not None:
            raise UsageError(f"--{option.replace('_', '-')} belongs to --on emulated:FABRIC")
    if network is None and common.loading != WHOLE:
        raise UsageError("--part, --without and --strict belong to --on emulated:FABRIC")
    if common.placement is not None:
        raise UsageError(
            "--placement belongs to --on emulated:FABRIC; a host file has its own order"
        )
    if common.resume is not None and common.on is None and network is None:
        yield None
        return
    slots = () if common.on is None else read_host_names(common.on)
    yield RealHosts(
        slots=slots, launcher=common.launcher, free_memory=common.memory, fabric=network
    )


def is_emulated(common: Common) -> bool:
    """Whether ranks are to run on an emulated fabric."""
    return common.on is not None and common.on.startswith(EMULATED)


def emulated_fabric(common: Common) -> Fabric:
    """The fabric that is to be emulated, with its routes."""
    source = (common.on or "").removeprefix(EMULATED)
    return load(source, common.routes, common.route, common.loading, need_routes=True)


@contextmanager
def _emulated(common: Common, console: Console) -> Iterator[EmulatedHosts]:
    fabric = emulated_fabric(common)
    placed = parse(common.placement or "linear", fabric)
    if placed.random:
        raise UsageError("--placement random: ranks need one placement here; give file:PATH")
    order = list(dict.fromkeys(placed.hosts.tolist()))
    with emulated(fabric, common, console, order=order) as place:
        yield place


@contextmanager
def emulated(
    fabric: Fabric,
    common: Common,
    console: Console,
    *,
    order: Sequence[int],
    hosts: Sequence[int] | None = None,
) -> Iterator[EmulatedHosts]:
    """The hosts of a fabric that is emulated as long as the context lasts; says that it is up.

    Args:
        fabric: with routes.
        common: what its cables carry.
        console: is told.
        order: hosts in the order in which ranks fill them.
        hosts: only these, and what their routes use; None for all.
    """
    if common.launcher:
        raise UsageError("--launcher: an emulated fabric takes the library's own")
    started = time.monotonic()
    cables = cable_settings(common.rate, common.buffer, common.rto_min)
    with bring_up(fabric, **cables, hosts=hosts) as network:
        line = network_line(network, time.monotonic() - started)
        console.print(line, markup=False, soft_wrap=True)
        yield EmulatedHosts(network, order)
