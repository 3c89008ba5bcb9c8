"""The verb ``contend study``: a whole plan of simulations, resumable, beside known numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from contend import report
from contend.cli.common import JsonOption, PlotOption, console_for, progress_bar, write_json
from contend.errors import ShortfallError, UsageError
from contend.study import (
    OnSamples,
    Plan,
    RunFolder,
    Step,
    copy_plan,
    find_plan,
    is_measured,
    read_measured,
    read_plan,
    real_services,
    run,
    shipped_plans,
)
from contend.study.runner import OnStep

PlanArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[PLAN]",
        help="One of contend's own, or a TOML file that says what to run; nothing lists contend's "
        "own. Plans of measurements have options of their own: contend study mistry2015 --help.",
    ),
]
CopyOption = Annotated[
    str | None,
    typer.Option(
        "--copy", metavar="NAME", help="Write one of contend's own plans here, to be changed."
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", help="Run folder; what is in it is not run again. [default: PLAN]"
    ),
]
SamplesOption = Annotated[
    int | None, typer.Option("--samples", min=1, help="Samples of every cell, for the plan's.")
]
SeedOption = Annotated[
    int | None, typer.Option("--seed", min=0, help="Seed of every random choice, for the plan's.")
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="FABRIC", help="Run this fabric of the plan; may be repeated."),
]
RetryOption = Annotated[bool, typer.Option("--retry", help="Run cells again that failed before.")]


def study(
    plan: PlanArgument = None,
    copy: CopyOption = None,
    out: OutOption = None,
    samples: SamplesOption = None,
    seed: SeedOption = None,
    only: OnlyOption = None,
    retry: RetryOption = False,
    json: JsonOption = None,
    plot: PlotOption = None,
) -> None:
    """Runs a plan: simulates every pattern on its fabrics, or measures every cell of its grid.

    Results reach the run folder as they are made: a study that was interrupted goes on where it
    stopped when the same command is given again.

    Example: contend study hoefler2008 --only chic --samples 1000 --plot chic.html
    """
    if copy is not None:
        for path in copy_plan(copy, Path()):
            print(path)
        return
    if plan is None:
        report.print_tables(console_for(json), [report.plan_list(_shipped())])
        return
    _simulate(plan, out, samples, seed, only, retry, json, plot)


def _simulate(
    plan: str,
    out: Path | None,
    samples: int | None,
    seed: int | None,
    only: list[str] | None,
    retry: bool,
    json: str | None,
    plot: Path | None,
) -> None:
    if plot is not None:
        report.check_suffix(plot)
    file = find_plan(plan)
    chosen = _chosen(read_plan(file), only, samples, seed)
    folder = RunFolder(Path(chosen.name) if out is None else out, chosen)
    console = console_for(json)
    with _watch(chosen, console) as (on_step, on_samples):
        outcomes = run(
            chosen.cells(),
            folder,
            real_services(),
            plan_folder=file.parent,
            retry=retry,
            on_step=on_step,
            on_samples=on_samples,
        )
    tables = report.study_tables(chosen, outcomes)
    report.print_tables(console, tables)
    write_json(json, report.study_json(chosen, outcomes, str(folder.path)))
    if plot is not None:
        for path in report.save_figures(report.study_figures(chosen, outcomes), plot, tables):
            console.print(Text(str(path)))
    failed = sum(outcome.record.status == "failed" for outcome in outcomes)
    if failed:
        raise ShortfallError(f"{failed} of {len(outcomes)} cells failed; {folder.path} says why")


def _shipped() -> list[report.PlanEntry]:
    """Contend's own plans."""
    found = []
    for name in shipped_plans():
        path = find_plan(name)
        if is_measured(path):
            measurements = read_measured(path)
            found.append(report.PlanEntry(name, "measured", measurements.title))
        else:
            found.append(report.PlanEntry(name, "simulated", read_plan(path).title))
    return found


def _chosen(plan: Plan, only: list[str] | None, samples: int | None, seed: int | None) -> Plan:
    if samples is not None:
        plan = plan.with_samples(samples)
    if seed is not None:
        plan = plan.with_seed(seed)
    if only:
        names = [fabric.name for fabric in plan.fabrics]
        for name in only:
            if name not in names:
                raise UsageError(f"--only: expected one of {', '.join(names)}, got {name}")
        plan = plan.only(tuple(only))
    return plan


@contextmanager
def _watch(plan: Plan, console: Console) -> Iterator[tuple[OnStep, OnSamples]]:
    """A line for every cell that ends, and a bar that counts cells on a terminal."""
    cells = sum(1 for _ in plan.cells())
    with progress_bar(plan.name, "cells") as bar:
        task = bar.add_task("", total=float(cells))
        whole = 0

        def on_step(step: Step) -> None:
            nonlocal whole
            if step.record is None:
                # What takes minutes says so even where no bar is drawn.
                if step.state == "routing":
                    console.print(Text(f"  routing {step.cell.fabric.name} {step.cell.engine}"))
                return
            whole += 1
            bar.update(task, completed=whole)
            line = Text(f"{whole:>3}/{cells} {_line(plan, step)}")
            console.print(line, no_wrap=True, overflow="ellipsis")

        def on_samples(done: int, expected: int) -> None:
            bar.update(task, completed=whole + done / max(expected, 1))

        yield on_step, on_samples


def _line(plan: Plan, step: Step) -> str:
    record = step.record
    if record is None or record.status == "failed":
        return f"{step.cell.label}: ERR {record.cause if record else ''}"
    value = record.averages[plan.average].mean * record.scale
    kept = " (kept)" if step.state == "kept" else ""
    return f"{step.cell.label}: {100 * value:.1f} %{kept}"
