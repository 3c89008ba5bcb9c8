"""Options of measured studies; what is not given is the plan's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from contend.cli.common import writable

_GRID, _TERMS, _SITE = "What is measured", "How", "Where"

PredictOption = Annotated[
    bool,
    typer.Option("--predict", help="Predict the memory of sorts; nothing runs."),
]
NodesOption = Annotated[
    str | None,
    typer.Option("--nodes", metavar="N,...", help="Numbers of nodes.", rich_help_panel=_GRID),
]
RanksOption = Annotated[
    str | None,
    typer.Option(
        "--ranks",
        metavar="P,...",
        help="Numbers of ranks, on as many nodes as it takes.",
        rich_help_panel=_GRID,
    ),
]
ProcessesOption = Annotated[
    str | None,
    typer.Option("--ppn", metavar="K,...", help="Ranks on every node.", rich_help_panel=_GRID),
]
NumbersOption = Annotated[
    int | None,
    typer.Option(
        "-n",
        "--numbers",
        min=1,
        help="Vectors that are sorted, over all ranks.",
        rich_help_panel=_GRID,
    ),
]
LengthOption = Annotated[
    list[str] | None,
    typer.Option(
        "-m",
        metavar="M,...",
        help="Doubles in a vector: 512, or 512N for 512 times the nodes; may be repeated.",
        rich_help_panel=_GRID,
    ),
]
AlgorithmOption = Annotated[
    list[str] | None,
    typer.Option(
        "--algorithm",
        metavar="A,...",
        help="Schedules of an all-to-all; may be repeated.",
        rich_help_panel=_GRID,
    ),
]
BytesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--bytes",
        metavar="B,...",
        help="Message sizes such as 1K, or ranges that double: 4:2M; may be repeated.",
        rich_help_panel=_GRID,
    ),
]
LibraryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--mpi",
        metavar="LIB",
        help="MPI library: openmpi, mpich, a folder or a wrapper; may be repeated.",
        rich_help_panel=_GRID,
    ),
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="MEASURE",
        help="This measurement of the plan; may be repeated.",
        rich_help_panel=_GRID,
    ),
]
LaunchesOption = Annotated[
    int | None,
    typer.Option(
        "--launches", min=1, help="How often every cell is launched.", rich_help_panel=_TERMS
    ),
]
BudgetOption = Annotated[
    str | None,
    typer.Option(
        "--budget",
        metavar="TIME",
        help="Time of the whole study, such as 10min, shared over its cells.",
        rich_help_panel=_TERMS,
    ),
]
PrecisionOption = Annotated[
    float | None,
    typer.Option(
        "--precision",
        help="Relative half-width of the median's interval at which a point is done.",
        rich_help_panel=_TERMS,
    ),
]
VerifyOption = Annotated[
    bool,
    typer.Option("--verify", help="Check the data of every sample.", rich_help_panel=_TERMS),
]
SeedOption = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Seed of every random choice.", rich_help_panel=_TERMS),
]
ConditionsOption = Annotated[
    str | None,
    typer.Option(
        "--conditions",
        metavar="WORDS",
        help="What programs cannot see, such as 'flow control on'; cells under other conditions "
        "stay beside these.",
        rich_help_panel=_TERMS,
    ),
]
WireOption = Annotated[
    str | None,
    typer.Option(
        "--wire",
        metavar="RATE",
        help="What a node's port carries, such as 1Gbit/s: drawn and compared with.",
        rich_help_panel=_TERMS,
    ),
]
OnOption = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="HOSTS",
        help="A host file, or emulated:FABRIC. [default: this machine, or what the launcher knows]",
        rich_help_panel=_SITE,
    ),
]
PlacementOption = Annotated[
    str | None,
    typer.Option(
        "--placement",
        metavar="PLACE",
        help="Order in which ranks fill an emulated fabric's hosts. \\[default: linear]",
        rich_help_panel=_SITE,
    ),
]
LauncherOption = Annotated[
    str,
    typer.Option(
        "--launcher",
        metavar="NAME",
        help="mpirun, srun, sbatch, or the beginning of a command line.",
        rich_help_panel=_SITE,
    ),
]
NodeMemoryOption = Annotated[
    str | None,
    typer.Option(
        "--node-memory",
        metavar="SIZE",
        help="Memory of a node, such as 24GiB. [default: what this machine has free]",
        rich_help_panel=_SITE,
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", help="Run folder; what is in it is not run again. [default: PLAN]"
    ),
]
RetryOption = Annotated[bool, typer.Option("--retry", help="Run cells again that failed before.")]
MarkdownOption = Annotated[
    Path | None,
    typer.Option(
        "--markdown", metavar="FILE", callback=writable, help="Write the tables as Markdown."
    ),
]
