"""What failures cost: a verdict, tables, a figure and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from contend.cure import Failure, Failures
from contend.fabric import FabricSize, size_of
from contend.report.fabric.marks import Mark
from contend.report.fabric.network import fabric_figure
from contend.report.style import COLOURS, FAINT, QUIET, new_figure, percent_axis, styled, title
from contend.report.table import ResultTable
from contend.report.words import UNKNOWN, percent
from contend.units import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Rows of a table, and of the figure.
_ROWS = 10


def failures_verdict(found: Failures) -> str:
    """What cuts hosts off, what costs most bandwidth, and how much costs nothing."""
    cutting = [failure for failure in found.alone if failure.hosts]
    parts = []
    if cutting:
        worst = cutting[0]
        parts.append(
            f"{counted(len(cutting), 'failure')} of one part cut hosts off, "
            f"{_named(worst)} most: {counted(worst.hosts, 'host')}"
        )
    else:
        parts.append("No single failure cuts a host off")
    if whole := _whole(found.alone):
        worst = whole[0]
        line = (
            f"of the others {_named(worst)} costs most: random pairs get "
            f"{percent(worst.bandwidth)} of a link's rate, with all parts "
            f"{percent(found.whole.effective_bandwidth)}"
        )
        alike = sum(failure.ties(worst) for failure in whole[1:])
        if alike:
            line += f" ({counted(alike, 'other')} cost as much)"
        parts.append(line)
    harmless = sum(_harmless(failure) for failure in whole)
    parts.append(f"{harmless:,} of {len(found.alone):,} cost nothing that these pairs show")
    return f"{'; '.join(parts)}."


def _whole(each: Sequence[Failure]) -> list[Failure]:
    """Failures that leave all hosts, the worst first."""
    return [failure for failure in each if not failure.hosts]


def _harmless(failure: Failure) -> bool:
    return failure.change + failure.margin >= 0


def _named(failure: Failure) -> str:
    if len(failure.parts) > 1:
        return failure.name
    return f"{failure.parts[0][0]} {failure.name}"


def failures_tables(found: Failures) -> list[ResultTable]:
    """Failures that cut hosts off, those that cost most bandwidth, and pairs."""
    each = (
        ("Failures that cut hosts off", [one for one in found.alone if one.hosts]),
        ("Failures that cost most bandwidth", _whole(found.alone)),
        ("Two of the worst at once", list(found.pairs)),
    )
    return [_table(found, name, failures) for name, failures in each if failures]


def _table(found: Failures, name: str, failures: Sequence[Failure]) -> ResultTable:
    numeric = ("hosts gone", "random pairs get", "change", "entries changed", "routed anew")
    rows, place = [], 0
    for number, failure in enumerate(failures[:_ROWS], 1):
        if number == 1 or not failure.ties(failures[number - 2]):
            place = number
        rerouted = UNKNOWN if failure.rerouted is None else percent(failure.rerouted)
        rows.append(
            (
                str(place),
                _named(failure),
                f"{failure.hosts:,}",
                percent(failure.bandwidth),
                _change(failure),
                f"{failure.changed:,}",
                rerouted,
            )
        )
    left = len(failures) - len(rows)
    note = f"by mended tables; routed anew by {found.engine}; with all parts random pairs get "
    note += percent(found.whole.effective_bandwidth)
    if left:
        note += f"; {left:,} more are in the JSON"
    return ResultTable(
        title=f"{name}: {found.fabric.name}",
        columns=("place", "failure", *numeric),
        rows=tuple(rows),
        numeric=frozenset({"place", *numeric}),
        note=note,
    )


def _change(failure: Failure) -> str:
    return f"{100 * failure.change:+.2f} ± {100 * failure.margin:.2f}"


def failures_figure(found: Failures) -> Figure:
    """The failures that cost most bandwidth: by mended tables, and routed anew."""
    shown = (_whole(found.alone) or list(found.alone))[:_ROWS]
    rows = np.arange(len(shown))
    whole = found.whole.effective_bandwidth
    with styled():
        figure = new_figure(height=1.5 + 0.2 * len(shown))
        axes = figure.subplots()
        axes.barh(rows, [one.bandwidth for one in shown], height=0.12, color=FAINT, zorder=1)
        axes.axvline(whole, color=QUIET, linewidth=1, label="with all parts")
        axes.errorbar(
            [one.bandwidth for one in shown],
            rows,
            xerr=[one.margin for one in shown],
            fmt="o",
            markersize=4,
            color=COLOURS[0],
            capsize=2,
            zorder=3,
            label="mended tables, 95 % interval",
        )
        anew = [(one.rerouted, row) for row, one in enumerate(shown) if one.rerouted is not None]
        if anew:
            axes.plot(
                *zip(*anew, strict=True),
                linestyle="",
                marker="D",
                markersize=4.5,
                markerfacecolor="none",
                markeredgecolor=COLOURS[1],
                zorder=4,
                label=f"routed anew by {found.engine}",
            )
        axes.set_yticks(rows, [_named(one) for one in shown])
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.set_xlim(0, 1)
        percent_axis(axes.xaxis)
        axes.set_xlabel("effective bisection bandwidth\nas a share of the link speed")
        axes.spines["left"].set_visible(False)
        figure.legend(loc="outside lower center", ncols=2, handletextpad=0.3, columnspacing=1.2)
        worst = shown[0]
        title(
            figure,
            f"{_named(worst)} costs most: {percent(worst.bandwidth)} instead of {percent(whole)}",
        )
    return figure


def failures_network(found: Failures) -> Figure:
    """The network, with the failures marked that cut most hosts off or cost most bandwidth."""
    cutting = [failure for failure in found.alone if failure.hosts][: _ROWS // 2]
    worst = _whole(found.alone)[: _ROWS - len(cutting)]
    marks = [
        Mark("failure", *failure.parts[0], f"{_named(failure)}: {_cost(failure)}")
        for failure in (*cutting, *worst)
    ]
    return fabric_figure(
        found.fabric, finding=f"{found.fabric.name}: where failures cost most", marks=marks
    )


def _cost(failure: Failure) -> str:
    if failure.hosts:
        return f"cuts {counted(failure.hosts, 'host')} off"
    return f"random pairs get {percent(failure.bandwidth)}"


class FailureJson(msgspec.Struct, frozen=True, kw_only=True):
    """A failure of a switch, a cable, or two of them.

    Attributes:
        parts: what died, as --without takes it.
        kinds: "switch" or "cable", for each.
        hosts: that are gone with it or cut off.
        changed: table entries that had to change.
        bandwidth: what random pairs of hosts get in the mean, by mended tables.
        change: against what the same pairs get on the whole fabric.
        margin: half of the 95 % interval of the change.
        rerouted: the same mean with all tables computed anew; null where that was not tried.
    """

    parts: str
    kinds: list[str]
    hosts: int
    changed: int
    bandwidth: float
    change: float
    margin: float
    rerouted: float | None


class FailuresJson(msgspec.Struct, frozen=True, kw_only=True):
    """What failures cost.

    Attributes:
        fabric: whole.
        verdict: what it comes to, in words.
        bandwidth: what random pairs of hosts get in the mean, with all parts.
        samples: patterns of random pairs that each was judged by.
        engine: that computed tables anew.
        alone: every switch and cable, the worst first.
        pairs: two of the worst at once.
    """

    fabric: FabricSize
    verdict: str
    bandwidth: float
    samples: int
    engine: str
    alone: list[FailureJson]
    pairs: list[FailureJson]


def failures_json(found: Failures) -> FailuresJson:
    """The result of ``contend fabric failures --json``."""
    return FailuresJson(
        fabric=size_of(found.fabric),
        verdict=failures_verdict(found),
        bandwidth=found.whole.effective_bandwidth,
        samples=found.whole.samples,
        engine=found.engine,
        alone=[_failure_json(one) for one in found.alone],
        pairs=[_failure_json(one) for one in found.pairs],
    )


def _failure_json(one: Failure) -> FailureJson:
    return FailureJson(
        parts=one.name,
        kinds=[kind for kind, _ in one.parts],
        hosts=one.hosts,
        changed=one.changed,
        bandwidth=one.bandwidth,
        change=one.change,
        margin=one.margin,
        rerouted=one.rerouted,
    )
