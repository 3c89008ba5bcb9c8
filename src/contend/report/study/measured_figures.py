"""Figures of measured studies: times over hosts, rates over message sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter
from matplotlib.transforms import ScaledTranslation

from contend.measurement import VectorLength
from contend.report.run.rates import Curve, Panel, rate_figure, rate_finding
from contend.report.study.rates import Sweep, sweeps
from contend.report.study.times import TimeGroup, groups, lines_of
from contend.report.style import COLOURS, QUIET, Look, looks, new_figure, styled, title
from contend.runs import CellSummary, Collapse
from contend.studies import Known, MeasuredPlan, Result
from contend.units import counted, format_seconds, rounded


def measured_figures(plan: MeasuredPlan, results: Sequence[Result]) -> Iterator[tuple[str, Figure]]:
    """Named figures: times of sorts over hosts, rates of all-to-alls over message sizes."""
    for group in groups(plan, results):
        name = group.constant.lower().replace(" ", "-")
        yield f"{name}-{group.ranks_per_host}-per-host", time_figure(group)
    yield from _rate_figures(plan, results)


def _rate_figures(plan: MeasuredPlan, results: Sequence[Result]) -> Iterator[tuple[str, Figure]]:
    """For every number of ranks all schedules, for every schedule all numbers of ranks."""
    measured = [sweep for sweep in sweeps(plan, results) if sweep.ranks > 1]
    for measure in dict.fromkeys(sweep.measure for sweep in measured):
        members = [sweep for sweep in measured if sweep.measure == measure]
        schedules = list(dict.fromkeys(name for sweep in members for name in sweep.algorithms))
        ranks = {sweep.ranks: counted(sweep.ranks, "rank") for sweep in members}
        by_schedule, by_ranks = looks(schedules), looks(ranks.values())
        for count, words in ranks.items():
            lines = [
                _Line(sweep, name, name or "rate", by_schedule[name])
                for sweep in members
                if sweep.ranks == count
                for name in sweep.algorithms
            ]
            if any(line.measured for line in lines):
                yield f"{measure}-{count}-ranks", _rates(plan, lines, words)
        if len(ranks) > 1:
            ends = f"{min(ranks)} to {counted(max(ranks), 'rank')}"
            for name in schedules:
                lines = [
                    _Line(sweep, name, ranks[sweep.ranks], by_ranks[ranks[sweep.ranks]])
                    for sweep in members
                    if name in sweep.algorithms
                ]
                if any(line.measured for line in lines):
                    yield f"{measure}-{name}", _rates(plan, lines, ends)


@dataclass(frozen=True)
class _Line:
    """A schedule of a sweep, and what its curve is called and looks like."""

    sweep: Sweep
    schedule: str
    name: str
    look: Look

    def curve(self, plan: MeasuredPlan) -> Curve:
        """Its samples, beside what others published for the same places."""
        results = self.sweep.of(self.schedule)
        return Curve(
            self.name,
            self.look,
            self.measured,
            tuple(
                (result.place.bytes or 0, known.rate_of(result.place.ranks) or 0.0)
                for result in results
                for known in plan.known(result.place.measure)
                if known.placed and known.beside(result.place)
            ),
        )

    @property
    def measured(self) -> tuple[CellSummary, ...]:
        """Figures of all its sizes that have a rate."""
        results = self.sweep.of(self.schedule)
        return tuple(r.summary for r in results if r.summary is not None and r.rate is not None)

    @property
    def collapses(self) -> list[Collapse]:
        """Those of its schedule."""
        every = self.sweep.collapses
        return [each for each in every if each.worst.record.algorithm == self.schedule]


def _rates(plan: MeasuredPlan, lines: Sequence[_Line], where: str) -> Figure:
    """Rows of panels are libraries and conditions, columns are ranks per host."""
    rows = list(dict.fromkeys(line.sweep.series for line in lines))
    columns = sorted({line.sweep.ranks_per_host for line in lines})
    panels: list[list[Panel | None]] = [[None] * len(columns) for _ in rows]
    for row, series in enumerate(rows):
        for column, each in enumerate(columns):
            members = [
                line
                for line in lines
                if (line.sweep.series, line.sweep.ranks_per_host) == (series, each)
            ]
            if members:
                panels[row][column] = _panel(plan, members)
    # What gives way within one host is the machine, not a network.
    collapses = [each for line in lines if not line.sweep.one_host for each in line.collapses]
    cells = [
        cell for row in panels for panel in row if panel for c in panel.curves for cell in c.cells
    ]
    finding = rate_finding(where, cells, collapses)
    return rate_figure(panels, finding, legend=True, sizes="bytes to each other rank")


def _panel(plan: MeasuredPlan, lines: Sequence[_Line]) -> Panel:
    sweep = lines[0].sweep
    each = counted(sweep.ranks_per_host, "rank")
    where = f"groups of {each} on one host" if sweep.one_host else f"{each} per host"
    # The limits of different numbers of ranks hardly differ: the lowest speaks for all.
    limits = [line.sweep.limit for line in lines if line.sweep.limit is not None]
    return Panel(
        ", ".join(filter(None, (where, sweep.series))),
        tuple(line.curve(plan) for line in lines),
        tuple(collapse for line in lines for collapse in line.collapses),
        min(limits, default=None),
    )


# Samples are spread over this share of a point's place, so that equal ones do not hide each other.
_TIME_SPREAD = 0.05
_ELSEWHERE = "#9A9A9A"
_Look = tuple[str, tuple[float, tuple[float, ...]]]
_SOURCES: tuple[_Look, ...] = (
    ("^", (0, (4, 2))),
    ("D", (0, (1, 1.5))),
    ("s", (0, (6, 1, 1, 1))),
)
# A row of crosses along the top, in points.
_ROW = 6.5
# A row of the legend in inches; characters across a figure, and those that a line of it takes.
_LEGEND_ROW, _ACROSS, _HANDLE = 0.14, 74, 6


def time_figure(group: TimeGroup) -> Figure:
    """One panel for each library and condition: every sample, medians, and what others published.

    A colour is a vector length; what others published for other vectors or ranks is grey. What has
    no figure because it failed stands at the top of its place with the cause.
    """
    series = group.series
    with styled():
        failing = sum(len(_failing(group, line)) for line in series)
        handles = _time_handles(group)
        columns = _columns(handles)
        legend = _LEGEND_ROW * -(-len(handles) // columns)
        figure = new_figure(height=0.65 + 1.6 * len(series) + _ROW / 72 * failing + legend)
        panels = figure.subplots(len(series), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for line, axes in zip(series, panels, strict=True):
            _time_panel(axes, group, line)
            if line:
                above = 3 + _ROW * len(_failing(group, line))
                axes.set_title(line, loc="left", fontsize=7.5, pad=above)
        _time_axes(list(panels), group)
        figure.legend(
            handles=handles,
            loc="outside lower center",
            ncols=columns,
            handletextpad=0.4,
            columnspacing=1.2,
        )
        title(figure, _finding(group))
    return figure


def _time_panel(axes: Axes, group: TimeGroup, series: str) -> None:
    for number, length in enumerate(group.lengths):
        colour = COLOURS[number % len(COLOURS)]
        results = group.of(length, series)
        _time_samples(axes, results, colour)
        medians = {n: r.median_s for n, r in results.items() if r.median_s is not None}
        axes.plot(list(medians), list(medians.values()), "-o", color=colour, markersize=3, zorder=3)
        for source, known in group.published(length).items():
            _time_published(axes, known, _look(group, source), colour)
    lengths: set[str] = set()
    for (elsewhere, source), known in lines_of(group.elsewhere).items():
        # Lines of one length end near each other: one is labelled.
        label = "" if elsewhere in lengths else f"m = {elsewhere}"
        lengths.add(elsewhere)
        _time_published(axes, known, _look(group, source), _ELSEWHERE, label)
    _failures(axes, group, series)


def _look(group: TimeGroup, source: str) -> _Look:
    """Marker and dashes of a source."""
    return _SOURCES[group.sources.index(source) % len(_SOURCES)]


def _time_published(
    axes: Axes, known: dict[int, Known], look: _Look, colour: str, label: str = ""
) -> None:
    times = {n: k.seconds for n, k in known.items() if k.seconds is not None}
    axes.plot(
        list(times),
        list(times.values()),
        color=colour,
        linestyle=look[1],
        linewidth=0.8,
        marker=look[0],
        markersize=3.2,
        markerfacecolor="none",
        markeredgewidth=0.7,
        alpha=0.8,
        zorder=1.5,
    )
    if label and times:
        last = max(times)
        axes.annotate(
            label,
            (last, times[last]),
            xytext=(3, 2.5),
            textcoords="offset points",
            fontsize=5.5,
            color=colour,
            va="bottom",
        )


def _time_samples(axes: Axes, results: dict[int, Result], colour: str) -> None:
    """Every sample near its place; those that did not count are crosses."""
    generator = np.random.default_rng(1)
    found = {n: result.summary for n, result in results.items() if result.summary is not None}
    for count, summary in found.items():
        for values, mark in ((summary.results, "."), (summary.left_out, "x")):
            shift = 1 + _TIME_SPREAD * generator.uniform(-1, 1, len(values))
            axes.plot(
                count * shift,
                values,
                color=colour,
                linestyle="",
                marker=mark,
                markersize=2.4,
                markeredgewidth=0.4,
                alpha=0.35,
                zorder=2,
            )


def _failures(axes: Axes, group: TimeGroup, series: str) -> None:
    """A row of crosses along the top for every length that failed somewhere, with the causes."""
    for row, length in enumerate(_failing(group, series)):
        colour = COLOURS[group.lengths.index(length) % len(COLOURS)]
        results = {n: r for n, r in group.of(length, series).items() if r.median_s is None}
        causes = dict.fromkeys(r.failure.cause for r in results.values() if r.failure is not None)
        above = axes.get_xaxis_transform() + ScaledTranslation(
            0, (_ROW * row + 3) / 72, axes.figure.dpi_scale_trans
        )
        axes.plot(
            list(results),
            [1] * len(results),
            color=colour,
            linestyle="",
            marker="x",
            markersize=3.5,
            transform=above,
            clip_on=False,
        )
        axes.annotate(
            f"ERR {', '.join(causes)}",
            (max(results), 1),
            xycoords=above,
            xytext=(5, 0),
            textcoords="offset points",
            fontsize=5.5,
            va="center",
            color=colour,
        )


def _failing(group: TimeGroup, series: str) -> list[VectorLength]:
    """Vector lengths that have no figure on some hosts."""
    return [
        length
        for length in group.lengths
        if any(result.median_s is None for result in group.of(length, series).values())
    ]


def _time_axes(panels: Sequence[Axes], group: TimeGroup) -> None:
    known = [number.hosts or 0 for number in (*group.known, *group.elsewhere)]
    ticks = sorted({*group.hosts, *known})
    last = panels[-1]
    last.set_xscale("log", base=2)
    last.set_xlim(ticks[0] / 1.35, ticks[-1] * 1.35)
    last.set_xticks(ticks, [str(tick) for tick in ticks])
    last.xaxis.set_minor_formatter(NullFormatter())
    last.minorticks_off()
    hosted = any(result.answer.one_host for result in group.results)
    where = "groups of ranks on one host" if hosted else "hosts"
    each = group.ranks_per_host
    last.set_xlabel(f"number N of {where}, {counted(each, 'rank')} each")
    for axes in panels:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: rounded(value, 6)))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.grid(axis="y", color="#EEEEEE", linewidth=0.5)
        axes.set_axisbelow(True)
        axes.set_ylabel("wall clock, s")
    # Room for what is written above the highest line.
    low, high = last.get_ylim()
    last.set_ylim(low, high * (high / low) ** 0.06)


def _columns(handles: Sequence[Line2D]) -> int:
    """How many columns of a legend fit the figure."""
    longest = max(len(str(handle.get_label())) for handle in handles)
    return next((n for n in (4, 3, 2) if n * (longest + _HANDLE) <= _ACROSS), 1)


def _time_handles(group: TimeGroup) -> list[Line2D]:
    handles = [
        Line2D([], [], color=COLOURS[i % len(COLOURS)], marker="o", markersize=3, label=f"m = {m}")
        for i, m in enumerate(group.lengths)
    ]
    for source in group.sources:
        marker, dashes = _look(group, source)
        handles.append(
            Line2D([], [], color=QUIET, linestyle=dashes, linewidth=0.8, marker=marker,
                   markersize=3.2, markerfacecolor="none", label=_words(group, source))
        )  # fmt: skip
    handles.append(
        Line2D([], [], color=QUIET, linestyle="", marker=".", markersize=4, label="sample")
    )
    if any(r.summary is not None and len(r.summary.left_out) for r in group.results):
        handles.append(
            Line2D([], [], color=QUIET, linestyle="", marker="x", markersize=3, label="late sample")
        )
    return handles


def _words(group: TimeGroup, source: str) -> str:
    """A source, with its n and ranks where they are others than here."""
    for known in group.elsewhere:
        if known.source == source and known.vectors is not None:
            return f"{source}, n = {known.vectors:,}, {known.ranks_per_host} per host"
    return source


def _finding(group: TimeGroup) -> str:
    """From the fewest to the most hosts that gave figures, for the first line that has both."""
    for series in group.series:
        for length in group.lengths:
            medians = {
                n: r.median_s for n, r in group.of(length, series).items() if r.median_s is not None
            }
            if len(medians) > 1:
                first, last = min(medians), max(medians)
                ends = [
                    f"{format_seconds(medians[n])} for N\u00a0=\u00a0{n}" for n in (first, last)
                ]
                return f"{group.constant}, m\u00a0=\u00a0{length}: {', '.join(ends)}"
    return f"{group.constant}: wall clock of the data exchange"
