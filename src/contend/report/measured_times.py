"""Wall clock times of a sort over the nodes, beside those that others published."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from contend.report.result_table import ResultTable
from contend.report.sort_groups import Group, groups
from contend.study import Coordinates, Known, MeasuredPlan, Result, time_limit
from contend.units import counted, parse_rate

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
            found = group.of(length, series)
            times = {n: r.median_s for n, r in found.items() if r.median_s is not None}
            rows.append(_row(length, series.label or "measured", nodes, found, _in(unit)))
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
    found: Mapping[int, _Cell],
    words: Callable[[_Cell], str],
) -> tuple[str, ...]:
    return length, who, *(words(found[count]) if count in found else "" for count in nodes)


def _medians(group: Group) -> list[float]:
    return [result.median_s for result in group.results if result.median_s is not None]


def _in(unit: _Unit) -> Callable[[Result], str]:
    """Results in a unit, with half their interval, or its ends where it is wide."""

    def words(result: Result) -> str:
        if result.median_s is None:
            return f"ERR {result.failure.cause}" if result.failure else "ERR"
        said = unit.of(result.median_s)
        if result.interval_s is None:
            return said
        low, high = result.interval_s
        half = 100 * (high - low) / 2 / result.median_s
        if half > _WIDE:
            return f"{said} ({unit.of(low)} to {unit.of(high)})"
        return f"{said} ±{half:.0f} %"

    return words


def _printed(known: Known) -> str:
    return "ERR" if known.seconds is None else f"{known.seconds:.2f}"


def _bounds(
    length: str, nodes: Sequence[int], times: dict[int, float], group: Group, wire: float | None
) -> list[tuple[str, ...]]:
    """How many times as long as the wire alone would take, where a wire is known."""
    if wire is None:
        return []
    found = {}
    for count, time in times.items():
        place = Coordinates("", nodes=count, numbers=group.numbers, doubles=length)
        if bound := time_limit(place, wire):
            found[count] = f"{time / bound:.2f} ×"
    return [_row(length, "  of the wire's time", nodes, found, str)] if found else []


def _note(rows: Sequence[tuple[str, ...]], group: Group) -> str:
    each = counted(group.ranks_per_node, "rank")
    said = [f"n = {group.numbers:,}, {each} a node; ± is half the median's 95 % interval."]
    if any(result.one_host for result in group.results):
        said.append(f"N is a number of groups of {each} on one host.")
    if any("of the wire" in row[1] for row in rows):
        said.append("The wire's time is that of the bytes that leave a node, at its port's rate.")
    return " ".join(said)


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
        title=f"{group.constant}: what surrounds the exchange, medians in {unit.name}",
        columns=("m", "N", "", *names),
        rows=rows,
        numeric=frozenset(("N", *names)),
    )


def _elsewhere(group: Group) -> Iterator[ResultTable]:
    """Times that others published for other vectors or ranks, a table for each of these."""
    made: dict[tuple[int | None, int | None], list[Known]] = {}
    for known in group.elsewhere:
        made.setdefault((known.numbers, known.ranks_per_node), []).append(known)
    for (numbers, each), members in made.items():
        nodes = sorted({known.nodes for known in members if known.nodes is not None})
        lines: dict[tuple[str, str], dict[int, Known]] = {}
        for known in members:
            line = lines.setdefault((known.doubles or "", known.source), {})
            line[known.nodes or 0] = known
        heads = tuple(f"N = {count}" for count in nodes)
        said = [
            "" if numbers is None else f"n = {numbers:,}",
            "" if each is None else f"{counted(each, 'rank')} a node",
        ]
        yield ResultTable(
            title=f"{group.constant}: published wall clock in s",
            columns=("m", "", *heads),
            rows=tuple(
                _row(length, source, nodes, found, _printed)
                for (length, source), found in lines.items()
            ),
            numeric=frozenset(heads),
            note=f"{', '.join(filter(None, said))}." if any(said) else "",
        )
