"""Wall clock against the number of nodes (Mistry et al. 2015, figures 2 and 3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter

from contend.report.measured_times import Group, seconds
from contend.report.style import COLOURS, QUIET, new_figure, styled, title
from contend.study.measured.results import Result, Series

# Samples are spread over this share of a point's place, so that equal ones do not hide each other.
_SPREAD = 0.05
_SOURCES = (("^", (0, (4, 2))), ("D", (0, (1, 1.5))), ("s", (0, (6, 1, 1, 1))))


def time_figure(group: Group) -> Figure:
    """One panel for each library and condition: every sample, medians, and what others published.

    A colour is a vector length. What has no figure because it failed stands at the top of its
    place with the cause.
    """
    series = group.series
    with styled():
        figure = new_figure(height=0.95 + 1.75 * len(series))
        panels = figure.subplots(len(series), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for one, axes in zip(series, panels, strict=True):
            _panel(axes, group, one)
            if len(series) > 1 or one.label:
                axes.set_title(one.label, loc="left", fontsize=7.5)
        _axes(list(panels), group)
        _legend(figure, group)
        title(figure, _finding(group))
    return figure


def _panel(axes: Axes, group: Group, series: Series) -> None:
    for number, length in enumerate(group.lengths):
        colour = COLOURS[number % len(COLOURS)]
        found = group.of(length, series)
        _samples(axes, found, colour)
        medians = {n: r.median_s for n, r in found.items() if r.median_s is not None}
        axes.plot(list(medians), list(medians.values()), "-o", color=colour, markersize=3, zorder=3)
        for (marker, dashes), known in zip(
            _SOURCES, group.published(length).values(), strict=False
        ):
            times = {n: k.seconds for n, k in known.items() if k.seconds is not None}
            axes.plot(
                list(times),
                list(times.values()),
                color=colour,
                linestyle=dashes,
                linewidth=0.8,
                marker=marker,
                markersize=3.2,
                markerfacecolor="none",
                markeredgewidth=0.7,
                alpha=0.8,
                zorder=1.5,
            )
    _failures(axes, group, series)


def _samples(axes: Axes, found: dict[int, Result], colour: str) -> None:
    """Every sample near its place; those that did not count are crosses."""
    generator = np.random.default_rng(1)
    for count, result in found.items():
        for samples in result.samples:
            for values, mark in ((samples.counted, "."), (samples.left_out, "x")):
                shift = 1 + _SPREAD * generator.uniform(-1, 1, len(values))
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
    """ERR of ours, one below the other, along the top of the panel."""
    rows: dict[int, int] = {}
    for number, length in enumerate(group.lengths):
        for count, result in group.of(length, series).items():
            if result.median_s is not None or result.failure is None:
                continue
            row = rows.setdefault(count, 0)
            rows[count] += 1
            axes.annotate(
                f"ERR {result.failure.cause}",
                (count, 1),
                xycoords=axes.get_xaxis_transform(),
                xytext=(0, -7 * row),
                textcoords="offset points",
                fontsize=5.5,
                ha="center",
                va="top",
                color=COLOURS[number % len(COLOURS)],
            )


def _axes(panels: Sequence[Axes], group: Group) -> None:
    known = [one.nodes or 0 for one in group.known]
    ticks = sorted({*group.nodes, *known})
    last = panels[-1]
    last.set_xscale("log", base=2)
    last.set_xlim(ticks[0] / 1.35, ticks[-1] * 1.35)
    last.set_xticks(ticks, [str(tick) for tick in ticks])
    last.xaxis.set_minor_formatter(NullFormatter())
    last.minorticks_off()
    hosted = any("on one host" in result.seats for result in group.results)
    where = "groups of ranks on one host" if hosted else "nodes"
    each = group.ranks_per_node
    last.set_xlabel(f"number N of {where}, {each} process{'es' * (each != 1)} each")
    for axes in panels:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.grid(axis="y", color="#EEEEEE", linewidth=0.5)
        axes.set_axisbelow(True)
        axes.set_ylabel("wall clock, s")
    _room_for_failures(panels, group)


def _room_for_failures(panels: Sequence[Axes], group: Group) -> None:
    """Heightens the panels by a line of text for each ERR of the place that has most."""
    failed = [
        (result.series, result.place.nodes) for result in group.results if result.median_s is None
    ]
    rows = max(map(failed.count, failed), default=0)
    low, high = panels[0].get_ylim()
    panels[0].set_ylim(low, high * (high / low) ** (0.09 * rows))


def _legend(figure: Figure, group: Group) -> None:
    handles = [
        Line2D([], [], color=COLOURS[i % len(COLOURS)], marker="o", markersize=3, label=f"m = {m}")
        for i, m in enumerate(group.lengths)
    ]
    sources = list(dict.fromkeys(known.source for known in group.known))
    for (marker, dashes), source in zip(_SOURCES, sources, strict=False):
        handles.append(
            Line2D([], [], color=QUIET, linestyle=dashes, linewidth=0.8, marker=marker,
                   markersize=3.2, markerfacecolor="none", label=source)
        )  # fmt: skip
    handles.append(
        Line2D([], [], color=QUIET, linestyle="", marker=".", markersize=4, label="a sample")
    )
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=4,
        frameon=False,
        fontsize=6.5,
        handletextpad=0.4,
        columnspacing=1.2,
    )


def _finding(group: Group) -> str:
    """From the fewest to the most nodes that gave figures, for the first line that has both."""
    for series in group.series:
        for length in group.lengths:
            found = {
                n: r.median_s for n, r in group.of(length, series).items() if r.median_s is not None
            }
            if len(found) > 1:
                first, last = min(found), max(found)
                return (
                    f"{group.constant}, m = {length}: {seconds(found[first])} s for N = {first}, "
                    f"{seconds(found[last])} s for N = {last}"
                )
    return f"{group.constant}: wall clock of the data exchange"
