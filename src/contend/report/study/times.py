"""Wall clock times of a sort over the nodes as tables, beside published ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from contend.measurement import VectorLength
from contend.report.table import ResultTable
from contend.study import Coordinates, Known, MeasuredPlan, Result, Series, time_limit
from contend.units import counted, parse_rate

KINDS = {False: "global", True: "local"}
"""What is constant, by whether vectors grow with the nodes."""


@dataclass(frozen=True)
class Group:
    """Results that belong into one table or figure.

    Attributes:
        grows: whether the vectors grow with the nodes, and local memory is constant.
        numbers: vectors that are sorted.
        ranks_per_node: ranks on every node.
        results: of all lengths, series and nodes.
        known: what others published for the same lengths, n and ranks per node.
        elsewhere: what others published for other ones, while the same is constant.
    """

    grows: bool
    numbers: int
    ranks_per_node: int
    results: tuple[Result, ...]
    known: tuple[Known, ...]
    elsewhere: tuple[Known, ...]

    @property
    def constant(self) -> str:
        """What is constant."""
        return f"Constant {KINDS[self.grows]} memory"

    @property
    def nodes(self) -> list[int]:
        """All numbers of nodes that were asked for."""
        return sorted({result.place.nodes or 0 for result in self.results})

    @property
    def lengths(self) -> list[str]:
        """Vector lengths in the order of the plan."""
        return list(dict.fromkeys(result.place.doubles or "" for result in self.results))

    @property
    def series(self) -> list[Series]:
        """What tells lines of one length apart."""
        return list(dict.fromkeys(result.series for result in self.results))

    def of(self, length: str, series: Series) -> dict[int, Result]:
        """Results of one line by nodes."""
        return {
            result.place.nodes or 0: result
            for result in self.results
            if result.place.doubles == length and result.series == series
        }

    def published(self, length: str) -> dict[str, dict[int, Known]]:
        """What others published for a length, by source and nodes."""
        lines: dict[str, dict[int, Known]] = {}
        for known in self.known:
            if known.doubles == length and known.nodes is not None:
                lines.setdefault(known.source, {})[known.nodes] = known
        return lines

    def published_elsewhere(self) -> dict[tuple[str, str], dict[int, Known]]:
        """What others published for other vectors or ranks, by length and source."""
        lines: dict[tuple[str, str], dict[int, Known]] = {}
        for known in self.elsewhere:
            if known.nodes is not None:
                line = lines.setdefault((known.doubles or "", known.source), {})
                line[known.nodes] = known
        return lines

    @property
    def sources(self) -> list[str]:
        """Everybody who published something, each once."""
        return list(dict.fromkeys(known.source for known in (*self.known, *self.elsewhere)))


def groups(plan: MeasuredPlan, results: Sequence[Result]) -> list[Group]:
    """Results of sorts, constant global memory first."""
    members: dict[tuple[bool, int, int], list[Result]] = {}
    for result in results:
        place = result.place
        if place.doubles is None or place.numbers is None or place.ranks_per_node is None:
            continue
        grows = VectorLength.parse(place.doubles).per_node
        members.setdefault((grows, place.numbers, place.ranks_per_node), []).append(result)
    return [_group(plan, key, members[key]) for key in sorted(members)]


def _group(plan: MeasuredPlan, key: tuple[bool, int, int], members: Sequence[Result]) -> Group:
    places = {replace(result.place, nodes=None, ranks=None) for result in members}
    alike = [
        known
        for known in plan.known()
        if known.doubles is not None and VectorLength.parse(known.doubles).per_node == key[0]
    ]
    same = [
        known
        for known in alike
        if any(replace(known, nodes=None, ranks=None).beside(place) for place in places)
    ]
    others = tuple(known for known in alike if known not in same)
    return Group(*key, tuple(members), tuple(same), others)


_Cell = TypeVar("_Cell")

# Half an interval above this many per cent of the median says less than its ends.
_WIDE = 50


def time_tables(plan: MeasuredPlan, results: Sequence[Result]) -> Iterator[ResultTable]:
    """A table for constant global and constant local memory each, a column for each node count."""
    for group in groups(plan, results):
        yield _table(plan, group)
        yield from _steps(group)
        yield from _elsewhere(group)


@dataclass(frozen=True)
class _Unit:
    """What a table's times are in."""

    name: str
    seconds: float

    def of(self, time: float) -> str:
        """A time in three digits, whole above 100."""
        value = time / self.seconds
        return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}".rstrip(".")


_UNITS = (_Unit("s", 1.0), _Unit("ms", 1e-3), _Unit("µs", 1e-6))


def _unit_for(times: Iterable[float]) -> _Unit:
    """The unit in which the longest of some times is at least 1, or nearly."""
    longest = max(times, default=1.0)
    return next((unit for unit in _UNITS if longest >= 0.5 * unit.seconds), _UNITS[-1])


def _table(plan: MeasuredPlan, group: Group) -> ResultTable:
    nodes = group.nodes
    heads = tuple(f"N = {count}" for count in nodes)
    ranks = {result.place.nodes: result.place.ranks for result in group.results}
    unit = _Unit("s", 1.0) if group.known else _unit_for(_medians(group))
    rows = [("", "processes p", *(f"{ranks[count]:,}" for count in nodes))]
    wire = None if plan.wire is None else parse_rate(plan.wire)
    for length in group.lengths:
        for series in group.series:
            cells = group.of(length, series)
            times = {n: r.median_s for n, r in cells.items() if r.median_s is not None}
            rows.append(_row(length, series.label or "measured", nodes, cells, _in(unit)))
            rows += _bounds(length, nodes, times, group, wire)
        for source, known in group.published(length).items():
            rows.append(_row(length, source, nodes, known, _printed))
            times = {n: k.seconds for n, k in known.items() if k.seconds is not None}
            theirs = next((k.wire_Bps for k in known.values()), None)
            rows += _bounds(length, nodes, times, group, theirs)
    return ResultTable(
        title=f"{group.constant}: wall clock of the exchange in {unit.name}",
        columns=("m", "", *heads),
        rows=tuple(rows),
        numeric=frozenset(heads),
        note=_note(rows, group),
    )


def _row(
    length: str,
    who: str,
    nodes: Sequence[int],
    cells: Mapping[int, _Cell],
    words: Callable[[_Cell], str],
) -> tuple[str, ...]:
    return length, who, *(words(cells[count]) if count in cells else "" for count in nodes)


def _medians(group: Group) -> list[float]:
    return [result.median_s for result in group.results if result.median_s is not None]


def _in(unit: _Unit) -> Callable[[Result], str]:
    """Results in a unit, with half their interval, or its ends where it is wide."""

    def words(result: Result) -> str:
        if result.median_s is None:
            return f"ERR {result.failure.cause}" if result.failure else "ERR"
        median = unit.of(result.median_s)
        if result.interval_s is None:
            return median
        low, high = result.interval_s
        half = 100 * (high - low) / 2 / result.median_s
        if half > _WIDE:
            return f"{median} ({unit.of(low)} to {unit.of(high)})"
        return f"{median} ±{half:.0f} %"

    return words


def _printed(known: Known) -> str:
    return "ERR" if known.seconds is None else f"{known.seconds:.2f}"


def _bounds(
    length: str, nodes: Sequence[int], times: dict[int, float], group: Group, wire: float | None
) -> list[tuple[str, ...]]:
    """How many times as long as the wire alone would take, where a wire is known."""
    if wire is None:
        return []
    factors = {}
    for count, time in times.items():
        place = Coordinates("", nodes=count, numbers=group.numbers, doubles=length)
        if bound := time_limit(place, wire):
            factors[count] = f"{time / bound:.2f} ×"
    return [_row(length, "  of the wire's time", nodes, factors, str)] if factors else []


def _note(rows: Sequence[tuple[str, ...]], group: Group) -> str:
    each = counted(group.ranks_per_node, "rank")
    sentences = [f"n = {group.numbers:,}, {each} per node; ± is half the median's 95 % interval."]
    if any(result.one_host for result in group.results):
        sentences.append(f"N is the number of groups of {each} on one host.")
    if any("of the wire" in row[1] for row in rows):
        sentences.append(
            "The wire's time is what the bytes that leave a node take at its port's rate."
        )
    return " ".join(sentences)


def _steps(group: Group) -> Iterator[ResultTable]:
    """Medians of what surrounds the exchange, of the first launch, where the probe times it."""
    members = [result for result in group.results if result.points[0].steps_s]
    if not members:
        return
    names = list(members[0].points[0].steps_s)
    unit = _unit_for(time for result in members for time in result.points[0].steps_s.values())
    rows = tuple(
        (
            result.place.doubles or "",
            f"{result.place.nodes}",
            result.series.label,
            *(unit.of(steps[name]) if name in steps else "" for name in names),
        )
        for result in members
        for steps in [result.points[0].steps_s]
    )
    yield ResultTable(
        title=f"{group.constant}: steps around the exchange, medians in {unit.name}",
        columns=("m", "N", "", *names),
        rows=rows,
        numeric=frozenset(("N", *names)),
    )


def _elsewhere(group: Group) -> Iterator[ResultTable]:
    """Times that others published for other vectors or ranks, a table for each of these."""
    others: dict[tuple[int | None, int | None], list[Known]] = {}
    for known in group.elsewhere:
        others.setdefault((known.numbers, known.ranks_per_node), []).append(known)
    for (numbers, each), members in others.items():
        nodes = sorted({known.nodes for known in members if known.nodes is not None})
        lines: dict[tuple[str, str], dict[int, Known]] = {}
        for known in members:
            line = lines.setdefault((known.doubles or "", known.source), {})
            line[known.nodes or 0] = known
        heads = tuple(f"N = {count}" for count in nodes)
        conditions = [
            "" if numbers is None else f"n = {numbers:,}",
            "" if each is None else f"{counted(each, 'rank')} per node",
        ]
        yield ResultTable(
            title=f"{group.constant}: published wall clock in s",
            columns=("m", "", *heads),
            rows=tuple(
                _row(length, source, nodes, cells, _printed)
                for (length, source), cells in lines.items()
            ),
            numeric=frozenset(heads),
            note=f"{', '.join(filter(None, conditions))}." if any(conditions) else "",
        )
