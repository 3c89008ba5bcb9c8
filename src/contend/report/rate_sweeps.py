"""Rates against message size, grouped as tables and figures show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contend.runs import Collapse, Contest, collapses, contests
from contend.study import Coordinates, MeasuredPlan, Result, Series, rate_limit
from contend.units import parse_rate


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
        wire: bytes per second of a node's port; None where it is not known.
    """

    measure: str
    nodes: int
    ranks: int
    ranks_per_node: int
    series: Series
    results: tuple[Result, ...]
    wire: float | None

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
        return ", ".join(filter(None, (self.results[0].seats, self.series.label)))

    @property
    def one_host(self) -> bool:
        """Whether nodes were groups of ranks on one host, so that no network was measured."""
        return any(result.one_host for result in self.results)

    @property
    def fastest(self) -> set[tuple[str, int | None]]:
        """Schedule and size of every winner, and of those that it is not proven to beat."""
        return {
            (one.record.algorithm, one.record.bytes)
            for contest in self.contests
            for one in (contest.winner, *(rival.cell for rival in contest.level))
        }

    def of(self, algorithm: str) -> list[Result]:
        """Results of one algorithm by size."""
        members = [r for r in self.results if (r.place.algorithm or "") == algorithm]
        return sorted(members, key=lambda result: result.place.bytes or 0)

    @property
    def limit(self) -> float | None:
        """Bytes per second and rank at which the nodes' ports are full."""
        if self.wire is None:
            return None
        place = Coordinates(
            self.measure, nodes=self.nodes, ranks=self.ranks, ranks_per_node=self.ranks_per_node
        )
        return rate_limit(place, self.wire)

    @property
    def collapses(self) -> tuple[Collapse, ...]:
        """Where rates collapse; see `contend.runs.collapses`."""
        return collapses(r.summary for r in self.results if r.summary is not None)

    @property
    def contests(self) -> tuple[Contest, ...]:
        """Which schedule wins at every size; see `contend.runs.contests`."""
        return contests(r.summary for r in self.results if r.summary is not None)


def sweeps(plan: MeasuredPlan, results: Sequence[Result]) -> list[Sweep]:
    """Results that have message sizes, by place and series in the order of the study.

    What a port carries is what the plan says or, where nodes are hosts, the highest rate of the
    study's own ping-pong under the same library and conditions.
    """
    made: dict[tuple[str, int, int, int, Series], list[Result]] = {}
    for result in results:
        place = result.place
        if place.bytes is not None:
            nodes, ranks, each = place.nodes or 1, place.ranks or 1, place.ranks_per_node or 1
            key = (place.measure, nodes, ranks, each, result.series)
            made.setdefault(key, []).append(result)
    said = None if plan.wire is None else parse_rate(plan.wire)
    return [
        Sweep(*key, tuple(members), said or _ping_pong(plan, results, key[-1]))
        for key, members in made.items()
    ]


def _ping_pong(plan: MeasuredPlan, results: Sequence[Result], series: Series) -> float | None:
    probes = {measure.name: measure.probe for measure in plan.measures}
    rates = [
        result.rate
        for result in results
        if probes.get(result.place.measure) == "pingpong"
        and result.series == series
        and (result.place.nodes or 1) > 1
        and result.rate is not None
        and not result.one_host
    ]
    return max(rates, default=None)
