"""The verb ``contend study``: a whole plan carried out, resumable, beside known numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from contend import report
from contend.cli import options as shared
from contend.cli.common import console_for
from contend.cli.option import (
    Bytes,
    BytesPerSecond,
    Numbers,
    Seconds,
    Share,
    parsed,
    with_options,
    words,
)
from contend.errors import UsageError
from contend.measurement import VectorLength
from contend.study import MeasuredPlan, copy_plan, find_plan, read_plan, shipped_plans
from contend.units import parse_numbers, parse_sizes

_MEASURED = "Studies that measure"
_WHERE = "Where they measure"
_VERIFICATION = "The study verification"
_IN_TURNS = "Several numbers are measured in turn."
_PLAN = "the plan's"


def _listed(texts: list[str] | None) -> str | None:
    return None if texts is None else ",".join(texts)


def _lengths(texts: list[str] | None) -> tuple[str, ...] | None:
    """Vector lengths, each once."""

    def lengths(text: str) -> tuple[str, ...]:
        lengths = [str(VectorLength.parse(word.strip())) for word in text.split(",")]
        for index, length in enumerate(lengths):
            if length in lengths[:index]:
                raise UsageError(f"expected every length once, got {length} again")
        return tuple(lengths)

    return parsed("--length", lengths)(_listed(texts))


def _sizes(texts: list[str] | None) -> tuple[str, ...] | None:
    """Sizes and ranges of them, as they are given."""

    def sizes(text: str) -> tuple[str, ...]:
        parse_sizes(text)
        return tuple(text.split(","))

    return parsed("--bytes", sizes)(_listed(texts))


def _counts(flag: str) -> Callable[[str | None], tuple[int, ...] | None]:
    return parsed(flag, parse_numbers)


@dataclass(frozen=True)
class Options:
    """Options of a study; what is None or False was not given, and is the plan's."""

    output: shared.StudyFolderOption = None
    only: shared.OnlyOption = None
    seed: shared.MaybeSeedOption = None
    precision: Annotated[
        Share | None,
        shared.PRECISION(default=_PLAN),
    ] = None
    samples: Annotated[
        int | None, shared.SAMPLES("For every cell.", default=_PLAN, min=1, max=2**40)
    ] = None
    retry: shared.RetryOption = False
    json: shared.JsonOption = None
    plot: shared.PlotOption = None
    markdown: shared.MarkdownOption = None
    hosts: Annotated[
        Numbers | None,
        shared.HOSTS(
            f": the first N of them. {_IN_TURNS}",
            many=True,
            default=_PLAN,
            callback=_counts("--hosts"),
            rich_help_panel=_MEASURED,
        ),
    ] = None
    ranks: Annotated[
        Numbers | None,
        shared.RANKS(
            f"They run on as many hosts as they need. {_IN_TURNS}",
            many=True,
            default=_PLAN,
            callback=_counts("--ranks"),
            rich_help_panel=_MEASURED,
        ),
    ] = None
    ranks_per_host: Annotated[
        Numbers | None,
        shared.RANKS_PER_HOST(
            _IN_TURNS,
            many=True,
            default=_PLAN,
            callback=_counts("--ranks-per-host"),
            rich_help_panel=_MEASURED,
        ),
    ] = None
    vectors: Annotated[
        int | None, shared.VECTORS(default=_PLAN, min=1, rich_help_panel=_MEASURED)
    ] = None
    length: Annotated[
        list[str] | None,
        shared.LENGTH(
            ": 512, or 512N for 512 times the hosts.",
            many=True,
            default=_PLAN,
            callback=_lengths,
            rich_help_panel=_MEASURED,
        ),
    ] = None
    algorithm: Annotated[
        list[str] | None,
        shared.ALGORITHM(many=True, default=_PLAN, callback=words, rich_help_panel=_MEASURED),
    ] = None
    bytes: Annotated[
        list[str] | None,
        shared.BYTES(
            "Several sizes are measured in turn; 4:2M is a range that doubles.",
            many=True,
            default=_PLAN,
            callback=_sizes,
            rich_help_panel=_MEASURED,
        ),
    ] = None
    mpi: Annotated[
        list[str] | None,
        shared.MPI(
            ": openmpi, mpich-4.0 and the like, a folder with bin/mpicc, or a compiler wrapper. "
            "Several libraries are compared.",
            many=True,
            default=_PLAN,
            callback=words,
            rich_help_panel=_MEASURED,
        ),
    ] = None
    launches: Annotated[
        int | None,
        shared.LAUNCHES(default=_PLAN, min=1, max=10_000, rich_help_panel=_MEASURED),
    ] = None
    budget: Annotated[
        Seconds | None,
        shared.BUDGET(
            default=_PLAN,
            rich_help_panel=_MEASURED,
        ),
    ] = None
    verify: Annotated[bool, shared.VERIFY(rich_help_panel=_MEASURED)] = False
    label: Annotated[
        list[str] | None,
        shared.LABEL(
            "Repeat it for several conditions. Cells under other conditions stay beside these.",
            default=_PLAN,
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
        shared.ON(
            ", or on emulated:FABRIC.",
            default="this machine, or a batch job's hosts",
            rich_help_panel=_WHERE,
        ),
    ] = None
    routes: Annotated[str | None, shared.ROUTES(rich_help_panel=_WHERE)] = None
    route: Annotated[
        str | None,
        shared.ROUTE(
            ": contend, minhop, updn, dor or dmodk, or opensm:NAME, which runs the real OpenSM.",
            rich_help_panel=_WHERE,
        ),
    ] = None
    loading: shared.Loading = shared.WHOLE
    rate: Annotated[
        BytesPerSecond | None,
        shared.RATE(default=shared.DEFAULT_RATE, rich_help_panel=_WHERE),
    ] = None
    buffer: Annotated[
        Bytes | None, shared.BUFFER(default=shared.DEFAULT_BUFFER, rich_help_panel=_WHERE)
    ] = None
    rto_min: Annotated[
        Seconds | None,
        shared.RTO_MIN(default=shared.DEFAULT_RTO_MIN, rich_help_panel=_WHERE),
    ] = None
    placement: Annotated[
        str | None,
        shared.PLACEMENT("For an emulated fabric.", default="linear", rich_help_panel=_WHERE),
    ] = None
    launcher: Annotated[
        str,
        shared.LAUNCHER(
            ": mpirun, srun, sbatch, or the beginning of a command line such as "
            '"aprun -n {ranks}".',
            default="the library's own",
            rich_help_panel=_WHERE,
        ),
    ] = ""
    wire: Annotated[
        BytesPerSecond | None,
        shared.WIRE(
            "Figures and tables compare rates with it.", default=_PLAN, rich_help_panel=_WHERE
        ),
    ] = None
    memory: Annotated[
        Bytes | None,
        shared.MEMORY(
            default="this machine's, if it is the host",
            rich_help_panel=_WHERE,
        ),
    ] = None
    patterns: Annotated[
        int | None, shared.PATTERNS(default=_PLAN, min=1, rich_help_panel=_VERIFICATION)
    ] = None
    packets: Annotated[
        int | None, shared.PACKETS(default=_PLAN, min=1, rich_help_panel=_VERIFICATION)
    ] = None
    two_way: Annotated[bool, shared.TWO_WAY(rich_help_panel=_VERIFICATION)] = False
    case: Annotated[
        list[str] | None,
        typer.Option(
            "--case",
            metavar="FABRIC[@ENGINE]",
            help="Verify this fabric instead, routed by ENGINE, such as kary:2,4@dmodk. Repeat "
            "it for several fabrics.",
            rich_help_panel=_VERIFICATION,
        ),
    ] = None

    def given(self) -> dict[str, Any]:
        """What the command line says of the plan and of where it is measured, by names."""
        return {
            field.name: tuple(value) if isinstance(value, list) else value
            for field in fields(self)
            if field.name not in _OF_ALL and _is_given(value := getattr(self, field.name))
        }


def _is_given(value: object) -> bool:
    # A seed of 0 is one, though 0 equals False.
    return value is not None and value is not False and value != ""


_OF_ALL = frozenset({"output", "retry", "json", "plot", "markdown", "loading"})
"""Options that change no plan."""


def _with_options(verb: Callable[..., None]) -> Callable[..., None]:
    return with_options(
        verb, Options, "options", lambda options, given: verb(options=options, **given)
    )


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
            help="Copy the plan of one of contend's studies here, to be edited; nothing runs.",
        ),
    ] = None,
) -> None:
    """Carry out a plan: simulate its patterns, measure its grid, or verify the simulation.

    Results are kept as they are made. If a study is interrupted or runs out of time, the same
    command continues it. A cell that fails is shown as ERR with its cause, and the others go on.
    Options override the plan.

    Example: contend study hoefler2008 --only chic --samples 1000 --plot chic.html
    """
    if copy is not None:
        for path in copy_plan(copy, Path()):
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
