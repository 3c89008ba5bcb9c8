"""Figures of studies: histograms of simulations, times over hosts, rates over message sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from contend.base.units import counted, format_seconds, rounded
from contend.congestion import Average, Simulation
from contend.lab.measurement import VectorLength
from contend.lab.runs import CellSummary, Collapse
from contend.lab.studies import Known, MeasuredPlan, Result, SimulatedOutcome, SimulatedPlan
from contend.report.charts import Curves, charted
from contend.report.run.rates import (
    Curve,
    Panel,
    cell_samples,
    rate_figure,
    rate_finding,
    sample_keys,
)
from contend.report.series import Axis, Scatter, Series
from contend.report.simulation.figures import simulation_comparison
from contend.report.simulation.histograms import bandwidth_histogram, round_bounds
from contend.report.study.rates import Sweep, sweeps
from contend.report.study.simulated import main_source, reference_of
from contend.report.study.times import TimeGroup, groups, lines_of
from contend.report.style import COLOURS, HOLLOW, QUIET, Dashes, Look, looks, write_beside

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def study_figures(
    plan: SimulatedPlan, outcomes: Sequence[SimulatedOutcome]
) -> Iterator[tuple[str, Figure]]:
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


def _figures(
    plan: SimulatedPlan, name: str, cells: Sequence[SimulatedOutcome]
) -> Iterator[tuple[str, Figure]]:
    simulations = [cell.simulation() for cell in cells]
    references = [_reference(plan, cell) for cell in cells]
    rated = [cell.record.rated_bisection for cell in cells]
    source = main_source(plan)
    if all(s.rounds.count == 1 and s.scale == 1 for s in simulations):
        figure = bandwidth_histogram(
            simulations,
            average=plan.average,
            rated=rated,
            reference=references,
            reference_name=source,
        )
    else:
        best = _simulated_best(simulations, plan.average)
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
            average=plan.average,
            rated=rated,
            reference=references,
            reference_name=source,
        ),
    )


def _reference(plan: SimulatedPlan, cell: SimulatedOutcome) -> float | None:
    reference = reference_of(plan, cell.record)
    return None if reference is None else reference.percent / 100


def _simulated_best(simulations: Sequence[Simulation], average: Average) -> list[int]:
    """The simulation with the highest average for each fabric, in the order of fabrics."""
    best: dict[str, int] = {}
    for i, simulation in enumerate(simulations):
        known = best.setdefault(simulation.fabric.name, i)
        if _scaled(simulation, average) > _scaled(simulations[known], average):
            best[simulation.fabric.name] = i
    return list(best.values())


def _scaled(simulation: Simulation, average: Average) -> float:
    return simulation.scale * simulation.averaged(average).mean


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


# Samples are spread over this many doublings, so that equal ones do not hide each other.
_TIME_SPREAD = 0.07
_ELSEWHERE = "#9A9A9A"
_SOURCES: tuple[tuple[str, Dashes], ...] = (
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
    failing = sum(len(_failing(group, line)) for line in group.series)
    keys = list(_time_keys(group))
    longest = max(len(key.name) for key in keys)
    columns = next((n for n in (4, 3, 2) if n * (longest + _HANDLE) <= _ACROSS), 1)
    legend = _LEGEND_ROW * -(-len(keys) // columns)
    return charted(
        _finding(group),
        *(_time_panel(group, line) for line in group.series),
        height=0.65 + 1.6 * len(group.series) + _ROW / 72 * failing + legend,
        legend=columns,
        keys=keys,
        sharex=True,
        sharey=True,
    )


def _colour(group: TimeGroup, length: VectorLength) -> str:
    return COLOURS[group.lengths.index(length) % len(COLOURS)]


def _time_panel(group: TimeGroup, line: str) -> Curves:
    series: list[Series] = []
    samples: list[Scatter] = []
    for length in group.lengths:
        colour, results = _colour(group, length), group.of(length, line)
        for count, result in results.items():
            if result.summary is not None:
                samples += cell_samples(result.summary, colour, count, _TIME_SPREAD)
        medians = {n: r.median_s for n, r in results.items() if r.median_s is not None}
        dot = {"marker": "o", "markersize": 3}
        places: dict[str, Any] = {"x": list(medians), "y": list(medians.values())}
        series.append(Series(**places, colour=colour, line="-", mark=dot, above=3))
        for source, known in group.published(length).items():
            series.append(_published(group, source, colour, known))
    series += [
        _published(group, source, _ELSEWHERE, known)
        for (_, source), known in lines_of(group.elsewhere).items()
    ]
    hosted = any(result.answer.one_host for result in group.results)
    where = "groups of ranks on one host" if hosted else "hosts"
    across = f"number N of {where}, {counted(group.ranks_per_host, 'rank')} each"
    return _Times(
        series=series,
        samples=samples,
        x=Axis(across),
        y=Axis("wall clock, s"),
        group=group,
        line=line,
    )


def _published(
    group: TimeGroup, source: str, colour: str, known: dict[int, Known], name: str = ""
) -> Series:
    """What somebody published, by hosts."""
    times = {n: k.seconds for n, k in known.items() if k.seconds is not None}
    marker, dashes = _SOURCES[group.sources.index(source) % len(_SOURCES)]
    return Series(
        list(times),
        list(times.values()),
        name,
        colour,
        dashes,
        width=0.8,
        mark={**HOLLOW, "marker": marker, "markersize": 3.2, "markeredgewidth": 0.7, "alpha": 0.8},
        above=1.5,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Times(Curves):
    """Times over hosts, with rows of crosses along the top for what failed."""

    group: TimeGroup
    line: str

    def onto(self, axes: Axes, many: bool = False) -> None:
        """Draws it; hosts double, seconds are plain numbers."""
        super().onto(axes, many)
        self._failures(axes)
        lengths: set[str] = set()
        for (elsewhere, _), known in lines_of(self.group.elsewhere).items():
            times = {n: k.seconds for n, k in known.items() if k.seconds is not None}
            # Lines of one length end near each other: one is labelled.
            if times and elsewhere not in lengths:
                last = (max(times), times[max(times)])
                look: dict[str, Any] = {"fontsize": 5.5, "color": _ELSEWHERE, "va": "bottom"}
                write_beside(axes, f"m = {elsewhere}", last, (3, 2.5), **look)
            lengths.add(elsewhere)
        if self.line:
            above = 3 + _ROW * len(_failing(self.group, self.line))
            axes.set_title(self.line, loc="left", fontsize=7.5, pad=above)
        known_hosts = [known.hosts or 0 for known in (*self.group.known, *self.group.elsewhere)]
        ticks = sorted({*self.group.hosts, *known_hosts})
        axes.set_xscale("log", base=2)
        axes.set_xlim(ticks[0] / 1.35, ticks[-1] * 1.35)
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.xaxis.set_minor_formatter("")
        axes.minorticks_off()
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: rounded(value, 6))
        axes.yaxis.set_minor_formatter("")
        axes.grid(axis="y", color="#EEEEEE", linewidth=0.5)
        axes.set_axisbelow(True)
        # Room for what is written above the highest line.
        axes.margins(y=0.06)

    def _failures(self, axes: Axes) -> None:
        """A row of crosses for every length that failed somewhere, with the causes."""
        from matplotlib.transforms import ScaledTranslation

        group = self.group
        for row, length in enumerate(_failing(group, self.line)):
            colour = _colour(group, length)
            results = {n: r for n, r in group.of(length, self.line).items() if r.median_s is None}
            failures = [r.failure for r in results.values() if r.failure is not None]
            causes = ", ".join(dict.fromkeys(failure.cause for failure in failures))
            lift = ScaledTranslation(0, (_ROW * row + 3) / 72, axes.figure.dpi_scale_trans)
            above = axes.get_xaxis_transform() + lift
            cross: dict[str, Any] = {"marker": "x", "markersize": 3.5, "linestyle": ""}
            at = list(results), [1] * len(results)
            axes.plot(*at, color=colour, transform=above, clip_on=False, **cross)
            look: dict[str, Any] = {"xycoords": above, "fontsize": 5.5, "color": colour}
            write_beside(axes, f"ERR {causes}", (max(results), 1), (5, 0), **look)


def _failing(group: TimeGroup, series: str) -> list[VectorLength]:
    """Vector lengths that have no figure on some hosts."""
    return [
        length
        for length in group.lengths
        if any(result.median_s is None for result in group.of(length, series).values())
    ]


def _time_keys(group: TimeGroup) -> Iterator[Series]:
    """Lengths, sources and samples."""
    dot = {"marker": "o", "markersize": 3}
    for length in group.lengths:
        colour = _colour(group, length)
        yield Series([], name=f"m = {length}", colour=colour, line="-", mark=dot)
    for source in group.sources:
        yield _published(group, source, QUIET, {}, _words(group, source))
    yield from sample_keys(r.summary for r in group.results if r.summary is not None)


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
