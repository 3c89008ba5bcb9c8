"""Figures of runs: rates and times of every sample, ping-pongs, steps of a sort, runs compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from contend.base.errors import UsageError
from contend.base.units import counted, format_bytes, format_seconds, grouped, rounded
from contend.lab.measurement import pair_bandwidths, victim_operations
from contend.lab.runs import (
    ROUND_TRIPS,
    CellParts,
    CellSummary,
    ComparedRun,
    Condition,
    Pair,
    Run,
    compared,
)
from contend.report.charts import Bars, Curves, SampleRow, Stack, Strip, charted
from contend.report.pairwise.figures import hotspot_figure, pair_figure
from contend.report.run.findings import PICTURES_OF_PROBES, pingpong_finding
from contend.report.run.rates import SPREAD, Curve, Panel, run_rate_figures
from contend.report.run.tables import in_order
from contend.report.series import Axis, BoundLine, Scatter, Series, Unit, near
from contend.report.style import BEYOND, COLOURS, COLUMN_WIDTH, QUIET, columns_for, looks
from contend.report.words import BEYOND_WIRE, condition_words, percent_range, run_words, size_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Named: TypeAlias = "tuple[str, Figure]"


def run_figures(picture: str, runs: Sequence[Run], size: int | None = None) -> Iterator[Named]:
    """The figures of one of the pictures that `fitting_pictures` names.

    Args:
        picture: its name.
        runs: at least one.
        size: of the cells whose times are drawn; see `distribution_figure`.
    """
    if picture == "comparison":
        yield picture, comparison_figure(runs)
    elif picture == "rates":
        for run in runs:
            for name, figure in run_rate_figures(run):
                yield (name if len(runs) == 1 else f"{run.name}-{name}"), figure
    elif picture == "times":
        sampled = [run for run in runs if run.summaries]
        yield from _each(sampled, picture, lambda run: distribution_figure(run, size))
    else:
        sampled = [run for run in runs if not run.samples.is_empty()]
        fitting = [run for run in sampled if PICTURES_OF_PROBES.get(run.record.probe) == picture]
        yield from _each(fitting, picture, _DRAWN[picture])


def _each(runs: Sequence[Run], name: str, draw: Callable[[Run], Figure]) -> Iterator[Named]:
    for run in runs:
        yield (name if len(runs) == 1 else f"{run.name}-{name}"), draw(run)


def pingpong_figure(run: Run) -> Figure:
    """Left the time one way of a ping-pong, right the rate of all ways of sending.

    Raises:
        UsageError: no message of a ping-pong was measured.
    """
    cells = [cell for cell in run.summaries if cell.record.bytes and cell.median.value > 0]
    if not cells:
        raise UsageError(f"{run.folder}: the run has no messages between pairs")
    by_size = sorted(cells, key=lambda cell: cell.record.bytes or 0)
    series = grouped(by_size, lambda cell: _series(cell, cells))
    look = looks(series)
    one_way = [
        Curve(name, look[name], members, told=lambda _, seconds: seconds)
        for name, members in series.items()
        if members[0].record.algorithm in ROUND_TRIPS
    ]
    rates = [
        Curve(name, look[name], members, told=lambda cell, seconds: cell.record.bytes / seconds)
        for name, members in series.items()
    ]
    x = Axis("bytes of a message", Unit.SIZE, ticks=[cell.record.bytes or 1 for cell in cells])
    latency = Panel("", tuple(one_way)).chart(x, Axis("time one way", Unit.SECONDS))
    rate = Panel("", tuple(rates), limit=run.record.wire_Bps or None).chart(
        x, Axis("rate, one direction", Unit.RATE), named=True
    )
    beyond = any(cell.beyond_wire for cell in cells)
    keys = [Series([], name=BEYOND_WIRE, colour=QUIET, mark=BEYOND)] if beyond else []
    return charted(
        pingpong_finding(cells),
        [latency, rate],
        height=2.9,
        width=2 * COLUMN_WIDTH,
        legend=4,
        keys=keys,
    )


def _series(cell: CellSummary, cells: Sequence[CellSummary]) -> str:
    """The way of sending and, where there are several, the pair or how many ranks."""
    pairs = {other.record.labels.get("pairs") for other in cells}
    pair = cell.record.labels.get("pairs")
    return f"{cell.schedule}, {pair}" if len(pairs) > 1 and pair else cell.schedule


_PANEL_HEIGHT = 1.45
_FACTOR = {
    "marker": "o",
    "markersize": 2.5,
    "markeredgecolor": "black",
    "ecolor": "black",
    "markeredgewidth": 0.4,
}


def comparison_figure(runs: Sequence[Run]) -> Figure:
    """Time of every sample over the first run's median, a panel for each schedule.

    Dots with bars are ratios of medians with their 95 % intervals.

    Raises:
        UsageError: no run has a cell in common with the first.
    """
    others = compared(runs)
    if not others:
        raise UsageError("the runs have no cell in common with the first")
    base, names = others[0].base, [other.other for other in others]
    look = looks(names)
    panels = _panels(others)
    columns = columns_for(len(panels))
    sizes = [pair.base.record.bytes or 1 for other in others for pair in other.cells]
    charts: list[Curves | None] = []
    for panel in panels:
        series: list[Series] = []
        samples: list[Scatter] = []
        for number, other in enumerate(others):
            shift, colour = number - (len(others) - 1) / 2, look[other.other].colour
            for pair in (pair for pair in other.cells if _panel(pair) == panel):
                place = (pair.base.record.bytes or 1) * 2 ** (0.3 * shift)
                x = near(place, len(pair.other.results), SPREAD, times=True)
                y = pair.other.results / pair.base.median.value
                samples.append(Scatter(x, y, colour))
                series.append(_factor(pair, place, colour))
        charts.append(
            Curves(
                heading=panel,
                series=series,
                samples=samples,
                bounds=[BoundLine(1)],
                x=Axis("bytes", Unit.SIZE, ticks=sizes),
                y=Axis(unit=Unit.FACTOR),
            )
        )
    charts += [None] * (-len(charts) % columns)
    rows = [charts[start : start + columns] for start in range(0, len(charts), columns)]
    dot = {"marker": "o", "markersize": 3}
    keys = [Series([], name=name, colour=look[name].colour, mark=dot) for name in names]
    return charted(
        _comparison_finding(base, others),
        *rows,
        height=1.1 + _PANEL_HEIGHT * len(rows),
        width=COLUMN_WIDTH if columns == 1 else 0.62 * COLUMN_WIDTH * columns,
        legend=2 if len(others) > 1 else 0,
        keys=keys,
        label=f"time relative to {base}",
        sharex=True,
    )


def _factor(pair: Pair, place: float, colour: str) -> Series:
    """How many times as long a cell takes, with its interval."""
    factor = pair.ratio
    return Series(
        [place],
        [factor.value],
        low=[factor.value if factor.low is None else factor.low],
        high=[factor.value if factor.high is None else factor.high],
        colour=colour,
        mark=_FACTOR,
        above=4,
    )


def _panel(pair: Pair) -> str:
    return f"{pair.base.schedule}, {counted(pair.base.record.ranks, 'rank')}"


def _panels(others: Sequence[ComparedRun]) -> list[str]:
    pairs = sorted((pair for other in others for pair in other.cells), key=in_order)
    return list(dict.fromkeys(map(_panel, pairs)))


def _comparison_finding(base: str, others: Sequence[ComparedRun]) -> str:
    pairs = [pair for other in others for pair in other.cells]
    slower = sum(bool(pair.differs) and pair.ratio.value > 1 for pair in pairs)
    faster = sum(bool(pair.differs) and pair.ratio.value < 1 for pair in pairs)
    are = f"{others[0].other} is" if len(others) == 1 else "the others are"
    return (
        f"{are} slower than {base} in {slower} and faster in {faster} of "
        f"{counted(len(pairs), 'cell')}"
    )


def distribution_figure(run: Run, size: int | None = None) -> Figure:
    """A strip for each schedule, the fastest at the top.

    Args:
        run: of any probe.
        size: bytes of the cells; by default where something has collapsed most or, where nothing
            has, the largest size that most schedules were measured at.

    Raises:
        UsageError: nothing was measured at that size.
    """
    under, chosen = _choice(run, size)
    cells = sorted(
        (cell for cell in run.summaries if cell.condition == under and cell.record.bytes == chosen),
        key=lambda cell: cell.median.value,
    )
    look = looks(cell.schedule for cell in run.summaries)
    words = f"{run_words(run.record)}\n{condition_words(under)}, {size_words(chosen)}"
    chart = Strip(
        names=[cell.schedule for cell in cells],
        rows=[_row(cell, look[cell.schedule].colour) for cell in cells],
        explained=True,
        x=Axis(f"time of a sample\n{words}", Unit.SECONDS),
    )
    height, width = 1.05 + 0.3 * len(cells), 1.4 * COLUMN_WIDTH
    return charted(_times_finding(cells, chosen), chart, height=height, width=width)


def _row(cell: CellSummary, colour: str) -> SampleRow:
    median = cell.median
    return SampleRow(
        used=cell.results,
        left_out=cell.left_out,
        colour=colour,
        median=median.value,
        interval=None if median.low is None or median.high is None else (median.low, median.high),
    )


def _choice(run: Run, size: int | None) -> tuple[Condition, int | None]:
    cells = [cell for cell in run.summaries if cell.median.value > 0]
    if size is not None:
        cells = [cell for cell in cells if cell.record.bytes == size]
    if not cells:
        at = "" if size is None else f" at {format_bytes(size)}"
        raise UsageError(f"{run.folder}: nothing was measured{at}")
    collapses = [
        collapse
        for collapse in run.findings.collapses
        if size in (None, collapse.worst.record.bytes)
    ]
    if collapses:
        worst = max(collapses, key=lambda collapse: collapse.factor.value)
        return worst.condition, worst.worst.record.bytes
    counts = Counter((cell.condition, cell.record.bytes) for cell in cells)
    return max(counts, key=lambda key: (counts[key], key[1] or 0, key[0].ranks))


def _times_finding(cells: Sequence[CellSummary], size: int | None) -> str:
    at = f" at {size_words(size)}" if size is not None else ""
    first, last = cells[0], cells[-1]
    split = [cell for cell in cells if cell.two_kinds is not None]
    if split:
        worst = max(split, key=lambda cell: cell.two_kinds.slow_s if cell.two_kinds else 0)
        assert worst.two_kinds is not None
        return (
            f"{worst.schedule}{at}: {100 * worst.two_kinds.slow_share:.0f} % of the samples take "
            f"about {format_seconds(worst.two_kinds.slow_s)}, the others "
            f"{format_seconds(worst.two_kinds.fast_s)}"
        )
    if len(cells) == 1:
        return f"{first.schedule}{at}: {format_seconds(first.median.value)}"
    factor = last.median.value / first.median.value
    return f"{first.schedule} is fastest{at}, {rounded(factor, 2)} times as fast as {last.schedule}"


_EXCHANGE = "exchange"
# The steps in the order in which they happen, with their colours.
_STEPS = {
    "local_sort": COLOURS[5],
    "splitters": COLOURS[4],
    "counts": COLOURS[3],
    _EXCHANGE: COLOURS[0],
    "final_sort": COLOURS[2],
}


def sort_figure(run: Run) -> Figure:
    """A row for each cell: shares of the steps' medians, and the samples of the exchange.

    Raises:
        UsageError: the run has no steps of a sort.
    """
    members = sorted(
        (parts for parts in run.findings.parts if _STEPS.keys() & parts.seconds.keys()),
        key=lambda parts: (parts.cell.record.ranks, parts.cell.record.bytes or 0, _label(parts)),
    )
    if not members:
        raise UsageError(f"{run.folder}: the run has no steps of a sort")
    names = [_label(parts) for parts in members]
    steps = [_steps(parts) for parts in members]
    totals = [sum(each.values()) or 1.0 for each in steps]
    stacks = []
    for name, colour in _STEPS.items():
        seconds = [each[name] for each in steps]
        lengths = [part / total for part, total in zip(seconds, totals, strict=True)]
        stacks.append(
            Stack(
                lengths,
                name.replace("_", " "),
                colour,
                words=[
                    format_seconds(part) if length > 0.14 else ""
                    for part, length in zip(seconds, lengths, strict=True)
                ],
                words_colour="white" if name == _EXCHANGE else "black",
            )
        )
    shares = Bars(
        names=names, stacks=stacks, x=Axis("share of the steps' medians", Unit.SHARE, (0, 1))
    )
    samples = Strip(
        names=names,
        rows=[replace(_row(parts.cell, _STEPS[_EXCHANGE]), interval=None) for parts in members],
        x=Axis("exchange of data, every sample", Unit.SECONDS),
    )
    return charted(
        _sort_finding(members),
        [shares, samples],
        height=1.15 + 0.28 * len(members),
        width=2 * COLUMN_WIDTH,
        legend=len(_STEPS),
        sharey=True,
        width_ratios=(1.2, 1),
    )


def _steps(parts: CellParts) -> dict[str, float]:
    known = {**parts.seconds, _EXCHANGE: parts.cell.median.value}
    return {name: known.get(name, 0.0) for name in _STEPS}


def _label(parts: CellParts) -> str:
    cell = parts.cell.record
    sizes = [f"{name} = {cell.labels[name]:,}" for name in ("n", "m") if name in cell.labels]
    return ", ".join([f"p = {cell.ranks}", *sizes, *_kind(parts)])


def _kind(parts: CellParts) -> list[str]:
    kind = parts.cell.record.labels.get("input")
    return [] if kind is None else [str(kind)]


def _sort_finding(members: Sequence[CellParts]) -> str:
    shares = [_steps(parts)[_EXCHANGE] / (sum(_steps(parts).values()) or 1.0) for parts in members]
    share = percent_range(min(shares), max(shares), 0)
    return f"The exchange of data takes {share} of the sort"


_DRAWN: dict[str, Callable[[Run], Figure]] = {
    "pairs": lambda run: pair_figure(
        {run.record.library.title: pair_bandwidths(run)}, run.record.wire_Bps
    ),
    "hotspot": lambda run: hotspot_figure(
        victim_operations(run), run.record.placement or "the network"
    ),
    "pingpong": pingpong_figure,
    "steps": sort_figure,
}
"""Who draws the picture that shows what a probe is for."""
