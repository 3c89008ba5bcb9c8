"""Libraries and others' numbers side by side: the tables of rates that a plan asks for."""

from __future__ import annotations

from collections.abc import Sequence

from contend.report.rate_words import MEBI, rate_or_error
from contend.report.result_table import ResultTable
from contend.study import Coordinates, Known, MeasuredPlan, Result, Row, Series, Table
from contend.units import parse_sizes

_NOT = "not measured"


def side_by_side(plan: MeasuredPlan, table: Table, results: Sequence[Result]) -> ResultTable | None:
    """One of the plan's tables: ours for every library and condition, then everybody else's.

    None when nothing of it was measured; its published numbers alone say nothing.
    """
    members = [result for result in results if result.place.measure == table.measure]
    series = list(dict.fromkeys(result.series for result in members))
    known = plan.known(table.measure)
    rows = []
    for row in table.rows:
        places = [_place(table, row, column) for column in range(len(table.columns))]
        ours = [(one, [_ours(members, one, place) for place in places]) for one in series]
        measured = [(one, said) for one, said in ours if any(word != _NOT for word in said)]
        if not measured:
            continue
        rows += [(row.label, one.label or "measured", *said) for one, said in measured]
        for source in dict.fromkeys(one.source for one in known):
            theirs = [_published(known, source, place) for place in places]
            if any(number is not None for number in theirs):
                rows.append((row.label, source, *map(_printed, theirs)))
    if not rows:
        return None
    return ResultTable(
        title=table.title,
        columns=(table.head, "", *table.columns),
        rows=tuple(rows),
        numeric=frozenset(table.columns),
        note=_algorithms(table),
    )


def shown(plan: MeasuredPlan, known: Known) -> bool:
    """Whether a published number stands in one of the plan's tables."""
    return known.placed and any(
        known.beside(_place(table, row, column))
        for table in plan.tables
        if table.measure == known.measure
        for row in table.rows
        for column in range(len(table.columns))
    )


def _place(table: Table, row: Row, column: int) -> Coordinates:
    return Coordinates(
        measure=table.measure,
        ranks=row.ranks,
        ranks_per_node=row.ranks_per_node,
        algorithm=row.algorithms[column],
        bytes=parse_sizes(str(row.bytes))[0],
    )


def _ours(members: Sequence[Result], series: Series, place: Coordinates) -> str:
    for result in members:
        there = result.place
        if result.series == series and all(
            getattr(there, name) == getattr(place, name)
            for name in ("ranks", "ranks_per_node", "algorithm", "bytes")
        ):
            return rate_or_error(result)
    return _NOT


def _published(known: Sequence[Known], source: str, place: Coordinates) -> float | None:
    for one in known:
        if one.source == source and one.placed and one.beside(place):
            return one.rate_of(place.ranks)
    return None


def _printed(rate: float | None) -> str:
    return "" if rate is None else f"{rate / MEBI:.1f}"


def _algorithms(table: Table) -> str:
    """Which schedule each of the table's names stands for."""
    said = []
    for number, name in enumerate(table.columns):
        used = list(dict.fromkeys(row.algorithms[number] for row in table.rows))
        said.append(f"{name} is {' or '.join(used)}")
    return f"MiB/s of a process; here {', '.join(said)}."
