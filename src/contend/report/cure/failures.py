"""What failures cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from contend.base.units import counted, verb
from contend.cure import FabricFailure, Failures
from contend.report.charts import Intervals, charted
from contend.report.document import Document
from contend.report.fabric.marks import Mark
from contend.report.fabric.network import fabric_figure
from contend.report.page.explorable import (
    Explorable,
    explored,
    failure_views,
    simulation_views,
)
from contend.report.series import Axis, BoundLine, Series, with_interval
from contend.report.style import COLOURS, DIAMOND, DOT
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import UNKNOWN, gets_words, hit_words, of_words, percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Rows of a table, and of the figure.
_ROWS = 10


def _verdict(found: Failures) -> str:
    """What cuts hosts off, what costs most bandwidth, and how much costs nothing."""
    cutting = [failure for failure in found.alone if failure.hosts]
    parts = []
    if len(found.alone) < found.possible:
        parts.append(
            f"Only {len(found.alone):,} of {found.possible:,} possible failures were tried: "
            "switches first, then cables drawn at random"
        )
    if cutting:
        worst = cutting[0]
        hosts = counted(worst.hosts, "host")
        parts.append(
            f"Only the failure of {_named(worst)} cuts hosts off: {hosts}"
            if len(cutting) == 1
            else f"{len(cutting):,} single failures cut hosts off; the worst, {_named(worst)}, "
            f"cuts off {hosts}"
        )
        if worst.servers:
            parts[-1] += f": {hit_words(worst.servers)}"
        if worst.still is not None:
            left = sum(one.servers for one in worst.servers if one.lost < one.rails)
            whose = "its" if left == 1 else "their"
            parts[-1] += (
                f" and still {verb(left, 'gets')} {percent(worst.still.after)} of {whose} ports' "
                f"rate instead of {percent(worst.still.before)}"
            )
    else:
        parts.append("No single failure cuts a host off")
    whole = _whole(found.alone)
    if whole and not _is_free(whole[0]):
        worst = whole[0]
        line = (
            f"Of the others, {_named(worst)} costs the most: {gets_words(found.pattern)} "
            f"{percent(worst.bandwidth)} of {_of(found)} instead of {percent(found.bandwidth)}"
        )
        if worst.rerouted is not None:
            line += (
                f", or {percent(worst.rerouted)} instead of {percent(found.rerouted)} if "
                f"{found.engine} reroutes"
            )
        alike = sum(failure.ties(worst) for failure in whole[1:])
        if alike:
            line += f"; {counted(alike, 'other')} {verb(alike, 'costs')} as much"
        parts.append(line)
    if cheapest := found.cheapest:
        alike = sum(one.ties(cheapest) for one in found.alone if one.kinds == ("switch",)) - 1
        costs = _cost(cheapest, found) + _instead(cheapest, found)
        if not cheapest.hosts and _is_free(cheapest):
            costs = f"it costs {_nothing(found)}"
        line = f"The switch that can go at least cost is {cheapest.parts}: {costs}"
        if alike:
            line += f"; {counted(alike, 'other')} {verb(alike, 'costs')} no more"
        parts.append(line)
    harmless = sum(map(_is_free, whole))
    parts.append(
        f"{harmless:,} of {len(found.alone):,} {verb(harmless, 'costs')} {_nothing(found)}"
        if harmless
        else f"None of {len(found.alone):,} is harmless"
    )
    if found.kept:
        ending = sum(failure.cut > 0 for failure in found.alone)
        parts.append(
            "Tables are as they were: switches leave dead ports out of their groups, and messages "
            "of which some path ends at a dead port get nothing until the subnet manager reroutes, "
            f"after {ending:,} of {len(found.alone):,} failures"
            if ending
            else "Tables are as they were: switches leave dead ports out of their groups"
        )
    return f"{'. '.join(parts)}."


def _of(found: Failures) -> str:
    return of_words(waits_for_last=found.waits_for_last)


def _is_free(failure: FabricFailure) -> bool:
    """Whether one that leaves all hosts costs nothing that can be measured."""
    return failure.change + failure.margin >= 0


def _nothing(found: Failures) -> str:
    return "nothing" if found.whole.exhaustive else "no measurable bandwidth"


def _whole(each: Sequence[FabricFailure]) -> list[FabricFailure]:
    """Failures that leave all hosts, the worst first."""
    return [failure for failure in each if not failure.hosts]


def _named(failure: FabricFailure) -> str:
    if len(failure.died) > 1:
        return failure.parts
    return f"{failure.kinds[0]} {failure.parts}"


def _tables(found: Failures) -> list[ResultTable]:
    """Failures that cut hosts off, those that cost most bandwidth, and pairs."""
    each = (
        ("Failures that cut hosts off", [one for one in found.alone if one.hosts]),
        ("Failures that cost most bandwidth", _whole(found.alone)),
        ("Two of the worst at once", list(found.pairs)),
        ("Switches that can go at least cost", _cheapest(found)),
    )
    return [_table(found, name, failures) for name, failures in each if failures]


def _cheapest(found: Failures) -> list[FabricFailure]:
    """Switches, those first that can be taken out of service at least cost."""
    switches = [one for one in found.alone if one.kinds == ("switch",)]
    return sorted(switches, key=lambda one: (one.hosts, -one.change, one.parts))


def _table(found: Failures, name: str, failures: Sequence[FabricFailure]) -> ResultTable:
    shown = failures[:_ROWS]
    place: dict[FabricFailure, int] = {}
    for number, failure in enumerate(shown, 1):
        worse = shown[number - 2] if number > 1 else None
        place[failure] = place[worse] if worse and failure.ties(worse) else number
    columns: dict[str, str | Callable[[FabricFailure], str] | Number[FabricFailure]] = {
        "place": Number(lambda failure: str(place[failure])),
        "failure": _named,
        "hosts cut off": "hosts",
        gets_words(found.pattern): "bandwidth",
        "change": Number(lambda failure: _points(failure.change, failure.margin)),
    }
    if found.mended:
        columns["entries changed"] = "changed"
    if found.kept:
        columns["messages cut off"] = "cut"
    if any(failure.rerouted is not None for failure in failures):
        columns["rerouted"] = "rerouted"
        columns["change then"] = Number(
            lambda failure: _points(failure.rerouted_change, failure.rerouted_margin)
        )
    if any(failure.servers for failure in failures):
        columns["servers"] = lambda failure: hit_words(failure.servers) or UNKNOWN
    note = f"{_how(found)}; before any failure {_intact(found)}"
    if left := len(failures) - len(shown):
        note += f"; {left:,} more are in the JSON"
    if any(failure.still for failure in failures):
        columns["they still get"] = Number(
            lambda failure: UNKNOWN if failure.still is None else percent(failure.still.after)
        )
        columns["before"] = Number(
            lambda failure: UNKNOWN if failure.still is None else percent(failure.still.before)
        )
        note += (
            "; they still get: the share of all their ports' rate that servers which lose some "
            "rails get, when random pairs of servers send within rails"
        )
    return table_of(f"{name}: {found.fabric.name}", shown, columns, note=note)


def _how(found: Failures) -> str:
    """How messages get past what died."""
    if found.kept:
        return "with the tables as they were, without dead ports"
    return "with mended tables" if found.mended else "over the shortest paths that are left"


def _points(change: float | None, margin: float | None) -> str:
    if change is None or margin is None:
        return UNKNOWN
    return f"{100 * change:+.2f}" + (f" ± {100 * margin:.2f}" if margin else "")


def _intact(found: Failures) -> str:
    """What the pattern gets while nothing is broken, by both kinds of tables."""
    some = found.hosts < found.fabric.hosts
    who, gets = gets_words(found.pattern).rsplit(maxsplit=1)
    whose = f" of {counted(found.hosts, 'host')}" if some else ""
    drawn = found.placement == "random" and (found.pattern == "bisect" or found.whole.exhaustive)
    placed = "" if drawn else f" with placement {found.placement}"
    words = f"{who}{whose}{placed} {gets} {percent(found.bandwidth)} of {_of(found)}"
    if found.rerouted is None and not found.mended and found.engine == found.whole.engine:
        return words
    if found.rerouted is None:
        return f"{words}; {found.engine} cannot route this fabric"
    return f"{words}, and {percent(found.rerouted)} with tables recomputed by {found.engine}"


def _figure(found: Failures) -> Figure:
    """What the worst failures cost: by mended tables, and where all routes are recomputed."""
    shown = (_whole(found.alone) or list(found.alone))[:_ROWS]
    series = [_changes(_how(found), [(one.change, one.margin) for one in shown], number=0)]
    if any(one.rerouted is not None for one in shown):
        anew = [(one.rerouted_change, one.rerouted_margin) for one in shown]
        series.append(_changes(f"tables recomputed by {found.engine}", anew, number=1))
    chart = Intervals(
        names=[_named(one) for one in shown],
        series=series,
        bounds=[BoundLine(0, across="x", look={"linewidth": 1, "linestyle": "-"})],
        x=Axis(f"change of what {gets_words(found.pattern)},\nin % of {_of(found)}"),
    )
    worst, whole = shown[0], percent(found.bandwidth)
    finding = f"{_named(worst)} costs most: {percent(worst.bandwidth)} instead of {whole}"
    return charted(finding, chart, height=1.5 + 0.2 * len(shown), legend=1)


def _changes(
    name: str, changes: Sequence[tuple[float | None, float | None]], number: int
) -> Series:
    """Changes with their margins, a little above or below the middle of each row."""
    change, margin = 100 * np.array(changes, dtype=float).T
    return Series(
        change,
        np.arange(len(changes)) + (0.14 if number else -0.14),
        low=change - margin,
        high=change + margin,
        name=with_interval(name, margin),
        colour=COLOURS[number],
        mark=DIAMOND if number else DOT,
    )


def _network(found: Failures) -> Figure:
    """The network, with the failures marked that cut most hosts off or cost most bandwidth."""
    marks = [
        Mark("failure", *failure.died[0], f"{_named(failure)}: {_cost(failure, found)}")
        for failure in _worst(found)
    ]
    return fabric_figure(
        found.fabric, finding=f"{found.fabric.name}: where failures cost most", marks=marks
    )


def _explored(found: Failures) -> Explorable | None:
    """The network with what every death costs, and its state after the worst of them."""
    worst = _worst(found)
    told = [f"Without {_named(one)}: {_cost(one, found)}{_instead(one, found)}" for one in worst]
    dead = failure_views(found.fabric, [one.died[0] for one in worst], told)
    costs = {one.died[0]: _cost(one, found) + _instead(one, found) for one in found.alone}
    now = simulation_views([replace(found.whole, fabric=found.fabric)])
    return explored(found.fabric, [*now, *dead], costs=costs)


def _worst(found: Failures) -> list[FabricFailure]:
    """Those that cut most hosts off, then those that cost most bandwidth."""
    cutting = [failure for failure in found.alone if failure.hosts][: _ROWS // 2]
    return [*cutting, *_whole(found.alone)[: _ROWS - len(cutting)]]


def _cost(failure: FabricFailure, found: Failures) -> str:
    if failure.servers:
        return hit_words(failure.servers)
    if failure.hosts:
        return f"cuts {counted(failure.hosts, 'host')} off"
    return f"{gets_words(found.pattern)} {percent(failure.bandwidth)}"


def _instead(failure: FabricFailure, found: Failures) -> str:
    """What the pattern gets as long as nothing has failed, beside what it gets after a failure."""
    cuts = failure.servers or failure.hosts
    return "" if cuts else f" instead of {percent(found.bandwidth)}"


def failures_document(found: Failures) -> Document:
    """What failures cost: the worst of them, each alone, and two at once."""
    return Document(
        verdict=_verdict(found),
        tables=_tables(found),
        record=found,
        pictures={
            "cost": lambda: _figure(found),
            "network": lambda: _network(found),
        },
        explorable=lambda: _explored(found),
    )
