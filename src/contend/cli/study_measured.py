"""The verb ``contend study`` for plans of measurements: resumable, beside known numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console
from rich.text import Text

from contend import report
from contend.cli import study_options as options
from contend.cli.common import (
    JsonOption,
    PlotOption,
    RouteOption,
    RoutesOption,
    console_for,
    progress_bar,
    write_json,
)
from contend.cli.emulated import BufferOption, RateOption
from contend.cli.measure.options import Common
from contend.cli.measure.place import find_place
from contend.cli.numbers import counts, option_value, optional, repetition, words
from contend.cli.study_memory import predict as predict_memory
from contend.errors import ShortfallError, UsageError
from contend.files import write_whole
from contend.measurement import VectorLength
from contend.study import (
    Changes,
    Ended,
    MeasuredPlan,
    OnProgress,
    RealLaunch,
    Site,
    StudyFolder,
    changed,
    gather,
    read_measured,
    read_runs,
    site_of,
    with_known_wire,
)
from contend.study.measured import Step, run
from contend.study.measured.record import Record
from contend.study.measured.runner import OnStep
from contend.units import counted, format_seconds, parse_seconds, parse_size


def measured(
    context: typer.Context,
    predict: options.PredictOption = False,
    nodes: options.NodesOption = None,
    ranks: options.RanksOption = None,
    ppn: options.ProcessesOption = None,
    numbers: options.NumbersOption = None,
    length: options.LengthOption = None,
    algorithm: options.AlgorithmOption = None,
    sizes: options.BytesOption = None,
    mpi: options.LibraryOption = None,
    only: options.OnlyOption = None,
    launches: options.LaunchesOption = None,
    budget: options.BudgetOption = None,
    precision: options.PrecisionOption = None,
    verify: options.VerifyOption = False,
    seed: options.SeedOption = None,
    conditions: options.ConditionsOption = None,
    wire: options.WireOption = None,
    on: options.OnOption = None,
    routes: RoutesOption = None,
    route: RouteOption = None,
    rate: RateOption = None,
    buffer: BufferOption = None,
    placement: options.PlacementOption = None,
    launcher: options.LauncherOption = "",
    node_memory: options.NodeMemoryOption = None,
    out: options.OutOption = None,
    retry: options.RetryOption = False,
    json: JsonOption = None,
    plot: PlotOption = None,
    markdown: options.MarkdownOption = None,
) -> None:
    """Measures every cell of a plan, on this machine or on the hosts of --on.

    Results reach the run folder as they are made: a study that was interrupted, or ran out of
    time, goes on where it stopped when the same command is given again. Memory is predicted before
    each cell; a cell that fails is ERR with its cause, and the others go on.

    Example: contend study mistry2015 --nodes 1,2 --ppn 2 -n 4096 -m 64,64N --plot sort.html
    """
    lengths = _lengths(length)
    optional("--node-memory", node_memory, parse_size)
    plan = changed(
        read_measured(context.obj),
        Changes(
            nodes=counts("--nodes", nodes),
            ranks=counts("--ranks", ranks),
            ranks_per_node=counts("--ppn", ppn),
            numbers=numbers,
            doubles=lengths,
            algorithms=words(algorithm),
            bytes=words(sizes),
            libraries=words(mpi),
            only=words(only),
            launches=launches,
            budget_s=_seconds(budget),
            precision=precision,
            verify=verify or None,
            seed=seed,
            conditions=conditions,
            wire=wire,
            node_memory=node_memory,
        ),
    )
    if predict:
        predict_memory(plan, lengths, node_memory, json)
        return
    asked = Common(
        on=on,
        routes=routes,
        route=route,
        rate=rate,
        buffer=buffer,
        placement=placement,
        launcher=launcher,
        host_memory=plan.node_memory,
    )
    console = console_for(json)
    with find_place(asked, console) as place:
        assert place is not None
        plan = with_known_wire(plan, place)
        launch = RealLaunch(place, site_of(place, on or "", asked.memory()), plan.wire)
        _measure(plan, launch, console, out, retry, json, plot, markdown)


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    return option_value("--budget", text, parse_seconds)


def _measure(
    plan: MeasuredPlan,
    launch: RealLaunch,
    console: Console,
    out: Path | None,
    retry: bool,
    json: str | None,
    plot: Path | None,
    markdown: Path | None,
) -> None:
    if plot is not None:
        report.check_suffix(plot)
    folder = StudyFolder(Path(plan.name) if out is None else out, plan)
    with _watch(plan, launch.site, console) as (on_step, on_progress):
        ended = run(
            plan,
            folder,
            launch,
            launch.site,
            retry=retry,
            on_step=on_step,
            on_progress=on_progress,
        )
    results = gather(ended.records, folder.path, read_runs)
    tables = report.measured_tables(plan, ended.records, results, ended.left)
    report.print_tables(console, tables)
    write_json(
        json, report.measured_json(plan, ended.records, results, ended.left, str(folder.path))
    )
    if markdown is not None:
        write_whole(markdown, report.markdown_of(tables).encode())
    if plot is not None:
        for path in report.save_figures(report.measured_figures(plan, results), plot, tables):
            console.print(Text(str(path)))
    _judge(ended, folder)


def _judge(ended: Ended, folder: StudyFolder) -> None:
    """Raises where something fell short."""
    failed = sum(record.failed for record in ended.records)
    said = []
    if failed:
        said.append(f"{failed} of {len(ended.records)} cells failed; {folder.path} says why")
    if ended.left:
        said.append(f"no time was left for {counted(len(ended.left), 'cell')}: give it again")
    if said:
        raise ShortfallError("; ".join(said))


@contextmanager
def _watch(plan: MeasuredPlan, site: Site, console: Console) -> Iterator[tuple[OnStep, OnProgress]]:
    """What is to come, a line for every cell that ends, and a bar on a terminal."""
    cells = sum(1 for _ in plan.cells())
    console.print(Text(f"{plan.name}: {plan.title or 'a study'}", style="bold"))
    most = f"{counted(cells, 'cell')} within {format_seconds(plan.budget_s)}"
    console.print(Text(f"{most}, {site.words()}"))
    with progress_bar(plan.name, "cells") as bar:
        task = bar.add_task("", total=float(cells))
        whole = 0

        def on_step(step: Step) -> None:
            nonlocal whole
            if step.state == "measuring":
                return
            whole += 1
            bar.update(task, completed=whole)
            line = Text(f"{whole:>3}/{cells} {_line(step)}")
            console.print(line, no_wrap=True, overflow="ellipsis")

        def on_progress(share: float) -> None:
            bar.update(task, completed=whole + share)

        yield on_step, on_progress


def _line(step: Step) -> str:
    record = step.record
    if record is None:
        return f"{step.cell.label}: no time left"
    kept = " (kept)" if step.state == "kept" else ""
    return f"{step.cell.label}: {_said(record)}{kept}"


def _said(record: Record) -> str:
    """A single point's time, or how many points there are, and what failed."""
    times = [point.median_s for point in record.points if point.median_s is not None]
    failures = record.failures
    said = []
    if times:
        alone = len(record.points) == 1
        said.append(
            format_seconds(times[0]) if alone else f"{counted(len(times), 'point')} measured"
        )
    if failures:
        missing = sum(point.failure is not None for point in record.points)
        number = "" if len(record.points) == 1 else f"{missing} × "
        said.append(f"{number}ERR {failures[0].cause}: {failures[0].said}")
    return ", ".join(said)


def _lengths(texts: list[str] | None) -> tuple[str, ...] | None:
    """Vector lengths of the option, each once."""
    if texts is None:
        return None
    found = []
    for text in words(texts) or ():
        try:
            found.append(str(VectorLength.parse(text)))
        except UsageError as error:
            raise UsageError(f"-m: {error}") from None
    if (repeated := repetition(found)) is not None:
        raise UsageError(f"-m: expected every length once, got {repeated} again")
    return tuple(found)
