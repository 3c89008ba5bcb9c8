"""Studies of simulations as tables, beside what is known from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contend.lab.studies import (
    Impact,
    PatternEntry,
    Record,
    Reference,
    SimulatedPlan,
    SimulatedStudy,
    references_of,
)
from contend.report.simulation.tables import engine_labels
from contend.report.table import ResultTable


@dataclass(frozen=True)
class PlanEntry:
    """A plan, how its figures are made, and what it is about."""

    name: str
    kind: str
    title: str


def plan_list(entries: Sequence[PlanEntry]) -> ResultTable:
    """A row for each plan."""
    return ResultTable(
        title="Studies",
        columns=("name", "", "about"),
        rows=tuple((entry.name, entry.kind, entry.title) for entry in entries),
        note="contend study NAME runs a study; contend study --copy NAME copies its plan.",
    )


AVERAGES = {
    "of_mean_congestion": "1 / mean π",
    "effective_bandwidth": "mean of 1/π",
    "of_max_congestion": "waiting",
}
"""Averages by their names in a plan, in the words of the tables."""

# Half an interval that rounds to 0.0 % is left out.
_SMALLEST_SHOWN = 0.0005


def study_tables(study: SimulatedStudy) -> tuple[ResultTable, ...]:
    """A table for each pattern, other known numbers, applications, what failed, notes.

    The tables of patterns compare with the source that the plan names first; all other numbers
    known from elsewhere have a table of their own.
    """
    plan, records = study.plan, study.records
    tables = []
    for pattern in plan.patterns:
        rows = [record for record in records if record.pattern == pattern.name]
        if rows:
            tables.append(_pattern_table(plan, pattern, rows))
    tables += _others_known(plan, records)
    tables += _application_tables(plan, study.applications or [])
    tables += _failures(records)
    if plan.notes:
        notes = tuple((note,) for note in plan.notes)
        tables.append(ResultTable("Notes", ("",), notes))
    return tuple(tables)


def main_source(plan: SimulatedPlan) -> str:
    """Whose numbers stand beside ours first; "" when the plan knows none."""
    return next((r.source for r in plan.references if r.average in (None, plan.average)), "")


def reference_of(plan: SimulatedPlan, record: Record) -> Reference | None:
    """The number of the plan's main source for a cell and the plan's average."""
    source = main_source(plan)
    for reference in references_of(plan, record):
        if reference.source == source and reference.average in (None, plan.average):
            return reference
    return None


def _pattern_table(
    plan: SimulatedPlan, pattern: PatternEntry, records: Sequence[Record]
) -> ResultTable:
    engines = engine_labels([record.engine for record in records])
    columns: list[tuple[str, list[str]]] = [
        ("fabric", [record.fabric for record in records]),
        ("routing", [engine or "its own" for engine in engines]),
        (AVERAGES[plan.average], [_value(record, plan.average, True) for record in records]),
    ]
    references = [reference_of(plan, record) for record in records]
    if any(references):
        columns.append(
            (main_source(plan), ["" if r is None else f"{r.percent:.1f}" for r in references])
        )
        pairs = zip(records, references, strict=True)
        columns.append(
            ("Δ", ["" if r is None else _difference(plan, record, r) for record, r in pairs])
        )
    columns += [
        (words, [_value(record, average) for record in records])
        for average, words in AVERAGES.items()
        if average != plan.average
    ]
    rated = [record.rated_bisection for record in records]
    columns.append(("rated", ["" if value is None else _number(value) for value in rated]))
    heads = tuple(head for head, _ in columns)
    rows = tuple(zip(*(cells for _, cells in columns), strict=True))
    return ResultTable(pattern.name, heads, rows, frozenset(heads[2:]), _note(records))


def _note(records: Sequence[Record]) -> str:
    samples = [int(r.simulation["samples"]) for r in records if r.status == "done"]
    if not samples:
        return ""
    fewest, most = min(samples), max(samples)
    drawn = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    scales = {r.scale for r in records} - {1.0}
    times = f", bandwidths multiplied by {scales.pop():g}" if len(scales) == 1 else ""
    noun = "sample" if most == 1 else "samples"
    return (
        f"In % of the link speed{times}; {drawn} {noun} per cell. Rated is the capacity of the "
        "narrowest cut found between halves of the hosts that take part."
    )


def _value(record: Record, average: str, with_interval: bool = False) -> str:
    """An average of a cell, with the interval's half if wanted and not lost in rounding."""
    ours = record.scaled(average)
    if ours is None:
        return "ERR"
    if with_interval and ours.low is not None and ours.high is not None:
        half = (ours.high - ours.low) / 2
        if half >= _SMALLEST_SHOWN:
            return f"{_number(ours.mean)} ± {_number(half)}"
    return _number(ours.mean)


def _difference(plan: SimulatedPlan, record: Record, reference: Reference) -> str:
    ours = record.scaled(reference.average or plan.average)
    # Adding zero turns a rounded -0.0 into 0.0.
    return "" if ours is None else f"{round(100 * ours.mean - reference.percent, 1) + 0:+.1f}"


def _number(fraction: float) -> str:
    """A fraction in per cent, its sign left to the table's note."""
    return f"{100 * fraction:.1f}"


def _others_known(plan: SimulatedPlan, records: Sequence[Record]) -> list[ResultTable]:
    """Numbers known from elsewhere that no pattern's table shows."""
    rows = []
    for record in records:
        shown = reference_of(plan, record)
        for reference in references_of(plan, record):
            if reference is shown:
                continue
            average = reference.average or plan.average
            rows.append(
                (
                    record.fabric,
                    engine_labels([record.engine])[0] or "its own",
                    record.pattern,
                    AVERAGES[average],
                    _value(record, average),
                    f"{reference.percent:.1f}",
                    _difference(plan, record, reference),
                    reference.source,
                )
            )
    if not rows:
        return []
    heads = ("fabric", "routing", "pattern", "average", "here", "known", "Δ", "source")
    numeric = frozenset({"here", "known", "Δ"})
    return [ResultTable("Other known numbers", heads, tuple(rows), numeric)]


def _application_tables(plan: SimulatedPlan, losses: Sequence[Impact]) -> list[ResultTable]:
    if not losses:
        return []
    parts = tuple(
        (
            "" if index else application.name,
            "" if index else f"{application.seconds:,.0f} s",
            "" if index else f"{application.percent:.1f}",
            part.routine,
            f"{part.percent:.1f}",
            part.pattern or "nothing",
        )
        for application in plan.applications
        for index, part in enumerate(application.parts)
    )
    rows = tuple(
        (
            impact.application,
            impact.fabric,
            "" if impact.recomputed is None else f"{100 * impact.recomputed:.2f}",
            f"{100 * impact.printed:.2f}",
            ""
            if impact.recomputed is None
            else f"{round(100 * (impact.recomputed - impact.printed), 2) + 0:+.2f}",
            "" if impact.simulated is None else f"{100 * impact.simulated:.2f}",
            impact.routing,
        )
        for impact in losses
    )
    source = plan.applications[0].source
    heads = ("application", "fabric", f"from {source}", "printed", "Δ", "here", "under")
    return [
        ResultTable(
            "Communication of applications",
            ("application", "run", "% in MPI", "calls", "% of that", "counts as"),
            parts,
            frozenset({"run", "% in MPI", "% of that"}),
            f"Source: {source}, {plan.applications[0].ranks} ranks.",
        ),
        ResultTable(
            "Run time with full bandwidth, in % of today's",
            heads,
            rows,
            frozenset(heads[2:6]),
            "Each pattern's share of the run time shrinks by the bandwidth that it gets: "
            "100 % less the sum of share × (1 - bandwidth). Here: under the best of this study's "
            "routings.",
        ),
    ]


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
