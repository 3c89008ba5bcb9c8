"""Wall clock times of a sort over the nodes, beside those that others published."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from contend.measurement.sort_memory import VectorLength
from contend.report.result_table import ResultTable
from contend.study.measured.plan import MeasuredPlan
from contend.study.measured.reference import Coordinates, Known
from contend.study.measured.results import Result, Series
from contend.study.measured.sizes import read_rate
from contend.study.measured.wire import time_limit
from contend.units import counted

_Cell = TypeVar("_Cell")

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
    """

    grows: bool
    numbers: int
    ranks_per_node: int
    results: tuple[Result, ...]
    known: tuple[Known, ...]

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
        found: dict[str, dict[int, Known]] = {}
        for known in self.known:
            if known.doubles == length and known.nodes is not None:
                found.setdefault(known.source, {})[known.nodes] = known
        return found


def groups(plan: MeasuredPlan, results: Sequence[Result]) -> list[Group]:
    """Results of sorts, constant global memory first."""
    made: dict[tuple[bool, int, int], list[Result]] = {}
    for result in results:
        place = result.place
        if place.doubles is None or place.numbers is None or place.ranks_per_node is None:
            continue
        grows = VectorLength.parse(place.doubles).per_node
        made.setdefault((grows, place.numbers, place.ranks_per_node), []).append(result)
    return [Group(*key, tuple(made[key]), _known_for(plan, made[key])) for key in sorted(made)]


def time_tables(plan: MeasuredPlan, results: Sequence[Result]) -> Iterator[ResultTable]:
    """A table for constant global and constant local memory each, a column for each node count."""
    for group in groups(plan, results):
        yield _table(plan, group)
        yield from _steps(group)


def seconds(value: float) -> str:
    """Seconds as numbers of three digits, whole ones above 100: ``0.0123``, ``171``."""
    return f"{value:.0f}" if value >= 100 else f"{value:#.3g}".rstrip(".")


def _known_for(plan: MeasuredPlan, members: Sequence[Result]) -> tuple[Known, ...]:
    """What is known of the lengths, n and ranks per node of these results, on any nodes."""
    places = {replace(result.place, nodes=None, ranks=None) for result in members}
    return tuple(
        known
        for known in plan.known()
        if any(replace(known, nodes=None, ranks=None).beside(place) for place in places)
    )


def _table(plan: MeasuredPlan, group: Group) -> ResultTable:
    nodes = group.nodes
    heads = tuple(f"N = {count}" for count in nodes)
    ranks = {result.place.nodes: result.place.ranks for result in group.results}
    rows = [("", "processes p", *(f"{ranks[count]:,}" for count in nodes))]
    wire = None if plan.wire is None else read_rate(plan.wire)
    for length in group.lengths:
        for series in group.series:
            found = group.of(length, series)
            times = {n: r.median_s for n, r in found.items() if r.median_s is not None}
            rows.append(_row(length, series.label or "measured", nodes, found, _measured))
            rows += _bounds(length, nodes, times, group, wire)
        for source, known in group.published(length).items():
            rows.append(_row(length, source, nodes, known, _printed))
            times = {n: k.seconds for n, k in known.items() if k.seconds is not None}
            theirs = next((k.wire_Bps for k in known.values()), None)
            rows += _bounds(length, nodes, times, group, theirs)
    return ResultTable(
        title=f"{group.constant}: wall clock of the data exchange in seconds, "
        f"n = {group.numbers:,}, {counted(group.ranks_per_node, 'process')} a node",
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


def _measured(result: Result) -> str:
    failure = result.failure
    if result.median_s is None:
        return f"ERR {failure.cause}" if failure else "ERR"
    low, high = result.low_s or result.median_s, result.high_s or result.median_s
    half = 100 * (high - low) / 2 / result.median_s
    return f"{seconds(result.median_s)} ±{half:.0f} %"


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
    said = ["± is half the median's 95 % interval."]
    seats = list(dict.fromkeys(result.seats for result in group.results))
    if any("on one host" in words for words in seats):
        said.append(
            f"N is a number of groups of {counted(group.ranks_per_node, 'rank')} on one host."
        )
    if any("of the wire" in row[1] for row in rows):
        said.append("The wire's time is that of the bytes that leave a node, at its port's rate.")
    return " ".join(said)


def _steps(group: Group) -> Iterator[ResultTable]:
    """Medians of the four steps, of the first launch, where the probe times them."""
    rows = []
    names: list[str] = []
    for result in group.results:
        steps = result.points[0].steps_s
        if steps:
            names = names or list(steps)
            rows.append(
                (
                    result.place.doubles or "",
                    f"{result.place.nodes}",
                    result.series.label,
                    *(seconds(steps[name]) if name in steps else "" for name in names),
                )
            )
    if rows:
        yield ResultTable(
            title=f"{group.constant}: medians of the steps in seconds",
            columns=("m", "N", "", *names),
            rows=tuple(rows),
            numeric=frozenset(("N", *names)),
        )
