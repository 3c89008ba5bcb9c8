"""What a run says, as tables: cells and their parts, how it was measured, warnings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from contend.measurement import pair_bandwidths, victim_operations
from contend.report.pairwise.hotspot import hotspot_tables
from contend.report.pairwise.pairs import pair_tables
from contend.report.run.findings import collapse_tables, winner_tables
from contend.report.table import ResultTable
from contend.report.words import (
    BEYOND_WIRE,
    UNKNOWN,
    condition_words,
    interval_words,
    kinds_words,
    rate_words,
    run_words,
    share_words,
    size_label_words,
    size_labels,
    size_words,
)
from contend.runs import (
    COMPARED,
    CellParts,
    CellRecord,
    CellSummary,
    MeasuredLaunch,
    Run,
    condition,
)
from contend.units import counted, format_seconds, rounded

_TIMES = ("median", "interval", "p99", "max")
_OF_PORT = "of port"
_COLUMNS = ("bytes", "schedule", "n", "late", *_TIMES, "rate", _OF_PORT, "")
_NUMERIC = frozenset(_COLUMNS) - {"schedule", ""}
_USUAL = ("precision", "repetitions")


def cell_tables(run: Run) -> list[ResultTable]:
    """A table for every condition, sorted by size, the fastest schedule of a size first."""
    known = {cell.record.cell: cell for cell in run.summaries}
    groups: dict[object, list[CellRecord]] = {}
    for cell in run.record.cells:
        groups.setdefault(condition(cell), []).append(cell)
    sizes = size_labels(run.record.cells)
    heads = (*sizes, *_COLUMNS)
    # Where ports are not known, or no message crosses one, no share of them is.
    bounded = any(summary.limit is not None for summary in run.summaries)
    kept = [column for column, head in enumerate(heads) if bounded or head != _OF_PORT]
    tables = []
    for cells in groups.values():
        ordered = sorted(cells, key=lambda cell: _order(cell, known.get(cell.cell)))
        rows = (
            (*size_label_words(cell, sizes), *_row(run, cell, known.get(cell.cell)))
            for cell in ordered
        )
        shown = tuple(tuple(row[column] for column in kept) for row in rows)
        title = f"{run_words(run.record)}, {condition_words(condition(cells[0]))}"
        tables.append(
            ResultTable(
                title, tuple(heads[c] for c in kept), shown, _NUMERIC | set(sizes), _note(run)
            )
        )
    return tables


def _order(cell: CellRecord, summary: CellSummary | None) -> tuple[float, float]:
    fastest = float("inf") if summary is None else summary.median.value
    return -1 if cell.bytes is None else cell.bytes, fastest


def _note(run: Run) -> str:
    if run.record.probe == "pingpong":
        return (
            "Bytes of a message; times and rates are one way. Intervals of the median are 95 % "
            "unless marked otherwise."
        )
    return (
        "Bytes to each other rank; a time runs from the earliest start to the latest end; the "
        "rate is what a rank sends over the median. Intervals of the median are 95 % unless "
        "marked otherwise."
    )


def _row(run: Run, cell: CellRecord, summary: CellSummary | None) -> tuple[str, ...]:
    if summary is None:
        return (size_words(cell.bytes), cell.algorithm, "0", *[UNKNOWN] * 7, _why(run, cell))
    rate = None if summary.rate is None else summary.rate.value
    return (
        size_words(cell.bytes),
        summary.schedule,
        f"{summary.n:,}",
        f"{summary.late:,}",
        format_seconds(summary.median.value),
        interval_words(summary.median),
        format_seconds(summary.p99_s),
        format_seconds(summary.max_s),
        rate_words(rate),
        share_words(rate, summary.limit),
        "; ".join(_remarks(summary)),
    )


def _remarks(cell: CellSummary) -> list[str]:
    texts = []
    if cell.verified is False:
        texts.append("DATA WRONG")
    if cell.beyond_wire:
        texts.append(BEYOND_WIRE)
    texts += kinds_words(cell)
    if cell.late_count:
        texts.append("late samples count")
    unusual = dict.fromkeys(reason for reason in cell.reasons if reason not in _USUAL)
    texts += ["ended by the budget" if reason == "budget" else reason for reason in unusual]
    return [*texts, *cell.said]


def _why(run: Run, cell: CellRecord) -> str:
    """Why a cell has no samples."""
    ends = run.record.ends_of(cell.cell)
    return "; ".join(dict.fromkeys(": ".join(filter(None, (end.reason, end.said))) for end in ends))


def part_tables(run: Run) -> list[ResultTable]:
    """A table for each condition whose cells have such parts."""
    groups: dict[object, list[CellParts]] = {}
    for parts in run.findings.parts:
        groups.setdefault(parts.cell.condition, []).append(parts)
    return [_table(run, members) for members in groups.values()]


def _table(run: Run, members: list[CellParts]) -> ResultTable:
    sort = run.record.probe == "sort"
    names = list(dict.fromkeys(name for parts in members for name in parts.seconds))
    heads = [name.replace("_", " ") for name in names]
    sizes = size_labels(parts.cell.record for parts in members)
    whole = "exchange" if sort else "whole"
    ordered = sorted(members, key=lambda parts: (parts.cell.record.bytes or 0, parts.cell.schedule))
    rows = tuple(
        (
            *size_label_words(parts.cell.record, sizes),
            size_words(parts.cell.record.bytes),
            parts.cell.schedule,
            format_seconds(parts.cell.sample_s),
            *(_part(parts, name, sort) for name in names),
            "; ".join(kinds_words(parts.cell)),
        )
        for parts in ordered
    )
    columns = (*sizes, "bytes", "schedule", whole, *heads, "")
    what = "Steps" if sort else "Parts"
    note = (
        "Steps are timed one after the other; the result of a sample is the exchange alone."
        if sort
        else "Times are the slowest rank's, waiting included; brackets give shares of the whole."
    )
    title = f"{what}, {condition_words(members[0].cell.condition)}"
    return ResultTable(
        title, columns, rows, frozenset(columns) - {"schedule", ""}, f"Medians. {note}"
    )


def _part(parts: CellParts, name: str, sort: bool) -> str:
    seconds = parts.seconds.get(name)
    if seconds is None:
        return UNKNOWN
    part = parts.shares[name]
    share = f" ({100 * part:.0f} %)" if not sort and math.isfinite(part) else ""
    return f"{format_seconds(seconds)}{share}"


def harness_tables(run: Run) -> list[ResultTable]:
    """What the harness cost and how well it did; then the warnings, where there are any."""
    rows = tuple(_rows(run))
    table = ResultTable(f"How {run_words(run.record)} was measured", ("", " "), rows)
    return [table, *warning_tables(run)]


def warning_tables(run: Run) -> list[ResultTable]:
    """The warnings as a table; none where there are none."""
    warnings = tuple((warning.code, warning.text) for warning in run.findings.remarks)
    return [ResultTable("Warnings", ("", " "), warnings)] if warnings else []


def _rows(run: Run) -> Iterator[tuple[str, str]]:
    record = run.record
    measured = record.measured
    if record.created:
        yield "started", record.created
    yield "folder", str(run.folder)
    if record.launches:
        yield "launches", _launches(run)
    if record.placement:
        yield "placement", record.placement
    hosts = {host.name: host for launch in measured for host in launch.hosts}
    if hosts:
        names = list(hosts)
        more = f" and {len(names) - 4} more" if len(names) > 4 else ""
        yield "hosts", f"{len(names)}: {', '.join(names[:4])}{more}"
    shortest = min((cell.sample_s for cell in run.summaries), default=0.0)
    timer = run.findings.timer_s
    if timer is not None:
        share = (
            f", {rounded(100 * timer / shortest, 2)} % of the shortest sample"
            if shortest > 0
            else ""
        )
        yield "reading the clock", f"{format_seconds(timer)}{share}"
    overhead = [
        launch.done.overhead_s for launch in measured if launch.done and launch.done.overhead_s
    ]
    if overhead:
        yield "between samples", f"{format_seconds(max(overhead))}, median of the slowest launch"
    yield from _clocks(run, measured)
    yield "samples", _samples(run)
    yield from _cut(measured)


def _clocks(run: Run, measured: Sequence[MeasuredLaunch]) -> Iterator[tuple[str, str]]:
    clocks = [clock for launch in measured for clock in launch.clocks]
    residual = run.findings.clock_residual_s
    if residual is None:
        return
    # Ranks that share a clock exchange nothing to agree on it.
    if residual == 0 and not any(trip for clock in clocks for trip in clock.round_trip_s):
        yield "clocks", "all ranks read the same clock"
        return
    times = counted(len(clocks), "synchronisation")
    yield "clocks agree within", f"{format_seconds(residual)} ({times})"


def _launches(run: Run) -> str:
    launches = run.record.launches
    took = sum(launch.elapsed_s or 0.0 for launch in launches)
    budget = run.record.budget_s
    words = str(len(launches))
    if took:
        words += f", {format_seconds(took)} in all"
    return words + (f", budget {format_seconds(budget)}" if budget else "")


def _samples(run: Run) -> str:
    timed = sum(cell.n for cell in run.summaries)
    late = sum(cell.late for cell in run.summaries)
    left_out = sum(len(cell.left_out) for cell in run.summaries)
    warmups = int(run.results["warmup"].sum())
    return (
        f"{timed:,} timed, {late:,} of them late ({left_out:,} left out), "
        f"{counted(warmups, 'warm-up')}, {counted(run.samples.height, 'single-rank time')}"
    )


def _cut(measured: Sequence[MeasuredLaunch]) -> Iterator[tuple[str, str]]:
    reasons: dict[str, int] = {}
    for launch in measured:
        for end in launch.ends:
            reasons[end.reason] = reasons.get(end.reason, 0) + 1
    if reasons:
        counts = (f"{reason} {count:,}" for reason, count in sorted(reasons.items()))
        yield "cells ended by", ", ".join(counts)


_MOST_CELLS = 60


def measure_tables(run: Run) -> list[ResultTable]:
    """The cells where they are few, who wins, what collapses, and warnings.

    The whole of a large run is shown by `run_tables`.
    """
    few = len(run.record.cells) <= _MOST_CELLS
    cells = [*cell_tables(run), *part_tables(run)] if few else []
    return [*cells, *_findings(run), *warning_tables(run)]


def run_tables(run: Run) -> list[ResultTable]:
    """Everything that its probe is for, then how it was measured and warnings.

    Pairs of bisect patterns have their bandwidths, a hot spot its victim's; all others their cells,
    parts of cells, winners and collapses.
    """
    if run.samples.is_empty():
        told = cell_tables(run)
    elif run.record.probe == "bisect":
        told = pair_tables(run, pair_bandwidths(run))
    elif run.record.probe == "hotspot":
        told = hotspot_tables(victim_operations(run))
    else:
        told = [*cell_tables(run), *part_tables(run), *_findings(run)]
    return [*told, *harness_tables(run)]


def _findings(run: Run) -> list[ResultTable]:
    if run.record.probe not in COMPARED:
        return []
    return [
        *winner_tables(run.findings.contests),
        *collapse_tables(run.findings.collapses),
    ]
