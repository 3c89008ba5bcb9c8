"""What all probes are measured with: options of ``contend measure``, and what they say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from contend.cli.common import JsonOption, PlotOption, RouteOption, RoutesOption, SeedOption
from contend.cli.emulated import BufferOption, RateOption
from contend.cli.numbers import counts, option_value, optional
from contend.errors import UsageError
from contend.measurement import DEFAULT_BUDGET, Conditions, OptionValue
from contend.units import (
    format_seconds,
    parse_numbers,
    parse_rate,
    parse_seconds,
    parse_share,
    parse_size,
)

_NUMBERS = re.compile(r"[1-9][0-9]{0,9}(?:,[1-9][0-9]{0,9})*")


@dataclass(frozen=True)
class Common:
    """The options that follow a probe's own; each says on the command line what it does."""

    ranks: Annotated[
        str | None,
        typer.Option(
            "--ranks", "-n", metavar="N,...", help="Ranks; several are measured in turns."
        ),
    ] = None
    ranks_per_host: Annotated[
        str | None,
        typer.Option(
            "--ranks-per-host", metavar="N,...", help="Ranks on every host; several in turns."
        ),
    ] = None
    mpi: Annotated[
        list[str] | None,
        typer.Option(
            "--mpi",
            metavar="LIBRARY",
            help="openmpi, mpich-4.0 ..., a folder with bin/mpicc, or a wrapper; repeated, "
            "libraries are compared. \\[default: the first usable one of contend mpi]",
        ),
    ] = None
    on: Annotated[
        str | None,
        typer.Option(
            "--on", metavar="HOSTFILE", help="A host file, or emulated:FABRIC. \\[default: here]"
        ),
    ] = None
    routes: RoutesOption = None
    route: RouteOption = None
    rate: RateOption = None
    buffer: BufferOption = None
    placement: Annotated[
        str | None,
        typer.Option(
            "--placement",
            metavar="PLACE",
            help="Order in which ranks fill an emulated fabric's hosts. \\[default: linear]",
        ),
    ] = None
    launcher: Annotated[
        str,
        typer.Option(
            "--launcher",
            metavar="COMMAND",
            help='srun, sbatch, or the beginning of a command line such as "aprun -n {ranks}". '
            "\\[default: the library's own]",
            show_default=False,
        ),
    ] = ""
    launches: Annotated[
        int, typer.Option("--launches", metavar="N", min=1, help="Launch everything N times.")
    ] = 1
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="TIME",
            help=f"For all launches together. \\[default: {format_seconds(DEFAULT_BUDGET)}]",
        ),
    ] = None
    repetitions: Annotated[
        str | None,
        typer.Option(
            "--repetitions",
            metavar="MIN:MAX",
            help="Samples of a cell, at least and at most. \\[default: 6:1000]",
        ),
    ] = None
    precision: Annotated[
        str | None,
        typer.Option(
            "--precision",
            metavar="P%",
            help="A cell is done when the median's 95 % interval is that narrow. \\[default: 5%]",
        ),
    ] = None
    warmups: Annotated[
        int | None,
        typer.Option("--warmups", metavar="N", min=1, help="Samples that do not count before it."),
    ] = None
    verify: Annotated[
        bool, typer.Option("--verify", help="Verify the data of every sample, not only the first.")
    ] = False
    label: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            metavar="TEXT",
            help='A condition that no program sees, such as "flow control=on"; may be repeated.',
        ),
    ] = None
    wire_limit: Annotated[
        str | None,
        typer.Option(
            "--wire-limit", metavar="RATE", help="What a host's port carries, such as 1Gbit; drawn."
        ),
    ] = None
    host_memory: Annotated[
        str | None,
        typer.Option(
            "--host-memory",
            metavar="SIZE",
            help="Free memory of a host, such as 64GiB. \\[default: seen, if ranks are here]",
        ),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="FOLDER",
            help="Where the run is kept. \\[default: contend-runs/PROBE-DATE-NUMBER]",
        ),
    ] = None
    resume: Annotated[
        Path | None,
        typer.Option(
            "--resume",
            metavar="FOLDER",
            help="Go on with this run as it was begun; only --budget, --json and --plot count.",
        ),
    ] = None
    seed: SeedOption = 1
    json: JsonOption = None
    plot: PlotOption = None

    def conditions(self) -> Conditions:
        """How the workload is measured.

        Raises:
            UsageError: for an option that says nothing.
        """
        if self.ranks is None:
            raise UsageError("-n: expected a number of ranks")
        return Conditions(
            ranks=option_value("-n", self.ranks, parse_numbers),
            ranks_per_host=counts("--ranks-per-host", self.ranks_per_host) or (),
            launches=self.launches,
            budget=self.seconds() or DEFAULT_BUDGET,
            seed=self.seed,
            labels=dict(_label(text) for text in self.label or ()),
            wire=optional("--wire-limit", self.wire_limit, parse_rate),
        )

    def seconds(self) -> float | None:
        """The budget; None when it is not said."""
        if self.budget is None:
            return None
        return option_value("--budget", self.budget, parse_seconds)

    def memory(self) -> int | None:
        """Free bytes of a host; None when they are not said."""
        return optional("--host-memory", self.host_memory, parse_size)

    def of_probe(self) -> dict[str, OptionValue]:
        """The options of every probe among these."""
        return {
            "repetitions": self.repetitions,
            "precision": optional("--precision", self.precision, parse_share),
            "warmups": self.warmups,
            "verify": self.verify,
        }


def _label(text: str) -> tuple[str, str]:
    """``flow control=on`` by its parts; a text without ``=`` is a condition that holds."""
    name, _, value = text.partition("=")
    return name.strip(), value.strip()
