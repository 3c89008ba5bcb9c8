"""Results of sorts, grouped as tables and figures show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from contend.measurement import VectorLength
from contend.study import Known, MeasuredPlan, Result, Series

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
        found: dict[str, dict[int, Known]] = {}
        for known in self.known:
            if known.doubles == length and known.nodes is not None:
                found.setdefault(known.source, {})[known.nodes] = known
        return found

    def published_elsewhere(self) -> dict[tuple[str, str], dict[int, Known]]:
        """What others published for other vectors or ranks, by length and source."""
        found: dict[tuple[str, str], dict[int, Known]] = {}
        for known in self.elsewhere:
            if known.nodes is not None:
                line = found.setdefault((known.doubles or "", known.source), {})
                line[known.nodes] = known
        return found

    @property
    def sources(self) -> list[str]:
        """Everybody who published something, each once."""
        return list(dict.fromkeys(known.source for known in (*self.known, *self.elsewhere)))


def groups(plan: MeasuredPlan, results: Sequence[Result]) -> list[Group]:
    """Results of sorts, constant global memory first."""
    made: dict[tuple[bool, int, int], list[Result]] = {}
    for result in results:
        place = result.place
        if place.doubles is None or place.numbers is None or place.ranks_per_node is None:
            continue
        grows = VectorLength.parse(place.doubles).per_node
        made.setdefault((grows, place.numbers, place.ranks_per_node), []).append(result)
    return [_group(plan, key, made[key]) for key in sorted(made)]


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
