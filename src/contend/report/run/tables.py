"""What runs say, as tables: cells and their parts, how they were measured, others beside them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from contend.base.units import counted, format_seconds, grouped, rounded
from contend.lab.measurement import measured_pairs, victim_operations
from contend.lab.runs import (
    COMPARED,
    CellParts,
    CellSummary,
    ComparedRun,
    MeasuredLaunch,
    Pair,
    Run,
    compared,
)
from contend.report.pairwise.hotspot import hotspot_tables
from contend.report.pairwise.pairs import pair_tables
from contend.report.run.findings import collapse_tables, winner_tables
from contend.report.table import Column, Number, ResultTable, table_of
from contend.report.words import (
    BEYOND_WIRE,
    UNKNOWN,
    condition_words,
    factor_words,
    interval_words,
    kinds_words,
    rate_words,
    run_words,
    share_words,
    shared_words,
    size_label,
    size_labels,
    size_words,
)

_USUAL = ("precision", "repetitions")


def cell_tables(run: Run) -> list[ResultTable]:
    """A table for every condition, sorted by size, the fastest schedule of a size first."""
    columns: list[tuple[str, Column[CellSummary]]] = [
        *((name, _size(name)) for name in size_labels(run.record.cells)),
        ("bytes", Number(lambda cell: size_words(cell.record.bytes))),
        ("schedule", "schedule"),
        ("n", "n"),
        ("late", Number(lambda cell: f"{cell.late:,}" if cell.n else UNKNOWN)),
        ("median", "median_s"),
        ("interval", Number(lambda cell: interval_words(cell.median))),
        ("p99", "p99_s"),
        ("max", "max_s"),
        # Of messages without bytes there is none.
        ("rate", Number(lambda cell: rate_words(cell.rate_Bps_per_rank or None))),
    ]
    # Where ports are not known, or no message crosses one, no share of them is.
    if any(cell.limit is not None for cell in run.summaries):
        of_port = Number[CellSummary](
            lambda cell: share_words(cell.rate_Bps_per_rank or None, cell.limit)
        )
        columns.append(("of port", of_port))
    columns.append(("", lambda cell: "; ".join(_remarks(cell)) if cell.n else _why(cell)))
    return [
        table_of(
            f"{run_words(run.record)}, {condition_words(cells[0].condition)}",
            sorted(cells, key=_order),
            columns,
            note=_note(run),
        )
        for cells in grouped(run.every_cell, lambda cell: cell.condition).values()
    ]


def _size(name: str) -> Number[CellSummary]:
    """A column of a label that says a cell's size in the probe's own terms."""
    return Number(lambda cell: size_label(cell.record, name))


def _order(cell: CellSummary) -> tuple[float, float]:
    fastest = cell.median.value if cell.n else math.inf
    return -1 if cell.record.bytes is None else cell.record.bytes, fastest


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


def _remarks(cell: CellSummary) -> list[str]:
    texts = []
    if cell.verified is False:
        texts.append("DATA WRONG")
    if cell.beyond_wire:
        texts.append(BEYOND_WIRE)
    texts += kinds_words(cell)
    if cell.late_count:
        texts.append("late samples count")
    unusual = dict.fromkeys(reason for reason in cell.ended if reason not in _USUAL)
    texts += ["ended by the budget" if reason == "budget" else reason for reason in unusual]
    return [*texts, *cell.said]


def _why(cell: CellSummary) -> str:
    """Why a cell has no samples."""
    whys = (": ".join(filter(None, (end.reason, end.said))) for end in cell.ends)
    return "; ".join(dict.fromkeys(whys))


def part_tables(run: Run) -> list[ResultTable]:
    """A table for each condition whose cells have such parts."""
    groups = grouped(run.findings.parts, lambda parts: parts.cell.condition)
    return [_table(run, members) for members in groups.values()]


def _table(run: Run, members: list[CellParts]) -> ResultTable:
    sort = run.record.probe == "sort"
    names = dict.fromkeys(name for parts in members for name in parts.seconds)
    sizes = size_labels(parts.cell.record for parts in members)
    what, whole = ("Steps", "exchange") if sort else ("Parts", "whole")
    note = (
        "Steps are timed one after the other; the result of a sample is the exchange alone."
        if sort
        else "Times are the slowest rank's, waiting included; brackets give shares of the whole."
    )

    def size(name: str) -> Number[CellParts]:
        return Number(lambda parts: size_label(parts.cell.record, name))

    def part(name: str) -> Number[CellParts]:
        return Number(lambda parts: _part(parts, name, sort))

    return table_of(
        f"{what}, {condition_words(members[0].cell.condition)}",
        sorted(members, key=lambda parts: (parts.cell.record.bytes or 0, parts.cell.schedule)),
        [
            *((name, size(name)) for name in sizes),
            ("bytes", Number(lambda parts: size_words(parts.cell.record.bytes))),
            ("schedule", lambda parts: parts.cell.schedule),
            (whole, Number(lambda parts: format_seconds(parts.cell.sample_s))),
            *((name.replace("_", " "), part(name)) for name in names),
            ("", lambda parts: "; ".join(kinds_words(parts.cell))),
        ],
        note=f"Medians. {note}",
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
    reasons = Counter(end.reason for launch in measured for end in launch.ends)
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
        told = pair_tables(measured_pairs(run))
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


def comparison_tables(runs: Sequence[Run]) -> list[ResultTable]:
    """A table for every run that has cells in common with the first."""
    return [_comparison(other) for other in compared(runs)]


def _comparison(run: ComparedRun) -> ResultTable:
    base, other = run.base, run.other
    shared, rest = shared_words(pair.condition for pair in run.cells)
    several: list[tuple[str, Column[Pair]]] = [("condition", lambda pair: rest[pair.condition])]
    return table_of(
        f"{other} compared with {base}{shared}",
        sorted(run.cells, key=in_order),
        [
            *(several if any(rest.values()) else []),
            ("schedule", "schedule"),
            ("bytes", Number(lambda pair: size_words(pair.bytes))),
            (base, Number(lambda pair: format_seconds(pair.base.median.value))),
            (other, Number(lambda pair: format_seconds(pair.other.median.value))),
            ("ratio of times", Number(lambda pair: factor_words(pair.ratio))),
            ("", lambda pair: "; ".join([_verdict(pair), *_kinds(pair, base, other)])),
        ],
        note=f"Medians; the ratio is {other} over {base}, below 1 where {other} is faster, with "
        "its 95 % interval unless another is stated.",
    )


def in_order(pair: Pair) -> tuple[int, int, str, int]:
    """Sorts pairs by ranks, hosts, schedule and size."""
    cell = pair.base.record
    return cell.ranks, cell.hosts, pair.schedule, pair.bytes or 0


def _kinds(pair: Pair, base: str, other: str) -> list[str]:
    named = ((base, pair.base), (other, pair.other))
    return [f"{name}: {words}" for name, cell in named for words in kinds_words(cell)]


def _verdict(pair: Pair) -> str:
    if pair.differs is None:
        return "too few samples"
    if not pair.differs:
        return "alike"
    return "slower" if pair.ratio.value > 1 else "faster"
