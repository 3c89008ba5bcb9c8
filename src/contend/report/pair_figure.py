"""Histogram of the bandwidth of every pair in bisect patterns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from contend.measurement import usable
from contend.report.bandwidth_histogram import fractions, outline
from contend.report.measures import percent
from contend.report.style import COLOURS, QUIET, new_figure, percent_axis, styled, title
from contend.units import format_bandwidth

_BINS = 50


def pair_figure(pairs: Mapping[str, pl.DataFrame], wire: float | None = None) -> Figure:
    """Share of pairs by bandwidth, an outline for each MPI library.

    Args:
        pairs: of `contend.measurement.pairs.pair_bandwidths`, by name.
        wire: bytes per second of a link, marked by a broken line.
    """
    got = {name: usable(frame)["bandwidth_Bps"].to_numpy() for name, frame in pairs.items()}
    most = max(float(values.max()) for values in got.values())
    edges = np.linspace(0, 1.05 * max(most, wire or 0.0), _BINS + 1)
    scale, unit = _scale(edges[-1])
    with styled():
        figure = new_figure(height=2.2)
        axes = figure.subplots()
        for (name, values), colour in zip(got.items(), COLOURS, strict=False):
            outline(axes, fractions(values, edges), edges / scale, colour)
            mean = format_bandwidth(float(values.mean()))
            axes.plot([], [], color=colour, linewidth=3, label=f"{name}: mean {mean}")
        if wire is not None:
            axes.axvline(wire / scale, color=QUIET, linewidth=0.8, linestyle=(0, (3, 2)))
        axes.set_xlim(0, edges[-1] / scale)
        axes.set_ylim(0, None)
        axes.set_xlabel(f"bandwidth of a pair in {unit}")
        axes.set_ylabel("share of pairs")
        percent_axis(axes.yaxis)
        axes.legend(loc="upper left", frameon=False, fontsize=6.5, handlelength=1)
        first = float(next(iter(got.values())).mean())
        finding = f"Random pairs get {format_bandwidth(first)} on average"
        if wire is not None:
            finding += f", {percent(first / wire)} of a link"
        title(figure, finding)
    return figure


def _scale(most: float) -> tuple[float, str]:
    """Bytes per second of a unit that suits the largest value."""
    return (125e6, "Gbit/s") if most >= 125e6 else (125e3, "Mbit/s")
