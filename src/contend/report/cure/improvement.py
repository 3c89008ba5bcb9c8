"""Cables to add."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from matplotlib.ticker import MaxNLocator

from contend.congestion import Simulation, half_width
from contend.cure import Addition, Improvement
from contend.fabric import Cable, FabricSize, size_of
from contend.report.document import Document, filled
from contend.report.fabric.marks import Mark
from contend.report.fabric.network import fabric_figure
from contend.report.page.explorable import explored
from contend.report.style import COLOURS, FAINT, new_figure, styled, title
from contend.report.table import ResultTable
from contend.report.words import percent, rate_words
from contend.units import counted, verb

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def improvement_verdict(found: Improvement) -> str:
    """What the cables gain together, the first of them, or why there is nothing to gain."""
    if not found.additions:
        return f"{_nothing(found)}."
    before, after = (_share(one) for one in (found.before, found.after))
    if found.gain <= found.margin:
        return (
            f"{counted(found.cables, 'cable')} would gain {_points(found.gain, found.margin)} "
            f"points, too little for {found.before.samples:,} samples to show; {_who(found)} "
            f"{before} of a link's rate{_other_tables(found)}."
        )
    first = found.additions[0]
    line = (
        f"{_let(found)} {after} of a link's rate instead of {before} "
        f"({_points(found.gain, found.margin)} points)"
    )
    if len(found.additions) > 1 or len(first.cables) > 1:
        line += f"; {_named(found, first)}: {_points(first.gain, first.margin)}"
    if found.cables < found.asked:
        line += f"; {_rest(found)}"
    return f"{line}{_other_tables(found)}."


def _let(found: Improvement) -> str:
    lets = verb(found.cables, "lets")
    return f"{counted(found.cables, 'cable')} {lets} {_who(found, infinitive=True)}"


def _rest(found: Improvement) -> str:
    """Why fewer cables are added than were asked for."""
    cables = found.asked - found.cables
    if found.free_ports - 2 * found.cables < 2:
        return f"no ports are left for {cables} more"
    return "one more gains nothing" if cables == 1 else f"{cables} more gain nothing"


def _nothing(found: Improvement) -> str:
    if found.free_ports < 2:
        return "No two ports are free: there is nothing to connect"
    if found.joinable == 0 and found.tried == 0:
        return (
            f"No cable between two of the {found.free_ports:,} free ports shortens or relieves a "
            "route: there is nothing to gain"
        )
    tried = f"None of the {found.tried:,} kinds of cables tried gains anything"
    if found.tried == 1:
        tried = "The one kind of cables tried gains nothing"
    line = f"{tried} measurable: {_who(found)} {_share(found.before)} of a link's rate"
    if found.bound is not None:
        line += f"; cuts allow at most {percent(found.bound)}"
    return f"{line}{_other_tables(found)}"


def _other_tables(found: Improvement) -> str:
    """What other tables alone gain, where that is more than cables do."""
    if found.present is None:
        return ""
    present = found.present.effective_bandwidth.mean
    if found.before.effective_bandwidth.mean - present <= max(found.gain, 0.001):
        return ""
    return (
        f"; routes by {found.engine} gain more, without any new cable: the tables in use give "
        f"{_share(found.present)}"
    )


def _who(found: Improvement, *, infinitive: bool = False) -> str:
    """Whom the figures are of: ``random pairs get``, ``shift:3 gets``."""
    if found.before.pattern == "bisect":
        return "random pairs get"
    return f"{found.before.pattern} {'get' if infinitive else 'gets'}"


def _share(simulation: Simulation) -> str:
    return percent(simulation.effective_bandwidth.mean, 2)


def _named(found: Improvement, addition: Addition) -> str:
    if len(addition.cables) > 1:
        return f"the first {len(addition.cables)}, which belong together"
    near, far = _ends(found, addition.cables[0])
    return f"the first, {near} - {far}"


def _ends(found: Improvement, cable: Cable) -> tuple[str, str]:
    """Both ends of a cable, as ``--without`` takes them."""
    near, near_port, far, far_port = cable
    label = found.fabric.switch_label
    return f"{label[near]}:{near_port}", f"{label[far]}:{far_port}"


def _points(gain: float, margin: float) -> str:
    """A gain in points and half of its interval, with the digits that tell them apart."""
    digits = 2 if margin >= 5e-4 else 3
    spread = f" ± {100 * margin:.{digits}f}" if margin else ""
    return f"{100 * gain:+.{digits}f}{spread}"


def improvement_tables(found: Improvement) -> list[ResultTable]:
    """The cables in the order in which they gain most, and what the pattern gets."""
    return [*([_cables_table(found)] if found.additions else []), _bandwidth_table(found)]


def _cables_table(found: Improvement) -> ResultTable:
    numeric = ("gain in points", "then", "rate", "ties")
    rows = []
    for addition in found.additions:
        *others, last = addition.cables
        tables = "recomputed" if addition.anew else "few entries changed"
        rows += [("", *_ends(found, cable), "with the next", "", "", "", "") for cable in others]
        rows.append(
            (
                "",
                *_ends(found, last),
                _points(addition.gain, addition.margin),
                _share(addition.simulation),
                rate_words(addition.simulation.effective_bandwidth.mean_Bps),
                str(addition.as_good),
                tables,
            )
        )
    numbered = tuple((str(number), *row[1:]) for number, row in enumerate(rows, 1))
    return ResultTable(
        title=f"Cables for {found.before.fabric.name}",
        columns=("cable", "from", "to", *numeric, "tables"),
        rows=numbered,
        numeric=frozenset({"cable", *numeric}),
        note=f"± half of the 95 % interval of the same {found.after.samples:,} samples before and "
        "after; ties: other kinds of cables that the patterns could not distinguish from it",
    )


def _bandwidth_table(found: Improvement) -> ResultTable:
    states = []
    if found.present is not None:
        states.append(("tables in use", found.present))
    states.append((f"routes by {found.engine}", found.before))
    if found.additions:
        cables = counted(found.cables, "cable")
        states.append((f"routes by {found.engine}, with {cables}", found.after))
    notes = [
        f"{counted(found.free_ports, 'free port')}, {counted(found.tried, 'kind')} of cables tried"
    ]
    if found.bound is not None:
        notes.append(f"without new cables, cuts allow at most {percent(found.bound, 2)}")
    return ResultTable(
        title=f"What {_who(found)}",
        columns=("by", "of a link's rate", "rate"),
        rows=tuple(
            (name, _share(one), rate_words(one.effective_bandwidth.mean_Bps))
            for name, one in states
        ),
        numeric=frozenset({"of a link's rate", "rate"}),
        note="; ".join(notes),
    )


def improvement_document(found: Improvement, file: str = "") -> Document:
    """The cables, what each gains, and which file has the fabric with them."""
    present, before = found.present, found.before
    return Document(
        tables=improvement_tables(found),
        record=filled(
            ImprovementJson,
            found,
            fabric=size_of(found.fabric),
            verdict=improvement_verdict(found),
            pattern=before.pattern,
            samples=before.samples,
            present=None if present is None else present.effective_bandwidth.mean,
            before=before.effective_bandwidth.mean,
            after=found.after.effective_bandwidth.mean,
            additions=[_addition(found, addition) for addition in found.additions],
        ),
        pictures={
            "network": lambda: _network(found),
            "gain": lambda: improvement_figure(found),
        },
        explorable=lambda: explored(found.fabric, marks=_marks(found)),
        closing=(f"written to {file}",) if file else (),
    )


def improvement_figure(found: Improvement) -> Figure:
    """What cables gain together, against their number."""
    spent, gains, margins = [0], [0.0], [0.0]
    for addition in found.additions:
        more = addition.simulation.bandwidth - found.before.bandwidth
        spent.append(spent[-1] + len(addition.cables))
        gains.append(100 * float(more.mean()))
        margins.append(0.0 if addition.simulation.exhaustive else 100 * half_width(more))
    with styled():
        figure = new_figure(height=2.4)
        axes = figure.subplots()
        axes.axhline(0, color=FAINT, linewidth=0.8, zorder=1)
        axes.errorbar(
            spent, gains, yerr=margins, fmt="o-", markersize=4, color=COLOURS[0], capsize=2
        )
        axes.set_xlim(-0.3, max(spent[-1], 1) + 0.3)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("cables added")
        axes.set_ylabel("gain in points, 95 % interval")
        title(figure, _finding(found))
    return figure


def _network(found: Improvement) -> Figure:
    """The network with the new cables, each with what it gains."""
    return fabric_figure(found.fabric, finding=_finding(found), marks=_marks(found))


def _marks(found: Improvement) -> list[Mark]:
    marks = []
    # They have the last numbers, in their order.
    number = found.fabric.cables - found.cables
    for addition in found.additions:
        gains = f"{_points(addition.gain, addition.margin)} points"
        together = f" with the other{'s' * (len(addition.cables) > 2)}"
        for cable in addition.cables:
            near, far = _ends(found, cable)
            words = f"{near} - {far}: {gains}{together if len(addition.cables) > 1 else ''}"
            marks.append(Mark("added", "cable", number, words))
            number += 1
    return marks


def _finding(found: Improvement) -> str:
    before, after = (_share(one) for one in (found.before, found.after))
    if not found.additions:
        line = f"No cable gains anything: {_who(found)} {before}"
    else:
        line = f"{_let(found)} {after} instead of {before}"
    return f"{line}{_other_tables(found)}"


class NewCableJson(msgspec.Struct, frozen=True, kw_only=True):
    """A new cable."""

    ends: Annotated[tuple[str, str], "switch and port of both ends, as --without takes them."]
    rate: Annotated[str, 'of the cable; "" where it is not known.']


class AdditionJson(msgspec.Struct, frozen=True, kw_only=True):
    """A cable, or several that gain together."""

    cables: Annotated[
        list[NewCableJson], "of which there are several where one alone gains nothing."
    ]
    gain: Annotated[float, "by how much the effective bandwidth grew, as a share of a link's rate."]
    margin: Annotated[
        float, "half of the 95 % interval of the gain; 0 where all outcomes were counted."
    ]
    bandwidth: Annotated[float, "with these and all before them."]
    rate_Bps: Annotated[
        float | None, "the same in bytes per second; null where rates of links are not known."
    ]
    as_good: Annotated[
        int, "other kinds of cables that the patterns could not distinguish from these."
    ]
    tables: Annotated[str, '"kept" but for few entries, or computed "anew".']


class ImprovementJson(msgspec.Struct, frozen=True, kw_only=True):
    """Which free ports to join."""

    fabric: Annotated[FabricSize, "with the new cables."]
    verdict: Annotated[str, "one-sentence verdict."]
    pattern: Annotated[str, "that was to get more bandwidth."]
    samples: Annotated[int, "of it that were simulated."]
    engine: Annotated[str, "that computed the routes before and after."]
    present: Annotated[
        float | None, "effective bandwidth by the tables in use; null where there are none."
    ]
    before: Annotated[float, "by the engine's routes, without the new cables."]
    after: Annotated[float, "with all of them."]
    gain: Annotated[float, "after less before."]
    margin: Annotated[float, "half of the 95 % interval of the gain."]
    bound: Annotated[
        float | None,
        "an upper bound, from cuts, for random pairs without the cables; null for other patterns.",
    ]
    asked: Annotated[int, "cables that there were to spend."]
    free_ports: Annotated[int, "on all switches."]
    tried: Annotated[int, "kinds of cables that were simulated."]
    additions: Annotated[list[AdditionJson], "the cables, in their order."]


def _addition(found: Improvement, addition: Addition) -> AdditionJson:
    cables = [
        NewCableJson(ends=_ends(found, one), rate=found.rate_of(one)) for one in addition.cables
    ]
    tables = "anew" if addition.anew else "kept"
    return filled(AdditionJson, addition, cables=cables, tables=tables)
