"""Routing: engines side by side, and better tables beside the present ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from contend.base.units import counted, listed, verb
from contend.congestion import GpuCollective, GpuCollectives, Simulation
from contend.cure import PRESENT, BetterTables, Engines, Gain, RoutedBy
from contend.cure.each_engine import BY_GROUPS, DETOURS, HASHED, IDEAL, SPRAY
from contend.fabric import Fabric
from contend.report.document import Document
from contend.report.page.explorable import explored, simulation_views
from contend.report.simulation.figures import simulation_comparison
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import UNKNOWN, percent, rate_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# So many engines are named that serve as well as the best.
_FEW = 3


def _engines_verdict(found: Engines) -> str:
    """Which engine is best for random pairs, and how the next and the present tables compare.

    Ethernet's switches have no tables: there what they can do leads.
    """
    routed = [one for one in found.engines if one.lanes is not None]
    ways, gpus = _several_ways(found), _of_gpus(found.engines)
    if not routed and not ways:
        if len(found.engines) == 1:
            return "The engine does not route this fabric."
        return f"None of the {counted(len(found.engines), 'engine')} routes this fabric."
    if not routed:
        tables = ""
    elif found.hashes and ways:
        best = routed[0]
        tables = (
            "Tables, which Ethernet switches do not have, would give "
            f"{percent(best.bandwidth)} ({best.engine})."
        )
        return " ".join(filter(None, (ways, tables, gpus)))
    else:
        tables = _best_tables(routed, beside=bool(ways))
    return " ".join(filter(None, (tables, ways, gpus)))


def _best_tables(routed: Sequence[RoutedBy], *, beside: bool) -> str:
    """The best tables; `beside` others that go several ways."""
    best = routed[0]
    alike = [one for one in routed[1:] if _overlap(one, best)]
    behind = [one for one in routed[1:] if not _overlap(one, best)]
    among = "Of all tables, " if beside else ""
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
    return f"{line}."


def _several_ways(found: Engines) -> str:
    """What adaptive switches and hashes make of it, where they were compared."""
    share = {one.engine: percent(one.bandwidth) for one in found.engines if one.bisect is not None}
    hashed = {pairs: share[engine] for pairs, engine in HASHED.items() if engine in share}
    # The best of each kind: of those that count cables between groups first, and others.
    best = {name: next(filter(_is_kind(name), share), None) for name in (SPRAY, *DETOURS)}
    words = []
    if (engine := best[SPRAY]) is not None:
        words.append(
            "adaptive switches that spread every packet over all shortest paths would give "
            f"{share[engine]}"
        )
    detours = [engine for name in DETOURS if (engine := best[name]) is not None]
    if IDEAL in share:
        where = " on shortest paths" if detours else ""
        bisect = next(one.bisect for one in found.engines if one.engine == IDEAL)
        bound = None if bisect is None else bisect.effective_bandwidth.at_most
        ideal = f"at most {share[IDEAL]}"
        if bound is not None:
            ideal = f"at least {share[IDEAL]}, at most {percent(bound)}"
        words.append(
            f"adaptive switches that make room for each other's messages{where} would give {ideal}"
        )
    if detours:
        kinds = {"valiant": "for all packets", "ugal": "by load"}
        gives = [
            f"{kinds[engine.removesuffix(BY_GROUPS)]} ({engine}) would give {share[engine]}"
            for engine in detours
        ]
        words.append(f"detours {listed(gives)}")
    if hashed:
        pairs = counted(max(hashed), "queue pair")
        numbers = listed(str(number) for number in hashed)
        of = pairs if len(hashed) == 1 else f"{numbers} queue pairs"
        hashes = f"hashing over {of} per connection gives {listed(hashed.values())}"
        words.insert(0 if found.hashes else len(words), hashes)
    line = "; ".join(words)
    return f"{line[:1].upper()}{line[1:]}." if line else ""


def _is_kind(name: str) -> Callable[[str], bool]:
    return lambda engine: engine.removesuffix(BY_GROUPS) == name


def _of_gpus(judged: Sequence[RoutedBy]) -> str:
    """What GPUs on rails get by the best tables, hashes, and adaptive switches."""
    known = {one.engine: one.gpu for one in judged if one.gpu is not None}
    tables = (one.engine for one in judged if one.engine in known and one.lanes is not None)
    asked = [next(tables, ""), *HASHED.values(), SPRAY, IDEAL]
    engines = [engine for engine in asked if engine in known]
    if not engines:
        return ""
    first = known[engines[0]]
    gets = [
        f"{_bus(_way(known[engine], _RINGS))} and {_bus(_way(known[engine], _WITHOUT_PXN))} by "
        f"{'the present tables' if engine == PRESENT else engine}"
        for engine in engines
    ]
    where = f"{counted(first.servers, 'server')} with {first.rails} adapters each"
    return f"GPUs in {where} get, in all-reduces and in all-to-alls without PXN, {listed(gets)}."


_RINGS, _WITHOUT_PXN, _WITH_PXN = "by rings", "without PXN", "with PXN"
_GPU_HEADS = {
    "all-reduce": _RINGS,
    "all-to-all": _WITHOUT_PXN,
    "all-to-all with PXN": _WITH_PXN,
}


def _bus_column(words: str) -> Number[RoutedBy]:
    return Number(lambda one: _bus(_way(one.gpu, words)))


_GPU_WORDS = (
    "of GPUs the bus bandwidth, servers by name, as contend predict collectives has it, or the "
    "share of what ports allow where rates are unknown; "
)


def _way(gpu: GpuCollectives | None, words: str) -> GpuCollective | None:
    """The first of the collectives that is called so; None where none is."""
    ways = () if gpu is None else gpu.collectives
    return next((way for way in ways if words in way.name), None)


def _bus(way: GpuCollective | None) -> str:
    """Its bus bandwidth, or the share of what ports allow where rates are not known."""
    if way is None:
        return UNKNOWN
    return percent(way.share) if way.bus_Bps is None else rate_words(way.bus_Bps)


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
    return f"and the routes are free of deadlock on {_lanes(one.lanes)}"


def _lanes(count: int | None) -> str:
    return "one lane" if count == 1 else f"{count} lanes"


def _engines_tables(found: Engines) -> list[ResultTable]:
    """Engines that route the fabric, the best first, and why the others do not."""
    routed = [one for one in found.engines if one.bisect is not None]
    if found.hashes:
        # First what Ethernet's switches can do.
        routed.sort(key=lambda one: one.lanes is not None)
    gpus = {
        f"GPUs: {head}": _bus_column(words)
        for head, words in _GPU_HEADS.items()
        if any(_way(one.gpu, words) for one in routed)
    }
    refusals = [one for one in found.engines if one.bisect is None]
    tables = []
    if routed:
        judgement = table_of(
            f"Engines for {_taking_part(found.fabric, routed[0])}{found.fabric.name}",
            routed,
            {
                "engine": "engine",
                "bisection bandwidth": "bandwidth",
                "worst shift": "worst_shift",
                "all-to-all, at most": "alltoall_bound",
                **gpus,
                "deadlock": _lock_words,
                "lanes": "lanes",
                "took": "seconds",
            },
            note="shares of a link's rate; bisection bandwidth is what random pairs get on "
            f"average; {_shift_words(routed)}{_GPU_WORDS * bool(gpus)}deadlock is judged by the "
            "tables alone: dfsssp, lash and nue assign lanes that no table records",
        )
        tables.append(judgement)
    if refusals:
        tables.append(table_of("Refusals", refusals, {"engine": "engine", "why": "refusal"}))
    return tables


def _lock_words(one: RoutedBy) -> str:
    if one.deadlock_free is None:
        return UNKNOWN
    return "free" if one.deadlock_free else "can lock up"


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
    return Document(
        verdict=_engines_verdict(found),
        tables=_engines_tables(found),
        record=found,
        pictures={"bandwidth": lambda: _engines_figure(fabric, judged)} if routed else {},
        explorable=lambda: explored(fabric, simulation_views(_simulated(judged))),
        shortfall="" if routed else f"{fabric.name}: no engine routes it",
    )


def _simulated(judged: Sequence[RoutedBy]) -> list[Simulation]:
    return [replace(one.bisect, engine=one.engine) for one in judged if one.bisect is not None]


def _engines_figure(fabric: Fabric, judged: Sequence[RoutedBy]) -> Figure:
    """Effective bisection bandwidth of every engine that routes the fabric."""
    simulations = _simulated(judged)
    rated = [simulations[0].rated_bisection] if simulations else []
    return simulation_comparison(simulations, rated=rated * len(simulations))


def _tables_verdict(better: BetterTables) -> str:
    """What the new tables are worth, in a sentence or two."""
    gain = better.gains[-1]
    line = f"With these tables {_gets(gain)}"
    if gain.points is not None:
        present = percent(gain.before)
        if abs(gain.points) < 0.05:
            line += f", as with the present ones ({present})"
        else:
            word = "more" if gain.points > 0 else "less"
            line += f", {abs(gain.points):.1f} points {word} than with the present ones ({present})"
    line += f". They are free of deadlock on {_lanes(better.lanes)}"
    if better.present_cycle:
        line += "; the present ones are not, on one lane"
    return f"{line}."


def _gets(gain: Gain) -> str:
    """What the pattern gets by the new tables."""
    share = percent(gain.after)
    if gain.each_host:
        return f"each host gets {share} of what its port allows in {gain.pattern}"
    what = "random pairs of hosts get" if gain.pattern == "bisect" else f"{gain.pattern} gets"
    return f"{what} {share} of a link's rate"


def _gains_table(better: BetterTables) -> ResultTable:
    """The gains, then what the tables took and need."""
    rows = [
        (
            "effective bisection bandwidth"
            if gain.pattern == "bisect"
            else f"{gain.pattern}, each host until its last message is done"
            if gain.each_host
            else gain.pattern,
            percent(gain.before),
            percent(gain.after),
            "" if gain.points is None else f"{gain.points:+.1f} points",
        )
        for gain in better.gains
    ]
    rows.append(("seconds to compute", "", f"{better.seconds:.2f}", ""))
    rows.append(("virtual lanes", "", str(better.lanes), ""))
    if better.changed is not None:
        share = 100 * better.changed / max(better.entries, 1)
        rows.append(("entries changed", "", f"{better.changed:,}", f"{share:.0f} % of them"))
    return ResultTable(
        title=f"Tables for {better.fabric.name}",
        columns=("what", "present", "new", ""),
        rows=tuple(rows),
        numeric=frozenset({"present", "new"}),
        note=f"{better.entries:,} entries for hosts; bandwidths are means of 1/π, of several "
        "messages at once shares of what ports allow",
    )


def better_tables_document(better: BetterTables) -> Document:
    """What the new tables are worth, and where they are."""
    return Document(
        verdict=_tables_verdict(better),
        tables=[_gains_table(better)],
        record=better,
        closing=(f"written to {better.file}",) if better.file else (),
    )
