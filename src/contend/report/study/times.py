"""Wall clock times of a sort over the hosts as tables, beside published ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from contend.base.units import counted, grouped
from contend.lab.measurement import VectorLength
from contend.lab.studies import GridPlace, Known, MeasuredPlan, Result
from contend.report.table import ResultTable

KINDS = {False: "global", True: "local"}
"""What is constant, by whether vectors grow with the hosts."""


@dataclass(frozen=True)
class TimeGroup:
    """Results that belong into one table or figure."""

    grows: bool
    """Whether the vectors grow with the hosts, and local memory is constant."""
    vectors: int
    """Vectors that are sorted."""
    ranks_per_host: int
    """Ranks on every host."""
    results: tuple[Result, ...]
    """Results of all lengths, series and hosts."""
    known: tuple[Known, ...]
    """What others published for the same lengths, vectors and ranks per host."""
    elsewhere: tuple[Known, ...]
    """What others published for other ones, while the same is constant."""

    @property
    def constant(self) -> str:
        """What is constant."""
        return f"Constant {KINDS[self.grows]} memory"

    @property
    def hosts(self) -> list[int]:
        """All numbers of hosts that were asked for."""
        return sorted({result.cell.hosts for result in self.results})

    @property
    def lengths(self) -> list[VectorLength]:
        """Vector lengths in the order of the plan."""
        lengths = (result.place.length for result in self.results)
        return list(dict.fromkeys(length for length in lengths if length is not None))

    @property
    def series(self) -> list[str]:
        """What tells lines of one length apart."""
        return list(dict.fromkeys(result.series for result in self.results))

    def of(self, length: VectorLength, series: str) -> dict[int, Result]:
        """Results of one line by hosts."""
        return {
            result.cell.hosts: result
            for result in self.results
            if result.place.length == length and result.series == series
        }

    def published(self, length: VectorLength) -> dict[str, dict[int, Known]]:
        """What others published for a length, by source and hosts."""
        lines = lines_of(self.known).items()
        return {source: line for (known, source), line in lines if known == str(length)}

    @property
    def sources(self) -> list[str]:
        """Everybody who published something, each once."""
        return list(dict.fromkeys(known.source for known in (*self.known, *self.elsewhere)))


def lines_of(known: Iterable[Known]) -> dict[tuple[str, str], dict[int, Known]]:
    """What others published by length and source, each by hosts."""
    lines: dict[tuple[str, str], dict[int, Known]] = {}
    for number in known:
        if number.hosts is not None:
            line = lines.setdefault((str(number.length or ""), number.source), {})
            line[number.hosts] = number
    return lines


def groups(plan: MeasuredPlan, results: Sequence[Result]) -> list[TimeGroup]:
    """Results of sorts, constant global memory first."""
    members: dict[tuple[bool, int, int], list[Result]] = {}
    for result in results:
        cell = result.cell
        if cell.length is not None and cell.vectors is not None:
            key = (cell.length.per_host, cell.vectors, cell.ranks_per_host)
            members.setdefault(key, []).append(result)
    return [_group(plan, key, members[key]) for key in sorted(members)]


def _group(plan: MeasuredPlan, key: tuple[bool, int, int], members: Sequence[Result]) -> TimeGroup:
    places = {replace(result.place, hosts=None, ranks=None) for result in members}
    alike = [
        known
        for known in plan.known()
        if known.length is not None and known.length.per_host == key[0]
    ]
    same = [
        known
        for known in alike
        if any(replace(known, hosts=None, ranks=None).beside(place) for place in places)
    ]
    others = tuple(known for known in alike if known not in same)
    return TimeGroup(*key, tuple(members), tuple(same), others)


_Cell = TypeVar("_Cell")

# Half an interval above this many per cent of the median says less than its ends.
_WIDE = 50


def time_tables(plan: MeasuredPlan, results: Sequence[Result]) -> Iterator[ResultTable]:
    """Tables for constant global and constant local memory, a column for each number of hosts."""
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


def _table(plan: MeasuredPlan, group: TimeGroup) -> ResultTable:
    hosts = group.hosts
    heads = tuple(f"N = {count}" for count in hosts)
    ranks = {result.cell.hosts: result.cell.ranks for result in group.results}
    medians = [result.median_s for result in group.results if result.median_s is not None]
    unit = _UNITS[0] if group.known else _unit_for(medians)
    rows = [("", "ranks p", *(f"{ranks[count]:,}" for count in hosts))]
    for length in group.lengths:
        for series in group.series:
            cells = group.of(length, series)
            times = {n: r.median_s for n, r in cells.items() if r.median_s is not None}
            rows.append(_row(length, series or "measured", hosts, cells, _in(unit)))
            rows += _bounds(length, hosts, times, group, plan.wire)
        for source, known in group.published(length).items():
            rows.append(_row(length, source, hosts, known, _printed))
            times = {n: k.seconds for n, k in known.items() if k.seconds is not None}
            theirs = next((k.wire_Bps for k in known.values()), None)
            rows += _bounds(length, hosts, times, group, theirs)
    return ResultTable(
        title=f"{group.constant}: wall clock of the exchange in {unit.name}",
        columns=("m", "", *heads),
        rows=tuple(rows),
        numeric=frozenset(heads),
        note=_note(rows, group),
    )


def _row(
    length: VectorLength | str,
    who: str,
    hosts: Sequence[int],
    cells: Mapping[int, _Cell],
    words: Callable[[_Cell], str],
) -> tuple[str, ...]:
    return str(length), who, *(words(cells[count]) if count in cells else "" for count in hosts)


def _in(unit: _Unit) -> Callable[[Result], str]:
    """Results in a unit, with half their interval, or its ends where it is wide."""

    def words(result: Result) -> str:
        if result.median_s is None:
            return f"ERR {result.failure.cause}" if result.failure else "ERR"
        median = unit.of(result.median_s)
        if result.ci95_s is None:
            return median
        low, high = result.ci95_s
        half = 100 * (high - low) / 2 / result.median_s
        if half > _WIDE:
            return f"{median} ({unit.of(low)} to {unit.of(high)})"
        return f"{median} ±{half:.0f} %"

    return words


def _printed(known: Known) -> str:
    return "ERR" if known.seconds is None else f"{known.seconds:.2f}"


def _bounds(
    length: VectorLength,
    hosts: Sequence[int],
    times: dict[int, float],
    group: TimeGroup,
    wire: float | None,
) -> list[tuple[str, ...]]:
    """How many times as long as the wire alone would take, where a wire is known."""
    if wire is None:
        return []
    factors = {}
    for count, time in times.items():
        place = GridPlace("", hosts=count, vectors=group.vectors, length=length)
        if bound := place.least_s(wire):
            factors[count] = f"{time / bound:.2f} ×"
    return [_row(length, "  of the wire's time", hosts, factors, str)] if factors else []


def _note(rows: Sequence[tuple[str, ...]], group: TimeGroup) -> str:
    each = counted(group.ranks_per_host, "rank")
    sentences = [f"n = {group.vectors:,}, {each} per host; ± is half the median's 95 % interval."]
    if any(result.answer.one_host for result in group.results):
        sentences.append(f"N is the number of groups of {each} on one host.")
    if any("of the wire" in row[1] for row in rows):
        sentences.append(
            "The wire's time is how long the bytes that leave a host take at its port's rate."
        )
    return " ".join(sentences)


def _steps(group: TimeGroup) -> Iterator[ResultTable]:
    """Medians of what surrounds the exchange, where the probe times it."""
    members = [(r, r.parts.seconds) for r in group.results if r.parts and r.parts.seconds]
    if not members:
        return
    names = list(members[0][1])
    unit = _unit_for(time for _, steps in members for time in steps.values())
    heads = tuple(name.replace("_", " ") for name in names)
    rows = tuple(
        (
            str(result.place.length),
            str(result.place.hosts),
            result.series,
            *(unit.of(steps[name]) if name in steps else "" for name in names),
        )
        for result, steps in members
    )
    yield ResultTable(
        title=f"{group.constant}: steps around the exchange, medians in {unit.name}",
        columns=("m", "N", "", *heads),
        rows=rows,
        numeric=frozenset(("N", *heads)),
    )


def _elsewhere(group: TimeGroup) -> Iterator[ResultTable]:
    """Times that others published for other vectors or ranks, a table for each of these."""
    others = grouped(group.elsewhere, lambda known: (known.vectors, known.ranks_per_host))
    for (vectors, each), members in others.items():
        lines = lines_of(members)
        hosts = sorted({count for line in lines.values() for count in line})
        heads = tuple(f"N = {count}" for count in hosts)
        conditions = [
            "" if vectors is None else f"n = {vectors:,}",
            "" if each is None else f"{counted(each, 'rank')} per host",
        ]
        yield ResultTable(
            title=f"{group.constant}: published wall clock in s",
            columns=("m", "", *heads),
            rows=tuple(
                _row(length, source, hosts, cells, _printed)
                for (length, source), cells in lines.items()
            ),
            numeric=frozenset(heads),
            note=f"{', '.join(filter(None, conditions))}." if any(conditions) else "",
        )
