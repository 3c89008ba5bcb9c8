"""How a run was measured: launches, clocks, what the harness itself cost, and what to beware of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contend.report.measured_words import run_words
from contend.report.result_table import ResultTable
from contend.runs import Measured, Run
from contend.units import counted, format_seconds


def harness_tables(run: Run) -> list[ResultTable]:
    """What the harness cost and how well it did; then the warnings, where there are any."""
    rows = tuple(_rows(run))
    table = ResultTable(f"How {run_words(run.record)} was measured", ("", " "), rows)
    return [table, *warning_tables(run)]


def warning_tables(run: Run) -> list[ResultTable]:
    """The warnings as a table; none where there are none."""
    warnings = tuple((one.code, one.text) for one in run.findings.remarks)
    return [ResultTable("Warnings", ("", " "), warnings)] if warnings else []


def _rows(run: Run) -> Iterator[tuple[str, str]]:
    record = run.record
    measured = [one.measured for one in record.launches if one.measured is not None]
    if record.created:
        yield "begun", record.created
    yield "folder", str(run.folder)
    if record.launches:
        yield "launches", _launches(run)
    if record.placement:
        yield "placement", record.placement
    hosts = {host.name: host for one in measured for host in one.hosts}
    if hosts:
        names = list(hosts)
        more = f" and {len(names) - 4} more" if len(names) > 4 else ""
        yield "hosts", f"{len(names)}: {', '.join(names[:4])}{more}"
    shortest = min((cell.sample_s for cell in run.summaries), default=0.0)
    timer = run.findings.timer_s
    if timer is not None:
        share = f", {100 * timer / shortest:.2g} % of the shortest sample" if shortest > 0 else ""
        yield "reading the clock", f"{format_seconds(timer)}{share}"
    overhead = [one.done.overhead_s for one in measured if one.done and one.done.overhead_s]
    if overhead:
        yield "between samples", f"{format_seconds(max(overhead))}, median of the slowest launch"
    yield from _clocks(run, measured)
    yield "samples", _samples(run)
    yield from _cut(measured)


def _clocks(run: Run, measured: Sequence[Measured]) -> Iterator[tuple[str, str]]:
    clocks = [clock for one in measured for clock in one.clocks]
    residual = run.findings.clock_residual_s
    if residual is None:
        return
    # Ranks that share a clock exchange nothing to agree on it.
    if residual == 0 and not any(trip for clock in clocks for trip in clock.round_trip_s):
        yield "clocks", "all ranks read the same one"
        return
    times = counted(len(clocks), "synchronisation")
    yield "clocks agree within", f"{format_seconds(residual)} ({times})"


def _launches(run: Run) -> str:
    launches = run.record.launches
    took = sum(one.elapsed_s or 0.0 for one in launches)
    budget = run.record.budget_s
    words = str(len(launches))
    if took:
        words += f", {format_seconds(took)} in all"
    return words + (f" of {format_seconds(budget)}" if budget else "")


def _samples(run: Run) -> str:
    timed = sum(cell.n for cell in run.summaries)
    late = sum(cell.late for cell in run.summaries)
    left_out = sum(len(cell.left_out) for cell in run.summaries)
    warmups = int(run.results["warmup"].sum())
    return (
        f"{timed:,} timed, {late:,} of them late ({left_out:,} left out), {warmups:,} warm-ups, "
        f"{run.samples.height:,} times of ranks"
    )


def _cut(measured: Sequence[Measured]) -> Iterator[tuple[str, str]]:
    reasons: dict[str, int] = {}
    for one in measured:
        for end in one.ends:
            reasons[end.reason] = reasons.get(end.reason, 0) + 1
    if reasons:
        told = ", ".join(f"{reason} {count:,}" for reason, count in sorted(reasons.items()))
        yield "cells ended by", told
