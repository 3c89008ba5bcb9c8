"""Studies as documents: simulated, measured, verified, and the list of those that are shipped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from contend.base.units import counted, format_bytes, rounded, verb
from contend.lab.measurement import TOLERANCE, Agreement, DrawnAgreement
from contend.lab.studies import (
    Answer,
    Known,
    MeasuredPlan,
    MeasuredStudy,
    Result,
    SimulatedStudy,
    VerifiedStudy,
)
from contend.report.document import Document, Drawn
from contend.report.pairwise.figures import ComparedFabric, agreement_figure, drawn_figure
from contend.report.pairwise.pairs import agreement_tables, drawn_tables
from contend.report.study.figures import measured_figures, study_figures
from contend.report.study.rates import beyond_notes, rate_or_error, rate_tables, shown
from contend.report.study.simulated import PlanEntry, plan_list, study_tables
from contend.report.study.times import time_tables
from contend.report.table import ResultTable
from contend.report.words import percent, percent_range, rate_words


def plans_document(entries: Sequence[PlanEntry]) -> Document:
    """The studies that come with contend."""
    return Document(
        verdict=f"{counted(len(entries), 'study')} {verb(len(entries), 'comes')} with contend.",
        tables=[plan_list(entries)],
        record=entries,
    )


def study_document(study: SimulatedStudy) -> Document:
    """Simulated cells beside what is known of them."""
    failed = sum(record.status == "failed" for record in study.records)
    return Document(
        verdict=_simulated_verdict(study),
        tables=study_tables(study),
        record=study,
        pictures={"study": lambda: study_figures(study.plan, study.outcomes)},
        shortfall=failed_words(failed, len(study.outcomes), study.folder),
    )


def _simulated_verdict(study: SimulatedStudy) -> str:
    """How many cells there are, and how far they are from what is known."""
    done = [cell for cell in study.cells if cell.status == "done"]
    of = f"{len(done):,} of {counted(len(study.cells), 'cell')}"
    verdict = f"{of} {verb(len(done), 'is')} simulated"
    differences = [abs(known.difference) for cell in done for known in cell.references or ()]
    if differences:
        most = f"{100 * max(differences):.1f} percentage points"
        verdict += f"; averages known from elsewhere differ from them by {most} at most"
    return f"{verdict}."


def failed_words(failed: int, of: int, folder: Path) -> str:
    """How many cells failed, and where is told why; "" where none did."""
    return f"{failed} of {counted(of, 'cell')} failed; {folder} says why" if failed else ""


def verification_document(study: VerifiedStudy) -> Document:
    """Measured bandwidths of random pairs beside simulated ones, on every fabric."""
    told, drawn = study.results, study.drawn or []
    tables = [
        *(
            table
            for one in told
            for table in agreement_tables(one.fabric, one.agreement, one.rate_Bps)
        ),
        *(
            table
            for one in drawn
            for table in drawn_tables(one.fabric, one.agreement, one.rate_Bps)
        ),
    ]
    pictures: dict[str, Callable[[], Drawn]] = {}
    if told:
        pictures["agreement"] = lambda: agreement_figure(
            [ComparedFabric(one.fabric, one.pairs, one.agreement) for one in told]
        )
    if drawn:
        agreements = {one.fabric: one.agreement for one in drawn}
        pictures["draws"] = lambda: drawn_figure(agreements)
    return Document(
        verdict=_verification_verdict(
            [one.agreement for one in told], [one.agreement for one in drawn]
        ),
        tables=tables,
        record=study,
        pictures=pictures,
        shortfall="; ".join(study.failures),
    )


def _verification_verdict(told: Sequence[Agreement], drawn: Sequence[DrawnAgreement]) -> str:
    if not told and not drawn:
        return "Nothing was compared."
    apart = [abs(one.effective - one.models[0].effective) for one in told]
    apart += [abs(one.effective - one.simulated) for one in drawn]
    words = [
        f"On {counted(len(apart), 'fabric')} measured and simulated effective bisection "
        f"bandwidth differ by {100 * max(apart):.1f} percentage points at most"
    ]
    if told:
        within = [one.models[0].within for one in told]
        whose = " whose routes are known" if drawn else ""
        words.append(
            f"{percent_range(min(within), max(within))} of the pairs{whose} get what the "
            f"simulation says, within {percent(TOLERANCE, 0)}"
        )
    return f"{'; '.join(words)}."


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
        pictures={"study": lambda: measured_figures(study.plan, study.results)},
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
