"""The verb ``contend study``: a whole plan carried out, resumable, beside known numbers."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from contend import report
from contend.cli.common import (
    JsonOption,
    PlotOption,
    RouteOption,
    RoutesOption,
    console_for,
    writable,
)
from contend.cli.emulated import BufferOption, RateOption
from contend.cli.numbers import option_value
from contend.errors import UsageError
from contend.measurement import VectorLength
from contend.study import MeasuredPlan, copy_plan, find_plan, read_plan, shipped_plans
from contend.units import (
    parse_numbers,
    parse_rate,
    parse_seconds,
    parse_share,
    parse_size,
    parse_sizes,
)

_MEASURED = "Studies that measure"
_WHERE = "Where they measure"
_VERIFICATION = "The study verification"


def _lengths(text: str) -> tuple[str, ...]:
    lengths = [str(VectorLength.parse(word)) for word in _words(text)]
    for index, length in enumerate(lengths):
        if length in lengths[:index]:
            raise UsageError(f"expected every length once, got {length} again")
    return tuple(lengths)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(","))


def _sizes(text: str) -> tuple[str, ...]:
    parse_sizes(text)
    return _words(text)


def _precision(text: str) -> float:
    share = parse_share(text)
    if not 1e-9 <= share < 1:
        raise UsageError(f"expected a share above 0 and below 100%, got {text!r}")
    return share


def _budget(text: str) -> float:
    seconds = parse_seconds(text)
    if seconds <= 0:
        raise UsageError(f"expected a time above 0 such as 90s or 5min, got {text!r}")
    return seconds


def _memory(text: str) -> str:
    if parse_size(text) == 0:
        raise UsageError(f"expected a size such as 24GiB, got {text!r}")
    return text


def _rate(text: str) -> str:
    parse_rate(text)
    return text


_PARSERS: dict[str, Callable[[str], Any]] = {
    "hosts": parse_numbers,
    "ranks": parse_numbers,
    "ranks_per_host": parse_numbers,
    "length": _lengths,
    "algorithm": _words,
    "bytes": _sizes,
    "mpi": _words,
    "only": _words,
    "precision": _precision,
    "budget": _budget,
    "memory": _memory,
    "wire": _rate,
}
"""How options are read whose text is not taken as it is."""


@dataclass(frozen=True)
class Options:
    """Options of a study; what is None or False was not given, and is the plan's."""

    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="NAME",
            help="Only this fabric, or this measurement, of the plan; may be repeated.",
        ),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, max=2**63 - 1, help="Seed of every random choice."),
    ] = None
    precision: Annotated[
        str | None,
        typer.Option(
            "--precision",
            metavar="P%",
            help="A cell, or a point of a measured one, is done when its 95 % interval is this "
            "narrow: 5% or 0.05.",
        ),
    ] = None
    samples: Annotated[
        int | None,
        typer.Option("--samples", min=1, max=2**40, help="Samples of every simulated cell."),
    ] = None
    hosts: Annotated[
        str | None,
        typer.Option(
            "--hosts", metavar="N,...", help="Numbers of hosts.", rich_help_panel=_MEASURED
        ),
    ] = None
    ranks: Annotated[
        str | None,
        typer.Option(
            "--ranks",
            "-n",
            metavar="N,...",
            help="Numbers of ranks, on as many hosts as they need.",
            rich_help_panel=_MEASURED,
        ),
    ] = None
    ranks_per_host: Annotated[
        str | None,
        typer.Option(
            "--ranks-per-host",
            metavar="N,...",
            help="Ranks on every host.",
            rich_help_panel=_MEASURED,
        ),
    ] = None
    vectors: Annotated[
        int | None,
        typer.Option(
            "--vectors",
            metavar="N",
            min=1,
            help="Vectors that are sorted, over all ranks.",
            rich_help_panel=_MEASURED,
        ),
    ] = None
    length: Annotated[
        list[str] | None,
        typer.Option(
            "--length",
            "-m",
            metavar="M,...",
            help="Doubles in a vector: 512, or 512N for 512 times the hosts; may be repeated.",
            rich_help_panel=_MEASURED,
        ),
    ] = None
    algorithm: Annotated[
        list[str] | None,
        typer.Option(
            "--algorithm",
            metavar="NAME,...",
            help="Schedules of an all-to-all; may be repeated.",
            rich_help_panel=_MEASURED,
        ),
    ] = None
    bytes: Annotated[
        list[str] | None,
        typer.Option(
            "--bytes",
            metavar="SIZE,...",
            help="Message sizes such as 1K, or ranges that double: 4:2M; may be repeated.",
            rich_help_panel=_MEASURED,
        ),
    ] = None
    mpi: Annotated[
        list[str] | None,
        typer.Option(
            "--mpi",
            metavar="LIBRARY",
            help="openmpi, mpich-4.0 ..., a folder with bin/mpicc, or a wrapper; repeated, "
            "libraries are compared.",
            rich_help_panel=_MEASURED,
        ),
    ] = None
    launches: Annotated[
        int | None,
        typer.Option(
            "--launches",
            metavar="N",
            min=1,
            max=10_000,
            help="Launch every cell N times.",
            rich_help_panel=_MEASURED,
        ),
    ] = None
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="TIME",
            help="Time of the whole study, such as 10min, shared over its cells.",
            rich_help_panel=_MEASURED,
        ),
    ] = None
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Verify the data of every sample, not only the first.",
            rich_help_panel=_MEASURED,
        ),
    ] = False
    label: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            metavar="TEXT",
            help='A condition that no program sees, such as "flow control=on"; may be repeated. '
            "Cells under other conditions stay beside these.",
            rich_help_panel=_MEASURED,
        ),
    ] = None
    predict: Annotated[
        bool,
        typer.Option(
            "--predict",
            help="Predict the memory that sorts need; nothing runs.",
            rich_help_panel=_MEASURED,
        ),
    ] = False
    on: Annotated[
        str | None,
        typer.Option(
            "--on",
            metavar="HOSTFILE",
            help="A host file, or emulated:FABRIC. "
            "\\[default: this machine, or the hosts of the batch system's job]",
            rich_help_panel=_WHERE,
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
            rich_help_panel=_WHERE,
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
            rich_help_panel=_WHERE,
        ),
    ] = ""
    wire: Annotated[
        str | None,
        typer.Option(
            "--wire",
            metavar="RATE",
            help="What a host's port carries, such as 1Gbit/s; figures draw it.",
            rich_help_panel=_WHERE,
        ),
    ] = None
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            metavar="SIZE",
            help="Memory of a host, such as 24GiB. \\[default: what this machine has free]",
            rich_help_panel=_WHERE,
        ),
    ] = None
    patterns: Annotated[
        int | None,
        typer.Option(
            "--patterns",
            metavar="N",
            min=1,
            help="Random patterns on each fabric.",
            rich_help_panel=_VERIFICATION,
        ),
    ] = None
    packets: Annotated[
        int | None,
        typer.Option(
            "--packets",
            metavar="N",
            min=1,
            help="Packets of --bytes that make up a message.",
            rich_help_panel=_VERIFICATION,
        ),
    ] = None
    two_way: Annotated[
        bool,
        typer.Option("--two-way", help="Both ranks of a pair send.", rich_help_panel=_VERIFICATION),
    ] = False
    fabric: Annotated[
        list[str] | None,
        typer.Option(
            "--fabric",
            metavar="FABRIC[@ENGINE]",
            help="Verify this fabric instead, routed by ENGINE, such as kary:2,4@dmodk; may be "
            "repeated.",
            rich_help_panel=_VERIFICATION,
        ),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="FOLDER",
            help="Where results are kept; what is there already is not run again. "
            "\\[default: the study's name]",
        ),
    ] = None
    retry: Annotated[bool, typer.Option("--retry", help="Run cells again that failed before.")] = (
        False
    )
    json: JsonOption = None
    plot: PlotOption = None
    markdown: Annotated[
        Path | None,
        typer.Option(
            "--markdown", metavar="FILE", callback=writable, help="Write all tables as Markdown."
        ),
    ] = None

    def given(self) -> dict[str, Any]:
        """What was asked of the plan on the command line, read, by the options' names.

        Raises:
            UsageError: naming the option, for what is not what it takes.
        """
        given = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in _OF_ALL or value in (None, False, ""):
                continue
            if field.name in _PARSERS:
                text = ",".join(value) if isinstance(value, list) else value
                value = option_value(
                    f"--{field.name.replace('_', '-')}", text, _PARSERS[field.name]
                )
            given[field.name] = tuple(value) if isinstance(value, list) else value
        return given


_OF_ALL = frozenset({"output", "retry", "json", "plot", "markdown"})


def _with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Lays open to typer the fields of `Options`, which the command takes as one value."""
    names = [field.name for field in fields(Options)]

    @functools.wraps(command)
    def study(**arguments: Any) -> None:
        options = Options(**{name: arguments.pop(name) for name in names})
        command(options=options, **arguments)

    hints = get_type_hints(command, include_extras=True)
    hints |= get_type_hints(Options, include_extras=True)
    parameters = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[parameter.name])
        for function in (command, Options)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name != "options"
    ]
    study.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    study.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return study


@_with_options
def study(
    options: Options,
    plan: Annotated[
        str | None,
        typer.Argument(
            metavar="[PLAN]",
            help="A study that comes with contend, or a TOML file. Without one, the studies are "
            "listed.",
        ),
    ] = None,
    copy: Annotated[
        str | None,
        typer.Option(
            "--copy",
            metavar="NAME",
            help="Write the plan of one of contend's studies here, for changes; nothing runs.",
        ),
    ] = None,
) -> None:
    """Carry out a plan: simulate its patterns, measure its grid, or verify the simulation.

    Results reach the folder as they are made: a study that was interrupted, or ran out of time,
    goes on where it stopped when the same command is given again. A cell that fails is ERR with its
    cause, and the others go on. Every option takes the place of what the plan says.

    Example: contend study hoefler2008 --only chic --samples 1000 --plot chic.html
    """
    if copy is not None:
        for path in option_value("--copy", copy, lambda name: copy_plan(name, Path())):
            print(path)
        return
    if plan is None:
        _list_plans(options)
        return
    path = find_plan(plan)
    chosen = read_plan(path)
    given = options.given()
    chosen.refuse_foreign(given)
    if "budget" in given:
        given["budget_s"] = given.pop("budget")
    if given.pop("predict", False):
        from contend.cli.study_memory import predict

        assert isinstance(chosen, MeasuredPlan)
        predict(chosen, given, options.json)
        return
    # Imported here: what measures, simulates and draws takes longer to load than other verbs run.
    from contend.cli.study_runs import carry_out

    carry_out(chosen, path, given, options)


def _list_plans(options: Options) -> None:
    plans = [read_plan(find_plan(name)) for name in shipped_plans()]
    entries = [report.PlanEntry(plan.name, plan.kind, plan.title) for plan in plans]
    report.print_tables(console_for(options.json), [report.plan_list(entries)])
