"""Libraries and others' numbers side by side: the tables of rates that a plan asks for."""

from __future__ import annotations

from collections.abc import Sequence

from contend.report.rate_words import MEBI, rate_or_error
from contend.report.result_table import ResultTable
from contend.study.measured.plan import MeasuredPlan, Row, Table
from contend.study.measured.reference import Coordinates, Known
from contend.study.measured.results import Result, Series
from contend.study.measured.sizes import read_sizes


def side_by_side(plan: MeasuredPlan, table: Table, results: Sequence[Result]) -> ResultTable:
    """One of the plan's tables: ours for every library and condition, then everybody else's."""
    members = [result for result in results if result.place.measure == table.measure]
    series = list(dict.fromkeys(result.series for result in members))
    known = plan.known(table.measure)
    places = [
        _place(table, row, column) for row in table.rows for column in range(len(table.columns))
    ]
    sources = [
        source
        for source in dict.fromkeys(one.source for one in known)
        if any(_published(known, source, place) is not None for place in places)
    ]
    heads: list[str] = []
    columns: list[list[str]] = []
    for one in series:
        for number, name in enumerate(table.columns):
            heads.append(f"{one.label or 'measured'}: {name}")
            columns.append([_ours(members, one, _place(table, row, number)) for row in table.rows])
    for source in sources:
        for number, name in enumerate(table.columns):
            heads.append(f"{source}: {name}")
            columns.append([_theirs(known, source, _place(table, r, number)) for r in table.rows])
    labels = [row.label for row in table.rows]
    return ResultTable(
        title=f"{table.title}, MiB/s",
        columns=(table.head, *heads),
        rows=tuple(zip(labels, *columns, strict=True)),
        numeric=frozenset(heads),
        note=_algorithms(table),
    )


def _place(table: Table, row: Row, column: int) -> Coordinates:
    return Coordinates(
        measure=table.measure,
        ranks=row.ranks,
        ranks_per_node=row.ranks_per_node,
        algorithm=row.algorithms[column],
        bytes=read_sizes([row.bytes])[0],
    )


def _ours(members: Sequence[Result], series: Series, place: Coordinates) -> str:
    for result in members:
        there = result.place
        if result.series == series and all(
            getattr(there, name) == getattr(place, name)
            for name in ("ranks", "ranks_per_node", "algorithm", "bytes")
        ):
            return rate_or_error(result)
    return "not measured"


def _published(known: Sequence[Known], source: str, place: Coordinates) -> float | None:
    for one in known:
        if one.source == source and one.placed and one.beside(place):
            return one.rate_of(place.ranks)
    return None


def _theirs(known: Sequence[Known], source: str, place: Coordinates) -> str:
    rate = _published(known, source, place)
    return "" if rate is None else f"{rate / MEBI:.1f}"


def _algorithms(table: Table) -> str:
    """Which schedule each of the table's names stands for."""
    said = []
    for number, name in enumerate(table.columns):
        used = list(dict.fromkeys(row.algorithms[number] for row in table.rows))
        said.append(f"{name} is {' or '.join(used)}")
    return "Here " + ", ".join(said) + "."
