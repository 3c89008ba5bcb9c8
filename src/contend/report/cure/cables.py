"""More cables: those to add, and those of a larger fabric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from contend.base.units import counted, listed, verb
from contend.congestion import EACH_HOST, Simulation
from contend.cure import (
    ROUNDING,
    Addition,
    CollectiveGain,
    Growth,
    Improvement,
    NewCable,
    gain_over,
)
from contend.report.charts import Curves, charted
from contend.report.document import Document
from contend.report.fabric.marks import Mark
from contend.report.fabric.network import fabric_figure
from contend.report.page.explorable import explored
from contend.report.series import Axis, BoundLine, Series, Unit, with_interval
from contend.report.style import DOT, FAINT
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import first_clause, gets_words, of_words, percent, rate_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Missing cables that a verdict names.
_NAMED = 4
# What other tables gain or lose at least to be told.
_TABLES_TELL = 0.001


def _verdict(found: Improvement) -> str:
    """What the cables gain together and which are missing, or that no cable helps."""
    before, after = _share(found.before), _share(found.after)
    if not found.additions:
        line = _nothing(found)
    elif found.gain <= max(found.margin, ROUNDING):
        little = f"too little for {found.samples:,} samples to show" if found.margin else "nothing"
        line = (
            f"No cable helps: {counted(found.cables, 'cable')} would gain "
            f"{_points(found.gain, found.margin)} points, {little}; "
            f"{_who(found)} {before} of {_of(found)}"
        )
    else:
        line = (
            f"{_let(found)} {after} of {_of(found)} instead of {before} "
            f"({_points(found.gain, found.margin)} points)"
        )
        first = found.additions[0]
        if not first.missing and found.cables > 1:
            line += f"; {_named(first)}: {_points(first.gain, first.margin)}"
    if missing := _missing(found):
        line += f"; {missing}"
    if found.additions and found.cables < found.asked:
        line += f"; {_rest(found)}"
    return f"{line}{_other_tables(found)}."


def _let(found: Improvement) -> str:
    lets = verb(found.cables, "lets")
    return f"{counted(found.cables, 'cable')} {lets} {_who(found, infinitive=True)}"


def _missing(found: Improvement) -> str:
    """Which cables of all similar pairs are missing."""
    ends = [
        " - ".join(cable.ends)
        for addition in found.additions
        if addition.missing
        for cable in addition.cables
    ]
    if not ends:
        return ""
    named = ", ".join(ends[:_NAMED])
    further = f" and {len(ends) - _NAMED:,} more" if len(ends) > _NAMED else ""
    of_all = f"{len(ends):,} of {found.missing:,}" if found.missing > len(ends) else "the"
    are = "cable is" if found.missing == 1 else "cables are"
    which = "" if found.missing == len(ends) else " that are missing"
    if which:
        these = "this is" if len(ends) == 1 else "these are"
        return f"{these} {of_all} cables{which}, which similar switches have: {named}{further}"
    return f"{'this' if len(ends) == 1 else 'these'} {are} missing: {named}{further}"


def _rest(found: Improvement) -> str:
    """Why fewer cables are added than were asked for."""
    cables = found.asked - found.cables
    if found.free_ports - found.host_places - 2 * found.cables < 2:
        return f"no ports are left for {cables} more"
    if found.missing > found.asked:
        return f"{cables} more of these {verb(cables, 'gains')} nothing alone"
    return "one more gains nothing" if cables == 1 else f"{cables} more gain nothing"


def _nothing(found: Improvement) -> str:
    gets = f"{_who(found)} {_share(found.before)} of {_of(found)}"
    if found.free_ports - found.host_places < 2:
        beside = f" beside {counted(found.host_places, 'place')} of hosts" * bool(found.host_places)
        return f"No cable helps: no two ports are free{beside}; {gets}"
    if found.joinable == 0 and found.tried == 0:
        free = found.free_ports - found.host_places
        return (
            f"No cable helps: none between two of the {free:,} free ports follows the fabric's own "
            f"rule and relieves a route; {gets}"
        )
    tried = f"none of the {found.tried:,} kinds of cables tried gains anything measurable"
    if found.tried == 1:
        tried = "the one kind of cables tried gains nothing measurable"
    if found.missing > found.asked:
        tried += f", and the {found.missing:,} cables that are missing may gain only together"
    line = f"No cable helps: {tried}; {gets}"
    return line if found.bound is None else f"{line}, and cuts allow at most {percent(found.bound)}"


def _other_tables(found: Improvement) -> str:
    """What other tables alone gain, where that is more than cables do, or what they lose."""
    if found.present is None:
        return ""
    if found.present - found.before > _TABLES_TELL:
        than = "more than these routes with" if found.present > found.after else "without"
        return f"; the tables in use give {_share(found.present)}, {than} new cables"
    if found.before - found.present <= max(found.gain, _TABLES_TELL):
        return ""
    return (
        f"; {_routes_of(found.simulation_before)} gain more, without any new cable: the tables in "
        f"use give {_share(found.present)}"
    )


def _routes_of(simulation: Simulation) -> str:
    """Whose routes they are, and what they were made for."""
    return f"routes by {simulation.engine}"


def _who(found: Improvement, *, infinitive: bool = False) -> str:
    """Whom the figures are of: ``random pairs get``, ``shift:3 gets``."""
    if found.collectives:
        return "all-to-alls of GPUs within rails get"
    return gets_words(found.pattern, infinitive=infinitive)


def _of(found: Improvement) -> str:
    """What the figures are shares of."""
    return of_words(waits_for_last=found.simulation_before.judged == EACH_HOST)


def _share(bandwidth: float | None) -> str:
    return percent(bandwidth, 2)


def _named(addition: Addition) -> str:
    if len(addition.cables) > 1:
        return f"the first {len(addition.cables)}, which belong together"
    return f"the first, {' - '.join(addition.cables[0].ends)}"


def _points(gain: float, margin: float) -> str:
    """A gain in points and half of its interval, with the digits that tell them apart."""
    digits = 2 if margin >= 5e-4 or abs(gain) >= 0.1 else 3
    spread = f" ± {100 * margin:.{digits}f}" if margin else ""
    return f"{100 * gain:+.{digits}f}{spread}"


def _tables(found: Improvement) -> list[ResultTable]:
    """The cables in the order in which they gain most, and what the pattern gets."""
    tables = [_cables_table(found)] if found.additions else []
    tables.append(_bandwidth_table(found))
    if found.collectives:
        with_cables = f"with {counted(found.cables, 'cable')}"
        tables.append(collectives_table(found.collectives, with_cables))
    return tables


def _cables_table(found: Improvement) -> ResultTable:
    """A row for each cable; of those that gain together the last tells what they gain."""
    rows = [
        (cable, addition if cable is addition.cables[-1] else None, addition.missing)
        for addition in found.additions
        for cable in addition.cables
    ]
    number = {cable: str(number) for number, (cable, _, _) in enumerate(rows, 1)}
    tables = {"anew": "recomputed", "kept": "few entries changed"}

    def of_last(
        words: Callable[[Addition], str],
    ) -> Number[tuple[NewCable, Addition | None, bool]]:
        return Number(lambda row: "" if row[1] is None else words(row[1]))

    notes = []
    if any(addition.margin for addition in found.additions):
        notes.append(
            f"± half of the 95 % interval of the same {found.samples:,} samples before and after"
        )
    if not all(addition.missing for addition in found.additions):
        notes.append("ties: other kinds of cables that the patterns could not distinguish from it")
    return table_of(
        f"Cables for {found.simulation_before.fabric.name}",
        rows,
        {
            "cable": Number(lambda row: number[row[0]]),
            "from": lambda row: row[0].ends[0],
            "to": lambda row: row[0].ends[1],
            "missing": lambda row: "yes" if row[2] else "",
            "gain in points": Number(
                lambda row: (
                    "with the next" if row[1] is None else _points(row[1].gain, row[1].margin)
                )
            ),
            "for each": of_last(lambda addition: _points(addition.gain_of_each, 0)),
            "then": of_last(lambda addition: _share(addition.bandwidth)),
            "ties": of_last(lambda each: "" if each.missing else str(each.as_good)),
            "tables": lambda row: "" if row[1] is None else tables[row[1].tables],
        },
        note="; ".join(notes),
    )


def _bandwidth_table(found: Improvement) -> ResultTable:
    states = []
    if found.simulation_present is not None:
        states.append(("tables in use", found.simulation_present))
    states.append((_routes_of(found.simulation_before), found.simulation_before))
    if found.additions:
        cables = counted(found.cables, "cable")
        after = found.simulation_after
        states.append((f"{_routes_of(after)}, with {cables}", after))
    notes = [
        f"{counted(found.free_ports, 'free port')}, {counted(found.tried, 'kind')} of cables tried"
    ]
    if found.host_places:
        where = "where similar switches have hosts, which new cables leave free"
        notes[0] = f"{counted(found.host_places, 'free port')} {where}; {notes[0]}"
    if found.simulation_before.judged == EACH_HOST:
        notes.insert(0, "what each host gets until its last message is done")
    if found.bound is not None:
        notes.append(f"without new cables, cuts allow at most {percent(found.bound, 2)}")
    return table_of(
        f"What {_who(found)}",
        states,
        {
            "by": lambda state: state[0],
            f"of {_of(found)}": Number(lambda state: _share(state[1].judged_share)),
            "rate": Number(lambda state: rate_words(state[1].judged_Bps)),
        },
        note="; ".join(notes),
    )


def collectives_table(collectives: Sequence[CollectiveGain], after: str) -> ResultTable:
    """What GPUs get in collectives before and after."""
    return table_of(
        "What GPUs get in collectives",
        collectives,
        {"collective": "name", "before": "before", after: "after"},
        note="of what the ports of adapters allow, as contend predict collectives counts it",
    )


def improvement_document(found: Improvement, file: str = "") -> Document:
    """The cables, what each gains, and which file has the fabric with them."""
    return Document(
        verdict=_verdict(found),
        tables=_tables(found),
        record=found,
        pictures={
            "network": lambda: _network(found),
            "gain": lambda: _figure(found),
        },
        explorable=lambda: explored(found.fabric, marks=_marks(found)),
        closing=(f"written to {file}",) if file else (),
    )


def _figure(found: Improvement) -> Figure:
    """What cables gain together, against their number."""
    before = found.simulation_before
    spent, gains, margins = [0], [0.0], [0.0]
    for addition in found.additions:
        gain, margin = gain_over(before, addition.simulation)
        spent.append(spent[-1] + len(addition.cables))
        gains.append(100 * gain)
        margins.append(100 * margin)
    series = Series(
        spent,
        gains,
        low=np.subtract(gains, margins),
        high=np.add(gains, margins),
        line="-",
        mark=DOT,
    )
    chart = Curves(
        series=[series],
        bounds=[BoundLine(0, look={"color": FAINT, "linestyle": "-"})],
        x=Axis("cables added", Unit.COUNT, (-0.3, max(spent[-1], 1) + 0.3)),
        y=Axis(with_interval("gain in points", margins)),
    )
    return charted(first_clause(_verdict(found)), chart, height=2.4)


def _network(found: Improvement) -> Figure:
    """The network with the new cables, each with what it gains."""
    finding = first_clause(_verdict(found))
    return fabric_figure(found.fabric, finding=finding, marks=_marks(found))


def _marks(found: Improvement) -> list[Mark]:
    marks = []
    for addition in found.additions:
        gains = f"{_points(addition.gain, addition.margin)} points"
        if addition.missing:
            gains = f"missing, {gains}"
        if len(addition.cables) > 1:
            gains += f" with the other{'s' * (len(addition.cables) > 2)}"
        for cable in addition.cables:
            words = f"{' - '.join(cable.ends)}: {gains}"
            marks.append(Mark("added", "cable", cable.number, words))
    return marks


# Cables that a terminal shows; files have all.
_SHOWN = 20


def _growth_verdict(found: Growth) -> str:
    """What is new, how many cables that takes, and what traffic gets then."""
    what = []
    if found.servers:
        adapters = f" ({counted(found.hosts, 'adapter')})" if found.hosts > found.servers else ""
        what.append(f"{counted(found.servers, 'more server')}{adapters}")
    levels = Counter(switch.level for switch in found.switches)
    for level, count in sorted(levels.items()):
        above = f" of level {level}" if level > 1 else ""
        what.append(counted(count, "more switch" if above else "more leaf switch") + above)
    kinds = Counter(cable.what for cable in found.cables)
    faster = kinds.pop("faster", 0)
    cables = [f"{counted(kinds.total(), 'cable')} to lay"] if kinds else []
    cables += [f"{counted(faster, 'cable')} to replace by faster ones"] if faster else []
    of = of_words(waits_for_last=found.simulation_after.judged == EACH_HOST)
    before, after = percent(found.before, 2), percent(found.after, 2)
    gets = f"get {after} of {of} instead of {before}"
    gets = f"get {after} of {of} as before" if before == after else gets
    verdict = (
        f"{listed(what) if what else 'Faster uplinks'}: {' and '.join(cables) or 'no new cable'}; "
        f"{_growth_who(found)} then {gets}."
    )
    if (other := found.otherwise) is None:
        return verdict
    shares = f"{percent(other.after, 2)} instead of {percent(other.before, 2)}"
    return (
        f"{verdict} They lose by how {found.engine} spreads routes over what is there now; by "
        f"{other.engine} they get {shares}."
    )


def _growth_who(found: Growth) -> str:
    return "all-to-alls of GPUs within rails" if found.collectives else "random pairs"


def _growth_tables(found: Growth) -> list[ResultTable]:
    states = [("as it is", found.old, found.simulation_before)]
    states.append(("extended", found.fabric, found.simulation_after))
    size = table_of(
        f"{found.old.name}, {_routes_of(found.simulation_after)}",
        states,
        {
            "fabric": lambda state: state[0],
            "hosts": Number(lambda state: f"{state[1].hosts:,}"),
            "switches": Number(lambda state: f"{state[1].switches:,}"),
            "cables between switches": Number(lambda state: f"{state[1].cables:,}"),
            f"{_growth_who(found)} get": Number(lambda state: percent(state[2].judged_share, 2)),
            "rate": Number(lambda state: rate_words(state[2].judged_Bps)),
        },
    )
    words = {"host": "of a host", "switch": "between switches", "faster": "instead of a slower one"}
    left = len(found.cables) - _SHOWN
    cables = table_of(
        "Cables to lay",
        found.cables[:_SHOWN],
        {
            "from": "source",
            "to": "target",
            "rate": "rate",
            "what": lambda cable: words[cable.what],
        },
        note=f"and {left:,} more: --csv FILE has all" if left > 0 else "",
    )
    tables = [size, cables]
    if found.collectives:
        tables.append(collectives_table(found.collectives, "extended"))
    return tables


def growth_document(found: Growth, file: str = "") -> Document:
    """What is new, every cable to lay, and which file has the larger fabric."""
    verdict = _growth_verdict(found)
    return Document(
        verdict=verdict,
        tables=_growth_tables(found),
        record=found,
        pictures={
            "network": lambda: fabric_figure(
                found.fabric, finding=first_clause(verdict), marks=_new_switches(found)
            )
        },
        explorable=lambda: explored(found.fabric, marks=_new_switches(found)),
        remarks=(found.remark,) if found.remark else (),
        closing=(f"written to {file}",) if file else (),
    )


def _new_switches(found: Growth) -> list[Mark]:
    """New switches; their cables are easily seen, and all are in the table."""
    return [
        Mark("added", "switch", number, f"{switch.name}, like {switch.like}")
        for number, switch in enumerate(found.switches, found.old.switches)
    ]
