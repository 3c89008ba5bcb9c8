"""Wall clock against the number of nodes (Mistry et al. 2015, figures 2 and 3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter
from matplotlib.transforms import ScaledTranslation

from contend.report.sort_groups import Group
from contend.report.style import COLOURS, QUIET, new_figure, styled, title
from contend.study import Known, Result, Series
from contend.units import counted, format_seconds

# Samples are spread over this share of a point's place, so that equal ones do not hide each other.
_SPREAD = 0.05
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
        for source, known in group.published(length).items():
            _published(axes, known, _look(group, source), colour)
    for (length, source), known in group.published_elsewhere().items():
        _published(axes, known, _look(group, source), _ELSEWHERE, f"m = {length}")
    _failures(axes, group, series)


def _look(group: Group, source: str) -> _Look:
    """Marker and dashes of a source."""
    return _SOURCES[group.sources.index(source) % len(_SOURCES)]


def _published(
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


def _samples(axes: Axes, found: dict[int, Result], colour: str) -> None:
    """Every sample near its place; those that did not count are crosses."""
    generator = np.random.default_rng(1)
    for count, result in found.items():
        for values, mark in ((result.counted, "."), (result.left_out, "x")):
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


def _axes(panels: Sequence[Axes], group: Group) -> None:
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


def _legend(figure: Figure, group: Group) -> None:
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
