"""The figure of jobs on a fabric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from contend.cure import Job, Jobs
from contend.report.jobs.tables import ROWS, label
from contend.report.style import COLOURS, FAINT, name_rows, new_figure, percent_axis, styled, title
from contend.report.words import percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def jobs_figure(found: Jobs) -> Figure:
    """What jobs get alone and beside the others, those that lose most on top."""
    sending = [job for job in found.jobs if job.sends]
    shown = sorted(sending, key=lambda job: -job.loss)[:ROWS]
    rows = np.arange(len(shown))
    beside = np.array([job.beside for job in shown], dtype=float)
    alone = np.array([job.alone for job in shown], dtype=float)
    with styled():
        figure = new_figure(height=1.5 + 0.17 * max(len(shown), 3))
        axes = figure.subplots()
        axes.hlines(rows, beside, alone, color=FAINT, linewidth=3, zorder=1)
        axes.plot(
            alone,
            rows,
            linestyle="",
            marker="o",
            # Wide enough to be seen around the other where a job loses nothing.
            markersize=7,
            markerfacecolor="white",
            markeredgecolor=COLOURS[0],
            zorder=2,
            label="alone",
        )
        axes.errorbar(
            beside,
            rows,
            xerr=[job.margin for job in shown],
            fmt="o",
            markersize=4,
            color=COLOURS[1],
            capsize=2,
            zorder=3,
            label="beside the others, 95 % interval of the loss",
        )
        servers = [f"{label(job)} ({job.servers:,})" for job in shown]
        name_rows(axes, servers, 3)
        axes.set_xlim(0, 1.02)
        percent_axis(axes.xaxis)
        axes.set_xlabel(f"effective bandwidth of {found.traffic}\nas a share of a port's rate")
        axes.set_ylabel("job (servers)")
        axes.spines["left"].set_visible(False)
        figure.legend(loc="outside lower center", ncols=2, handletextpad=0.3, columnspacing=1.2)
        title(figure, _finding(shown))
    return figure


def _finding(shown: Sequence[Job]) -> str:
    if not shown:
        return "No job sends messages over the network"
    worst = shown[0]
    if not worst.loses:
        return "No job loses bandwidth to another"
    return (
        f"{label(worst)} loses most to others: {percent(worst.beside)} instead of "
        f"{percent(worst.alone)}"
    )
