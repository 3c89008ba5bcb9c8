"""The verb ``contend study``: a whole plan carried out, resumable, beside known numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from contend import report
from contend.base.errors import UsageError
from contend.base.units import counted, format_seconds, parse_numbers, parse_sizes
from contend.cli.measure.measuring import watched_study
from contend.cli.options import shared
from contend.cli.options.option import Bytes, BytesPerSecond, Numbers, Seconds, Share, parsed, words
from contend.cli.options.outputs import Outputs
from contend.cli.options.where import Where
from contend.lab import measurement, studies
from contend.report import Document

if TYPE_CHECKING:
    from contend.lab.measurement import Place, VectorLength
    from contend.lab.studies import StudyPlan

_MEASURED = "Studies that measure"
_VERIFICATION = "The study verification"
_IN_TURNS = "Several numbers are measured in turn."
_PLAN = "the plan's"


def _many(flag: str, parse: Callable[[str], Any]) -> Callable[[list[str] | None], Any]:
    """A callback that makes one value of an option that may be repeated."""
    value = parsed(flag, parse)
    return lambda texts: value(None if texts is None else ",".join(texts))


def _lengths(text: str) -> tuple[VectorLength, ...]:
    return tuple(measurement.VectorLength.parse(word.strip()) for word in text.split(","))


def _counts(flag: str) -> Callable[[str | None], tuple[int, ...] | None]:
    return parsed(flag, parse_numbers)


@dataclass(frozen=True)
class Options:
    """Options of a study; what is None or False was not given, and is the plan's."""

    output: Annotated[
        Path | None,
        shared.OUTPUT(
            ": a folder; what it already holds is not run again.", default="the plan's name"
        ),
    ] = None
    only: Annotated[list[str] | None, shared.ONLY(many=True, callback=words)] = None
    seed: Annotated[int | None, shared.SEED(min=0, max=2**64 - 1, default="the plan's")] = None
    precision: Annotated[
        Share | None,
        shared.PRECISION(default=_PLAN),
    ] = None
    samples: Annotated[
        int | None, shared.SAMPLES("For every cell.", default=_PLAN, min=1, max=2**40)
    ] = None
    retry: Annotated[bool, shared.RETRY()] = False
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
            callback=_many("--length", _lengths),
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
            callback=_many("--bytes", parse_sizes),
            rich_help_panel=_MEASURED,
        ),
    ] = None
    mpi: Annotated[
        list[str] | None,
        shared.MPI(
            f"{shared.LIBRARIES} Several libraries are compared.",
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
    wire: Annotated[
        BytesPerSecond | None,
        shared.WIRE(
            "Figures and tables compare rates with it.", default=_PLAN, rich_help_panel=_MEASURED
        ),
    ] = None
    memory: Annotated[
        Bytes | None,
        shared.MEMORY(
            default="this machine's, if it is the host",
            rich_help_panel=_MEASURED,
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
        """What the command line says of the plan, by names."""
        return {
            field.name: tuple(value) if isinstance(value, list) else value
            for field in fields(self)
            if field.name not in _OF_ALL and _is_given(value := getattr(self, field.name))
        }


def _is_given(value: object) -> bool:
    # A seed of 0 is one, though 0 equals False.
    return value is not None and value is not False and value != ""


_OF_ALL = frozenset({"output", "retry"})
"""Options that change no plan."""


def study(
    options: Options,
    where: Where,
    outputs: Outputs,
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
) -> Document | None:
    """Carry out a plan: simulate its patterns, measure its grid, or verify the simulation.

    Results are kept as they are made. If a study is interrupted or runs out of time, the same
    command continues it. A cell that fails is shown as ERR with its cause, and the others go on.
    Options override the plan.

    Example: contend study hoefler2008 --only chic --samples 1000 --plot chic.html
    """
    if copy is not None:
        for path in studies.copy_plan(copy, Path()):
            print(path)
        return None
    if plan is None:
        plans = [studies.read_plan(studies.find_plan(name)) for name in studies.shipped_plans()]
        return report.plans_document(
            [report.PlanEntry(one.name, one.kind, one.title) for one in plans]
        )
    path = studies.find_plan(plan)
    chosen = studies.read_plan(path)
    given = options.given()
    chosen.refuse_foreign({**given, **where.given()})
    if where.cables.loading != shared.WHOLE and not isinstance(chosen, studies.MeasuredPlan):
        raise UsageError("--part, --without, --rails and --strict belong to --on emulated:FABRIC")
    predicted = given.pop("predict", False)
    on_plan = {} if isinstance(chosen, studies.MeasuredPlan) else where.given()
    changed = studies.changed_plan(chosen, given | on_plan)
    if predicted:
        assert isinstance(changed, studies.MeasuredPlan)
        return studies.predict_memory(changed, given).document()
    # Here: what measures and simulates takes longer to load than other verbs run.
    from contend.lab.studies import carry_out

    console = outputs.console
    folder = Path(changed.name) if options.output is None else options.output
    with _place(changed, where, console) as place, watched_study(console, changed.name) as watch:
        return carry_out(
            changed, folder, place, beside=path.parent, retry=options.retry, observer=watch
        ).document()


@contextmanager
def _place(plan: StudyPlan, where: Where, console: Console) -> Iterator[Place]:
    """Where a plan runs, which is said beside how much there is to do."""
    if isinstance(plan, studies.VerificationPlan):
        fabrics, least = counted(len(plan.cases), "fabric"), format_seconds(plan.least_seconds)
        console.print(Text(f"{fabrics}, at least {least} each"))
    if not isinstance(plan, studies.MeasuredPlan):
        yield measurement.RealHosts()
        return
    with where.place(console, memory=plan.memory) as place:
        if isinstance(place, measurement.RealHosts):
            place = replace(place, described=where.on or "")
        console.print(Text(f"{plan.name}: {plan.title or 'a study'}", style="bold"))
        cells = counted(plan.launches * sum(1 for _ in plan.cells()), "cell")
        console.print(
            Text(f"{cells} within {format_seconds(plan.budget_s)}, {_place_words(place)}")
        )
        yield place


def _place_words(place: Place) -> str:
    """Where a study measures, for people."""
    if place.alone:
        return "on one host: N hosts are N groups of ranks there"
    if not place.described:
        return "on the hosts of the launcher"
    hosts = f", {counted(len(place.slots), 'host')}" if place.slots else ""
    return f"on {place.described}{hosts}"
