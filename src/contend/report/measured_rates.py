"""Rates per rank of all-to-alls: against message size, and libraries side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from contend.report.result_table import ResultTable
from contend.study.measured.plan import MeasuredPlan, Row, Table
from contend.study.measured.reference import Coordinates, Known
from contend.study.measured.results import Result, Series
from contend.study.measured.sizes import read_rate, read_sizes
from contend.study.measured.wire import rate_limit
from contend.units import format_bytes

MEBI = 1 << 20


@dataclass(frozen=True)
class Sweep:
    """Rates against message size under several algorithms, at one place of the grid.

    Attributes:
        measure: name of the measurement.
        nodes: how many.
        ranks: in all.
        ranks_per_node: ranks on every node.
        series: library, conditions.
        results: of all algorithms and sizes.
    """

    measure: str
    nodes: int
    ranks: int
    ranks_per_node: int
    series: Series
    results: tuple[Result, ...]

    @property
    def algorithms(self) -> list[str]:
        """Algorithms in the order of the plan."""
        return list(dict.fromkeys(result.place.algorithm or "" for result in self.results))

    @property
    def sizes(self) -> list[int]:
        """Message sizes, ascending."""
        return sorted({result.place.bytes or 0 for result in self.results})

    @property
    def label(self) -> str:
        """Where and under what, for people."""
        where = f"{self.ranks} ranks, {self.ranks_per_node} a node"
        return ", ".join(filter(None, (where, self.series.label)))

    def of(self, algorithm: str) -> list[Result]:
        """Results of one algorithm by size."""
        members = [r for r in self.results if (r.place.algorithm or "") == algorithm]
        return sorted(members, key=lambda result: result.place.bytes or 0)

    def limit(self, plan: MeasuredPlan) -> float | None:
        """Bytes per second and rank at which the nodes' ports are full."""
        if plan.wire is None:
            return None
        place = Coordinates(
            self.measure, nodes=self.nodes, ranks=self.ranks, ranks_per_node=self.ranks_per_node
        )
        return rate_limit(place, read_rate(plan.wire))


def sweeps(results: Sequence[Result]) -> list[Sweep]:
    """Results that have message sizes, by place and series in the order of the study."""
    made: dict[tuple[str, int, int, int, Series], list[Result]] = {}
    for result in results:
        place = result.place
        if place.bytes is not None:
            nodes, ranks, each = place.nodes or 1, place.ranks or 1, place.ranks_per_node or 1
            key = (place.measure, nodes, ranks, each, result.series)
            made.setdefault(key, []).append(result)
    return [Sweep(*key, tuple(members)) for key, members in made.items()]


def rate_tables(plan: MeasuredPlan, results: Sequence[Result]) -> Iterator[ResultTable]:
    """A table of sizes and algorithms for every sweep, then the plan's own tables."""
    for sweep in sweeps(results):
        yield _sweep_table(plan, sweep)
    for table in plan.tables:
        yield _side_by_side(plan, table, results)


def mebibytes(rate: float) -> str:
    """A rate in MiB/s for a column of a table, to three digits."""
    value = rate / MEBI
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _sweep_table(plan: MeasuredPlan, sweep: Sweep) -> ResultTable:
    algorithms = sweep.algorithms
    found = {(r.place.algorithm or "", r.place.bytes): r for r in sweep.results}
    rows = []
    for size in sweep.sizes:
        cells = [found.get((algorithm, size)) for algorithm in algorithms]
        best = max((r.rate for r in cells if r is not None and r.rate is not None), default=None)
        rows.append((format_bytes(size), *(_rate(result, best) for result in cells)))
    heads = tuple(algorithm or "rate" for algorithm in algorithms)
    note = "* is the highest of a row." if len(algorithms) > 1 else ""
    if (limit := sweep.limit(plan)) is not None:
        note = f"{note} Full ports of the nodes would be {mebibytes(limit)} MiB/s."
    return ResultTable(
        title=f"{sweep.measure}, {sweep.label}: MiB/s of a rank",
        columns=("bytes", *heads),
        rows=tuple(rows),
        numeric=frozenset(("bytes", *heads)),
        note=note.strip(),
    )


def _rate(result: Result | None, best: float | None = None) -> str:
    if result is None:
        return ""
    if result.rate is None:
        return f"ERR {result.failure.cause}" if result.failure else "ERR"
    return f"{mebibytes(result.rate)}{'*' if result.rate == best else ''}"


def _side_by_side(plan: MeasuredPlan, table: Table, results: Sequence[Result]) -> ResultTable:
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
            return _rate(result)
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
