"""Tables of rates per rank against message size: which schedule wins, and where rates collapse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from contend.report.collapse_table import sizes_of
from contend.report.measured_words import factor_words, modes_words
from contend.report.rate_sweeps import Sweep, sweeps
from contend.report.rate_words import mebibytes, rate_or_error
from contend.report.result_table import ResultTable
from contend.report.side_by_side import side_by_side
from contend.runs import Collapse, Kind
from contend.study import MeasuredPlan, Result
from contend.units import counted, format_bytes, format_seconds


def rate_tables(plan: MeasuredPlan, results: Sequence[Result]) -> Iterator[ResultTable]:
    """The plan's own tables, a table of sizes and schedules for every sweep, the collapses."""
    asked = (side_by_side(plan, table, results) for table in plan.tables)
    yield from (table for table in asked if table is not None)
    every = sweeps(plan, results)
    for sweep in every:
        yield _sweep_table(sweep)
        yield from _barriers(sweep)
    if every:
        yield _collapses(every)


def _sweep_table(sweep: Sweep) -> ResultTable:
    algorithms = sweep.algorithms
    found = {(r.place.algorithm or "", r.place.bytes): r for r in sweep.results}
    fastest = sweep.fastest
    rows = tuple(
        (
            format_bytes(size),
            *(
                rate_or_error(found.get((name, size))) + "*" * ((name, size) in fastest)
                for name in algorithms
            ),
        )
        for size in sweep.sizes
    )
    notes = [f"{sweep.label}; MiB/s of a rank."]
    if fastest:
        notes.append("* is the fastest, and what it is not proven to beat (rank test, 5 %).")
    if sweep.limit is not None:
        notes.append(f"Full ports of the nodes are {mebibytes(sweep.limit)} MiB/s.")
    return ResultTable(
        title=f"{sweep.measure}: {counted(sweep.ranks, 'rank')}, {sweep.ranks_per_node} a node",
        columns=("bytes", *algorithms),
        rows=rows,
        numeric=frozenset(("bytes", *algorithms)),
        note=" ".join(notes),
    )


def _barriers(sweep: Sweep) -> Iterator[ResultTable]:
    """What barriers between phases cost, apart."""
    found = {
        (result.place.algorithm or "", result.place.bytes): cost
        for result in sweep.results
        if (cost := _barrier_cost(result))
    }
    heads = tuple(name for name in sweep.algorithms if any(name == key[0] for key in found))
    if heads:
        yield ResultTable(
            title="Barriers, and part of the median",
            columns=("bytes", *heads),
            rows=tuple(
                (format_bytes(size), *(found.get((name, size), "") for name in heads))
                for size in sweep.sizes
            ),
            numeric=frozenset(("bytes", *heads)),
        )


def _barrier_cost(result: Result) -> str:
    """Seconds and part of a sample: medians over launches."""
    costs = [
        (seconds, seconds / point.median_s)
        for point in result.points
        if (seconds := point.steps_s.get("barriers")) is not None and point.median_s
    ]
    if not costs:
        return ""
    seconds, part = (median(column) for column in zip(*costs, strict=True))
    return f"{format_seconds(seconds)}, {100 * part:.0f} %"


def _collapses(every: Sequence[Sweep]) -> ResultTable:
    """Where rates collapse, how far, and what avoids it."""
    rows = tuple(
        (
            sweep.label,
            one.worst.schedule,
            sizes_of(one),
            factor_words(one.factor),
            _against(one),
            "one kind" if one.worst.modes is None else modes_words(one.worst.modes),
            _cure(one),
        )
        for sweep in every
        for one in sweep.collapses
    )
    heads = ("where", "schedule", "bytes", "times lower", "than", "samples", "avoided by")
    return ResultTable("Collapses", heads, rows, frozenset({"times lower"}), _remark(every, rows))


def _remark(every: Sequence[Sweep], rows: Sequence[object]) -> str:
    if not rows:
        return "None: rates rise with the size and level out."
    if any(sweep.one_host for sweep in every):
        return "Where ranks are on one host, it is the machine that gives way, not a network."
    return ""


def _against(one: Collapse) -> str:
    if one.kind == Kind.FALLS:
        return f"at {format_bytes(one.reference.record.bytes or 0)}"
    return "its faster samples"


def _cure(one: Collapse) -> str:
    if one.avoided_by is None or one.gain is None:
        return "nothing measured"
    return f"{one.avoided_by.schedule}: {factor_words(one.gain)} times faster"
