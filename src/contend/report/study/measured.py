"""Measured studies as documents: results, what others published, what failed and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from contend.report.document import Document
from contend.report.study.document import failed_words
from contend.report.study.rates import beyond_notes, rate_or_error, rate_tables, shown
from contend.report.study.times import time_tables
from contend.report.table import ResultTable
from contend.report.words import rate_words
from contend.studies import Answer, Known, MeasuredPlan, MeasuredStudy, Result
from contend.units import counted, format_bytes, rounded, verb

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_NAMED = 3


def measured_document(study: MeasuredStudy) -> Document:
    """Measured cells beside what others published."""
    failed = sum(answer.failed for answer in study.cells)
    launches = sum(len(answer.launches) for answer in study.cells)
    short = [failed_words(failed, launches, study.folder)]
    if study.left:
        left = counted(len(study.left), "cell")
        short.append(f"no time was left for {left}: give the command again")
    return Document(
        verdict=_verdict(study),
        tables=measured_tables(study),
        record=study,
        pictures={"study": partial(_figures, study)},
        shortfall="; ".join(filter(None, short)),
    )


def _verdict(study: MeasuredStudy) -> str:
    """How many points there are, what is missing, and how many published times are beaten."""
    results, known = study.results, study.plan.known()
    done = [(result, result.median_s) for result in results if result.median_s is not None]
    have = verb(len(done), "has")
    parts = [f"{len(done):,} of {counted(len(results), 'point')} {have} a result"]
    if study.left:
        parts.append(f"no time was left for {counted(len(study.left), 'cell')}")
    ratios = [
        median / published.seconds
        for result, median in done
        for published in known
        if published.seconds and published.placed and published.beside(result.place)
    ]
    if ratios:
        faster = sum(ratio < 1 for ratio in ratios)
        parts.append(
            f"{faster:,} of {counted(len(ratios), 'published time')} {verb(faster, 'is')} longer"
        )
    return f"{'; '.join(parts)}."


def _figures(study: MeasuredStudy) -> Iterator[tuple[str, Figure]]:
    from contend.report.study.figures import measured_figures

    return measured_figures(study.plan, study.results)


def measured_tables(study: MeasuredStudy) -> tuple[ResultTable, ...]:
    """Every table of a study, the most telling first."""
    plan, results = study.plan, study.results
    tables = [*time_tables(plan, results), *rate_tables(plan, results)]
    tables += _published_elsewhere(plan, results)
    tables += _failures(study.cells)
    tables += _left(study.left)
    tables += _warnings(plan, study.cells)
    return tuple(tables)


def _published_elsewhere(plan: MeasuredPlan, results: Sequence[Result]) -> list[ResultTable]:
    """Published numbers with what was measured in the same place, if anything was."""
    rows = []
    for known in plan.known():
        if known.length is not None or shown(plan, known):
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
    note = " ".join(beyond_notes(rows))
    return [ResultTable("Also published", heads, tuple(rows), numeric, note)]


def _where(known: Known) -> str:
    texts = [
        counted(known.hosts, "host") if known.hosts else "",
        counted(known.ranks, "rank") if known.ranks else "",
        f"{known.ranks_per_host} per host" if known.ranks_per_host else "",
        f"m = {known.length}" if known.length else "",
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
        return rate_or_error(result)
    return f"{rounded(result.median_s)} s"


def _failures(answers: Sequence[Answer]) -> list[ResultTable]:
    """What failed; points of a cell, and launches, that failed alike are one row."""
    failed: dict[tuple[str, ...], list[int]] = {}
    for answer in answers:
        for index, launch in enumerate(answer.launches):
            for (cause, said), results in answer.failures(index).items():
                row = (answer.cell.label, _points(results), cause, said)
                failed.setdefault(row, []).append(launch + 1)
    if not failed:
        return []
    several = any(max(answer.launches) for answer in answers)
    heads = ("cell", "points", *("launches",) * several, "cause", "")
    rows = tuple(
        (*row[:2], *(", ".join(map(str, launches)),) * several, *row[2:])
        for row, launches in failed.items()
    )
    return [ResultTable("What failed (ERR); --retry runs it again", heads, rows)]


def _points(results: Sequence[Result]) -> str:
    places = [result.place for result in results]
    names = [
        " ".join((p.algorithm or "", "" if p.bytes is None else format_bytes(p.bytes))).strip()
        for p in places
    ]
    if len(names) > _MOST_NAMED:
        return f"{names[0]} and {len(names) - 1} more"
    return ", ".join(filter(None, names))


def _left(left: Sequence[str]) -> list[ResultTable]:
    if not left:
        return []
    rows = tuple((cell,) for cell in left)
    title = "Cells that no time was left for; give the same command again to go on"
    return [ResultTable(title, ("cell",), rows)]


def _warnings(plan: MeasuredPlan, answers: Sequence[Answer]) -> list[ResultTable]:
    """Warnings with the number of cells they are for, and the plan's notes."""
    count: dict[str, int] = {}
    for answer in answers:
        for warning in answer.warnings:
            count[warning] = count.get(warning, 0) + len(answer.launches)
    rows = [(warning, counted(number, "cell")) for warning, number in count.items()]
    rows += [(note, "") for note in plan.notes]
    return [ResultTable("Notes and warnings", ("", ""), tuple(rows))] if rows else []
