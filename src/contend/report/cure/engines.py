"""Routing engines side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import msgspec

# What draws is imported when somebody looks.
from contend import report
from contend.congestion import Simulation
from contend.cure import PRESENT, Engines, RoutedBy
from contend.cure.each_engine import HASHED, IDEAL, SPRAY
from contend.fabric import Fabric, FabricSize, size_of
from contend.report.document import Document, filled
from contend.report.table import ResultTable
from contend.report.words import UNKNOWN, percent
from contend.units import counted, format_seconds, listed, verb

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# So many engines are named that serve as well as the best.
_FEW = 3
_LOCKS = {True: "free", False: "can lock up"}


def engines_verdict(judged: Sequence[RoutedBy]) -> str:
    """Which engine is best for random pairs, and how the next and the present tables compare."""
    routed = [one for one in judged if one.lanes is not None]
    ways = _several_ways(judged)
    if not routed and ways:
        return ways
    if not routed:
        if len(judged) == 1:
            return "The engine does not route this fabric."
        return f"None of the {counted(len(judged), 'engine')} routes this fabric."
    best = routed[0]
    alike = [one for one in routed[1:] if _overlap(one, best)]
    behind = [one for one in routed[1:] if not _overlap(one, best)]
    among = "Of all tables, " if ways else ""
    who = f"{among}{_named(best)}" if among or best.engine != PRESENT else "The present tables"
    line = (
        f"{who} {verb(1 + (best.engine == PRESENT), 'is')} best for random pairs: they get "
        f"{percent(best.bandwidth)} of a link's rate, {_deadlock(best)}"
    )
    if alike:
        line += f"; {_others(alike)} no worse"
    if behind:
        line += f"; next best: {_named(behind[0])} with {percent(behind[0].bandwidth)}"
    for one in behind[1:]:
        if one.engine == PRESENT:
            line += f"; {_named(one)}: {percent(one.bandwidth)}"
    return f"{line}. {ways}".rstrip()


def _several_ways(judged: Sequence[RoutedBy]) -> str:
    """What adaptive switches and hashes make of it, where they were compared."""
    share = {one.engine: percent(one.bandwidth) for one in judged if one.bisect is not None}
    hashed = {pairs: share[engine] for pairs, engine in HASHED.items() if engine in share}
    words = []
    if SPRAY in share:
        words.append(
            "adaptive switches that spread every packet over all shortest paths would give "
            f"{share[SPRAY]}"
        )
    if IDEAL in share:
        words.append(
            "adaptive switches that make room for each other's messages would give at most "
            f"{share[IDEAL]}"
        )
    if hashed:
        pairs = counted(max(hashed), "queue pair")
        numbers = listed(str(number) for number in hashed)
        of = pairs if len(hashed) == 1 else f"{numbers} queue pairs"
        words.append(f"hashing over {of} per connection gives {listed(hashed.values())}")
    line = "; ".join(words)
    return f"{line[:1].upper()}{line[1:]}." if line else ""


def _overlap(one: RoutedBy, other: RoutedBy) -> bool:
    """Whether the intervals of what random pairs get overlap."""
    if one.ci95 is None or other.ci95 is None:
        return False
    (low, high), (least, most) = one.ci95, other.ci95
    return low <= most and least <= high


def _others(alike: Sequence[RoutedBy]) -> str:
    if len(alike) > _FEW:
        return f"{len(alike)} others are"
    return f"{listed(map(_named, alike))} {verb(len(alike), 'is')}"


def _named(one: RoutedBy) -> str:
    return "the present tables" if one.engine == PRESENT else one.engine


def _deadlock(one: RoutedBy) -> str:
    if not one.deadlock_free:
        return "but the routes can lock up on one lane"
    lanes = "one lane" if one.lanes == 1 else f"{one.lanes} lanes"
    return f"and the routes are free of deadlock on {lanes}"


def engines_tables(fabric: Fabric, judged: Sequence[RoutedBy]) -> list[ResultTable]:
    """Engines that route the fabric, the best first, and why the others do not."""
    routed = [one for one in judged if one.bisect is not None]
    refusals = [one for one in judged if one.bisect is None]
    tables = []
    if routed:
        bandwidth, worst, all_to_all = "bisection bandwidth", "worst shift", "all-to-all, at most"
        rows = [
            (
                one.engine,
                percent(one.bandwidth),
                percent(one.worst_shift),
                percent(one.alltoall_bound),
                UNKNOWN if one.deadlock_free is None else _LOCKS[one.deadlock_free],
                UNKNOWN if one.lanes is None else str(one.lanes),
                UNKNOWN if one.seconds is None else format_seconds(one.seconds),
            )
            for one in routed
        ]
        tables.append(
            ResultTable(
                title=f"Engines for {_taking_part(fabric, routed[0])}{fabric.name}",
                columns=("engine", bandwidth, worst, all_to_all, "deadlock", "lanes", "took"),
                rows=tuple(rows),
                numeric=frozenset({bandwidth, worst, all_to_all, "lanes", "took"}),
                note="shares of a link's rate; bisection bandwidth is what random pairs get on "
                f"average; {_shift_words(routed)}deadlock is judged by the tables alone: "
                "dfsssp, lash and nue assign lanes that no table records",
            )
        )
    if refusals:
        tables.append(
            ResultTable(
                title="Refusals",
                columns=("engine", "why"),
                rows=tuple((one.engine, one.refusal or "") for one in refusals),
            )
        )
    return tables


def _taking_part(fabric: Fabric, one: RoutedBy) -> str:
    """``16 hosts of`` where not all take part; "" for all."""
    ranks = fabric.hosts if one.bisect is None else one.bisect.ranks
    return "" if ranks == fabric.hosts else f"{counted(ranks, 'host')} of "


def _shift_words(routed: Sequence[RoutedBy]) -> str:
    words = ""
    if any(one.shifts is not None and one.shifts.heat_unit for one in routed):
        words = "worst shift counts all links alike, though their rates differ; "
    if any(one.shifts is None for one in routed):
        words += "shifts and all-to-all are left out where they would take long to count; "
    return words


def engines_document(found: Engines) -> Document:
    """Engines by what random pairs get, with the present tables."""
    fabric, judged = found.fabric, found.engines
    routed = any(one.bisect is not None for one in judged)
    verdict = engines_verdict(judged)
    return Document(
        tables=engines_tables(fabric, judged),
        record=filled(EnginesJson, found, fabric=size_of(fabric), verdict=verdict),
        pictures={"bandwidth": lambda: engines_figure(fabric, judged)} if routed else {},
        explorable=lambda: report.explored(fabric, report.simulation_views(_simulated(judged))),
        shortfall="" if routed else f"{fabric.name}: no engine routes it",
    )


def _simulated(judged: Sequence[RoutedBy]) -> list[Simulation]:
    return [replace(one.bisect, engine=one.engine) for one in judged if one.bisect is not None]


def engines_figure(fabric: Fabric, judged: Sequence[RoutedBy]) -> Figure:
    """Effective bisection bandwidth of every engine that routes the fabric."""
    simulations = _simulated(judged)
    rated = [simulations[0].rated_bisection] if simulations else []
    return report.simulation_comparison(simulations, rated=rated * len(simulations))


class EngineJson(msgspec.Struct, frozen=True, kw_only=True):
    """How an engine routes a fabric; bandwidths are shares of a link's rate."""

    engine: Annotated[str, 'with its options; "present" for the tables that the fabric came with.']
    refusal: Annotated[str | None, "why it does not route the fabric; null where it does."]
    bandwidth: Annotated[
        float | None, "what random pairs get on average; null, as what follows, where it refuses."
    ]
    ci95: Annotated[tuple[float, float] | None, "both ends of its 95 % interval."]
    worst_shift: Annotated[
        float | None,
        "what hosts get on average in the worst shift, all links counted alike; null also where "
        "shifts would take long to count.",
    ]
    alltoall_bound: Annotated[
        float | None,
        "what an all-to-all gets at most: the time of the slowest port over that of the "
        "hottest channel; null likewise.",
    ]
    deadlock_free: Annotated[
        bool | None,
        "whether on none of `lanes` channels wait for each other in a circle; null where there are "
        "no tables.",
    ]
    lanes: Annotated[
        int | None, "virtual lanes that the tables say they use; null where there are none."
    ]
    seconds: Annotated[float | None, "that computing the tables took; null for present ones."]


class EnginesJson(msgspec.Struct, frozen=True, kw_only=True):
    """Engines side by side."""

    fabric: Annotated[FabricSize, "that they route."]
    verdict: Annotated[str, "one-sentence verdict."]
    engines: Annotated[list[EngineJson], "the best first, those that refuse last."]
