"""The cells of a run as tables: one for each condition, a row for each cell."""

from __future__ import annotations

from contend.report.measured_words import (
    UNKNOWN,
    condition_words,
    interval_words,
    modes_words,
    rate_words,
    run_words,
    size_label_words,
    size_labels,
    size_words,
)
from contend.report.result_table import ResultTable
from contend.runs import CellRecord, CellSummary, Run, condition
from contend.units import format_seconds

_COLUMNS = ("bytes", "schedule", "n", "late", "median", "interval", "p99", "max", "rate", "")
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
    tables = []
    for cells in groups.values():
        ordered = sorted(cells, key=lambda cell: _order(cell, known.get(cell.cell)))
        rows = tuple(
            (*size_label_words(cell, sizes), *_row(run, cell, known.get(cell.cell)))
            for cell in ordered
        )
        title = f"{run_words(run.record)}, {condition_words(condition(cells[0]))}"
        tables.append(ResultTable(title, heads, rows, _NUMERIC | set(sizes), _note(run)))
    return tables


def _order(cell: CellRecord, summary: CellSummary | None) -> tuple[float, float]:
    fastest = float("inf") if summary is None else summary.median.value
    return -1 if cell.bytes is None else cell.bytes, fastest


def _note(run: Run) -> str:
    if run.record.probe == "pingpong":
        return (
            "Bytes of a message; times are one way; the rate is that of one direction. Intervals "
            "of the median are 95 % where they say nothing else."
        )
    return (
        "Bytes to each other rank; times from the earliest start to the latest end; the rate is "
        "what a rank sends over the median. Intervals of the median are 95 % where they say "
        "nothing else."
    )


def _row(run: Run, cell: CellRecord, summary: CellSummary | None) -> tuple[str, ...]:
    if summary is None:
        return (size_words(cell.bytes), cell.algorithm, "0", *[UNKNOWN] * 6, _why(run, cell))
    rate = summary.rate
    return (
        size_words(cell.bytes),
        summary.schedule,
        f"{summary.n:,}",
        f"{summary.late:,}",
        format_seconds(summary.median.value),
        interval_words(summary.median),
        format_seconds(summary.p99_s),
        format_seconds(summary.max_s),
        UNKNOWN if rate is None else rate_words(rate.value),
        "; ".join(_remarks(summary)),
    )


def _remarks(cell: CellSummary) -> list[str]:
    said = []
    if cell.verified is False:
        said.append("DATA WRONG")
    if cell.modes is not None:
        said.append(modes_words(cell.modes))
    if cell.late_count:
        said.append("late ones count")
    unusual = dict.fromkeys(reason for reason in cell.reasons if reason not in _USUAL)
    said += [f"ended by {reason}" if reason == "budget" else reason for reason in unusual]
    return [*said, *cell.said]


def _why(run: Run, cell: CellRecord) -> str:
    """Why a cell has no samples."""
    ends = [
        end
        for launch in run.record.launches
        if launch.measured is not None
        for end in launch.measured.ends
        if end.cell == cell.cell
    ]
    said = dict.fromkeys(": ".join(filter(None, (end.reason, end.said))) for end in ends)
    return "; ".join(said)
