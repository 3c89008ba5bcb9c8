"""Measured studies as tables: results, what others published, what failed and why."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from contend.report.study.rates import rate_tables, shown
from contend.report.study.times import time_tables
from contend.report.table import ResultTable
from contend.report.words import rate_words
from contend.study import GridCell, Known, MeasuredPlan, MeasuredRecord, Point, Result
from contend.units import counted, format_bytes, rounded

_MOST_NAMED = 3


def measured_tables(
    plan: MeasuredPlan,
    records: Sequence[MeasuredRecord],
    results: Sequence[Result],
    left: Sequence[GridCell] = (),
) -> tuple[ResultTable, ...]:
    """Every table of a study, the most telling first.

    Args:
        plan: what was measured.
        records: cells that have ended.
        results: their points over all launches.
        left: cells that no time was left for.
    """
    tables = [*time_tables(plan, results), *rate_tables(plan, results)]
    tables += _published_elsewhere(plan, results)
    tables += _failures(records)
    tables += _left(left)
    tables += _warnings(plan, records)
    return tuple(tables)


def _published_elsewhere(plan: MeasuredPlan, results: Sequence[Result]) -> list[ResultTable]:
    """Published numbers with what was measured in the same place, if anything was."""
    rows = []
    for known in plan.known():
        if known.doubles is not None or shown(plan, known):
            # Stands in the tables of times, or in one of the plan's own.
            continue
        here = [result for result in results if known.placed and known.beside(result.place)]
        rows.append(
            (
                known.source,
                _where(known),
                known.said or known.algorithm or "",
                known.conditions,
                _printed(known),
                ", ".join(_measured(known, result) for result in here),
            )
        )
    if not rows:
        return []
    heads = ("source", "where", "what", "conditions", "published", "measured here")
    numeric = frozenset({"published"})
    return [ResultTable("Also published", heads, tuple(rows), numeric)]


def _where(known: Known) -> str:
    texts = [
        counted(known.nodes, "node") if known.nodes else "",
        counted(known.ranks, "rank") if known.ranks else "",
        f"{known.ranks_per_node} per node" if known.ranks_per_node else "",
        f"m = {known.doubles}" if known.doubles else "",
        format_bytes(known.bytes) if known.bytes is not None else "",
    ]
    return ", ".join(filter(None, texts))


def _printed(known: Known) -> str:
    if known.failed:
        return "ERR"
    if known.seconds is None:
        return rate_words(known.rate_Bps or 0)
    spread = f" ± {known.spread_s:.3f}" if known.spread_s else ""
    return f"{known.seconds:g}{spread} s"


def _measured(known: Known, result: Result) -> str:
    if result.median_s is None:
        return "ERR"
    if known.seconds is None and result.rate is not None:
        return rate_words(result.rate)
    return f"{rounded(result.median_s)} s"


def _failures(records: Sequence[MeasuredRecord]) -> list[ResultTable]:
    """What failed; points of a cell, and launches, that failed alike are one row."""
    failed: dict[tuple[str, ...], list[int]] = {}
    for record in records:
        cell = msgspec.structs.replace(record.cell, launch=1).label
        for failure in record.failures:
            points = [point for point in record.points if point.failure == failure]
            row = (cell, _points(points), failure.cause, failure.said)
            failed.setdefault(row, []).append(record.cell.launch)
    if not failed:
        return []
    several = any(record.cell.launch > 1 for record in records)
    heads = ("cell", "points", *("launches",) * several, "cause", "")
    rows = tuple(
        (*row[:2], *(", ".join(map(str, launches)),) * several, *row[2:])
        for row, launches in failed.items()
    )
    return [ResultTable("What failed (ERR); --retry runs it again", heads, rows)]


def _points(points: Sequence[Point]) -> str:
    names = [
        " ".join((p.algorithm or "", "" if p.bytes is None else format_bytes(p.bytes))).strip()
        for p in points
    ]
    if len(names) > _MOST_NAMED:
        return f"{names[0]} and {len(names) - 1} more"
    return ", ".join(filter(None, names))


def _left(left: Sequence[GridCell]) -> list[ResultTable]:
    if not left:
        return []
    rows = tuple((cell.label,) for cell in left)
    title = "Cells that no time was left for; give the same command again to go on"
    return [ResultTable(title, ("cell",), rows)]


def _warnings(plan: MeasuredPlan, records: Sequence[MeasuredRecord]) -> list[ResultTable]:
    """Warnings with the number of cells they are for, and the plan's notes."""
    count: dict[str, int] = {}
    for record in records:
        for warning in record.warnings:
            count[warning] = count.get(warning, 0) + 1
    rows = [(warning, counted(number, "cell")) for warning, number in count.items()]
    rows += [(note, "") for note in plan.notes]
    return [ResultTable("Notes and warnings", ("", ""), tuple(rows))] if rows else []
