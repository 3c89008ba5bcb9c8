"""All figures of a measured study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matplotlib.figure import Figure

from contend.report.measured_rate_figure import rate_figures
from contend.report.measured_time_figure import time_figure
from contend.report.sort_groups import groups
from contend.study import MeasuredPlan, Result


def measured_figures(plan: MeasuredPlan, results: Sequence[Result]) -> Iterator[tuple[str, Figure]]:
    """Named figures: times of sorts over nodes, rates of all-to-alls over message sizes."""
    for group in groups(plan, results):
        name = group.constant.lower().replace(" ", "-")
        yield f"{name}-{group.ranks_per_node}-a-node", time_figure(group)
    yield from rate_figures(plan, results)
