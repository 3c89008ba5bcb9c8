"""A study's results as tables, beside what is known from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contend.report.measures import percent
from contend.report.result_table import ResultTable
from contend.study.plan import PatternEntry, Plan, Reference
from contend.study.record import Average, Outcome, Record

_WORDS = {
    "effective_bandwidth": "mean of 1/π",
    "of_mean_congestion": "1 / mean π",
    "of_max_congestion": "waiting",
}


def study_tables(plan: Plan, outcomes: Sequence[Outcome]) -> tuple[ResultTable, ...]:
    """A table for each pattern, then what failed and what readers must know."""
    records = [outcome.record for outcome in outcomes]
    tables = []
    for pattern in plan.patterns:
        rows = [record for record in records if record.pattern == pattern.name]
        if rows:
            tables.append(_pattern_table(plan, pattern, rows))
    tables += _failures(records)
    if plan.notes:
        notes = tuple((note,) for note in plan.notes)
        tables.append(ResultTable("To be known", ("",), notes))
    return tuple(tables)


def reference_of(
    plan: Plan, record: Record, average: str, source: str | None = None
) -> Reference | None:
    """The number known from elsewhere for a cell and an average; of any source when None."""
    for reference in plan.references:
        if (
            (reference.fabric, reference.pattern) == (record.fabric, record.pattern)
            and reference.engine in (None, record.engine)
            and (reference.average or plan.average) == average
            and source in (None, reference.source)
        ):
            return reference
    return None


def scaled(record: Record, average: str) -> Average | None:
    """An average of a cell, multiplied by its scale; None where it failed."""
    found = record.averages.get(average)
    if found is None:
        return None
    low = None if found.low is None else found.low * record.scale
    high = None if found.high is None else found.high * record.scale
    return Average(found.mean * record.scale, low, high)


def _pattern_table(plan: Plan, pattern: PatternEntry, records: Sequence[Record]) -> ResultTable:
    columns = list(_columns(plan, pattern))
    heads = ("fabric", "routing", *(head for head, *_ in columns), "rated")
    rows = tuple(
        (
            record.fabric,
            record.engine or "its own",
            *(_cell(plan, record, average, source, part) for _, average, source, part in columns),
            "" if record.rated_bisection is None else percent(record.rated_bisection),
        )
        for record in records
    )
    note = _note(records)
    return ResultTable(pattern.name, heads, rows, frozenset(heads[2:]), note)


def _note(records: Sequence[Record]) -> str:
    samples = [int(r.simulation["samples"]) for r in records if r.status == "done"]
    if not samples:
        return ""
    fewest, most = min(samples), max(samples)
    drawn = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    scales = {r.scale for r in records} - {1.0}
    times = f", bandwidths multiplied by {scales.pop():g}" if len(scales) == 1 else ""
    return f"{drawn} sample{'s' if most > 1 else ''} a cell{times}; Δ in percentage points"


def _columns(plan: Plan, pattern: PatternEntry) -> Iterator[tuple[str, str, str, str]]:
    """Head, average, source and part of every column between routing and rated."""
    averages = dict.fromkeys((plan.average, "of_mean_congestion", "effective_bandwidth"))
    for average in averages:
        yield _WORDS[average], average, "", "value"
        sources = [
            reference.source
            for reference in plan.references
            if reference.pattern == pattern.name and (reference.average or plan.average) == average
        ]
        for source in dict.fromkeys(sources):
            yield source, average, source, "reference"
            yield "Δ", average, source, "difference"
    yield _WORDS["of_max_congestion"], "of_max_congestion", "", "value"


def _cell(plan: Plan, record: Record, average: str, source: str, part: str) -> str:
    ours = scaled(record, average)
    if part == "value":
        return "ERR" if ours is None else _with_interval(ours)
    reference = reference_of(plan, record, average, source)
    if reference is None:
        return ""
    if part == "reference":
        return f"{reference.percent:.1f} %"
    return "" if ours is None else f"{100 * ours.mean - reference.percent:+.1f}"


def _with_interval(average: Average) -> str:
    """The mean, with the interval's half where it would show at one decimal."""
    if average.low is None or average.high is None:
        return percent(average.mean)
    half = 100 * (average.high - average.low) / 2
    return percent(average.mean) if half < 0.05 else f"{100 * average.mean:.1f} ± {half:.1f} %"


def _failures(records: Sequence[Record]) -> list[ResultTable]:
    """What failed; cells of one fabric and routing that failed alike are one row."""
    failed: dict[tuple[str, str, str], list[str]] = {}
    for record in records:
        if record.status == "failed":
            alike = (record.fabric, record.engine or "its own", record.cause)
            failed.setdefault(alike, []).append(record.pattern)
    if not failed:
        return []
    rows = tuple(
        (fabric, engine, ", ".join(patterns), cause)
        for (fabric, engine, cause), patterns in failed.items()
    )
    heads = ("fabric", "routing", "patterns", "cause")
    return [ResultTable("Cells that failed (ERR); --retry runs them again", heads, rows)]
