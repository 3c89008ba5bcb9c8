"""Figures of studies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter
from matplotlib.transforms import ScaledTranslation

from contend.congestion import Simulation
from contend.report.axes import mark_wire
from contend.report.run.findings import sizes_of
from contend.report.simulation.figures import simulation_comparison
from contend.report.simulation.histograms import bandwidth_histogram, round_bounds
from contend.report.simulation.tables import Measure
from contend.report.study.rates import Sweep, sweeps
from contend.report.study.simulated import main_source, reference_of
from contend.report.study.times import Group, groups
from contend.report.style import COLOURS, COLUMN_WIDTH, QUIET, new_figure, styled, title
from contend.report.words import MEBI, mebibytes
from contend.study import Known, MeasuredPlan, Outcome, Plan, Result, Series
from contend.units import counted, format_bytes, format_seconds

_MEASURES = {
    "effective_bandwidth": Measure.MEAN_BANDWIDTH,
    "of_mean_congestion": Measure.OF_MEAN_CONGESTION,
    "of_max_congestion": Measure.OF_MAX_CONGESTION,
}


def study_figures(plan: Plan, outcomes: Sequence[Outcome]) -> Iterator[tuple[str, Figure]]:
    """Named figures, pattern by pattern; samples are read for one pattern at a time.

    Patterns of one round become histograms of all routings; those of several rounds, and those
    whose own ends are taken out, show both bounds under each fabric's best routing, as the paper
    draws them. Patterns that were not sampled have no distribution and only appear in tables.
    """
    for pattern in plan.patterns:
        cells = [
            outcome
            for outcome in outcomes
            if outcome.record.pattern == pattern.name
            and outcome.record.status == "done"
            and outcome.record.simulation["samples"] > 1
        ]
        if cells:
            yield from _figures(plan, pattern.name, cells)


def _figures(plan: Plan, name: str, cells: Sequence[Outcome]) -> Iterator[tuple[str, Figure]]:
    simulations = [cell.simulation() for cell in cells]
    references = [_reference(plan, cell) for cell in cells]
    rated = [cell.record.rated_bisection for cell in cells]
    measure = _MEASURES[plan.average]
    source = main_source(plan)
    if all(s.rounds == 1 and s.scale == 1 for s in simulations):
        figure = bandwidth_histogram(
            simulations,
            measure=measure,
            rated=rated,
            reference=references,
            reference_name=source,
        )
    else:
        best = _simulated_best(simulations, measure)
        figure = round_bounds(
            [simulations[i] for i in best],
            reference=[references[i] for i in best],
            reference_name=source,
        )
    yield f"{name}-histogram", figure
    yield (
        f"{name}-comparison",
        simulation_comparison(
            simulations,
            measure=measure,
            rated=rated,
            reference=references,
            reference_name=source,
        ),
    )


def _reference(plan: Plan, cell: Outcome) -> float | None:
    found = reference_of(plan, cell.record)
    return None if found is None else found.percent / 100


def _simulated_best(simulations: Sequence[Simulation], measure: Measure) -> list[int]:
    """The simulation with the highest average for each fabric, in the order of fabrics."""
    best: dict[str, int] = {}
    for i, simulation in enumerate(simulations):
        known = best.setdefault(simulation.fabric_name, i)
        if measure.estimate(simulation).mean > measure.estimate(simulations[known]).mean:
            best[simulation.fabric_name] = i
    return list(best.values())


def measured_figures(plan: MeasuredPlan, results: Sequence[Result]) -> Iterator[tuple[str, Figure]]:
    """Named figures: times of sorts over nodes, rates of all-to-alls over message sizes."""
    for group in groups(plan, results):
        name = group.constant.lower().replace(" ", "-")
        yield f"{name}-{group.ranks_per_node}-a-node", time_figure(group)
    yield from rate_figures(plan, results)


_BARRIER = "-barrier"


@dataclass(frozen=True)
class Line:
    """A curve: its name and look, and what is on it."""

    name: str
    colour: str
    dashed: bool
    results: tuple[Result, ...]


@dataclass(frozen=True)
class Panel:
    """What one panel shows.

    Attributes:
        series: library and conditions.
        ranks_per_node: ranks on every node.
        lines: its curves.
        limits: what full ports allow, bytes per second and rank.
        collapsed: size, rate and colour of the worst point of every collapse.
    """

    series: Series
    ranks_per_node: int
    lines: tuple[Line, ...]
    limits: tuple[float, ...]
    collapsed: tuple[tuple[int, float, str], ...]


def by_schedule(every: Sequence[Sweep], ranks: int) -> list[Panel]:
    """Panels of one number of ranks, a curve for each schedule; looks are alike in all figures."""
    looks = _looks(algorithms_of(every))
    return [
        Panel(
            sweep.series,
            sweep.ranks_per_node,
            tuple(Line(n or "rate", *looks[n], tuple(sweep.of(n))) for n in sweep.algorithms),
            _limits([sweep]),
            _collapsed([sweep], {name: look[0] for name, look in looks.items()}),
        )
        for sweep in every
        if sweep.ranks == ranks
    ]


def algorithms_of(every: Sequence[Sweep]) -> list[str]:
    """All schedules, each once."""
    return list(dict.fromkeys(name for sweep in every for name in sweep.algorithms))


def ranks_of(every: Sequence[Sweep]) -> list[int]:
    """All numbers of ranks, each once."""
    return list(dict.fromkeys(sweep.ranks for sweep in every))


def _looks(algorithms: Sequence[str]) -> dict[str, tuple[str, bool]]:
    """Colours of schedules; with barriers a schedule keeps its colour and is dashed."""
    bases = list(dict.fromkeys(name.removesuffix(_BARRIER) for name in algorithms))
    return {
        name: (
            COLOURS[bases.index(name.removesuffix(_BARRIER)) % len(COLOURS)],
            name.endswith(_BARRIER) or bases.index(name.removesuffix(_BARRIER)) >= len(COLOURS),
        )
        for name in algorithms
    }


def by_ranks(every: Sequence[Sweep], name: str) -> list[Panel]:
    """Panels of one schedule, a curve for each number of ranks."""
    ranks = ranks_of(every)
    members: dict[tuple[Series, int], list[Sweep]] = {}
    for sweep in every:
        if name in sweep.algorithms:
            members.setdefault((sweep.series, sweep.ranks_per_node), []).append(sweep)
    panels = []
    for (series, each), parts in members.items():
        lines = tuple(
            Line(
                f"{sweep.ranks} ranks",
                COLOURS[ranks.index(sweep.ranks) % len(COLOURS)],
                ranks.index(sweep.ranks) >= len(COLOURS),
                tuple(sweep.of(name)),
            )
            for sweep in parts
        )
        worst = tuple(
            mark
            for sweep, line in zip(parts, lines, strict=True)
            for mark in _collapsed([sweep], {name: line.colour})
        )
        panels.append(Panel(series, each, lines, _limits(parts), worst))
    return panels


def _limits(parts: Sequence[Sweep]) -> tuple[float, ...]:
    """Wire limits; those of many ranks hardly differ, so the lowest speaks for all."""
    found = [limit for sweep in parts if (limit := sweep.limit) is not None]
    return (min(found),) if found else ()


def _collapsed(
    parts: Sequence[Sweep], colours: Mapping[str, str]
) -> tuple[tuple[int, float, str], ...]:
    """The worst points of the collapses of schedules that have a colour."""
    return tuple(
        (one.worst.record.bytes or 0, one.worst.rate.value, colours[one.worst.record.algorithm])
        for sweep in parts
        for one in sweep.collapses
        if one.worst.rate is not None and one.worst.record.algorithm in colours
    )


# A sample is spread over this part of the step between sizes, which double.
_RATE_SPREAD = 0.12
_WIDE = 1.85 * COLUMN_WIDTH


def rate_figures(plan: MeasuredPlan, results: Sequence[Result]) -> Iterator[tuple[str, Figure]]:
    """Named figures: for every number of ranks all schedules, for every schedule all ranks.

    Rows of panels are libraries and conditions, columns are ranks per node. Every sample is there.
    """
    found = [sweep for sweep in sweeps(plan, results) if sweep.ranks > 1]
    for measure in dict.fromkeys(sweep.measure for sweep in found):
        every = [sweep for sweep in found if sweep.measure == measure]
        ranks = ranks_of(every)
        for count in ranks:
            panels = by_schedule(every, count)
            found_here = [sweep for sweep in every if sweep.ranks == count]
            finding = _collapse(found_here) or _rate_best(panels, count)
            yield f"{measure}-{count}-ranks", _figure(plan, panels, finding)
        if len(ranks) > 1:
            for name in algorithms_of(every):
                finding = f"{name}: rate of a rank on {' to '.join(map(str, _ends(ranks)))} ranks"
                yield f"{measure}-{name}", _figure(plan, by_ranks(every, name), finding)


def _ends(ranks: Sequence[int]) -> tuple[int, int]:
    return min(ranks), max(ranks)


def _figure(plan: MeasuredPlan, panels: Sequence[Panel], finding: str) -> Figure:
    rows = list(dict.fromkeys(panel.series for panel in panels))
    columns = sorted({panel.ranks_per_node for panel in panels})
    with styled():
        width = COLUMN_WIDTH if len(columns) == 1 else _WIDE
        figure = new_figure(height=0.9 + 1.75 * len(rows), width=width)
        grid = figure.subplots(len(rows), len(columns), sharex=True, sharey=True, squeeze=False)
        used = set()
        for panel in panels:
            place = rows.index(panel.series), columns.index(panel.ranks_per_node)
            used.add(place)
            _draw(plan, grid[place], panel)
        for place in np.ndindex(grid.shape):
            if place not in used:
                grid[place].set_axis_off()
        _rate_axes(grid)
        _rate_legend(figure, plan, panels)
        title(figure, finding)
    return figure


def _draw(plan: MeasuredPlan, axes: Axes, panel: Panel) -> None:
    each = counted(panel.ranks_per_node, "rank")
    hosted = any(r.one_host for line in panel.lines for r in line.results)
    where = f"groups of {each} on one host" if hosted else f"{each} a node"
    axes.set_title(", ".join(filter(None, (where, panel.series.label))), loc="left", fontsize=7.5)
    for line in panel.lines:
        measured = [r for r in line.results if r.rate is not None and r.place.bytes]
        _rate_samples(axes, measured, line.colour)
        axes.plot(
            [r.place.bytes or 0 for r in measured],
            [(r.rate or 0) / MEBI for r in measured],
            color=line.colour,
            linestyle=(0, (3, 1.5)) if line.dashed else "-",
            linewidth=1,
            zorder=3,
        )
    for limit in panel.limits:
        mark_wire(axes, limit)
    for size, rate, colour in panel.collapsed:
        axes.plot(
            [size], [rate / MEBI], marker="v", markersize=5, color=colour, linestyle="", zorder=5
        )
    _rate_published(plan, axes, panel)


def _rate_samples(axes: Axes, results: Sequence[Result], colour: str) -> None:
    """The rate of every sample near its size; those that did not count are crosses."""
    generator = np.random.default_rng(1)
    for result in results:
        size, ranks = result.place.bytes or 0, result.place.ranks or 1
        for values, marker in ((result.counted, "."), (result.left_out, "x")):
            shift = 2 ** (_RATE_SPREAD * generator.uniform(-1, 1, len(values)))
            axes.plot(
                size * shift,
                (ranks - 1) * size / values / MEBI,
                color=colour,
                linestyle="",
                marker=marker,
                markersize=2,
                markeredgewidth=0.4,
                alpha=0.3,
                zorder=2,
            )


def _rate_published(plan: MeasuredPlan, axes: Axes, panel: Panel) -> None:
    """What others published for this place, as open diamonds in the colour of its schedule."""
    for line in panel.lines:
        for result in line.results:
            for known in plan.known(result.place.measure):
                if known.placed and known.beside(result.place):
                    rate = known.rate_of(result.place.ranks)
                    axes.plot(
                        [result.place.bytes or 0],
                        [(rate or 0) / MEBI],
                        marker="D",
                        markersize=4,
                        markerfacecolor="none",
                        markeredgecolor=line.colour,
                        markeredgewidth=0.8,
                        zorder=4,
                    )


def _rate_axes(grid: Any) -> None:
    for axes in grid.flat:
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.grid(axis="y", color="#EEEEEE", linewidth=0.5)
        axes.set_axisbelow(True)
    low, high = grid[0, 0].get_xlim()
    powers = range(int(np.ceil(np.log2(low))), int(np.floor(np.log2(high))) + 1)
    ticks = [2.0**power for power in powers if power % (4 if len(powers) > 8 else 2) == 0]
    for axes in grid[-1]:
        axes.set_xticks(ticks, [format_bytes(tick) for tick in ticks])
        axes.minorticks_off()
        axes.set_xlabel("bytes from each rank to each other")
    for axes in grid[:, 0]:
        axes.set_ylabel("MiB/s of a rank")


def _rate_legend(figure: Figure, plan: MeasuredPlan, panels: Sequence[Panel]) -> None:
    lines = {line.name: line for panel in panels for line in panel.lines}
    handles = [
        Line2D(
            [],
            [],
            color=line.colour,
            linestyle=(0, (3, 1.5)) if line.dashed else "-",
            linewidth=1,
            label=line.name,
        )
        for line in lines.values()
    ]
    if any(
        known.placed and known.beside(result.place)
        for known in plan.known()
        for panel in panels
        for line in panel.lines
        for result in line.results
    ):
        handles.append(
            Line2D([], [], linestyle="", marker="D", markersize=4, markerfacecolor="none",
                   markeredgecolor=QUIET, label="published")
        )  # fmt: skip
    if any(panel.collapsed for panel in panels):
        handles.append(
            Line2D([], [], linestyle="", marker="v", markersize=5, color=QUIET, label="collapse")
        )
    handles.append(
        Line2D([], [], linestyle="", marker=".", markersize=4, color=QUIET, label="a sample")
    )
    columns = len({panel.ranks_per_node for panel in panels})
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=4 if columns == 1 else 7,
        frameon=False,
        fontsize=6.5,
        handletextpad=0.4,
        columnspacing=1.2,
    )


def _collapse(every: Sequence[Sweep]) -> str:
    """The collapse that costs most against what avoids it; "" where a network has none."""
    avoided = [
        (one.gain.value, sweep.ranks, one)
        for sweep in every
        if not sweep.one_host
        for one in sweep.collapses
        if one.gain is not None and one.avoided_by is not None
    ]
    if not avoided:
        return ""
    gain, ranks, one = max(avoided, key=lambda found: found[0])
    cure = one.avoided_by.schedule if one.avoided_by is not None else ""
    where = f"{counted(ranks, 'rank')}: {one.worst.schedule} collapses at {sizes_of(one)}"
    return f"{where}, where {cure} is {gain:.2g} times as fast"


def _rate_best(panels: Sequence[Panel], ranks: int) -> str:
    """The highest rate of all and its schedule."""
    rates = [
        (result.rate, line.name, result.place.bytes or 0)
        for panel in panels
        for line in panel.lines
        for result in line.results
        if result.rate is not None
    ]
    if not rates:
        return f"{counted(ranks, 'rank')}: nothing was measured"
    rate, name, size = max(rates)
    return f"{ranks} ranks: at most {mebibytes(rate)} MiB/s a rank, {name} at {format_bytes(size)}"


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


def time_figure(group: Group) -> Figure:
    """One panel for each library and condition: every sample, medians, and what others published.

    A colour is a vector length; what others published for other vectors or ranks is grey. What has
    no figure because it failed stands at the top of its place with the cause.
    """
    series = group.series
    with styled():
        failing = sum(len(_failing(group, one)) for one in series)
        figure = new_figure(height=1.05 + 1.6 * len(series) + _ROW / 72 * failing)
        panels = figure.subplots(len(series), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for one, axes in zip(series, panels, strict=True):
            _panel(axes, group, one)
            if one.label:
                above = 3 + _ROW * len(_failing(group, one))
                axes.set_title(one.label, loc="left", fontsize=7.5, pad=above)
        _time_axes(list(panels), group)
        _time_legend(figure, group)
        title(figure, _finding(group))
    return figure


def _panel(axes: Axes, group: Group, series: Series) -> None:
    for number, length in enumerate(group.lengths):
        colour = COLOURS[number % len(COLOURS)]
        found = group.of(length, series)
        _time_samples(axes, found, colour)
        medians = {n: r.median_s for n, r in found.items() if r.median_s is not None}
        axes.plot(list(medians), list(medians.values()), "-o", color=colour, markersize=3, zorder=3)
        for source, known in group.published(length).items():
            _time_published(axes, known, _look(group, source), colour)
    for (length, source), known in group.published_elsewhere().items():
        _time_published(axes, known, _look(group, source), _ELSEWHERE, f"m = {length}")
    _failures(axes, group, series)


def _look(group: Group, source: str) -> _Look:
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


def _time_samples(axes: Axes, found: dict[int, Result], colour: str) -> None:
    """Every sample near its place; those that did not count are crosses."""
    generator = np.random.default_rng(1)
    for count, result in found.items():
        for values, mark in ((result.counted, "."), (result.left_out, "x")):
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


def _failures(axes: Axes, group: Group, series: Series) -> None:
    """A row of crosses along the top for every length that failed somewhere, with the causes."""
    for row, length in enumerate(_failing(group, series)):
        colour = COLOURS[group.lengths.index(length) % len(COLOURS)]
        found = {n: r for n, r in group.of(length, series).items() if r.median_s is None}
        causes = dict.fromkeys(r.failure.cause for r in found.values() if r.failure is not None)
        above = axes.get_xaxis_transform() + ScaledTranslation(
            0, (_ROW * row + 3) / 72, axes.figure.dpi_scale_trans
        )
        axes.plot(
            list(found),
            [1] * len(found),
            color=colour,
            linestyle="",
            marker="x",
            markersize=3.5,
            transform=above,
            clip_on=False,
        )
        axes.annotate(
            f"ERR {', '.join(causes)}",
            (max(found), 1),
            xycoords=above,
            xytext=(5, 0),
            textcoords="offset points",
            fontsize=5.5,
            va="center",
            color=colour,
        )


def _failing(group: Group, series: Series) -> list[str]:
    """Vector lengths that have no figure on some nodes."""
    return [
        length
        for length in group.lengths
        if any(result.median_s is None for result in group.of(length, series).values())
    ]


def _time_axes(panels: Sequence[Axes], group: Group) -> None:
    known = [one.nodes or 0 for one in (*group.known, *group.elsewhere)]
    ticks = sorted({*group.nodes, *known})
    last = panels[-1]
    last.set_xscale("log", base=2)
    last.set_xlim(ticks[0] / 1.35, ticks[-1] * 1.35)
    last.set_xticks(ticks, [str(tick) for tick in ticks])
    last.xaxis.set_minor_formatter(NullFormatter())
    last.minorticks_off()
    hosted = any(result.one_host for result in group.results)
    where = "groups of ranks on one host" if hosted else "nodes"
    each = group.ranks_per_node
    last.set_xlabel(f"number N of {where}, {counted(each, 'rank')} each")
    for axes in panels:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.grid(axis="y", color="#EEEEEE", linewidth=0.5)
        axes.set_axisbelow(True)
        axes.set_ylabel("wall clock, s")
    # Room for what is written above the highest line.
    low, high = last.get_ylim()
    last.set_ylim(low, high * (high / low) ** 0.06)


def _time_legend(figure: Figure, group: Group) -> None:
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
        Line2D([], [], color=QUIET, linestyle="", marker=".", markersize=4, label="a sample")
    )
    if any(len(result.left_out) for result in group.results):
        handles.append(
            Line2D([], [], color=QUIET, linestyle="", marker="x", markersize=3, label="a late one")
        )
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=2 if any(len(str(handle.get_label())) > 12 for handle in handles) else 4,
        frameon=False,
        fontsize=6.5,
        handletextpad=0.4,
        columnspacing=1.2,
    )


def _words(group: Group, source: str) -> str:
    """A source, with its n and ranks where they are others than here."""
    for known in group.elsewhere:
        if known.source == source and known.numbers is not None:
            return f"{source}, n = {known.numbers:,}, {known.ranks_per_node} a node"
    return source


def _finding(group: Group) -> str:
    """From the fewest to the most nodes that gave figures, for the first line that has both."""
    for series in group.series:
        for length in group.lengths:
            found = {
                n: r.median_s for n, r in group.of(length, series).items() if r.median_s is not None
            }
            if len(found) > 1:
                first, last = min(found), max(found)
                ends = [f"{format_seconds(found[n])} for N\u00a0=\u00a0{n}" for n in (first, last)]
                return f"{group.constant}, m\u00a0=\u00a0{length}: {', '.join(ends)}"
    return f"{group.constant}: wall clock of the data exchange"
