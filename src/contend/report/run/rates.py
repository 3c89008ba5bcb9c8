"""Rate of a rank against message size in a run: a figure for every condition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matplotlib.figure import Figure

from contend.report.axes import columns_for, looks
from contend.report.rates import Curve, Panel, rate_figure, rate_finding
from contend.report.words import condition_words
from contend.runs import CellSummary, Collapse, Condition, Run

_TOGETHER = 3


def run_rate_figures(run: Run) -> Iterator[tuple[str, Figure]]:
    """A named figure for every condition, with every sample.

    Up to three schedules share a panel. More have a panel each, the medians of the others faintly
    behind. The broken line is what a host's port carries, shared out over its ranks; crosses are
    late samples that do not count; red rings are collapses.
    """
    cells = [cell for cell in run.summaries if cell.sent and cell.median.value > 0]
    collapses = run.findings.collapses
    look = looks(cell.schedule for cell in cells)
    for condition in dict.fromkeys(cell.condition for cell in cells):
        members = [cell for cell in cells if cell.condition == condition]
        curves = [
            Curve(schedule, look[schedule], _by_size(members, schedule))
            for schedule in look
            if any(cell.schedule == schedule for cell in members)
        ]
        here = [collapse for collapse in collapses if collapse.condition == condition]
        panels = _panels(curves, here, _limit(run, condition))
        crowded = " (ranks share processors)" if _crowded(run, condition) else ""
        yield (
            f"rates-{_name(condition)}",
            rate_figure(
                panels,
                rate_finding(condition_words(condition) + crowded, members, here),
                legend=len(curves) <= _TOGETHER,
                sizes="bytes of a message"
                if run.record.probe == "pingpong"
                else "bytes to each other rank",
            ),
        )


def _by_size(cells: Sequence[CellSummary], schedule: str) -> tuple[CellSummary, ...]:
    members = (cell for cell in cells if cell.schedule == schedule)
    return tuple(sorted(members, key=lambda cell: cell.record.bytes or 0))


def _panels(
    curves: Sequence[Curve], collapses: Sequence[Collapse], limit: float | None
) -> list[list[Panel | None]]:
    """Few curves in one panel, many in a panel each."""
    if len(curves) <= _TOGETHER:
        return [[Panel("", tuple(curves), tuple(collapses), limit)]]
    columns = columns_for(len(curves))
    panels: list[Panel | None] = [
        Panel(
            curve.name,
            (curve,),
            tuple(collapse for collapse in collapses if collapse.worst.schedule == curve.name),
            limit,
            behind=tuple(other for other in curves if other is not curve),
            colour=curve.look.colour,
        )
        for curve in curves
    ]
    panels += [None] * (-len(panels) % columns)
    return [panels[start : start + columns] for start in range(0, len(panels), columns)]


def _limit(run: Run, condition: Condition) -> float | None:
    """Bytes per second of a rank at which the ports of the hosts are full."""
    wire = run.record.wire_Bps
    return wire * condition.hosts / condition.ranks if wire else None


def _crowded(run: Run, condition: Condition) -> bool:
    """Whether several ranks of a host shared its processors, so that turns are what was timed."""
    return condition.ranks > condition.hosts and any(
        launch.measured is not None and launch.measured.oversubscribed
        for launch in run.record.launches
        if launch.ranks == condition.ranks
    )


def _name(condition: Condition) -> str:
    labels = "-".join(f"{value}" for _, value in condition.labels)
    return f"{condition.ranks}-ranks-{condition.hosts}-hosts" + (f"-{labels}" if labels else "")
