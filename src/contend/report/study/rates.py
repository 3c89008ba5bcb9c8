"""Measured rates against message size as tables, beside what others published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from contend.base.units import counted, format_bytes, format_seconds, grouped
from contend.lab.runs import Collapse, Contest, port_limit
from contend.lab.session import UNSUITED
from contend.lab.studies import (
    GridPlace,
    Known,
    MeasuredPlan,
    Result,
    Table,
    TableRow,
)
from contend.report.run.findings import avoided_words, kinds_of_samples, sizes_of, than_words
from contend.report.table import ResultTable
from contend.report.words import BEYOND_WIRE_NOTE, factor_words, rate_words

BEYOND = "†"
"""Follows rates that are beyond the wire."""


@dataclass(frozen=True)
class Sweep:
    """Rates against message size under several algorithms, at one place of the grid."""

    measure: str
    """Name of the measurement."""
    hosts: int
    """Number of hosts."""
    ranks: int
    """Ranks in all."""
    ranks_per_host: int
    """Ranks on every host."""
    series: str
    """Library and conditions, for people."""
    results: tuple[Result, ...]
    """Results of all algorithms and sizes."""
    wire: float | None
    """Bytes per second of a host's port; None where it is not known."""

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
        return ", ".join(filter(None, (self.results[0].answer.seats, self.series)))

    @property
    def one_host(self) -> bool:
        """Whether hosts were groups of ranks on one host, so that no network was measured."""
        return self.results[0].answer.one_host

    @property
    def fastest(self) -> set[tuple[str, int | None]]:
        """Schedule and size of every winner, and of those that it is not proven to beat."""
        return {
            (cell.record.algorithm, cell.record.bytes)
            for contest in self.contests
            for cell in (contest.winner, *(rival.cell for rival in contest.level))
        }

    def of(self, algorithm: str) -> list[Result]:
        """Results of one algorithm by size."""
        members = [r for r in self.results if (r.place.algorithm or "") == algorithm]
        return sorted(members, key=lambda result: result.place.bytes or 0)

    @property
    def limit(self) -> float | None:
        """Bytes per second and rank at which the hosts' ports are full."""
        if self.wire is None:
            return None
        return port_limit(self.ranks, self.ranks_per_host, self.wire)

    @property
    def collapses(self) -> tuple[Collapse, ...]:
        """Where rates collapse, as the run has it."""
        return self.results[0].answer.measured.findings.collapses

    @property
    def contests(self) -> tuple[Contest, ...]:
        """Which schedule wins at every size, as the run has it."""
        return self.results[0].answer.measured.findings.contests


def sweeps(plan: MeasuredPlan, results: Sequence[Result]) -> list[Sweep]:
    """Results that have message sizes, by place and series in the order of the study.

    What a port carries is what the plan says or, where there is a network, the highest rate of the
    study's own ping-pong under the same library and conditions.
    """

    def where(result: Result) -> tuple[str, int, int, int, str]:
        place = result.place
        hosts, ranks, each = place.hosts or 1, place.ranks or 1, place.ranks_per_host or 1
        return place.measure, hosts, ranks, each, result.series

    sized = (result for result in results if result.place.bytes is not None)
    return [
        Sweep(*key, tuple(members), plan.wire or _ping_pong(plan, results, key[-1]))
        for key, members in grouped(sized, where).items()
    ]


def _ping_pong(plan: MeasuredPlan, results: Sequence[Result], series: str) -> float | None:
    probes = {measure.name: measure.probe for measure in plan.measures}
    rates = [
        result.rate
        for result in results
        if probes.get(result.place.measure) == "pingpong"
        and result.series == series
        and (result.place.hosts or 1) > 1
        and result.rate is not None
        and not (result.summary and result.summary.beyond_wire)
        and not result.answer.one_host
    ]
    return max(rates, default=None)


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
    results = {(r.place.algorithm or "", r.place.bytes): r for r in sweep.results}
    fastest = sweep.fastest
    rows = tuple(
        (
            format_bytes(size),
            *(
                rate_or_error(results.get((name, size))) + "*" * ((name, size) in fastest)
                for name in algorithms
            ),
        )
        for size in sweep.sizes
    )
    notes = [f"{sweep.label}; rates are per rank."]
    if fastest:
        notes.append("* marks the fastest and those it is not proven to beat (rank test, 5 %).")
    notes += beyond_notes(rows)
    if sweep.limit is not None:
        notes.append(f"The hosts' ports are full at {rate_words(sweep.limit)}.")
    return ResultTable(
        title=f"{sweep.measure}: {counted(sweep.ranks, 'rank')}, {sweep.ranks_per_host} per host",
        columns=("bytes", *algorithms),
        rows=rows,
        numeric=frozenset(("bytes", *algorithms)),
        note=" ".join(notes),
    )


def _barriers(sweep: Sweep) -> Iterator[ResultTable]:
    """What barriers between phases cost, apart."""
    costs = {
        (result.place.algorithm or "", result.place.bytes): cost
        for result in sweep.results
        if (cost := _barrier_cost(result))
    }
    heads = tuple(name for name in sweep.algorithms if any(name == key[0] for key in costs))
    if heads:
        yield ResultTable(
            title="Time in barriers, and its share of a sample",
            columns=("bytes", *heads),
            rows=tuple(
                (format_bytes(size), *(costs.get((name, size), "") for name in heads))
                for size in sweep.sizes
            ),
            numeric=frozenset(("bytes", *heads)),
        )


def _barrier_cost(result: Result) -> str:
    """Seconds and part of a sample."""
    parts = result.parts
    if parts is None or "barriers" not in parts.seconds:
        return ""
    return f"{format_seconds(parts.seconds['barriers'])}, {100 * parts.shares['barriers']:.0f} %"


def _collapses(every: Sequence[Sweep]) -> ResultTable:
    """Where rates collapse, how far, and what avoids it."""
    rows = tuple(
        (
            sweep.label,
            collapse.schedule,
            sizes_of(collapse),
            factor_words(collapse.factor),
            than_words(collapse),
            kinds_of_samples(collapse),
            avoided_words(collapse),
        )
        for sweep in every
        for collapse in sweep.collapses
    )
    heads = ("where", "schedule", "bytes", "times lower", "than", "samples", "avoided by")
    return ResultTable("Collapses", heads, rows, frozenset({"times lower"}), _remark(every, rows))


def _remark(every: Sequence[Sweep], rows: Sequence[object]) -> str:
    if not rows:
        return "None: rates rise with the size and level out."
    if any(sweep.one_host for sweep in every):
        return "Where all ranks share one host, it is the machine that gives way, not a network."
    return ""


_NOT = "not measured"


def side_by_side(plan: MeasuredPlan, table: Table, results: Sequence[Result]) -> ResultTable | None:
    """One of the plan's tables: ours for every library and condition, then everybody else's.

    None when nothing of it was measured; its published numbers alone say nothing.
    """
    members = [result for result in results if result.place.measure == table.measure]
    every = list(dict.fromkeys(result.series for result in members))
    known = plan.known(table.measure)
    rows = []
    for row in table.rows:
        places = [_place(table, row, column) for column in range(len(table.columns))]
        ours = [(series, [_ours(members, series, place) for place in places]) for series in every]
        measured = [(series, rates) for series, rates in ours if set(rates) != {_NOT}]
        if not measured:
            continue
        rows += [(row.label, series or "measured", *rates) for series, rates in measured]
        for source in dict.fromkeys(number.source for number in known):
            theirs = [_published(known, source, place) for place in places]
            if any(rate is not None for rate in theirs):
                printed = ("" if rate is None else rate_words(rate) for rate in theirs)
                rows.append((row.label, source, *printed))
    if not rows:
        return None
    return ResultTable(
        title=table.title,
        columns=(table.head, "", *table.columns),
        rows=tuple(rows),
        numeric=frozenset(table.columns),
        note=" ".join([_algorithms(table), *beyond_notes(rows)]),
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


def _place(table: Table, row: TableRow, column: int) -> GridPlace:
    return GridPlace(
        measure=table.measure,
        ranks=row.ranks,
        ranks_per_host=row.ranks_per_host,
        algorithm=row.algorithms[column],
        bytes=row.bytes,
    )


def _ours(members: Sequence[Result], series: str, place: GridPlace) -> str:
    for result in members:
        if result.series == series and place.beside(result.place):
            return rate_or_error(result)
    return _NOT


def _published(known: Sequence[Known], source: str, place: GridPlace) -> float | None:
    for number in known:
        if number.source == source and number.placed and number.beside(place):
            return number.rate_of(place.ranks)
    return None


def _algorithms(table: Table) -> str:
    """Which schedule each of the table's names stands for."""
    texts = []
    for number, name in enumerate(table.columns):
        used = list(dict.fromkeys(row.algorithms[number] for row in table.rows))
        texts.append(f"{name} is {' or '.join(used)}")
    return f"Rates are per process; here {', '.join(texts)}."


def rate_or_error(result: Result | None) -> str:
    """The rate of a result, or ERR with its cause."""
    if result is None:
        return ""
    if result.rate is None:
        if result.failure is None:
            return "ERR"
        return "–" if result.failure.cause == UNSUITED else f"ERR {result.failure.cause}"
    fast = result.summary is not None and result.summary.beyond_wire
    return rate_words(result.rate) + BEYOND * fast


def beyond_notes(rows: Sequence[Sequence[str]]) -> list[str]:
    """What `BEYOND` means, where a row has it."""
    marked = any(BEYOND in word for row in rows for word in row)
    return [f"{BEYOND} {BEYOND_WIRE_NOTE}"] if marked else []
