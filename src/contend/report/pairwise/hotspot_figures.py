"""Latency and bandwidth of a pair under load (Hoefler et al. 2008, figures 2 and 3)."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contend.errors import UsageError
from contend.measurement import ROUND_TRIP, STREAM, are_beyond_wire
from contend.report.pairwise.hotspot import at_compared_size, hotspot_finding
from contend.report.style import (
    BEYOND,
    COLOURS,
    COLUMN_WIDTH,
    QUIET,
    new_figure,
    percent_axis,
    size_axis,
    styled,
    time_axis,
    title,
)
from contend.report.words import BEYOND_WIRE
from contend.units import format_bytes

_SPREAD = 0.25


def hotspot_figure(operations: pl.DataFrame, name: str) -> Figure:
    """Time one way against message size, a curve for each k; bandwidth against k.

    Every operation is a point; lines join medians.

    Args:
        operations: of `contend.measurement.hotspot.victim_operations`.
        name: of the network.

    Raises:
        UsageError: no message was measured.
    """
    trips = operations.filter((pl.col("algorithm") == ROUND_TRIP) & (pl.col("bytes") > 0))
    streams = operations.filter((pl.col("algorithm") == STREAM) & (pl.col("bytes") > 0))
    panels = [
        (draw, part) for draw, part in ((_latency, trips), (_bandwidth, streams)) if len(part)
    ]
    if not panels:
        raise UsageError(f"{name}: no message of the victim was measured, so none can be drawn")
    with styled():
        figure = new_figure(height=2.6, width=COLUMN_WIDTH * len(panels))
        grid = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (draw, part) in zip(grid, panels, strict=True):
            draw(axes, part)
        title(figure, hotspot_finding(operations, name))
    return figure


def _latency(axes: Axes, trips: pl.DataFrame) -> None:
    rivals = trips["rivals"].unique().sort().to_list()
    shades = mpl.colormaps["viridis_r"](np.linspace(0.15, 0.95, len(rivals)))
    random = np.random.default_rng(1)
    beyond = False
    for k, shade in zip(rivals, shades, strict=True):
        beside = trips.filter(pl.col("rivals") == k)
        aside = 2 ** (_SPREAD * (random.random(len(beside)) - 0.5))
        axes.plot(
            beside["bytes"].to_numpy() * aside,
            beside["seconds"],
            ".",
            color=shade,
            markersize=1.5,
            alpha=0.35,
            markeredgewidth=0,
            rasterized=True,
        )
        medians = beside.group_by("bytes").agg(pl.col("seconds").median()).sort("bytes")
        axes.plot(medians["bytes"], medians["seconds"], color=shade, label=f"k = {k}")
        beyond |= _mark_beyond(axes, beside, ("bytes", "seconds"), shade)
    axes.set_yscale("log")
    size_axis(axes, trips["bytes"].unique().to_list())
    time_axis(axes, "y")
    axes.set_xlabel("bytes of a message")
    axes.set_ylabel("victim's time one way")
    if beyond:
        axes.plot([], [], markeredgecolor=QUIET, label=BEYOND_WIRE, **BEYOND)
    # Above, where no line can be.
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 0.98),
        ncols=4,
        handlelength=1,
        borderpad=0,
    )


def _mark_beyond(
    axes: Axes, operations: pl.DataFrame, across: tuple[str, str], colour: object
) -> bool:
    """Hollow triangles at medians that are beyond the wire; whether there are any."""
    x, y = across
    fast = [part for part in operations.partition_by(x) if are_beyond_wire(part)]
    if fast:
        at = [part[x][0] for part in fast], [part[y].median() for part in fast]
        axes.plot(*at, markeredgecolor=colour, zorder=3, **BEYOND)  # type: ignore[arg-type]
    return bool(fast)


def _bandwidth(axes: Axes, streams: pl.DataFrame) -> None:
    shown = at_compared_size(streams)
    alone = shown.filter(pl.col("rivals") == 0)["bandwidth_Bps"]
    reference = alone if len(alone) else shown["bandwidth_Bps"]
    gamma = float(np.median(reference.to_numpy()))
    random = np.random.default_rng(1)
    k = shown["rivals"].to_numpy()
    axes.plot(
        k + _SPREAD * (random.random(len(k)) - 0.5),
        shown["bandwidth_Bps"].to_numpy() / gamma,
        ".",
        color=COLOURS[0],
        markersize=2.5,
        alpha=0.5,
        markeredgewidth=0,
        label="measured, each operation",
    )
    numbers = np.arange(0, k.max() + 1)
    axes.plot(numbers, 1 / (numbers + 1), color=QUIET, linewidth=0.8, label="γ/(k + 1)")
    medians = shown.group_by("rivals").agg(pl.col("bandwidth_Bps").median()).sort("rivals")
    axes.plot(medians["rivals"], medians["bandwidth_Bps"] / gamma, "_", color="black", markersize=9)
    shares = shown.with_columns(pl.col("bandwidth_Bps") / gamma)
    beyond = _mark_beyond(axes, shares, ("rivals", "bandwidth_Bps"), "black")
    axes.set_xticks(numbers)
    axes.set_ylim(0, None)
    percent_axis(axes.yaxis)
    axes.set_xlabel("k, other pairs that send over the channel")
    size = format_bytes(shown["bytes"][0])
    axes.set_ylabel(f"victim's bandwidth, {size} messages")
    if beyond:
        axes.plot([], [], markeredgecolor=QUIET, label=BEYOND_WIRE, **BEYOND)
    axes.legend(loc="upper right")
